//! The write queue: bounded in requests and bytes, so that overload is refused instead of queued without limit.

use crate::append::{AppendOutcome, AppendRequest, LedgerId, NewEvent};
use crate::database::AnySession;
use crate::error::{Result, StoreError};
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::{BTreeSet, VecDeque};
use tokio::sync::oneshot;

/// Rows of one commit, at most: events and the alerts and deliveries they may raise. Larger commits take longer and are not
/// cheaper per event.
const COMMIT_ROWS_MAX: usize = 4_000;
/// Approximate memory of an alert or a delivery.
const RAISED_ROW_BYTES: usize = 512;
/// Bytes of one commit, at most.
const COMMIT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A request that waits to be appended, and the channel for its answer.
pub(crate) struct WaitingAppend {
    pub(crate) request: AppendRequest,
    /// Memory it may hold until it is committed.
    pub(crate) bytes: usize,
    /// Rows it may write: each group that counts an event can raise an alert, and each alert goes to every webhook.
    pub(crate) rows: usize,
    pub(crate) reply: oneshot::Sender<AppendOutcome>,
}

impl WaitingAppend {
    pub(crate) fn ledger_id(&self) -> LedgerId {
        self.request.destination.ledger_id
    }

    /// Sends the answer. A client that has disconnected gets none; its retry finds the stored event by idempotency key.
    pub(crate) fn answer(self, outcome: AppendOutcome) {
        if self.reply.send(outcome).is_err() {
            log::debug!("the client disconnected before its events were stored");
        }
    }

