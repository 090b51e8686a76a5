//! What this process knows of its signatures.

use super::super::memory::SignerMemory;
use crate::error::{AppError, Result};
use audit_ledger::{Frontier, Origin};
use audit_store::LedgerId;
use parking_lot::Mutex;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use tokio::sync::watch;

/// The number of logs of a round whose rows are read.
const READ_LOGS_MAX: usize = 16;

/// What this process knows of its signatures.
#[derive(Debug, Default)]
pub(crate) struct Signing {
    /// None in a process that signs nothing.
    memory: Option<Arc<SignerMemory>>,
    /// The logs of a round whose rows are read.
    pub(in crate::log) turns: Turns,
    /// The ledgers that do not continue their last checkpoint.
    pub(in crate::log) refused: Mutex<BTreeSet<LedgerId>>,
    /// The ledgers whose first checkpoint threads of this process are about to publish, or failed to, and how many there are: the
    /// database need not have one.
    unpublished: Mutex<BTreeMap<LedgerId, u32>>,
    /// The ledgers of which threads of this process have a checkpoint in hand that they remember and store, and how many there are.
    in_hand: Mutex<BTreeMap<LedgerId, u32>>,
    /// How often a ledger was refused, or its published checkpoint was not the one it should be.
    pub(in crate::log) alarms: Arc<AtomicU64>,
    /// When the last round ended that signed everything, in seconds since 1970.
    pub(in crate::log) last_round_seconds: AtomicI64,
    /// The number of finished rounds of [`AuditLog::sign_checkpoints`].
    pub(in crate::log) rounds: watch::Sender<u64>,
}

/// The turns of the logs whose rows are read.
#[derive(Debug, Default)]
pub(in crate::log) struct Turns {
    last: Mutex<Option<LedgerId>>,
}

impl Turns {
    /// The logs among these, which are in order, whose turn it is.
    pub(in crate::log) fn next(&self, ledger_ids: &[LedgerId]) -> BTreeSet<LedgerId> {
        let mut last = self.last.lock();
        let first = ledger_ids.partition_point(|ledger_id| Some(*ledger_id) <= *last);
        let (before, after) = ledger_ids.split_at(first);
        let turn: Vec<LedgerId> = after.iter().chain(before).take(READ_LOGS_MAX).copied().collect();
        *last = turn.last().copied().or(*last);
        turn.into_iter().collect()
    }
}

/// The process was opened without a state file.
#[derive(Debug, thiserror::Error)]
#[error("this process has no state file, so it signs nothing")]
struct NoMemory;

impl Signing {
    pub(crate) fn new(memory: Option<Arc<SignerMemory>>) -> Self {
        Self {
            memory,
            ..Self::default()
        }
    }

    pub(in crate::log) fn memory(&self) -> Result<&SignerMemory> {
        self.memory.as_deref().ok_or_else(|| AppError::internal(NoMemory))
    }

    /// The counter of alarms.
    pub(crate) const fn alarms(&self) -> &Arc<AtomicU64> {
        &self.alarms
    }

    /// The last checkpoint of a log that this node has signed or seen published.
    pub(in crate::log) fn known(&self, origin: &Origin) -> Option<Arc<str>> {
        self.memory.as_ref()?.note(origin.as_str())
    }

    /// The tree of the last checkpoint of a log that this node has signed or seen published.
    pub(in crate::log) fn signed_tree(&self, origin: &Origin) -> Option<Frontier> {
        let known = self.memory.as_ref()?.get(origin.as_str());
        known.signed.map(|signed| signed.tree)
    }

    /// Some of the last notes of logs whose origin begins like this.
    pub(in crate::log) fn notes_of(&self, prefix: &str, max: usize) -> Vec<Arc<str>> {
        self.memory
            .as_ref()
            .map_or_else(Vec::new, |memory| memory.notes_of(prefix, max))
    }

    /// Notes whether a log continues its last checkpoint, which it does if there is no error, and logs when that has changed.
    pub(in crate::log) fn note(&self, ledger_id: LedgerId, origin: &Origin, error: Option<&AppError>) {
        let mut refused = self.refused.lock();
        match error {
            Some(error) if refused.insert(ledger_id) => {
                self.alarms.fetch_add(1, Ordering::Relaxed);
                let cause = error.source().map(ToString::to_string).unwrap_or_default();
                log::error!(
                    "the log {origin} does not continue its checkpoint and is not signed: {cause}; \
                     `audit-server log verify` has details. To begin a new log, stop all servers and run `audit-server log new-name`"
                );
            }
            None if refused.remove(&ledger_id) => {
                log::warn!("the log {origin} continues its checkpoint again and is signed");
            }
            _ => {}
        }
    }

    /// Logs that the stored map of a log's tenants is discarded.
    pub(in crate::log) fn note_forged_map(&self, origin: &Origin, what: &str) {
        self.alarms.fetch_add(1, Ordering::Relaxed);
        log::error!(
            "the map of the tenants of the log {origin} in the database is not the one that the service wrote ({what}); it is \
             computed again from the events"
        );
    }

    /// Logs that the database does not have the checkpoint that it should have.
    pub(in crate::log) fn note_lost(&self, origin: &Origin) {
        self.alarms.fetch_add(1, Ordering::Relaxed);
        log::error!(
            "the checkpoint of the log {origin} in the database was removed or changed; the next one continues what this node \
             has signed"
        );
    }

    /// Notes that these first checkpoints are about to be remembered, before they are published.
    pub(in crate::log) fn begin_publishing(&self, ledger_ids: impl Iterator<Item = LedgerId>) {
        enter(&mut self.unpublished.lock(), ledger_ids);
    }

    /// Notes that the database has checkpoints of these logs, or that another thread is publishing them.
    pub(in crate::log) fn end_publishing(&self, ledger_ids: impl Iterator<Item = LedgerId>) {
        leave(&mut self.unpublished.lock(), ledger_ids);
    }

    /// Notes, until the returned value is dropped, that this thread remembers and stores checkpoints of these logs.
    pub(in crate::log) fn take_in_hand(&self, ledger_ids: Vec<LedgerId>) -> impl Drop + use<'_> {
        enter(&mut self.in_hand.lock(), ledger_ids.iter().copied());
        InHand {
            signing: self,
            ledger_ids,
        }
    }

    /// Whether a thread of this process remembers or stores a checkpoint of this log.
    pub(in crate::log) fn is_in_hand(&self, ledger_id: LedgerId) -> bool {
        self.in_hand.lock().contains_key(&ledger_id)
    }

    /// Whether the database may lack a checkpoint of a log that this process remembers.
    pub(in crate::log) fn is_publishing(&self, ledger_id: LedgerId) -> bool {
        self.unpublished.lock().contains_key(&ledger_id)
    }
}

struct InHand<'a> {
    signing: &'a Signing,
    ledger_ids: Vec<LedgerId>,
}

impl Drop for InHand<'_> {
    fn drop(&mut self) {
        leave(&mut self.signing.in_hand.lock(), self.ledger_ids.iter().copied());
    }
}

fn enter(threads: &mut BTreeMap<LedgerId, u32>, ledger_ids: impl Iterator<Item = LedgerId>) {
    ledger_ids.for_each(|ledger_id| *threads.entry(ledger_id).or_default() += 1);
}

fn leave(threads: &mut BTreeMap<LedgerId, u32>, ledger_ids: impl Iterator<Item = LedgerId>) {
    for ledger_id in ledger_ids {
        if let Entry::Occupied(mut count) = threads.entry(ledger_id) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
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
