//! What shows the signer that a tree continues the last signed one.
//!
//! A round signs every log that this process has extended. Reading the last leaves of each of them back would be most of the
//! database's work where hundreds of logs grow. The process has computed the new tree from the old one itself, so it knows that one
//! continues the other. The rows are still read for some logs of each round, in turns: an edit of the latest rows is then
//! noticed by signing as well, and not by the next proof or `log verify` only.

use crate::error::{AppError, Result};
use crate::service::AuditLog;
use audit_ledger::{Frontier, HistoryError, TreeHead};
use audit_store::{LedgerId, Reader};
use parking_lot::Mutex;
use std::collections::BTreeSet;

/// The number of logs of a round whose rows are read.
const READ_LOGS_MAX: usize = 16;

/// What a tree is compared with the last signed one by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Evidence {
    /// The stored rows.
    Rows,
    /// The trees that this process remembers of its commits; the rows where it does not.
    Memory,
}

/// The turns of the logs whose rows are read.
#[derive(Debug, Default)]
pub(super) struct Turns {
    last: Mutex<Option<LedgerId>>,
}

impl Turns {
    /// The logs among these, which are in order, whose turn it is.
    pub(super) fn next(&self, ledger_ids: &[LedgerId]) -> BTreeSet<LedgerId> {
        let mut last = self.last.lock();
        let first = ledger_ids.partition_point(|ledger_id| Some(*ledger_id) <= *last);
        let (before, after) = ledger_ids.split_at(first);
        let turn: Vec<LedgerId> = after.iter().chain(before).take(READ_LOGS_MAX).copied().collect();
        *last = turn.last().copied().or(*last);
        turn.into_iter().collect()
    }
}

impl AuditLog {
    /// Checks that a tree continues an earlier one.
    pub(super) fn check_continues(
        &self,
        ledger_id: LedgerId,
        last: &TreeHead,
        tree: &Frontier,
        evidence: Evidence,
    ) -> Result<()> {
        let (known, offered) = (last.size, tree.size());
        if known > offered {
            return Err(AppError::inconsistent(HistoryError::Rollback { known, offered }));
        }
        if evidence == Evidence::Memory && self.store.has_grown_tree(ledger_id, last, tree) {
            return Ok(());
        }
        let head = tree.head();
        if known == offered {
            return match *last == head {
                true => Ok(()),
                false => Err(AppError::inconsistent(HistoryError::Fork { size: known })),
            };
        }
        self.tile_roots.retried(ledger_id, || {
            let prove = |reader: &mut Reader<'_>| self.prove_consistency(reader, ledger_id, known, offered);
            let proof = self.store.query(prove)?;
            last.check_successor(&head, &proof)
                .map_err(AppError::inconsistent)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledgers(ids: impl IntoIterator<Item = i64>) -> Vec<LedgerId> {
        ids.into_iter().map(LedgerId).collect()
    }

    #[test]
    fn the_rows_of_few_logs_are_read_in_each_round() {
        let turns = Turns::default();
        let few = ledgers(1..=READ_LOGS_MAX as i64);
        for _ in 0..3 {
            assert_eq!(turns.next(&few).into_iter().collect::<Vec<_>>(), few);
        }
        assert!(turns.next(&[]).is_empty());
    }

    #[test]
    fn many_logs_take_turns() {
        let turns = Turns::default();
        let many = ledgers(1..=100);
        let mut read = BTreeSet::new();
        for round in 1..=7 {
            let turn = turns.next(&many);
            assert_eq!(turn.len(), READ_LOGS_MAX);
            read.extend(turn);
            assert_eq!(read.len(), 100.min(round * READ_LOGS_MAX));
        }
    }
}
