//! The indexing backlog: the table `event_backlog`, one row per commit that is not indexed.
//!
//! A row lists the entries of the commit's events as runs: 8 bytes for the first entry, 8 bytes for the number of events, both
//! big-endian. A process that has their tokens, because it committed the events or computed the tokens from the stored
//! events, caches them until they are indexed.

use super::tokens_of;
use crate::append::LedgerId;
use crate::error::{Result, StoreError};
use crate::search::BACKLOG_BYTES_MAX;
use crate::search::backlog::UnindexedEvents;
use crate::search::tokens::Tokens;
use crate::sqlite::Shared;
use crate::sqlite::entry::entry;
use crate::sqlite::events::position_of;
use crate::sqlite::schema::{event_backlog, indexed};
use audit_index::Term;
use diesel::connection::DefaultLoadingMode;
use diesel::dsl::max;
use diesel::prelude::*;
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

/// The events of one commit, by position.
pub(crate) type Commit = UnindexedEvents<i64>;

/// Identifies a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CommitName {
    /// Increases with every commit.
    pub(crate) id: i64,
    /// Random. A commit that was rolled back had the same id as the one after it, and may be cached.
    mark: i64,
}

/// The cached commits of the backlog.
#[derive(Debug, Default)]
pub(crate) struct BacklogCommits(Mutex<CachedCommits>);

#[derive(Debug, Default)]
struct CachedCommits {
    /// By id, with the mark.
    commits: BTreeMap<i64, (i64, Arc<Commit>)>,
    bytes: usize,
}

impl BacklogCommits {
    fn insert(&self, name: CommitName, commit: Arc<Commit>) {
        let mut cached = self.0.lock();
        if let Some((_, rolled_back)) = cached.commits.remove(&name.id) {
            cached.bytes -= rolled_back.bytes();
        }
        if cached.bytes + commit.bytes() <= BACKLOG_BYTES_MAX {
            cached.bytes += commit.bytes();
            cached.commits.insert(name.id, (name.mark, commit));
        }
    }

    fn get(&self, name: CommitName) -> Option<Arc<Commit>> {
        let cached = self.0.lock();
        let (mark, commit) = cached.commits.get(&name.id)?;
        (*mark == name.mark).then(|| Arc::clone(commit))
    }

    /// Drops the commits up to this one, which are indexed.
    pub(crate) fn forget(&self, last_indexed: i64) {
        let mut cached = self.0.lock();
        let remaining = cached.commits.split_off(&last_indexed.saturating_add(1));
        let indexed = std::mem::replace(&mut cached.commits, remaining);
        cached.bytes -= indexed.values().map(|(_, commit)| commit.bytes()).sum::<usize>();
    }
}

/// The entry of a commit in the backlog.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BacklogEntry {
    /// The id of the commit.
    commit: i64,
    /// The last indexed commit at that time.
    last_indexed: i64,
}

/// The backlog of one writer, for back-pressure.
#[derive(Debug, Default)]
pub(crate) struct WriterBacklog {
    /// Each commit with the number of its events.
    commits: VecDeque<(i64, usize)>,
    events: usize,
}

impl WriterBacklog {
    /// Adds a commit, and drops those that are indexed.
    pub(crate) fn add(&mut self, entry: BacklogEntry, events: usize) {
        self.commits.push_back((entry.commit, events));
        self.events += events;
        while let Some((commit, events)) = self.commits.front()
            && *commit <= entry.last_indexed
        {
            self.events -= events;
            self.commits.pop_front();
        }
    }

    /// The oldest commit, if there are more than `events` events.
    pub(crate) fn oldest_beyond(&self, events: usize) -> Option<i64> {
        let (oldest, _) = self.commits.front().filter(|_| self.events > events)?;
        Some(*oldest)
    }
}

/// Consecutive events of one ledger.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) ledger_id: LedgerId,
    pub(crate) first_seq: i64,
    pub(crate) events: i64,
}

impl Run {
    const BYTES: usize = 16;

    fn encode(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let (first, events) = bytes.split_at_mut(8);
        first.copy_from_slice(&entry(self.ledger_id, self.first_seq).to_be_bytes());
        events.copy_from_slice(&self.events.to_be_bytes());
        bytes
    }

    /// The entries of encoded runs.
    pub(crate) fn all(runs: &[u8]) -> impl Iterator<Item = Range<i64>> {
        runs.as_chunks().0.iter().map(Self::entries)
    }

    /// The entries of an encoded run.
    fn entries(bytes: &[u8; Self::BYTES]) -> Range<i64> {
        let number = |bytes: &[u8]| {
            bytes
                .iter()
                .fold(0, |number, byte| number << 8 | i64::from(*byte))
        };
        let (first, events) = bytes.split_at(8);
        let first = number(first);
        first..first.saturating_add(number(events))
    }
}

define_sql_function! {
    /// SQLite's random number.
    fn random() -> BigInt;
}

