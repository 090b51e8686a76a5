//! Connections to either database.

use crate::error::{Result, StoreError};
use crate::index;
use crate::statements::{BeginImmediate, Commit};
use diesel::connection::SimpleConnection;
use diesel::sql_types::Integer;
use diesel::{Connection, PgConnection, QueryableByName, RunQueryDsl, SqliteConnection};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant};

/// A connection to either database. Queries that both understand are written once, over this type.
#[derive(diesel::MultiConnection)]
pub enum AnyConnection {
    /// Embedded.
    Sqlite(SqliteConnection),
    /// A server.
    Postgres(PgConnection),
}

/// Where the database is: `sqlite:PATH`, or `postgres://…`.
#[derive(Clone, PartialEq, Eq)]
pub enum DatabaseUrl {
    /// A file, made when it is not there.
    Sqlite(PathBuf),
    /// The URL of a server, as libpq takes it.
    Postgres(String),
}

/// The text is no database URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "a database URL is sqlite:PATH with the path of a file, or postgres://USER:PASSWORD@HOST/DATABASE, where an @ in the password is written %40"
)]
pub struct DatabaseUrlError;

impl FromStr for DatabaseUrl {
    type Err = DatabaseUrlError;

    fn from_str(text: &str) -> Result<Self, DatabaseUrlError> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            // libpq takes what follows the first @ for the host, and would print the rest of a password with it.
            let is_ambiguous = text.matches('@').count() > 1;
            return if is_ambiguous {
                Err(DatabaseUrlError)
            } else {
                Ok(Self::Postgres(text.to_owned()))
            };
        }
        match text.strip_prefix("sqlite:") {
            Some(path) if !path.is_empty() && !path.starts_with(':') => Ok(Self::Sqlite(PathBuf::from(path))),
            _ => Err(DatabaseUrlError),
        }
    }
}

/// Without the password, so that it can be printed.
impl fmt::Display for DatabaseUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(formatter, "sqlite:{}", path.display()),
            // The part behind the question mark may hold a password too.
            Self::Postgres(url) => match (
                url.split_once("://"),
                url.split('?').next().unwrap_or(url).rsplit_once('@'),
            ) {
                (Some((scheme, _)), Some((_, host))) => write!(formatter, "{scheme}://…@{host}"),
                _ => formatter.write_str("postgres://…"),
            },
        }
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To bring tables and index up to date, before anything reads the index.
    Prepare,
    Read,
    Write,
    /// To write PostgreSQL's index.
    Index,
}

/// How long a statement waits for another process that holds SQLite's write lock (an import beside a running server).
const SQLITE_BUSY_TIMEOUT_MS: u32 = 5_000;
/// Pages of a new file. Larger ones are fewer for each event; smaller ones are less to write for a commit of a single event.
const SQLITE_PAGE_BYTES: u32 = 8 * 1024;
/// How long the write-ahead log becomes before a commit moves it into the file, in KiB, should it not have been moved before
/// ([`crate::wal`]).
const SQLITE_CHECKPOINT_KIB: u32 = 160 * 1024;
/// Page cache of the writing connection, in KiB.
const SQLITE_WRITER_CACHE_KIB: u32 = 8 * 1024;
/// Page cache of each reading connection, in KiB. Every commit of the writer invalidates it, and the system caches the file.
const SQLITE_READER_CACHE_KIB: u32 = 1024;
/// How long connecting to PostgreSQL may take.
const POSTGRES_CONNECT_TIMEOUT_SECONDS: u32 = 5;
/// How long sent data may stay unacknowledged before the connection counts as broken.
const POSTGRES_TCP_TIMEOUT_MS: u32 = 8_000;
/// How long a connection may be silent before it is probed.
const POSTGRES_KEEPALIVE_SECONDS: u32 = 10;
/// How long a pool relies on a connection that has answered, and on how it has planned what it is asked.
const READER_TRUSTED_FOR: Duration = Duration::from_secs(1);
/// How long a query may take.
const POSTGRES_READ_TIMEOUT_MS: u32 = 10_000;
/// How long a writer waits for another one, on any node, that holds the head of a ledger.
const POSTGRES_LOCK_TIMEOUT_MS: u32 = 3_000;
/// How long one statement of a writer may take.
const POSTGRES_WRITE_TIMEOUT_MS: u32 = 30_000;
/// After which a node that hangs in the middle of a transaction loses it, and the locks with it.
const POSTGRES_IDLE_TRANSACTION_TIMEOUT_MS: u32 = 10_000;
/// After which the node that writes the index, and asks every second, loses its lock when it asks nothing. From PostgreSQL 14 on;
/// older ones find out only that its machine is gone.
const POSTGRES_IDLE_INDEXER_TIMEOUT_MS: u32 = 10_000;

