//! The write queue: bounded in requests and bytes, so that overload is refused instead of queued without limit. Organizations
//! take turns, and each has a share of the queue ([`turns`]).

#![expect(
    clippy::disallowed_types,
    reason = "requests wake writers here: with parking_lot's locks PostgreSQL stores 8 % fewer single events a second"
)]

mod callers;
mod turns;

use crate::append::plan::REQUEST_DELIVERIES_MAX;
use crate::append::request::{AppendOutcome, AppendRequest};
use crate::configuration::Owner;
use crate::database::AnySession;
use crate::error::{Result, StoreError};
use crate::ids::LedgerId;
use crate::options::QueueLimits;
use callers::Callers;
pub use callers::{AnonymousStreams, Turn};
use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;
use turns::Turns;

/// Rows of one commit, at most: events, the states of the groups that count them, and the alerts and
/// deliveries they may raise. Larger commits take longer and are not
/// cheaper per event.
const COMMIT_ROWS_MAX: usize = 4_000;
/// Approximate memory of the state of a group, of an alert, or of a delivery.
const RAISED_ROW_BYTES: usize = 512;
/// Bytes of one commit, at most.
const COMMIT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A request that waits to be appended, and the channel for its outcome.
pub(crate) struct WaitingAppend {
    pub(crate) request: AppendRequest,
    /// The memory that it may need until it is committed.
    pub(crate) bytes: usize,
    /// The rows that it may write: each group that counts an event has a state, and can raise an alert with deliveries.
    pub(crate) rows: usize,
    pub(crate) reply: oneshot::Sender<AppendOutcome>,
    /// Its number in the queue, which grows in the order of arrival.
    number: u64,
}

impl WaitingAppend {
    pub(crate) fn ledger_id(&self) -> LedgerId {
        self.request.destination.ledger_id
    }

    /// Whose turn it takes.
    pub(crate) fn owner(&self) -> Owner {
        Owner::Organization(self.request.destination.organization_id)
    }

    /// Reports the outcome. A client that has disconnected does not get it; its retry finds the stored event by
    /// idempotency key.
    pub(crate) fn report(self, outcome: AppendOutcome) {
        if self.reply.send(outcome).is_err() {
            log::debug!("the client disconnected before its events were stored");
        }
    }

    /// The request, for the planner; a copy when `is_copied`, because the commit may have to be repeated.
    pub(crate) fn hand_over(&mut self, is_copied: bool) -> AppendRequest {
        match is_copied {
            true => self.request.clone(),
            false => AppendRequest {
                destination: self.request.destination.clone(),
                events: std::mem::take(&mut self.request.events),
                origin: self.request.origin,
            },
        }
    }

    pub(crate) fn new(request: AppendRequest) -> (Self, oneshot::Receiver<AppendOutcome>) {
        let (reply, receiver) = oneshot::channel();
        let watches: usize = request.events.iter().map(|event| event.watches.len()).sum();
        // For each the state of the group, and an alert.
        let deliveries = watches * request.destination.webhook_ids.len();
        let raised = 2 * watches + deliveries.min(REQUEST_DELIVERIES_MAX);
        let events: usize = request.events.iter().map(|event| event.bytes()).sum();
        (
            Self {
                bytes: events + raised * RAISED_ROW_BYTES,
                rows: request.events.len() + raised,
                request,
                reply,
                number: 0,
            },
            receiver,
        )
    }
}

/// Names a request in the queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticket {
    owner: Owner,
    number: u64,
}

/// A transaction of a caller: runs on the session and reports its result. It gets an error when no session can be opened.
/// Returns whether it succeeded.
pub(crate) type Transaction = Box<dyn FnOnce(Result<&mut AnySession>) -> bool + Send>;

/// The next work of a writer.
pub(crate) enum Work {
    /// Requests to append in one commit.
    Append(Vec<WaitingAppend>),
    /// A transaction to run.
    Transaction(Transaction),
}

