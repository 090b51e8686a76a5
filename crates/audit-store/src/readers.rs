//! Pools of reading sessions.

use crate::access::Reader;
use crate::database::{AnySession, Database, on_database};
use crate::error::{Result, StoreError};
use diesel::r2d2::R2D2Connection;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// How long a reader waits for a session of a pool instead of which another one can be used.
const LATER_WAIT: Duration = Duration::from_secs(1);
/// How long a pool lends a session without testing it again. The test also has PostgreSQL plan its statements again.
const READER_TRUSTED_FOR: Duration = Duration::from_secs(1);
/// After how long a session that was lent counts as hanging. libpq has no timeout for a response, and a frozen server sends
/// none.
const HANGS_AFTER: Duration = Duration::from_secs(15);
/// Replaced pools whose sessions have not all ended, at most.
const REPLACED_POOLS_MAX: usize = 3;

/// A pool, which is replaced when all its sessions hang.
pub(crate) struct ReaderPool {
    database: Arc<Database>,
    sessions_max: u32,
    /// How long a reader waits for a session.
    wait: Duration,
    current: Mutex<Arc<Generation>>,
    replaced: Mutex<Vec<Weak<Generation>>>,
    broke_at: BrokeAt,
}

/// When a session was last found broken. Sessions that were tested before then are tested again before they are lent.
type BrokeAt = Arc<Mutex<Option<Instant>>>;

/// The outcome of work on a session.
enum Attempt<T, E> {
    Done(Result<T, E>),
    /// It failed, and its session is broken.
    Broken(E),
}

/// One pool, and who uses it.
struct Generation {
    pool: r2d2::Pool<ReaderManager>,
    users: Mutex<Users>,
}

/// The readers that have a session or wait for one, with the time at which they began.
#[derive(Default)]
struct Users {
    next_number: u64,
    since: BTreeMap<u64, Instant>,
}

impl ReaderPool {
    /// A pool that has a session, for which `wait` is the time as well.
    pub(crate) fn open(database: &Arc<Database>, sessions_max: u32, wait: Duration) -> Result<Self> {
        let broke_at = BrokeAt::default();
        let pool = builder(database, sessions_max, wait).build(ReaderManager::new(database, &broke_at));
        Ok(Self::of(
            database,
            sessions_max,
            wait,
            pool.map_err(unreachable)?,
            broke_at,
        ))
    }

    /// A pool that opens its first session when it is used, so that the server need not be there yet.
    pub(crate) fn open_later(database: &Arc<Database>, sessions_max: u32) -> Self {
        let broke_at = BrokeAt::default();
        let pool = builder(database, sessions_max, LATER_WAIT)
            .min_idle(Some(0))
            .build_unchecked(ReaderManager::new(database, &broke_at));
        Self::of(database, sessions_max, LATER_WAIT, pool, broke_at)
    }

    fn of(
        database: &Arc<Database>,
        sessions_max: u32,
        wait: Duration,
        pool: r2d2::Pool<ReaderManager>,
        broke_at: BrokeAt,
    ) -> Self {
        Self {
            database: Arc::clone(database),
            sessions_max,
            wait,
            current: Mutex::new(Generation::new(pool)),
            replaced: Mutex::default(),
            broke_at,
        }
    }

    /// Runs `work`, which only reads, on a session of the pool. If the session breaks meanwhile, `work` runs once more, on a
    /// session that was tested or opened after that.
    pub(crate) fn read<T, E: From<StoreError>>(
        &self,
        mut work: impl FnMut(&mut Reader<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        match self.attempt(&mut work)? {
            Attempt::Done(outcome) => outcome,
            Attempt::Broken(error) => {
                log::debug!("a reading session broke; its work is repeated on another one");
                match self.attempt(&mut work) {
                    Ok(Attempt::Done(outcome)) => outcome,
                    Ok(Attempt::Broken(error)) => Err(error),
                    Err(_) => Err(error),
                }
            }
        }
    }

    fn attempt<T, E: From<StoreError>>(
        &self,
        work: &mut impl FnMut(&mut Reader<'_>) -> Result<T, E>,
    ) -> Result<Attempt<T, E>, StoreError> {
        let generation = Arc::clone(&self.current.lock());
        let user = User::of(&generation);
        let pooled = generation.pool.get();
        let mut pooled = pooled.map_err(|error| {
            self.replace_hanging(&generation);
            unreachable(error)
        })?;
        pooled.forget_failures();
        let outcome = work(&mut Reader::new(&mut pooled.session));
        drop(user);
        Ok(match outcome {
            Err(error) if pooled.is_broken() => {
                // What ended this session has probably ended the others.
                *self.broke_at.lock() = Some(Instant::now());
                Attempt::Broken(error)
            }
            outcome => Attempt::Done(outcome),
        })
    }

    /// How many sessions it has, at most.
    pub(crate) const fn sessions_max(&self) -> u32 {
        self.sessions_max
    }

    /// Replaces a pool of which all sessions hang. They end when their calls return.
    fn replace_hanging(&self, generation: &Arc<Generation>) {
        let hanging = generation
            .users
            .lock()
            .since
            .values()
            .filter(|since| since.elapsed() >= HANGS_AFTER)
            .count();
        if !self.database.can_hang() || hanging < self.sessions_max as usize {
            return;
        }
        let mut current = self.current.lock();
        let mut replaced = self.replaced.lock();
        replaced.retain(|old| old.strong_count() > 0);
        if !Arc::ptr_eq(&current, generation) || replaced.len() >= REPLACED_POOLS_MAX {
            return;
        }
        log::error!(
            "all {hanging} reading sessions of a pool wait for the database for too long; others take their place"
        );
        replaced.push(Arc::downgrade(&current));
        let manager = ReaderManager::new(&self.database, &self.broke_at);
        let pool = builder(&self.database, self.sessions_max, self.wait);
        *current = Generation::new(pool.build_unchecked(manager));
    }
}

impl Generation {
    fn new(pool: r2d2::Pool<ReaderManager>) -> Arc<Self> {
        Arc::new(Self {
            pool,
            users: Mutex::default(),
        })
    }
}

/// A reader that has a session or waits for one.
struct User<'a> {
    users: &'a Mutex<Users>,
    number: u64,
}

impl<'a> User<'a> {
    fn of(generation: &'a Generation) -> Self {
        let mut users = generation.users.lock();
        let number = users.next_number;
        users.next_number += 1;
        users.since.insert(number, Instant::now());
        Self {
            users: &generation.users,
            number,
        }
    }
}

impl Drop for User<'_> {
    fn drop(&mut self) {
        self.users.lock().since.remove(&self.number);
    }
}

