//! Connections to SQLite files.

use super::SqliteSession;
use super::index::file::attach_statement;
use super::statements::{BeginImmediate, Commit};
use crate::database::transaction::WriteTransactions;
use crate::error::{Result, StoreError};
use crate::shortage;
use diesel::connection::SimpleConnection;
use diesel::result::{DatabaseErrorKind, Error};
use diesel::sql_types::Integer;
use diesel::{Connection, QueryResult, QueryableByName, RunQueryDsl, SqliteConnection};
use std::fmt;
use std::path::Path;

/// The purpose of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To bring tables and index up to date, before the index is read.
    Prepare,
    /// To read.
    Read,
    /// To write.
    Write,
}

/// How long a statement waits for another process that holds the write lock, such as an import beside a running server.
pub(super) const BUSY_TIMEOUT_MS: u32 = 5_000;
/// Page size of a new file. Larger pages need fewer writes for many events, smaller ones fewer bytes for a commit of one event.
const PAGE_BYTES: u32 = 8 * 1024;
/// Size of the write-ahead log at which a commit checkpoints it, in KiB, where the checkpointer ([`super::wal`]) could not.
const CHECKPOINT_KIB: u32 = 160 * 1024;
/// Page cache of the writing connection, in KiB.
const WRITER_CACHE_KIB: u32 = 8 * 1024;
/// Page cache of a reading connection, in KiB. Every commit invalidates it, and the system caches the file.
const READER_CACHE_KIB: u32 = 1024;

/// Tests whether the session still works.
pub(crate) fn test(session: &mut SqliteSession) -> QueryResult<()> {
    session.connection.batch_execute("SELECT 1")
}

/// No session of an embedded database ends by itself.
pub(crate) const fn take_failure(_: &mut SqliteSession) -> bool {
    false
}

/// Tests whether a writing session still works, and what it caches is what the database has.
pub(crate) fn test_writer(session: &mut SqliteSession) -> QueryResult<()> {
    if session.memory.is_doubtful {
        let reason = "the disk failed in a commit, so everything is read again".to_owned();
        return Err(Error::DatabaseError(
            DatabaseErrorKind::ClosedConnection,
            Box::new(reason),
        ));
    }
    test(session)?;
    test_writing(&mut session.connection)
}

/// Tests whether a connection can write. Where SQLite could not open the file to write, such as on a disk that was read-only for a moment, it has
/// opened it to read, and stays so.
fn test_writing(connection: &mut SqliteConnection) -> QueryResult<()> {
    match (BeginImmediate {}).execute(connection) {
        Ok(_) => connection.batch_execute("ROLLBACK"),
        Err(error) if error.to_string().contains("readonly") => Err(error),
        // Another process may have the lock, or the disk is full.
        Err(_) => Ok(()),
    }
}

/// The tables are in one file.
pub(crate) const fn has_moved(_: &mut SqliteSession) -> bool {
    false
}

impl WriteTransactions for SqliteSession {
    /// Takes the write lock at once. A deferred transaction that reads first and locks later can be refused, because
    /// another process wrote in between.
    fn begin(&mut self) -> QueryResult<()> {
        BeginImmediate {}.execute(&mut self.connection).map(drop)
    }

    fn commit(&mut self) -> QueryResult<()> {
        Commit {}.execute(&mut self.connection).map(drop)
    }

    /// Where the failed `COMMIT` itself has rolled back, there is no transaction left, which the `ROLLBACK` reports.
    ///
    /// After an I/O error, such as a failed fsync(2), the write-ahead log may have the whole transaction. This process
    /// overwrites it with its next commit. If it ends before, the next one finds the transaction there and takes it for committed.
    fn roll_back_failed_commit(&mut self, error: &Error) -> bool {
        let is_certain = !shortage::is_io_error(&error.to_string());
        self.memory.is_doubtful |= !is_certain;
        if let Err(rollback) = self.connection.batch_execute("ROLLBACK") {
            log::debug!("cannot roll back a failed commit: {rollback}");
        }
        is_certain
    }
}

