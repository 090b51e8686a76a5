//! The seam between the databases: the only module that distinguishes them.
//!
//! Everything above it is written once, over [`AnySession`]. Everything below it belongs to one database and lives in
//! `sqlite/` or `postgres/`, which do not use each other. A `match` here selects the database; from there on types carry
//! the choice, so no later arm has to handle a mixture.

pub(crate) mod copied_tables;
pub(crate) mod copy;
pub(crate) mod session;
pub(crate) mod transaction;
pub(crate) mod url;

pub use url::{DatabaseUrl, DatabaseUrlError};

use crate::error::Result;
use crate::ledgers::heads::Heads;
use crate::options::StoreOptions;
use crate::postgres::{self, PostgresSession};
pub(crate) use crate::sqlite::space::Place;
use crate::sqlite::{self, SqliteSession};
use crate::workers::Workers;
use audit_domain::{Clock, Month, Timestamp};
use diesel::QueryResult;
use std::collections::BTreeSet;
use std::sync::Arc;
use transaction::WriteTransactions;

/// A session with either database. Shared queries run on it; diesel builds them for the database at hand.
#[derive(diesel::MultiConnection)]
pub(crate) enum AnySession {
    /// The embedded database.
    Sqlite(SqliteSession),
    /// A server.
    Postgres(PostgresSession),
}

/// Runs an expression on the session of either database. For statements that diesel builds for each database but
/// not over both, and for functions that are generic over the session.
macro_rules! on_either {
    ($any:expr, $session:ident => $run:expr) => {
        match $any {
            $crate::database::AnySession::Sqlite($session) => $run,
            $crate::database::AnySession::Postgres($session) => $run,
        }
    };
}

/// Calls the function of this path in `sqlite` or in `postgres`.
macro_rules! on_database {
    ($any:expr, $($name:ident)::+ ( $($argument:expr),* $(,)? )) => {
        match $any {
            $crate::database::AnySession::Sqlite(session) => $crate::sqlite::$($name)::+(session, $($argument),*),
            $crate::database::AnySession::Postgres(session) => $crate::postgres::$($name)::+(session, $($argument),*),
        }
    };
}

/// Calls the function of this path in `postgres`. `$none` is the result on SQLite, which has no cells.
macro_rules! on_cells {
    ($any:expr, $none:expr, $name:ident ( $($argument:expr),* $(,)? )) => {
        match $any {
            $crate::database::AnySession::Sqlite(_) => $none,
            $crate::database::AnySession::Postgres(session) => $crate::postgres::cells::$name(session, $($argument),*),
        }
    };
}

/// Runs a select whose rows stay locked until the end of the transaction. SQLite's writer holds the whole database;
/// PostgreSQL locks the rows.
macro_rules! select_for_update {
    ($any:expr, $query:expr, $load:ident) => {
        match $any {
            $crate::database::AnySession::Sqlite(session) => $query.$load(session),
            $crate::database::AnySession::Postgres(session) => $query.for_update().$load(session),
        }
    };
}

/// [`select_for_update`] that does not block the insertion of rows which refer to these.
macro_rules! select_for_no_key_update {
    ($any:expr, $query:expr, $load:ident) => {
        match $any {
            $crate::database::AnySession::Sqlite(session) => $query.$load(session),
            $crate::database::AnySession::Postgres(session) => $query.for_no_key_update().$load(session),
        }
    };
}

/// [`select_for_update`] that blocks only the deletion of the rows and those that lock them to change anything.
macro_rules! select_for_key_share {
    ($any:expr, $query:expr, $load:ident) => {
        match $any {
            $crate::database::AnySession::Sqlite(session) => $query.$load(session),
            $crate::database::AnySession::Postgres(session) => $query.for_key_share().$load(session),
        }
    };
}

/// [`select_for_update`] that leaves out the rows that another node has locked.
macro_rules! select_skip_locked {
    ($any:expr, $query:expr, $load:ident) => {
        match $any {
            $crate::database::AnySession::Sqlite(session) => $query.$load(session),
            $crate::database::AnySession::Postgres(session) => {
                $query.for_update().skip_locked().$load(session)
            }
        }
    };
}

/// Inserts rows and skips those whose key exists; the number of inserted rows.
macro_rules! insert_or_ignore {
    ($any:expr, $table:expr, $values:expr) => {
        match $any {
            $crate::database::AnySession::Sqlite(session) => diesel::insert_or_ignore_into($table)
                .values($values)
                .execute(session),
            $crate::database::AnySession::Postgres(session) => diesel::insert_into($table)
                .values($values)
                .on_conflict_do_nothing()
                .execute(session),
        }
    };
}

