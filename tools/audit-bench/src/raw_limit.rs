//! What ingest is compared with: the rows of this run inserted into a table without secondary indexes, the upper limit, and into the table
//! that an application would have without this service, with an index for each filter.

use crate::generator::HttpClient;
use crate::service::Database;
use crate::service::database::{DatabaseKind, open_sqlite, sqlite_bytes};
use anyhow::{Context, bail};
use diesel::ExecuteCopyFromDsl;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::Path;
use std::time::{Duration, Instant};

/// The measured transaction sizes.
pub(crate) const TRANSACTION_ROWS: &[usize] = &[100, 1_000];
/// A single connection does not saturate PostgreSQL.
const POSTGRES_CONNECTIONS: usize = 4;
/// Distinct rows, inserted repeatedly.
const ROWS: usize = 10_000;
const PAGE_EVENTS: usize = 200;

/// The settings of the service's writer: sync at every commit, pages of 8 KiB, a WAL checkpoint every 40 MiB.
const SQLITE_SETTINGS: &str =
    "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -65536;
    PRAGMA wal_autocheckpoint = 5120; PRAGMA temp_store = MEMORY;";
const SQLITE_TABLE: &str = "CREATE TABLE raw_events (position INTEGER PRIMARY KEY, ledger_id BIGINT NOT NULL,
    seq BIGINT NOT NULL, id BLOB NOT NULL, content_hash BLOB NOT NULL, content_salt BLOB NOT NULL, sent_digest BLOB, redacted BOOLEAN NOT NULL,
    body TEXT NOT NULL)";
const POSTGRES_TABLE: &str = "CREATE TABLE raw_events (position BIGINT NOT NULL, ledger_id BIGINT NOT NULL,
    seq BIGINT NOT NULL, id BYTEA NOT NULL, content_hash BYTEA NOT NULL, content_salt BYTEA NOT NULL, sent_digest BYTEA, redacted BOOLEAN NOT NULL,
    body TEXT NOT NULL)";

/// The fields that an event is found by, and where a response has them: of an own table each is a column with an index.
const FILTERS: &[(&str, &str)] = &[
    ("occurred_at", "/occurred_at"),
    ("tenant_id", "/tenant_id"),
    ("actor_id", "/actor/id"),
    ("actor_type", "/actor/type"),
    ("action", "/action"),
    ("category", "/category"),
    ("target_id", "/target/id"),
    ("target_type", "/target/type"),
    ("ip_address", "/context/ip_address"),
    ("session_id", "/context/session_id"),
    ("outcome", "/outcome"),
];

diesel::table! {
    own_events (position) {
        position -> BigInt,
        id -> Binary,
        body -> Text,
        occurred_at -> Nullable<Text>,
        tenant_id -> Nullable<Text>,
        actor_id -> Nullable<Text>,
        actor_type -> Nullable<Text>,
        action -> Nullable<Text>,
        category -> Nullable<Text>,
        target_id -> Nullable<Text>,
        target_type -> Nullable<Text>,
        ip_address -> Nullable<Text>,
        session_id -> Nullable<Text>,
        outcome -> Nullable<Text>,
    }
}

diesel::table! {
    raw_events (position) {
        position -> BigInt,
        ledger_id -> BigInt,
        seq -> BigInt,
        id -> Binary,
        content_hash -> Binary,
        content_salt -> Binary,
        sent_digest -> Binary,
        redacted -> Bool,
        body -> Text,
    }
}

/// The columns that the service stores of an event.
#[derive(Debug)]
pub(crate) struct StoredEvent {
    id: Vec<u8>,
    content_hash: Vec<u8>,
    redacted: bool,
    body: String,
    /// The values of [`FILTERS`].
    filters: [Option<String>; FILTERS.len()],
}

#[derive(Insertable)]
#[diesel(table_name = own_events, treat_none_as_default_value = false)]
struct OwnRow<'a> {
    position: i64,
    id: &'a [u8],
    body: &'a str,
    occurred_at: Option<&'a str>,
    tenant_id: Option<&'a str>,
    actor_id: Option<&'a str>,
    actor_type: Option<&'a str>,
    action: Option<&'a str>,
    category: Option<&'a str>,
    target_id: Option<&'a str>,
    target_type: Option<&'a str>,
    ip_address: Option<&'a str>,
    session_id: Option<&'a str>,
    outcome: Option<&'a str>,
}

