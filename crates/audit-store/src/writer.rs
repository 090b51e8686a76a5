//! The threads that write. SQLite has one; PostgreSQL has a few, each with a session of its own.
//!
//! A writer takes all waiting requests, writes them in one transaction, and reports the outcomes after the commit:
//! concurrent requests share one disk synchronisation (group commit).

use crate::append::alert_groups::{RaisedAlert, Suppressed};
use crate::append::plan::Plan;
use crate::append::request::AppendOutcome;
use crate::append::{FailedCommit, ledgers_of};
use crate::arrivals::Arrivals;
use crate::database::{AnySession, Database, on_database, on_either};
use crate::error::{Result, StoreError};
use crate::ids::LedgerId;
use crate::ledgers::heads::Heads;
use crate::queue::{Queue, Transaction, WaitingAppend, Work};
use crate::recent::RecentEvents;
use crate::shortage::Shortage;
use crate::tree::RecentTrees;
use audit_alerts::ALERTS_PER_MINUTE_MAX;
use audit_domain::Clock;
use diesel::r2d2::R2D2Connection;
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Repetitions of a commit that was rolled back.
const REPEATS_MAX: u32 = 1;
/// A commit is repeated if it failed sooner than this. Serialization failures, deadlocks and lost connections do. A timeout of a
/// lock or statement takes longer, and would probably pass again.
const REPEATED_WITHIN: Duration = Duration::from_secs(2);

/// Called after a commit that adds deliveries, or alerts that still need some.
type DeliveryListener = Box<dyn Fn() + Send + Sync>;

/// Counts commits and notifies listeners of them, for all writers of a process.
pub(crate) struct Commits {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) arrivals: Arrivals,
    listener: OnceLock<DeliveryListener>,
    /// Has the ledgers that have grown, to be signed.
    heads: Arc<Heads>,
    /// For the maps of tenants.
    pub(crate) recent: RecentEvents,
    /// For the signer.
    pub(crate) recent_trees: RecentTrees,
    /// Whether the machine of the database let the last commit fail.
    pub(crate) shortage: Shortage,
    commits: AtomicU64,
    events: AtomicU64,
    alerts: AtomicU64,
    suppressed_alerts: AtomicU64,
}

/// Totals since the process started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommitCounts {
    pub(crate) commits: u64,
    pub(crate) events: u64,
    pub(crate) alerts: u64,
    pub(crate) suppressed_alerts: u64,
}

impl Commits {
    pub(crate) fn new(heads: &Arc<Heads>, clock: &Arc<dyn Clock>) -> Self {
        Self {
            clock: Arc::clone(clock),
            arrivals: Arrivals::default(),
            listener: OnceLock::new(),
            heads: Arc::clone(heads),
            recent: RecentEvents::default(),
            recent_trees: RecentTrees::default(),
            shortage: Shortage::default(),
            commits: AtomicU64::new(0),
            events: AtomicU64::new(0),
            alerts: AtomicU64::new(0),
            suppressed_alerts: AtomicU64::new(0),
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
            suppressed_alerts: self.suppressed_alerts.load(Ordering::Relaxed),
        }
    }

    /// Counts the alerts that exceeded the limit of their minute.
    fn note_suppressed(&self, suppressed: &Suppressed) {
        self.suppressed_alerts
            .fetch_add(suppressed.count, Ordering::Relaxed);
        for ledger_id in &suppressed.begun {
            log::error!(
                "ledger {} has raised {ALERTS_PER_MINUTE_MAX} alerts within a minute; its further alerts of this minute are \
                 counted, but not raised",
                ledger_id.0
            );
        }
    }

