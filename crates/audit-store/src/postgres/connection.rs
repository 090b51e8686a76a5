//! Connections to a PostgreSQL server.

use super::PostgresSession;
use crate::database::WriteTransactions;
use crate::error::{Result, StoreError};
use diesel::connection::SimpleConnection;
use diesel::{Connection, PgConnection, QueryResult};
use std::fmt;

/// The purpose of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To read.
    Read,
    /// To write, and to bring tables up to date.
    Write,
    /// To write the index.
    Index,
}

/// How long connecting may take.
const CONNECT_TIMEOUT_SECONDS: u32 = 5;
/// How long sent data may stay unacknowledged before the connection counts as broken.
const TCP_TIMEOUT_MS: u32 = 8_000;
/// How long a connection may be silent before it is probed.
const KEEPALIVE_SECONDS: u32 = 10;
/// How long a query may take.
const READ_TIMEOUT_MS: u32 = 10_000;
/// How long a writer waits for the head of a ledger that another writer, on any node, has locked.
const LOCK_TIMEOUT_MS: u32 = 3_000;
/// How long one statement of a writer may take.
const WRITE_TIMEOUT_MS: u32 = 30_000;
/// How long a transaction may be idle. A node that hangs in a transaction loses it, and its locks.
const IDLE_TRANSACTION_TIMEOUT_MS: u32 = 10_000;
/// How long the connection of the node that writes the index may be idle: a node that hangs loses the lock. The node sends a
/// statement every second. Needs PostgreSQL 14; older versions detect only a lost network connection.
const IDLE_INDEXER_TIMEOUT_MS: u32 = 10_000;

/// Tests whether the session still works, and has its statements planned again: a plan that was made while a table was
/// small can be slow once it is large.
pub(crate) fn test(session: &mut PostgresSession) -> QueryResult<()> {
    session.connection.batch_execute("DISCARD PLANS")
}

impl WriteTransactions for PostgresSession {
    fn begin(&mut self) -> QueryResult<()> {
        self.connection.batch_execute("BEGIN")
    }

    fn commit(&mut self) -> QueryResult<()> {
        self.connection.batch_execute("COMMIT")
    }
}

/// Opens a connection to the database of this URL.
pub(crate) fn connect(url: &str, purpose: Purpose) -> Result<PgConnection> {
    let unreachable =
        |error: &dyn fmt::Display| StoreError::Unreachable(error.to_string().trim_end().to_owned());
    let mut connection =
        PgConnection::establish(&with_network_limits(url)).map_err(|error| unreachable(&error))?;
    // The timeouts end hanging locks, statements and transactions, so that other nodes continue.
    let settings = match purpose {
        // Readers read from an index in the order of the response. Their statements are planned once a second (`test`): a
        // plan that was made while the table was small reads all of it once it is large.
        Purpose::Read => format!(
            "SET default_transaction_read_only = on; SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off;
             SET enable_bitmapscan = off; SET enable_sort = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
             SET jit = off; SET statement_timeout = {READ_TIMEOUT_MS};"
        ),
        // Writers look rows up by an index whatever the size of the table, so their statements are planned once. Each
        // statement sees what was committed while it, or the one before it, waited for a lock.
        Purpose::Write => format!(
            "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_hashjoin = off;
             SET enable_mergejoin = off; SET jit = off; SET default_transaction_isolation = 'read committed';
             SET lock_timeout = {LOCK_TIMEOUT_MS};
             SET statement_timeout = {WRITE_TIMEOUT_MS};
             SET idle_in_transaction_session_timeout = {IDLE_TRANSACTION_TIMEOUT_MS};"
        ),
        // Rows that a crash removes from the index are indexed again, so its commits need not wait for the disk. Statements are
        // planned each time, because the tables grow and shrink.
        Purpose::Index => format!(
            "SET synchronous_commit = off; SET plan_cache_mode = force_custom_plan; SET jit = off; SET default_transaction_isolation = 'read committed';
             SET statement_timeout = {WRITE_TIMEOUT_MS};
             SET idle_in_transaction_session_timeout = {IDLE_TRANSACTION_TIMEOUT_MS};
             SET tcp_keepalives_idle = {KEEPALIVE_SECONDS}; SET tcp_keepalives_interval = 5;
             SET tcp_keepalives_count = 3;
             SELECT set_config('idle_session_timeout', '{IDLE_INDEXER_TIMEOUT_MS}', FALSE)
                 WHERE current_setting('server_version_num')::int >= 140000"
        ),
    };
    connection
        .batch_execute(&format!("SET client_min_messages = warning; {settings}"))
        .map_err(|error| unreachable(&error))?;
    Ok(connection)
}

/// The URL with timeouts for a dead network, unless it has its own.
fn with_network_limits(url: &str) -> String {
    let limits = [
        ("connect_timeout", CONNECT_TIMEOUT_SECONDS),
        ("tcp_user_timeout", TCP_TIMEOUT_MS),
        ("keepalives_idle", KEEPALIVE_SECONDS),
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
