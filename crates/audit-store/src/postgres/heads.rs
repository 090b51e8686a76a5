//! Cached heads of ledgers.
//!
//! Locking a head before a commit costs four round trips, and blocks other nodes meanwhile. While no other node writes to the
//! ledger, the head after the last commit of this process is current. A commit is planned with that head, and the statement
//! that stores it compares the head first (`append_expected`).

use crate::append::LedgerId;
use crate::append::plan::{Before, Head};
use parking_lot::Mutex;
use std::collections::{BTreeSet, HashMap};

/// Ledgers whose heads are cached, at most.
const KNOWN_HEADS_MAX: usize = 1_000;

/// The heads, shared by the writers of a process.
#[derive(Debug, Default)]
pub(crate) struct KnownHeads(Mutex<CachedHeads>);

#[derive(Debug, Default)]
struct CachedHeads {
    heads: HashMap<LedgerId, KnownHead>,
}

#[derive(Debug)]
struct KnownHead {
    head: Head,
    /// Whether no other node wrote to the ledger between the last two commits.
    is_undisturbed: bool,
}

impl KnownHeads {
    /// The state that the next commit to these ledgers will find, if it is a single ledger, so that nodes cannot deadlock,
    /// and no other node writes to it.
    pub(crate) fn before(&self, ledgers: &BTreeSet<LedgerId>, day: i64) -> Option<Before> {
        let state = self.0.lock();
        let ledger_id = ledgers.first().filter(|_| ledgers.len() == 1)?;
        let known = state.heads.get(ledger_id).filter(|known| known.is_undisturbed)?;
        let mut head = known.head.clone();
        head.begin_day(day);
        Some(Before {
            heads: HashMap::from([(*ledger_id, head)]),
            ..Before::default()
        })
    }

    /// Caches the state after a commit; `sizes_before` are the sizes before it.
    pub(crate) fn committed(&self, sizes_before: &HashMap<LedgerId, i64>, after: &Before) {
        let mut state = self.0.lock();
        for (ledger_id, head) in &after.heads {
            let last = state.heads.remove(ledger_id).map(|last| last.head.size);
            // A tree that cannot be continued is read each time.
            if head.frontier.is_none() {
                continue;
            }
            if state.heads.len() >= KNOWN_HEADS_MAX {
                state.heads.clear();
            }
            let known = KnownHead {
                head: head.clone(),
                is_undisturbed: last.is_some() && last.as_ref() == sizes_before.get(ledger_id),
            };
            state.heads.insert(*ledger_id, known);
        }
    }

    /// Drops all heads: the outcome of the last commit is unknown.
    pub(crate) fn forget(&self) {
        self.0.lock().heads.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::configuration::ConfigurationVersion;

    fn of_size(size: i64) -> Head {
        Head {
            configuration_version: ConfigurationVersion(7),
            size,
            last: None,
            frontier: Some(audit_ledger::Frontier::new()),
            day: 0,
            day_events: 0,
            group_id: 0,
        }
    }

    fn commit(heads: &KnownHeads, ledger: i64, before: i64, after: i64) {
        let after = Before {
            heads: HashMap::from([(LedgerId(ledger), of_size(after))]),
            ..Before::default()
        };
        heads.committed(&HashMap::from([(LedgerId(ledger), before)]), &after);
    }

    fn expected(heads: &KnownHeads, ledgers: &[i64]) -> Option<i64> {
        let ledgers = ledgers.iter().copied().map(LedgerId).collect();
        let before = heads.before(&ledgers, 0)?;
        before.heads.values().map(|head| head.size).next()
    }

    #[test]
    fn a_head_is_known_while_no_other_node_writes_to_the_ledger() {
        let heads = KnownHeads::default();
        assert_eq!(expected(&heads, &[1]), None);
        commit(&heads, 1, 10, 12);
        assert_eq!(
            expected(&heads, &[1]),
            None,
            "other nodes may write to the ledger"
        );
        commit(&heads, 1, 12, 13);
        assert_eq!(expected(&heads, &[1]), Some(13));
        assert_eq!(expected(&heads, &[1, 2]), None);
        commit(&heads, 1, 15, 16);
        assert_eq!(expected(&heads, &[1]), None, "another node stored two events");
        commit(&heads, 1, 16, 17);
        assert_eq!(expected(&heads, &[1]), Some(17));
        heads.forget();
        assert_eq!(expected(&heads, &[1]), None);
    }
}
