//! The store: where reading and writing happen.

use crate::append::{AppendOutcome, AppendRequest, Destination, LedgerId, NewEvent, Origin};
use crate::arrivals::Arrivals;
use crate::configuration::{increase_configuration_version, lock_configuration};
use crate::connection::{AnyConnection, DatabaseUrl, Purpose, ReaderManager};
use crate::error::{Result, StoreError};
use crate::index::{self, IndexCache};
use crate::log;
use crate::migrate::migrate;
use crate::queue::{Queue, QueueLimits, WaitingAppend};
use crate::rows::Rows;
use crate::signal::{Filing, Signal};
use crate::wal::{Stage, WalMover};
use crate::writer::{DeliveryListener, Shared, Writer, WriterCounters};
use audit_domain::Clock;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::watch;

/// How long a reader waits for one of the pool's connections.
const READER_WAIT_MS: u64 = 3_000;
/// Connections for look-ups, at most.
const LOOKUP_CONNECTIONS_MAX: u32 = 4;

/// How a store is opened.
#[derive(Clone, Copy, Debug)]
pub struct StoreOptions {
    /// How much may wait to be written.
    pub queue: QueueLimits,
    /// Connections for queries over events, at most.
    pub readers_max: u32,
    /// Writing connections on PostgreSQL. SQLite always has one.
    pub postgres_writers: usize,
    /// How long commits come together before they are indexed. They are found before that as well.
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

/// What the store has done, and what waits.
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

/// The audit log's storage. Cheap to share; [`Store::close`] ends it.
pub struct Store {
    queue: Arc<Queue>,
    counters: Arc<WriterCounters>,
    listener: DeliveryListener,
    arrivals: Arc<Arrivals>,
    /// For look-ups by key, which take microseconds: who sent this, what is configured.
    lookups: r2d2::Pool<ReaderManager>,
    /// For queries over events, which can take long; they must not keep anybody from being recognised.
    readers: r2d2::Pool<ReaderManager>,
    /// Those that write to the database, and on SQLite the one that moves its write-ahead log into the file.
    writers: Mutex<Vec<JoinHandle<()>>>,
    filing: Arc<Signal<Filing>>,
    index_cache: Arc<IndexCache>,
    /// Files what was stored.
    indexer: Mutex<Option<JoinHandle<()>>>,
    wal: Arc<Signal<Stage>>,
}

impl Store {
    /// Opens the database, bringing its schema up to date first.
    ///
    /// # Errors
    /// [`StoreError::Unreachable`] when there is no database to open, [`StoreError::NewerSchema`] when it belongs to a
    /// newer version of the program.
    pub fn open(url: &DatabaseUrl, options: StoreOptions, clock: &Arc<dyn Clock>) -> Result<Self> {
        migrate(url)?;
        let mut connection = url.connect(Purpose::Prepare)?;
        if let (DatabaseUrl::Sqlite(path), AnyConnection::Sqlite(sqlite)) = (url, &mut connection) {
            index::sqlite::prepare(path, sqlite)?;
        }
        let placed = log::build_missing(&mut connection)?;
        drop(connection);
        if placed > 0 {
            ::log::info!("{placed} events from before the verifiable log have their place in it now");
        }
        let queue = Arc::new(Queue::new(options.queue));
        let shared = Shared {
            url: url.clone(),
            clock: Arc::clone(clock),
            counters: Arc::default(),
            listener: DeliveryListener::default(),
            arrivals: Arc::default(),
            filing: Arc::default(),
            index_cache: Arc::new(IndexCache::new()),
            begun: Arc::default(),
            heads: Arc::default(),
            wal: Arc::default(),
        };
        let writers_count = match url {
            DatabaseUrl::Sqlite(_) => 1,
            DatabaseUrl::Postgres(_) => options.postgres_writers.max(1),
        };
        let mut writers = Vec::with_capacity(writers_count);
        for number in 0..writers_count {
            let (writer, queue) = (Writer::open(shared.clone())?, Arc::clone(&queue));
            writers.push(spawn(format!("writer-{number}"), move || writer.run(&queue))?);
        }
        let Shared {
            counters,
            listener,
            arrivals,
            filing,
            index_cache,
            wal,
            ..
        } = shared;
        let indexer = match url {
            DatabaseUrl::Sqlite(path) => {
                let cache = Arc::clone(&index_cache);
                let indexer = index::sqlite::indexer::Indexer::open(path, cache, options.indexing_interval)?;
                // There may be something left of a process that was killed.
                filing.ask();
                let filing = Arc::clone(&filing);
                spawn("indexer".to_owned(), move || indexer.run(&filing))?
            }
            DatabaseUrl::Postgres(url) => {
                let cache = Arc::clone(&index_cache);
                let indexer = index::postgres::indexer::Indexer::open(url, cache, options.indexing_interval)?;
                let filing = Arc::clone(&filing);
                spawn("indexer".to_owned(), move || indexer.run(&filing))?
            }
        };
        if let DatabaseUrl::Sqlite(path) = url {
            let (mover, stage) = (WalMover::open(path)?, Arc::clone(&wal));
            writers.push(spawn("wal".to_owned(), move || mover.run(&stage))?);
        }
        Ok(Self {
            queue,
            counters,
            listener,
            arrivals,
            lookups: open_pool(url, LOOKUP_CONNECTIONS_MAX)?,
            readers: open_pool(url, options.readers_max)?,
            writers: Mutex::new(writers),
            filing,
            index_cache,
            indexer: Mutex::new(Some(indexer)),
            wal,
        })
    }

