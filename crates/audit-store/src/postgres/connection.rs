//! Connections to a PostgreSQL server.

use super::PostgresSession;
use crate::database::transaction::WriteTransactions;
use crate::database::url;
use crate::error::{Result, StoreError};
use crate::workers;
use diesel::connection::{InstrumentationEvent, SimpleConnection};
use diesel::result::{DatabaseErrorKind, Error};
use diesel::sql_types::{Bool, Nullable, Text};
use diesel::{Connection, PgConnection, QueryResult, QueryableByName, RunQueryDsl, sql_query};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// Which plans PostgreSQL makes of the statements that a session repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plans {
    /// Those for any parameters, once.
    Generic,
    /// Those for the parameters, each time. Citus needs them to find the server of a table.
    Custom,
}

/// The purpose of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To read.
    Read,
    /// To write.
    Write,
    /// To write the index.
    Index,
    /// To bring tables up to date.
    Migrate,
}

/// How long connecting to one host may take.
const CONNECT_TIMEOUT_SECONDS: u32 = 5;
/// How long sent data may stay unacknowledged before either side counts the connection as broken. The server's limit ends a
/// session that sends rows to a frozen node. If it holds locks meanwhile, other nodes end it earlier (`stuck_sessions.rs`).
const TCP_TIMEOUT_MS: u32 = 8_000;
const SERVER_TCP_TIMEOUT_MS: u32 = 10_000;
/// How long a connection may be silent before it is probed.
const KEEPALIVE_SECONDS: u32 = 10;
/// How long the first statements of a session may take after libpq has connected, in seconds. A pooler accepts a client before
/// it has a server connection for it.
const SESSION_START_SECONDS: u32 = 10;
/// The limit of libpq where the URL has a `connect_timeout` that sets none.
const CONNECT_SECONDS_MAX: u32 = 60;
/// Attempts to open a session that are pending, at most. A server that accepts connections and hangs leaves attempts behind.
const PENDING_ATTEMPTS_MAX: usize = 64;
/// How long a query may take.
const READ_TIMEOUT_MS: u32 = 10_000;
/// How long a writer waits for the head of a ledger that another writer, on any node, has locked. Longer than a node that
/// hangs in a transaction keeps its locks.
const LOCK_TIMEOUT_MS: u32 = 3_000;
/// How long one statement of a writer may take.
const WRITE_TIMEOUT_MS: u32 = 10_000;
/// How long one statement of the indexer may take.
const INDEX_TIMEOUT_MS: u32 = 30_000;
/// How long a transaction may be idle. A node that hangs in a transaction loses it, and its locks. Between two statements a
/// writer only plans, which takes milliseconds; a claim, which redacts, sets its own limit.
const IDLE_TRANSACTION_TIMEOUT_MS: u32 = 1_500;
/// How long a transaction of the indexer may be idle: it sorts and encodes blocks between its statements.
const IDLE_INDEX_TRANSACTION_TIMEOUT_MS: u32 = 10_000;
/// How long the connection of the node that writes the index may be idle: a node that hangs loses the lock. The node sends a
/// statement every second. Needs PostgreSQL 14; older versions detect only a lost network connection.
const IDLE_INDEXER_TIMEOUT_MS: u32 = 10_000;
/// How long a command that needs the database for itself looks whether sessions that write have ended, and how often.
const UNUSED_WAIT: Duration = Duration::from_secs(3);
const UNUSED_PAUSE: Duration = Duration::from_millis(100);
/// How long a node that starts waits for another one that migrates.
const MIGRATION_LOCK_TIMEOUT_MS: u32 = 60_000;

#[derive(QueryableByName)]
struct Condition {
    #[diesel(sql_type = Bool)]
    holds: bool,
}

fn ask(connection: &mut PgConnection, expression: &str) -> QueryResult<bool> {
    let found: Condition = sql_query(format!("SELECT {expression} AS holds")).get_result(connection)?;
    Ok(found.holds)
}

/// Whether the server is a standby.
pub(crate) fn is_standby(connection: &mut PgConnection) -> QueryResult<bool> {
    ask(connection, "pg_is_in_recovery()")
}

/// Tests whether the session still works and its server is still what it was when the session began, and has its statements
/// planned again: a plan that was made while a table was small can be slow once it is large.
pub(crate) fn test(session: &mut PostgresSession) -> QueryResult<()> {
    session.connection.batch_execute("DISCARD PLANS")?;
    if has_moved(session) {
        return Err(gone("the cell was moved to another server"));
    }
    match is_standby(&mut session.connection)? == session.memory.is_standby {
        true => Ok(()),
        false => Err(gone("the server was promoted or demoted")),
    }
}

