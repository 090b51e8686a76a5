//! Lists the events of an erasure, of which an operator confirms or excludes what was found.

use super::collect::{Collection, Fate, or_cancelled, unless_held};
use super::guards::DAY_SECONDS;
use super::listing::Listing;
use super::rows::rows_of;
use super::taken::{LEASE_SECONDS, Outcome, RemovalAlarm, Taken};
use crate::erasure::subject::{Subject, mask};
use crate::error::{AppError, Result};
use crate::service::{AuditLog, Scope};
use audit_domain::{Extent, HeldFields, Hold, LifecycleEvent, StoredEvent, Timestamp};
use audit_store::{ErasureRequest, RemovalRow, RemovalState, StoreError};
use std::collections::BTreeSet;

/// A list that was not confirmed for so long is cancelled, in seconds.
const LISTED_SECONDS_MAX: i64 = 30 * DAY_SECONDS;

/// Whether an operator has to decide on a list.
pub(super) fn is_undecided(row: &RemovalRow, now: Timestamp) -> bool {
    row.is_complete_list() && !is_old(row, now)
}

fn is_old(row: &RemovalRow, now: Timestamp) -> bool {
    row.changed_at.plus_seconds(LISTED_SECONDS_MAX) <= now
}

/// Cancels a list that is too old, or completes one from which events were excluded.
pub(super) fn decide(taken: &mut Taken<'_>) -> Result<Outcome> {
    // A request may have changed it since the row was read.
    let mut rows = rows_of(taken.service, taken.row.ledger_id)?.into_iter();
    let Some(row) = rows.find(|row| row.number == taken.row.number) else {
        return Ok(Outcome::Ended);
    };
    taken.row = row;
    if taken.row.state != RemovalState::Listed {
        return Ok(Outcome::Waits(None));
    }
    if is_old(&taken.row, taken.service.clock.now()) {
        return taken.cancel();
    }
    complete(taken)?;
    Ok(Outcome::Waits(None))
}

/// Goes on with a list, and completes it at the end of the log.
pub(super) fn list(taken: &mut Taken<'_>, mut listing: Listing) -> Result<Outcome> {
    let outcome = list_in_turn(taken, &mut listing);
    let outcome = or_cancelled(taken, outcome);
    let goes_on = match &outcome {
        Ok(outcome) => *outcome == Outcome::Later,
        // It was cancelled, or another process has found that this one had not renewed its lease.
        Err(AppError::LogInconsistent(_) | AppError::Unavailable(StoreError::Stale)) => false,
        Err(_) => true,
    };
    if goes_on {
        let listings = &taken.service.removal_worker.listings;
        let now = taken.service.clock.now();
        listings.put(taken.project_id(), &taken.row, listing, now);
    }
    outcome
}

fn list_in_turn(taken: &mut Taken<'_>, listing: &mut Listing) -> Result<Outcome> {
    let request = request_of(taken)?;
    let collection = Collection::new(taken, listing.holds.clone())?;
    let (subject, collected) = (&listing.subject, &mut listing.collected);
    while taken.row.cursor_seq < taken.row.seqs.end {
        collection.step(taken, collected, |logged| {
            fate(&listing.holds, (subject, request.extent), &logged.event)
        })?;
        if !taken.has_time() {
            return Ok(Outcome::Later);
        }
    }
    let digest = match taken.row.records {
        0 => None,
        _ => Some(collected.finish(taken)?.0),
    };
    taken.row.request = Some(ErasureRequest {
        held: collected.held,
        rows: collected.rows,
        digest,
        ..request
    });
    match taken.enter(digest.map_or(RemovalState::Done, |_| RemovalState::Listed))? {
        Outcome::Moved => Ok(Outcome::Waits(None)),
        ended => Ok(ended),
    }
}

