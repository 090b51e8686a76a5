//! The threads that write. SQLite has one; PostgreSQL a few, each with a connection of its own.
//!
//! A writer takes everything that waits, writes it in one transaction, and answers after the commit: however many
//! requests come at once, they share one synchronisation of the disk.

use crate::append::plan::Plan;
use crate::append::{self, AppendOutcome, Known, LedgerId};
use crate::arrivals::Arrivals;
use crate::connection::{AnyConnection, DatabaseUrl, Purpose};
use crate::error::{Result, StoreError};
use crate::heads::KnownHeads;
use crate::index::IndexCache;
use crate::index::sqlite::tail::Left;
use crate::ledgers::read_before;
use crate::log::BegunTiles;
use crate::queue::{Queue, Transaction, WaitingAppend, Work};
use crate::rows::Rows;
use crate::signal::{Filing, Signal};
use crate::wal::{Stage, WalWatch};
use audit_domain::Clock;
use diesel::connection::SimpleConnection;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// What the writers have done so far.
#[derive(Debug, Default)]
pub(crate) struct WriterCounters {
    pub(crate) commits: AtomicU64,
    pub(crate) events: AtomicU64,
    pub(crate) alerts: AtomicU64,
}

/// Who wants to know when there is something to deliver.
#[derive(Clone, Default)]
pub(crate) struct DeliveryListener(Arc<OnceLock<Box<dyn Fn() + Send + Sync>>>);

impl DeliveryListener {
    pub(crate) fn set(&self, listener: Box<dyn Fn() + Send + Sync>) -> Result<()> {
        self.0.set(listener).map_err(|_| StoreError::Duplicate)
    }

    fn call(&self) {
        if let Some(listener) = self.0.get() {
            listener();
        }
    }
}

/// What all writing threads of a process share.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) url: DatabaseUrl,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) counters: Arc<WriterCounters>,
    pub(crate) listener: DeliveryListener,
    pub(crate) arrivals: Arc<Arrivals>,
    /// Heard by whoever files what is written here.
    pub(crate) filing: Arc<Signal<Filing>>,
    pub(crate) index_cache: Arc<IndexCache>,
    pub(crate) begun: Arc<BegunTiles>,
    pub(crate) heads: Arc<KnownHeads>,
    pub(crate) wal: Arc<Signal<Stage>>,
}

/// One writing thread.
pub(crate) struct Writer {
    shared: Shared,
    connection: Option<AnyConnection>,
    known: Known,
    backlog: Backlog,
    wal: WalWatch,
}

/// What this writer has stored on SQLite and is not in the index yet.
#[derive(Default)]
struct Backlog {
    /// Each commit with its events.
    commits: VecDeque<(i64, usize)>,
    events: usize,
}

/// Events that may be stored and not in the index before the writer waits for it: readers look through all of them.
const BACKLOG_EVENTS_MAX: usize = 16_000;
/// How long the writer waits then, before each commit.
const BACKLOG_PATIENCE: Duration = Duration::from_secs(1);

impl Backlog {
    /// Takes note of a commit.
    fn add(&mut self, left: Left, events: usize) {
        self.commits.push_back((left.commit, events));
        self.events += events;
        while let Some((commit, events)) = self.commits.front()
            && *commit <= left.last_indexed
        {
            self.events -= events;
            self.commits.pop_front();
        }
    }

    /// Waits while there is too much of it.
    fn wait(&self, filing: &Signal<Filing>) {
        if let Some((oldest, _)) = self.commits.front()
            && self.events > BACKLOG_EVENTS_MAX
        {
            filing.wait_for_commit(*oldest, BACKLOG_PATIENCE);
        }
    }
}

impl Writer {
    pub(crate) fn open(shared: Shared) -> Result<Self> {
        Ok(Self {
            connection: Some(shared.url.connect(Purpose::Write)?),
            known: Known::of_writer(Arc::clone(&shared.begun)),
            shared,
            backlog: Backlog::default(),
            wal: WalWatch::default(),
        })
    }