/// Sets `has_failed` when a statement of the connection fails.
pub(crate) fn note_failures(connection: &mut PgConnection, has_failed: &Arc<AtomicBool>) {
    let has_failed = Arc::clone(has_failed);
    connection.set_instrumentation(move |event: InstrumentationEvent<'_>| {
        if let InstrumentationEvent::FinishQuery { error: Some(_), .. } = event {
            has_failed.store(true, Ordering::Relaxed);
        }
    });
}

/// Whether a statement of the session has failed since the last call.
pub(crate) fn take_failure(session: &mut PostgresSession) -> bool {
    session.memory.has_failed.swap(false, Ordering::Relaxed)
}

/// Whether the tables are on another server than the session.
pub(crate) fn has_moved(session: &mut PostgresSession) -> bool {
    !session.memory.shared.place.is(&session.memory.location)
}

/// Tests whether a writing session still works and its server accepts writes.
pub(crate) fn test_writer(session: &mut PostgresSession) -> QueryResult<()> {
    test_writing(&mut session.connection)
}

/// Tests whether the connection works and its server accepts writes.
pub(crate) fn test_writing(connection: &mut PgConnection) -> QueryResult<()> {
    match ask(connection, "current_setting('transaction_read_only')::bool")? {
        false => Ok(()),
        true => Err(gone("the server accepts no writes")),
    }
}

/// The error of a session that must be replaced.
fn gone(reason: &str) -> Error {
    Error::DatabaseError(DatabaseErrorKind::ClosedConnection, Box::new(reason.to_owned()))
}

impl WriteTransactions for PostgresSession {
    fn begin(&mut self) -> QueryResult<()> {
        self.connection.batch_execute("BEGIN")
    }

    fn commit(&mut self) -> QueryResult<()> {
        self.connection.batch_execute("COMMIT")
    }

    /// A server that responds to the `ROLLBACK` has rolled back the transaction whose `COMMIT` failed. A server that does not
    /// may have committed it.
    fn roll_back_failed_commit(&mut self, _: &Error) -> bool {
        self.connection.batch_execute("ROLLBACK").is_ok()
    }
}

/// Opens a connection to the database of this URL. Blocks for as long as libpq may try its hosts and
/// [`SESSION_START_SECONDS`], at most.
///
/// libpq has no timeout for a response. A session that the server or a pooler does not serve is therefore opened on a
/// thread of its own, which ends whenever libpq returns.
pub(crate) fn connect(url: &str, purpose: Purpose) -> Result<PgConnection> {
    connect_planned(url, purpose, Plans::Generic)
}

/// [`connect`] with these plans.
pub(crate) fn connect_planned(url: &str, purpose: Purpose, plans: Plans) -> Result<PgConnection> {
    static PENDING_ATTEMPTS: AtomicUsize = AtomicUsize::new(0);
    if PENDING_ATTEMPTS.load(Ordering::Relaxed) >= PENDING_ATTEMPTS_MAX {
        let reason = format!("{PENDING_ATTEMPTS_MAX} attempts to open a session are pending");
        return Err(StoreError::Unreachable(reason));
    }
    let (url, schema) = url::split_schema(url);
    let schema = schema.map(str::to_owned);
    let url = with_defaults(&url, purpose);
    #[cfg(feature = "postgres-tls")]
    let url = super::tls::prepare(&url);
    let limit = session_start_max(&url);
    let (reply, opened) = mpsc::sync_channel(1);
    PENDING_ATTEMPTS.fetch_add(1, Ordering::Relaxed);
    let attempt = move || {
        let outcome = open(&url, &settings(schema.as_deref(), purpose, plans));
        PENDING_ATTEMPTS.fetch_sub(1, Ordering::Relaxed);
        if reply.send(outcome).is_err() {
            log::debug!("a session was opened too late");
        }
    };
    if let Err(error) = workers::spawn("connecting".to_owned(), attempt) {
        PENDING_ATTEMPTS.fetch_sub(1, Ordering::Relaxed);
        return Err(error);
    }
    opened.recv_timeout(limit).unwrap_or_else(|_| {
        Err(StoreError::Unreachable(format!(
            "no session started within {} s: DNS does not resolve the host, or the server hangs, or the pool of a connection \
             pooler such as PgBouncer is too small for all connections of the nodes",
            limit.as_secs()
        )))
    })
}

/// Diesel sends statements of its own while it connects, so libpq's `connect_timeout` does not bound this.
fn open(url: &str, settings: &str) -> Result<PgConnection> {
    let unreachable = |error: String| StoreError::Unreachable(error.trim_end().to_owned());
    let mut connection = PgConnection::establish(url).map_err(|error| unreachable(error.to_string()))?;
    let begun = connection.batch_execute(settings);
    begun.map_err(|error| unreachable(error.to_string()))?;
    Ok(connection)
}