#[derive(Insertable)]
#[diesel(table_name = raw_events, treat_none_as_default_value = false)]
struct RawRow<'a> {
    position: i64,
    ledger_id: i64,
    seq: i64,
    id: &'a [u8],
    content_hash: &'a [u8],
    content_salt: &'a [u8],
    sent_digest: &'a [u8],
    redacted: bool,
    body: &'a str,
}

/// The table that rows are inserted into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Layout {
    /// What the service stores of an event, without an index.
    Raw,
    /// What an application would store: no hash, and an index for each filter.
    Own,
}

impl Layout {
    const ALL: [Self; 2] = [Self::Raw, Self::Own];

    /// What the tables of results call it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw inserts",
            Self::Own => "a table with an index for each filter",
        }
    }

    const fn table(self) -> &'static str {
        match self {
            Self::Raw => "raw_events",
            Self::Own => "own_events",
        }
    }

    /// The statements that create the table.
    fn definition(self, kind: DatabaseKind) -> String {
        match (self, kind) {
            (Self::Raw, DatabaseKind::Sqlite) => SQLITE_TABLE.to_owned(),
            (Self::Raw, DatabaseKind::Postgres) => POSTGRES_TABLE.to_owned(),
            (Self::Own, kind) => {
                let (position, bytes) = match kind {
                    DatabaseKind::Sqlite => ("INTEGER PRIMARY KEY", "BLOB"),
                    // The connections of `COPY` number their rows alike.
                    DatabaseKind::Postgres => ("BIGINT NOT NULL", "BYTEA"),
                };
                let columns: String = FILTERS.iter().map(|(name, _)| format!(", {name} TEXT")).collect();
                let index = |(name, _): &(&str, &str)| {
                    format!("; CREATE INDEX own_by_{name} ON own_events ({name}, position)")
                };
                let indexes: String = FILTERS.iter().map(index).collect();
                format!(
                    "CREATE TABLE own_events (position {position}, id {bytes} NOT NULL, body TEXT NOT NULL{columns})\
                     {indexes}"
                )
            }
        }
    }
}

/// The insert rate of one transaction size.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct RawRate {
    pub(crate) layout: Layout,
    pub(crate) transaction_rows: usize,
    pub(crate) connections: usize,
    pub(crate) rows_per_second: f64,
    pub(crate) bytes_per_row: f64,
}

/// Reads events as stored by the service, redacted and in canonical form.
pub(crate) fn read_stored(client: &mut HttpClient) -> anyhow::Result<Vec<StoredEvent>> {
    #[derive(Deserialize)]
    struct Page {
        events: Vec<Map<String, Value>>,
        cursor: Option<String>,
    }
    let first = format!("/api/v1/events?limit={PAGE_EVENTS}");
    let (mut target, mut stored) = (first.clone(), Vec::with_capacity(ROWS));
    while stored.len() < ROWS {
        let (body, _) = client.get(&target)?;
        let page: Page = serde_json::from_slice(body).context("malformed page of events")?;
        for event in page.events {
            stored.push(stored_event(event)?);
        }
        let Some(cursor) = page.cursor else { break };
        target = format!("{first}&cursor={cursor}");
    }
    Ok(stored)
}

