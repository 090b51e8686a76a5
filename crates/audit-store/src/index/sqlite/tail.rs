//! Events that are stored and not in the index yet: a list in the database, one row for each commit.
//!
//! The list says which events they are. What they are filed under is made of the events themselves; whoever has it anyway,
//! because the commit was his own or he made it a moment ago, keeps it in memory until it is in the index.

use super::tokens_of;
use crate::append::{LedgerId, Tokens};
use crate::entry::entry;
use crate::error::{Result, StoreError};
use crate::index::filed::Filed;
use crate::index::{IndexCache, KEPT_BYTES_MAX};
use crate::query::sqlite::position_of;
use crate::schema::sqlite::{event_tail, indexed};
use audit_index::Term;
use diesel::connection::DefaultLoadingMode;
use diesel::dsl::max;
use diesel::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The events of one commit, by position.
pub(crate) type Commit = Filed<i64>;

/// What tells a commit from all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CommitName {
    /// Grows with every commit.
    pub(crate) id: i64,
    /// A random number: a commit that was undone, and was known by then, had the same id as the one after it.
    mark: i64,
}

/// The commits of the tail that this process has in memory.
#[derive(Debug, Default)]
pub(crate) struct KeptCommits(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// By id, with the mark.
    commits: BTreeMap<i64, (i64, Arc<Commit>)>,
    bytes: usize,
}

impl KeptCommits {
    /// The lock is never held while anything can panic, so a poisoned one is as good as new.
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, name: CommitName, commit: Arc<Commit>) {
        let mut kept = self.lock();
        if let Some((_, undone)) = kept.commits.remove(&name.id) {
            kept.bytes -= undone.bytes();
        }
        if kept.bytes + commit.bytes() <= KEPT_BYTES_MAX {
            kept.bytes += commit.bytes();
            kept.commits.insert(name.id, (name.mark, commit));
        }
    }

    fn get(&self, name: CommitName) -> Option<Arc<Commit>> {
        let kept = self.lock();
        let (mark, commit) = kept.commits.get(&name.id)?;
        (*mark == name.mark).then(|| Arc::clone(commit))
    }

    /// Lets go of the commits up to this one, which are in the index.
    pub(crate) fn forget(&self, last_indexed: i64) {
        let mut kept = self.lock();
        let remaining = kept.commits.split_off(&last_indexed.saturating_add(1));
        let forgotten = std::mem::replace(&mut kept.commits, remaining);
        kept.bytes -= forgotten
            .values()
            .map(|(_, commit)| commit.bytes())
            .sum::<usize>();
    }
}

/// What a commit left in the tail.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    /// Its number.
    pub(crate) commit: i64,
    /// The last commit that was in the index then.
    pub(crate) last_indexed: i64,
}

/// Neighbouring events of one ledger.
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

    /// The entries of its events.
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
    /// A number that nobody can foresee.
    fn random() -> BigInt;
}

/// Leaves the events of a commit to be indexed, which are those of the `runs`, and forgets those that are.
pub(crate) fn leave<'a>(
    connection: &mut SqliteConnection,
    runs: impl Iterator<Item = Run>,
    events: impl Iterator<Item = (i64, &'a Tokens)>,
    cache: &IndexCache,
) -> Result<Left> {
    let newest: Option<i64> = event_tail::table
        .select(max(event_tail::id))
        .get_result(connection)?;
    let id = newest.unwrap_or(0) + 1;
    let runs: Vec<u8> = runs.flat_map(Run::encode).collect();
    let mark = diesel::insert_into(event_tail::table)
        .values((
            event_tail::id.eq(id),
            event_tail::mark.eq(random()),
            event_tail::runs.eq(runs),
        ))
        .returning(event_tail::mark)
        .get_result(connection)?;
    let mut commit = Commit::default();
    for (position, tokens) in events {
        commit.add(position, tokens.as_str());
    }
    cache.commits.keep(CommitName { id, mark }, Arc::new(commit));
    let last_indexed = last_indexed(connection)?;
    diesel::delete(event_tail::table.filter(event_tail::id.le(last_indexed))).execute(connection)?;
    Ok(Left {
        commit: id,
        last_indexed,
    })
}

