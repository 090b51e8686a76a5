//! The index on SQLite: a file beside the database. Its rows are positions in the order of time.
//!
//! A commit adds its events to the backlog, a table of the database (`event_backlog`). The index file stores the last indexed
//! commit, and its transactions are synced to disk before the backlog drops the commits before it, so an event is always in one of
//! the two.
//!
//! The row of the last indexed commit stays in the backlog. Its random mark is in the index file too, and ties the two: an index
//! whose last commit is not in the backlog, or has another mark there, has events of another history (one of the two files was
//! restored from a backup, or replaced). Such an index, a missing one, and one of another format are rebuilt from the events
//! (`rebuild.rs`), while the server runs.

pub(crate) mod backlog;
pub(crate) mod file;
pub(crate) mod indexer;
pub(crate) mod rebuild;
mod removed_rows;
pub(crate) mod segments;

use super::Shared;
use super::connection::{FileOptions, create_private, open_file, warn_if_open_to_others};
use super::entry::ledger_and_seq;
use super::rows::{key_hash, stored_event};
use super::schema::{event_backlog, indexed};
use super::space;
use crate::error::{Result, StoreError};
use crate::ids::LedgerId;
use crate::search::counting::{Counting, Indexed, Tally, Uncounted};
use crate::search::tokens::{Tokens, push_identity_tokens};
use crate::search::{FORMAT, Remaining};
use audit_index::Term;
use diesel::connection::SimpleConnection;
use diesel::dsl::{exists, select};
use diesel::prelude::*;
use diesel::sql_types::Integer;
use segments::SegmentBlocks;
use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

/// The connection that writes the index. A page holds one block.
const FILE_OPTIONS: FileOptions = FileOptions {
    page_bytes: 4 * 1024,
    cache_kib: 2 * 1024,
    checkpoint_kib: 16 * 1024,
};

/// `is_complete` is false for a segment that a merge is still writing, or has replaced. `month` is that of all its events. `last_segment` is the highest number that a
/// segment has had. `last_mark` is the mark of `last_commit`.
const TABLES: &str = "\
    DROP TABLE IF EXISTS event_index; \
    DROP TABLE IF EXISTS index_segments; \
    DROP TABLE IF EXISTS index_blocks; \
    DROP TABLE IF EXISTS indexed; \
    DROP TABLE IF EXISTS rebuilt_ledgers; \
    CREATE TABLE index_segments ( \
        id INTEGER PRIMARY KEY, level BIGINT NOT NULL, row_count BIGINT NOT NULL, \
        first_position BIGINT NOT NULL, last_position BIGINT NOT NULL, \
        leaves BIGINT NOT NULL, directories BIGINT NOT NULL, roots BLOB NOT NULL, is_complete BOOLEAN NOT NULL, \
        month INTEGER NOT NULL \
    ); \
    CREATE TABLE index_blocks (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL); \
    CREATE TABLE indexed ( \
        id INTEGER PRIMARY KEY CHECK (id = 1), last_commit BIGINT NOT NULL, last_mark BIGINT NOT NULL, \
        last_segment BIGINT NOT NULL, rebuilt_from BIGINT NOT NULL \
    ); \
    CREATE TABLE rebuilt_ledgers (ledger_id INTEGER PRIMARY KEY, seq_end BIGINT NOT NULL)";

/// A connection that writes the index, which is created if it does not exist.
pub(super) fn connect(database: &Path) -> Result<SqliteConnection> {
    let path = file::path(database);
    create_private(&path)?;
    let connection = connect_again(database)?;
    warn_if_open_to_others(&path);
    Ok(connection)
}

/// A connection that writes the index, which exists.
pub(super) fn connect_again(database: &Path) -> Result<SqliteConnection> {
    let mut connection = open_file(&file::path(database), FILE_OPTIONS)?;
    // What a merge deletes in pages that stay in use is overwritten; whole pages are free until they are used again, given back, or
    // overwritten by an erasure: `ON` would write each page of a merged segment once more.
    connection.batch_execute("PRAGMA main.secure_delete = FAST")?;
    Ok(connection)
}

/// Begins to rebuild the index, unless it exists and belongs to the database. `connection` writes the database. Returns the number
/// of events of a rebuild that has not finished.
pub(crate) fn prepare(database: &Path, connection: &mut SqliteConnection) -> Result<Option<u64>> {
    let mut index = connect(database)?;
    if !is_usable(&mut index, connection)? {
        // Under the write lock, so that no event is stored or indexed meanwhile, and of two processes that start concurrently
        // only one begins.
        connection.immediate_transaction(|connection| match is_usable(&mut index, connection)? {
            true => Ok(()),
            false => rebuild::begin(&mut index, connection, TABLES),
        })?;
    }
    space::warn_if_not_overwritten(&mut index, &file::path(database))?;
    let events = rebuild::events(&mut index)?;
    if let Some(events) = events {
        log::warn!(
            "the index is missing, has another format or belongs to another state of the database: {events} events are indexed \
             again in the background, queries for them are slow until then"
        );
    }
    Ok(events)
}

