//! The store: where reading and writing happen.

use crate::access::{Configurator, Reader, Writer};
use crate::append::{AppendOutcome, AppendRequest, Destination, LedgerId, NewEvent, Origin};
use crate::configuration::lock_configuration;
use crate::database::{AnySession, Database, DatabaseUrl, on_database, write_transaction};
use crate::error::{Result, StoreError};
use crate::queue::{Queue, QueueLimits, WaitingAppend};
use crate::tree;
use crate::workers::{self, Workers};
use crate::writer::{Commits, WriterThread};
use audit_domain::Clock;
use diesel::r2d2::R2D2Connection;
use parking_lot::Mutex;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::{oneshot, watch};

/// How long a reader waits for a session from the pool.
const READER_WAIT_MS: u64 = 3_000;
/// Sessions for look-ups, at most.
const LOOKUP_SESSIONS_MAX: u32 = 4;
/// How long a pool trusts a session that has answered. PostgreSQL also plans its statements again after this time.
const READER_TRUSTED_FOR: Duration = Duration::from_secs(1);

/// How a store is opened.
#[derive(Clone, Copy, Debug)]
pub struct StoreOptions {
    /// The bounds of the write queue.
    pub queue: QueueLimits,
    /// Sessions for queries over events, at most.
    pub readers_max: u32,
    /// Writing sessions on PostgreSQL. SQLite always has one.
    pub postgres_writers: usize,
    /// How long commits are collected before they are indexed. Queries find their events before that as well.
    pub indexing_interval: Duration,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            queue: QueueLimits::default(),
            readers_max: 8,
            postgres_writers: 2,
            indexing_interval: Duration::from_millis(100),
        }
    }
}

/// Counts of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreStatistics {
    /// Transactions that stored events.
    pub commits: u64,
    /// Events stored by this process.
    pub events: u64,
    /// Alerts raised by this process.
    pub alerts: u64,
    /// Requests that wait to be written.
    pub queue_depth: usize,
}

/// The audit log's storage. Share it by reference; [`Store::close`] ends its threads.
pub struct Store {
    queue: Arc<Queue>,
    commits: Arc<Commits>,
    /// For look-ups by key, which take microseconds: credentials and configuration.
    lookups: r2d2::Pool<ReaderManager>,
    /// For queries over events, which can take long and must not delay look-ups.
    readers: r2d2::Pool<ReaderManager>,
    threads: Mutex<Threads>,
}

/// The threads of an open store.
struct Threads {
    writers: Vec<JoinHandle<()>>,
    workers: Workers,
}

impl Store {
    /// Opens the database, bringing its schema up to date first.
    ///
    /// # Errors
    /// [`StoreError::Unreachable`] when there is no database to open, [`StoreError::NewerSchema`] when a newer version of
    /// the program has created it.
    pub fn open(url: &DatabaseUrl, options: StoreOptions, clock: &Arc<dyn Clock>) -> Result<Self> {
        let database = Arc::new(Database::open(url)?);
        let placed = tree::build_missing(&mut database.open_writer()?)?;
        if placed > 0 {
            log::info!("{placed} stored events were added to the tree of their ledger");
        }
        let queue = Arc::new(Queue::new(options.queue));
        let commits = Arc::new(Commits::new(clock));
        let mut writers = Vec::new();
        for number in 0..database.writers(&options) {
            let (writer, queue) = (WriterThread::open(&database, &commits)?, Arc::clone(&queue));
            writers.push(workers::spawn(format!("writer-{number}"), move || {
                writer.run(&queue);
            })?);
        }
        let workers = database.start_workers(&options)?;
        Ok(Self {
            queue,
            commits,
            lookups: open_pool(&database, LOOKUP_SESSIONS_MAX)?,
            readers: open_pool(&database, options.readers_max)?,
            threads: Mutex::new(Threads { writers, workers }),
        })
    }

    /// Appends the events of one request: all that are not repeats or, on an error, none. Resolves after the commit.
    ///
    /// # Errors
    /// [`StoreError::Overloaded`], [`StoreError::Stale`], [`StoreError::DailyLimit`], or the database's own.
    pub async fn append(&self, destination: Destination, events: Vec<NewEvent>) -> AppendOutcome {
        let outcome = self.push(destination, events)?;
        outcome.await.unwrap_or(Err(StoreError::Stopped))
    }

    /// [`Self::append`] for callers that may block.
    ///
    /// # Errors
    /// As [`Self::append`].
    pub fn append_blocking(&self, destination: Destination, events: Vec<NewEvent>) -> AppendOutcome {
        let outcome = self.push(destination, events)?;
        outcome.blocking_recv().unwrap_or(Err(StoreError::Stopped))
    }

    fn push(
        &self,
        destination: Destination,
        events: Vec<NewEvent>,
    ) -> Result<oneshot::Receiver<AppendOutcome>> {
        let (waiting, outcome) = WaitingAppend::new(AppendRequest {
            destination,
            events,
            origin: Origin::Sent,
        });
        self.queue.push_append(waiting)?;
        Ok(outcome)
    }

