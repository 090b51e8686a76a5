//! The batches of a run: which events a batch has, and its bytes. The same plan always gives the same bytes.

use super::plan::{self, Batched, Plan, PlannedCheckpoint};
use crate::destinations::{DestinationFilter, damaged};
use crate::error::{AppError, Result};
use crate::service::AuditLog;
use audit_destinations::{
    Batch, BatchId, Chain, Encoded, Kind, Limits, Payload, Record, RecordFormat, StreamNote, StreamPart,
    encode, too_large,
};
use audit_domain::{Envelope, Timestamp};
use audit_store::{DestinationRow, DestinationRunRow, FetchSize, LedgerId, LoggedEvent, Reader, SetAsideRow};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::ops::Range;

/// The most events that are read for one batch. A filter that few events pass must not hold a reading session for long.
const BATCH_ROWS_MAX: usize = 5_000;
/// The most events of one fetch.
const FETCHED_ROWS_MAX: usize = 250;
/// A fetch for a batch ends with the event that reaches this size: what an attempt holds in memory.
const BATCH_BYTES_MAX: usize = 4 * 1024 * 1024;
/// A checkpoint is due early when its note names this many events that were set aside. A note has at most 128 KiB.
const NOTE_SET_ASIDE_MAX: usize = 500;

/// A run of a destination, as it was when its batch was made.
pub(super) struct Stream {
    pub(super) destination: DestinationRow,
    pub(super) run: DestinationRunRow,
    pub(super) kind: Kind,
    /// Those that were set aside since the last checkpoint.
    pub(super) set_aside: Vec<SetAsideRow>,
}

/// Events of a log in their order.
pub(super) struct Found {
    events: Vec<LoggedEvent>,
    /// The first number of the log that was not looked at.
    next_seq: u64,
    /// The number of the log at which the run ends now.
    end: u64,
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
}