/// Moves the write-ahead log into the database file and empties it.
pub(crate) fn checkpoint_and_truncate(connection: &mut SqliteConnection) -> QueryResult<()> {
    connection.batch_execute("PRAGMA main.wal_checkpoint(TRUNCATE)")
}

/// Writes everything that the write-ahead log has to the database file, and syncs it, as far as no other process needs it there.
///
/// The kernel reports a failed fsync(2) once, and then takes what it could not write for written. So what is read of the log of a
/// process that ended after such a failure may not be on the disk, and another fsync(2) of the log would not change that. What
/// is written to the database file is written anew.
pub(crate) fn checkpoint_at_start(connection: &mut SqliteConnection) {
    if let Err(error) = connection.batch_execute("PRAGMA main.wal_checkpoint(PASSIVE)") {
        log::error!(
            "cannot move the write-ahead log into the database, so its latest events may not be on the disk: {}",
            StoreError::from(error)
        );
    }
}

/// Opens a connection to the database at `path`.
pub(crate) fn connect(path: &Path, purpose: Purpose) -> Result<SqliteConnection> {
    if let (Purpose::Prepare, Some(parent)) = (purpose, path.parent()) {
        std::fs::create_dir_all(parent).map_err(|error| unreachable_file(path, &error))?;
    }
    if purpose == Purpose::Prepare {
        create_private(path)?;
    }
    let cache_kib = match purpose {
        Purpose::Prepare | Purpose::Write => WRITER_CACHE_KIB,
        Purpose::Read => READER_CACHE_KIB,
    };
    let mut connection = open_file(
        path,
        FileOptions {
            page_bytes: PAGE_BYTES,
            cache_kib,
            checkpoint_kib: CHECKPOINT_KIB,
        },
    )?;
    let query_only = if purpose == Purpose::Read { "ON" } else { "OFF" };
    connection
        .batch_execute(&format!(
            "PRAGMA foreign_keys = ON; PRAGMA query_only = {query_only}"
        ))
        .map_err(|error| unreachable_file(path, &error))?;
    if purpose == Purpose::Prepare {
        warn_if_open_to_others(path);
    }
    if purpose != Purpose::Read {
        overwrite_deleted(&mut connection).map_err(|error| unreachable_file(path, &error))?;
    }
    if purpose != Purpose::Prepare {
        connection
            .batch_execute(&attach_statement(path))
            .map_err(|error| unreachable_file(path, &error))?;
    }
    Ok(connection)
}

/// Makes the connection overwrite what it deletes. Otherwise the text of a deleted row, such as that of an event of a stream before
/// its claim redacted it, stays in free pages.
pub(super) fn overwrite_deleted(connection: &mut SqliteConnection) -> diesel::QueryResult<()> {
    connection.batch_execute("PRAGMA main.secure_delete = ON")
}

/// Opens a connection that copies the database at `path`, without its index.
pub(crate) fn open_to_copy(path: &Path, cache_kib: u32) -> Result<SqliteConnection> {
    let mut connection = open_file(
        path,
        FileOptions {
            page_bytes: PAGE_BYTES,
            cache_kib,
            checkpoint_kib: CHECKPOINT_KIB,
        },
    )?;
    overwrite_deleted(&mut connection).map_err(|error| unreachable_file(path, &error))?;
    Ok(connection)
}

/// How long a reader that is about to end is waited for, in milliseconds.
const UNUSED_TIMEOUT_MS: u32 = 1_000;