/// Adds a commit with the events of `runs` to the backlog, and drops the commits that are indexed.
pub(crate) fn add<'a>(
    connection: &mut SqliteConnection,
    runs: impl Iterator<Item = Run>,
    events: impl Iterator<Item = (i64, &'a Tokens)>,
    shared: &Shared,
) -> Result<BacklogEntry> {
    let newest: Option<i64> = event_backlog::table
        .select(max(event_backlog::id))
        .get_result(connection)?;
    let id = newest.unwrap_or(0) + 1;
    let runs: Vec<u8> = runs.flat_map(Run::encode).collect();
    let mark = diesel::insert_into(event_backlog::table)
        .values((
            event_backlog::id.eq(id),
            event_backlog::mark.eq(random()),
            event_backlog::runs.eq(runs),
        ))
        .returning(event_backlog::mark)
        .get_result(connection)?;
    let mut commit = Commit::default();
    for (position, tokens) in events {
        commit.add(position, tokens.as_str());
    }
    shared.backlog.insert(CommitName { id, mark }, Arc::new(commit));
    let last_indexed = last_indexed(connection)?;
    diesel::delete(event_backlog::table.filter(event_backlog::id.le(last_indexed))).execute(connection)?;
    Ok(BacklogEntry {
        commit: id,
        last_indexed,
    })
}

/// The last indexed commit. It was synced to disk before it became visible.
pub(crate) fn last_indexed(connection: &mut SqliteConnection) -> Result<i64> {
    let last = indexed::table.select(indexed::last_commit);
    Ok(last.get_result(connection).optional()?.unwrap_or(0))
}

/// Sets [`last_indexed`].
pub(crate) fn set_last_indexed(index: &mut SqliteConnection, commit: i64) -> Result<()> {
    diesel::update(indexed::table)
        .set(indexed::last_commit.eq(commit))
        .execute(index)?;
    Ok(())
}

/// The oldest commits of the backlog, in their order, `commits_max` at most, each with its runs.
pub(crate) fn unindexed(
    connection: &mut SqliteConnection,
    commits_max: usize,
) -> Result<Vec<(CommitName, Vec<u8>)>> {
    // One statement, which sees the database at one moment and the index at a later one. In the other order, a commit that
    // is indexed and dropped in between would be in neither.
    let last = indexed::table.select(indexed::last_commit).single_value();
    let commits = event_backlog::table
        .filter(event_backlog::id.nullable().gt(last))
        .order(event_backlog::id)
        .load_iter::<(i64, i64, Vec<u8>), DefaultLoadingMode>(connection)?
        .take(commits_max);
    let name = |(id, mark, runs)| (CommitName { id, mark }, runs);
    Ok(commits.map(|commit| commit.map(name)).collect::<Result<_, _>>()?)
}

/// Computes the tokens of a commit from its stored events. Removed events are skipped.
fn compute(connection: &mut SqliteConnection, runs: &[u8]) -> Result<Commit> {
    let (runs, []) = runs.as_chunks() else {
        return Err(StoreError::Damaged {
            what: "list of unindexed events",
        });
    };
    let mut commit = Commit::default();
    for entry in runs.iter().flat_map(Run::entries) {
        if let Some(position) = position_of(connection, entry)? {
            let tokens = tokens_of(connection, entry)?;
            commit.add(position, &tokens);
        }
    }
    Ok(commit)
}

/// Calls `see` with the commits of the backlog, oldest first, `commits_max` at most, until it returns `false`.
pub(crate) fn for_each(
    connection: &mut SqliteConnection,
    shared: &Shared,
    commits_max: usize,
    mut see: impl FnMut(CommitName, Arc<Commit>) -> bool,
) -> Result<()> {
    for (name, runs) in unindexed(connection, commits_max)? {
        let commit = match shared.backlog.get(name) {
            Some(commit) => commit,
            None => {
                let computed = Arc::new(compute(connection, &runs)?);
                shared.backlog.insert(name, Arc::clone(&computed));
                computed
            }
        };
        if !see(name, commit) {
            break;
        }
    }
    Ok(())
}

/// The unindexed positions within `range` that fulfil all terms, in no order.
pub(crate) fn positions(
    connection: &mut SqliteConnection,
    terms: &[Term],
    range: &Range<i64>,
    shared: &Shared,
) -> Result<Vec<i64>> {
    let mut found = Vec::new();
    for_each(connection, shared, usize::MAX, |_, commit| {
        found.extend(commit.matching(terms, range));
        true
    })?;
    Ok(found)
}

/// The positions of the unindexed events that have one of these idempotency keys, by the key's token.
pub(crate) fn positions_by_key<'a>(
    connection: &mut SqliteConnection,
    keys: &[&'a str],
    shared: &Shared,
) -> Result<HashMap<&'a str, Vec<i64>>> {
    let mut found: HashMap<&'a str, Vec<i64>> = keys.iter().map(|key| (*key, Vec::new())).collect();
    for_each(connection, shared, usize::MAX, |_, commit| {
        for (position, tokens) in commit.events() {
            // The key's token is the last one.
            let last = tokens.rsplit(' ').next();
            if let Some(positions) = last.and_then(|token| found.get_mut(token)) {
                positions.push(position);
            }
        }
        true
    })?;
    Ok(found)
}
