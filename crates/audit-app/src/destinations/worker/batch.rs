//! The batches of a run: which events a batch has, and its bytes. The same plan always gives the same bytes.

use super::plan::{self, Batched};
use super::planned::{Plan, PlannedCheckpoint, refused_end_seq};
use crate::destinations::{DestinationFilter, damaged, logged_at, ocsf_options};
use crate::error::{AppError, Result};
use crate::service::AuditLog;
use audit_destinations::{
    Batch, BatchId, Encoded, Kind, Limits, OcsfOptions, Payload, Record, RecordFormat, StreamPart, encode,
    too_large,
};
use audit_domain::Timestamp;
use audit_ledger::{StreamChain, StreamNote};
use audit_store::{DestinationRow, DestinationRunRow, FetchSize, LedgerId, LoggedEvent, Reader, SetAsideRow};
use std::ops::Range;

/// The most events that are read for one batch. A filter that few events pass must not hold a reading session for long.
const BATCH_ROWS_MAX: usize = 5_000;
/// The most events of one fetch.
const FETCHED_ROWS_MAX: usize = 250;
/// A fetch for a batch ends with the event that reaches this size: what an attempt holds in memory.
const BATCH_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The most events that were set aside which a note names: it has at most 128 KiB. The next note names the others.
pub(super) const NOTE_SET_ASIDE_MAX: usize = 500;

/// A run of a destination, as it was when its batch was made.
pub(super) struct Stream {
    pub(super) destination: DestinationRow,
    pub(super) run: DestinationRunRow,
    pub(super) kind: Kind,
    /// The first of those that were set aside since the last checkpoint, at most [`NOTE_SET_ASIDE_MAX`].
    pub(super) set_aside: Vec<SetAsideRow>,
    /// Fingerprint of the settings; `None` if they cannot be read.
    pub(super) settings: Option<String>,
}

/// Events of a log in their order.
pub(super) struct Found {
    events: Vec<LoggedEvent>,
    /// The first number of the log that was not looked at.
    next_seq: u64,
    /// The number of the log at which the run ends now.
    end: u64,
    /// Whether the log lacks the event with the number `next_seq`, and no removal has taken it.
    is_missing: bool,
}

/// A batch that can be sent.
pub(super) struct Prepared {
    pub(super) plan: Plan,
    pub(super) batch: Batch,
    pub(super) batched: Batched,
    /// Its events, in the order of its records.
    pub(super) events: Vec<LoggedEvent>,
}

/// What a run does next.
pub(super) enum Next {
    Send(Box<Prepared>),
    /// No event up to this number passes the filter.
    Skip {
        next_seq: u64,
        has_more: bool,
    },
    /// The log lacks the event with this number, and no removal has taken it.
    Missing {
        seq: u64,
    },
}

/// How its records are written.
#[derive(Clone, Copy)]
struct Format<'a> {
    format: RecordFormat,
    ocsf: &'a OcsfOptions,
    at: Timestamp,
}

impl<'a> Format<'a> {
    fn of(plan: &'a Plan) -> Self {
        Self {
            format: plan.format,
            ocsf: &plan.ocsf,
            at: plan.at,
        }
    }
}

impl Found {
    /// Reads the events of `range` that pass the filter, `records` at most.
    pub(super) fn read(
        reader: &mut Reader<'_>,
        ledger_id: LedgerId,
        range: Range<u64>,
        filter: &DestinationFilter,
        (records, rows_max, bytes_max): (usize, usize, usize),
    ) -> Result<Self> {
        let mut found = Self {
            events: Vec::new(),
            next_seq: range.start,
            end: range.end,
            is_missing: false,
        };
        let (mut rows, mut bytes, mut fetch) = (0, 0_usize, FetchSize::default());
        while found.next_seq < range.end
            && found.events.len() < records
            && rows < rows_max
            && bytes < bytes_max
            && !found.is_missing
        {
            let wanted = match filter.is_everything() {
                true => records - found.events.len(),
                false => FETCHED_ROWS_MAX,
            };
            let remaining = usize::try_from(range.end - found.next_seq).unwrap_or(usize::MAX);
            let fitting = fetch.rows_of(bytes_max - bytes);
            let limit = wanted.min(FETCHED_ROWS_MAX).min(remaining).min(fitting);
            let fetched = reader.logged_events(ledger_id, found.next_seq, limit)?;
            let present = fetched
                .first()
                .map_or(range.end, |first| first.seq.min(range.end));
            if present > found.next_seq {
                let skipped = found.skip_removed(reader, ledger_id, present)?;
                rows += skipped;
                found.is_missing = skipped == 0;
                continue;
            }
            for logged in fetched {
                if found.events.len() == records || logged.seq != found.next_seq {
                    break;
                }
                rows += 1;
                fetch.note(&logged.event);
                found.next_seq = logged.seq + 1;
                if filter.matches(&logged.event)? {
                    bytes += logged.event.canonical.len();
                    found.events.push(logged);
                }
            }
        }
        Ok(found)
    }