/// Opens an existing database, locks it against every other process until the connection is closed, and begins a transaction.
///
/// The connection must be in exclusive mode before it first reads: then SQLite keeps the index of the write-ahead log in its
/// own memory, and may do so only while no other connection exists, even one that reads.
pub(crate) fn open_locked(path: &Path, cache_kib: u32, timeout_ms: u32) -> Result<SqliteConnection> {
    let mut connection = SqliteConnection::establish(&path.to_string_lossy())
        .map_err(|error| unreachable_file(path, &error))?;
    overwrite_deleted(&mut connection).map_err(|error| unreachable_file(path, &error))?;
    let locked = connection.batch_execute(&format!(
        "PRAGMA busy_timeout = {timeout_ms}; PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = FULL;
         PRAGMA temp_store = MEMORY; PRAGMA cache_size = -{cache_kib}; BEGIN IMMEDIATE"
    ));
    locked.map_err(|error| {
        StoreError::InUse(format!(
            "another process has {} open ({error}); stop its server and everything that reads the file",
            path.display()
        ))
    })?;
    Ok(connection)
}

/// Fails while another process has a database open, even to read.
pub(crate) fn require_unused(path: &Path) -> Result<()> {
    match path.exists() {
        true => open_locked(path, WRITER_CACHE_KIB, UNUSED_TIMEOUT_MS).map(drop),
        false => Ok(()),
    }
}

pub(super) fn unreachable_file(path: &Path, error: &dyn fmt::Display) -> StoreError {
    let error = shortage::with_advice(&error.to_string());
    StoreError::Unreachable(format!("{}: {error}", path.display()))
}

/// How a file is read and written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileOptions {
    /// Page size of a new file. An existing file keeps its own.
    pub(crate) page_bytes: u32,
    /// The page cache of the connection.
    pub(crate) cache_kib: u32,
    /// Size of the write-ahead log at which a commit checkpoints it.
    pub(crate) checkpoint_kib: u32,
}

/// Opens a file, with a write-ahead log that is synced at every commit.
pub(crate) fn open_file(path: &Path, options: FileOptions) -> Result<SqliteConnection> {
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
    // The page size first: what follows fixes it.
    connection.batch_execute(&format!(
        "PRAGMA busy_timeout = {BUSY_TIMEOUT_MS};
         PRAGMA page_size = {page_bytes};
         PRAGMA synchronous = FULL;
         PRAGMA temp_store = MEMORY;
         PRAGMA cache_size = -{cache_kib};"
    ))?;
    if is_empty(connection)? {
        when_unlocked(connection, FREE_PAGES)?;
    }
    when_unlocked(connection, "PRAGMA journal_mode = WAL")?;
    let checkpoint_pages = checkpoint_kib * 1024 / page_bytes_of(connection)?;
    // A log that a long reader, such as a backup, has kept from restarting gives its space back when it restarts.
    let kept_bytes = u64::from(checkpoint_kib) * 1024;
    connection.batch_execute(&format!(
        "PRAGMA wal_autocheckpoint = {checkpoint_pages}; PRAGMA journal_size_limit = {kept_bytes}"
    ))
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

/// Creates the file unless it exists, readable by its owner alone: it holds the secrets that sign viewer tokens. SQLite
/// gives the files beside it the same permissions.
pub(crate) fn create_private(path: &Path) -> Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let opened = options
        .open(path)
        .map_err(|error| unreachable_file(path, &error))?;
    drop(opened);
    Ok(())
}

/// Warns of a file of a database that others than its owner may use: it was restored or copied, and keeps its permissions.
pub(crate) fn warn_if_open_to_others(path: &Path) {
    if is_open_to_others(path) {
        log::warn!(
            "other users may read or write {}, which has secrets; `chmod 600` it and the files beside it",
            path.display()
        );
    }
}

/// Whether others than its owner have permissions for a file.
#[cfg(unix)]
fn is_open_to_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let metadata = path.metadata();
    metadata.is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}

/// Permissions are those of POSIX.
#[cfg(not(unix))]
fn is_open_to_others(_: &Path) -> bool {
    false
}

