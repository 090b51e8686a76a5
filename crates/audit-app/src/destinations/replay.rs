//! Replays: a second run of a destination over events of the past, beside the main one.

use super::changes::new_run;
use super::progress::ReplayProgress;
use super::{DestinationFilter, damaged, logged_at, require_paid_plan};
use crate::error::{AppError, Result};
use crate::self_audit::{Changed, Requester, ServiceEvent};
use crate::service::{AuditLog, Selection};
use audit_auth::DestinationOwner;
use audit_destinations::{DestinationId, Kind};
use audit_domain::{Timestamp, Violations};
use audit_store::{DestinationRow, LedgerId, MAIN_RUN, Reader};

/// The maximum number of events that a count of matching events reads. It takes the turn of a query.
const COUNTED_EVENTS_MAX: u64 = 20_000;
/// The number of events of one read.
const READ_EVENTS: usize = 250;

/// The events that are to be sent again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplayRequest {
    /// From this position in the log on; by default from its beginning.
    pub from_seq: Option<u64>,
    /// From the first event on that the log received at this time or later.
    pub from: Option<Timestamp>,
    /// To the last event that the log received before this time; by default to the end of the log now.
    pub to: Option<Timestamp>,
}

/// What a replay sends.
#[derive(Clone, Debug)]
pub struct ReplayRange {
    /// The position in the log of the first event.
    pub from_seq: u64,
    /// The position in the log after the last event.
    pub end_seq: u64,
    /// How many events of it the filter lets pass; `None` if they were not counted.
    pub count: Option<ReplayCount>,
    /// The replay; `None` if it was only counted.
    pub replay: Option<ReplayProgress>,
}

/// How many events a filter lets pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayCount {
    /// Those that it lets pass, of the [`Self::looked_at`] first ones.
    pub matching: u64,
    /// The positions that were looked at: all of the range, unless it has more than a request reads. Removed events have positions.
    pub looked_at: u64,
}

impl AuditLog {
    /// What a replay would send. Changes nothing.
    ///
    /// # Errors
    /// [`AppError::NotFound`]; [`AppError::Invalid`] when the log has no such range.
    pub fn count_replay(
        &self,
        owner: &DestinationOwner,
        selection: Selection,
        id: DestinationId,
        request: ReplayRequest,
    ) -> Result<ReplayRange> {
        self.store.query(|reader| {
            let access = self.destination_access(reader, owner, selection)?;
            let row = access.destination(reader, id)?;
            let (range, ledger_id) = range_of(reader, &row, request)?;
            let filter = DestinationFilter::of(&row).map_err(|_| damaged())?;
            let count = Some(count(reader, ledger_id, &range, &filter)?);
            Ok(ReplayRange { count, ..range })
        })
    }

    /// Starts a replay.
    ///
    /// # Errors
    /// As [`Self::count_replay`]; [`AppError::Invalid`] for a range without events; [`AppError::Conflict`] while another one runs;
    /// [`AppError::Forbidden`] on the free plan.
    pub fn start_replay(
        &self,
        owner: &DestinationOwner,
        selection: Selection,
        id: DestinationId,
        request: ReplayRequest,
    ) -> Result<ReplayRange> {
        let access = self.access_to_change(owner, selection)?;
        let project_id = access.project_id;
        let (range, _) = self.store.query(|reader| {
            let row = access.destination(reader, id)?;
            range_of(reader, &row, request)
        })?;
        if range.from_seq == range.end_seq {
            let field = match request {
                ReplayRequest { to: Some(_), .. } => "to",
                ReplayRequest { from: Some(_), .. } => "from",
                ReplayRequest { .. } => "from_seq",
            };
            return Err(Violations::one(field, "the log has no events in this range").into());
        }
        let now = self.clock.now();
        let started = self.change_project(project_id, &Requester::from(owner), move |configurator| {
            require_paid_plan(configurator, project_id)?;
            let row = access.destination(configurator, id)?;
            let runs = configurator.destination_runs(&row.id)?;
            if runs.iter().any(|run| run.number != MAIN_RUN) {
                return Err(AppError::Conflict(
                    "a replay of this destination is running".to_owned(),
                ));
            }
            let main = runs.first().ok_or_else(damaged)?;
            let kind: Kind = row.kind.parse().map_err(|_| damaged())?;
            // The milliseconds of its start number it: receivers drop repeats by ids that name the run, so that no number comes twice.
            let mut run = new_run(
                &row.id,
                now.as_millis(),
                LedgerId(main.ledger_id),
                range.from_seq,
                kind,
                now,
            );
            run.end_seq = Some(range.end_seq.cast_signed());
            configurator.insert_destination_run(&run)?;
            let event = ServiceEvent::destination_replay_started(&row, &run);
            let replay = Some(ReplayProgress::of(&run, row.paused)?);
            Ok(Changed::by(ReplayRange { replay, ..range }, event))
        });
        self.wake_destinations();
        started
    }

