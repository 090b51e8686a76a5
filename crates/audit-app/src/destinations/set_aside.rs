//! The events that a receiver refused: listed, and sent again.

use super::sending::{DestinationAttempt, DestinationVerdict, Encoder};
use super::{Destination, damaged, open_config};
use crate::error::{AppError, Result};
use crate::service::{AuditLog, Selection};
use audit_auth::DestinationOwner;
use audit_destinations::{BatchId, DestinationId, Encoded};
use audit_domain::{EventId, Timestamp, Violations};
use audit_store::{LedgerId, LoggedEvent, Reader, SetAsideRow};

/// The maximum number of events that one request sends again.
pub const RESENT_MAX: usize = 10;
/// No further event is sent after this time, in seconds, so that the last attempt ends before the client stops waiting.
const RESEND_SECONDS_MAX: i64 = 10;

/// An event that the receiver refused.
#[derive(Clone, Debug)]
pub struct SetAsideEvent {
    /// The number of the run: 0, or that of a replay.
    pub run: i64,
    /// The number of its record in the run.
    pub position: i64,
    /// Its position in the log.
    pub seq: i64,
    /// Its id.
    pub event_id: EventId,
    /// When it was refused.
    pub at: Timestamp,
    /// What the receiver responded.
    pub reason: String,
}

/// A page of these events.
#[derive(Clone, Debug)]
pub struct SetAsidePage {
    /// The events, by run and position.
    pub events: Vec<SetAsideEvent>,
    /// The cursor of the next page; `None` on the last page.
    pub cursor: Option<String>,
}

/// Which events are sent again.
#[derive(Clone, Debug, Default)]
pub struct ResendRequest {
    /// Their run.
    pub run: i64,
    /// Their positions, at most [`RESENT_MAX`]; `None` for the first of the list, of any run.
    pub positions: Option<Vec<i64>>,
}

/// An event that was sent again.
#[derive(Clone, Debug)]
pub struct ResentEvent {
    /// The number of the run.
    pub run: i64,
    /// The number of its record in the run, which it keeps.
    pub position: i64,
    /// What became of it. Delivered ones are no longer in the list.
    pub attempt: DestinationAttempt,
}

/// What was sent again.
#[derive(Clone, Debug)]
pub struct Resent {
    /// The events in the order in which they were sent.
    pub events: Vec<ResentEvent>,
    /// The number of events that are still in the list.
    pub remaining: i64,
}

impl SetAsideEvent {
    fn from_row(row: SetAsideRow) -> Result<Self> {
        let event_id = row.event_id.as_slice().try_into().map_err(|_| damaged())?;
        Ok(Self {
            run: row.run,
            position: row.position,
            seq: row.seq,
            event_id: EventId::from_bytes(event_id),
            at: Timestamp::from_micros(row.at),
            reason: row.reason,
        })
    }
}

/// An event to send again, with its record.
struct Waiting {
    row: SetAsideRow,
    record: Encoded,
}

