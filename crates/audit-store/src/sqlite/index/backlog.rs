//! The indexing backlog: the table `event_backlog`, one row per commit that is not indexed.
//!
//! A row lists the entries of the commit's events as runs: 8 bytes for the first entry, 8 bytes for the number of events, 8 bytes for
//! the month in which they are stored, all big-endian. A process that has their tokens, because it committed the events or computed the tokens from the stored
//! events, caches them until they are indexed.

mod cache;

pub(crate) use cache::{BacklogCommits, Commit, CommitName};

use super::tokens_of;
use crate::append::idempotency::KeyHash;
use crate::append::plan::NewRow;
use crate::error::{Result, StoreError};
use crate::ids::LedgerId;
use crate::search::backlog::UnindexedEvents;
use crate::search::counting::{BacklogRow, Counting};
use crate::sqlite::Shared;
use crate::sqlite::entry::{entry, ledger_and_seq};
use crate::sqlite::rows::position_of;
use crate::sqlite::schema::{event_backlog, indexed, random};
use audit_domain::Month;
use audit_index::Term;
use diesel::connection::DefaultLoadingMode;
use diesel::prelude::*;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

/// A key that may be stored: its ledger, hash and token.
pub(crate) type WantedKey = (LedgerId, KeyHash, String);

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
    /// The month in which they are stored.
    pub(crate) month: Month,
}

impl Run {
    const BYTES: usize = 24;

    fn encode(self) -> [u8; Self::BYTES] {
        let first = entry(self.ledger_id, self.first_seq);
        let numbers = [first, self.events, i64::from(self.month.number())];
        let mut bytes = [0; Self::BYTES];
        for (chunk, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            chunk.copy_from_slice(&number.to_be_bytes());
        }
        bytes
    }

    /// The entries of encoded runs.
    pub(crate) fn all(runs: &[u8]) -> impl Iterator<Item = Range<i64>> {
        runs.as_chunks().0.iter().map(|run| Self::entries(run).0)
    }

    /// The entries of an encoded run, and their month.
    fn entries(bytes: &[u8; Self::BYTES]) -> (Range<i64>, Month) {
        let (numbers, _) = bytes.as_chunks();
        let number = |index: usize| numbers.get(index).map_or(0, |number| i64::from_be_bytes(*number));
        let month = i32::try_from(number(2)).unwrap_or(i32::MIN);
        (
            number(0)..number(0).saturating_add(number(1)),
            Month::from_number(month),
        )
    }
}

/// Adds a commit with the events of `runs` to the backlog, and drops the commits before the last indexed one.
pub(crate) fn add<'a>(
    connection: &mut SqliteConnection,
    runs: impl Iterator<Item = Run>,
    events: impl Iterator<Item = (&'a NewRow, i64)>,
    shared: &Shared,
) -> Result<BacklogEntry> {
    let (previous, name, entry) = insert(connection, runs)?;
    let mut commit = Commit::default();
    for (row, position) in events {
        commit.add(row.ledger_id, row.month, position, row.event.tokens.as_str());
    }
    shared.backlog.insert(previous, name, Arc::new(commit));
    let last_indexed = entry.last_indexed;
    diesel::delete(event_backlog::table.filter(event_backlog::id.lt(last_indexed))).execute(connection)?;
    Ok(entry)
}

/// Adds stored events of one month to the backlog, which the index does not have. Their tokens are computed when they are needed.
pub(crate) fn add_stored(
    connection: &mut SqliteConnection,
    runs: impl Iterator<Item = Run>,
) -> Result<BacklogEntry> {
    Ok(insert(connection, runs)?.2)
}

/// Adds a row to the backlog. Returns the name of the one before it, and its own.
fn insert(
    connection: &mut SqliteConnection,
    runs: impl Iterator<Item = Run>,
) -> Result<(Option<CommitName>, CommitName, BacklogEntry)> {
    let (previous, last_indexed) = newest(connection)?.unzip();
    let id = previous.map_or(0, |previous| previous.id) + 1;
    let runs: Vec<u8> = runs.flat_map(Run::encode).collect();
    let mark = diesel::insert_into(event_backlog::table)
        .values((
            event_backlog::id.eq(id),
            event_backlog::mark.eq(random()),
            event_backlog::runs.eq(runs),
        ))
        .returning(event_backlog::mark)
        .get_result(connection)?;
    let entry = BacklogEntry {
        commit: id,
        last_indexed: last_indexed.unwrap_or(0),
    };
    Ok((previous, CommitName { id, mark }, entry))
}

/// The newest commit, and the last indexed one at a later moment.
fn newest(connection: &mut SqliteConnection) -> Result<Option<(CommitName, i64)>> {
    // One statement, which sees the database at one moment and the index at a later one. In the other order, a commit that
    // is indexed and dropped in between would be in neither.
    let last = indexed::table.select(indexed::last_commit).single_value();
    let newest: Option<(i64, i64, Option<i64>)> = event_backlog::table
        .order(event_backlog::id.desc())
        .select((event_backlog::id, event_backlog::mark, last))
        .get_result(connection)
        .optional()?;
    Ok(newest.map(|(id, mark, last)| (CommitName { id, mark }, last.unwrap_or(0))))
}