    /// Goes on behind the removed events at the next numbers, before `end`. Returns how many.
    fn skip_removed(&mut self, reader: &mut Reader<'_>, ledger_id: LedgerId, end: u64) -> Result<usize> {
        let start = self.next_seq;
        let seqs = start..end.min(start + BATCH_ROWS_MAX as u64);
        for record in reader.removed_rows(ledger_id, seqs)? {
            if record.seq != self.next_seq {
                break;
            }
            self.next_seq += 1;
        }
        Ok((self.next_seq - start) as usize)
    }

    /// Leaves out the events from this one on.
    fn cut(&mut self, index: usize) {
        if let Some(first) = self.events.get(index) {
            self.next_seq = first.seq;
            self.is_missing = false;
            self.events.truncate(index);
        }
    }

    pub(super) fn received(&self) -> Result<Option<(Timestamp, Timestamp)>> {
        match (self.events.first(), self.events.last()) {
            (Some(first), Some(last)) => Ok(Some((logged_at(&first.event)?, logged_at(&last.event)?))),
            _ => Ok(None),
        }
    }
}

impl Stream {
    pub(super) fn ledger_id(&self) -> LedgerId {
        LedgerId(self.run.ledger_id)
    }

    fn cursor(&self) -> u64 {
        self.run.cursor_seq.cast_unsigned()
    }

    fn position(&self) -> u64 {
        self.run.position.cast_unsigned()
    }

    /// The name of the log within its deployment: project and environment.
    fn log_name(&self) -> String {
        format!("{}/{}", self.destination.project_id, self.destination.environment)
    }

    pub(super) fn records_max(&self) -> u64 {
        u64::try_from(self.kind.limits().records_max).unwrap_or(u64::MAX)
    }

    /// Whether a batch was planned for the receiver that the settings name now.
    pub(super) fn has_settings_of(&self, plan: &Plan) -> bool {
        self.settings.is_none() || self.settings == plan.settings
    }

    /// The most events of the next batch.
    pub(super) fn batch_max(&self) -> usize {
        usize::try_from(plan::batch_max(&self.run, self.records_max())).unwrap_or(usize::MAX)
    }

    /// The next events of the log, at most `records`.
    pub(super) fn read_next(&self, reader: &mut Reader<'_>, records: usize) -> Result<Found> {
        let size = reader.ledger_size(self.ledger_id())?;
        let end = self.run.end_seq.map_or(size, |end| size.min(end.cast_unsigned()));
        let filter = DestinationFilter::of(&self.destination).map_err(|_| damaged())?;
        let bytes_max = self.kind.limits().bytes_max.min(BATCH_BYTES_MAX);
        let range = self.cursor().min(end)..end;
        let limits = (records, BATCH_ROWS_MAX, bytes_max);
        Found::read(reader, self.ledger_id(), range, &filter, limits)
    }

    /// The events of a batch that was planned before. Of a checkpoint the next event, which says how late the run is.
    pub(super) fn read_planned(&self, reader: &mut Reader<'_>, plan: &Plan) -> Result<Found> {
        if plan.checkpoint.is_some() {
            return self.read_next(reader, 1);
        }
        let size = reader.ledger_size(self.ledger_id())?;
        let end = self.run.end_seq.map_or(size, |end| size.min(end.cast_unsigned()));
        let filter = DestinationFilter::parse(&plan.filter).map_err(|_| damaged())?;
        let range = self.cursor()..plan.end_seq;
        let limits = (usize::MAX, usize::MAX, usize::MAX);
        let found = Found::read(reader, self.ledger_id(), range, &filter, limits)?;
        Ok(Found {
            next_seq: plan.end_seq,
            end: end.max(plan.end_seq),
            ..found
        })
    }