impl AuditLog {
    /// One page of the events that the receiver of a destination refused.
    ///
    /// # Errors
    /// [`AppError::NotFound`]; [`AppError::Invalid`] when the cursor belongs to another list.
    pub fn set_aside(
        &self,
        owner: &DestinationOwner,
        selection: Selection,
        id: DestinationId,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<SetAsidePage> {
        self.store.query(|reader| {
            let access = self.destination_access(reader, owner, selection)?;
            let row = access.destination(reader, id)?;
            let cursor_scope = format!("set aside {id}");
            let after = self.open_id_cursor(cursor, &cursor_scope)?.map(place_in);
            let fetched = i64::try_from(limit + 1).unwrap_or(i64::MAX);
            let mut found = reader.set_aside(&row.id, after, fetched)?;
            let cursor = self.seal_id_cursor(&mut found, limit, &cursor_scope, |row| bytes_of(row).to_vec());
            let events = found.into_iter().map(SetAsideEvent::from_row);
            Ok(SetAsidePage {
                events: events.collect::<Result<_>>()?,
                cursor,
            })
        })
    }

    /// Sends events that were set aside again, one by one, with their original positions. Those that are delivered leave the list. Ends
    /// early where the receiver takes nothing now, or responds slowly.
    ///
    /// # Errors
    /// [`AppError::NotFound`]; [`AppError::Invalid`] when a position is not in the list, or the filter leaves its event out;
    /// [`AppError::Forbidden`] on the free plan; [`AppError::RateLimited`] when the organization sends too much at once.
    pub fn resend_set_aside(
        &self,
        owner: &DestinationOwner,
        selection: Selection,
        id: DestinationId,
        request: &ResendRequest,
    ) -> Result<Resent> {
        let _slot = self.sending.begin(owner)?;
        let (project_id, row) = self.destination_to_send(owner, selection, id)?;
        let config = open_config(&row.config, &row, &self.settings.encryption)?;
        let destination = Destination::open(&row, &self.settings.encryption)?;
        let started_at = self.clock.now();
        let encoder = Encoder::of(&destination, project_id, started_at);
        let waiting = self
            .store
            .query(|reader| waiting(reader, &destination, request, &encoder))?;
        let mut events = Vec::new();
        for Waiting { row: refused, record } in waiting {
            let now = self.clock.now();
            if now > started_at.plus_seconds(RESEND_SECONDS_MAX) {
                break;
            }
            let seq = refused.seq.cast_unsigned();
            let batch_id = BatchId {
                destination: row.id.clone(),
                run: refused.run.cast_unsigned(),
                first_position: refused.position.cast_unsigned(),
                records: 1,
                first_seq: seq,
                end_seq: seq + 1,
                at: now,
            };
            let attempt = self.send_record(&config, batch_id, record)?;
            let verdict = attempt.verdict;
            let (run, position) = (refused.run, refused.position);
            if verdict == DestinationVerdict::Delivered {
                let id = row.id.clone();
                self.store.write_for(project_id, move |writer| {
                    Ok::<_, AppError>(writer.delete_set_aside(&id, run, position)?)
                })?;
            }
            events.push(ResentEvent {
                run,
                position,
                attempt,
            });
            if matches!(
                verdict,
                DestinationVerdict::Retry | DestinationVerdict::Credentials
            ) {
                break;
            }
        }
        let remaining = self.store.read(|reader| reader.set_aside_count(&row.id))?;
        Ok(Resent { events, remaining })
    }
}

/// The events that a request names, or of the first ones of the list those that the filter lets pass.
fn waiting(
    reader: &mut Reader<'_>,
    destination: &Destination,
    request: &ResendRequest,
    encoder: &Encoder,
) -> Result<Vec<Waiting>> {
    let id = &destination.id.to_string();
    let rows = match &request.positions {
        None => reader.set_aside(id, None, RESENT_MAX as i64)?,
        Some(positions) => {
            let mut rows = Vec::new();
            for (index, position) in positions.iter().enumerate() {
                let mut found = reader.set_aside_between(id, request.run, position - 1, *position)?;
                let row = found.pop().ok_or_else(|| {
                    Violations::one(format!("positions[{index}]"), "was not set aside in this run")
                })?;
                rows.push(row);
            }
            rows
        }
    };
    let runs = reader.destination_runs(id)?;
    let ledger_id = LedgerId(runs.first().ok_or_else(damaged)?.ledger_id);
    let mut waiting = Vec::new();
    for (index, row) in rows.into_iter().enumerate() {
        let seq = row.seq.cast_unsigned();
        let event = event_at(reader, ledger_id, seq)?;
        let refusal = match &event {
            None => "is an event that was removed from the log",
            Some(event) if !destination.filter.matches(&event.event)? => {
                "is an event that the filter of the destination leaves out"
            }
            Some(_) => "",
        };
        let Some(event) = event.filter(|_| refusal.is_empty()) else {
            if request.positions.is_some() {
                return Err(Violations::one(format!("positions[{index}]"), refusal).into());
            }
            continue;
        };
        let record = encoder.event(&event, row.run.cast_unsigned(), row.position.cast_unsigned())?;
        waiting.push(Waiting { row, record });
    }
    Ok(waiting)
}

/// The event at a position of the log; `None` where a removal has taken it.
fn event_at(reader: &mut Reader<'_>, ledger_id: LedgerId, seq: u64) -> Result<Option<LoggedEvent>> {
    let event = reader.logged_events(ledger_id, seq, 1)?.pop();
    let event = event.filter(|event| event.seq == seq);
    match event.is_none() && reader.removed_rows(ledger_id, seq..seq + 1)?.is_empty() {
        true => Err(damaged()),
        false => Ok(event),
    }
}

/// Run and position, as a cursor has them.
fn bytes_of(row: &SetAsideRow) -> [u8; 16] {
    let place = (row.run.cast_unsigned() as u128) << 64 | row.position.cast_unsigned() as u128;
    place.to_be_bytes()
}

fn place_in(bytes: [u8; 16]) -> (i64, i64) {
    let place = u128::from_be_bytes(bytes);
    (((place >> 64) as u64).cast_signed(), (place as u64).cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_has_the_run_and_the_position() {
        for (run, position) in [(0, 1), (0, i64::MAX), (1_768_473_000_123, 7)] {
            let row = SetAsideRow {
                destination_id: String::new(),
                run,
                position,
                seq: 0,
                event_id: Vec::new(),
                content_hash: Vec::new(),
                at: 0,
                reason: String::new(),
            };
            assert_eq!(place_in(bytes_of(&row)), (run, position));
        }
    }
}