/// The last indexed commit. It was synced to disk before it became visible.
pub(crate) fn last_indexed(connection: &mut SqliteConnection) -> Result<i64> {
    let last = indexed::table.select(indexed::last_commit);
    Ok(last.get_result(connection).optional()?.unwrap_or(0))
}

/// Sets [`last_indexed`].
pub(crate) fn set_last_indexed(index: &mut SqliteConnection, commit: CommitName) -> Result<()> {
    diesel::update(indexed::table)
        .set((
            indexed::last_commit.eq(commit.id),
            indexed::last_mark.eq(commit.mark),
        ))
        .execute(index)?;
    Ok(())
}

/// The oldest commits of the backlog, in their order, `commits_max` at most, each with its runs.
pub(crate) fn unindexed(
    connection: &mut SqliteConnection,
    commits_max: usize,
) -> Result<Vec<(CommitName, Vec<u8>)>> {
    // One statement, as in `newest`.
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
    for (entries, month) in runs.iter().map(Run::entries) {
        for entry in entries {
            if let Some(position) = position_of(connection, entry)? {
                let tokens = tokens_of(connection, entry)?;
                commit.add(ledger_and_seq(entry).0, month, position, &tokens);
            }
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
    let mut previous = None;
    for (name, runs) in unindexed(connection, commits_max)? {
        let commit = match shared.backlog.get(name) {
            Some(commit) => commit,
            None => {
                let computed = Arc::new(compute(connection, &runs)?);
                shared.backlog.insert(previous, name, Arc::clone(&computed));
                computed
            }
        };
        previous = Some(name);
        if !see(name, commit) {
            break;
        }
    }
    Ok(())
}

/// Calls `see` with the unindexed events of a ledger, by commit. Reads those of other ledgers only if they are not cached.
fn for_each_of(
    connection: &mut SqliteConnection,
    ledger_id: LedgerId,
    shared: &Shared,
    mut see: impl FnMut(&UnindexedEvents<i64>),
) -> Result<()> {
    let Some((newest, last_indexed)) = newest(connection)? else {
        return Ok(());
    };
    if newest.id <= last_indexed {
        return Ok(());
    }
    let mut see = |commit: &Commit| commit.of(ledger_id).into_iter().for_each(&mut see);
    if let Some(commits) = shared.backlog.of_ledger(ledger_id, last_indexed, newest) {
        commits.iter().for_each(|commit| see(commit));
        return Ok(());
    }
    let mut names = Vec::new();
    for_each(connection, shared, usize::MAX, |name, commit| {
        names.push(name);
        see(&commit);
        true
    })?;
    shared.backlog.found(&names);
    Ok(())
}

/// The unindexed positions of a ledger within `range` that fulfil all terms, in no order.
pub(crate) fn positions(
    connection: &mut SqliteConnection,
    ledger_id: LedgerId,
    terms: &[Term],
    range: &Range<i64>,
    shared: &Shared,
) -> Result<Vec<i64>> {
    let mut found = Vec::new();
    for_each_of(connection, ledger_id, shared, |events| {
        found.extend(events.matching(terms, range));
    })?;
    Ok(found)
}

/// [`positions`], with what is counted of each event.
pub(crate) fn counted(
    connection: &mut SqliteConnection,
    ledger_id: LedgerId,
    (terms, range): (&[Term], &Range<i64>),
    counting: &Counting,
    shared: &Shared,
) -> Result<Vec<BacklogRow<i64>>> {
    let mut found = Vec::new();
    for_each_of(connection, ledger_id, shared, |events| {
        let matching = events.matching_events(terms, range);
        found.extend(matching.map(|(position, tokens)| counting.backlog_row(position, tokens)));
    })?;
    Ok(found)
}

/// The positions of the unindexed events that have one of these idempotency keys, by the key's token.
pub(crate) fn positions_by_key<'a>(
    connection: &mut SqliteConnection,
    keys: &'a [WantedKey],
    shared: &Shared,
) -> Result<HashMap<&'a str, Vec<i64>>> {
    let mut found: HashMap<&'a str, Vec<i64>> = keys
        .iter()
        .map(|(_, _, token)| (token.as_str(), Vec::new()))
        .collect();
    let ledgers: BTreeSet<LedgerId> = keys.iter().map(|(ledger_id, _, _)| *ledger_id).collect();
    for ledger_id in ledgers {
        for_each_of(connection, ledger_id, shared, |events| {
            for (position, tokens) in events.events() {
                // The key's token is the last one.
                let last = tokens.rsplit(' ').next();
                if let Some(positions) = last.and_then(|token| found.get_mut(token)) {
                    positions.push(position);
                }
            }
        })?;
    }
    Ok(found)
}