    /// Counts the rows of a commit and notifies listeners. Returns the outcomes of the requests.
    fn committed(&self, plan: Plan) -> Vec<AppendOutcome> {
        if !plan.rows.is_empty() {
            self.shortage.succeeded();
        }
        self.commits
            .fetch_add(u64::from(!plan.rows.is_empty()), Ordering::Relaxed);
        self.events.fetch_add(plan.rows.len() as u64, Ordering::Relaxed);
        self.alerts.fetch_add(plan.alerts.len() as u64, Ordering::Relaxed);
        self.note_suppressed(&plan.counts.suppressed);
        let is_undelivered = |raised: &RaisedAlert| !raised.undelivered_to.is_empty();
        if (!plan.deliveries.is_empty() || plan.alerts.iter().any(is_undelivered))
            && let Some(listener) = self.listener.get()
        {
            listener();
        }
        self.recent.add(&plan.rows);
        for (ledger_id, growth) in &plan.growths {
            if let Some(tree) = &growth.tree {
                self.recent_trees.add(*ledger_id, tree.before(), tree.frontier());
            }
        }
        self.heads.unsigned.note_grown(plan.extended());
        let heads = plan.after.heads.iter();
        self.arrivals
            .notify(heads.map(|(ledger_id, head)| (*ledger_id, head.size.cast_unsigned())));
        plan.outcomes
    }
}

/// What a writing thread is doing.
#[derive(Default)]
pub(crate) struct Slot(Mutex<SlotState>);

#[derive(Default)]
struct SlotState {
    /// Whether it has work, and the ledgers it owns.
    work: Option<BTreeSet<LedgerId>>,
    /// When it began to wait for responses; none while it connects, which has limits of its own.
    since: Option<Instant>,
    /// Whether another writer has taken its place.
    is_replaced: bool,
}

impl Slot {
    /// Notes that work begins.
    pub(crate) fn begin(&self, ledgers: BTreeSet<LedgerId>) {
        let mut state = self.0.lock();
        state.work = Some(ledgers);
        state.since = Some(Instant::now());
    }

    /// Connects. A writer that connects does not hang.
    pub(crate) fn connect<T>(&self, attempt: impl FnOnce() -> T) -> T {
        self.0.lock().since = None;
        let connected = attempt();
        self.0.lock().since = Some(Instant::now());
        connected
    }

    /// Notes that the work has ended, and releases its ledgers. Returns `false` if the writer was replaced, and its ledgers
    /// were released then.
    pub(crate) fn end(&self, queue: &Queue) -> bool {
        let mut state = self.0.lock();
        let work = state.work.take();
        if state.is_replaced {
            return false;
        }
        if let Some(ledgers) = work {
            queue.release(&ledgers);
        }
        true
    }

    pub(crate) fn hangs(&self, limit: Duration) -> bool {
        self.0.lock().hangs(limit)
    }

    /// Takes the place of a writer that hangs. Returns `false` if it does not.
    pub(crate) fn replace(&self, limit: Duration, queue: &Queue) -> bool {
        let mut state = self.0.lock();
        match &state.work {
            Some(ledgers) if state.hangs(limit) => queue.release(ledgers),
            _ => return false,
        }
        state.is_replaced = true;
        true
    }

    pub(crate) fn is_replaced(&self) -> bool {
        self.0.lock().is_replaced
    }
}

impl SlotState {
    fn hangs(&self, limit: Duration) -> bool {
        self.work.is_some() && self.since.is_some_and(|since| since.elapsed() >= limit)
    }
}

/// One writing thread.
pub(crate) struct WriterThread {
    database: Arc<Database>,
    commits: Arc<Commits>,
    session: Option<AnySession>,
    /// What it is doing.
    pub(crate) slot: Arc<Slot>,
}

impl WriterThread {
    /// A writer that opens its session when it needs one.
    pub(crate) fn new(database: &Arc<Database>, commits: &Arc<Commits>) -> Self {
        Self {
            session: None,
            slot: Arc::default(),
            database: Arc::clone(database),
            commits: Arc::clone(commits),
        }
    }

    /// A writer with an open session.
    pub(crate) fn open(database: &Arc<Database>, commits: &Arc<Commits>) -> Result<Self> {
        Ok(Self {
            session: Some(database.open_writer()?),
            ..Self::new(database, commits)
        })
    }

    /// Works until the queue is closed and empty, or until it was replaced because it hung.
    pub(crate) fn run(mut self, queue: &Queue) {
        while let Some(work) = queue.take() {
            self.slot.begin(work.ledgers());
            let outcome = catch_unwind(AssertUnwindSafe(|| match work {
                Work::Append(requests) => self.append(requests, queue, REPEATS_MAX),
                Work::Transaction(transaction) => self.transaction(transaction, queue),
            }));
            self.database.wake_indexer();
            if outcome.is_err() {
                // The requests got no outcome, so their clients retry. The state of the session is unknown; the next
                // work gets a new one.
                log::error!("a writer panicked; it continues with a new connection");
                self.session = None;
                self.database.forget_commits();
            }
            if !self.slot.end(queue) {
                return;
            }
            if let Some(session) = &mut self.session {
                on_database!(session, append::after_work());
            }
        }
        if let Some(session) = &mut self.session {
            on_database!(session, append::before_close());
        }
    }

