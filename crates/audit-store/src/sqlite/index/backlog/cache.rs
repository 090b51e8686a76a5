//! The commits of the backlog in memory, by ledger.

use crate::ids::LedgerId;
use crate::search::BACKLOG_BYTES_MAX;
use crate::search::backlog::UnindexedEvents;
use audit_domain::Month;
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

/// The events of one commit, by ledger and position.
#[derive(Debug, Default)]
pub(crate) struct Commit {
    ledgers: BTreeMap<LedgerId, LedgerEvents>,
}

/// The events of one ledger, which a commit stores in one month.
#[derive(Debug)]
struct LedgerEvents {
    month: Month,
    events: UnindexedEvents<i64>,
}

impl Commit {
    pub(super) fn add(&mut self, ledger_id: LedgerId, month: Month, position: i64, tokens: &str) {
        let none = || LedgerEvents {
            month,
            events: UnindexedEvents::default(),
        };
        let of_ledger = self.ledgers.entry(ledger_id).or_insert_with(none);
        of_ledger.events.add(position, tokens);
    }

    /// The events of a ledger.
    pub(super) fn of(&self, ledger_id: LedgerId) -> Option<&UnindexedEvents<i64>> {
        self.ledgers.get(&ledger_id).map(|of_ledger| &of_ledger.events)
    }

    /// The number of events.
    pub(crate) fn len(&self) -> usize {
        self.ledgers
            .values()
            .map(|of_ledger| of_ledger.events.len())
            .sum()
    }

    /// The month, position and tokens of each event.
    pub(crate) fn events(&self) -> impl Iterator<Item = (Month, (i64, &str))> {
        self.ledgers.values().flat_map(|of_ledger| {
            let month = of_ledger.month;
            of_ledger.events.events().map(move |event| (month, event))
        })
    }

    fn bytes(&self) -> usize {
        self.ledgers
            .values()
            .map(|of_ledger| of_ledger.events.bytes())
            .sum()
    }
}

/// Identifies a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CommitName {
    /// Increases with every commit.
    pub(crate) id: i64,
    /// Random. A commit that was rolled back had the same id as the one after it, and may be cached.
    pub(crate) mark: i64,
}

/// The cached commits of the backlog.
#[derive(Debug, Default)]
pub(crate) struct BacklogCommits(Mutex<CachedCommits>);

#[derive(Debug, Default)]
struct CachedCommits {
    /// By id, with the mark.
    commits: BTreeMap<i64, (i64, Arc<Commit>)>,
    /// The cached commits that have events of a ledger.
    by_ledger: BTreeSet<(LedgerId, i64)>,
    /// Ids of cached commits that follow each other: if the last of them was committed, so were the others. The commit after another
    /// one saw the mark of that.
    chain: Range<i64>,
    bytes: usize,
}

impl CachedCommits {
    fn has(&self, name: CommitName) -> bool {
        self.commits
            .get(&name.id)
            .is_some_and(|(mark, _)| *mark == name.mark)
    }

    fn remove(&mut self, id: i64) {
        if let Some((_, commit)) = self.commits.remove(&id) {
            self.bytes -= commit.bytes();
            for ledger_id in commit.ledgers.keys() {
                self.by_ledger.remove(&(*ledger_id, id));
            }
        }
        if self.chain.contains(&id) {
            self.chain.end = id;
        }
    }

    /// Caches a commit, if there is room.
    fn insert(&mut self, name: CommitName, commit: Arc<Commit>) {
        // A rolled-back commit may have the same id.
        self.remove(name.id);
        if self.bytes + commit.bytes() > BACKLOG_BYTES_MAX {
            return;
        }
        self.bytes += commit.bytes();
        let ledgers = commit.ledgers.keys().map(|ledger_id| (*ledger_id, name.id));
        self.by_ledger.extend(ledgers);
        self.commits.insert(name.id, (name.mark, commit));
    }

    /// Notes that `name` was committed after `previous`, if both are cached.
    fn link(&mut self, previous: Option<CommitName>, name: CommitName) {
        if !self.has(name) {
            return;
        }
        let is_next = previous.is_some_and(|previous| {
            previous.id + 1 == name.id && self.chain.end == name.id && self.has(previous)
        });
        if !is_next || self.chain.is_empty() {
            self.chain.start = name.id;
        }
        self.chain.end = name.id + 1;
    }
}

impl BacklogCommits {
    /// Caches a commit of the backlog that follows `previous`.
    pub(super) fn insert(&self, previous: Option<CommitName>, name: CommitName, commit: Arc<Commit>) {
        let mut cached = self.0.lock();
        cached.insert(name, commit);
        cached.link(previous, name);
    }

    /// Notes that these are all commits of the backlog.
    pub(super) fn found(&self, names: &[CommitName]) {
        let mut cached = self.0.lock();
        for (index, name) in names.iter().enumerate() {
            let previous = index.checked_sub(1).map(|index| names[index]);
            if index == 0 {
                cached.chain = name.id..name.id;
            }
            cached.link(previous, *name);
        }
    }