    /// A plan for `records` records of the events up to `end_seq`, as the destination is now.
    fn plan(&self, end_seq: u64, records: usize, now: Timestamp) -> Result<Plan> {
        Ok(Plan {
            end_seq,
            records: u64::try_from(records).unwrap_or(u64::MAX),
            filter: DestinationFilter::of(&self.destination)
                .map_err(|_| damaged())?
                .to_json(),
            settings: self.settings.clone(),
            format: self.destination.format.parse().map_err(|_| damaged())?,
            ocsf: ocsf_options(&self.destination)?,
            at: now,
            checkpoint: None,
            refused_end_seq: refused_end_seq(&self.run),
        })
    }

    /// Makes a new batch of events.
    pub(super) fn prepare(&self, mut found: Found, now: Timestamp) -> Result<Next> {
        let mut plan = self.plan(found.next_seq, found.events.len(), now)?;
        let mut records = self.encoded(&found.events, Format::of(&plan))?;
        let fitting = fitting(self.kind, &records);
        found.cut(fitting);
        records.truncate(fitting);
        if records.is_empty() {
            return Ok(match found.is_missing {
                true => Next::Missing { seq: found.next_seq },
                false => Next::Skip {
                    next_seq: found.next_seq,
                    has_more: found.next_seq < found.end,
                },
            });
        }
        plan.end_seq = found.next_seq;
        plan.records = u64::try_from(records.len()).unwrap_or(u64::MAX);
        Ok(Next::Send(Box::new(self.finish(plan, found, records)?)))
    }

