//! Applies pending migrations, and refuses a database of a later release.

mod by_statement;
mod described;
mod pending;

pub use described::MigrationWork;
pub use pending::{PendingMigration, SchemaComparison, compare_schema};

use crate::error::{Result, StoreError};
use by_statement::ByStatement;
use diesel::connection::SimpleConnection;
use diesel::migration::MigrationSource;
use diesel::sql_types::Text;
use diesel::sqlite::Sqlite;
use diesel::{PgConnection, QueryableByName, RunQueryDsl, SqliteConnection, sql_query};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use std::collections::BTreeSet;

const SQLITE: EmbeddedMigrations = embed_migrations!("../../migrations/sqlite");
const POSTGRES: EmbeddedMigrations = embed_migrations!("../../migrations/postgres");

/// The advisory lock under which nodes that start concurrently migrate one after another.
const POSTGRES_LOCK: i64 = 0x6175_6469_745f_6d69;

/// Runs the missing migrations on SQLite. An exclusive transaction is the guard; diesel's own transactions become
/// savepoints within it. Where none is missing, nothing is locked: beside a server that writes all the time another process
/// might wait for the lock for long.
pub(crate) fn sqlite(connection: &mut SqliteConnection) -> Result<()> {
    if let Some(applied) = applied_on_sqlite(connection)
        && is_current(&applied)?
    {
        return Ok(());
    }
    connection
        .exclusive_transaction(|connection| {
            run(connection, SQLITE).map_err(|error| TransactionError::Store(Box::new(error)))
        })
        .map_err(TransactionError::into_store)
}

/// Fails unless the database on SQLite has the schema of this version, or may have an earlier one and has. Changes nothing.
pub(crate) fn check_sqlite(connection: &mut SqliteConnection, may_be_earlier: bool) -> Result<()> {
    let refused = |what: &str| StoreError::Migration(what.to_owned());
    let applied =
        applied_on_sqlite(connection).ok_or_else(|| refused("it is not a database of this program"))?;
    match is_current(&applied)? || may_be_earlier {
        true => Ok(()),
        false => Err(refused(
            "a start of this version of the server has to migrate it first",
        )),
    }
}

/// The versions of the migrations of a database on SQLite, if it has a table of them that can be read.
fn applied_on_sqlite(connection: &mut SqliteConnection) -> Option<BTreeSet<String>> {
    let applied = sql_query("SELECT version FROM __diesel_schema_migrations").load::<Applied>(connection);
    let version = |applied: Applied| applied.version;
    Some(applied.ok()?.into_iter().map(version).collect())
}

/// Whether a database on SQLite with these migrations has all of this version. Fails if it has later ones.
fn is_current(applied: &BTreeSet<String>) -> Result<bool> {
    let failed = |error: Box<dyn std::error::Error + Send + Sync>| StoreError::Migration(error.to_string());
    let known = MigrationSource::<Sqlite>::migrations(&SQLITE).map_err(failed)?;
    let known: BTreeSet<String> = known.iter().map(|one| one.name().version().to_string()).collect();
    match applied.difference(&known).next() {
        Some(newer) => Err(StoreError::NewerSchema(newer.clone())),
        None => Ok(known.is_subset(applied)),
    }
}

#[derive(QueryableByName)]
struct Applied {
    #[diesel(sql_type = Text)]
    version: String,
}

/// Runs the missing migrations on PostgreSQL, under an advisory lock. Creates the schema of the session if it does not
/// exist.
pub(crate) fn postgres(connection: &mut PgConnection, schema: Option<&str>) -> Result<()> {
    connection.batch_execute(&format!("SELECT pg_advisory_lock({POSTGRES_LOCK})"))?;
    let outcome = match schema {
        Some(schema) => create_schema(connection, schema).and_then(|()| run(connection, ByStatement)),
        None => run(connection, ByStatement),
    };
    connection.batch_execute(&format!("SELECT pg_advisory_unlock({POSTGRES_LOCK})"))?;
    outcome
}

/// `CREATE SCHEMA IF NOT EXISTS` needs the privilege to create one even if it exists.
fn create_schema(connection: &mut PgConnection, schema: &str) -> Result<()> {
    Ok(connection.batch_execute(&format!(
        "DO $$ BEGIN IF to_regnamespace('{schema}') IS NULL THEN CREATE SCHEMA {schema}; END IF; END $$"
    ))?)
}

enum TransactionError {
    Store(Box<StoreError>),
    Diesel(diesel::result::Error),
}

impl From<diesel::result::Error> for TransactionError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Diesel(error)
    }
}

impl TransactionError {
    fn into_store(self) -> StoreError {
        match self {
            Self::Store(error) => *error,
            Self::Diesel(error) => error.into(),
        }
    }
}

fn run<DB: diesel::backend::Backend>(
    connection: &mut impl MigrationHarness<DB>,
    source: impl MigrationSource<DB>,
) -> Result<()> {
    let failed = |error: Box<dyn std::error::Error + Send + Sync>| StoreError::Migration(error.to_string());
    let known: BTreeSet<String> = source
        .migrations()
        .map_err(failed)?
        .iter()
        .map(|migration| migration.name().version().to_string())
        .collect();
    let applied = connection.applied_migrations().map_err(failed)?;
    if let Some(newer) = applied
        .iter()
        .map(ToString::to_string)
        .find(|version| !known.contains(version))
    {
        return Err(StoreError::NewerSchema(newer));
    }
    connection
        .run_pending_migrations(source)
        .map(|_| ())
        .map_err(failed)
}