/// Whether the index has this format, and ends at a commit of this database.
fn is_usable(index: &mut SqliteConnection, database: &mut SqliteConnection) -> Result<bool> {
    #[derive(QueryableByName)]
    struct Version {
        #[diesel(sql_type = Integer)]
        user_version: i32,
    }
    let version: Version = diesel::sql_query("PRAGMA user_version").get_result(index)?;
    if version.user_version != FORMAT {
        return Ok(false);
    }
    let last: Option<(i64, i64)> = indexed::table
        .select((indexed::last_commit, indexed::last_mark))
        .get_result(index)
        .optional()?;
    let Some((last_commit, last_mark)) = last else {
        return Ok(false);
    };
    if last_commit == 0 {
        // Nothing is indexed. That is right as long as the backlog has every commit.
        let oldest: Option<i64> = event_backlog::table
            .select(event_backlog::id)
            .order(event_backlog::id)
            .get_result(database)
            .optional()?;
        return Ok(oldest.is_none_or(|oldest| oldest == 1));
    }
    let of_mark = event_backlog::table
        .find(last_commit)
        .filter(event_backlog::mark.eq(last_mark));
    Ok(select(exists(of_mark)).get_result(database)?)
}

/// The next indexed positions that fulfil all `terms`, `wanted` at most.
pub(crate) fn indexed(
    connection: &mut SqliteConnection,
    terms: &[Term],
    remaining: &Remaining<i64>,
    wanted: usize,
    shared: &Shared,
) -> Result<Vec<i64>> {
    in_snapshot(connection, |connection| {
        let segments = SegmentBlocks(connection).segments()?;
        let mut blocks = shared.blocks.before(SegmentBlocks(connection));
        remaining.indexed(&segments, terms, wanted, &mut blocks)
    })
}

/// Events that are read more quickly than their tokens are counted, at most, for each million events of the index.
const READ_PER_MILLION: u64 = 2_000;

/// Counts the events of a ledger within `range` that fulfil all `terms`.
pub(crate) fn count(
    connection: &mut SqliteConnection,
    ledger_id: LedgerId,
    (terms, range): (&[Term], &Range<i64>),
    counting: &Counting,
    shared: &Shared,
) -> Result<Result<Tally<i64>, Uncounted>> {
    // One snapshot of the database and then of the index, in which each event is either in the backlog or in a segment.
    in_snapshot(connection, |connection| {
        let backlog = backlog::counted(connection, ledger_id, (terms, range), counting, shared)?;
        if rebuild::reached(connection)? != rebuild::COMPLETE {
            return Ok(Err(Uncounted::Incomplete));
        }
        let segments = SegmentBlocks(connection).segments()?;
        let mut blocks = shared.blocks.before(SegmentBlocks(connection));
        let indexed = Indexed {
            segments: &segments,
            backlog: &backlog,
            terms,
            range,
            read_per_million: READ_PER_MILLION,
        };
        counting.count(&indexed, &mut blocks)
    })
}

/// The indexed positions of each token.
pub(crate) fn positions_of(
    connection: &mut SqliteConnection,
    tokens: &[&str],
    shared: &Shared,
) -> Result<Vec<Vec<i64>>> {
    in_snapshot(connection, |connection| {
        let segments = SegmentBlocks(connection).segments()?;
        let mut blocks = shared.blocks.before(SegmentBlocks(connection));
        let everything = i64::MIN..i64::MAX;
        let found = tokens.iter().map(|token| {
            let term = Term::is((*token).to_owned());
            audit_index::newest(&segments, &[term], &everything, usize::MAX, &mut blocks)
        });
        found.collect()
    })
}

/// Reads a consistent state of the index, within a transaction or not: segments may be merged meanwhile.
fn in_snapshot<T>(
    connection: &mut SqliteConnection,
    read: impl FnOnce(&mut SqliteConnection) -> Result<T>,
) -> Result<T> {
    connection.batch_execute("SAVEPOINT index_read")?;
    let outcome = read(connection);
    let released = connection.batch_execute("RELEASE index_read");
    let value = outcome?;
    released?;
    Ok(value)
}

/// The tokens of a stored event. An event that was made invalid has only those of its ledger and key: it must
/// not stop the indexer, and `log verify` reports it.
pub(crate) fn tokens_of(connection: &mut SqliteConnection, entry: i64) -> Result<Cow<'static, str>> {
    let (ledger_id, seq) = ledger_and_seq(entry);
    let hash = key_hash(connection, ledger_id, seq)?;
    let hash = hash.as_ref().map(|hash| hash.as_slice());
    let identity = || {
        let mut text = String::new();
        push_identity_tokens(&mut text, ledger_id.0, hash);
        Cow::Owned(text)
    };
    let event = match stored_event(connection, entry) {
        Ok(Some(event)) => event,
        Ok(None) => {
            log::error!("cannot index an event: it was removed");
            return Ok(Cow::Borrowed(""));
        }
        Err(StoreError::Damaged { what }) => {
            log::error!("cannot index an event: its {what} is damaged");
            return Ok(identity());
        }
        Err(error) => return Err(error),
    };
    match event.facets() {
        Ok(facets) => Ok(Cow::Owned(Tokens::of(ledger_id.0, &facets, hash).into_text())),
        Err(error) => {
            log::error!("cannot index an event: {error}");
            Ok(identity())
        }
    }
}
