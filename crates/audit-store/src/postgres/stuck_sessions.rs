//! Ends sessions that hold locks and wait for a client that hangs.
//!
//! The server has no timeout for such a session of a frozen node. While it sends, or waits for the rest of a statement, neither
//! `statement_timeout` nor `idle_in_transaction_session_timeout` applies. `tcp_user_timeout` takes ten seconds and applies to
//! sending only, and a Unix socket has none. So a node whose writers are blocked ends the session itself.

use super::connection::Purpose;
use super::place::Place;
use crate::error::Result;
use crate::workers;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Integer, Text};
use parking_lot::Mutex;
use std::sync::Arc;

/// Ends the sessions of this role that other sessions wait for, and that have waited for their client within a statement for
/// a second. Sessions without a transaction id have locked no rows: readers, and backups. The list of a `SELECT` is evaluated
/// for the rows of its result only; conditions are evaluated in any order.
const END_STUCK: &str = "SELECT pid, wait_event, pg_terminate_backend(pid) AS is_ended FROM pg_stat_activity AS stuck \
     WHERE datname = current_database() AND usename = current_user AND state = 'active' AND wait_event_type = 'Client' \
         AND state_change < clock_timestamp() - interval '1 second' AND backend_xid IS NOT NULL \
         AND EXISTS (\
             SELECT FROM pg_stat_activity AS blocked \
             WHERE blocked.wait_event_type = 'Lock' AND stuck.pid = ANY (pg_blocking_pids(blocked.pid))\
         )";

/// Ends stuck sessions of a database.
pub(crate) struct StuckSessions {
    place: Arc<Place>,
    /// Held by an attempt.
    attempt: Mutex<()>,
}

#[derive(QueryableByName)]
struct Stuck {
    #[diesel(sql_type = Integer)]
    pid: i32,
    #[diesel(sql_type = Text)]
    wait_event: String,
    #[diesel(sql_type = Bool)]
    is_ended: bool,
}

impl StuckSessions {
    pub(crate) const fn new(place: Arc<Place>) -> Self {
        Self {
            place,
            attempt: Mutex::new(()),
        }
    }

    /// Ends the stuck sessions, on a thread of its own because libpq has no timeout for a response.
    pub(crate) fn end(self: &Arc<Self>) {
        let this = Arc::clone(self);
        let started = workers::spawn("stuck-sessions".to_owned(), move || {
            if let Err(error) = this.attempt() {
                log::warn!("cannot look for sessions that block the writers: {error}");
            }
        });
        if let Err(error) = started {
            log::warn!("cannot look for sessions that block the writers: {error}");
        }
    }

    fn attempt(&self) -> Result<()> {
        // The last attempt may still wait for the server.
        let Some(_attempt) = self.attempt.try_lock() else {
            return Ok(());
        };
        // Not kept: it would stay on a server that the tables have left.
        let (mut connection, _) = self.place.connect(Purpose::Write)?;
        let stuck: Vec<Stuck> = diesel::sql_query(END_STUCK).load(&mut connection)?;
        for Stuck { pid, wait_event, .. } in stuck.iter().filter(|session| session.is_ended) {
            log::warn!(
                "ended session {pid} of the database, which held locks and waited for its client ({wait_event})"
            );
        }
        Ok(())
    }
}
