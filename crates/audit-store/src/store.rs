//! The store: an open database, its pools of readers, its writers and its workers.

use crate::access::{Configurator, Reader, Writer};
use crate::append::{AppendOutcome, AppendRequest, Destination, LedgerId, NewEvent, Origin};
use crate::configuration::Owner;
use crate::database::{AnySession, Database, DatabaseUrl, on_database, write_transaction};
use crate::error::{Result, StoreError};
use crate::queue::{Queue, QueueLimits, WaitingAppend};
use crate::tree;
use crate::workers::{self, Workers};
use crate::writer::{Commits, WriterThread};
use audit_domain::Clock;
use diesel::r2d2::R2D2Connection;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::{oneshot, watch};

/// How long a reader waits for a session from the pool.
const READER_WAIT_MS: u64 = 3_000;
/// Sessions for look-ups, at most.
const LOOKUP_SESSIONS_MAX: u32 = 4;
/// How long a pool lends a session without testing it again. The test also has PostgreSQL plan its statements again.
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
    /// Requests and transactions in the write queue.
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
        let added = tree::build_missing(&mut database.open_writer()?)?;
        if added > 0 {
            log::info!("{added} stored events were added to the tree of their ledger");
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

    /// Appends the events of one request, except repeats; on an error, none. Resolves after the commit.
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

    /// Runs a look-up, which takes microseconds. Blocks, and never waits for a writer.
    ///
    /// # Errors
    /// Those of `work`, and [`StoreError::Unreachable`] when no session is available.
    pub fn read<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&mut Reader<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        read_from(&self.lookups, work)
    }

    /// Runs a query over events. Blocks, and never waits for a writer.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn query<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&mut Reader<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        read_from(&self.readers, work)
    }

    /// Writes data that no node caches, such as the time of a key's last use, in one transaction. Blocks.
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

    /// Changes the configuration of `owner` in one transaction: a `ProjectId`, an `OrganizationId` or the
    /// [`crate::Deployment`]. Transactions of one owner run one at a time. After the commit, no node uses the owner's earlier
    /// configuration. Blocks.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn configure<O, T, E>(
        &self,
        owner: O,
        work: impl FnOnce(&mut Configurator<'_, O>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        O: Copy + Into<Owner> + Send + 'static,
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.transaction(move |session| {
            owner.into().lock(session)?;
            let mut configurator = Configurator::new(session, owner);
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
                log::debug!("the caller of a transaction does not wait for its result");
            }
        }))?;
        receiver
            .recv()
            .unwrap_or_else(|_| Err(StoreError::Stopped.into()))
    }

    /// Calls `listener` after each commit of this process that adds deliveries.
    ///
    /// # Errors
    /// [`StoreError::Duplicate`] when a listener is set already.
    pub fn on_deliveries(&self, listener: impl Fn() + Send + Sync + 'static) -> Result<()> {
        self.commits.set_listener(Box::new(listener))
    }

    /// The ledgers that this process may have extended since the last call. Their commits have ended.
    pub fn take_extended_ledgers(&self) -> BTreeSet<LedgerId> {
        self.commits.take_extended()
    }

    /// Has [`Self::take_extended_ledgers`] return these ledgers again.
    pub fn return_extended_ledgers(&self, ledger_ids: impl IntoIterator<Item = LedgerId>) {
        self.commits.note_extended(ledger_ids);
    }

    /// Follows the size of a ledger. Commits of this process update it at once, [`Self::look_for_arrivals`] updates it for
    /// those of other processes; it is 0 before the first update.
    pub fn arrivals(&self, ledger_id: LedgerId) -> watch::Receiver<u64> {
        self.commits.arrivals.subscribe(ledger_id)
    }

    /// Queries the sizes of the followed ledgers, because other processes may have written to them. Blocks.
    ///
    /// # Errors
    /// When the database cannot be queried.
    pub fn look_for_arrivals(&self) -> Result<()> {
        self.read(|reader| self.commits.arrivals.query(reader.session()))
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

    /// Refuses further writes, and returns when the waiting ones are committed.
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
    /// The time of its last test.
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

    /// A test takes as long as a look-up, so a session is not tested at every use.
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