impl Work {
    /// The ledgers that it appends to. Its writer owns them until it releases them.
    pub(crate) fn ledgers(&self) -> BTreeSet<LedgerId> {
        match self {
            Self::Append(commit) => commit.iter().map(WaitingAppend::ledger_id).collect(),
            Self::Transaction(_) => BTreeSet::new(),
        }
    }
}

/// The queue in front of the writers.
pub(crate) struct Queue {
    limits: QueueLimits,
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    appends: Turns,
    /// Ledgers that a writer is appending to. Another writer would only wait for the same head.
    taken: BTreeSet<LedgerId>,
    transactions: Callers,
    closed: bool,
    /// Writers that wait for work. Waking one costs a system call, which a push need not pay while all are busy.
    idle_writers: usize,
    /// Whether the last work taken was a transaction.
    took_transaction: bool,
    /// The number of the next request.
    next_number: u64,
    connecting: Connecting,
    /// Whether every writer hangs and no other one can be started.
    is_stalled: bool,
}

/// Attempts of writers to connect to the database.
#[derive(Default)]
struct Connecting {
    /// Attempts in flight.
    attempts: usize,
    /// Whether the last attempt that ended failed.
    has_failed: bool,
}

impl Queue {
    pub(crate) fn new(limits: QueueLimits) -> Self {
        Self {
            limits,
            waiting: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// The lock is never held while anything can panic, so a poisoned one protects a valid state.
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a request, unless the queue or its owner's share of it is full, the queue is closed, or the database is
    /// unavailable.
    pub(crate) fn push_append(&self, mut append: WaitingAppend) -> Result<Ticket> {
        let mut waiting = self.lock();
        waiting.check_open()?;
        if waiting
            .appends
            .is_full_for(append.owner(), append.bytes, &self.limits)
        {
            return Err(StoreError::Overloaded);
        }
        let is_taken = waiting.taken.contains(&append.ledger_id());
        let number = waiting.next_number;
        waiting.next_number += 1;
        append.number = number;
        let owner = append.owner();
        waiting.appends.push(append);
        if !is_taken {
            self.wake_writer(waiting);
        }
        Ok(Ticket { owner, number })
    }

    /// Fails when a request would be refused now whose body has so many bytes.
    pub(crate) fn check_room(&self, owner: Owner, body_bytes: usize) -> Result<()> {
        let waiting = self.lock();
        waiting.check_open()?;
        match waiting.appends.is_full_for_body(owner, body_bytes, &self.limits) {
            true => Err(StoreError::Overloaded),
            false => Ok(()),
        }
    }

    /// Removes a request that no writer has taken. Returns whether it was still there, and so will never be stored.
    pub(crate) fn withdraw(&self, ticket: Ticket) -> bool {
        self.lock().appends.withdraw(ticket.owner, ticket.number)
    }

    /// Connects to the database. While an attempt is in flight after another one failed, further requests are refused: an
    /// attempt can take seconds, and none of them could be stored sooner.
    pub(crate) fn connect<T>(&self, attempt: impl FnOnce() -> Result<T>) -> Result<T> {
        self.lock().connecting.attempts += 1;
        let connected = attempt();
        let mut waiting = self.lock();
        waiting.connecting.attempts -= 1;
        waiting.connecting.has_failed = connected.is_err();
        connected
    }

    /// Fails when no work can be added, except for a full queue.
    pub(crate) fn check_open(&self) -> Result<()> {
        self.lock().check_open()
    }

    /// Sets whether every writer hangs and no other one can be started. Then further work is refused.
    pub(crate) fn set_stalled(&self, is_stalled: bool) {
        self.lock().is_stalled = is_stalled;
    }

    /// Adds a transaction, unless the queue or its owner's share of it is full, or the queue is closed.
    pub(crate) fn push_transaction(&self, owner: impl Into<Turn>, transaction: Transaction) -> Result<()> {
        let owner = owner.into();
        let mut waiting = self.lock();
        waiting.check_open()?;
        if waiting.transactions.is_full_for(owner, &self.limits) {
            return Err(StoreError::Overloaded);
        }
        waiting.transactions.push(owner, transaction);
        self.wake_writer(waiting);
        Ok(())
    }

    fn wake_writer(&self, waiting: MutexGuard<'_, Waiting>) {
        let is_needed = waiting.idle_writers > 0;
        drop(waiting);
        if is_needed {
            self.changed.notify_one();
        }
    }

    /// Waits for work and takes it; `None` when the queue is closed and empty. Other writers can take its ledgers after
    /// [`Self::release`].
    ///
    /// All waiting requests are taken at once, up to the size of a commit, their organizations in turns: the longer a commit takes, the more requests the
    /// next one has. Requests for a ledger that another writer owns stay in the queue. Transactions and appends alternate, so
    /// that neither can starve the other.
    pub(crate) fn take(&self) -> Option<Work> {
        let mut waiting = self.lock();
        loop {
            let work = match waiting.took_transaction {
                true => waiting.next_commit().or_else(|| waiting.next_transaction()),
                false => waiting.next_transaction().or_else(|| waiting.next_commit()),
            };
            if work.is_some() {
                if waiting.idle_writers > 0 && waiting.has_work() {
                    self.changed.notify_one();
                }
                return work;
            }
            // The writer that owns the ledgers of the remaining requests takes them itself.
            if waiting.closed {
                return None;
            }
            waiting.idle_writers += 1;
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
            waiting.idle_writers -= 1;
        }
    }

    /// Gives up the ownership of ledgers.
    pub(crate) fn release(&self, ledgers: &BTreeSet<LedgerId>) {
        let mut waiting = self.lock();
        waiting.taken.retain(|ledger_id| !ledgers.contains(ledger_id));
        if waiting.idle_writers > 0 && waiting.has_work() {
            self.changed.notify_one();
        }
    }

    /// Adds requests that arrived for these ledgers since the commit was taken, up to the size of a commit: a writer that
    /// waited for a lock commits everything that arrived meanwhile.
    pub(crate) fn join(&self, commit: &mut Vec<WaitingAppend>, ledgers: impl Fn(LedgerId) -> bool) {
        self.lock()
            .appends
            .fill(commit, |append| ledgers(append.ledger_id()));
    }

    /// The number of waiting requests and transactions.
    pub(crate) fn depth(&self) -> usize {
        let waiting = self.lock();
        waiting.appends.len() + waiting.transactions.len()
    }

    /// Refuses further work; waiting work is still done.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }
}

impl Waiting {
    /// Fails when no work can be added.
    fn check_open(&self) -> Result<()> {
        if self.closed {
            return Err(StoreError::Stopped);
        }
        if self.is_stalled {
            return Err(StoreError::Unreachable("all writers hang".to_owned()));
        }
        if self.connecting.attempts > 0 && self.connecting.has_failed {
            let reason = "the last attempt to connect failed, another one is in flight";
            return Err(StoreError::Unreachable(reason.to_owned()));
        }
        Ok(())
    }

    /// Whether an idle writer could take work now.
    fn has_work(&self) -> bool {
        let is_free = |append: &WaitingAppend| !self.taken.contains(&append.ledger_id());
        self.transactions.len() > 0 || self.appends.iter().any(is_free)
    }

    fn next_transaction(&mut self) -> Option<Work> {
        let transaction = self.transactions.pop()?;
        self.took_transaction = true;
        Some(Work::Transaction(transaction))
    }

    fn next_commit(&mut self) -> Option<Work> {
        let mut commit = Vec::new();
        let taken = &self.taken;
        self.appends
            .fill(&mut commit, |append| !taken.contains(&append.ledger_id()));
        if commit.is_empty() {
            return None;
        }
        self.taken.extend(commit.iter().map(WaitingAppend::ledger_id));
        self.took_transaction = false;
        Some(Work::Append(commit))
    }
}

#[cfg(test)]
mod tests;