/// How long opening a session may take: libpq tries the hosts one after another.
fn session_start_max(url: &str) -> Duration {
    let (base, parameters) = url.split_once('?').unwrap_or((url, ""));
    let of = |name: &str| {
        let mut parameters = parameters.split('&').filter_map(|one| one.split_once('='));
        parameters.find_map(|(of, value)| (of == name).then_some(value))
    };
    let hosts = 1 + base
        .matches(',')
        .count()
        .max(of("host").map_or(0, |hosts| hosts.matches(',').count()));
    let connect_timeout = of("connect_timeout").and_then(|seconds| seconds.parse::<u32>().ok());
    let connect_timeout = connect_timeout.filter(|seconds| (1..=CONNECT_SECONDS_MAX).contains(seconds));
    let connecting = connect_timeout
        .unwrap_or(CONNECT_SECONDS_MAX)
        .saturating_mul(hosts as u32);
    Duration::from_secs(u64::from(connecting.saturating_add(SESSION_START_SECONDS)))
}

/// The advisory lock of the sessions that write to this schema, as an expression. Each holds it shared until it ends.
const WRITERS_LOCK: &str = "x'6175647700000000'::bigint + current_schema()::regnamespace::oid::bigint";

/// Fails while another process has a session that writes to this schema. Looks again for a moment: the server ends the sessions of a
/// process that has just exited, or of this one, when it notices that they are closed. A lock that waits would hold up new sessions of
/// running servers.
pub(crate) fn require_unused(url: &str) -> Result<()> {
    #[derive(QueryableByName)]
    struct Holders {
        #[diesel(sql_type = Bool)]
        is_free: bool,
        #[diesel(sql_type = Nullable<Text>)]
        addresses: Option<String>,
    }
    let mut connection = connect(url, Purpose::Migrate)?;
    let query = format!(
        "SELECT pg_try_advisory_lock({WRITERS_LOCK}) AS is_free, \
             (SELECT string_agg(DISTINCT coalesce(host(client_addr), 'this machine'), ', ') FROM pg_locks \
              JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory' AND mode = 'ShareLock' AND granted \
              AND (classid::bigint << 32) + objid::bigint = {WRITERS_LOCK}) AS addresses"
    );
    let deadline = Instant::now() + UNUSED_WAIT;
    loop {
        let found: Holders = sql_query(&query).get_result(&mut connection)?;
        if found.is_free {
            return Ok(());
        }
        if Instant::now() >= deadline {
            let addresses = found.addresses.unwrap_or_default();
            return Err(StoreError::InUse(format!(
                "processes on these machines write to the database: {addresses}; stop the servers"
            )));
        }
        std::thread::sleep(UNUSED_PAUSE);
    }
}

/// The settings of a session. The timeouts end hanging locks, statements and transactions, so that other nodes continue.
///
/// The schema of a cell is selected here and not by a parameter of the connection, which poolers refuse.
fn settings(schema: Option<&str>, purpose: Purpose, plans: Plans) -> String {
    let (plans, of_citus) = match plans {
        Plans::Generic => ("force_generic_plan", ""),
        // The sizes of the tables are those of what Citus hides.
        Plans::Custom => ("force_custom_plan", "SET citus.override_table_visibility = off;"),
    };
    let own = match purpose {
        // Readers read from an index in the order of the response. Their statements are planned once a second (`test`): a
        // plan that was made while the table was small reads all of it once it is large.
        Purpose::Read => format!(
            "SET default_transaction_read_only = on; SET plan_cache_mode = {plans}; SET enable_seqscan = off;
             SET enable_bitmapscan = off; SET enable_sort = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
             SET jit = off; SET statement_timeout = {READ_TIMEOUT_MS};"
        ),
        // Writers look rows up by an index whatever the size of the table, so their statements are planned once in five seconds. Each
        // statement sees what was committed while it, or the one before it, waited for a lock.
        Purpose::Write => format!(
            "SET plan_cache_mode = {plans}; SET enable_seqscan = off; SET enable_hashjoin = off;
             SET enable_mergejoin = off; SET jit = off; SET default_transaction_isolation = 'read committed';
             SET lock_timeout = {LOCK_TIMEOUT_MS};
             SET statement_timeout = {WRITE_TIMEOUT_MS};
             SET idle_in_transaction_session_timeout = {IDLE_TRANSACTION_TIMEOUT_MS};
             SELECT pg_advisory_lock_shared({WRITERS_LOCK});"
        ),
        // Rows that a crash removes from the index are indexed again, so its commits need not wait for the disk. Statements are
        // planned each time, because the tables grow and shrink.
        Purpose::Index => format!(
            "SET synchronous_commit = off; SET plan_cache_mode = force_custom_plan; SET enable_seqscan = off;
             SET enable_bitmapscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off; SET default_transaction_isolation = 'read committed';
             SET statement_timeout = {INDEX_TIMEOUT_MS};
             SET idle_in_transaction_session_timeout = {IDLE_INDEX_TRANSACTION_TIMEOUT_MS};
             SET tcp_keepalives_idle = {KEEPALIVE_SECONDS}; SET tcp_keepalives_interval = 5;
             SET tcp_keepalives_count = 3;
             SELECT set_config('idle_session_timeout', '{IDLE_INDEXER_TIMEOUT_MS}', FALSE)
                 WHERE current_setting('server_version_num')::int >= 140000;"
        ),
        // A migration may take as long as it needs.
        Purpose::Migrate => format!("SET lock_timeout = {MIGRATION_LOCK_TIMEOUT_MS};"),
    };
    // The URL was parsed, so the name needs no quotes.
    let search_path = schema.map_or_else(String::new, |schema| format!("SET search_path = {schema};"));
    format!(
        "SET client_min_messages = warning; {search_path} {of_citus} {own}
         SELECT set_config('tcp_user_timeout', '{SERVER_TCP_TIMEOUT_MS}', FALSE)
             WHERE current_setting('server_version_num')::int >= 120000"
    )
}