impl DatabaseUrl {
    /// Opens a connection.
    pub(crate) fn connect(&self, purpose: Purpose) -> Result<AnyConnection> {
        match self {
            Self::Sqlite(path) => connect_sqlite(path, purpose).map(AnyConnection::Sqlite),
            Self::Postgres(url) => connect_postgres(url, purpose).map(AnyConnection::Postgres),
        }
    }
}

/// Opens a connection to SQLite's database at `path`.
pub(crate) fn connect_sqlite(path: &Path, purpose: Purpose) -> Result<SqliteConnection> {
    if let (Purpose::Prepare, Some(parent)) = (purpose, path.parent()) {
        std::fs::create_dir_all(parent).map_err(|error| unreachable_file(path, &error))?;
    }
    if purpose == Purpose::Prepare {
        create_private(path)?;
    }
    let cache_kib = match purpose {
        Purpose::Prepare | Purpose::Write | Purpose::Index => SQLITE_WRITER_CACHE_KIB,
        Purpose::Read => SQLITE_READER_CACHE_KIB,
    };
    let mut connection = open_sqlite(
        path,
        FileOptions {
            page_bytes: SQLITE_PAGE_BYTES,
            cache_kib,
            checkpoint_kib: SQLITE_CHECKPOINT_KIB,
        },
    )?;
    let query_only = if purpose == Purpose::Read { "ON" } else { "OFF" };
    connection
        .batch_execute(&format!(
            "PRAGMA foreign_keys = ON; PRAGMA query_only = {query_only}"
        ))
        .map_err(|error| unreachable_file(path, &error))?;
    if purpose != Purpose::Prepare {
        connection
            .batch_execute(&index::sqlite::attach_statement(path))
            .map_err(|error| unreachable_file(path, &error))?;
    }
    Ok(connection)
}

fn unreachable_file(path: &Path, error: &dyn fmt::Display) -> StoreError {
    StoreError::Unreachable(format!("{}: {error}", path.display()))
}

/// How one of SQLite's files is read and written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileOptions {
    /// Of a page, where the file is new; an older one keeps its own.
    pub(crate) page_bytes: u32,
    /// The pages that the connection keeps in memory.
    pub(crate) cache_kib: u32,
    /// How long the write-ahead log becomes before it is moved into the file.
    pub(crate) checkpoint_kib: u32,
}

/// Opens one of SQLite's files, with a write-ahead log that is synced at every commit.
pub(crate) fn open_sqlite(path: &Path, options: FileOptions) -> Result<SqliteConnection> {
    let mut connection = SqliteConnection::establish(&path.to_string_lossy())
        .map_err(|error| unreachable_file(path, &error))?;
    set_up(&mut connection, options).map_err(|error| unreachable_file(path, &error))?;
    Ok(connection)
}

fn set_up(connection: &mut SqliteConnection, options: FileOptions) -> diesel::QueryResult<()> {
    let FileOptions {
        page_bytes,
        cache_kib,
        checkpoint_kib,
    } = options;
    // The size of pages before the write-ahead log, which fixes it.
    connection.batch_execute(&format!(
        "PRAGMA busy_timeout = {SQLITE_BUSY_TIMEOUT_MS};
         PRAGMA page_size = {page_bytes};
         PRAGMA synchronous = FULL;
         PRAGMA temp_store = MEMORY;
         PRAGMA cache_size = -{cache_kib};"
    ))?;
    use_write_ahead_log(connection)?;
    let checkpoint_pages = checkpoint_kib * 1024 / page_bytes_of(connection)?;
    connection.batch_execute(&format!("PRAGMA wal_autocheckpoint = {checkpoint_pages}"))
}

/// The size of a page.
pub(crate) fn page_bytes_of(connection: &mut SqliteConnection) -> diesel::QueryResult<u32> {
    #[derive(QueryableByName)]
    struct PageSize {
        #[diesel(sql_type = Integer)]
        page_size: i32,
    }
    let found: PageSize = diesel::sql_query("PRAGMA page_size").get_result(connection)?;
    Ok(found.page_size.unsigned_abs().max(1))
}

/// Makes the file unless it is there, for its owner's eyes only: it holds the secrets that sign viewer tokens. SQLite
/// gives the files beside it the same permissions.
pub(crate) fn create_private(path: &Path) -> Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let opened = options.open(path);
    opened.map(|_| ()).map_err(|error| unreachable_file(path, &error))
}

