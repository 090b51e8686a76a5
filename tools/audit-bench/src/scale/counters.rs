//! The counters of PostgreSQL, read over a connection to the administrative database, so that reading them does not count.

use crate::service::{Cluster, Database};
use anyhow::Context;
use diesel::connection::SimpleConnection;
use diesel::{Connection as _, PgConnection, QueryableByName, RunQueryDsl, sql_query, sql_types};
use serde::Serialize;

/// Totals of one database since it was created.
#[derive(Debug, Clone, Copy, Default, PartialEq, QueryableByName)]
pub(crate) struct Totals {
    #[diesel(sql_type = sql_types::BigInt)]
    pub(crate) transactions: i64,
    #[diesel(sql_type = sql_types::BigInt)]
    pub(crate) rows_read: i64,
    #[diesel(sql_type = sql_types::BigInt)]
    pub(crate) rows_written: i64,
    /// Bytes of the write-ahead log, which all databases share.
    #[diesel(sql_type = sql_types::BigInt)]
    pub(crate) wal_bytes: i64,
}

/// What the database does per second.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Rates {
    pub(crate) transactions: f64,
    /// None without `pg_stat_statements`.
    pub(crate) statements: Option<f64>,
    pub(crate) rows_read: f64,
    pub(crate) rows_written: f64,
    pub(crate) wal_bytes: f64,
    /// The statements that took most time.
    pub(crate) top: Vec<Statement>,
}

/// A statement and its share of the time of all statements.
#[derive(Debug, Clone, PartialEq, Serialize, QueryableByName)]
pub(crate) struct Statement {
    #[diesel(sql_type = sql_types::Text)]
    pub(crate) text: String,
    #[diesel(sql_type = sql_types::BigInt)]
    pub(crate) calls: i64,
    #[diesel(sql_type = sql_types::Double)]
    pub(crate) milliseconds: f64,
    #[diesel(sql_type = sql_types::BigInt)]
    pub(crate) rows: i64,
}

#[derive(QueryableByName)]
struct Named {
    #[diesel(sql_type = sql_types::Text)]
    name: String,
    #[diesel(sql_type = sql_types::BigInt)]
    number: i64,
}

/// Name and version of the database engine.
pub(crate) fn version(cluster: &Cluster) -> anyhow::Result<String> {
    let mut session = PgConnection::establish(&cluster.admin_url).context("cannot connect to PostgreSQL")?;
    let query = sql_query("SELECT current_setting('server_version') AS name, 0::bigint AS number");
    let rows: Vec<Named> = query.load(&mut session)?;
    Ok(format!(
        "PostgreSQL {}",
        rows.first().map_or("", |row| row.name.as_str())
    ))
}

/// A connection that reads the counters of one database.
pub(crate) struct Connection {
    session: PgConnection,
    database: String,
    has_statements: bool,
}

impl Connection {
    pub(crate) fn open(cluster: &Cluster, database: &Database) -> anyhow::Result<Self> {
        let (admin_url, name) = database
            .in_cluster()
            .context("the database is not in a cluster")?;
        let mut session = PgConnection::establish(admin_url).context("cannot connect to PostgreSQL")?;
        if cluster.has_statement_statistics {
            session.batch_execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")?;
            session.batch_execute("ALTER SYSTEM SET pg_stat_statements.track = 'none'")?;
            session.batch_execute("SELECT pg_reload_conf()")?;
        }
        Ok(Self {
            session,
            database: name.to_owned(),
            has_statements: cluster.has_statement_statistics,
        })
    }

    /// Starts or stops counting statements. Costs time, so it is off while load is measured.
    pub(crate) fn count_statements(&mut self, is_on: bool) -> anyhow::Result<()> {
        if self.has_statements {
            let track = if is_on { "top" } else { "none" };
            self.session
                .batch_execute(&format!("ALTER SYSTEM SET pg_stat_statements.track = '{track}'"))?;
            self.session.batch_execute("SELECT pg_reload_conf()")?;
            if is_on {
                self.session.batch_execute("SELECT pg_stat_statements_reset()")?;
            }
        }
        Ok(())
    }

    pub(crate) fn totals(&mut self) -> anyhow::Result<Totals> {
        let query = sql_query(
            "SELECT xact_commit + xact_rollback AS transactions, tup_returned + tup_fetched AS rows_read, \
             tup_inserted + tup_updated + tup_deleted AS rows_written, \
             pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint AS wal_bytes \
             FROM pg_stat_database WHERE datname = $1",
        );
        let query = query.bind::<sql_types::Text, _>(&self.database);
        let rows: Vec<Totals> = query.load(&mut self.session)?;
        rows.into_iter().next().context("the database has no statistics")
    }

    /// The rates since `before`, and the statements since counting began.
    pub(crate) fn rates_since(&mut self, before: Totals, seconds: f64) -> anyhow::Result<Rates> {
        let mut rates = self.totals()?.rates(before, seconds);
        if self.has_statements {
            rates.top = self.statements()?;
            let calls: i64 = rates.top.iter().map(|statement| statement.calls).sum();
            rates.statements = Some(calls as f64 / seconds);
            rates.top.truncate(5);
        }
        Ok(rates)
    }

    /// By time, the most first.
    fn statements(&mut self) -> anyhow::Result<Vec<Statement>> {
        let query = sql_query(
            "SELECT regexp_replace(left(query, 160), '\\s+', ' ', 'g') AS text, calls, \
             total_exec_time AS milliseconds, rows \
             FROM pg_stat_statements JOIN pg_database ON pg_database.oid = dbid \
             WHERE datname = $1 ORDER BY total_exec_time DESC",
        );
        Ok(query
            .bind::<sql_types::Text, _>(&self.database)
            .load(&mut self.session)?)
    }

    /// The waits of the sessions that have a transaction, with the number of these sessions.
    pub(crate) fn waits(&mut self) -> anyhow::Result<Vec<(String, i64)>> {
        let query = sql_query(
            "SELECT CASE WHEN state <> 'active' THEN 'idle in transaction' \
             ELSE coalesce(wait_event_type || ': ' || wait_event, 'running') END AS name, count(*) AS number \
             FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend' AND state <> 'idle' \
             GROUP BY 1",
        );
        let rows: Vec<Named> = query
            .bind::<sql_types::Text, _>(&self.database)
            .load(&mut self.session)?;
        Ok(rows.into_iter().map(|row| (row.name, row.number)).collect())
    }
}

impl Totals {
    fn rates(self, before: Self, seconds: f64) -> Rates {
        let rate = |after: i64, before: i64| (after - before) as f64 / seconds;
        Rates {
            transactions: rate(self.transactions, before.transactions),
            statements: None,
            rows_read: rate(self.rows_read, before.rows_read),
            rows_written: rate(self.rows_written, before.rows_written),
            wal_bytes: rate(self.wal_bytes, before.wal_bytes),
            top: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_differences_per_second() {
        let totals = |number| Totals {
            transactions: number,
            rows_read: 2 * number,
            rows_written: 3 * number,
            wal_bytes: 4 * number,
        };
        let rates = totals(30).rates(totals(10), 2.0);
        assert_eq!((rates.transactions, rates.rows_read), (10.0, 20.0));
        assert_eq!((rates.rows_written, rates.wal_bytes), (30.0, 40.0));
    }
}