pub(crate) use {
    insert_or_ignore, on_cells, on_database, on_either, select_for_key_share, select_for_no_key_update,
    select_for_update, select_skip_locked,
};

/// Fails while another process has the database open: on PostgreSQL to write, on SQLite at all.
///
/// # Errors
/// [`crate::StoreError::InUse`]; when the database cannot be reached.
pub fn require_unused(url: &DatabaseUrl) -> Result<()> {
    match url {
        DatabaseUrl::Sqlite(path) => sqlite::connection::require_unused(path),
        DatabaseUrl::Postgres(url) => postgres::connection::require_unused(url),
    }
}

/// An open database.
pub(crate) enum Database {
    /// Embedded.
    Sqlite(sqlite::Database),
    /// On a server.
    Postgres(postgres::Database),
}

impl Database {
    /// Opens the database, brings its schema up to date and its index up to date with its events.
    pub(crate) fn open(url: &DatabaseUrl, options: &StoreOptions, clock: &Arc<dyn Clock>) -> Result<Self> {
        Ok(match url {
            DatabaseUrl::Sqlite(path) => Self::Sqlite(sqlite::Database::open(path, options)?),
            DatabaseUrl::Postgres(url) => Self::Postgres(postgres::Database::open(url, options, clock)?),
        })
    }

    /// An existing database, which is not prepared for the service: opening a session of it changes nothing.
    pub(crate) fn existing(url: &DatabaseUrl) -> Result<Self> {
        Ok(match url {
            DatabaseUrl::Sqlite(path) => Self::Sqlite(sqlite::Database::existing(path)?),
            DatabaseUrl::Postgres(url) => Self::Postgres(postgres::Database::existing(url)),
        })
    }

