//! The rows of the removals of a ledger.

use super::taken::{RemovalAlarm, of_read};
use crate::error::Result;
use crate::service::AuditLog;
use audit_domain::{Lifecycle, Timestamp};
use audit_ledger::RemovalKind;
use audit_store::{LedgerId, RemovalRow, RemovalState, StoreError};
use std::collections::HashSet;
use std::ops::Range;

/// The row of a removal that begins, of a ledger that has `rows`.
pub(crate) fn beginning(
    rows: &[RemovalRow],
    (ledger_id, kind): (LedgerId, RemovalKind),
    seqs: Range<u64>,
    now: Timestamp,
) -> RemovalRow {
    RemovalRow {
        ledger_id,
        number: rows.iter().map(|row| row.number).max().unwrap_or(0) + 1,
        kind,
        state: RemovalState::Collecting,
        event_seq: None,
        cursor_seq: seqs.start,
        seqs,
        records: 0,
        changed_at: now,
        request: None,
    }
}

impl AuditLog {
    /// Checks that each removal and erasure in the log, and each plan in its grace, has its row. Otherwise the next removal would get the
    /// number of one whose records are stored, and discard them.
    pub(crate) fn check_removal_rows(&self, ledger_id: LedgerId, fold: &Lifecycle) -> Result<()> {
        let rows = rows_of(self, ledger_id)?;
        let known: HashSet<u64> = rows.iter().filter_map(|row| row.event_seq).collect();
        let plan = fold.open_plan().map(|(seq, plan)| (seq, plan.seqs.clone()));
        let removals = fold
            .removals()
            .map(|(seq, _, removal)| (seq, removal.seqs.clone()));
        let erasures = fold.erasures().map(|(seq, ..)| seq);
        let erasures = erasures.chain(fold.open_erasures().map(|(seq, _)| seq));
        let mut named = removals.chain(plan).chain(erasures.map(|seq| (seq, 0..seq)));
        let Some((_, seqs)) = named.find(|(seq, _)| !known.contains(seq)) else {
            return Ok(());
        };
        // A row changes with the event that it names.
        let newest = self.store.read(|reader| reader.lifecycle_seq(ledger_id))?;
        match newest == fold.last_seq() {
            true => Err(RemovalAlarm::OtherRow(seqs).into()),
            false => Err(StoreError::Stale.into()),
        }
    }
}

/// The rows of the removals of a ledger, which the service must have written.
pub(crate) fn rows_of(service: &AuditLog, ledger_id: LedgerId) -> Result<Vec<RemovalRow>> {
    let rows = service.store.read(|reader| reader.removals(ledger_id));
    rows.map_err(of_read)
}