/// Lets a file give free pages back ([`super::space`]). Only before its first table: on other files the statement has no such effect,
/// and locks the file.
pub(super) const FREE_PAGES: &str = "PRAGMA auto_vacuum = INCREMENTAL";

/// Whether a file has no page yet.
fn is_empty(connection: &mut SqliteConnection) -> diesel::QueryResult<bool> {
    #[derive(QueryableByName)]
    struct PageCount {
        #[diesel(sql_type = Integer)]
        page_count: i32,
    }
    let found: PageCount = diesel::sql_query("PRAGMA main.page_count").get_result(connection)?;
    Ok(found.page_count == 0)
}

/// Runs a statement that is stored in the file, such as the one that switches to write-ahead logging.
///
/// It needs exclusive access for a moment. When several processes open a new database concurrently, SQLite refuses it
/// to all but one without its busy timeout, so this function waits.
fn when_unlocked(connection: &mut SqliteConnection, statement: &str) -> diesel::QueryResult<()> {
    const ATTEMPTS_MAX: u32 = 100;
    for _ in 1..ATTEMPTS_MAX {
        match connection.batch_execute(statement) {
            Err(diesel::result::Error::DatabaseError(_, information))
                if information.message().contains("locked") =>
            {
                std::thread::sleep(std::time::Duration::from_millis(u64::from(
                    BUSY_TIMEOUT_MS / ATTEMPTS_MAX,
                )));
            }
            outcome => return outcome,
        }
    }
    connection.batch_execute(statement)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_new_file_is_private_and_one_that_is_not_is_found() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.db");
        let is_open = || is_open_to_others(&path);
        create_private(&path).unwrap();
        assert!(!is_open());
        for mode in [0o644, 0o640, 0o602] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            assert!(is_open(), "{mode:o}");
        }
    }

    #[test]
    fn deleted_text_is_not_left_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.db");
        let options = FileOptions {
            page_bytes: PAGE_BYTES,
            cache_kib: 1_000,
            checkpoint_kib: 4_096,
        };
        let mut connection = open_file(&path, options).unwrap();
        overwrite_deleted(&mut connection).unwrap();
        let is_in_file = |connection: &mut SqliteConnection| {
            checkpoint_and_truncate(connection).unwrap();
            let bytes = std::fs::read(&path).unwrap();
            bytes.windows(12).any(|window| window == b"confidential")
        };
        let insert = "CREATE TABLE a (x TEXT);
            WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 300)
            INSERT INTO a SELECT 'confidential' || hex(zeroblob(3000)) FROM n";
        connection.batch_execute(insert).unwrap();
        assert!(is_in_file(&mut connection));
        connection
            .batch_execute("DELETE FROM a WHERE rowid < 300")
            .unwrap();
        assert!(is_in_file(&mut connection), "one row is left");
        connection.batch_execute("DELETE FROM a").unwrap();
        assert!(!is_in_file(&mut connection));
    }

    /// A migration, a copy and a locked database delete rows too.
    #[test]
    fn every_connection_that_can_write_overwrites_what_it_deletes() {
        #[derive(QueryableByName)]
        struct Found {
            #[diesel(sql_type = Integer)]
            secure_delete: i32,
        }
        let is_on = |mut connection: SqliteConnection| {
            let pragma = diesel::sql_query("PRAGMA main.secure_delete");
            let found: Found = pragma.get_result(&mut connection).unwrap();
            found.secure_delete == 1
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.db");
        assert!(is_on(connect(&path, Purpose::Prepare).unwrap()), "migrations");
        // The writer reads the index, which a start creates.
        std::fs::write(folder.path().join("audit.db-index"), "").unwrap();
        assert!(is_on(connect(&path, Purpose::Write).unwrap()), "the writer");
        assert!(is_on(open_to_copy(&path, 100).unwrap()), "a copy");
        assert!(is_on(open_locked(&path, 100, 1_000).unwrap()), "locked");
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
            let mut connection = open_file(path, options).unwrap();
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
}
