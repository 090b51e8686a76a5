//! The database that a server is measured on.

use super::postgres::Cluster;
use anyhow::Context;
use diesel::connection::SimpleConnection;
use diesel::{
    Connection, PgConnection, QueryableByName, RunQueryDsl, SqliteConnection, sql_query, sql_types,
};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often an SQLite checkpoint that readers keep from ending is tried again.
const CHECKPOINT_ATTEMPTS_MAX: u32 = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DatabaseKind {
    Sqlite,
    Postgres,
}

impl DatabaseKind {
    /// For names of files.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }

    /// As its makers write it.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        }
    }
}

/// An empty database at first. It goes when this is dropped.
#[derive(Debug)]
pub(crate) struct Database {
    url: String,
    place: Place,
}

#[derive(Debug)]
enum Place {
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
    /// A file in `folder`.
    pub(crate) fn sqlite(folder: &Path) -> Self {
        let path = folder.join("audit.db");
        Self {
            url: format!("sqlite:{}", path.display()),
            place: Place::Sqlite(path),
        }
    }

    /// A new database of `cluster`.
    pub(crate) fn postgres(cluster: &Cluster) -> anyhow::Result<Self> {
        Self::create_postgres(&cluster.admin_url, format!("audit_bench_{}", std::process::id()))
    }

    fn create_postgres(admin_url: &str, name: String) -> anyhow::Result<Self> {
        let mut admin = PgConnection::establish(admin_url).context("cannot reach PostgreSQL")?;
        admin.batch_execute(&format!("CREATE DATABASE {name}"))?;
        Ok(Self {
            url: with_database_name(admin_url, &name),
            place: Place::Postgres {
                admin_url: admin_url.to_owned(),
                name,
            },
        })
    }

    /// One more like this: a file in `folder`, or a database of the same cluster.
    pub(crate) fn another(&self, folder: &Path) -> anyhow::Result<Self> {
        match &self.place {
            Place::Sqlite(_) => Ok(Self::sqlite(folder)),
            Place::Postgres { admin_url, name } => Self::create_postgres(admin_url, format!("{name}_small")),
        }
    }

    /// Has the database do now what it would do later, in the middle of what is measured next. PostgreSQL looks once a minute
    /// whether it has to vacuum a table, and reads and writes all of it when many rows have come.
    pub(crate) fn settle(&self) -> anyhow::Result<()> {
        if let Place::Postgres { .. } = &self.place {
            let mut connection = self.connect()?;
            connection.batch_execute("VACUUM (ANALYZE)")?;
            connection.batch_execute("CHECKPOINT")?;
        }
        Ok(())
    }

    pub(crate) fn kind(&self) -> DatabaseKind {
        match self.place {
            Place::Sqlite(_) => DatabaseKind::Sqlite,
            Place::Postgres { .. } => DatabaseKind::Postgres,
        }
    }

    /// For `--database-url`.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Name and version of the database's program.
    pub(crate) fn version(&self) -> anyhow::Result<String> {
        let rows: Vec<Text> = match &self.place {
            Place::Sqlite(path) => sql_query("SELECT sqlite_version() AS text").load(&mut open_sqlite(path)?),
            Place::Postgres { .. } => {
                sql_query("SELECT current_setting('server_version') AS text").load(&mut self.connect()?)
            }
        }?;
        let version = rows.first().map_or("", |row| row.text.as_str());
        Ok(format!("{} {version}", self.kind().title()))
    }

    /// What it holds on disk. On SQLite after a checkpoint, so that what was written lately counts once; on PostgreSQL
    /// without its write-ahead log, which is not the database's alone.
    pub(crate) fn disk_bytes(&self) -> anyhow::Result<u64> {
        match &self.place {
            Place::Sqlite(path) => sqlite_bytes(path),
            Place::Postgres { .. } => {
                let query = sql_query("SELECT pg_database_size(current_database()) AS number");
                let rows: Vec<Number> = query.load(&mut self.connect()?)?;
                let bytes = rows.first().map_or(0, |row| row.number);
                Ok(u64::try_from(bytes)?)
            }
        }
    }

    fn connect(&self) -> anyhow::Result<PgConnection> {
        PgConnection::establish(&self.url).context("cannot reach the PostgreSQL database")
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // The files of SQLite go with their folder. A database on a server that is not ours is not left behind; when that
        // fails there is nobody to tell but whoever reads the list of databases.
        if let Place::Postgres { admin_url, name } = &self.place
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

/// The files of an SQLite database after a checkpoint, with that of its index where there is one.
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

/// The URL with another database in it: what stands between the authority and the parameters.
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
    fn the_database_of_a_url_is_exchanged_and_the_rest_kept() {
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
    fn the_size_of_an_sqlite_database_grows_with_what_is_in_it() {
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