/// A response adds `content_hash`, `content_salt` and `redacted` to the stored text.
fn stored_event(mut event: Map<String, Value>) -> anyhow::Result<StoredEvent> {
    let hash = event
        .remove("content_hash")
        .context("an event has no content_hash")?;
    event.remove("content_salt");
    let redacted = event.remove("redacted").and_then(|value| value.as_bool());
    let id = event
        .get("id")
        .and_then(|id| id.as_str())
        .context("an event has no id")?;
    // The service stores 16 bytes of an id; which ones does not affect the rate.
    let id = id.bytes().rev().take(16).collect();
    let hash = hash.as_str().unwrap_or_default();
    let text = Value::Object(event);
    let filter = |(_, pointer): &(&str, &str)| text.pointer(pointer)?.as_str().map(str::to_owned);
    let filters = std::array::from_fn(|index| filter(&FILTERS[index]));
    let digits = hash.rsplit(':').next().unwrap_or_default().as_bytes().chunks(2);
    let bytes = digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap_or_default(), 16));
    Ok(StoredEvent {
        id,
        content_hash: bytes
            .collect::<Result<_, _>>()
            .context("a content_hash is not hexadecimal")?,
        redacted: redacted.unwrap_or_default(),
        body: text.to_string(),
        filters,
    })
}

impl StoredEvent {
    fn row(&self, position: i64) -> RawRow<'_> {
        RawRow {
            position,
            ledger_id: 1,
            seq: position,
            id: &self.id,
            content_hash: &self.content_hash,
            // Stands in for the salt, which has as many bytes as the id.
            content_salt: &self.id,
            // Stands in for the digest and the code of the row, which have as many bytes together.
            sent_digest: &self.content_hash,
            redacted: self.redacted,
            body: &self.body,
        }
    }

    fn own_row(&self, position: i64) -> OwnRow<'_> {
        let [
            occurred_at,
            tenant_id,
            actor_id,
            actor_type,
            action,
            category,
            target_id,
            target_type,
            ip_address,
            session_id,
            outcome,
        ] = self.filters.each_ref().map(Option::as_deref);
        OwnRow {
            position,
            id: &self.id,
            body: &self.body,
            occurred_at,
            tenant_id,
            actor_id,
            actor_type,
            action,
            category,
            target_id,
            target_type,
            ip_address,
            session_id,
            outcome,
        }
    }
}

/// `count` events from `position` on, each with its position.
fn events(stored: &[StoredEvent], position: i64, count: usize) -> impl Iterator<Item = (i64, &StoredEvent)> {
    let start = usize::try_from(position).unwrap_or_default();
    (start..start + count).map(|index| (index as i64, &stored[index % stored.len()]))
}

/// Measures each transaction size for `time`: on SQLite in a separate file in `folder`, on PostgreSQL in a table of
/// `database`.
pub(crate) fn measure(
    database: &Database,
    folder: &Path,
    stored: &[StoredEvent],
    time: Duration,
) -> anyhow::Result<Vec<RawRate>> {
    if stored.is_empty() {
        bail!("there are no events to insert");
    }
    let mut rates = Vec::new();
    for layout in Layout::ALL {
        for rows in TRANSACTION_ROWS {
            rates.push(match database.kind() {
                DatabaseKind::Sqlite => measure_sqlite(folder, layout, stored, *rows, time)?,
                DatabaseKind::Postgres => measure_postgres(database.url(), layout, stored, *rows, time)?,
            });
        }
    }
    Ok(rates)
}

/// One connection, because SQLite allows one writer, and a cached prepared statement.
fn measure_sqlite(
    folder: &Path,
    layout: Layout,
    stored: &[StoredEvent],
    transaction_rows: usize,
    time: Duration,
) -> anyhow::Result<RawRate> {
    let path = folder.join(format!("{}-{transaction_rows}.db", layout.table()));
    let mut connection = open_sqlite(&path)?;
    connection.batch_execute(SQLITE_SETTINGS)?;
    connection.batch_execute(&layout.definition(DatabaseKind::Sqlite))?;
    let mut position = 0;
    let began = Instant::now();
    while began.elapsed() < time {
        connection.immediate_transaction(|connection| {
            for (position, event) in events(stored, position, transaction_rows) {
                match layout {
                    Layout::Raw => diesel::insert_into(raw_events::table)
                        .values(event.row(position))
                        .execute(connection)?,
                    Layout::Own => diesel::insert_into(own_events::table)
                        .values(event.own_row(position))
                        .execute(connection)?,
                };
            }
            diesel::QueryResult::Ok(())
        })?;
        position += transaction_rows as i64;
    }
    let seconds = began.elapsed().as_secs_f64();
    drop(connection);
    let bytes = sqlite_bytes(&path)?;
    std::fs::remove_file(&path)?;
    Ok(RawRate {
        layout,
        transaction_rows,
        connections: 1,
        rows_per_second: position as f64 / seconds,
        bytes_per_row: bytes as f64 / position as f64,
    })
}

