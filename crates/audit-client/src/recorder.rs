//! Records events in the background: one thread that sends batches, in the order in which the events were recorded.

mod sending;

use crate::buffer::{Buffer, Entry};
use crate::error::Error;
use crate::event::NewEvent;
use crate::transport::Transport;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

/// What `record` does when the queue is full. All of them are counted in [`Stats::dropped`] when the event is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// Waits for room, for [`block_max`](crate::ClientBuilder::block_max) at most; then it is an error.
    Block,
    /// Drops the event, and returns `false`.
    DropNewest,
    /// Returns [`Error::QueueFull`].
    Error,
}

/// The outcome of a recorded event.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The event as it was sent, JSON, with its idempotency key.
    pub body: Arc<[u8]>,
    /// The id of the stored event, or why it was not stored.
    pub result: Result<String, Error>,
}

/// Counts since the client was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Events that were taken, those that the spool had at the beginning included.
    pub recorded: u64,
    /// Events that the service has stored.
    pub stored: u64,
    /// Events that were reported with an error, those that are not valid included.
    pub failed: u64,
    /// Events that did not enter the queue, or the spool, because it is full or its disk cannot be written.
    pub dropped: u64,
    /// Events that are neither stored nor failed yet.
    pub pending: u64,
    /// Errors that the middleware with this client have reported: a function of the application that panicked, an event without a tenant, an
    /// event that [`Client::record`](crate::Client::record) refused with an error. Such an event may be in no other count.
    pub middleware_errors: u64,
}

pub(crate) type OnResult = Arc<dyn Fn(&Recorded) + Send + Sync>;

/// How events are recorded.
#[derive(Clone)]
pub(crate) struct Options {
    pub(crate) batch_events: u64,
    pub(crate) flush_interval: Duration,
    pub(crate) overflow: Overflow,
    pub(crate) block_max: Duration,
    pub(crate) keeps_unauthorized: bool,
    pub(crate) raises_invalid: bool,
    pub(crate) on_result: Option<OnResult>,
}

struct State {
    buffer: Buffer,
    recorded: u64,
    stored: u64,
    failed: u64,
    /// Of those settled, the ones whose outcome was reported.
    reported: u64,
    dropped: u64,
    /// Events that did not enter the queue, because the service would refuse them.
    invalid: u64,
    middleware_errors: u64,
    /// Events up to this number (of those recorded) are sent without waiting for more.
    flush_to: u64,
    first_at: Instant,
    /// Sends that failed one after the other, and when the first attempt did.
    failed_sends: usize,
    failing_since: Option<Instant>,
    /// When the next send is; a flush moves it forward, but not before `not_before`, which is a `Retry-After`.
    paused_until: Option<Instant>,
    not_before: Instant,
    /// Events that were lost when a flush last told of it.
    told_lost: u64,
    is_running: bool,
    is_closing: bool,
    is_abandoned: bool,
    /// The result of the close.
    closed: Option<bool>,
    /// Of the tasks that wait until events are reported.
    wakers: Vec<Waker>,
}

impl State {
    fn settled(&self) -> u64 {
        self.stored + self.failed
    }

    /// Sends what waits, as soon as the service allows it.
    fn send_now(&mut self) {
        self.flush_to = self.recorded;
        self.paused_until = self.paused_until.map(|until| until.min(self.not_before));
    }

    /// Whether nothing is left, and nothing was lost since a flush told of it, as it was when this one began.
    fn is_whole(&mut self, is_settled: bool, told_lost: u64) -> bool {
        self.told_lost = self.failed + self.dropped + self.invalid;
        is_settled && self.told_lost == told_lost
    }

    /// Nothing is sent before the `Retry-After` of a failed attempt.
    fn note_failure(&mut self, told: Duration) {
        let now = Instant::now();
        self.failing_since.get_or_insert(now);
        self.not_before = now + told;
    }