    pub(super) fn get(&self, name: CommitName) -> Option<Arc<Commit>> {
        let cached = self.0.lock();
        let (mark, commit) = cached.commits.get(&name.id)?;
        (*mark == name.mark).then(|| Arc::clone(commit))
    }

    /// The commits after `last_indexed` up to `newest` that have events of a ledger; `None` unless all commits between them are
    /// cached.
    pub(super) fn of_ledger(
        &self,
        ledger_id: LedgerId,
        last_indexed: i64,
        newest: CommitName,
    ) -> Option<Vec<Arc<Commit>>> {
        let cached = self.0.lock();
        let Range { start, end } = cached.chain;
        if start > last_indexed + 1 || newest.id >= end || !cached.has(newest) {
            return None;
        }
        let own = cached
            .by_ledger
            .range((ledger_id, last_indexed + 1)..=(ledger_id, newest.id));
        let commits = own.filter_map(|(_, id)| cached.commits.get(id));
        Some(commits.map(|(_, commit)| Arc::clone(commit)).collect())
    }

    /// Drops the commits up to this one, which are indexed.
    pub(crate) fn forget(&self, last_indexed: i64) {
        let mut cached = self.0.lock();
        while let Some((id, _)) = cached.commits.first_key_value()
            && *id <= last_indexed
        {
            let (id, chain) = (*id, cached.chain.clone());
            cached.remove(id);
            cached.chain = chain.start.max(id + 1)..chain.end.max(id + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEDGERS: [LedgerId; 2] = [LedgerId(1), LedgerId(2)];

    fn name(id: i64, mark: i64) -> CommitName {
        CommitName { id, mark }
    }

    /// A commit with one event of a ledger, at the position of this number.
    fn commit(ledger_id: LedgerId, position: i64) -> Arc<Commit> {
        let mut commit = Commit::default();
        commit.add(ledger_id, Month::from_number(0), position, "a b");
        Arc::new(commit)
    }

    /// Commits 1 to 6, of both ledgers in turns, with marks of ten times their ids.
    fn cached() -> BacklogCommits {
        let cached = BacklogCommits::default();
        let mut previous = None;
        for id in 1..=6 {
            cached.insert(previous, name(id, 10 * id), commit(LEDGERS[id as usize % 2], id));
            previous = Some(name(id, 10 * id));
        }
        cached
    }

    fn positions(commits: Option<Vec<Arc<Commit>>>) -> Option<Vec<i64>> {
        let commits = commits?;
        let events = commits.iter().flat_map(|commit| commit.events());
        Some(events.map(|(_, (position, _))| position).collect())
    }

    #[test]
    fn only_the_commits_of_the_ledger_are_read() {
        let cached = cached();
        let found = |last_indexed, newest| positions(cached.of_ledger(LEDGERS[0], last_indexed, newest));
        assert_eq!(found(0, name(6, 60)), Some(vec![2, 4, 6]));
        assert_eq!(
            found(2, name(5, 50)),
            Some(vec![4]),
            "up to the reader's newest commit"
        );
        cached.forget(3);
        assert_eq!(found(0, name(6, 60)), None, "an older view of the index");
        assert_eq!(found(3, name(6, 60)), Some(vec![4, 6]));
    }

    #[test]
    fn a_commit_of_another_process_is_not_taken_for_a_rolled_back_one() {
        let cached = cached();
        let found = |newest| positions(cached.of_ledger(LEDGERS[0], 0, newest));
        assert_eq!(found(name(6, 61)), None, "the sixth was rolled back");
        assert_eq!(found(name(7, 70)), None, "the seventh is not cached");
        assert_eq!(found(name(5, 50)), Some(vec![2, 4]));
        // The next commit of this process follows the sixth of the other.
        cached.insert(Some(name(6, 61)), name(7, 70), commit(LEDGERS[0], 7));
        assert_eq!(found(name(7, 70)), None);
        // The backlog is read, and the sixth computed.
        cached.insert(Some(name(5, 50)), name(6, 61), commit(LEDGERS[0], 66));
        let names: Vec<_> = (1..=7).map(|id| name(id, 10 * id + i64::from(id == 6))).collect();
        cached.found(&names);
        assert_eq!(found(name(7, 70)), Some(vec![2, 4, 66, 7]));
    }

    #[test]
    fn a_commit_that_is_rolled_back_is_replaced_by_the_next() {
        let cached = cached();
        cached.insert(Some(name(5, 50)), name(6, 62), commit(LEDGERS[0], 60));
        let found = positions(cached.of_ledger(LEDGERS[0], 0, name(6, 62)));
        assert_eq!(found, Some(vec![2, 4, 60]));
    }
}
