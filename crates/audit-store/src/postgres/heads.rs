//! Cached heads of ledgers.
//!
//! Locking a head before a commit costs four round trips, and blocks other nodes meanwhile. While no other node writes to the
//! ledger, the head after the last commit of this process is current. A commit is planned with that head, and the statement
//! that stores it compares the head first, by what identifies its history (`append_expected`). A head that is not cached, or
//! of which this process has written one commit only, is read without locking it, and its code is checked.

use crate::append::plan::Before;
use crate::ids::LedgerId;
use crate::ledgers::head::{Head, HeadId};
use parking_lot::Mutex;
use quick_cache::unsync::Cache;
use std::collections::{BTreeSet, HashMap};

/// Ledgers whose heads are cached, at most: about 1 KB each.
const KNOWN_HEADS_MAX: usize = 4_000;

/// The heads, shared by the writers of a process.
#[derive(Debug)]
pub(crate) struct KnownHeads(Mutex<Cache<LedgerId, KnownHead>>);

impl Default for KnownHeads {
    fn default() -> Self {
        Self(Mutex::new(Cache::new(KNOWN_HEADS_MAX)))
    }
}

#[derive(Clone, Debug)]
struct KnownHead {
    head: Head,
    last_commits: LastCommits,
}

/// What the last two commits of this process to a ledger show of other nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastCommits {
    /// Nothing: there was one only.
    One,
    /// No other node wrote to the ledger between them.
    Consecutive,
    /// Another node did.
    Disturbed,
}

/// What is known of the state that a commit will find.
#[derive(Debug)]
pub(crate) enum KnownState {
    /// Another node writes to one of the ledgers.
    Disturbed,
    /// The expected heads, and the ledgers whose heads have to be read.
    Expected { before: Before, unknown: Vec<i64> },
}

impl KnownHeads {
    /// The state that the next commit to these ledgers will find if no other node writes to them.
    pub(crate) fn before(&self, ledgers: &BTreeSet<LedgerId>, day: i64) -> KnownState {
        let state = self.0.lock();
        let (mut before, mut unknown) = (Before::default(), Vec::new());
        for ledger_id in ledgers {
            match state.get(ledger_id) {
                Some(known) if known.last_commits == LastCommits::Disturbed => return KnownState::Disturbed,
                Some(known) if known.last_commits == LastCommits::Consecutive => {
                    let mut head = known.head.clone();
                    head.begin_day(day);
                    before.heads.insert(*ledger_id, head);
                }
                _ => unknown.push(ledger_id.0),
            }
        }
        KnownState::Expected { before, unknown }
    }

    /// Caches the state after a commit; `heads_before` are the heads before it.
    pub(crate) fn committed(&self, heads_before: &HashMap<LedgerId, HeadId>, after: &Before) {
        let mut state = self.0.lock();
        for (ledger_id, head) in &after.heads {
            let last = state.remove(ledger_id).map(|(_, last)| last.head.id());
            let before = heads_before.get(ledger_id);
            // A tree that cannot be continued is read each time. So is a ledger that did not grow: its last event may be a
            // claimed one, whose id is not the latest.
            if head.frontier.is_none() || before.is_none_or(|before| before.size == head.size) {
                continue;
            }
            let known = KnownHead {
                head: head.clone(),
                last_commits: match last {
                    None => LastCommits::One,
                    Some(last) if Some(&last) == before => LastCommits::Consecutive,
                    Some(_) => LastCommits::Disturbed,
                },
            };
            state.insert(*ledger_id, known);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::configuration::ConfigurationVersion;
    use audit_domain::{EventId, Stamp, Timestamp};

    /// A head whose last event has an id with this number.
    fn head(size: i64, last: u8) -> Head {
        let received_at = Timestamp::from_seconds(1);
        Head {
            name: "p/live".into(),
            configuration_version: ConfigurationVersion(7),
            size,
            last: Some(Stamp {
                id: EventId::new(received_at, [last; 10]),
                received_at,
            }),
            frontier: Some(audit_ledger::Frontier::new()),
            lifecycle: None,
            day: 0,
            day_events: 0,
            group_id: 0,
            months: Vec::new(),
        }
    }

    fn commit(heads: &KnownHeads, ledger: i64, before: &Head, after: Head) {
        let after = Before {
            heads: HashMap::from([(LedgerId(ledger), after)]),
            ..Before::default()
        };
        heads.committed(&HashMap::from([(LedgerId(ledger), before.id())]), &after);
    }

    fn expected(heads: &KnownHeads, ledgers: &[i64]) -> Option<i64> {
        let ledgers = ledgers.iter().copied().map(LedgerId).collect();
        match heads.before(&ledgers, 0) {
            KnownState::Expected { before, unknown } if unknown.is_empty() => {
                before.heads.values().map(|head| head.size).max()
            }
            _ => None,
        }
    }

    #[test]
    fn a_head_is_known_while_no_other_node_writes_to_the_ledger() {
        let heads = KnownHeads::default();
        assert_eq!(expected(&heads, &[1]), None);
        commit(&heads, 1, &head(10, 1), head(12, 2));
        assert_eq!(
            expected(&heads, &[1]),
            None,
            "other nodes may write to the ledger"
        );
        commit(&heads, 1, &head(12, 2), head(13, 3));
        assert_eq!(expected(&heads, &[1]), Some(13));
        assert_eq!(expected(&heads, &[1, 2]), None);
        commit(&heads, 2, &head(3, 1), head(4, 2));
        commit(&heads, 2, &head(4, 2), head(5, 3));
        assert_eq!(expected(&heads, &[1, 2]), Some(13));
        commit(&heads, 1, &head(15, 5), head(16, 6));
        assert_eq!(expected(&heads, &[1]), None, "another node stored two events");
        assert!(matches!(
            heads.before(&BTreeSet::from([LedgerId(1), LedgerId(2)]), 0),
            KnownState::Disturbed
        ));
        commit(&heads, 1, &head(16, 6), head(17, 7));
        assert_eq!(expected(&heads, &[1]), Some(17));
        commit(&heads, 1, &head(17, 8), head(18, 9));
        assert_eq!(
            expected(&heads, &[1]),
            None,
            "another node stored one event in the place of a lost one"
        );
    }

    #[test]
    fn a_head_that_a_commit_did_not_move_is_not_known() {
        let heads = KnownHeads::default();
        commit(&heads, 1, &head(10, 1), head(11, 2));
        commit(&heads, 1, &head(11, 2), head(12, 3));
        assert_eq!(expected(&heads, &[1]), Some(12));
        commit(&heads, 1, &head(13, 3), head(13, 3));
        assert_eq!(
            expected(&heads, &[1]),
            None,
            "its last event may be a claimed one"
        );
    }
}
