//! Wakes a thread that schedules attempts, and gives it those that have ended.

use parking_lot::{Condvar, Mutex};
use std::time::{Duration, Instant};

/// Signals to a thread, which waits for them, and to its attempts.
#[derive(Debug)]
pub(crate) struct Wake<Ended> {
    signals: Mutex<Signals<Ended>>,
    changed: Condvar,
}

#[derive(Debug)]
pub(crate) struct Signals<Ended> {
    /// An attempt may be due.
    is_due: bool,
    pub(crate) is_stopping: bool,
    /// Ended attempts.
    pub(crate) ended: Vec<Ended>,
}

impl<Ended> Default for Wake<Ended> {
    fn default() -> Self {
        Self {
            signals: Mutex::new(Signals {
                is_due: false,
                is_stopping: false,
                ended: Vec::new(),
            }),
            changed: Condvar::new(),
        }
    }
}

impl<Ended> Wake<Ended> {
    /// Signals that an attempt may be due.
    pub(crate) fn due(&self) {
        self.signal(|signals| signals.is_due = true);
    }

    /// Signals that the thread must stop.
    pub(crate) fn stop(&self) {
        self.signal(|signals| signals.is_stopping = true);
    }

    /// Signals that an attempt has ended.
    pub(crate) fn end(&self, ended: Ended) {
        self.signal(|signals| signals.ended.push(ended));
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.signals.lock().is_stopping
    }

    fn signal(&self, change: impl FnOnce(&mut Signals<Ended>)) {
        change(&mut self.signals.lock());
        self.changed.notify_all();
    }

    /// Waits for a signal, at most for `time`.
    pub(crate) fn wait(&self, time: Duration) -> Signals<Ended> {
        let is_quiet = |signals: &mut Signals<Ended>| {
            !signals.is_due && !signals.is_stopping && signals.ended.is_empty()
        };
        let mut signals = self.signals.lock();
        self.changed.wait_while_for(&mut signals, is_quiet, time);
        Signals {
            is_due: std::mem::take(&mut signals.is_due),
            is_stopping: signals.is_stopping,
            ended: std::mem::take(&mut signals.ended),
        }
    }

    /// Waits for ended attempts, at most until `end`. Returns none after that.
    pub(crate) fn wait_for_ends(&self, end: Instant) -> Vec<Ended> {
        let remaining = end.saturating_duration_since(Instant::now());
        let is_quiet = |signals: &mut Signals<Ended>| signals.ended.is_empty();
        let mut signals = self.signals.lock();
        self.changed.wait_while_for(&mut signals, is_quiet, remaining);
        std::mem::take(&mut signals.ended)
    }

    /// Waits for `time`, or until the thread must stop.
    pub(crate) fn pause(&self, time: Duration) {
        let is_going_on = |signals: &mut Signals<Ended>| !signals.is_stopping;
        let mut signals = self.signals.lock();
        self.changed.wait_while_for(&mut signals, is_going_on, time);
    }
}
