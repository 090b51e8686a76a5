//! A database with Citus, which a test cannot start by itself: `AUDIT_TEST_CITUS_URL` names it.

use crate::database::Database;
use crate::edge::environment;
use crate::prerequisite::Prerequisite;
use diesel::connection::SimpleConnection;
use diesel::{Connection, PgConnection, QueryableByName, RunQueryDsl, sql_query, sql_types};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The coordinator of a Citus cluster with two workers or more, as a superuser. Schemas of a test are dropped with it.
#[derive(Debug)]
pub struct Citus {
    url: String,
    /// Begins the names of the test's schemas, and names its sessions.
    name: String,
}

/// A server of the cluster.
#[derive(Clone, Debug, PartialEq, Eq, QueryableByName)]
pub struct CitusServer {
    #[diesel(sql_type = sql_types::Text)]
    host: String,
    #[diesel(sql_type = sql_types::Integer)]
    port: i32,
}

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = sql_types::BigInt)]
    count: i64,
}

impl std::fmt::Display for CitusServer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}:{}", self.host, self.port)
    }
}

impl Citus {
    /// `None` where `AUDIT_TEST_CITUS_URL` names none, and the test passes.
    pub fn find() -> Option<Self> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let url = environment("AUDIT_TEST_CITUS_URL").ok_or("AUDIT_TEST_CITUS_URL names no database");
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        Some(Self {
            url: Prerequisite::Citus.check(url)?,
            name: format!("test_{}_{number}", std::process::id()),
        })
    }

    /// The name of a schema of this test.
    pub fn schema(&self, name: &str) -> String {
        format!("{}_{name}", self.name)
    }

    /// A home cell, in a schema that Citus does not distribute.
    pub fn home(&self) -> Database {
        let separator = if self.url.contains('?') { '&' } else { '?' };
        let (url, name) = (&self.url, &self.name);
        Database::at(format!(
            "{url}{separator}application_name={name}&schema={}",
            self.schema("home")
        ))
    }

    /// The server that has the tables of a schema.
    pub fn server_of(&self, schema: &str) -> CitusServer {
        let found = format!(
            "SELECT DISTINCT nodename AS host, nodeport AS port FROM citus_shards \
             WHERE split_part(table_name::text, '.', 1) = '{schema}'"
        );
        let servers: Vec<CitusServer> = self.load(&found);
        assert_eq!(servers.len(), 1, "the tables of {schema} are on {servers:?}");
        servers[0].clone()
    }

    /// Moves a schema to another worker, while it is used, and returns that worker.
    pub fn move_schema(&self, schema: &str) -> CitusServer {
        let from = self.server_of(schema);
        let others: Vec<CitusServer> = self.load(&format!(
            "SELECT nodename AS host, nodeport AS port FROM pg_dist_node \
             WHERE shouldhaveshards AND isactive AND noderole = 'primary' \
             AND (nodename, nodeport) <> ('{}', {}) ORDER BY nodeport",
            from.host, from.port
        ));
        let to = others.first().expect("the cluster has another worker").clone();
        self.execute(&format!(
            "SELECT citus_schema_move('{schema}', '{}', {}, 'force_logical')",
            to.host, to.port
        ));
        assert_eq!(self.server_of(schema), to);
        to
    }

    /// The sessions of this test's servers on a server of the cluster. Those of Citus between its servers have other names.
    pub fn sessions_on(&self, server: &CitusServer) -> i64 {
        self.count_on(server, "pg_stat_activity WHERE application_name = $name")
    }

    /// The transactions of this test's sessions on a server that were committed on other servers, too. Citus forgets them after a
    /// minute or so.
    pub fn distributed_transactions_of(&self, server: &CitusServer) -> i64 {
        // citus_<group>_<process>_<transaction>_<connection>
        self.count_on(
            server,
            "pg_dist_transaction JOIN pg_stat_activity ON split_part(gid, '_', 3) = pid::text \
             WHERE application_name = $name",
        )
    }

    /// The rows on a server; `$name` is that of this test.
    fn count_on(&self, server: &CitusServer, rows: &str) -> i64 {
        let rows = rows.replace("$name", &format!("'{}'", self.name));
        let counted: Vec<Count> = self.load(&format!(
            "SELECT result::bigint AS count FROM run_command_on_all_nodes($$ SELECT count(*) FROM {rows} $$) AS found \
             JOIN pg_dist_node USING (nodeid) WHERE nodename = '{}' AND nodeport = {}",
            server.host, server.port
        ));
        counted.iter().map(|found| found.count).sum()
    }

    fn load<T: QueryableByName<diesel::pg::Pg> + 'static>(&self, sql: &str) -> Vec<T> {
        let rows = sql_query(sql).load(&mut self.connect());
        rows.unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    fn execute(&self, sql: &str) {
        let executed = self.connect().batch_execute(sql);
        executed.unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    fn connect(&self) -> PgConnection {
        PgConnection::establish(&self.url).expect("connect to the coordinator")
    }
}

impl Drop for Citus {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // Its servers may still run, and the schemas say what happened.
            return;
        }
        let name = &self.name;
        self.execute(&format!(
            "SET client_min_messages = warning;
             DO $$ DECLARE name TEXT; BEGIN
                 FOR name IN SELECT nspname FROM pg_namespace WHERE starts_with(nspname, '{name}_') LOOP
                     EXECUTE format('DROP SCHEMA %I CASCADE', name);
                 END LOOP; END $$"
        ));
    }
}
