//! Wakes the dispatcher thread.

use super::results::DeliveryResult;
use audit_webhooks::{Course, Lane};
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Signals to the dispatcher thread, which waits for them.
#[derive(Debug, Default)]
pub(crate) struct Wake {
    signals: Mutex<Signals>,
    changed: Condvar,
}

#[derive(Debug, Default)]
pub(super) struct Signals {
    /// A delivery may be due.
    is_due: bool,
    pub(super) is_stopping: bool,
    /// Ended attempts.
    pub(super) ended: Vec<EndedAttempt>,
}

/// The end of an attempt, or of the reservation of a lane without an attempt.
#[derive(Debug)]
pub(super) struct EndedAttempt {
    pub(super) lane: Lane,
    /// The course of the attempt; `None` if there was none.
    pub(super) course: Option<Course>,
    /// The result to write; `None` if the attempt panicked or there was none.
    pub(super) result: Option<DeliveryResult>,
}

impl Wake {
    /// Signals that a delivery may be due.
    pub(crate) fn due(&self) {
        self.signal(|signals| signals.is_due = true);
    }

    /// Signals that the dispatcher must stop.
    pub(super) fn stop(&self) {
        self.signal(|signals| signals.is_stopping = true);
    }

    fn signal(&self, change: impl FnOnce(&mut Signals)) {
        change(&mut self.signals.lock());
        self.changed.notify_all();
    }

    /// Waits for a signal, at most for `time`.
    pub(super) fn wait(&self, time: Duration) -> Signals {
        let is_quiet =
            |signals: &mut Signals| !signals.is_due && !signals.is_stopping && signals.ended.is_empty();
        let mut signals = self.signals.lock();
        self.changed.wait_while_for(&mut signals, is_quiet, time);
        Signals {
            is_due: std::mem::take(&mut signals.is_due),
            is_stopping: signals.is_stopping,
            ended: std::mem::take(&mut signals.ended),
        }
    }

    /// Waits for ended attempts, at most until `end`. Returns none after a timeout.
    pub(super) fn wait_for_ends(&self, end: Instant) -> Vec<EndedAttempt> {
        let remaining = end.saturating_duration_since(Instant::now());
        let is_quiet = |signals: &mut Signals| signals.ended.is_empty();
        let mut signals = self.signals.lock();
        self.changed.wait_while_for(&mut signals, is_quiet, remaining);
        std::mem::take(&mut signals.ended)
    }
}

/// A reserved lane. Signals the end of its attempt when it is dropped, also after a panic.
#[derive(Debug)]
pub(super) struct LaneGuard {
    wake: Arc<Wake>,
    lane: Option<Lane>,
    course: Option<Course>,
    result: Option<DeliveryResult>,
}

impl LaneGuard {
    pub(super) fn new(wake: &Arc<Wake>, lane: Lane) -> Self {
        Self {
            wake: Arc::clone(wake),
            lane: Some(lane),
            course: None,
            result: None,
        }
    }

    /// Marks the begin of the attempt. An attempt that panics has failed.
    pub(super) fn begin(&mut self) {
        self.course = Some(Course::Failed);
    }

    pub(super) fn end(mut self, course: Option<Course>, result: DeliveryResult) {
        self.course = course;
        self.result = Some(result);
    }
}

impl Drop for LaneGuard {
    fn drop(&mut self) {
        let (course, result) = (self.course, self.result.take());
        if let Some(lane) = self.lane.take() {
            let ended = EndedAttempt { lane, course, result };
            self.wake.signal(|signals| signals.ended.push(ended));
        }
    }
}
