//! The index on SQLite: a file beside the database. Its rows are positions in the order of time.
//!
//! A commit adds its events to the backlog, a table of the database (`event_backlog`). The index file stores the last indexed
//! commit, and its transactions are synced to disk before the backlog drops their commits, so an event is always in one of the
//! two.
//!
//! The file can be rebuilt from the events. It is when it is missing, has another format, or does not belong to the database
//! (one of the two was restored from a backup).

pub(crate) mod backlog;
pub(crate) mod indexer;
pub(crate) mod segments;

use super::Shared;
use super::connection::{FileOptions, create_private, open_file};
use super::entry::ledger_and_seq;
use super::events::stored_event;
use super::keys::key_hash;
use super::schema::{event_backlog, event_times, indexed};
use crate::error::{Result, StoreError};
use crate::search::FORMAT;
use crate::search::merging::Segments;
use crate::search::tokens::{Tokens, push_identity_tokens};
use audit_index::Term;
use diesel::connection::SimpleConnection;
use diesel::dsl::{max, min};
use diesel::prelude::*;
use diesel::sql_types::Integer;
use segments::SegmentBlocks;
use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The connection that writes the index. A page holds one block.
const FILE_OPTIONS: FileOptions = FileOptions {
    page_bytes: 4 * 1024,
    cache_kib: 2 * 1024,
    checkpoint_kib: 16 * 1024,
};
/// Events that a rebuild indexes in one transaction.
const REBUILT_EVENTS: i64 = 20_000;

/// `is_complete` is false for a segment that a merge is still writing. `last_segment` is the highest number that a segment has
/// had.
const TABLES: &str = "\
    DROP TABLE IF EXISTS event_index; \
    DROP TABLE IF EXISTS index_segments; \
    DROP TABLE IF EXISTS index_blocks; \
    DROP TABLE IF EXISTS indexed; \
    CREATE TABLE index_segments ( \
        id INTEGER PRIMARY KEY, level BIGINT NOT NULL, row_count BIGINT NOT NULL, \
        first_position BIGINT NOT NULL, last_position BIGINT NOT NULL, \
        leaves BIGINT NOT NULL, directories BIGINT NOT NULL, roots BLOB NOT NULL, is_complete BOOLEAN NOT NULL \
    ); \
    CREATE TABLE index_blocks (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL); \
    CREATE TABLE indexed ( \
        id INTEGER PRIMARY KEY CHECK (id = 1), last_commit BIGINT NOT NULL, last_segment BIGINT NOT NULL \
    )";

/// The path of the index of the database at `database`.
pub(crate) fn path(database: &Path) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push("-index");
    path.into()
}

/// The statement that attaches the index to a connection of the database, read-only: a transaction that writes the database
/// must not wait for the indexer.
pub(crate) fn attach_statement(database: &Path) -> String {
    let mut uri = String::from("file:");
    for character in path(database).to_string_lossy().chars() {
        match character {
            '%' => uri.push_str("%25"),
            '?' => uri.push_str("%3f"),
            '#' => uri.push_str("%23"),
            '\'' => uri.push_str("''"),
            other => uri.push(other),
        }
    }
    format!("ATTACH DATABASE '{uri}?mode=ro' AS search")
}

/// A connection that writes the index.
fn connect(database: &Path) -> Result<SqliteConnection> {
    let path = path(database);
    create_private(&path)?;
    open_file(&path, FILE_OPTIONS)
}

/// Rebuilds the index, unless it exists and belongs to the database. `connection` writes the database.
pub(crate) fn prepare(database: &Path, connection: &mut SqliteConnection) -> Result<()> {
    let mut index = connect(database)?;
    if is_usable(&mut index, connection)? {
        return Ok(());
    }
    // Under the write lock, so that no event is stored or indexed meanwhile, and of two processes that start concurrently
    // only one rebuilds.
    connection.immediate_transaction(|connection| {
        if is_usable(&mut index, connection)? {
            return Ok(());
        }
        rebuild(&mut index, connection)
    })
}

/// Whether the index has this format, is complete, and ends at a commit that the backlog continues.
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
    let last: Option<i64> = indexed::table
        .select(indexed::last_commit)
        .get_result(index)
        .optional()?;
    let (first, last_in_backlog): (Option<i64>, Option<i64>) = event_backlog::table
        .select((min(event_backlog::id), max(event_backlog::id)))
        .get_result(database)?;
    let is_continued =
        |last: i64| last >= first.map_or(0, |first| first - 1) && last <= last_in_backlog.unwrap_or(0);
    Ok(last.is_some_and(is_continued))
}

/// Indexes all events again, in the order of their positions. The numbers of segments continue, because readers may have the
/// old segments in memory.
fn rebuild(index: &mut SqliteConnection, database: &mut SqliteConnection) -> Result<()> {
    let last_segment: Result<i64, _> = indexed::table.select(indexed::last_segment).get_result(index);
    // The present file may have any format or be incomplete. The format is written last.
    index.batch_execute(&format!(
        "BEGIN; PRAGMA user_version = 0; {TABLES}; INSERT INTO indexed VALUES (1, 0, {}); COMMIT",
        last_segment.unwrap_or(0)
    ))?;
    let last_commit: Option<i64> = event_backlog::table
        .select(max(event_backlog::id))
        .get_result(database)?;
    let (mut start, mut indexed_events) = (i64::MIN, 0);
    loop {
        let times: Vec<(i64, i64)> = event_times::table
            .filter(event_times::position.ge(start))
            .order(event_times::position)
            .limit(REBUILT_EVENTS)
            .load(database)?;
        let Some((last, _)) = times.last() else { break };
        start = last + 1;
        index.immediate_transaction(|index| {
            let mut rows = Vec::with_capacity(times.len());
            for (position, entry) in &times {
                rows.push((*position, tokens_of(database, *entry)?));
            }
            let rows: Vec<(i64, &str)> = rows
                .iter()
                .map(|(position, tokens)| (*position, &**tokens))
                .collect();
            SegmentBlocks(index).add_segment(&rows)
        })?;
        indexed_events += times.len();
        log::info!("rebuilding the index: {indexed_events} events so far");
    }
    index.immediate_transaction(|index| {
        backlog::set_last_indexed(index, last_commit.unwrap_or(0))?;
        index.batch_execute(&format!("PRAGMA user_version = {FORMAT}"))?;
        Ok(())
    })
}

/// The newest indexed positions within `range` that fulfil all `terms`, descending, `wanted` at most.
pub(crate) fn newest(
    connection: &mut SqliteConnection,
    terms: &[Term],
    range: &Range<i64>,
    wanted: usize,
    shared: &Shared,
) -> Result<Vec<i64>> {
    in_snapshot(connection, |connection| {
        let segments = SegmentBlocks(connection).complete()?;
        let mut blocks = shared.blocks.before(SegmentBlocks(connection));
        audit_index::newest(&segments, terms, range, wanted, &mut blocks)
    })
}

/// The indexed positions of each token.
pub(crate) fn positions_of(
    connection: &mut SqliteConnection,
    tokens: &[&str],
    shared: &Shared,
) -> Result<Vec<Vec<i64>>> {
    in_snapshot(connection, |connection| {
        let segments = SegmentBlocks(connection).complete()?;
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
