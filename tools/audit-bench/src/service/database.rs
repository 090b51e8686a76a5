//! The database of a server under test.

use super::postgres::Cluster;
use anyhow::Context;
use diesel::connection::SimpleConnection;
use diesel::{
    Connection, PgConnection, QueryableByName, RunQueryDsl, SqliteConnection, sql_query, sql_types,
};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Attempts at a WAL checkpoint that concurrent readers block.
const CHECKPOINT_ATTEMPTS_MAX: u32 = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DatabaseKind {
    Sqlite,
    Postgres,
}

impl DatabaseKind {
    /// In file names.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }

    /// In text.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        }
    }
}

/// A database that starts empty and is removed on drop.
#[derive(Debug)]
pub(crate) struct Database {
    url: String,
    location: Location,
}

#[derive(Debug)]
enum Location {
    Sqlite(PathBuf),
    Postgres { admin_url: String, name: String },
}

#[derive(QueryableByName)]
struct Text {
    #[diesel(sql_type = sql_types::Text)]
    text: String,
}

#[derive(QueryableByName)]
struct Number {
    #[diesel(sql_type = sql_types::BigInt)]
    number: i64,
}

#[derive(QueryableByName)]
struct Checkpoint {
    #[diesel(sql_type = sql_types::Integer)]
    busy: i32,
}

impl Database {
    /// An SQLite file in `folder`.
    pub(crate) fn sqlite(folder: &Path) -> Self {
        let path = folder.join("audit.db");
        Self {
            url: format!("sqlite:{}", path.display()),
            location: Location::Sqlite(path),
        }
    }

    /// A new database in `cluster`.
    pub(crate) fn postgres(cluster: &Cluster) -> anyhow::Result<Self> {
        Self::create_postgres(&cluster.admin_url, format!("audit_bench_{}", std::process::id()))
    }

    fn create_postgres(admin_url: &str, name: String) -> anyhow::Result<Self> {
        let mut admin = PgConnection::establish(admin_url).context("cannot connect to PostgreSQL")?;
        admin.batch_execute(&format!("CREATE DATABASE {name}"))?;
        Ok(Self {
            url: with_database_name(admin_url, &name),
            location: Location::Postgres {
                admin_url: admin_url.to_owned(),
                name,
            },
        })
    }

    /// A second database: a file in `folder`, or a database in the same cluster.
    pub(crate) fn another(&self, folder: &Path) -> anyhow::Result<Self> {
        match &self.location {
            Location::Sqlite(_) => Ok(Self::sqlite(folder)),
            Location::Postgres { admin_url, name } => {
                Self::create_postgres(admin_url, format!("{name}_second"))
            }
        }
    }

    /// Vacuums and checkpoints PostgreSQL. Otherwise autovacuum, which checks once a minute, does so during the next
    /// measurement.
    pub(crate) fn vacuum_and_checkpoint(&self) -> anyhow::Result<()> {
        if let Location::Postgres { .. } = &self.location {
            let mut connection = self.connect()?;
            connection.batch_execute("VACUUM (ANALYZE)")?;
            connection.batch_execute("CHECKPOINT")?;
        }
        Ok(())
    }

    pub(crate) fn kind(&self) -> DatabaseKind {
        match self.location {
            Location::Sqlite(_) => DatabaseKind::Sqlite,
            Location::Postgres { .. } => DatabaseKind::Postgres,
        }
    }

    /// The value of the server's `--database-url`.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The URL of the administrative database of the cluster, and the name of this one there; none on SQLite.
    pub(crate) fn in_cluster(&self) -> Option<(&str, &str)> {
        match &self.location {
            Location::Sqlite(_) => None,
            Location::Postgres { admin_url, name } => Some((admin_url, name)),
        }
    }

    /// Name and version of the database engine.
    pub(crate) fn version(&self) -> anyhow::Result<String> {
        let rows: Vec<Text> = match &self.location {
            Location::Sqlite(path) => {
                sql_query("SELECT sqlite_version() AS text").load(&mut open_sqlite(path)?)
            }
            Location::Postgres { .. } => {
                sql_query("SELECT current_setting('server_version') AS text").load(&mut self.connect()?)
            }
        }?;
        let version = rows.first().map_or("", |row| row.text.as_str());
        Ok(format!("{} {version}", self.kind().title()))
    }

