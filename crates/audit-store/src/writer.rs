//! The threads that write. SQLite has one; PostgreSQL has a few, each with a session of its own.
//!
//! A writer takes all waiting requests, writes them in one transaction, and reports the outcomes after the commit:
//! concurrent requests share one disk synchronisation (group commit).

use crate::append::plan::Plan;
use crate::append::{AppendOutcome, FailedCommit, LedgerId, ledgers_of};
use crate::arrivals::Arrivals;
use crate::database::{AnySession, Database, on_database, on_either};
use crate::error::{Result, StoreError};
use crate::queue::{Queue, Transaction, WaitingAppend, Work};
use audit_domain::Clock;
use diesel::connection::SimpleConnection;
use diesel::r2d2::R2D2Connection;
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Called after a commit that adds deliveries.
type DeliveryListener = Box<dyn Fn() + Send + Sync>;

/// Counts commits and notifies listeners of them, for all writers of a process.
pub(crate) struct Commits {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) arrivals: Arrivals,
    listener: OnceLock<DeliveryListener>,
    /// The ledgers that have grown since [`Self::take_extended`], to be signed.
    extended: Mutex<BTreeSet<LedgerId>>,
    commits: AtomicU64,
    events: AtomicU64,
    alerts: AtomicU64,
}

/// Totals since the process started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommitCounts {
    pub(crate) commits: u64,
    pub(crate) events: u64,
    pub(crate) alerts: u64,
}

impl Commits {
    pub(crate) fn new(clock: &Arc<dyn Clock>) -> Self {
        Self {
            clock: Arc::clone(clock),
            arrivals: Arrivals::default(),
            listener: OnceLock::new(),
            extended: Mutex::default(),
            commits: AtomicU64::new(0),
            events: AtomicU64::new(0),
            alerts: AtomicU64::new(0),
        }
    }

    pub(crate) fn set_listener(&self, listener: DeliveryListener) -> Result<()> {
        self.listener.set(listener).map_err(|_| StoreError::Duplicate)
    }

    pub(crate) fn counts(&self) -> CommitCounts {
        CommitCounts {
            commits: self.commits.load(Ordering::Relaxed),
            events: self.events.load(Ordering::Relaxed),
            alerts: self.alerts.load(Ordering::Relaxed),
        }
    }

    /// Notes that ledgers have grown, or may have.
    pub(crate) fn note_extended(&self, ledger_ids: impl IntoIterator<Item = LedgerId>) {
        self.extended.lock().extend(ledger_ids);
    }

    /// The ledgers that this process has extended since the last call.
    pub(crate) fn take_extended(&self) -> BTreeSet<LedgerId> {
        std::mem::take(&mut *self.extended.lock())
    }

    /// Counts the rows of a commit and notifies listeners. Returns the outcomes of the requests.
    fn committed(&self, plan: Plan) -> Vec<AppendOutcome> {
        self.commits
            .fetch_add(u64::from(!plan.rows.is_empty()), Ordering::Relaxed);
        self.events.fetch_add(plan.rows.len() as u64, Ordering::Relaxed);
        self.alerts.fetch_add(plan.alerts.len() as u64, Ordering::Relaxed);
        if !plan.deliveries.is_empty()
            && let Some(listener) = self.listener.get()
        {
            listener();
        }
        self.note_extended(plan.extended());
        let heads = plan.after.heads.iter();
        self.arrivals
            .notify(heads.map(|(ledger_id, head)| (*ledger_id, head.size.cast_unsigned())));
        plan.outcomes
    }
}

/// One writing thread.
pub(crate) struct WriterThread {
    database: Arc<Database>,
    commits: Arc<Commits>,
    session: Option<AnySession>,
}

impl WriterThread {
    pub(crate) fn open(database: &Arc<Database>, commits: &Arc<Commits>) -> Result<Self> {
        Ok(Self {
            session: Some(database.open_writer()?),
            database: Arc::clone(database),
            commits: Arc::clone(commits),
        })
    }

    /// Works until the queue is closed and empty.
    pub(crate) fn run(mut self, queue: &Queue) {
        while let Some(work) = queue.take() {
            let ledgers = work.ledgers();
            let outcome = catch_unwind(AssertUnwindSafe(|| match work {
                Work::Append(requests) => self.append(requests, queue),
                Work::Transaction(transaction) => self.transaction(transaction),
            }));
            self.database.wake_indexer();
            if outcome.is_err() {
                // The requests got no outcome, so their clients retry. The state of the session is unknown; the next
                // work gets a new one.
                log::error!("a writer panicked; it continues with a new connection");
                self.session = None;
                self.database.forget_commits();
            }
            queue.release(&ledgers);
            if let Some(session) = &mut self.session {
                on_database!(session, append::after_work());
            }
        }
        if let Some(session) = &mut self.session {
            on_database!(session, append::before_close());
        }
    }

    /// The session, reopened when the last one broke.
    fn session(&mut self) -> Result<&mut AnySession> {
        if self.session.as_mut().is_none_or(R2D2Connection::is_broken) {
            self.session = None;
        }
        match &mut self.session {
            Some(session) => Ok(session),
            none => {
                // The database may have lost commits while it was not connected.
                self.database.forget_commits();
                Ok(none.insert(self.database.open_writer()?))
            }
        }
    }

    fn transaction(&mut self, transaction: Transaction) {
        let session = self.session();
        transaction(session);
        if let Some(session) = &mut self.session {
            let extended = on_either!(session, session => std::mem::take(&mut session.memory.extended));
            self.commits.note_extended(extended);
        }
    }

    /// Writes all requests in one transaction, and reports their outcomes. When it is rolled back and can be split, writes
    /// the requests of each ledger on their own, so that a head which another node has locked delays only its own requests.
    /// A commit whose outcome is unknown is never repeated: it would store requests without idempotency keys
    /// twice.
    fn append(&mut self, mut requests: Vec<WaitingAppend>, queue: &Queue) {
        let FailedCommit { error, can_split } = match self.commit(&mut requests, queue) {
            Ok(plan) => {
                let outcomes = self.commits.committed(plan);
                for (waiting, outcome) in requests.into_iter().zip(outcomes) {
                    waiting.report(outcome);
                }
                return;
            }
            Err(failed) => failed,
        };
        log::error!("cannot store {} requests together: {error}", requests.len());
        self.database.forget_commits();
        // The outcome may be unknown.
        self.commits.note_extended(ledgers_of(&requests));
        if can_split && self.is_answering() {
            let mut by_ledger: BTreeMap<_, Vec<_>> = BTreeMap::new();
            for waiting in requests {
                by_ledger.entry(waiting.ledger_id()).or_default().push(waiting);
            }
            for own in by_ledger.into_values() {
                self.append(own, queue);
            }
        } else {
            for waiting in requests {
                waiting.report(Err(StoreError::Unreachable(error.to_string())));
            }
        }
    }

    /// Whether the session still works.
    fn is_answering(&mut self) -> bool {
        let session = self.session.as_mut();
        session.is_some_and(|session| session.batch_execute("SELECT 1").is_ok())
    }

    /// Writes all requests in one transaction, together with those that arrive for the same ledgers until their heads are
    /// locked.
    fn commit(&mut self, requests: &mut Vec<WaitingAppend>, queue: &Queue) -> Result<Plan, FailedCommit> {
        let day = self.commits.clock.now().utc_day();
        let session = self.session().map_err(FailedCommit::final_error)?;
        on_database!(session, append::commit(requests, queue, day))
    }
}
