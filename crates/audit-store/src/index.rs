//! SQLite's index: which events have a field's value, a word or an idempotency key.
//!
//! It is a file of its own beside the database, and a thread of its own writes it. To write it takes as long as to store
//! the events, so a commit only leaves them in a list within the database, the tail, which whoever reads looks through
//! beside the index; the thread files them a moment later, many at a time. The index knows which commit it has got to, and
//! its commits are synced to disk before the tail forgets what they hold, so nothing is in neither.
//!
//! Everything in the file can be made again from the events, and is when the file is missing, damaged in its frame, or not
//! the one that belongs to the database (a backup was put in its place).

pub(crate) mod indexer;
pub(crate) mod tail;

use crate::append::Tokens;
use crate::append::sqlite::key_hash;
use crate::connection::{create_private, open_sqlite};
use crate::error::{Result, StoreError};
use crate::query::sqlite::{ledger_and_seq, stored_event};
use crate::schema::sqlite::{event_index, event_tail, event_times, indexed};
use crate::tokens::identity_tokens;
use diesel::connection::SimpleConnection;
use diesel::dsl::{max, min};
use diesel::prelude::*;
use diesel::sql_types::Integer;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Increases when what is in the file changes, which is then made anew.
const VERSION: i32 = 1;
/// Page cache of the connection that writes the index, in KiB.
const CACHE_KIB: u32 = 8 * 1024;
/// Pages of its write-ahead log between checkpoints.
const CHECKPOINT_PAGES: u32 = 4_000;
/// Events that are filed in one transaction when the index is made anew.
const REBUILT_EVENTS: i64 = 20_000;

/// Contentless and without positions: it can say which rows hold a token, in row-id order, and nothing else. The row id is
/// the position of an event. `hashsize`: how many bytes of new entries are kept in memory before they become a segment;
/// `automerge`: how many segments become one of the next level.
const TABLES: &str = "\
    DROP TABLE IF EXISTS event_index; \
    DROP TABLE IF EXISTS indexed; \
    CREATE VIRTUAL TABLE event_index USING fts5 ( \
        tokens, content = '', detail = none, columnsize = 0, tokenize = \"ascii tokenchars '_'\" \
    ); \
    INSERT INTO event_index (event_index, rank) VALUES ('hashsize', 4194304), ('automerge', 8); \
    CREATE TABLE indexed (id INTEGER PRIMARY KEY CHECK (id = 1), last_commit BIGINT NOT NULL)";

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
    open_sqlite(&path, CACHE_KIB, CHECKPOINT_PAGES)
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

/// Files all events anew, in the order of their positions.
fn rebuild(index: &mut SqliteConnection, database: &mut SqliteConnection) -> Result<()> {
    // What is there may be of any version, or broken off in the middle: that it is complete is written last.
    index.batch_execute(&format!("BEGIN; PRAGMA user_version = 0; {TABLES}; COMMIT"))?;
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
            for (position, entry) in &places {
                insert(index, *position, &tokens_of(database, *entry)?)?;
            }
            Ok::<_, StoreError>(())
        })?;
        filed += places.len();
        log::info!("making the index of events anew: {filed} so far");
    }
    index.immediate_transaction(|index| {
        diesel::insert_into(indexed::table)
            .values((indexed::id.eq(1), indexed::last_commit.eq(last_left.unwrap_or(0))))
            .execute(index)?;
        index.batch_execute(&format!("PRAGMA user_version = {VERSION}"))?;
        Ok(())
    })
}

fn insert(index: &mut SqliteConnection, position: i64, tokens: &str) -> Result<()> {
    diesel::insert_into(event_index::table)
        .values((event_index::rowid.eq(position), event_index::tokens.eq(tokens)))
        .execute(index)?;
    Ok(())
}

/// What a stored event is filed under. One that is no event any more, because somebody changed it, is filed under its
/// ledger alone: who stores events now is not to be kept from it, and whoever verifies the log is told.
fn tokens_of(connection: &mut SqliteConnection, entry: i64) -> Result<Cow<'static, str>> {
    let (ledger_id, seq) = ledger_and_seq(entry);
    let hash = key_hash(connection, ledger_id, seq)?;
    let hash = hash.as_ref().map(|hash| hash.as_slice());
    let identity = || Cow::Owned(identity_tokens(ledger_id.0, hash));
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
        Ok(facets) => Ok(Cow::Owned(Tokens::of(ledger_id.0, &facets, hash).text())),
        Err(error) => {
            log::error!("an event that was to be indexed is damaged: {error}");
            Ok(identity())
        }
    }
}