#[derive(QueryableByName)]
struct Size {
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    bytes: i64,
}

/// `COPY` over concurrent connections.
fn measure_postgres(
    url: &str,
    layout: Layout,
    stored: &[StoredEvent],
    transaction_rows: usize,
    time: Duration,
) -> anyhow::Result<RawRate> {
    let mut connection = PgConnection::establish(url)?;
    let table = layout.table();
    connection.batch_execute(&format!("DROP TABLE IF EXISTS {table}"))?;
    connection.batch_execute(&layout.definition(DatabaseKind::Postgres))?;
    let began = Instant::now();
    let copy = || -> anyhow::Result<usize> {
        let mut connection = PgConnection::establish(url)?;
        let mut written = 0;
        while began.elapsed() < time {
            let events = events(stored, written as i64, transaction_rows);
            match layout {
                Layout::Raw => {
                    let rows: Vec<_> = events.map(|(position, event)| event.row(position)).collect();
                    diesel::copy_from(raw_events::table)
                        .from_insertable(&rows)
                        .execute(&mut connection)?
                }
                Layout::Own => {
                    let rows: Vec<_> = events.map(|(position, event)| event.own_row(position)).collect();
                    diesel::copy_from(own_events::table)
                        .from_insertable(&rows)
                        .execute(&mut connection)?
                }
            };
            written += transaction_rows;
        }
        Ok(written)
    };
    let written = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..POSTGRES_CONNECTIONS).map(|_| scope.spawn(copy)).collect();
        let joined = threads.into_iter().map(std::thread::ScopedJoinHandle::join);
        let counts = joined.map(|count| count.unwrap_or_else(|_| bail!("an inserting thread panicked")));
        counts.sum::<anyhow::Result<usize>>()
    })?;
    let seconds = began.elapsed().as_secs_f64();
    let size = diesel::sql_query(format!("SELECT pg_total_relation_size('{table}') AS bytes"));
    let sizes: Vec<Size> = size.load(&mut connection)?;
    // Otherwise the next measurement includes the checkpoint of these rows.
    connection.batch_execute(&format!("DROP TABLE {table}"))?;
    connection.batch_execute("CHECKPOINT")?;
    Ok(RawRate {
        layout,
        transaction_rows,
        connections: POSTGRES_CONNECTIONS,
        rows_per_second: written as f64 / seconds,
        bytes_per_row: sizes.first().map_or(0, |size| size.bytes) as f64 / written.max(1) as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored() -> StoredEvent {
        let text = r#"{"content_hash":"sha256:00ff10","redacted":true,"action":"a.b","id":"evt_01M7Y455JZBGQAZY8DYSMCQVZN"}"#;
        stored_event(serde_json::from_str(text).unwrap()).unwrap()
    }

    #[test]
    fn the_stored_text_lacks_the_fields_of_a_response() {
        let event = stored();
        assert_eq!(
            event.body,
            r#"{"action":"a.b","id":"evt_01M7Y455JZBGQAZY8DYSMCQVZN"}"#
        );
        assert_eq!((event.content_hash, event.id.len()), (vec![0, 255, 16], 16));
        assert!(event.redacted);
    }

    #[test]
    fn rows_are_inserted_into_sqlite() {
        let folder = tempfile::tempdir().unwrap();
        let time = Duration::from_millis(1);
        let database = Database::sqlite(folder.path());
        let rates = measure(&database, folder.path(), &[stored()], time).unwrap();
        assert_eq!(rates.len(), Layout::ALL.len() * TRANSACTION_ROWS.len());
        for rate in rates {
            assert!(rate.rows_per_second > 0.0 && rate.bytes_per_row > 0.0, "{rate:?}");
        }
    }
}
