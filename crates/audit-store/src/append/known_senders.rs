//! The senders that are known to be stored.

use super::plan::Plan;
use super::senders::SenderId;
use crate::ids::LedgerId;
use crate::schema::ledger_senders;
use diesel::prelude::*;
use parking_lot::Mutex;
use std::collections::HashSet;
use std::sync::Arc;

/// Senders that a process caches, at most. Beyond that some are written again, which has no effect.
const KNOWN_SENDERS_MAX: usize = 100_000;

/// The row of a sender.
#[derive(Debug, Insertable)]
#[diesel(table_name = ledger_senders, treat_none_as_default_value = false)]
pub(crate) struct SenderRow {
    ledger_id: i64,
    sender: i64,
    key_id: String,
    address: Option<String>,
    first_seq: i64,
}

type Senders = HashSet<(LedgerId, SenderId)>;

/// Cached stored senders, which the writers of a process share, so that each is written once.
#[derive(Debug, Default)]
pub(crate) struct StoredSenders(Mutex<Senders>);

/// A writer's view of the stored senders.
#[derive(Debug, Default)]
pub(crate) struct KnownSenders {
    known: Arc<StoredSenders>,
    /// Those that the present commit stores.
    pending: Vec<(LedgerId, SenderId)>,
}

impl KnownSenders {
    /// The senders that other writers cache too.
    pub(crate) fn shared(known: &Arc<StoredSenders>) -> Self {
        Self {
            known: Arc::clone(known),
            pending: Vec::new(),
        }
    }

    /// Whether all senders of a plan are known to be stored.
    pub(crate) fn has_all(&self, plan: &Plan) -> bool {
        let known = self.known.0.lock();
        plan.rows.iter().all(|row| {
            row.event
                .sender
                .is_none_or(|sender| known.contains(&(row.ledger_id, sender.id())))
        })
    }

    /// The rows of the plan's senders that are not known to be stored. They count as stored once the commit has ended.
    pub(crate) fn begin_new(&mut self, plan: &Plan) -> Vec<SenderRow> {
        self.pending.clear();
        let known = self.known.0.lock();
        let mut rows = Vec::new();
        // Consecutive events have the same sender, and few senders are new.
        let mut last = None;
        for row in &plan.rows {
            let Some(sender) = row.event.sender else { continue };
            let key = (row.ledger_id, sender.id());
            if last == Some(key) {
                continue;
            }
            last = Some(key);
            if known.contains(&key) || self.pending.contains(&key) {
                continue;
            }
            self.pending.push(key);
            rows.push(SenderRow {
                ledger_id: row.ledger_id.0,
                sender: sender.id().0,
                key_id: sender.key_id.to_string(),
                address: sender.address.map(|address| address.to_string()),
                first_seq: row.seq,
            });
        }
        rows
    }

    /// Drops the senders of a transaction that was rolled back.
    pub(crate) fn rolled_back(&mut self) {
        self.pending.clear();
    }

    /// Caches the senders of a transaction that was committed.
    pub(crate) fn committed(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let mut known = self.known.0.lock();
        for sender in self.pending.drain(..) {
            if known.len() >= KNOWN_SENDERS_MAX {
                // Every second one, in the random order of the set, so that most of those in use stay cached.
                let mut number = 0_usize;
                known.retain(|_| {
                    number += 1;
                    number.is_multiple_of(2)
                });
            }
            known.insert(sender);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_of_senders_is_bounded() {
        let mut senders = KnownSenders::default();
        for number in 0..=KNOWN_SENDERS_MAX as i64 {
            senders.pending.push((LedgerId(1), SenderId(number)));
        }
        senders.committed();
        assert_eq!(senders.known.0.lock().len(), KNOWN_SENDERS_MAX / 2 + 1);
    }
}