    /// Appends the events of one request: all that are not repeats, or, on an error, none. Resolves after the commit.
    ///
    /// # Errors
    /// [`StoreError::Overloaded`], [`StoreError::Stale`], [`StoreError::DailyLimit`], or the database's own.
    pub async fn append(&self, destination: Destination, events: Vec<NewEvent>) -> AppendOutcome {
        let (waiting, receiver) = WaitingAppend::new(AppendRequest {
            destination,
            events,
            origin: Origin::Sent,
        });
        self.queue.push_append(waiting)?;
        receiver.await.unwrap_or(Err(StoreError::Stopped))
    }

    /// [`Self::append`] for callers that may block.
    ///
    /// # Errors
    /// As [`Self::append`].
    pub fn append_blocking(&self, destination: Destination, events: Vec<NewEvent>) -> AppendOutcome {
        let (waiting, receiver) = WaitingAppend::new(AppendRequest {
            destination,
            events,
            origin: Origin::Sent,
        });
        self.queue.push_append(waiting)?;
        receiver.blocking_recv().unwrap_or(Err(StoreError::Stopped))
    }

    /// Looks up what takes no time. Blocks, and never waits for a writer.
    ///
    /// # Errors
    /// Those of `work`, and [`StoreError::Unreachable`] when there is no connection to be had.
    pub fn read<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&mut Rows<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.read_from(&self.lookups, work)
    }

    /// Reads events. Blocks, and never waits for a writer.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn query<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&mut Rows<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.read_from(&self.readers, work)
    }

    /// Changes keys, plans, rules or tiers in one transaction, so that from its commit on nothing that relied on them
    /// is used any more. Blocks.
    ///
    /// # Errors
    /// Those of `work`, which undo everything, and those of the database.
    pub fn configure<T, E>(
        &self,
        work: impl FnOnce(&mut Rows<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.write(move |rows| {
            lock_configuration(rows.connection)?;
            let outcome = work(rows)?;
            // Only a real change: each makes every request that is on its way begin anew.
            if rows.is_configuration_changed {
                increase_configuration_version(rows.connection)?;
            }
            Ok(outcome)
        })
    }

    /// Writes what nothing relies on, such as the time of a key's last use, in one transaction. Blocks.
    ///
    /// # Errors
    /// As [`Self::configure`].
    pub fn write<T, E>(
        &self,
        work: impl FnOnce(&mut Rows<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let (reply, receiver) = mpsc::sync_channel(1);
        let index_cache = Arc::clone(&self.index_cache);
        self.queue.push_transaction(Box::new(move |connection| {
            let outcome = match connection {
                Ok(connection) => {
                    connection.write_transaction(|connection| work(&mut Rows::new(connection, &index_cache)))
                }
                Err(error) => Err(error.into()),
            };
            if reply.send(outcome).is_err() {
                ::log::debug!("nobody waits for the change any more");
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
        self.listener.set(Box::new(listener))
    }

    /// The size of a ledger from now on, as far as this process knows it: at once when it commits itself, and when
    /// [`Self::look_for_arrivals`] has found what others committed. 0 as long as neither has happened.
    pub fn arrivals(&self, ledger_id: LedgerId) -> watch::Receiver<u64> {
        self.arrivals.subscribe(ledger_id)
    }

    /// Looks for what other processes have committed to the ledgers that somebody waits for. Blocks.
    ///
    /// # Errors
    /// When the database cannot be asked.
    pub fn look_for_arrivals(&self) -> Result<()> {
        self.read(|rows| self.arrivals.look(rows.connection))
    }

    fn read_from<T, E: From<StoreError>>(
        &self,
        pool: &r2d2::Pool<ReaderManager>,
        work: impl FnOnce(&mut Rows<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut reader = reader_of(pool)?;
        work(&mut Rows::new(&mut reader.connection, &self.index_cache))
    }

    /// How many queries over events can be made at once.
    pub fn readers_max(&self) -> u32 {
        self.readers.max_size()
    }

    /// What the store has done, and what waits.
    pub fn statistics(&self) -> StoreStatistics {
        StoreStatistics {
            commits: self.counters.commits.load(Ordering::Relaxed),
            events: self.counters.events.load(Ordering::Relaxed),
            alerts: self.counters.alerts.load(Ordering::Relaxed),
            queue_depth: self.queue.depth(),
        }
    }

    /// Takes no more writes, finishes those that wait, and returns when they are committed.
    pub fn close(&self) {
        self.queue.close();
        self.wal.close();
        let writers = std::mem::take(&mut *self.writers.lock().unwrap_or_else(PoisonError::into_inner));
        for writer in writers {
            if writer.join().is_err() {
                ::log::error!("a writer ended in a panic");
            }
        }
        self.filing.close();
        let indexer = self.indexer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if indexer.is_some_and(|indexer| indexer.join().is_err()) {
            ::log::error!("the indexer ended in a panic");
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.close();
    }
}

fn spawn(name: String, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    let thread = std::thread::Builder::new().name(name);
    thread
        .spawn(work)
        .map_err(|error| StoreError::Unreachable(format!("no thread to write: {error}")))
}

fn open_pool(url: &DatabaseUrl, connections_max: u32) -> Result<r2d2::Pool<ReaderManager>> {
    r2d2::Pool::builder()
        .max_size(connections_max)
        .min_idle(Some(1))
        .test_on_check_out(matches!(url, DatabaseUrl::Postgres(_)))
        .connection_timeout(Duration::from_millis(READER_WAIT_MS))
        .build(ReaderManager { url: url.clone() })
        .map_err(|error| StoreError::Unreachable(error.to_string()))
}

fn reader_of(pool: &r2d2::Pool<ReaderManager>) -> Result<r2d2::PooledConnection<ReaderManager>> {
    pool.get()
        .map_err(|error| StoreError::Unreachable(error.to_string()))
}
