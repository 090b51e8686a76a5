//! The state of the database: its size, its indexing backlog, and the settings that the service depends on.

use crate::access::Reader;
use crate::database::on_database;
use crate::error::Result;
use crate::schema::ledgers;
use audit_domain::Timestamp;
use diesel::dsl::max;
use diesel::prelude::*;

/// Size and indexing backlog of a database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StorageStatus {
    /// Size of the database: on SQLite the file, on PostgreSQL the database with all its tables and indexes.
    pub database_bytes: i64,
    /// Size of the write-ahead log; `None` on PostgreSQL without the right to see it (`pg_monitor`).
    pub wal_bytes: Option<i64>,
    /// Size of the file of the index; `None` on PostgreSQL, where it is in the database.
    pub index_bytes: Option<i64>,
    /// Stored events that are in no segment of the index yet, of all nodes.
    pub backlog_events: i64,
    /// When the oldest of them was received.
    pub backlog_since: Option<Timestamp>,
}

/// What the service depends on in a database and its server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseSettings {
    /// When the newest event of all ledgers was received.
    pub newest_event_at: Option<Timestamp>,
    /// The settings of the kind of database.
    pub kind: KindSettings,
}

/// [`DatabaseSettings`] of one kind of database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KindSettings {
    /// SQLite.
    Sqlite {
        /// `wal`, unless somebody changed it.
        journal_mode: String,
        /// Whether the file gets smaller when events are removed. One of an early version does not.
        gives_space_back: bool,
    },
    /// PostgreSQL.
    Postgres(Box<PostgresSettings>),
}

/// The settings of a PostgreSQL server, as the role of the service sees them.
#[derive(Clone, Debug, Default, PartialEq, Eq, QueryableByName)]
#[expect(missing_docs, reason = "the fields are PostgreSQL's settings")]
pub struct PostgresSettings {
    /// The clock of the server, in microseconds since 1970.
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    pub clock_micros: i64,
    /// Such as 150006 for 15.6.
    #[diesel(sql_type = diesel::sql_types::Integer)]
    pub server_version_num: i32,
    #[diesel(sql_type = diesel::sql_types::Text)]
    pub server_version: String,
    /// Connections for roles without special rights.
    #[diesel(sql_type = diesel::sql_types::Integer)]
    pub connections_max: i32,
    #[diesel(sql_type = diesel::sql_types::Text)]
    pub fsync: String,
    #[diesel(sql_type = diesel::sql_types::Text)]
    pub full_page_writes: String,
    #[diesel(sql_type = diesel::sql_types::Text)]
    pub synchronous_commit: String,
    #[diesel(sql_type = diesel::sql_types::Text)]
    pub autovacuum: String,
    #[diesel(sql_type = diesel::sql_types::Text)]
    pub archive_mode: String,
    /// Whether the last attempt to archive a segment of the write-ahead log failed.
    #[diesel(sql_type = diesel::sql_types::Bool)]
    pub archiving_fails: bool,
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    pub max_wal_bytes: i64,
    #[diesel(sql_type = diesel::sql_types::Bool)]
    pub is_standby: bool,
    /// Whether the role of the service is a superuser.
    #[diesel(sql_type = diesel::sql_types::Bool)]
    pub is_superuser: bool,
    /// Whether the connection crosses a network, and is not encrypted.
    #[diesel(sql_type = diesel::sql_types::Bool)]
    pub is_plain: bool,
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be queried"
)]
impl Reader<'_> {
    /// Size and indexing backlog. Takes milliseconds, so it is not for every request.
    pub fn storage_status(&mut self) -> Result<StorageStatus> {
        on_database!(self.session(), status::storage())
    }

    /// What the service depends on in the database. Reads the row of every ledger.
    pub fn database_settings(&mut self) -> Result<DatabaseSettings> {
        Ok(DatabaseSettings {
            newest_event_at: self.newest_receipt()?,
            kind: on_database!(self.session(), status::settings())?,
        })
    }

    /// When the newest event of all ledgers was received. Reads the row of every ledger.
    pub fn newest_receipt(&mut self) -> Result<Option<Timestamp>> {
        let newest: Option<i64> = ledgers::table
            .select(max(ledgers::last_received_at))
            .get_result(self.session())?;
        Ok(newest.map(Timestamp::from_micros))
    }
}
