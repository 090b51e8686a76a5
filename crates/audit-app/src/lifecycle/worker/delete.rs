//! Deletes the rows of a removal that the log authorises, or erases parts of them.

use super::erase;
use super::taken::{Outcome, RemovalAlarm, Taken};
use crate::error::{AppError, Result};
use crate::lifecycle::WaitingFor;
use audit_ledger::{RemovalKind, RemovalRecord};
use audit_store::{LedgerId, RemovalState, StoreError};
use std::collections::HashSet;

/// The most rows that one step deletes: other writes wait for it.
const STEP_ROWS_MAX: usize = 500;
/// The tiles of one read, which have more records than a step takes.
const READ_TILES_MAX: usize = 4;

/// The removals, by ledger, number and position of their event, of which this process has verified the records.
pub(super) type Verified = HashSet<(LedgerId, u32, u64)>;

/// Deletes rows until none is left or the turn of the removal is over.
pub(super) fn delete(taken: &mut Taken<'_>, verified: &mut Verified) -> Result<Outcome> {
    let (service, scope) = (taken.service, taken.scope);
    let seq = taken.row.event_seq.ok_or_else(|| taken.other_row())?;
    match service.signed_head(scope, seq + 1) {
        Err(AppError::NotSigned(_)) => return Ok(Outcome::Waits(Some(WaitingFor::Signature))),
        signed => signed?,
    };
    if !service.has_quorum_over(scope, seq + 1)? {
        return Ok(Outcome::Waits(Some(WaitingFor::Quorum)));
    }
    let (ledger_id, number) = (taken.row.ledger_id, taken.row.number);
    if !verified.contains(&(ledger_id, number, seq)) {
        verify(taken, seq)?;
        verified.insert((ledger_id, number, seq));
    }
    while taken.has_time() {
        if !delete_next(taken, seq)? {
            return taken.enter(RemovalState::Cleaning);
        }
    }
    Ok(Outcome::Later)
}

/// One step of the removal that the event at this position authorises. Returns whether there was anything to do.
fn delete_next(taken: &mut Taken<'_>, event_seq: u64) -> Result<bool> {
    let mut records = taken.records_from(taken.row.cursor_seq, READ_TILES_MAX)?;
    records.truncate(match taken.row.kind {
        RemovalKind::Retention => STEP_ROWS_MAX,
        RemovalKind::Erasure => erase::STEP_ROWS_MAX,
    });
    let Some(last) = records.last() else {
        return Ok(false);
    };
    let after = taken.at(last.seq + 1);
    let is_row = |record: &RemovalRecord| record.mask.is_row();
    let (rows, others): (Vec<_>, Vec<_>) = records.into_iter().partition(is_row);
    let seqs: Vec<u64> = rows.iter().map(|record| record.seq).collect();
    let erased = erase::without_parts(taken, event_seq, &others)?;
    let (ledger_id, log) = (taken.row.ledger_id, taken.scope.log());
    let removed = taken.step(after, move |writer| {
        // A month is being rewritten: these rows are deleted later.
        let stale = || AppError::from(StoreError::Stale);
        let deleted = match seqs.is_empty() {
            true => 0,
            false => writer.delete_events(ledger_id, &seqs)?.ok_or_else(stale)?,
        };
        let erased = match erased.is_empty() {
            true => 0,
            false => writer.erase_rows(ledger_id, &log, &erased)?.ok_or_else(stale)?,
        };
        Ok(deleted + erased)
    })?;
    taken.service.removal_worker.counters.note_removed(removed);
    Ok(true)
}

/// Checks that the log authorises the removal, and that its records are those of the event.
fn verify(taken: &Taken<'_>, seq: u64) -> Result<()> {
    let lifecycle = taken.service.lifecycle(taken.scope)?;
    let (mut removals, mut erasures) = (lifecycle.fold.removals(), lifecycle.fold.erasures());
    let authorised = match taken.row.kind {
        RemovalKind::Retention => removals
            .find(|(at, _, removal)| *at == seq && removal.seqs == taken.row.seqs)
            .map(|(_, _, removal)| (removal.digest, removal.events)),
        RemovalKind::Erasure => erasures
            .find(|(at, ..)| *at == seq)
            .map(|(_, _, erasure)| (erasure.digest, erasure.events)),
    };
    let authorised = authorised.ok_or_else(|| taken.other_row())?;
    match taken.digest()? == authorised {
        true => Ok(()),
        false => Err(RemovalAlarm::ChangedRecords(taken.row.seqs.clone()).into()),
    }
}