fn builder(database: &Arc<Database>, sessions_max: u32, wait: Duration) -> r2d2::Builder<ReaderManager> {
    r2d2::Pool::builder()
        .max_size(sessions_max)
        .min_idle(Some(1))
        .test_on_check_out(database.tests_sessions())
        .connection_timeout(wait)
        .error_handler(Box::new(Logged))
}

/// Why the pool does not lend a session.
#[derive(Debug, thiserror::Error)]
enum SessionError {
    #[error(transparent)]
    NotOpened(StoreError),
    /// Its test failed.
    #[error(transparent)]
    Ended(StoreError),
}

/// Logs the errors of the pool.
#[derive(Debug)]
struct Logged;

impl r2d2::HandleError<SessionError> for Logged {
    fn handle_error(&self, error: SessionError) {
        match error {
            SessionError::NotOpened(error) => log::error!("cannot open a session that reads: {error}"),
            // After a restart or a move of the database every session ends once. Another one takes its place, or opening it fails.
            SessionError::Ended(error) => log::debug!("a session that reads has ended: {error}"),
        }
    }
}

fn unreachable(error: r2d2::Error) -> StoreError {
    StoreError::Unreachable(error.to_string())
}

/// A session of a pool.
struct PooledSession {
    session: AnySession,
    /// The time of its last test.
    tested_at: Instant,
}

impl PooledSession {
    /// Begins to note the statements that fail.
    fn forget_failures(&mut self) {
        on_database!(&mut self.session, connection::take_failure());
    }

    /// Whether the session has ended, or is in a transaction that cannot end. Asks the database only if a statement failed:
    /// most errors of a read, such as a row that is not found, say nothing about the session.
    fn is_broken(&mut self) -> bool {
        let has_failed = on_database!(&mut self.session, connection::take_failure());
        has_failed && (self.session.is_broken() || self.session.ping().is_err())
    }
}

/// Opens the sessions of a pool.
struct ReaderManager {
    database: Arc<Database>,
    broke_at: BrokeAt,
}

impl ReaderManager {
    fn new(database: &Arc<Database>, broke_at: &BrokeAt) -> Self {
        Self {
            database: Arc::clone(database),
            broke_at: Arc::clone(broke_at),
        }
    }

    fn trusts(&self, pooled: &PooledSession) -> bool {
        let broke_at = *self.broke_at.lock();
        pooled.tested_at.elapsed() < READER_TRUSTED_FOR && broke_at.is_none_or(|at| pooled.tested_at > at)
    }
}

impl r2d2::ManageConnection for ReaderManager {
    type Connection = PooledSession;
    type Error = SessionError;

    fn connect(&self) -> Result<PooledSession, SessionError> {
        Ok(PooledSession {
            session: self.database.open_reader().map_err(SessionError::NotOpened)?,
            tested_at: Instant::now(),
        })
    }

    /// A test takes as long as a look-up, so a session is not tested at every use.
    fn is_valid(&self, pooled: &mut PooledSession) -> Result<(), SessionError> {
        if !self.trusts(pooled) {
            let tested = on_database!(&mut pooled.session, connection::test());
            tested.map_err(|error| SessionError::Ended(error.into()))?;
            pooled.tested_at = Instant::now();
        }
        Ok(())
    }

    fn has_broken(&self, pooled: &mut PooledSession) -> bool {
        std::thread::panicking() || pooled.session.is_broken()
    }
}