    /// When the next batch has to be sent; `None` if there is none.
    fn due(&self, options: &Options) -> Option<Instant> {
        let pending = self.buffer.pending();
        if pending == 0 {
            return None;
        }
        if let Some(until) = self.paused_until {
            return Some(until);
        }
        let is_due = pending >= options.batch_events || self.flush_to > self.settled();
        Some(if is_due {
            self.first_at
        } else {
            self.first_at + options.flush_interval
        })
    }
}

/// Used by any number of threads.
pub(crate) struct Recorder {
    transport: Transport,
    path: String,
    options: Options,
    state: Mutex<State>,
    changed: Condvar,
}

impl Recorder {
    /// A recorder, which sends what an earlier one left in the buffer.
    pub(crate) fn new(transport: Transport, path: String, options: Options, buffer: Buffer) -> Arc<Self> {
        let pending = buffer.pending();
        let now = Instant::now();
        let state = State {
            buffer,
            recorded: pending,
            stored: 0,
            failed: 0,
            reported: 0,
            dropped: 0,
            invalid: 0,
            middleware_errors: 0,
            flush_to: pending,
            first_at: now,
            failed_sends: 0,
            failing_since: None,
            paused_until: None,
            not_before: now,
            told_lost: 0,
            is_running: false,
            is_closing: false,
            is_abandoned: false,
            closed: None,
            wakers: Vec::new(),
        };
        let recorder = Arc::new(Self {
            transport,
            path,
            options,
            state: Mutex::new(state),
            changed: Condvar::new(),
        });
        if pending > 0 {
            recorder.start_thread(&mut recorder.state.lock());
        }
        recorder
    }

    /// Whether the event was taken. One that the service would refuse is not; it is counted and reported at once.
    pub(crate) fn record_event(
        self: &Arc<Self>,
        event: NewEvent,
        overflow: Option<Overflow>,
    ) -> Result<bool, Error> {
        let Err(violations) = event.check() else {
            return self.record(event.into_entry(), overflow);
        };
        let error = Error::from(violations);
        self.state.lock().invalid += 1;
        if self.options.raises_invalid {
            return Err(error);
        }
        self.report(&[event.into_entry()], vec![Err(error)]);
        Ok(false)
    }

    /// Whether the event was taken; `false` only if it was dropped because there is no room.
    pub(crate) fn record(self: &Arc<Self>, entry: Entry, overflow: Option<Overflow>) -> Result<bool, Error> {
        let ticket = {
            let mut state = self.state.lock();
            if !self.make_room(&mut state, &entry, overflow.unwrap_or(self.options.overflow))? {
                return Ok(false);
            }
            if state.buffer.pending() == 0 {
                state.first_at = Instant::now();
            }
            let ticket = match state.buffer.append(entry) {
                Ok(ticket) => ticket,
                Err(error) => {
                    state.dropped += 1;
                    return Err(error);
                }
            };
            state.recorded += 1;
            self.start_thread(&mut state);
            let pending = state.buffer.pending();
            if pending == 1 || pending == self.options.batch_events {
                self.changed.notify_all();
            }
            ticket
        };
        let Some(ticket) = ticket else { return Ok(true) };
        let synced = ticket.wait();
        synced.map_err(|error| Error::Spool(format!("cannot write to the disk: {error}")))?;
        Ok(true)
    }

    fn make_room(
        &self,
        state: &mut MutexGuard<'_, State>,
        entry: &Entry,
        overflow: Overflow,
    ) -> Result<bool, Error> {
        if state.is_closing {
            return Err(Error::Closed);
        }
        if state.buffer.has_room(entry) {
            return Ok(true);
        }
        if overflow == Overflow::Block {
            state.flush_to = state.recorded;
            self.changed.notify_all();
            // In an outage not for every caller again: a program must not stop with the service.
            let since = state.failing_since.unwrap_or_else(Instant::now);
            let must_wait = |state: &mut State| !state.is_closing && !state.buffer.has_room(entry);
            match since.checked_add(self.options.block_max) {
                Some(deadline) => drop(self.changed.wait_while_until(state, must_wait, deadline)),
                None => self.changed.wait_while(state, must_wait),
            }
            if state.is_closing {
                return Err(Error::Closed);
            }
            if state.buffer.has_room(entry) {
                return Ok(true);
            }
        }
        state.dropped += 1;
        match overflow {
            Overflow::DropNewest => Ok(false),
            Overflow::Block | Overflow::Error => Err(Error::QueueFull {
                pending: state.buffer.pending(),
            }),
        }
    }

