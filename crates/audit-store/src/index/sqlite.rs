//! SQLite's index: a file of its own beside the database, whose rows are positions.
//!
//! A commit leaves its events in a list within the database, the tail, until they are filed. The index knows which commit it
//! has got to, and its commits are synced to disk before the tail forgets what they hold, so nothing is in neither.
//!
//! Everything in the file can be made again from the events, and is when the file is missing, damaged in its frame, or not
//! the one that belongs to the database (a backup was put in its place).

pub(crate) mod indexer;
mod segments;
pub(crate) mod tail;

use crate::append::Tokens;
use crate::append::sqlite::key_hash;
use crate::connection::{FileOptions, create_private, open_sqlite};
use crate::entry::ledger_and_seq;
use crate::error::{Result, StoreError};
use crate::index::IndexCache;
use crate::index::merging::Segments;
use crate::query::sqlite::stored_event;
use crate::schema::sqlite::{event_tail, event_times, indexed};
use crate::tokens::push_identity_tokens;
use audit_index::Term;
use diesel::connection::SimpleConnection;
use diesel::dsl::{max, min};
use diesel::prelude::*;
use diesel::sql_types::Integer;
use segments::SegmentBlocks;
use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Increases when what is in the file changes, which is then made anew.
const VERSION: i32 = 2;
/// The connection that writes the index. A page holds one block.
const FILE_OPTIONS: FileOptions = FileOptions {
    page_bytes: 4 * 1024,
    cache_kib: 2 * 1024,
    checkpoint_kib: 16 * 1024,
};
/// Events that are filed in one transaction when the index is made anew.
const REBUILT_EVENTS: i64 = 20_000;

/// The rows of segments are events, their ids positions. `is_complete`: not one that is still being made of others.
/// `last_segment`: the highest number that a segment has had.
const TABLES: &str = "\
    DROP TABLE IF EXISTS event_index; \
    DROP TABLE IF EXISTS index_segments; \
    DROP TABLE IF EXISTS index_blocks; \
    DROP TABLE IF EXISTS indexed; \
    CREATE TABLE index_segments ( \
        id INTEGER PRIMARY KEY, level BIGINT NOT NULL, row_count BIGINT NOT NULL, \
        first_position BIGINT NOT NULL, last_position BIGINT NOT NULL, \
        leaves BIGINT NOT NULL, directories BIGINT NOT NULL, is_complete BOOLEAN NOT NULL \
    ); \
    CREATE TABLE index_blocks (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL); \
    CREATE TABLE indexed ( \
        id INTEGER PRIMARY KEY CHECK (id = 1), last_commit BIGINT NOT NULL, last_segment BIGINT NOT NULL \
    )";

/// The file with the index of the database at `database`.
pub(crate) fn path(database: &Path) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push("-index");
    path.into()
}

/// The statement by which a connection to the database reads the index as well. Nothing can be written to it that way, so
/// a transaction that writes to the database does not wait for who writes the index.
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
    open_sqlite(&path, FILE_OPTIONS)
}

/// Makes the index unless it is there and belongs to the database. `connection` is one that writes to the database.
pub(crate) fn prepare(database: &Path, connection: &mut SqliteConnection) -> Result<()> {
    let mut index = connect(database)?;
    if is_usable(&mut index, connection)? {
        return Ok(());
    }
    // Under the lock of who writes, so that what is stored and what is filed stay the same, and two processes that start at
    // once do not both do it.
    connection.immediate_transaction(|connection| {
        if is_usable(&mut index, connection)? {
            return Ok(());
        }
        rebuild(&mut index, connection)
    })
}

/// Whether the index is one of this version, complete, and has got to a commit that the tail goes on from.
fn is_usable(index: &mut SqliteConnection, database: &mut SqliteConnection) -> Result<bool> {
    #[derive(QueryableByName)]
    struct Version {
        #[diesel(sql_type = Integer)]
        user_version: i32,
    }
    let version: Version = diesel::sql_query("PRAGMA user_version").get_result(index)?;
    if version.user_version != VERSION {
        return Ok(false);
    }
    let last: Option<i64> = indexed::table
        .select(indexed::last_commit)
        .get_result(index)
        .optional()?;
    let (first_left, last_left): (Option<i64>, Option<i64>) = event_tail::table
        .select((min(event_tail::id), max(event_tail::id)))
        .get_result(database)?;
    let fits = |last: i64| last >= first_left.map_or(0, |first| first - 1) && last <= last_left.unwrap_or(0);
    Ok(last.is_some_and(fits))
}