/// What an erasure does with an event; `None` where it is none. The lifecycle events prove why events are gone, and stay.
pub(super) fn fate(
    holds: &[Hold],
    (subject, extent): (&Subject, Extent),
    stored: &StoredEvent,
) -> Option<Fate> {
    if !subject.may_be_in(&stored.canonical) {
        return Some(Fate::Stays);
    }
    let event = stored.to_stored_object().ok()?;
    if LifecycleEvent::is_lifecycle(&event) {
        return Some(Fate::Stays);
    }
    let found = subject.find(&event);
    let mask = found.and_then(|found| mask(extent, &found, &stored.content_salt));
    let fields = HeldFields::of(&event)?;
    Some(mask.map_or(Fate::Stays, |mask| unless_held(holds, &fields, mask)))
}

fn request_of(taken: &Taken<'_>) -> Result<ErasureRequest> {
    taken.row.request.clone().ok_or_else(|| taken.other_row())
}

/// Notes the digest of the stored records of a list, if it has changed.
fn complete(taken: &mut Taken<'_>) -> Result<()> {
    let request = request_of(taken)?;
    if request.digest.is_some() {
        return Ok(());
    }
    let (digest, events) = taken.digest()?;
    if events != taken.row.records {
        return Err(RemovalAlarm::ChangedRecords(taken.row.seqs.clone()).into());
    }
    let digest = Some(digest);
    let after = RemovalRow {
        request: Some(ErasureRequest { digest, ..request }),
        ..taken.row.clone()
    };
    taken.step(after, |_| Ok(()))
}

impl AuditLog {
    /// Removes the records of these positions from the complete list of a removal, which then has another digest.
    ///
    /// # Errors
    /// [`StoreError::Stale`] while another node works on it; [`AppError::LogInconsistent`] where its records are not those that were stored.
    pub(crate) fn shorten_list(&self, scope: &Scope, number: u32, seqs: &BTreeSet<u64>) -> Result<()> {
        let (now, lease) = (self.clock.now(), self.entropy.bytes());
        let ledger_id = scope.ledger_id;
        let until = now.plus_seconds(LEASE_SECONDS);
        let is_leased = self.store.write_for(scope.project.project.id, move |writer| {
            writer.lease_removal(ledger_id, number, &lease, now, until)
        })?;
        if !is_leased {
            return Err(StoreError::Stale.into());
        }
        // Another request may have changed it before.
        let mut rows = rows_of(self, ledger_id)?.into_iter();
        let row = rows.find(|row| row.number == number && row.is_complete_list());
        let row = row.ok_or(StoreError::Stale)?;
        let mut taken = Taken::new(self, scope, row, lease);
        let shortened = shorten(&mut taken, seqs);
        taken.release()?;
        shortened
    }
}

fn shorten(taken: &mut Taken<'_>, seqs: &BTreeSet<u64>) -> Result<()> {
    let request = request_of(taken)?;
    let (digest, events) = taken.digest()?;
    if (Some(digest), events) != (request.digest, taken.row.records) {
        return Err(RemovalAlarm::ChangedRecords(taken.row.seqs.clone()).into());
    }
    let mut excluded = Vec::new();
    for seq in seqs {
        let records = taken.records_from(*seq, 1)?;
        excluded.extend(records.into_iter().find(|record| record.seq == *seq));
    }
    let rows = excluded.iter().filter(|record| record.mask.is_row()).count() as u64;
    let after = RemovalRow {
        records: taken.row.records - excluded.len() as u64,
        request: Some(ErasureRequest {
            rows: request.rows.saturating_sub(rows),
            digest: None,
            ..request
        }),
        ..taken.row.clone()
    };
    let (ledger_id, number) = (taken.row.ledger_id, taken.row.number);
    taken.step(after, move |writer| {
        let seqs: Vec<u64> = excluded.iter().map(|record| record.seq).collect();
        match writer.exclude_records(ledger_id, number, &seqs)?.len() == seqs.len() {
            true => Ok(()),
            false => Err(StoreError::Stale.into()),
        }
    })?;
    complete(taken)
}
