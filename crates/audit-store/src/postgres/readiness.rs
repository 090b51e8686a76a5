//! Whether the database accepts writes, found out within a second although libpq has no timeout for a response.

use super::connection::{self, Purpose};
use super::place::Place;
use crate::error::{Result, StoreError};
use crate::workers;
use diesel::PgConnection;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a caller waits for the database.
const WAIT_MAX: Duration = Duration::from_secs(1);
/// For how long a finding is returned again. Callers need no credential, so their number must not matter.
const FRESH_FOR: Duration = Duration::from_millis(100);
/// After how long an attempt counts as hanging, and another one begins.
const ATTEMPT_MAX: Duration = Duration::from_secs(20);

/// Tests a writing session of its own, which waits neither for appends nor for their locks.
pub(crate) struct Readiness {
    place: Arc<Place>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The session, unless an attempt has it.
    connection: Option<PgConnection>,
    /// Number and time of the last attempt.
    started: u64,
    started_at: Option<Instant>,
    /// The last attempt that ended, and what it found.
    finished: u64,
    found: Option<(Instant, Result<(), String>)>,
}

impl Readiness {
    pub(crate) fn new(place: Arc<Place>) -> Self {
        Self {
            place,
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// Fails unless the database accepts writes and responds within a second. An attempt that takes longer continues, so
    /// that a later call finds its result: with several hosts, connecting can take longer than a call.
    pub(crate) fn check(self: &Arc<Self>) -> Result<()> {
        let deadline = Instant::now() + WAIT_MAX;
        let mut state = self.state.lock();
        if let Some((at, found)) = &state.found
            && at.elapsed() < FRESH_FOR
        {
            return found.clone().map_err(StoreError::Unreachable);
        }
        let is_running =
            state.finished < state.started && state.started_at.is_some_and(|at| at.elapsed() < ATTEMPT_MAX);
        if !is_running {
            self.start(&mut state)?;
        }
        let wanted = state.started;
        while state.finished < wanted {
            if self.changed.wait_until(&mut state, deadline).timed_out() {
                break;
            }
        }
        match &state.found {
            Some((_, found)) if state.finished >= wanted => found.clone().map_err(StoreError::Unreachable),
            _ => Err(StoreError::Unreachable("no response within a second".to_owned())),
        }
    }

    fn start(self: &Arc<Self>, state: &mut MutexGuard<'_, State>) -> Result<()> {
        state.started += 1;
        state.started_at = Some(Instant::now());
        let (this, number, connection) = (Arc::clone(self), state.started, state.connection.take());
        workers::spawn("readiness".to_owned(), move || this.attempt(number, connection))?;
        Ok(())
    }

    fn attempt(&self, number: u64, connection: Option<PgConnection>) {
        // A session that broke while it was idle says nothing about the database now.
        let tested = connection.and_then(|connection| test(connection).ok());
        let tested = match tested {
            Some(connection) => Ok(connection),
            None => self
                .place
                .connect(Purpose::Write)
                .and_then(|(connection, _)| test(connection)),
        };
        let mut state = self.state.lock();
        if state.started != number {
            // A later attempt has begun, because this one hung.
            return;
        }
        state.finished = number;
        let (connection, found) = match tested {
            Ok(connection) => (Some(connection), Ok(())),
            Err(error) => (None, Err(error.to_string())),
        };
        state.connection = connection;
        state.found = Some((Instant::now(), found));
        self.changed.notify_all();
    }
}

fn test(mut connection: PgConnection) -> Result<PgConnection> {
    connection::test_writing(&mut connection)?;
    Ok(connection)
}