    /// Looks something up that takes microseconds. Blocks, and never waits for a writer.
    ///
    /// # Errors
    /// Those of `work`, and [`StoreError::Unreachable`] when no session is available.
    pub fn read<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&mut Reader<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        read_from(&self.lookups, work)
    }

    /// Reads events. Blocks, and never waits for a writer.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn query<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&mut Reader<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        read_from(&self.readers, work)
    }

    /// Writes in one transaction what no node keeps in memory, such as the time of a key's last use. Blocks.
    ///
    /// # Errors
    /// Those of `work`, which roll everything back, and those of the database.
    pub fn write<T, E>(
        &self,
        work: impl FnOnce(&mut Writer<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.transaction(move |session| work(&mut Writer::new(session)))
    }

    /// Changes the configuration in one transaction. From its commit on, no node relies on the configuration before it.
    /// Blocks.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn configure<T, E>(
        &self,
        work: impl FnOnce(&mut Configurator<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.transaction(move |session| {
            lock_configuration(session)?;
            let mut configurator = Configurator::new(session);
            let outcome = work(&mut configurator)?;
            configurator.finish()?;
            Ok(outcome)
        })
    }

    /// Runs a transaction on a writing thread.
    fn transaction<T, E>(
        &self,
        work: impl FnOnce(&mut AnySession) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let (reply, receiver) = mpsc::sync_channel(1);
        self.queue.push_transaction(Box::new(move |session| {
            let outcome = match session {
                Ok(session) => write_transaction(session, work),
                Err(error) => Err(error.into()),
            };
            if reply.send(outcome).is_err() {
                log::debug!("the caller of a transaction is gone");
            }
        }))?;
        receiver
            .recv()
            .unwrap_or_else(|_| Err(StoreError::Stopped.into()))
    }

    /// Has `listener` called after each commit of this process that left something to deliver.
    ///
    /// # Errors
    /// [`StoreError::Duplicate`] when there is a listener already.
    pub fn on_deliveries(&self, listener: impl Fn() + Send + Sync + 'static) -> Result<()> {
        self.commits.set_listener(Box::new(listener))
    }

    /// The size of a ledger from now on, as far as this process knows it: at once after its own commits, and after
    /// [`Self::look_for_arrivals`] for those of other processes. 0 until it is known.
    pub fn arrivals(&self, ledger_id: LedgerId) -> watch::Receiver<u64> {
        self.commits.arrivals.subscribe(ledger_id)
    }

    /// Queries the sizes of the ledgers that are waited for, which other processes may have written to. Blocks.
    ///
    /// # Errors
    /// When the database cannot be queried.
    pub fn look_for_arrivals(&self) -> Result<()> {
        self.read(|reader| self.commits.arrivals.look(reader.session()))
    }

    /// How many queries over events can run concurrently.
    pub fn readers_max(&self) -> u32 {
        self.readers.max_size()
    }

    /// Counts of this process.
    pub fn statistics(&self) -> StoreStatistics {
        let counts = self.commits.counts();
        StoreStatistics {
            commits: counts.commits,
            events: counts.events,
            alerts: counts.alerts,
            queue_depth: self.queue.depth(),
        }
    }

    /// Refuses further writes, finishes those that wait, and returns when they are committed.
    pub fn close(&self) {
        self.queue.close();
        let Threads { writers, workers } = &mut *self.threads.lock();
        workers.end_first();
        for writer in writers.drain(..) {
            workers::join("writer", writer);
        }
        workers.end_last();
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.close();
    }
}

fn read_from<T, E: From<StoreError>>(
    pool: &r2d2::Pool<ReaderManager>,
    work: impl FnOnce(&mut Reader<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let pooled = pool.get();
    let mut pooled = pooled.map_err(|error| StoreError::Unreachable(error.to_string()))?;
    work(&mut Reader::new(&mut pooled.session))
}

fn open_pool(database: &Arc<Database>, sessions_max: u32) -> Result<r2d2::Pool<ReaderManager>> {
    r2d2::Pool::builder()
        .max_size(sessions_max)
        .min_idle(Some(1))
        .test_on_check_out(database.tests_sessions())
        .connection_timeout(Duration::from_millis(READER_WAIT_MS))
        .build(ReaderManager(Arc::clone(database)))
        .map_err(|error| StoreError::Unreachable(error.to_string()))
}

/// A session of a pool.
struct PooledSession {
    session: AnySession,
    /// When it last answered the pool.
    tested_at: Instant,
}

/// Opens the sessions of a pool.
struct ReaderManager(Arc<Database>);

impl r2d2::ManageConnection for ReaderManager {
    type Connection = PooledSession;
    type Error = StoreError;

    fn connect(&self) -> Result<PooledSession> {
        Ok(PooledSession {
            session: self.0.open_reader()?,
            tested_at: Instant::now(),
        })
    }

    /// A test takes as long as a look-up, so a session that answered a moment ago is not tested again.
    fn is_valid(&self, pooled: &mut PooledSession) -> Result<()> {
        if pooled.tested_at.elapsed() >= READER_TRUSTED_FOR {
            on_database!(&mut pooled.session, connection::test())?;
            pooled.tested_at = Instant::now();
        }
        Ok(())
    }

    fn has_broken(&self, pooled: &mut PooledSession) -> bool {
        std::thread::panicking() || pooled.session.is_broken()
    }
}
