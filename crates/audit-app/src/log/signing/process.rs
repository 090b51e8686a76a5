//! What this process knows of its signatures.

use super::super::memory::SignerMemory;
use super::Next;
use super::evidence::Turns;
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

/// What this process knows of its signatures.
#[derive(Debug, Default)]
pub(crate) struct Signing {
    /// None in a process that signs nothing.
    memory: Option<Arc<SignerMemory>>,
    /// The logs of a round whose rows are read.
    pub(super) turns: Turns,
    /// The ledgers that do not continue their last checkpoint.
    pub(super) refused: Mutex<BTreeSet<LedgerId>>,
    /// The ledgers whose first checkpoint threads of this process are about to publish, or failed to, and how many there are: the
    /// database need not have one.
    unpublished: Mutex<BTreeMap<LedgerId, u32>>,
    /// The ledgers of which threads of this process have a checkpoint in hand that they remember and store, and how many there are.
    in_hand: Mutex<BTreeMap<LedgerId, u32>>,
    /// How often a ledger was refused, or its published checkpoint was not the one it should be.
    pub(super) alarms: Arc<AtomicU64>,
    /// When the last round ended that signed everything, in seconds since 1970.
    pub(super) last_round_seconds: AtomicI64,
    /// The number of finished rounds of [`AuditLog::sign_checkpoints`].
    pub(in crate::log) rounds: watch::Sender<u64>,
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

    pub(super) fn memory(&self) -> Result<&SignerMemory> {
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

    /// Notes whether a log continues its last checkpoint, and logs when that has changed.
    pub(super) fn note(&self, ledger_id: LedgerId, origin: &Origin, next: &Next) {
        let mut refused = self.refused.lock();
        match next {
            Next::Refused(error) if refused.insert(ledger_id) => {
                self.alarms.fetch_add(1, Ordering::Relaxed);
                let cause = error.source().map(ToString::to_string).unwrap_or_default();
                log::error!(
                    "the log {origin} does not continue its checkpoint and is not signed: {cause}; \
                     `audit-server log verify` has details. To begin a new log, stop all servers and run `audit-server log new-name`"
                );
            }
            Next::Step(_) if refused.remove(&ledger_id) => {
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
    pub(super) fn note_lost(&self, origin: &Origin) {
        self.alarms.fetch_add(1, Ordering::Relaxed);
        log::error!(
            "the checkpoint of the log {origin} in the database was removed or changed; the next one continues what this node \
             has signed"
        );
    }

    /// Notes that these first checkpoints are about to be remembered, before they are published.
    pub(super) fn begin_publishing(&self, ledger_ids: impl Iterator<Item = LedgerId>) {
        enter(&mut self.unpublished.lock(), ledger_ids);
    }

    /// Notes that the database has checkpoints of these logs, or that another thread is publishing them.
    pub(super) fn end_publishing(&self, ledger_ids: impl Iterator<Item = LedgerId>) {
        leave(&mut self.unpublished.lock(), ledger_ids);
    }

    /// Notes, until the returned value is dropped, that this thread remembers and stores checkpoints of these logs.
    pub(super) fn take_in_hand(&self, ledger_ids: Vec<LedgerId>) -> impl Drop + use<'_> {
        enter(&mut self.in_hand.lock(), ledger_ids.iter().copied());
        InHand {
            signing: self,
            ledger_ids,
        }
    }

    /// Whether a thread of this process remembers or stores a checkpoint of this log.
    pub(super) fn is_in_hand(&self, ledger_id: LedgerId) -> bool {
        self.in_hand.lock().contains_key(&ledger_id)
    }

    /// Whether the database may lack a checkpoint of a log that this process remembers.
    pub(super) fn is_publishing(&self, ledger_id: LedgerId) -> bool {
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
