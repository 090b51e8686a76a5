//! The state of a SQLite database.

use super::SqliteSession;
use super::index::backlog::Run;
use super::schema::{event_backlog, events};
use crate::columns::read_id;
use crate::error::Result;
use crate::status::{KindSettings, StorageStatus};
use audit_domain::Timestamp;
use diesel::prelude::*;
use diesel::sql_types::Text;
use diesel::sqlite::SqliteConnection;
use std::path::{Path, PathBuf};

#[derive(QueryableByName)]
struct TextRow {
    #[diesel(sql_type = Text)]
    text: String,
}

fn text(connection: &mut SqliteConnection, query: &str) -> Result<String> {
    let row: TextRow = diesel::sql_query(query).get_result(connection)?;
    Ok(row.text)
}

pub(crate) fn storage(session: &mut SqliteSession) -> Result<StorageStatus> {
    let connection = &mut session.connection;
    let file = text(
        connection,
        "SELECT file AS text FROM pragma_database_list WHERE name = 'main'",
    )?;
    let database = PathBuf::from(file);
    let index = super::index::file::path(&database);
    let (backlog_events, backlog_since) = backlog(connection)?;
    Ok(StorageStatus {
        database_bytes: bytes_of(&database),
        wal_bytes: Some(bytes_of(&with_end(&database, "-wal")) + bytes_of(&with_end(&index, "-wal"))),
        index_bytes: Some(bytes_of(&index)),
        backlog_events,
        backlog_since,
    })
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// The size of a file; 0 if there is none, such as the log of a database that is not open.
fn bytes_of(file: &Path) -> i64 {
    let bytes = std::fs::metadata(file).map_or(0, |metadata| metadata.len());
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// The number of events that are not indexed, and when the first of them was received. The first row of the table is the last
/// commit that is indexed.
fn backlog(connection: &mut SqliteConnection) -> Result<(i64, Option<Timestamp>)> {
    let rows: Vec<Vec<u8>> = event_backlog::table
        .order(event_backlog::id)
        .offset(1)
        .limit(i64::MAX)
        .select(event_backlog::runs)
        .load(connection)?;
    let mut runs = rows.iter().flat_map(|runs| Run::all(runs));
    let Some(first) = runs.next() else {
        return Ok((0, None));
    };
    let id: Option<Vec<u8>> = events::table
        .find(first.start)
        .select(events::id)
        .get_result(connection)
        .optional()?;
    let rest: i64 = runs.map(|entries| entries.end - entries.start).sum();
    let since = id.map(read_id).transpose()?.map(|id| id.time());
    Ok((first.end - first.start + rest, since))
}

pub(crate) fn settings(session: &mut SqliteSession) -> Result<KindSettings> {
    /// `auto_vacuum = INCREMENTAL`.
    const INCREMENTAL: &str = "2";
    let journal_mode = "SELECT journal_mode AS text FROM pragma_journal_mode";
    let auto_vacuum = "SELECT CAST(auto_vacuum AS TEXT) AS text FROM pragma_auto_vacuum";
    Ok(KindSettings::Sqlite {
        journal_mode: text(&mut session.connection, journal_mode)?,
        gives_space_back: text(&mut session.connection, auto_vacuum)? == INCREMENTAL,
    })
}
