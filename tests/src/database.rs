//! The two databases that every test runs on.

use crate::edge::temporary_directory;
use crate::postgres;
use diesel::connection::SimpleConnection;
use diesel::{
    Connection, PgConnection, QueryableByName, RunQueryDsl, SqliteConnection, sql_query, sql_types,
};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// The advisory lock of PostgreSQL for which transactions wait at their pause.
const PAUSE_LOCK: i64 = 7_310_001;

/// Which database a test runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseKind {
    /// Embedded, the default.
    Sqlite,
    /// By URL.
    Postgres,
}

impl DatabaseKind {
    /// Whether tests can run on it here (see the prerequisites of the tests). SQLite always is.
    pub fn is_available(self) -> bool {
        self == Self::Sqlite || postgres::is_available()
    }
}

/// An empty database, removed with the test process. A clone is the same database.
#[derive(Clone, Debug)]
pub struct Database {
    kind: DatabaseKind,
    url: String,
    directory: Option<PathBuf>,
}

/// An open transaction. Closing its connection ends it.
#[expect(missing_debug_implementations, reason = "connections have none")]
pub enum WriteLock {
    /// The lock of the whole database.
    Sqlite(Box<SqliteConnection>),
    /// A lock on the table that every append needs.
    Postgres(Box<PgConnection>),
}

#[derive(QueryableByName)]
struct Column {
    #[diesel(sql_type = sql_types::Text)]
    table_name: String,
    #[diesel(sql_type = sql_types::Text)]
    column_name: String,
}

#[derive(QueryableByName)]
struct RowText {
    #[diesel(sql_type = sql_types::Text)]
    text: String,
}

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = sql_types::BigInt)]
    count: i64,
}

impl Database {
    /// A new, empty database.
    pub fn create(kind: DatabaseKind) -> Self {
        match kind {
            DatabaseKind::Sqlite => Self::in_directory(temporary_directory("sqlite-")),
            DatabaseKind::Postgres => Self {
                kind,
                url: postgres::create_database(),
                directory: None,
            },
        }
    }

    /// An SQLite database in this directory, which may have its files already.
    pub fn in_directory(directory: PathBuf) -> Self {
        Self {
            kind: DatabaseKind::Sqlite,
            url: format!("sqlite:{}", directory.join("audit.db").display()),
            directory: Some(directory),
        }
    }

    /// The database of this URL on PostgreSQL.
    pub fn at(url: String) -> Self {
        Self {
            kind: DatabaseKind::Postgres,
            url,
            directory: None,
        }
    }

    /// A copy of the database, as a backup would be. No process may have it open.
    pub fn copy(&self) -> Self {
        if self.kind == DatabaseKind::Postgres {
            return Self {
                kind: self.kind,
                url: postgres::copy_database(&self.url),
                directory: None,
            };
        }
        let copy = Self::create(self.kind);
        let directory = copy.directory.as_ref().expect("SQLite has a directory");
        for (path, bytes) in self.files() {
            let name = path.file_name().expect("a file has a name");
            std::fs::write(directory.join(name), bytes).expect("copy a database file");
        }
        copy
    }

    /// The kind of the database.
    pub fn kind(&self) -> DatabaseKind {
        self.kind
    }

    /// The literal of these bytes in SQL.
    pub fn blob(&self, bytes: &[u8]) -> String {
        let hex = base16ct::lower::encode_string(bytes);
        match self.kind {
            DatabaseKind::Sqlite => format!("X'{hex}'"),
            DatabaseKind::Postgres => format!("'\\x{hex}'::bytea"),
        }
    }