    /// Makes a batch of a checkpoint alone, if one is due and the log can be signed now. `next` has the next event.
    pub(super) fn prepare_checkpoint(
        &mut self,
        service: &AuditLog,
        next: Found,
        now: Timestamp,
    ) -> Result<Option<Prepared>> {
        match self.checkpoint(service) {
            Ok(checkpoint) => {
                let plan = Plan {
                    checkpoint: Some(checkpoint),
                    ..self.plan(self.cursor(), 1, now)?
                };
                Ok(Some(self.finish(plan, next, Vec::new())?))
            }
            // The events go on: they are evidence as well. A receiver misses the checkpoints.
            Err(error @ (AppError::LogInconsistent(_) | AppError::NotSigned(_))) => {
                log::warn!("destination {} gets no checkpoint: {error}", self.destination.id);
                self.run.checkpoint_at = now.as_micros();
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Makes the batch of a plan again; `None` where its events are no longer the same.
    pub(super) fn prepare_again(&self, plan: Plan, found: Found) -> Result<Option<Prepared>> {
        if plan.checkpoint.is_some() {
            return Ok(Some(self.finish(plan, found, Vec::new())?));
        }
        let records = self.encoded(&found.events, Format::of(&plan))?;
        match records.len() as u64 == plan.records && !found.is_missing {
            true => Ok(Some(self.finish(plan, found, records)?)),
            false => Ok(None),
        }
    }

    /// The batch of a plan: with the records of its events, or with its checkpoint. Then `found` has the event that follows.
    fn finish(&self, plan: Plan, mut found: Found, mut records: Vec<Encoded>) -> Result<Prepared> {
        let (received, mut covered_position) = (found.received()?, None);
        if plan.checkpoint.is_some() {
            found.events.clear();
        }
        let mut chain = self.chain_after(&found.events)?;
        if let Some(checkpoint) = &plan.checkpoint {
            let (through, position) = (self.position(), self.position() + 1);
            chain = chain.after(position, &StreamNote::record_hash(&checkpoint.note));
            covered_position = Some(checkpoint.covered_position);
            let payload = Payload::Checkpoint {
                note: &checkpoint.note,
                log_checkpoint: &checkpoint.log_checkpoint,
                through_position: through,
                through_seq: plan.end_seq.saturating_sub(1),
            };
            records.push(self.record(payload, position, Format::of(&plan)));
        }
        let id = BatchId {
            destination: self.destination.id.clone(),
            run: self.run.number.cast_unsigned(),
            first_position: self.position() + 1,
            records: plan.records,
            first_seq: self.cursor(),
            end_seq: plan.end_seq,
            at: plan.at,
        };
        let batched = Batched {
            records: plan.records,
            covered_position,
            end_seq: plan.end_seq,
            chain,
            received,
            refused_end_seq: plan.refused_end_seq,
            has_more: plan.end_seq < found.end,
        };
        Ok(Prepared {
            plan,
            batch: Batch { id, records },
            batched,
            events: found.events,
        })
    }

    /// The position up to which a note names all events that were set aside.
    fn covered_position(&self) -> u64 {
        match self.set_aside.last() {
            Some(last) if self.set_aside.len() == NOTE_SET_ASIDE_MAX => last.position.cast_unsigned(),
            _ => self.position(),
        }
    }

    /// A signed checkpoint of everything that was delivered.
    fn checkpoint(&self, service: &AuditLog) -> Result<PlannedCheckpoint> {
        let name = self.log_name();
        let log_checkpoint = service.checkpoint_covering(self.ledger_id(), &name, self.cursor())?;
        let filter = DestinationFilter::of(&self.destination).map_err(|_| damaged())?;
        let origin = service.log_origin(&name)?;
        let set_aside = self.set_aside.iter().map(|row| {
            let hash: [u8; 32] = row.content_hash.as_slice().try_into().map_err(|_| damaged())?;
            Ok((row.position.cast_unsigned(), hash))
        });
        let note = StreamNote {
            origin: StreamNote::origin_of(&origin, &self.destination.id, self.run.number.cast_unsigned()),
            position: self.position(),
            chain: self.chain_after(&[])?,
            next_seq: self.cursor(),
            filter_fingerprint: filter.fingerprint(),
            set_aside: set_aside.collect::<Result<_>>()?,
        };
        Ok(PlannedCheckpoint {
            note: service.sign_stream(&note.to_text())?,
            log_checkpoint,
            covered_position: self.covered_position(),
        })
    }

    /// The records of events, the first one behind the position of the run.
    fn encoded(&self, events: &[LoggedEvent], format: Format<'_>) -> Result<Vec<Encoded>> {
        let positions = self.position() + 1..;
        let encoded = positions.zip(events).map(|(position, logged)| {
            let json = logged.event.to_json()?;
            let payload = Payload::Event {
                seq: logged.seq,
                json: json.get(),
            };
            Ok(self.record(payload, position, format))
        });
        encoded.collect()
    }

    fn record(&self, payload: Payload<'_>, position: u64, format: Format<'_>) -> Encoded {
        let stream = StreamPart {
            destination: &self.destination.id,
            log: &self.log_name(),
            run: self.run.number.cast_unsigned(),
            position,
        };
        encode(&Record { stream, payload }, format.format, format.ocsf, format.at)
    }

    fn chain_after(&self, events: &[LoggedEvent]) -> Result<StreamChain> {
        let stored: [u8; 32] = self.run.chain.as_slice().try_into().map_err(|_| damaged())?;
        let positions = self.position() + 1..;
        let next = |chain: StreamChain, (position, logged): (u64, &LoggedEvent)| {
            chain.after(position, logged.event.content_hash.as_bytes())
        };
        Ok(positions.zip(events).fold(StreamChain::from_bytes(stored), next))
    }
}

/// How many of these records one batch may have: as many as fit, and one that is too large for the receiver only alone.
fn fitting(kind: Kind, records: &[Encoded]) -> usize {
    let Limits { bytes_max, .. } = kind.limits();
    let mut bytes = 0;
    let fits = |record: &Encoded| {
        // A line break or a comma follows it.
        bytes += record.text.len() + 1;
        bytes <= bytes_max && !too_large(kind, record)
    };
    let fitting = records.iter().map(fits).take_while(|fits| *fits).count();
    fitting.max(1).min(records.len())
}