/// The URL with timeouts for a dead network, and with the kind of server that a session needs where the URL names several
/// hosts or an address leads to a standby. Parameters of the URL itself take precedence. Readers use the primary too: a client must
/// read what it wrote.
fn with_defaults(url: &str, purpose: Purpose) -> String {
    let connect_timeout = CONNECT_TIMEOUT_SECONDS.to_string();
    let tcp_timeout = TCP_TIMEOUT_MS.to_string();
    let keepalive = KEEPALIVE_SECONDS.to_string();
    let server = match purpose {
        Purpose::Read => "primary",
        Purpose::Write | Purpose::Index | Purpose::Migrate => "read-write",
    };
    let defaults = [
        ("connect_timeout", connect_timeout.as_str()),
        ("tcp_user_timeout", &tcp_timeout),
        ("keepalives_idle", &keepalive),
        ("target_session_attrs", server),
    ];
    let mut complete = url.to_owned();
    for (name, value) in defaults {
        let parameters = url.split_once('?').map_or("", |(_, parameters)| parameters);
        let is_set = parameters
            .split('&')
            .any(|parameter| parameter.split('=').next() == Some(name));
        if !is_set {
            let separator = if complete.contains('?') { '&' } else { '?' };
            complete = format!("{complete}{separator}{name}={value}");
        }
    }
    complete
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writing_session_asks_for_a_server_that_accepts_writes_unless_the_url_says_otherwise() {
        let url = "postgres://u@h1:5432,h2:5433/d";
        assert_eq!(
            with_defaults(url, Purpose::Write),
            "postgres://u@h1:5432,h2:5433/d?connect_timeout=5&tcp_user_timeout=8000&keepalives_idle=10\
             &target_session_attrs=read-write"
        );
        assert!(with_defaults(url, Purpose::Read).ends_with("&target_session_attrs=primary"));
        let own = "postgres://u@h1,h2/d?target_session_attrs=any&connect_timeout=2";
        for purpose in [Purpose::Read, Purpose::Write, Purpose::Index, Purpose::Migrate] {
            assert_eq!(
                with_defaults(own, purpose),
                format!("{own}&tcp_user_timeout=8000&keepalives_idle=10")
            );
        }
    }

    #[test]
    fn each_host_may_take_its_time_to_connect() {
        let seconds = |url: &str| session_start_max(&with_defaults(url, Purpose::Write)).as_secs();
        assert_eq!(seconds("postgres://h/d"), 5 + 10);
        assert_eq!(seconds("postgres://h1,h2:5433/d"), 2 * 5 + 10);
        assert_eq!(
            seconds("postgres:///d?host=/a,/b,/c&connect_timeout=2"),
            3 * 2 + 10
        );
        assert_eq!(seconds("postgres://h/d?connect_timeout=0"), 60 + 10);
    }

    #[test]
    fn the_name_of_a_host_or_database_sets_no_parameter() {
        let url = with_defaults("postgres://connect_timeout/keepalives_idle", Purpose::Read);
        assert!(
            url.contains("?connect_timeout=5&") && url.contains("&keepalives_idle=10"),
            "{url}"
        );
    }
}