    /// Works until the queue is closed and empty.
    pub(crate) fn run(mut self, queue: &Queue) {
        self.work(queue);
        // Into the one file, so that after a clean stop a copy of it is a backup.
        if let Some(AnyConnection::Sqlite(sqlite)) = &mut self.connection
            && let Err(error) = sqlite.batch_execute("PRAGMA main.wal_checkpoint(TRUNCATE)")
        {
            log::warn!("the write-ahead log was not moved into the database: {error}");
        }
    }

    fn work(&mut self, queue: &Queue) {
        while let Some(work) = queue.take() {
            let ledgers = work.ledgers();
            let outcome = catch_unwind(AssertUnwindSafe(|| match work {
                Work::Append(commit) => self.append(commit, queue),
                Work::Transaction(transaction) => self.transaction(transaction),
            }));
            self.shared.filing.ask();
            if outcome.is_err() {
                // Those who waited have been hung up on, which tells them to try again. What the connection and the
                // memory are like nobody knows; the next work gets new ones.
                log::error!("a writer panicked; it goes on with a new connection");
                let known = Known::of_writer(Arc::clone(&self.shared.begun));
                (self.connection, self.known) = (None, known);
                self.shared.heads.forget();
            }
            queue.release(&ledgers);
            self.watch_log();
            match self.shared.url {
                DatabaseUrl::Sqlite(_) => self.backlog.wait(&self.shared.filing),
                DatabaseUrl::Postgres(_) => {
                    let filing = &self.shared.filing;
                    filing.wait_while_missing(BACKLOG_EVENTS_MAX as i64, BACKLOG_PATIENCE);
                }
            }
        }
    }

    /// Has the write-ahead log of SQLite moved into the file when it is long.
    fn watch_log(&mut self) {
        if let Some(AnyConnection::Sqlite(sqlite)) = &mut self.connection
            && let Err(error) = self.wal.look(sqlite, &self.shared.wal)
        {
            log::warn!("nobody knows how long the write-ahead log is: {error}");
        }
    }

    /// The connection, opened anew when the last one broke.
    fn connection(&mut self) -> Result<&mut AnyConnection> {
        let is_broken = |connection: &mut AnyConnection| diesel::r2d2::R2D2Connection::is_broken(connection);
        if self.connection.as_mut().is_none_or(is_broken) {
            self.connection = None;
            self.connection = Some(self.shared.url.connect(Purpose::Write)?);
        }
        self.connection.as_mut().ok_or(StoreError::Stopped)
    }

    fn transaction(&mut self, transaction: Transaction) {
        transaction(self.connection());
        self.wal.committed(0);
    }

    /// Writes all requests in one transaction, and answers them. When that is undone on PostgreSQL and the connection still
    /// works, writes the requests of each ledger on their own, so that a head which another node holds keeps only its own
    /// waiting. What may have been committed is never written again: requests without idempotency keys would be stored twice.
    fn append(&mut self, mut commit: Vec<WaitingAppend>, queue: &Queue) {
        let ledgers: BTreeSet<_> = commit.iter().map(WaitingAppend::ledger_id).collect();
        let can_split = ledgers.len() > 1 && matches!(self.shared.url, DatabaseUrl::Postgres(_));
        let mut is_undone = true;
        let error = match self.commit(&mut commit, &ledgers, can_split, queue, &mut is_undone) {
            Ok(outcomes) => {
                for (waiting, outcome) in commit.into_iter().zip(outcomes) {
                    waiting.answer(outcome);
                }
                return;
            }
            Err(error) => error,
        };
        log::error!("{} requests could not be stored together: {error}", commit.len());
        self.shared.heads.forget();
        if can_split && is_undone && self.is_answering() {
            let mut by_ledger: BTreeMap<_, Vec<_>> = BTreeMap::new();
            for waiting in commit {
                by_ledger.entry(waiting.ledger_id()).or_default().push(waiting);
            }
            for own in by_ledger.into_values() {
                self.append(own, queue);
            }
        } else {
            for waiting in commit {
                waiting.answer(Err(StoreError::Unreachable(error.to_string())));
            }
        }
    }