    /// Stops a replay. Events of it that were set aside stay in the list.
    ///
    /// # Errors
    /// [`AppError::NotFound`], also without a replay.
    pub fn stop_replay(
        &self,
        owner: &DestinationOwner,
        selection: Selection,
        id: DestinationId,
    ) -> Result<()> {
        let access = self.access_to_change(owner, selection)?;
        self.change_project(access.project_id, &Requester::from(owner), move |configurator| {
            let row = access.destination(configurator, id)?;
            let runs = configurator.destination_runs(&row.id)?;
            let replay = runs.iter().find(|run| run.number != MAIN_RUN);
            let replay = replay.ok_or(AppError::NotFound("replay"))?;
            configurator.delete_destination_run(&row.id, replay.number)?;
            Ok(Changed::by(
                (),
                ServiceEvent::destination_replay_stopped(&row, replay),
            ))
        })
    }
}

/// The range that a request means, and its log.
fn range_of(
    reader: &mut Reader<'_>,
    row: &DestinationRow,
    request: ReplayRequest,
) -> Result<(ReplayRange, LedgerId)> {
    let runs = reader.destination_runs(&row.id)?;
    let main = runs
        .iter()
        .find(|run| run.number == MAIN_RUN)
        .ok_or_else(damaged)?;
    let ledger_id = LedgerId(main.ledger_id);
    let size = reader.ledger_size(ledger_id)?;
    let from_seq = match (request.from_seq, request.from) {
        (Some(seq), _) if seq > size => {
            return Err(Violations::one("from_seq", format_args!("the log has {size} events")).into());
        }
        (Some(seq), _) => seq,
        (None, Some(time)) => first_logged_at(reader, ledger_id, size, time)?,
        (None, None) => 0,
    };
    let end_seq = match request.to {
        Some(time) => first_logged_at(reader, ledger_id, size, time)?,
        None => size,
    };
    if end_seq < from_seq {
        return Err(Violations::one("to", "must be after the start of the replay").into());
    }
    let range = ReplayRange {
        from_seq,
        end_seq,
        count: None,
        replay: None,
    };
    Ok((range, ledger_id))
}

/// The position of the first event that a log of this size received at a time or later, or of the first of the removed ones directly
/// before it; its size without one. The times never decrease along a log.
fn first_logged_at(reader: &mut Reader<'_>, ledger_id: LedgerId, size: u64, time: Timestamp) -> Result<u64> {
    let (mut start, mut end) = (0, size);
    while start < end {
        let middle = start + (end - start) / 2;
        let events = reader.logged_events(ledger_id, middle, 1)?;
        let event = events.first().ok_or_else(damaged)?;
        match logged_at(&event.event)? < time {
            true => start = middle + 1,
            false => end = middle,
        }
    }
    Ok(start)
}

fn count(
    reader: &mut Reader<'_>,
    ledger_id: LedgerId,
    range: &ReplayRange,
    filter: &DestinationFilter,
) -> Result<ReplayCount> {
    let events = range.end_seq - range.from_seq;
    // Removed events have positions as well.
    if filter.is_everything() && reader.newest_removal(ledger_id)? == 0 {
        return Ok(ReplayCount {
            matching: events,
            looked_at: events,
        });
    }
    let looked_at = events.min(COUNTED_EVENTS_MAX);
    let (mut next, end, mut matching) = (range.from_seq, range.from_seq + looked_at, 0);
    while next < end {
        let limit = usize::try_from(end - next).map_or(READ_EVENTS, |left| left.min(READ_EVENTS));
        let found = reader.logged_events(ledger_id, next, limit)?;
        for logged in found.iter().take_while(|logged| logged.seq < end) {
            matching += u64::from(filter.matches(&logged.event)?);
        }
        next = found.last().map_or(end, |last| last.seq + 1);
    }
    Ok(ReplayCount { matching, looked_at })
}