/// The last commit that is in the index. Whoever can see that can rely on it: it was synced to disk before.
pub(crate) fn last_indexed(connection: &mut SqliteConnection) -> Result<i64> {
    let last = indexed::table.select(indexed::last_commit);
    Ok(last.get_result(connection).optional()?.unwrap_or(0))
}

/// Notes what [`last_indexed`] says from now on.
pub(crate) fn set_last_indexed(index: &mut SqliteConnection, commit: i64) -> Result<()> {
    diesel::update(indexed::table)
        .set(indexed::last_commit.eq(commit))
        .execute(index)?;
    Ok(())
}

/// The oldest commits that are not in the index, in their order: up to `commits_max`, with the runs of their events.
fn left(connection: &mut SqliteConnection, commits_max: usize) -> Result<Vec<(CommitName, Vec<u8>)>> {
    // One statement, which sees the database as of a moment and the index as of a later one. In the other order, what is
    // indexed and forgotten in between would be in neither.
    let last = indexed::table.select(indexed::last_commit).single_value();
    let commits = event_tail::table
        .filter(event_tail::id.nullable().gt(last))
        .order(event_tail::id)
        .load_iter::<(i64, i64, Vec<u8>), DefaultLoadingMode>(connection)?
        .take(commits_max);
    let name = |(id, mark, runs)| (CommitName { id, mark }, runs);
    Ok(commits.map(|commit| commit.map(name)).collect::<Result<_, _>>()?)
}

/// Makes a commit of its events. One that is gone, because somebody removed it, is left out.
fn make(connection: &mut SqliteConnection, runs: &[u8]) -> Result<Commit> {
    let (runs, []) = runs.as_chunks() else {
        return Err(StoreError::Damaged {
            what: "list of events to be indexed",
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

/// Calls `see` with the commits that are not in the index, oldest first, up to `commits_max`, until it has seen enough and
/// says `false`.
pub(crate) fn for_each(
    connection: &mut SqliteConnection,
    cache: &IndexCache,
    commits_max: usize,
    mut see: impl FnMut(CommitName, Arc<Commit>) -> bool,
) -> Result<()> {
    for (name, runs) in left(connection, commits_max)? {
        let commit = match cache.commits.get(name) {
            Some(commit) => commit,
            None => {
                let made = Arc::new(make(connection, &runs)?);
                cache.commits.keep(name, Arc::clone(&made));
                made
            }
        };
        if !see(name, commit) {
            break;
        }
    }
    Ok(())
}

/// The positions within `range` that are not in the index and fulfil all conditions, in no order.
pub(crate) fn positions(
    connection: &mut SqliteConnection,
    terms: &[Term],
    range: &Range<i64>,
    cache: &IndexCache,
) -> Result<Vec<i64>> {
    let mut found = Vec::new();
    for_each(connection, cache, usize::MAX, |_, commit| {
        found.extend(commit.matching(terms, range));
        true
    })?;
    Ok(found)
}

/// The positions of the events that are not in the index and have one of these idempotency keys, by the key's token.
pub(crate) fn positions_by_key<'a>(
    connection: &mut SqliteConnection,
    keys: &[&'a str],
    cache: &IndexCache,
) -> Result<HashMap<&'a str, Vec<i64>>> {
    let mut found: HashMap<&'a str, Vec<i64>> = keys.iter().map(|key| (*key, Vec::new())).collect();
    for_each(connection, cache, usize::MAX, |_, commit| {
        for (position, filed_under) in commit.events() {
            let last = filed_under.rsplit(' ').next();
            if let Some(positions) = last.and_then(|token| found.get_mut(token)) {
                positions.push(position);
            }
        }
        true
    })?;
    Ok(found)
}