    /// Whether the connection still works.
    fn is_answering(&mut self) -> bool {
        let connection = self.connection.as_mut();
        connection.is_some_and(|connection| connection.batch_execute("SELECT 1").is_ok())
    }

    /// Writes all requests in one transaction, and with them what comes for the same ledgers until their heads are locked. An
    /// error means that nothing of any of them was stored, or, when the connection broke during the commit itself, that
    /// nobody can tell: the senders retry by idempotency key. Sets `is_undone` to `false` before it asks the database to commit.
    fn commit(
        &mut self,
        commit: &mut Vec<WaitingAppend>,
        ledgers: &BTreeSet<LedgerId>,
        kept: bool,
        queue: &Queue,
        is_undone: &mut bool,
    ) -> Result<Vec<AppendOutcome>> {
        let day = self.shared.clock.now().utc_day();
        self.connection()?;
        let Self {
            shared,
            connection,
            known,
            ..
        } = self;
        let connection = connection.as_mut().ok_or(StoreError::Stopped)?;
        known.actions.rolled_back();
        if let Some(before) = shared.heads.before(ledgers, day) {
            commit.sort_by_key(|waiting| waiting.request.first_id());
            let requests = commit.iter_mut().map(|waiting| waiting.hand_over(true)).collect();
            *is_undone = false;
            if let Some(plan) = append::postgres::append_expected(connection, requests, before, known)? {
                return Ok(self.committed(plan));
            }
            *is_undone = true;
            known.actions.rolled_back();
        }
        let plan: Plan = connection.write_transaction(|connection| {
            let before = read_before(connection, ledgers, day)?;
            queue.join(commit, |ledger_id| before.heads.contains_key(&ledger_id));
            // As they arrived: one that is overtaken by another on its way through the threads needs a new stamp, and with
            // it a new hash.
            commit.sort_by_key(|waiting| waiting.request.first_id());
            let requests = commit.iter_mut().map(|waiting| waiting.hand_over(kept)).collect();
            let plan = append::append(
                &mut Rows::new(connection, &shared.index_cache),
                requests,
                before,
                known,
            )?;
            if plan.rows.is_empty() {
                return Ok(plan);
            }
            *is_undone = false;
            Ok::<_, StoreError>(plan)
        })?;
        Ok(self.committed(plan))
    }

    /// Takes note of what was committed; the answers.
    fn committed(&mut self, plan: Plan) -> Vec<AppendOutcome> {
        let shared = &self.shared;
        self.wal.committed(plan.rows.len());
        self.known.committed(&plan.rows);
        if let Some(left) = plan.left {
            self.backlog.add(left, plan.rows.len());
        }
        if matches!(shared.url, DatabaseUrl::Postgres(_)) {
            shared.heads.committed(&plan.sizes_before, &plan.after);
            shared.index_cache.tail.committed(&plan.rows);
        }
        let counters = &shared.counters;
        counters
            .commits
            .fetch_add(u64::from(!plan.rows.is_empty()), Ordering::Relaxed);
        counters
            .events
            .fetch_add(plan.rows.len() as u64, Ordering::Relaxed);
        counters
            .alerts
            .fetch_add(plan.alerts.len() as u64, Ordering::Relaxed);
        if !plan.deliveries.is_empty() {
            shared.listener.call();
        }
        let heads = plan.after.heads.iter();
        shared
            .arrivals
            .tell(heads.map(|(ledger_id, head)| (*ledger_id, head.size.cast_unsigned())));
        plan.outcomes
    }
}