    /// For `--database-url`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The bytes of every file of an SQLite database, its write-ahead log included. The last connection moves that log into the other file
    /// when it closes; then all are read again.
    pub fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let directory = self.directory.as_ref().expect("only SQLite keeps its files here");
        let read = || {
            let entries = std::fs::read_dir(directory).expect("list the database's directory");
            let paths = entries.map(|entry| entry.expect("list the database's directory").path());
            paths
                .map(|path| std::fs::read(&path).map(|bytes| (path, bytes)))
                .collect::<io::Result<_>>()
        };
        loop {
            match read() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                read => return read.expect("read the database's files"),
            }
        }
    }

    /// Runs SQL on the database itself, past the server.
    pub fn execute(&self, sql: &str) {
        match self.kind {
            DatabaseKind::Sqlite => self.sqlite().batch_execute(sql),
            DatabaseKind::Postgres => self.postgres().batch_execute(sql),
        }
        .unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    /// The number of rows; `rows` is the text after `SELECT count(*) FROM`.
    pub fn count(&self, rows: &str) -> i64 {
        let query = sql_query(format!("SELECT count(*) AS count FROM {rows}"));
        let counted: Count = match self.kind {
            DatabaseKind::Sqlite => query.get_result(&mut self.sqlite()),
            DatabaseKind::Postgres => query.get_result(&mut self.postgres()),
        }
        .unwrap_or_else(|error| panic!("{rows}: {error}"));
        counted.count
    }

    /// The rows of a table as text, sorted: the same on both databases for the same values.
    pub fn rows(&self, table: &str, columns: &BTreeSet<String>) -> Vec<String> {
        let text = |column: &String| {
            match self.kind {
            DatabaseKind::Sqlite => format!(
                "CASE typeof({column}) WHEN 'null' THEN 'null' WHEN 'blob' THEN '\\x' || lower(hex({column}))
                     ELSE CAST({column} AS TEXT) END"
            ),
            DatabaseKind::Postgres => format!(
                "coalesce(CASE WHEN pg_typeof({column}) = 'boolean'::regtype
                     THEN CASE {column}::text WHEN 'true' THEN '1' ELSE '0' END ELSE {column}::text END, 'null')"
            ),
        }
        };
        let texts: Vec<String> = columns.iter().map(text).collect();
        let query = sql_query(format!(
            "SELECT {} AS text FROM {table}",
            texts.join(" || ' | ' || ")
        ));
        let rows: Vec<RowText> = match self.kind {
            DatabaseKind::Sqlite => query.load(&mut self.sqlite()),
            DatabaseKind::Postgres => query.load(&mut self.postgres()),
        }
        .unwrap_or_else(|error| panic!("{table}: {error}"));
        let mut rows: Vec<String> = rows.into_iter().map(|row| row.text).collect();
        rows.sort();
        rows
    }

    /// Whether a write transaction is open. Only for SQLite, which has one writer.
    pub fn is_being_written(&self) -> bool {
        let mut connection = self.sqlite();
        let attempt = connection.batch_execute("PRAGMA busy_timeout = 0; BEGIN IMMEDIATE; ROLLBACK");
        attempt.is_err()
    }

    /// Blocks all other writers for as long as the returned guard lives.
    pub fn hold(&self) -> WriteLock {
        match self.kind {
            DatabaseKind::Sqlite => {
                let mut connection = self.sqlite();
                connection
                    .batch_execute("BEGIN IMMEDIATE")
                    .expect("take the write lock");
                WriteLock::Sqlite(Box::new(connection))
            }
            DatabaseKind::Postgres => {
                let mut connection = self.postgres();
                let lock = "BEGIN; LOCK TABLE ledgers IN ACCESS EXCLUSIVE MODE";
                connection.batch_execute(lock).expect("lock the table");
                WriteLock::Postgres(Box::new(connection))
            }
        }
    }

    /// Holds the locks of this SQL on PostgreSQL for as long as the returned guard lives.
    pub fn hold_locks(&self, sql: &str) -> WriteLock {
        let mut connection = self.postgres();
        connection
            .batch_execute(&format!("BEGIN; {sql}"))
            .expect("take the locks");
        WriteLock::Postgres(Box::new(connection))
    }

    /// From now on, transactions that store events pause in their commit, after all their work, while
    /// [`Self::hold_pauses`] holds. Only for PostgreSQL, where a deferred trigger runs then.
    pub fn pause_commits(&self) {
        self.create_pause(
            "CREATE CONSTRAINT TRIGGER pause AFTER UPDATE ON ledgers DEFERRABLE INITIALLY DEFERRED FOR EACH ROW",
        );
    }

    /// From now on, statements of this kind (`AFTER INSERT ON streams`) pause within their transaction while
    /// [`Self::hold_pauses`] holds. Only for PostgreSQL.
    pub fn pause_statements(&self, kind: &str) {
        self.create_pause(&format!("CREATE TRIGGER pause {kind} FOR EACH STATEMENT"));
    }

    fn create_pause(&self, trigger: &str) {
        self.postgres()
            .batch_execute(&format!(
                "CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN
                        PERFORM set_config('lock_timeout', '0', true);
                        PERFORM pg_advisory_xact_lock_shared({PAUSE_LOCK});
                        RETURN NULL;
                    END $$;
                {trigger} EXECUTE FUNCTION pause()"
            ))
            .expect("create the trigger");
    }

    /// Holds transactions at their pause for as long as the returned guard lives.
    pub fn hold_pauses(&self) -> WriteLock {
        let mut connection = self.postgres();
        let lock = format!("BEGIN; SELECT pg_advisory_xact_lock({PAUSE_LOCK})");
        connection.batch_execute(&lock).expect("take the lock");
        WriteLock::Postgres(Box::new(connection))
    }

    /// How many transactions are held at their pause.
    pub fn paused(&self) -> i64 {
        self.count(
            "pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
            WHERE locktype = 'advisory' AND NOT granted AND datname = current_database()",
        )
    }

    /// Copies every table. Only for PostgreSQL.
    pub fn save(&self) {
        let tables = self.tables();
        let copies = tables
            .keys()
            .map(|table| format!("CREATE TABLE saved.{table} AS TABLE {table};"));
        self.execute(&format!("CREATE SCHEMA saved; {}", copies.collect::<String>()));
    }

    /// Puts every table but `excluded` back into the state at [`Self::save`], while servers use them: what a failover
    /// leaves that lost commits. Only for PostgreSQL.
    pub fn restore(&self, excluded: &[&str]) {
        let tables = self.tables();
        let tables = tables.keys().filter(|table| !excluded.contains(&table.as_str()));
        let restore =
            |table: &String| format!("DELETE FROM {table}; INSERT INTO {table} SELECT * FROM saved.{table};");
        let locks: Vec<&str> = tables.clone().map(String::as_str).collect();
        let locks = locks.join(", ");
        let restored: String = tables.map(restore).collect();
        // Servers commit before the locks or after them, never between two of the statements. Of two transactions that wait for
        // each other, the one of the server ends, and the server repeats it: this one looks for a deadlock much later. Without the
        // triggers of foreign keys, the order of the tables does not matter.
        self.execute(&format!(
            "BEGIN; SET LOCAL deadlock_timeout = '60s'; LOCK TABLE {locks} IN ACCESS EXCLUSIVE MODE;
             SET LOCAL session_replication_role = replica; {restored} COMMIT"
        ));
    }

    /// Ends the connections of all servers, and waits until they have ended. Only for PostgreSQL.
    pub fn end_sessions(&self) {
        self.execute(
            "DO $$ BEGIN PERFORM pg_terminate_backend(pid, 60000) FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid(); END $$",
        );
    }

    /// The columns of every table, from the catalog. Partitions have those of their table.
    pub fn tables(&self) -> BTreeMap<String, BTreeSet<String>> {
        let sqlite = "SELECT t.name AS table_name, c.name AS column_name
            FROM pragma_table_list t, pragma_table_info(t.name) c
            WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
        let postgres = "SELECT table_name::text, column_name::text FROM information_schema.columns
            WHERE table_schema = current_schema()
                AND NOT (SELECT relispartition FROM pg_class WHERE oid = quote_ident(table_name)::regclass)";
        let columns: Vec<Column> = match self.kind {
            DatabaseKind::Sqlite => sql_query(sqlite).load(&mut self.sqlite()),
            DatabaseKind::Postgres => sql_query(postgres).load(&mut self.postgres()),
        }
        .expect("read the catalog");
        let mut tables = BTreeMap::<_, BTreeSet<_>>::new();
        for Column {
            table_name,
            column_name,
        } in columns
        {
            tables.entry(table_name).or_default().insert(column_name);
        }
        tables
    }

    fn sqlite(&self) -> SqliteConnection {
        let path = self
            .url
            .strip_prefix("sqlite:")
            .expect("the URL of an SQLite database");
        let mut connection = SqliteConnection::establish(path).expect("open the SQLite database");
        let wait = format!("PRAGMA busy_timeout = {}", Duration::from_secs(30).as_millis());
        connection.batch_execute(&wait).expect("set the busy timeout");
        connection
    }

    fn postgres(&self) -> PgConnection {
        PgConnection::establish(&self.url).expect("connect to the PostgreSQL database")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_database_is_empty_and_its_catalog_can_be_read() {
        for kind in [DatabaseKind::Sqlite, DatabaseKind::Postgres] {
            if kind.is_available() {
                let (database, other) = (Database::create(kind), Database::create(kind));
                assert!(database.tables().is_empty());
                database.execute("CREATE TABLE a (x BIGINT, y TEXT); CREATE TABLE b (z BIGINT)");
                let tables = database.tables();
                assert_eq!(tables.keys().collect::<Vec<_>>(), ["a", "b"], "{kind:?}");
                assert_eq!(tables["a"].iter().collect::<Vec<_>>(), ["x", "y"], "{kind:?}");
                assert!(other.tables().is_empty(), "{kind:?}");
            }
        }
    }
}
