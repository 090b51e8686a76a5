//! Compares the schema of a database with that of this program, and changes nothing.

use super::described::{self, Description, MigrationWork};
use super::{POSTGRES, SQLITE};
use crate::database::{Database, DatabaseUrl, on_either};
use crate::error::{Result, StoreError};
use diesel::backend::Backend;
use diesel::migration::MigrationSource;
use diesel::sql_types::{BigInt, Bool, Text};
use diesel::{Connection, PgConnection, QueryableByName, RunQueryDsl, SqliteConnection, sql_query};
use diesel_migrations::EmbeddedMigrations;
use std::collections::BTreeSet;

/// The schema of a database, compared with that of this program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaComparison {
    /// The latest migration of the database, by its version; none if it is empty.
    pub version: Option<String>,
    /// The migrations that a start of this program applies, in this order.
    pub pending: Vec<PendingMigration>,
    /// The migrations of the database that this program does not know: a later release applied them.
    pub newer: Vec<String>,
    /// The size of the database, in bytes.
    pub bytes: u64,
}

/// A migration that a start of this program applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingMigration {
    /// Its name.
    pub name: &'static str,
    /// What it does, in one sentence without a full stop.
    pub summary: &'static str,
    /// What its time depends on.
    pub work: MigrationWork,
    /// The size of what it reads or writes, in bytes.
    pub bytes: u64,
}

/// Compares the schema of an existing database with that of this program. Changes nothing, and waits for no writer.
///
/// # Errors
/// [`StoreError::Unreachable`] when there is no database to open, and when it cannot be read.
pub fn compare_schema(url: &DatabaseUrl) -> Result<SchemaComparison> {
    let mut session = Database::existing(url)?.open_inspector()?;
    on_either!(&mut session, session => compare(&mut session.connection))
}

/// What is read of a database.
trait Inspected: Connection {
    /// The migrations of this program.
    const MIGRATIONS: EmbeddedMigrations;

    /// The versions of its migrations; none if it has no table of them.
    fn applied(&mut self) -> Result<BTreeSet<String>>;
    fn bytes(&mut self) -> Result<u64>;
    /// The size of a table with its indexes.
    fn bytes_of(&mut self, table: &str) -> Result<u64>;
    fn work(description: &Description) -> MigrationWork;
}

fn compare<DB: Backend, C: Inspected<Backend = DB>>(connection: &mut C) -> Result<SchemaComparison>
where
    EmbeddedMigrations: MigrationSource<DB>,
{
    let known = known::<DB>(&C::MIGRATIONS)?;
    let applied = connection.applied()?;
    let mut pending = Vec::new();
    for (version, description) in known.iter().filter(|(version, _)| !applied.contains(version)) {
        log::debug!("migration {version} is not applied");
        pending.push(pending_of(connection, description)?);
    }
    let is_known = |version: &String| known.iter().any(|(known, _)| known == version);
    Ok(SchemaComparison {
        version: applied.last().cloned(),
        pending,
        newer: applied
            .iter()
            .filter(|version| !is_known(version))
            .cloned()
            .collect(),
        bytes: connection.bytes()?,
    })
}

fn pending_of(connection: &mut impl Inspected, description: &Description) -> Result<PendingMigration> {
    let work = work_of(connection, description);
    let mut bytes = 0;
    for table in work.tables() {
        bytes += connection.bytes_of(table)?;
    }
    Ok(PendingMigration {
        name: description.name,
        summary: description.summary,
        work,
        bytes,
    })
}

fn work_of<C: Inspected>(_: &C, description: &Description) -> MigrationWork {
    C::work(description)
}

