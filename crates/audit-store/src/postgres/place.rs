//! The server that has the tables of a store.
//!
//! Citus places each distributed schema on one of its servers and can move it while it is used. Every server runs the statements
//! of every cell. Only the one that has the tables runs them without another server, and with the planner settings and
//! timeouts of the session. The server of the URL, Citus's coordinator, says which one that is, and runs the statements that
//! change tables. Without Citus, and for a schema that is not distributed, it is the server of the URL itself.

use super::connection::{self, Plans, Purpose};
use crate::database::url;
use crate::error::Result;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Integer, Text};
use diesel::{PgConnection, QueryableByName, sql_query};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A server of Citus that has the tables of a distributed schema.
#[derive(Clone, Debug, PartialEq, Eq, QueryableByName)]
pub(crate) struct Node {
    #[diesel(sql_type = Text)]
    host: String,
    #[diesel(sql_type = Integer)]
    port: i32,
}

impl std::fmt::Display for Node {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}:{}", self.host, self.port)
    }
}

/// The server that has the tables of a store; none: that of the URL.
pub(crate) type Location = Option<Arc<Node>>;

/// The addresses of a store's servers.
#[derive(Debug)]
pub(crate) struct Place {
    /// That of the server which changes tables.
    url: String,
    /// None before the first look-up.
    known: Mutex<Option<Known>>,
    /// Sessions of pools and writers that this process has opened.
    sessions: AtomicU64,
}

#[derive(Clone, Debug)]
struct Known {
    /// Whether the database has Citus. It is asked once: without the extension nothing can be distributed.
    has_citus: bool,
    location: Location,
}

impl Place {
    pub(crate) const fn new(url: String) -> Self {
        Self {
            url,
            known: Mutex::new(None),
            sessions: AtomicU64::new(0),
        }
    }

    /// The URL of the server that changes tables.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Counts a session of a pool or a writer.
    pub(crate) fn note_session(&self) {
        self.sessions.fetch_add(1, Ordering::Relaxed);
    }

    /// How many sessions of pools and writers this process has opened.
    pub(crate) fn sessions(&self) -> u64 {
        self.sessions.load(Ordering::Relaxed)
    }

    /// Connects to the server that has the tables; for [`Purpose::Migrate`], to the one that changes them.
    pub(crate) fn connect(&self, purpose: Purpose) -> Result<(PgConnection, Location)> {
        if purpose == Purpose::Migrate {
            return Ok((connection::connect(&self.url, purpose)?, None));
        }
        let known = self.known.lock().clone();
        let location = match known {
            Some(known) => known.location,
            None => self.look_up(&mut connection::connect(&self.url, Purpose::Migrate)?)?,
        };
        let connected = match &location {
            None => connection::connect(&self.url, purpose),
            Some(node) => {
                let url = url::at_server(&self.url, &node.host, node.port);
                connection::connect_planned(&url, purpose, Plans::Custom)
            }
        };
        Ok((connected?, location))
    }

    /// Whether the tables are where a session was connected to.
    pub(crate) fn is(&self, location: &Location) -> bool {
        self.known
            .lock()
            .as_ref()
            .is_none_or(|known| known.location == *location)
    }

    /// Where the tables are, as of the last look-up.
    pub(crate) fn location(&self) -> Location {
        self.known
            .lock()
            .as_ref()
            .and_then(|known| known.location.clone())
    }

    /// A connection to the server that changes tables, where a session of another server cannot; otherwise none.
    pub(crate) fn coordinator(&self) -> Result<Option<PgConnection>> {
        let connect = |_| connection::connect(&self.url, Purpose::Migrate);
        self.location().map(connect).transpose()
    }

    /// Looks again where the tables are, if they can move. `coordinator` is opened when it is needed, and kept.
    pub(crate) fn follow(&self, coordinator: &mut Option<PgConnection>) -> Result<()> {
        if self.known.lock().as_ref().is_some_and(|known| !known.has_citus) {
            return Ok(());
        }
        let mut connection = match coordinator.take() {
            Some(connection) => connection,
            None => connection::connect(&self.url, Purpose::Migrate)?,
        };
        self.look_up(&mut connection)?;
        *coordinator = Some(connection);
        Ok(())
    }

    fn look_up(&self, connection: &mut PgConnection) -> Result<Location> {
        let has_citus = has_citus(connection)?;
        let node = match has_citus {
            true => node_of_schema(connection)?,
            false => None,
        };
        let mut known = self.known.lock();
        let before = known.take().and_then(|known| known.location);
        let location = match (node, before) {
            // Sessions compare the pointers' values, so an equal one may stay.
            (Some(node), Some(before)) if node == *before => Some(before),
            (Some(node), before) => {
                log::info!(
                    "the tables of the cell are on {node}{}",
                    match before {
                        Some(before) => format!(", no longer on {before}"),
                        None => String::new(),
                    }
                );
                Some(Arc::new(node))
            }
            (None, _) => None,
        };
        *known = Some(Known {
            has_citus,
            location: location.clone(),
        });
        Ok(location)
    }
}

#[derive(QueryableByName)]
struct Holds {
    #[diesel(sql_type = Bool)]
    holds: bool,
}

/// Whether the database has Citus with schema-based sharding (Citus 12 or later).
pub(crate) fn has_citus(connection: &mut PgConnection) -> Result<bool> {
    let found: Holds =
        sql_query("SELECT to_regclass('pg_dist_schema') IS NOT NULL AS holds").get_result(connection)?;
    Ok(found.holds)
}

/// The server that has the tables of the session's schema, if it is distributed. All of them are on one.
fn node_of_schema(connection: &mut PgConnection) -> Result<Option<Node>> {
    Ok(sql_query(
        "SELECT nodename AS host, nodeport AS port FROM pg_dist_schema \
         JOIN pg_dist_partition ON pg_dist_partition.colocationid = pg_dist_schema.colocationid \
         JOIN pg_dist_shard ON pg_dist_shard.logicalrelid = pg_dist_partition.logicalrelid \
         JOIN pg_dist_placement ON pg_dist_placement.shardid = pg_dist_shard.shardid \
         JOIN pg_dist_node ON pg_dist_node.groupid = pg_dist_placement.groupid \
         WHERE pg_dist_schema.schemaid = current_schema()::regnamespace AND noderole = 'primary' LIMIT 1",
    )
    .get_result(connection)
    .optional()?)
}

/// Asks Citus to place the schema of the session, with all its tables, on one of its servers; nothing without Citus, or if it has
/// done so. Locks the tables.
pub(crate) fn distribute(connection: &mut PgConnection) -> Result<bool> {
    if !has_citus(connection)? {
        return Ok(false);
    }
    if node_of_schema(connection)?.is_none() {
        // The rows are copied, and those on this server removed afterwards; otherwise they would stay here forever.
        connection.batch_execute("SELECT citus_schema_distribute(current_schema()::regnamespace)")?;
    }
    connection.batch_execute(
        "DO $$ DECLARE name REGCLASS; BEGIN \
             FOR name IN SELECT oid FROM pg_class WHERE relkind = 'r' AND NOT relispartition \
                 AND relnamespace = current_schema()::regnamespace LOOP \
                 PERFORM truncate_local_data_after_distributing_table(name); \
             END LOOP; END $$",
    )?;
    Ok(true)
}
