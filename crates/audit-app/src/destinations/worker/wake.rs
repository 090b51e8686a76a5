//! Wakes the thread of the destinations, and tells the runs when to stop.

use super::lanes::Lane;
use parking_lot::{Condvar, Mutex};
use std::time::{Duration, Instant};

/// Signals to the threads of the destinations.
#[derive(Debug, Default)]
pub(super) struct Wake {
    signals: Mutex<Signals>,
    changed: Condvar,
}

#[derive(Debug, Default)]
pub(super) struct Signals {
    /// A run may be due.
    is_due: bool,
    pub(super) is_stopping: bool,
    /// The lanes of runs that have ended.
    pub(super) ended: Vec<Lane>,
}

impl Wake {
    /// Signals that a run may be due.
    pub(super) fn due(&self) {
        self.signal(|signals| signals.is_due = true);
    }

    /// Signals that the process ends.
    pub(super) fn stop(&self) {
        self.signal(|signals| signals.is_stopping = true);
    }

    pub(super) fn end(&self, lane: Lane) {
        self.signal(|signals| signals.ended.push(lane));
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.signals.lock().is_stopping
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

    /// Waits for runs that end, at most until `end`. Returns none after that.
    pub(super) fn wait_for_ends(&self, end: Instant) -> Vec<Lane> {
        let remaining = end.saturating_duration_since(Instant::now());
        let is_quiet = |signals: &mut Signals| signals.ended.is_empty();
        let mut signals = self.signals.lock();
        self.changed.wait_while_for(&mut signals, is_quiet, remaining);
        std::mem::take(&mut signals.ended)
    }

    /// Waits for `time`, or until the process ends.
    pub(super) fn pause(&self, time: Duration) {
        let mut signals = self.signals.lock();
        self.changed
            .wait_while_for(&mut signals, |signals| !signals.is_stopping, time);
    }
}