    /// Size on disk. On SQLite after a WAL checkpoint, so that recent rows count once; on PostgreSQL without the write-ahead
    /// log, which all databases of a cluster share.
    pub(crate) fn disk_bytes(&self) -> anyhow::Result<u64> {
        match &self.location {
            Location::Sqlite(path) => sqlite_bytes(path),
            Location::Postgres { .. } => {
                let query = sql_query("SELECT pg_database_size(current_database()) AS number");
                let rows: Vec<Number> = query.load(&mut self.connect()?)?;
                let bytes = rows.first().map_or(0, |row| row.number);
                Ok(u64::try_from(bytes)?)
            }
        }
    }

    fn connect(&self) -> anyhow::Result<PgConnection> {
        PgConnection::establish(&self.url).context("cannot connect to the PostgreSQL database")
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // The files of SQLite are removed with their folder. On a server that outlives this run the database is dropped; a
        // failure to do so leaves the results valid.
        if let Location::Postgres { admin_url, name } = &self.location
            && let Ok(mut admin) = PgConnection::establish(admin_url)
        {
            drop(admin.batch_execute(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")));
        }
    }
}

pub(crate) fn open_sqlite(path: &Path) -> anyhow::Result<SqliteConnection> {
    let mut connection = SqliteConnection::establish(&path.to_string_lossy())
        .with_context(|| format!("cannot open {}", path.display()))?;
    connection.batch_execute("PRAGMA busy_timeout = 5000")?;
    Ok(connection)
}

/// Size of an SQLite database and its index file, if any, after a WAL checkpoint.
pub(crate) fn sqlite_bytes(path: &Path) -> anyhow::Result<u64> {
    let beside = |path: &Path, suffix: &str| PathBuf::from(format!("{}{suffix}", path.display()));
    let index = beside(path, "-index");
    let mut bytes = 0;
    for file in [path, &index] {
        if !file.exists() {
            continue;
        }
        let mut connection = open_sqlite(file)?;
        for _ in 0..CHECKPOINT_ATTEMPTS_MAX {
            let rows: Vec<Checkpoint> = sql_query("PRAGMA wal_checkpoint(TRUNCATE)").load(&mut connection)?;
            if rows.iter().all(|row| row.busy == 0) {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        for file in [file, &beside(file, "-wal")] {
            bytes += std::fs::metadata(file).map_or(0, |metadata| metadata.len());
        }
    }
    Ok(bytes)
}

/// Replaces the database name of a URL.
fn with_database_name(url: &str, name: &str) -> String {
    let (base, parameters) = match url.split_once('?') {
        Some((base, parameters)) => (base, format!("?{parameters}")),
        None => (url, String::new()),
    };
    let (scheme, rest) = base.split_once("://").unwrap_or(("postgres", base));
    let authority = rest.split('/').next().unwrap_or_default();
    format!("{scheme}://{authority}/{name}{parameters}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_database_name_of_a_url_is_replaced() {
        for (url, expected) in [
            (
                "postgres://me:pw@localhost:5432/postgres",
                "postgres://me:pw@localhost:5432/new",
            ),
            ("postgres://localhost", "postgres://localhost/new"),
            (
                "postgres:///postgres?host=/run/a&user=b",
                "postgres:///new?host=/run/a&user=b",
            ),
        ] {
            assert_eq!(with_database_name(url, "new"), expected);
        }
    }

    #[test]
    fn the_size_of_an_sqlite_database_grows_with_its_rows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let mut connection = open_sqlite(&path).unwrap();
        connection
            .batch_execute("PRAGMA journal_mode = WAL; CREATE TABLE a (x BLOB)")
            .unwrap();
        let before = sqlite_bytes(&path).unwrap();
        connection
            .batch_execute("INSERT INTO a VALUES (zeroblob(100000))")
            .unwrap();
        let after = sqlite_bytes(&path).unwrap();
        assert!(after > before + 90_000, "{before} {after}");
    }
}
