//! Cached heads of ledgers.
//!
//! Locking a head before a commit costs four round trips, and blocks other nodes meanwhile. While no other node writes to the
//! ledger, the head after the last commit of this process is current. A commit is planned with that head, and the statement
//! that stores it compares the head first, by what identifies its history (`append_expected`).

use crate::append::LedgerId;
use crate::append::plan::{Before, Head, HeadId};
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

    /// Caches the state after a commit; `heads_before` are the heads before it.
    pub(crate) fn committed(&self, heads_before: &HashMap<LedgerId, HeadId>, after: &Before) {
        let mut state = self.0.lock();
        for (ledger_id, head) in &after.heads {
            let last = state.heads.remove(ledger_id).map(|last| last.head.id());
            let before = heads_before.get(ledger_id);
            // A tree that cannot be continued is read each time. So is a ledger that did not grow: its last event may be a
            // claimed one, whose id is not the latest.
            if head.frontier.is_none() || before.is_none_or(|before| before.size == head.size) {
                continue;
            }
            if state.heads.len() >= KNOWN_HEADS_MAX {
                state.heads.clear();
            }
            let known = KnownHead {
                head: head.clone(),
                is_undisturbed: last.is_some() && last.as_ref() == before,
            };
            state.heads.insert(*ledger_id, known);
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
        let before = heads.before(&ledgers, 0)?;
        before.heads.values().map(|head| head.size).next()
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
        commit(&heads, 1, &head(15, 5), head(16, 6));
        assert_eq!(expected(&heads, &[1]), None, "another node stored two events");
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