    /// The session, reopened when the last one broke.
    fn session(&mut self, queue: &Queue) -> Result<&mut AnySession> {
        let is_usable = |session: &mut AnySession| {
            !session.is_broken() && !on_database!(session, connection::has_moved())
        };
        if !self.session.as_mut().is_some_and(is_usable) {
            self.session = None;
        }
        match &mut self.session {
            Some(session) => Ok(session),
            none => {
                // The database may have lost commits while it was not connected.
                self.database.forget_commits();
                let connect = || queue.connect(|| self.database.open_writer());
                Ok(none.insert(self.slot.connect(connect)?))
            }
        }
    }

    fn transaction(&mut self, transaction: Transaction, queue: &Queue) {
        let session = self.session(queue);
        if !transaction(session) {
            self.drop_useless_session();
        }
        if let Some(session) = &mut self.session {
            let extended = on_either!(session, session => std::mem::take(&mut session.memory.extended));
            self.commits.heads.unsigned.note_grown(extended);
        }
    }

    /// Writes all requests in one transaction, and reports their outcomes. When it was rolled back for certain, it is repeated:
    /// with several ledgers the requests of each on their own, so that a head which another node has locked delays only its own
    /// requests, and with one ledger `repeats` times. A commit whose outcome is unknown is never repeated: it would store
    /// requests without idempotency keys twice.
    fn append(&mut self, mut requests: Vec<WaitingAppend>, queue: &Queue, repeats: u32) {
        let began = Instant::now();
        let FailedCommit { error, can_repeat } = match self.commit(&mut requests, queue) {
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
        self.commits.shortage.failed(&error, Instant::now());
        self.database.forget_commits();
        // The outcome may be unknown.
        self.commits.heads.unsigned.note_grown(ledgers_of(&requests));
        self.drop_useless_session();
        let mut by_ledger: BTreeMap<_, Vec<_>> = BTreeMap::new();
        if can_repeat {
            for waiting in std::mem::take(&mut requests) {
                by_ledger.entry(waiting.ledger_id()).or_default().push(waiting);
            }
        }
        let is_split = by_ledger.len() > 1;
        let is_transient = matches!(error, StoreError::Unreachable(_)) && began.elapsed() < REPEATED_WITHIN;
        let is_repeated = can_repeat && (is_split || (is_transient && repeats > 0));
        if is_repeated && self.session(queue).is_ok() {
            let left = if is_split {
                repeats
            } else {
                repeats.saturating_sub(1)
            };
            for own in by_ledger.into_values() {
                self.append(own, queue, left);
            }
            return;
        }
        for waiting in requests.into_iter().chain(by_ledger.into_values().flatten()) {
            waiting.report(Err(match &error {
                StoreError::OutcomeUnknown(reason) => StoreError::OutcomeUnknown(reason.clone()),
                StoreError::Unreachable(reason) => StoreError::Unreachable(reason.clone()),
                other => StoreError::Unreachable(other.to_string()),
            }));
        }
    }

    /// Drops the session if it broke or its server no longer accepts writes. The next work opens another one, which leads to a
    /// server that does.
    fn drop_useless_session(&mut self) {
        if let Some(session) = &mut self.session
            && let Err(error) = on_database!(session, connection::test_writer())
        {
            log::warn!("a writer opens another connection: {error}");
            self.session = None;
        }
    }

    /// Writes all requests in one transaction, together with those that arrive for the same ledgers until their heads are
    /// locked.
    fn commit(&mut self, requests: &mut Vec<WaitingAppend>, queue: &Queue) -> Result<Plan, FailedCommit> {
        let day = self.commits.clock.now().utc_day();
        let session = self.session(queue).map_err(FailedCommit::final_error)?;
        on_database!(session, append::commit(requests, queue, day))
    }
}