/// The versions of the migrations of this program, with their descriptions, oldest first.
fn known<DB: Backend>(source: &EmbeddedMigrations) -> Result<Vec<(String, &'static Description)>>
where
    EmbeddedMigrations: MigrationSource<DB>,
{
    let migrations = MigrationSource::<DB>::migrations(source)
        .map_err(|error| StoreError::Migration(error.to_string()))?;
    let described = migrations.iter().map(|migration| {
        let name = migration.name().to_string();
        let description = described::ALL.iter().find(|one| one.name == name);
        let missing = || StoreError::Migration(format!("{name} has no description"));
        Ok((
            migration.name().version().to_string(),
            description.ok_or_else(missing)?,
        ))
    });
    let mut known = described.collect::<Result<Vec<_>>>()?;
    known.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(known)
}

#[derive(QueryableByName)]
struct Version {
    #[diesel(sql_type = Text)]
    version: String,
}

#[derive(QueryableByName)]
struct Size {
    #[diesel(sql_type = BigInt)]
    bytes: i64,
}

#[derive(QueryableByName)]
struct Found {
    #[diesel(sql_type = Bool)]
    found: bool,
}

const VERSIONS: &str = "SELECT version FROM __diesel_schema_migrations";

fn versions(rows: Vec<Version>) -> BTreeSet<String> {
    rows.into_iter().map(|row| row.version).collect()
}

impl Inspected for SqliteConnection {
    const MIGRATIONS: EmbeddedMigrations = SQLITE;

    fn applied(&mut self) -> Result<BTreeSet<String>> {
        let table =
            "SELECT count(*) > 0 AS found FROM sqlite_schema WHERE name = '__diesel_schema_migrations'";
        let Found { found } = sql_query(table).get_result(self)?;
        match found {
            true => Ok(versions(sql_query(VERSIONS).load(self)?)),
            false => Ok(BTreeSet::new()),
        }
    }

    fn bytes(&mut self) -> Result<u64> {
        let size = "SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()";
        let Size { bytes } = sql_query(size).get_result(self)?;
        Ok(bytes.unsigned_abs())
    }

    /// SQLite does not know the sizes of its tables without reading them: that of the database is the bound.
    fn bytes_of(&mut self, _: &str) -> Result<u64> {
        self.bytes()
    }

    fn work(description: &Description) -> MigrationWork {
        description.on_sqlite
    }
}

impl Inspected for PgConnection {
    const MIGRATIONS: EmbeddedMigrations = POSTGRES;

    fn applied(&mut self) -> Result<BTreeSet<String>> {
        let table = "SELECT to_regclass('__diesel_schema_migrations') IS NOT NULL AS found";
        let Found { found } = sql_query(table).get_result(self)?;
        match found {
            true => Ok(versions(sql_query(VERSIONS).load(self)?)),
            false => Ok(BTreeSet::new()),
        }
    }

    fn bytes(&mut self) -> Result<u64> {
        let size = "SELECT pg_database_size(current_database()) AS bytes";
        let Size { bytes } = sql_query(size).get_result(self)?;
        Ok(bytes.unsigned_abs())
    }

    /// With its partitions. 0 if there is no such table yet.
    fn bytes_of(&mut self, table: &str) -> Result<u64> {
        let size = "SELECT coalesce((SELECT sum(pg_total_relation_size(relid))::bigint FROM pg_partition_tree(to_regclass($1))), \
                    pg_total_relation_size(to_regclass($1)), 0) AS bytes";
        let Size { bytes } = sql_query(size).bind::<Text, _>(table).get_result(self)?;
        Ok(bytes.unsigned_abs())
    }

    fn work(description: &Description) -> MigrationWork {
        description.on_postgres
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use diesel::pg::Pg;
    use diesel::sqlite::Sqlite;

    #[test]
    fn every_migration_of_both_databases_is_described_and_no_other() {
        let names = |known: Vec<(String, &Description)>| -> Vec<&str> {
            known
                .into_iter()
                .map(|(_, description)| description.name)
                .collect()
        };
        let described: Vec<_> = described::ALL.iter().map(|one| one.name).collect();
        assert_eq!(names(known::<Sqlite>(&SQLITE).unwrap()), described);
        assert_eq!(names(known::<Pg>(&POSTGRES).unwrap()), described);
    }

    #[test]
    fn a_described_migration_names_tables_of_its_database() {
        let mut connection = SqliteConnection::establish(":memory:").unwrap();
        crate::migrate::sqlite(&mut connection).unwrap();
        for table in described::ALL.iter().flat_map(|one| one.on_sqlite.tables()) {
            let rows = sql_query(format!("SELECT count(*) AS bytes FROM {table}"));
            rows.get_result::<Size>(&mut connection).unwrap();
        }
    }

    #[test]
    fn time_follows_the_size_unless_it_is_constant() {
        assert_eq!(MigrationWork::Constant.seconds(u64::MAX), 0.0);
        let gibibyte = 1024 * 1024 * 1024;
        for work in [
            MigrationWork::Reads(&["events"]),
            MigrationWork::Rewrites(&["events"]),
        ] {
            assert_eq!(work.seconds(0), 0.0);
            assert_eq!(work.seconds(2 * gibibyte), 2.0 * work.seconds(gibibyte));
        }
        let [reads, rewrites] = [MigrationWork::Reads(&["a"]), MigrationWork::Rewrites(&["a"])];
        assert!(rewrites.seconds(gibibyte) > reads.seconds(gibibyte));
    }

    #[test]
    fn an_empty_database_has_everything_pending_and_nothing_is_applied() {
        let mut connection = SqliteConnection::establish(":memory:").unwrap();
        let comparison = compare(&mut connection).unwrap();
        assert_eq!(
            (comparison.version, comparison.pending.len()),
            (None, described::ALL.len())
        );
        assert!(connection.applied().unwrap().is_empty());
    }

    #[test]
    fn the_size_of_a_migration_is_that_of_its_tables() {
        let mut connection = SqliteConnection::establish(":memory:").unwrap();
        crate::migrate::sqlite(&mut connection).unwrap();
        let description = Description {
            name: "2027-01-01-000001_example",
            summary: "rewrites the events",
            on_sqlite: MigrationWork::Rewrites(&["events"]),
            on_postgres: MigrationWork::Constant,
        };
        let pending = pending_of(&mut connection, &description).unwrap();
        assert!(
            pending.bytes > 0 && pending.bytes == connection.bytes().unwrap(),
            "{pending:?}"
        );
    }
}