    /// The URL of this database with the schema of a cell; `None` on SQLite, which has no cells.
    pub(crate) fn cell_url(&self, schema: Option<&str>) -> Option<DatabaseUrl> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(home) => Some(DatabaseUrl::Postgres(url::of_cell(home.url(), schema))),
        }
    }

    /// How many sessions of pools and writers this process has opened; `None` on SQLite, whose sessions are lost with the process.
    pub(crate) fn sessions(&self) -> Option<u64> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(database) => Some(database.sessions()),
        }
    }

    /// The server that has the tables, if it is not that of the URL.
    pub(crate) fn location(&self) -> Option<String> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(database) => database.location(),
        }
    }

    /// See [`Store::distribute`].
    pub(crate) fn distribute(&self) -> Result<bool> {
        match self {
            Self::Sqlite(_) => Ok(false),
            Self::Postgres(database) => database.distribute(),
        }
    }

    /// Gives the space of removed events back to the system, of these months on PostgreSQL; `None` on SQLite, where the writer does it.
    pub(crate) fn give_back_space(
        &self,
        months: &BTreeSet<Month>,
        now: Timestamp,
        erased: Option<Timestamp>,
    ) -> Option<Result<bool>> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(database) => Some(database.give_back_space(months, now, erased)),
        }
    }

    /// Empties the write-ahead logs on SQLite, which have what was erased.
    pub(crate) fn empty_logs(&self) -> Result<()> {
        match self {
            Self::Sqlite(database) => database.empty_logs(),
            Self::Postgres(_) => Ok(()),
        }
    }

    /// Overwrites the unused space of some pages of the files on SQLite. Returns the place of the next step; `None` at the end.
    pub(crate) fn overwrite_unused(&self, place: Place) -> Result<Option<Place>> {
        match self {
            Self::Sqlite(database) => database.overwrite_unused(place),
            Self::Postgres(_) => Ok(None),
        }
    }

    /// Opens a session that only reads.
    pub(crate) fn open_reader(&self) -> Result<AnySession> {
        Ok(match self {
            Self::Sqlite(database) => AnySession::Sqlite(database.open_reader()?),
            Self::Postgres(database) => AnySession::Postgres(database.open_reader()?),
        })
    }

    /// Opens a session that only reads, without the index.
    pub(crate) fn open_inspector(&self) -> Result<AnySession> {
        Ok(match self {
            Self::Sqlite(database) => AnySession::Sqlite(database.open_inspector()?),
            Self::Postgres(database) => AnySession::Postgres(database.open_reader()?),
        })
    }

    /// Fails if there is no index to open.
    pub(crate) fn require_index(&self) -> Result<()> {
        match self {
            Self::Sqlite(database) => database.require_index(),
            // It is in tables of the database.
            Self::Postgres(_) => Ok(()),
        }
    }

    /// Opens a session that writes.
    pub(crate) fn open_writer(&self) -> Result<AnySession> {
        Ok(match self {
            Self::Sqlite(database) => AnySession::Sqlite(database.open_writer()?),
            Self::Postgres(database) => AnySession::Postgres(database.open_writer()?),
        })
    }

    /// Sets the key of the heads, before the first session that writes one.
    pub(crate) fn set_heads(&self, heads: Arc<Heads>) {
        match self {
            Self::Sqlite(database) => database.shared.set_heads(heads),
            Self::Postgres(database) => database.shared.set_heads(heads),
        }
    }

    /// The number of writing threads.
    pub(crate) fn writers(&self, options: &StoreOptions) -> usize {
        match self {
            // SQLite has one writer at a time.
            Self::Sqlite(_) => 1,
            Self::Postgres(_) => options.postgres_writers.max(1),
        }
    }

    /// Whether another server can have a copy that follows its commits.
    pub(crate) const fn can_have_standbys(&self) -> bool {
        match self {
            Self::Sqlite(_) => false,
            Self::Postgres(_) => true,
        }
    }

    /// Whether a session can hang forever: libpq has no timeout for a response.
    pub(crate) const fn can_hang(&self) -> bool {
        match self {
            Self::Sqlite(_) => false,
            Self::Postgres(_) => true,
        }
    }

    /// Ends sessions that block writers and wait for a client that hangs. Returns at once.
    pub(crate) fn end_stuck_sessions(&self) {
        match self {
            // Its only writer waits for no other session.
            Self::Sqlite(_) => {}
            Self::Postgres(database) => database.end_stuck_sessions(),
        }
    }

    /// Fails unless the database accepts writes and responds within a second. `None`: a look-up shows it.
    pub(crate) fn check_writable(&self) -> Option<Result<()>> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(database) => Some(database.check_writable()),
        }
    }

    /// Whether a pool tests a session before it lends it: a connection to a server may have broken.
    pub(crate) const fn tests_sessions(&self) -> bool {
        match self {
            Self::Sqlite(_) => false,
            Self::Postgres(_) => true,
        }
    }

    /// Starts the threads that work beside the writers.
    pub(crate) fn start_workers(&self, options: &StoreOptions, clock: &Arc<dyn Clock>) -> Result<Workers> {
        match self {
            Self::Sqlite(database) => database.start_workers(options),
            Self::Postgres(database) => database.start_workers(options, clock),
        }
    }

    /// Stored events that a rebuild of the index has not reached yet.
    pub(crate) fn events_to_rebuild(&self) -> u64 {
        match self {
            Self::Sqlite(database) => database.shared.rebuild.remaining(),
            // PostgreSQL's backlog has them.
            Self::Postgres(_) => 0,
        }
    }

    /// Memory of the filters of idempotency keys of earlier months.
    pub(crate) fn key_filter_bytes(&self) -> u64 {
        match self {
            // SQLite has one filter of all keys.
            Self::Sqlite(_) => 0,
            Self::Postgres(database) => database.shared.key_filter_bytes(),
        }
    }

    /// Waits until [`Self::events_to_rebuild`] is 0.
    pub(crate) fn wait_for_rebuild(&self) {
        match self {
            Self::Sqlite(database) => database.shared.rebuild.wait(),
            Self::Postgres(_) => {}
        }
    }

    /// Wakes the indexer: a writer may have stored events.
    pub(crate) fn wake_indexer(&self) {
        match self {
            Self::Sqlite(database) => database.shared.progress.wake(),
            Self::Postgres(database) => database.shared.progress.wake(),
        }
    }

    /// Drops everything that is cached of commits: the outcome of the last one is unknown, or the database was connected
    /// again and may have lost some of them.
    pub(crate) fn forget_commits(&self) {
        match self {
            // SQLite's is part of the session.
            Self::Sqlite(_) => {}
            Self::Postgres(database) => database.shared.forget_commits(),
        }
    }
}

impl AnySession {
    /// Gives free pages of the file back, some in each call, on SQLite. Returns whether there are more.
    pub(crate) fn give_back_pages(&mut self) -> Result<bool> {
        match self {
            Self::Sqlite(session) => sqlite::space::give_back(session),
            Self::Postgres(_) => Ok(false),
        }
    }
}

impl WriteTransactions for AnySession {
    fn begin(&mut self) -> QueryResult<()> {
        on_either!(self, session => session.begin())
    }

    fn commit(&mut self) -> QueryResult<()> {
        on_either!(self, session => session.commit())
    }

    fn roll_back_failed_commit(&mut self, error: &diesel::result::Error) -> bool {
        on_either!(self, session => session.roll_back_failed_commit(error))
    }
}