    /// The request, for the planner; a copy when `is_kept`, because the commit may have to be repeated.
    pub(crate) fn hand_over(&mut self, is_kept: bool) -> AppendRequest {
        match is_kept {
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
        let raised = watches * (1 + request.destination.webhook_ids.len());
        let events: usize = request.events.iter().map(NewEvent::bytes).sum();
        (
            Self {
                bytes: events + raised * RAISED_ROW_BYTES,
                rows: request.events.len() + raised,
                request,
                reply,
            },
            receiver,
        )
    }
}

/// A transaction of its own: does its work on the session and answers its caller. It gets an error when no session can be
/// opened.
pub(crate) type Transaction = Box<dyn FnOnce(Result<&mut AnySession>) + Send>;

/// What a writer does next.
pub(crate) enum Work {
    /// Append these in one commit.
    Append(Vec<WaitingAppend>),
    /// Run this.
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

/// The bounds of the write queue.
#[derive(Clone, Copy, Debug)]
pub struct QueueLimits {
    /// Requests that wait, at most.
    pub jobs_max: usize,
    /// Bytes of events that wait, at most.
    pub bytes_max: usize,
}

impl Default for QueueLimits {
    fn default() -> Self {
        Self {
            jobs_max: 8_192,
            bytes_max: 12 * 1024 * 1024,
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
    appends: VecDeque<WaitingAppend>,
    /// Ledgers that a writer is appending to. Another writer would only wait for the same head.
    taken: BTreeSet<LedgerId>,
    transactions: VecDeque<Transaction>,
    bytes: usize,
    closed: bool,
    /// Writers that wait for work. Waking one costs a system call, which a push need not pay while all are busy.
    idle_writers: usize,
    /// Whether the last work taken was a transaction.
    took_transaction: bool,
}

impl Queue {
    pub(crate) fn new(limits: QueueLimits) -> Self {
        Self {
            limits,
            waiting: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// Adds a request, unless the queue is full or closed.
    pub(crate) fn push_append(&self, append: WaitingAppend) -> Result<()> {
        let mut waiting = self.waiting.lock();
        if waiting.closed {
            return Err(StoreError::Stopped);
        }
        let is_full = waiting.appends.len() >= self.limits.jobs_max
            || (!waiting.appends.is_empty() && waiting.bytes + append.bytes > self.limits.bytes_max);
        if is_full {
            return Err(StoreError::Overloaded);
        }
        let is_taken = waiting.taken.contains(&append.ledger_id());
        waiting.bytes += append.bytes;
        waiting.appends.push_back(append);
        if !is_taken {
            self.wake_writer(waiting);
        }
        Ok(())
    }

    /// Adds a transaction, unless the queue is full or closed.
    pub(crate) fn push_transaction(&self, transaction: Transaction) -> Result<()> {
        let mut waiting = self.waiting.lock();
        if waiting.closed {
            return Err(StoreError::Stopped);
        }
        if waiting.transactions.len() >= self.limits.jobs_max {
            return Err(StoreError::Overloaded);
        }
        waiting.transactions.push_back(transaction);
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
    /// Everything that waits is taken at once, up to the size of a commit: the longer commits take, the more each of them
    /// carries. Requests for a ledger that another writer owns stay in the queue. Transactions and appends alternate, so
    /// that neither can starve the other.
    pub(crate) fn take(&self) -> Option<Work> {
        let mut waiting = self.waiting.lock();
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
            self.changed.wait(&mut waiting);
            waiting.idle_writers -= 1;
        }
    }

    /// Gives up the ownership of ledgers.
    pub(crate) fn release(&self, ledgers: &BTreeSet<LedgerId>) {
        let mut waiting = self.waiting.lock();
        waiting.taken.retain(|ledger_id| !ledgers.contains(ledger_id));
        if waiting.idle_writers > 0 && waiting.has_work() {
            self.changed.notify_one();
        }
    }

    /// Adds requests that arrived for these ledgers since the commit was taken, up to the size of a commit: a writer that
    /// waited for a lock carries everything that arrived meanwhile.
    pub(crate) fn join(&self, commit: &mut Vec<WaitingAppend>, ledgers: impl Fn(LedgerId) -> bool) {
        self.waiting
            .lock()
            .fill(commit, |append| ledgers(append.ledger_id()));
    }

    /// The number of waiting requests and transactions.
    pub(crate) fn depth(&self) -> usize {
        let waiting = self.waiting.lock();
        waiting.appends.len() + waiting.transactions.len()
    }

    /// Refuses further work; waiting work is still done.
    pub(crate) fn close(&self) {
        self.waiting.lock().closed = true;
        self.changed.notify_all();
    }
}

impl Waiting {
    /// Whether an idle writer could begin something now.
    fn has_work(&self) -> bool {
        let is_free = |append: &WaitingAppend| !self.taken.contains(&append.ledger_id());
        !self.transactions.is_empty() || self.appends.iter().any(is_free)
    }

    fn next_transaction(&mut self) -> Option<Work> {
        let transaction = self.transactions.pop_front()?;
        self.took_transaction = true;
        Some(Work::Transaction(transaction))
    }

    fn next_commit(&mut self) -> Option<Work> {
        let mut commit = Vec::new();
        let taken = std::mem::take(&mut self.taken);
        self.fill(&mut commit, |append| !taken.contains(&append.ledger_id()));
        self.taken = taken;
        if commit.is_empty() {
            return None;
        }
        self.taken.extend(commit.iter().map(WaitingAppend::ledger_id));
        self.took_transaction = false;
        Some(Work::Append(commit))
    }

    /// Moves the requests that `belongs` selects into a commit, in their order, until it is full. One request is taken
    /// however large it is.
    fn fill(&mut self, commit: &mut Vec<WaitingAppend>, belongs: impl Fn(&WaitingAppend) -> bool) {
        let mut rows: usize = commit.iter().map(|append| append.rows).sum();
        let mut bytes: usize = commit.iter().map(|append| append.bytes).sum();
        let mut passed = Vec::new();
        while let Some(next) = self.appends.pop_front() {
            if !belongs(&next) {
                passed.push(next);
                continue;
            }
            rows += next.rows;
            bytes += next.bytes;
            if !commit.is_empty() && (rows > COMMIT_ROWS_MAX || bytes > COMMIT_BYTES_MAX) {
                self.appends.push_front(next);
                break;
            }
            self.bytes -= next.bytes;
            commit.push(next);
        }
        for next in passed.into_iter().rev() {
            self.appends.push_front(next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::append::{Destination, Origin};
    use audit_domain::{Environment, ProjectId};

    fn append() -> WaitingAppend {
        append_to(LedgerId(1))
    }

    fn append_to(ledger_id: LedgerId) -> WaitingAppend {
        let destination = Destination {
            ledger_id,
            project_id: ProjectId::from_random([0; 16]),
            environment: Environment::Live,
            configuration_version: 1,
            daily_events_max: None,
            webhook_ids: std::sync::Arc::new([]),
        };
        WaitingAppend::new(AppendRequest {
            destination,
            events: Vec::new(),
            origin: Origin::Sent,
        })
        .0
    }

    /// Takes work as a writer that has released all its ledgers.
    fn take(queue: &Queue) -> Option<Work> {
        queue.release(&(1..10).map(LedgerId).collect());
        queue.take()
    }

    #[test]
    fn a_request_beyond_the_bounds_is_refused() {
        let queue = Queue::new(QueueLimits {
            jobs_max: 2,
            bytes_max: 1_000,
        });
        assert!(queue.push_append(append()).is_ok() && queue.push_append(append()).is_ok());
        assert!(matches!(queue.push_append(append()), Err(StoreError::Overloaded)));
        assert!(matches!(take(&queue), Some(Work::Append(commit)) if commit.len() == 2));
        assert!(queue.push_append(append()).is_ok());
        let large = WaitingAppend {
            bytes: 1_001,
            ..append()
        };
        assert!(matches!(queue.push_append(large), Err(StoreError::Overloaded)));
    }

    #[test]
    fn one_request_is_taken_however_large_it_is() {
        let queue = Queue::new(QueueLimits {
            jobs_max: 2,
            bytes_max: 1_000,
        });
        assert!(
            queue
                .push_append(WaitingAppend {
                    bytes: 1_001,
                    ..append()
                })
                .is_ok()
        );
    }

    #[test]
    fn the_owner_of_a_ledger_takes_later_requests_for_it_and_leaves_the_others_in_order() {
        let queue = Queue::new(QueueLimits::default());
        for (ledger, rows) in [(1, 1), (2, 2), (1, 3), (3, 4), (1, COMMIT_ROWS_MAX), (1, 5)] {
            let waiting = WaitingAppend {
                rows,
                ..append_to(LedgerId(ledger))
            };
            assert!(queue.push_append(waiting).is_ok());
        }
        let rows = |commit: &[WaitingAppend]| commit.iter().map(|append| append.rows).collect::<Vec<_>>();
        let mut commit = vec![append()];
        queue.join(&mut commit, |ledger_id| ledger_id == LedgerId(1));
        assert_eq!(
            rows(&commit),
            [0, 1, 3],
            "the next request exceeds the size of a commit"
        );
        let Some(Work::Append(next)) = take(&queue) else {
            panic!("appends wait")
        };
        assert_eq!(rows(&next), [2, 4]);
        assert!(matches!(take(&queue), Some(Work::Append(next)) if rows(&next) == [COMMIT_ROWS_MAX]));
        assert!(matches!(take(&queue), Some(Work::Append(next)) if rows(&next) == [5]));
        assert_eq!(queue.depth(), 0);
    }

    #[test]
    fn requests_for_an_owned_ledger_are_left_to_its_writer() {
        let queue = Queue::new(QueueLimits::default());
        let push = |ledger| assert!(queue.push_append(append_to(LedgerId(ledger))).is_ok());
        let ledgers = |finished: &[i64]| {
            queue.release(&finished.iter().copied().map(LedgerId).collect());
            let work = queue.take();
            work.map(|work| work.ledgers().iter().map(|ledger| ledger.0).collect::<Vec<_>>())
        };
        push(1);
        assert_eq!(ledgers(&[]), Some(vec![1]));
        push(1);
        push(2);
        push(3);
        assert_eq!(ledgers(&[]), Some(vec![2, 3]), "by another writer");
        push(3);
        assert_eq!(ledgers(&[1]), Some(vec![1]));
        queue.close();
        assert_eq!(ledgers(&[1]), None, "the other writer takes the rest");
        assert_eq!(ledgers(&[2, 3]), Some(vec![3]));
        assert_eq!(ledgers(&[3]), None);
    }

    #[test]
    fn transactions_and_appends_alternate() {
        let queue = Queue::new(QueueLimits::default());
        for _ in 0..2 {
            assert!(queue.push_transaction(Box::new(|_| ())).is_ok());
        }
        assert!(queue.push_append(append()).is_ok());
        assert!(matches!(take(&queue), Some(Work::Transaction(_))));
        assert!(matches!(take(&queue), Some(Work::Append(_))));
        assert!(matches!(take(&queue), Some(Work::Transaction(_))));
    }

    #[test]
    fn a_closed_queue_is_emptied_and_refuses_work() {
        let queue = Queue::new(QueueLimits::default());
        assert!(queue.push_append(append()).is_ok());
        queue.close();
        assert!(matches!(queue.push_append(append()), Err(StoreError::Stopped)));
        assert!(matches!(take(&queue), Some(Work::Append(_))));
        assert!(take(&queue).is_none());
    }
}