/// Switches the database to write-ahead logging, which it then remembers.
///
/// The switch needs the database for itself for a moment. Where several nodes open a new database at once, SQLite
/// refuses it to all but one at once, without waiting for its busy timeout, so the waiting is done here.
fn use_write_ahead_log(connection: &mut SqliteConnection) -> diesel::QueryResult<()> {
    const ATTEMPTS_MAX: u32 = 100;
    for _ in 1..ATTEMPTS_MAX {
        match connection.batch_execute("PRAGMA journal_mode = WAL") {
            Err(diesel::result::Error::DatabaseError(_, information))
                if information.message().contains("locked") =>
            {
                std::thread::sleep(std::time::Duration::from_millis(u64::from(
                    SQLITE_BUSY_TIMEOUT_MS / ATTEMPTS_MAX,
                )));
            }
            outcome => return outcome,
        }
    }
    connection.batch_execute("PRAGMA journal_mode = WAL")
}

/// Opens a connection to the PostgreSQL database of this URL.
pub(crate) fn connect_postgres(url: &str, purpose: Purpose) -> Result<PgConnection> {
    let unreachable =
        |error: &dyn fmt::Display| StoreError::Unreachable(error.to_string().trim_end().to_owned());
    let mut connection =
        PgConnection::establish(&with_network_limits(url)).map_err(|error| unreachable(&error))?;
    // Whatever hangs, a lock, a statement or a node in the middle of a transaction, the others go on.
    let settings = match purpose {
        // What readers ask for comes out of an index in the order of the answer, and is planned once a second (`Reader`): a
        // plan that was made while the table was small may read all of it once it is large.
        Purpose::Read => format!(
            "SET default_transaction_read_only = on; SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off;
             SET enable_bitmapscan = off; SET enable_sort = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
             SET jit = off; SET statement_timeout = {POSTGRES_READ_TIMEOUT_MS};"
        ),
        // What writers ask for is looked up by an index whatever the size of the table, so it is planned once. Each statement
        // sees what was committed while it, or the one before, waited for a lock.
        Purpose::Prepare | Purpose::Write => format!(
            "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_hashjoin = off;
             SET enable_mergejoin = off; SET jit = off; SET default_transaction_isolation = 'read committed';
             SET lock_timeout = {POSTGRES_LOCK_TIMEOUT_MS};
             SET statement_timeout = {POSTGRES_WRITE_TIMEOUT_MS};
             SET idle_in_transaction_session_timeout = {POSTGRES_IDLE_TRANSACTION_TIMEOUT_MS};"
        ),
        // What a crash takes from the index is filed again, so nobody has to wait for the disk. What is asked is planned each time,
        // for tables that grow and shrink.
        Purpose::Index => format!(
            "SET synchronous_commit = off; SET plan_cache_mode = force_custom_plan; SET jit = off; SET default_transaction_isolation = 'read committed';
             SET statement_timeout = {POSTGRES_WRITE_TIMEOUT_MS};
             SET idle_in_transaction_session_timeout = {POSTGRES_IDLE_TRANSACTION_TIMEOUT_MS};
             SET tcp_keepalives_idle = {POSTGRES_KEEPALIVE_SECONDS}; SET tcp_keepalives_interval = 5;
             SET tcp_keepalives_count = 3;
             SELECT set_config('idle_session_timeout', '{POSTGRES_IDLE_INDEXER_TIMEOUT_MS}', FALSE)
                 WHERE current_setting('server_version_num')::int >= 140000"
        ),
    };
    connection
        .batch_execute(&format!("SET client_min_messages = warning; {settings}"))
        .map_err(|error| unreachable(&error))?;
    Ok(connection)
}

/// The URL with limits on how long a dead network is waited for, unless it has its own.
fn with_network_limits(url: &str) -> String {
    let limits = [
        ("connect_timeout", POSTGRES_CONNECT_TIMEOUT_SECONDS),
        ("tcp_user_timeout", POSTGRES_TCP_TIMEOUT_MS),
        ("keepalives_idle", POSTGRES_KEEPALIVE_SECONDS),
    ];
    let mut limited = url.to_owned();
    for (name, value) in limits {
        if !url.contains(name) {
            let separator = if limited.contains('?') { '&' } else { '?' };
            limited = format!("{limited}{separator}{name}={value}");
        }
    }
    limited
}