/// Files all events anew, in the order of their positions. Segments are numbered on, for who may have read the old ones.
fn rebuild(index: &mut SqliteConnection, database: &mut SqliteConnection) -> Result<()> {
    let last_segment: Result<i64, _> = indexed::table.select(indexed::last_segment).get_result(index);
    // What is there may be of any version, or broken off in the middle: that it is complete is written last.
    index.batch_execute(&format!(
        "BEGIN; PRAGMA user_version = 0; {TABLES}; INSERT INTO indexed VALUES (1, 0, {}); COMMIT",
        last_segment.unwrap_or(0)
    ))?;
    let last_left: Option<i64> = event_tail::table
        .select(max(event_tail::id))
        .get_result(database)?;
    let (mut start, mut filed) = (i64::MIN, 0);
    loop {
        let places: Vec<(i64, i64)> = event_times::table
            .filter(event_times::position.ge(start))
            .order(event_times::position)
            .limit(REBUILT_EVENTS)
            .load(database)?;
        let Some((last, _)) = places.last() else { break };
        start = last + 1;
        index.immediate_transaction(|index| {
            let mut rows = Vec::with_capacity(places.len());
            for (position, entry) in &places {
                rows.push((*position, tokens_of(database, *entry)?));
            }
            let rows: Vec<(i64, &str)> = rows
                .iter()
                .map(|(position, tokens)| (*position, &**tokens))
                .collect();
            SegmentBlocks(index).file(&rows)
        })?;
        filed += places.len();
        log::info!("making the index of events anew: {filed} so far");
    }
    index.immediate_transaction(|index| {
        tail::set_last_indexed(index, last_left.unwrap_or(0))?;
        index.batch_execute(&format!("PRAGMA user_version = {VERSION}"))?;
        Ok(())
    })
}

/// The newest positions within `range` that are in the index under all `terms`, descending, `wanted` at most.
pub(crate) fn newest(
    connection: &mut SqliteConnection,
    terms: &[Term],
    range: &Range<i64>,
    wanted: usize,
    cache: &IndexCache,
) -> Result<Vec<i64>> {
    at_once(connection, |connection| {
        let segments = SegmentBlocks(connection).complete()?;
        let mut blocks = cache.blocks.before(SegmentBlocks(connection));
        audit_index::newest(&segments, terms, range, wanted, &mut blocks)
    })
}

/// The positions that the index has under each of the tokens.
pub(crate) fn positions_of(
    connection: &mut SqliteConnection,
    tokens: &[&str],
    cache: &IndexCache,
) -> Result<Vec<Vec<i64>>> {
    at_once(connection, |connection| {
        let segments = SegmentBlocks(connection).complete()?;
        let mut blocks = cache.blocks.before(SegmentBlocks(connection));
        let everything = i64::MIN..i64::MAX;
        let found = tokens.iter().map(|token| {
            let term = Term::is((*token).to_owned());
            audit_index::newest(&segments, &[term], &everything, usize::MAX, &mut blocks)
        });
        found.collect()
    })
}

/// Reads one state of the index, of which segments may be merged meanwhile, within a transaction or not.
fn at_once<T>(
    connection: &mut SqliteConnection,
    read: impl FnOnce(&mut SqliteConnection) -> Result<T>,
) -> Result<T> {
    connection.batch_execute("SAVEPOINT at_once")?;
    let outcome = read(connection);
    let released = connection.batch_execute("RELEASE at_once");
    let value = outcome?;
    released?;
    Ok(value)
}

/// What a stored event is filed under. One that is no event any more, because somebody changed it, is filed under its
/// ledger alone: who stores events now is not to be kept from it, and whoever verifies the log is told.
fn tokens_of(connection: &mut SqliteConnection, entry: i64) -> Result<Cow<'static, str>> {
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
            log::error!("an event that was to be indexed is gone");
            return Ok(Cow::Borrowed(""));
        }
        Err(StoreError::Damaged { what }) => {
            log::error!("an event that was to be indexed has a damaged {what}");
            return Ok(identity());
        }
        Err(error) => return Err(error),
    };
    match event.facets() {
        Ok(facets) => Ok(Cow::Owned(Tokens::of(ledger_id.0, &facets, hash).into_text())),
        Err(error) => {
            log::error!("an event that was to be indexed is damaged: {error}");
            Ok(identity())
        }
    }
}
