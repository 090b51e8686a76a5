//! Notification between the store's threads: a shared state that threads wait for, and a closed flag.

use parking_lot::{Condvar, Mutex};
use std::time::Duration;

/// A state that threads share and wait for.
#[derive(Debug, Default)]
pub(crate) struct Signal<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State<T> {
    value: T,
    is_closed: bool,
}

impl<T> Signal<T> {
    /// Changes the state, and wakes waiting threads if `change` returns `true`.
    pub(crate) fn update(&self, change: impl FnOnce(&mut T) -> bool) {
        let is_notable = change(&mut self.state.lock().value);
        if is_notable {
            self.changed.notify_all();
        }
    }

    /// The state.
    pub(crate) fn get(&self) -> T
    where
        T: Copy,
    {
        self.state.lock().value
    }

    /// Waits until `take`, which may change the state, returns `true` for it. Returns `false` once the signal is closed,
    /// even if `take` returned `true`.
    pub(crate) fn wait_for(&self, mut take: impl FnMut(&mut T) -> bool) -> bool {
        let mut state = self.state.lock();
        let is_missing = |state: &mut State<T>| !take(&mut state.value) && !state.is_closed;
        self.changed.wait_while(&mut state, is_missing);
        !state.is_closed
    }

    /// Waits until the state is as wanted or the signal is closed, for `timeout` at most.
    pub(crate) fn wait_at_most(&self, timeout: Duration, is_wanted: impl Fn(&T) -> bool) {
        let is_missing = |state: &mut State<T>| !is_wanted(&state.value) && !state.is_closed;
        self.changed
            .wait_while_for(&mut self.state.lock(), is_missing, timeout);
    }

    /// Sleeps, unless the signal is closed.
    pub(crate) fn rest(&self, time: Duration) {
        self.wait_at_most(time, |_| false);
    }

    /// Closes the signal: waiting threads finish the remaining work, and end.
    pub(crate) fn close(&self) {
        self.state.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// Whether the signal is closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.state.lock().is_closed
    }
}

/// How far the indexer is behind the writers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    /// Whether there may be something to index.
    is_behind: bool,
    /// As the database measures it: the last indexed commit on SQLite, the number of unindexed events on PostgreSQL.
    position: i64,
}

impl Signal<Progress> {
    /// Notes that there may be something to index.
    pub(crate) fn wake(&self) {
        self.update(|progress| !std::mem::replace(&mut progress.is_behind, true));
    }

    /// Waits until there is something to index. Returns `false` once the signal is closed.
    pub(crate) fn wait_for_work(&self) -> bool {
        self.wait_for(|progress| std::mem::take(&mut progress.is_behind))
    }

    /// [`Self::wait_for_work`], for `timeout` at most.
    pub(crate) fn wait_for_work_at_most(&self, timeout: Duration) -> bool {
        self.wait_at_most(timeout, |progress| progress.is_behind);
        self.update(|progress| {
            progress.is_behind = false;
            false
        });
        !self.is_closed()
    }

    /// Whether nothing waits to be indexed.
    pub(crate) fn is_idle(&self) -> bool {
        !self.get().is_behind && !self.is_closed()
    }

    /// Sets the position.
    pub(crate) fn reach(&self, position: i64) {
        self.update(|progress| {
            progress.position = position;
            true
        });
    }

    /// Waits for a position, for `timeout` at most. The timeout lets events be stored while the index
    /// cannot be written.
    pub(crate) fn wait_for_position(&self, timeout: Duration, is_wanted: impl Fn(i64) -> bool) {
        self.wait_at_most(timeout, |progress| is_wanted(progress.position));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_worker_sees_all_work_that_was_signalled_before_the_close() {
        let minute = Duration::from_secs(60);
        let progress: Arc<Signal<Progress>> = Arc::default();
        let indexer = {
            let progress = Arc::clone(&progress);
            std::thread::spawn(move || {
                let mut last = 0;
                while progress.wait_for_work() {
                    last += 1;
                    progress.reach(last);
                }
                assert!(!progress.get().is_behind);
            })
        };
        for commit in 1..=3 {
            progress.wake();
            progress.wait_for_position(minute, |last| last >= commit);
            assert_eq!(progress.get().position, commit);
        }
        assert!(progress.is_idle());
        progress.close();
        indexer.join().unwrap();
        assert!(!progress.is_idle());
        progress.wait_for_position(minute, |last| last >= 4);
        progress.rest(minute);
    }
}
