//! The heads of ledgers as this process has left them, on PostgreSQL.
//!
//! A commit there is planned with the head of its ledger, which other nodes grow as well. To lock it first takes four round
//! trips more and keeps it from the others meanwhile. Where nobody else writes, the head is what the last commit has left, so
//! a commit is planned with that, and the database stores it only if it is so ([`crate::append::postgres::append_expected`]).

use crate::append::LedgerId;
use crate::append::plan::{Before, Head};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Ledgers whose heads are remembered, at most.
const KNOWN_HEADS_MAX: usize = 1_000;

/// What the writers of a process share.
#[derive(Debug, Default)]
pub(crate) struct KnownHeads(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    configuration_version: i64,
    heads: HashMap<LedgerId, KnownHead>,
}

#[derive(Debug)]
struct KnownHead {
    head: Head,
    /// Whether the last commit found what the one before it had left.
    is_undisturbed: bool,
}

impl KnownHeads {
    /// The lock is never held while anything can panic, so a poisoned one is as good as new.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the next commit to these ledgers will find, if it can be told: of a single one, so that no two nodes ever wait for
    /// each other in a circle, and while nobody else grows it.
    pub(crate) fn before(&self, ledgers: &BTreeSet<LedgerId>, day: i64) -> Option<Before> {
        let state = self.lock();
        let ledger_id = ledgers.first().filter(|_| ledgers.len() == 1)?;
        let known = state.heads.get(ledger_id).filter(|known| known.is_undisturbed)?;
        let mut head = known.head.clone();
        head.begin_day(day);
        Some(Before {
            configuration_version: state.configuration_version,
            heads: HashMap::from([(*ledger_id, head)]),
            ..Before::default()
        })
    }

    /// Takes note of a commit: the sizes that it found, and what it has left.
    pub(crate) fn committed(&self, sizes_before: &HashMap<LedgerId, i64>, after: &Before) {
        let mut state = self.lock();
        state.configuration_version = after.configuration_version;
        for (ledger_id, head) in &after.heads {
            let last = state.heads.remove(ledger_id).map(|last| last.head.size);
            // What cannot be continued is read each time.
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

    /// Forgets everything: nobody knows what has become of the last commit.
    pub(crate) fn forget(&self) {
        self.lock().heads.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_size(size: i64) -> Head {
        Head {
            size,
            last: None,
            frontier: Some(audit_ledger::Frontier::new()),
            day: 0,
            day_events: 0,
        }
    }

    fn commit(heads: &KnownHeads, ledger: i64, before: i64, after: i64) {
        let after = Before {
            configuration_version: 7,
            heads: HashMap::from([(LedgerId(ledger), of_size(after))]),
            ..Before::default()
        };
        heads.committed(&HashMap::from([(LedgerId(ledger), before)]), &after);
    }

    fn expected(heads: &KnownHeads, ledgers: &[i64]) -> Option<i64> {
        let ledgers = ledgers.iter().copied().map(LedgerId).collect();
        let before = heads.before(&ledgers, 0)?;
        assert_eq!(before.configuration_version, 7);
        before.heads.values().map(|head| head.size).next()
    }

    #[test]
    fn a_head_is_known_while_nobody_else_grows_the_ledger() {
        let heads = KnownHeads::default();
        assert_eq!(expected(&heads, &[1]), None);
        commit(&heads, 1, 10, 12);
        assert_eq!(expected(&heads, &[1]), None, "others may write to it");
        commit(&heads, 1, 12, 13);
        assert_eq!(expected(&heads, &[1]), Some(13));
        assert_eq!(expected(&heads, &[1, 2]), None);
        commit(&heads, 1, 15, 16);
        assert_eq!(expected(&heads, &[1]), None, "somebody else stored two");
        commit(&heads, 1, 16, 17);
        assert_eq!(expected(&heads, &[1]), Some(17));
        heads.forget();
        assert_eq!(expected(&heads, &[1]), None);
    }
}
