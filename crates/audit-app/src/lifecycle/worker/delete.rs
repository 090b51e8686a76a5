//! Deletes the rows of a removal that the log authorises.

use super::taken::{Outcome, RemovalAlarm, Taken};
use crate::error::{AppError, Result};
use crate::lifecycle::WaitingFor;
use audit_store::{LedgerId, RemovalState, StoreError};
use std::collections::HashSet;

/// The most rows of one step: other writes wait for it.
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
        let records = taken.records_from(taken.row.cursor_seq, READ_TILES_MAX)?;
        let seqs: Vec<u64> = records
            .iter()
            .take(STEP_ROWS_MAX)
            .map(|record| record.seq)
            .collect();
        let Some(last) = seqs.last() else {
            return taken.enter(RemovalState::Cleaning);
        };
        let after = taken.at(last + 1);
        let deleted = taken.step(after, move |writer| {
            // A month is being rewritten: these rows are deleted later.
            writer
                .delete_events(ledger_id, &seqs)?
                .ok_or_else(|| AppError::from(StoreError::Stale))
        })?;
        service.removal_worker.counters.note_removed(deleted);
    }
    Ok(Outcome::Later)
}

/// Checks that the log authorises the removal, and that its records are those of the event.
fn verify(taken: &Taken<'_>, seq: u64) -> Result<()> {
    let lifecycle = taken.service.lifecycle(taken.scope)?;
    let mut removals = lifecycle.fold.removals();
    let removal = removals.find(|(at, ..)| *at == seq);
    let (_, _, removal) = removal.ok_or_else(|| taken.other_row())?;
    match taken.digest()? == (removal.digest, removal.events) && taken.row.seqs == removal.seqs {
        true => Ok(()),
        false => Err(RemovalAlarm::ChangedRecords(taken.row.seqs.clone()).into()),
    }
}
