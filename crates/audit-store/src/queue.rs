//! What waits to be written: bounded in jobs and bytes, so that overload is refused instead of growing.

use crate::append::{AppendOutcome, AppendRequest, LedgerId, NewEvent};
use crate::connection::AnyConnection;
use crate::error::{Result, StoreError};
use std::collections::{BTreeSet, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// Rows of one commit, at most: events, and what they may raise. More make a commit longer without making it cheaper.
const COMMIT_ROWS_MAX: usize = 4_000;
/// About what an alert, and a delivery of one, hold in memory.
const RAISED_ROW_BYTES: usize = 512;
/// Bytes of one commit, at most.
const COMMIT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A request that waits to be appended, and who waits for it.
pub(crate) struct WaitingAppend {
    pub(crate) request: AppendRequest,
    /// What it may hold in memory until it is committed.
    pub(crate) bytes: usize,
    /// How many rows it may write: each group that an event is counted for can raise an alert, and each alert goes to
    /// every webhook.
    pub(crate) rows: usize,
    pub(crate) reply: oneshot::Sender<AppendOutcome>,
}

impl WaitingAppend {
    pub(crate) fn ledger_id(&self) -> LedgerId {
        self.request.destination.ledger_id
    }

    /// A sender that has hung up needs no answer: what it sent is stored all the same, and a retry finds it by its key.
    pub(crate) fn answer(self, outcome: AppendOutcome) {
        if self.reply.send(outcome).is_err() {
            log::debug!("nobody waits for the answer any more");
        }
    }

    /// The request, to be planned with; `kept` when it may be needed again.
    pub(crate) fn hand_over(&mut self, kept: bool) -> AppendRequest {
        match kept {
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

/// A transaction of its own: does its work on the connection and tells who waits. Gets an error in place of the
/// connection when there is none.
pub(crate) type Transaction = Box<dyn FnOnce(Result<&mut AnyConnection>) + Send>;

/// What a writer does next.
pub(crate) enum Work {
    /// Append these in one commit.
    Append(Vec<WaitingAppend>),
    /// Run this.
    Transaction(Transaction),
}

impl Work {
    /// The ledgers that it appends to, which its writer has until it releases them.
    pub(crate) fn ledgers(&self) -> BTreeSet<LedgerId> {
        match self {
            Self::Append(commit) => commit.iter().map(WaitingAppend::ledger_id).collect(),
            Self::Transaction(_) => BTreeSet::new(),
        }
    }
}

/// How much may wait.
#[derive(Clone, Copy, Debug)]
pub struct QueueLimits {
    /// Requests.
    pub jobs_max: usize,
    /// Bytes of events.
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
    /// The ledgers that a writer is appending to. Another one would only wait for the same head.
    taken: BTreeSet<LedgerId>,
    transactions: VecDeque<Transaction>,
    bytes: usize,
    closed: bool,
    /// How many writers wait for work. To wake one is a call of the system, which those who push need not pay for
    /// while all are busy.
    idle_writers: usize,
    /// Whether the last thing taken was a transaction.
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

    /// The lock is never held while anything can panic, so a poisoned one is as good as new.
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a request, unless the queue is full or closed.
    pub(crate) fn push_append(&self, append: WaitingAppend) -> Result<()> {
        let mut waiting = self.lock();
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
        let mut waiting = self.lock();
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

    /// Takes what to do next, waiting for it; `None` when the queue is closed and everything in it is done. Others can have its
    /// ledgers after [`Self::release`].
    ///
    /// Everything that waits is taken at once, up to the size of a commit: the longer commits take, the more each
    /// of them carries. What waits for a ledger that another writer has is left to whoever is the first to be done.
    /// Transactions and appends take turns, so that neither can keep the other waiting.
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
            // What waits for another writer's ledgers he takes himself.
            if waiting.closed {
                return None;
            }
            waiting.idle_writers += 1;
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
            waiting.idle_writers -= 1;
        }
    }

    /// Lets others append to these ledgers, which were taken.
    pub(crate) fn release(&self, ledgers: &BTreeSet<LedgerId>) {
        let mut waiting = self.lock();
        waiting.taken.retain(|ledger_id| !ledgers.contains(ledger_id));
        if waiting.idle_writers > 0 && waiting.has_work() {
            self.changed.notify_one();
        }
    }

    /// Adds what has come for these ledgers since the commit was taken, up to the size of a commit: whoever had to wait for
    /// another writer's lock carries all that came meanwhile.
    pub(crate) fn join(&self, commit: &mut Vec<WaitingAppend>, ledgers: impl Fn(LedgerId) -> bool) {
        self.lock().fill(commit, |append| ledgers(append.ledger_id()));
    }

    /// How many requests wait.
    pub(crate) fn depth(&self) -> usize {
        let waiting = self.lock();
        waiting.appends.len() + waiting.transactions.len()
    }

    /// Takes no more; what waits is still done.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }
}

impl Waiting {
    /// Whether there is anything that somebody could begin now.
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

    /// Moves those that `belongs` names into a commit, in their order, until it is full. One is taken however large it is.
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

    /// By a writer that is done with whatever it had.
    fn take(queue: &Queue) -> Option<Work> {
        queue.release(&(1..10).map(LedgerId).collect());
        queue.take()
    }

    #[test]
    fn what_does_not_fit_is_refused() {
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
    fn who_has_a_ledger_carries_what_has_come_for_it_and_leaves_the_rest_in_order() {
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
            "the next one is too much for this commit"
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
    fn what_waits_for_a_ledger_is_left_to_the_writer_that_has_it() {
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
        assert_eq!(ledgers(&[1]), None, "the other one takes what is left");
        assert_eq!(ledgers(&[2, 3]), Some(vec![3]));
        assert_eq!(ledgers(&[3]), None);
    }

    #[test]
    fn transactions_and_appends_take_turns() {
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
    fn a_closed_queue_is_emptied_and_takes_no_more() {
        let queue = Queue::new(QueueLimits::default());
        assert!(queue.push_append(append()).is_ok());
        queue.close();
        assert!(matches!(queue.push_append(append()), Err(StoreError::Stopped)));
        assert!(matches!(take(&queue), Some(Work::Append(_))));
        assert!(take(&queue).is_none());
    }
}