impl AnyConnection {
    /// Runs `work` in a transaction that may write, and commits it.
    ///
    /// SQLite takes its write lock at the start (`BEGIN IMMEDIATE`): a transaction that reads first and asks for the
    /// lock later can be refused, because another process wrote in between.
    pub(crate) fn write_transaction<T, E: From<StoreError>>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        let begun = match self {
            Self::Sqlite(sqlite) => BeginImmediate {}.execute(sqlite).map(drop),
            Self::Postgres(postgres) => postgres.batch_execute("BEGIN"),
        };
        begun.map_err(StoreError::from)?;
        let outcome = work(self);
        let ended = match self {
            Self::Sqlite(sqlite) if outcome.is_ok() => Commit {}.execute(sqlite).map(drop),
            Self::Postgres(postgres) if outcome.is_ok() => postgres.batch_execute("COMMIT"),
            _ => self.batch_execute("ROLLBACK"),
        };
        match (outcome, ended) {
            (Ok(value), Ok(())) => Ok(value),
            (Ok(_), Err(error)) => {
                if let Err(rollback) = self.batch_execute("ROLLBACK") {
                    log::debug!("nothing was left to roll back: {rollback}");
                }
                Err(StoreError::from(error).into())
            }
            (Err(error), Ok(())) => Err(error),
            (Err(error), Err(rollback)) => {
                log::warn!("a transaction could not be rolled back: {rollback}");
                Err(error)
            }
        }
    }
}

/// A connection of a pool of readers.
pub(crate) struct Reader {
    pub(crate) connection: AnyConnection,
    /// When it last answered a pool's question.
    tried_at: Instant,
}

/// Hands connections to the pools of readers.
#[derive(Debug)]
pub(crate) struct ReaderManager {
    pub(crate) url: DatabaseUrl,
}

impl r2d2::ManageConnection for ReaderManager {
    type Connection = Reader;
    type Error = StoreError;

    fn connect(&self) -> Result<Reader> {
        Ok(Reader {
            connection: self.url.connect(Purpose::Read)?,
            tried_at: Instant::now(),
        })
    }

    /// To ask takes as long as what the connection is wanted for, so one that answered a moment ago is not asked again.
    fn is_valid(&self, reader: &mut Reader) -> Result<()> {
        if reader.tried_at.elapsed() >= READER_TRUSTED_FOR {
            match &mut reader.connection {
                AnyConnection::Sqlite(sqlite) => sqlite.batch_execute("SELECT 1")?,
                AnyConnection::Postgres(postgres) => postgres.batch_execute("DISCARD PLANS")?,
            }
            reader.tried_at = Instant::now();
        }
        Ok(())
    }

    fn has_broken(&self, reader: &mut Reader) -> bool {
        std::thread::panicking() || diesel::r2d2::R2D2Connection::is_broken(&mut reader.connection)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_url_names_one_of_two_databases() {
        assert_eq!("sqlite:a/b.db".parse(), Ok(DatabaseUrl::Sqlite("a/b.db".into())));
        assert!(matches!(
            "postgres://u:p@h/d".parse(),
            Ok(DatabaseUrl::Postgres(_))
        ));
        for text in [
            "",
            "sqlite:",
            "sqlite::memory:",
            "mysql://x",
            "audit.db",
            "postgres://u:p@w@h/d",
        ] {
            assert_eq!(text.parse::<DatabaseUrl>(), Err(DatabaseUrlError), "{text}");
        }
    }

    #[test]
    fn a_new_file_has_large_pages_and_an_older_one_keeps_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let options = FileOptions {
            page_bytes: 8_192,
            cache_kib: 100,
            checkpoint_kib: 40_960,
        };
        let checkpoint_pages = |path: &Path| {
            #[derive(QueryableByName)]
            struct Checkpoint {
                #[diesel(sql_type = Integer)]
                wal_autocheckpoint: i32,
            }
            let mut connection = open_sqlite(path, options).unwrap();
            let pragma = diesel::sql_query("PRAGMA wal_autocheckpoint");
            let found: Checkpoint = pragma.get_result(&mut connection).unwrap();
            (page_bytes_of(&mut connection).unwrap(), found.wal_autocheckpoint)
        };
        assert_eq!(checkpoint_pages(&folder.path().join("new.db")), (8_192, 5_120));
        let old = folder.path().join("old.db");
        let mut connection = SqliteConnection::establish(&old.to_string_lossy()).unwrap();
        connection
            .batch_execute("PRAGMA page_size = 4096; CREATE TABLE a (x BLOB)")
            .unwrap();
        drop(connection);
        assert_eq!(checkpoint_pages(&old), (4_096, 10_240));
    }

    #[test]
    fn a_password_is_never_printed() {
        let url: DatabaseUrl = "postgres://user:secret@host:5432/audit?password=secret"
            .parse()
            .unwrap();
        assert_eq!(
            format!("{url} {url:?}"),
            "postgres://…@host:5432/audit postgres://…@host:5432/audit"
        );
    }
}