    /// Whether all events that were recorded since the last flush are stored. Returns at the latest after `max`, and as soon as nothing may
    /// be sent before.
    pub(crate) fn flush(&self, max: Duration) -> bool {
        let mut state = self.state.lock();
        let (target, told_lost) = (state.recorded, state.told_lost);
        state.send_now();
        self.changed.notify_all();
        self.wait_while(
            &mut state,
            |state| state.reported < target && state.is_running,
            max,
        );
        let is_settled = state.reported >= target;
        state.is_whole(is_settled, told_lost)
    }

    /// As [`Self::flush`], without a deadline: the caller's runtime has one.
    pub(crate) fn flushed(self: Arc<Self>) -> impl Future<Output = bool> + Send {
        let mut target = None;
        poll_fn(move |context| {
            let mut state = self.state.lock();
            let (target, told_lost) = *target.get_or_insert_with(|| {
                state.send_now();
                self.changed.notify_all();
                (state.recorded, state.told_lost)
            });
            if state.reported < target && state.is_running {
                if !state.wakers.iter().any(|waker| waker.will_wake(context.waker())) {
                    state.wakers.push(context.waker().clone());
                }
                return Poll::Pending;
            }
            let is_settled = state.reported >= target;
            Poll::Ready(state.is_whole(is_settled, told_lost))
        })
    }

    /// Wakes what waits for a change of the state, which is unlocked before.
    fn wake(&self, mut state: MutexGuard<'_, State>) {
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        self.changed.notify_all();
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Flushes, and ends the thread. With a spool it does not wait for a server that does not respond.
    pub(crate) fn close(&self, max: Duration) -> bool {
        let mut state = self.state.lock();
        if let Some(is_whole) = state.closed {
            return is_whole;
        }
        let told_lost = state.told_lost;
        state.is_closing = true;
        state.send_now();
        self.changed.notify_all();
        let is_paused = state.not_before > Instant::now();
        if !(is_paused && state.buffer.is_durable()) {
            self.wait_while(&mut state, |state| state.is_running, max);
        }
        state.is_abandoned = true;
        self.changed.notify_all();
        let is_settled = state.buffer.pending() == 0;
        let is_whole = state.is_whole(is_settled, told_lost);
        state.closed = Some(is_whole);
        let left = state.buffer.close();
        state.failed += left.len() as u64;
        drop(state);
        let outcomes = vec![Err(Error::NotSent); left.len()];
        self.report(&left, outcomes);
        is_whole
    }

    /// Waits, for `max` at most, and no longer when nothing may be sent within it.
    fn wait_while(
        &self,
        state: &mut MutexGuard<'_, State>,
        mut must_wait: impl FnMut(&mut State) -> bool,
        max: Duration,
    ) {
        match Instant::now().checked_add(max) {
            Some(deadline) => {
                let must_wait = |state: &mut State| state.not_before < deadline && must_wait(state);
                self.changed.wait_while_until(state, must_wait, deadline);
            }
            None => self.changed.wait_while(state, must_wait),
        }
    }

    pub(crate) fn stats(&self) -> Stats {
        let state = self.state.lock();
        Stats {
            recorded: state.recorded + state.invalid,
            stored: state.stored,
            failed: state.failed + state.invalid,
            dropped: state.dropped,
            pending: state.buffer.pending(),
            middleware_errors: state.middleware_errors,
        }
    }

    pub(crate) fn count_middleware_error(&self) {
        self.state.lock().middleware_errors += 1;
    }
}