/// How its records are written.
#[derive(Clone, Copy)]
struct Format {
    format: RecordFormat,
    include_raw: bool,
    at: Timestamp,
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
        };
        let (mut rows, mut bytes, mut fetch) = (0, 0_usize, FetchSize::default());
        while found.next_seq < range.end
            && found.events.len() < records
            && rows < rows_max
            && bytes < bytes_max
        {
            let wanted = match filter.is_everything() {
                true => records - found.events.len(),
                false => FETCHED_ROWS_MAX,
            };
            let remaining = usize::try_from(range.end - found.next_seq).unwrap_or(usize::MAX);
            let fitting = fetch.rows_of(bytes_max - bytes);
            let limit = wanted.min(FETCHED_ROWS_MAX).min(remaining).min(fitting);
            let fetched = reader.logged_events(ledger_id, found.next_seq, limit)?;
            if fetched.is_empty() {
                // Rows were deleted. A run that stopped here would deliver nothing any more.
                log_missing_events(reader, ledger_id, found.next_seq)?;
                found.next_seq = range.end;
            }
            for logged in fetched {
                if found.events.len() == records {
                    break;
                }
                if logged.seq != found.next_seq {
                    log_missing_events(reader, ledger_id, found.next_seq)?;
                }
                if logged.seq >= range.end {
                    found.next_seq = range.end;
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

    /// Leaves out the events from this one on.
    fn cut(&mut self, index: usize) {
        if let Some(first) = self.events.get(index) {
            self.next_seq = first.seq;
            self.events.truncate(index);
        }
    }

    fn received(&self) -> Result<Option<(Timestamp, Timestamp)>> {
        let logged_at = |logged: &LoggedEvent| -> Result<Timestamp> {
            let envelope = Envelope::read(&logged.event.canonical);
            Ok(envelope.map_err(|_| damaged())?.logged_at)
        };
        match (self.events.first(), self.events.last()) {
            (Some(first), Some(last)) => Ok(Some((logged_at(first)?, logged_at(last)?))),
            _ => Ok(None),
        }
    }
}

fn log_missing_events(reader: &mut Reader<'_>, ledger_id: LedgerId, seq: u64) -> Result<()> {
    let log = reader.ledger_name(ledger_id)?;
    log::error!("events are missing from the log {log} at position {seq}");
    Ok(())
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

    /// Whether the next batch has a checkpoint record if it has room for one.
    fn needs_checkpoint(&self, now: Timestamp) -> bool {
        plan::is_checkpoint_due(&self.run, now) || self.set_aside.len() >= NOTE_SET_ASIDE_MAX
    }

    /// The events for a new batch, up to the end of the log.
    pub(super) fn read_next(&self, reader: &mut Reader<'_>, now: Timestamp) -> Result<Found> {
        let size = reader.ledger_size(self.ledger_id())?;
        let end = self.run.end_seq.map_or(size, |end| size.min(end.cast_unsigned()));
        let filter = DestinationFilter::from_stored(&self.destination.filter).map_err(|_| damaged())?;
        let records_max = plan::batch_max(&self.run, self.records_max());
        // What was delivered is covered first: a batch that is always full would leave no room for a checkpoint.
        let is_uncovered = self.run.position > self.run.checkpoint_position;
        let reserved = u64::from(is_uncovered && self.needs_checkpoint(now));
        let records = usize::try_from(records_max - reserved).unwrap_or(usize::MAX);
        let bytes_max = self.kind.limits().bytes_max.min(BATCH_BYTES_MAX);
        let start = self.cursor().min(end);
        Found::read(
            reader,
            self.ledger_id(),
            start..end,
            &filter,
            (records, BATCH_ROWS_MAX, bytes_max),
        )
    }

    /// The events of a batch that was planned before.
    pub(super) fn read_planned(&self, reader: &mut Reader<'_>, plan: &Plan) -> Result<Found> {
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

    /// Makes a new batch of events.
    pub(super) fn prepare(&mut self, service: &AuditLog, mut found: Found, now: Timestamp) -> Result<Next> {
        let format = Format {
            format: self.destination.format.parse().map_err(|_| damaged())?,
            include_raw: self.destination.include_raw,
            at: now,
        };
        let mut records = self.encoded(&found.events, format)?;
        let fitting = fitting(self.kind, &records);
        found.cut(fitting);
        records.truncate(fitting);
        let max = plan::batch_max(&self.run, self.records_max());
        let has_room = u64::try_from(records.len()).unwrap_or(u64::MAX) < max;
        let through = self.position() + u64::try_from(records.len()).unwrap_or(u64::MAX);
        let is_uncovered = through > self.run.checkpoint_position.cast_unsigned();
        let chain = self.chain_after(&found.events)?;
        let checkpoint = match has_room && is_uncovered && self.needs_checkpoint(now) {
            true => self.checkpoint(service, (through, chain, found.next_seq))?,
            false => None,
        };
        if checkpoint.is_none() && self.needs_checkpoint(now) {
            // Nothing has to be covered, or the log cannot be signed now.
            self.run.checkpoint_at = now.as_micros();
        }
        if records.is_empty() && checkpoint.is_none() {
            return Ok(Next::Skip {
                next_seq: found.next_seq,
                has_more: found.next_seq < found.end,
            });
        }
        let filter: Value = serde_json::from_str(&self.destination.filter).map_err(AppError::internal)?;
        let plan = Plan {
            end_seq: found.next_seq,
            records: u64::try_from(records.len()).unwrap_or(u64::MAX) + u64::from(checkpoint.is_some()),
            filter,
            format: format.format,
            include_raw: format.include_raw,
            at: now,
            checkpoint,
        };
        Ok(Next::Send(Box::new(self.finish(plan, found, records)?)))
    }

    /// Makes the batch of a plan again; `None` where its events are no longer the same.
    pub(super) fn prepare_again(&self, plan: Plan, found: Found) -> Result<Option<Prepared>> {
        let format = Format {
            format: plan.format,
            include_raw: plan.include_raw,
            at: plan.at,
        };
        let records = self.encoded(&found.events, format)?;
        let count = records.len() as u64 + u64::from(plan.checkpoint.is_some());
        match count == plan.records {
            true => Ok(Some(self.finish(plan, found, records)?)),
            false => Ok(None),
        }
    }

    fn finish(&self, plan: Plan, found: Found, mut records: Vec<Encoded>) -> Result<Prepared> {
        let chain_of_events = self.chain_after(&found.events)?;
        let (events, through) = (records.len() as u64, self.position() + records.len() as u64);
        let mut chain = chain_of_events;
        if let Some(checkpoint) = &plan.checkpoint {
            chain = chain.after(through + 1, &Sha256::digest(&checkpoint.note).into());
            let payload = Payload::Checkpoint {
                note: &checkpoint.note,
                log_checkpoint: &checkpoint.log_checkpoint,
                through_position: through,
                through_seq: plan.end_seq.saturating_sub(1),
            };
            let format = Format {
                format: plan.format,
                include_raw: plan.include_raw,
                at: plan.at,
            };
            records.push(self.record(payload, through + 1, format));
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
            events,
            has_checkpoint: plan.checkpoint.is_some(),
            end_seq: plan.end_seq,
            chain_of_events,
            chain,
            received: found.received()?,
            has_more: plan.end_seq < found.end,
        };
        Ok(Prepared {
            plan,
            batch: Batch { id, records },
            batched,
            events: found.events,
        })
    }

    /// The two notes of a checkpoint; `None` while the log cannot be signed.
    fn checkpoint(
        &self,
        service: &AuditLog,
        (position, chain, next_seq): (u64, Chain, u64),
    ) -> Result<Option<PlannedCheckpoint>> {
        let name = self.log_name();
        let log_checkpoint = match service.checkpoint_covering(self.ledger_id(), &name, next_seq) {
            Ok(note) => note,
            // The events go on: they are evidence as well. A receiver misses the checkpoints.
            Err(AppError::LogInconsistent(error)) => {
                log::warn!("destination {} gets no checkpoint: {error}", self.destination.id);
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let filter = DestinationFilter::from_stored(&self.destination.filter).map_err(|_| damaged())?;
        let origin = service.log_origin(&name)?;
        let set_aside = self.set_aside.iter().map(|row| {
            let hash: [u8; 32] = row.content_hash.as_slice().try_into().map_err(|_| damaged())?;
            Ok((row.position.cast_unsigned(), hash))
        });
        let note = StreamNote {
            origin: StreamNote::origin_of(&origin, &self.destination.id, self.run.number.cast_unsigned()),
            position,
            chain,
            next_seq,
            filter_fingerprint: filter.fingerprint(),
            set_aside: set_aside.collect::<Result<_>>()?,
        };
        Ok(Some(PlannedCheckpoint {
            note: service.sign_stream(&note.to_text())?,
            log_checkpoint,
        }))
    }

    /// The records of events, the first one behind the position of the run.
    fn encoded(&self, events: &[LoggedEvent], format: Format) -> Result<Vec<Encoded>> {
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

    fn record(&self, payload: Payload<'_>, position: u64, format: Format) -> Encoded {
        let stream = StreamPart {
            destination: &self.destination.id,
            log: &self.log_name(),
            run: self.run.number.cast_unsigned(),
            position,
        };
        encode(
            &Record { stream, payload },
            format.format,
            format.include_raw,
            format.at,
        )
    }

    fn chain_after(&self, events: &[LoggedEvent]) -> Result<Chain> {
        let stored: [u8; 32] = self.run.chain.as_slice().try_into().map_err(|_| damaged())?;
        let positions = self.position() + 1..;
        let next = |chain: Chain, (position, logged): (u64, &LoggedEvent)| {
            chain.after(position, logged.event.content_hash.as_bytes())
        };
        Ok(positions.zip(events).fold(Chain::from_bytes(stored), next))
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
