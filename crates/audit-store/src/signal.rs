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
    /// As the database measures it: the last indexed commit on SQLite, the number of unindexed events of this process on
    /// PostgreSQL.
    position: i64,
    /// How often the indexer has moved the position.
    steps: u64,
}

/// The patience of a writer with the indexer.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    /// The step at which the indexer stood still for a whole wait.
    gave_up_at: Option<u64>,
}

impl Patience {
    /// Waits until the indexer has reached a position, for `timeout` at most. After a wait in which the indexer did not move,
    /// returns at once until the indexer moves again: events are stored while the index cannot be written.
    pub(crate) fn wait(
        &mut self,
        progress: &Signal<Progress>,
        timeout: Duration,
        is_wanted: impl Fn(i64) -> bool,
    ) {
        let before = progress.get();
        if is_wanted(before.position) || self.gave_up_at == Some(before.steps) {
            return;
        }
        progress.wait_for_position(timeout, &is_wanted);
        let after = progress.get();
        let stood_still = after.steps == before.steps && !is_wanted(after.position);
        self.gave_up_at = stood_still.then_some(after.steps);
    }
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

    /// Sets the position that the indexer has reached.
    pub(crate) fn reach(&self, position: i64) {
        self.update(|progress| {
            progress.position = position;
            progress.steps += 1;
            true
        });
    }

    /// Sets the position that a writer has moved, and wakes the indexer.
    pub(crate) fn wake_at(&self, position: i64) {
        self.update(|progress| {
            progress.position = position;
            !std::mem::replace(&mut progress.is_behind, true)
        });
    }

    /// Waits for a position, for `timeout` at most. The timeout lets events be stored while the index
    /// cannot be written.
    pub(crate) fn wait_for_position(&self, timeout: Duration, is_wanted: impl Fn(i64) -> bool) {
        self.wait_at_most(timeout, |progress| is_wanted(progress.position));
    }
}

/// A rebuild of the index by this process.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rebuild {
    /// Events that are not indexed yet, approximately; `None` when the index is complete.
    remaining: Option<u64>,
}

impl Signal<Rebuild> {
    /// Notes a rebuild of so many events.
    pub(crate) fn begin(&self, events: u64) {
        self.update(|rebuild| {
            rebuild.remaining = Some(events);
            true
        });
    }

    /// Notes that so many more events are indexed.
    pub(crate) fn advance(&self, events: usize) {
        self.update(|rebuild| {
            rebuild.remaining = rebuild
                .remaining
                .map(|remaining| remaining.saturating_sub(events as u64));
            false
        });
    }

    /// Notes that the index is complete.
    pub(crate) fn finish(&self) {
        self.update(|rebuild| rebuild.remaining.take().is_some());
    }

    /// Whether the index is complete.
    pub(crate) fn is_finished(&self) -> bool {
        self.get().remaining.is_none()
    }

    /// Events that are not indexed yet; 0 when the index is complete.
    pub(crate) fn remaining(&self) -> u64 {
        self.get().remaining.unwrap_or(0)
    }

    /// Waits until the index is complete, or the signal is closed.
    pub(crate) fn wait(&self) {
        self.wait_for(|rebuild| rebuild.remaining.is_none());
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

    #[test]
    fn a_writer_does_not_wait_again_for_an_indexer_that_stands_still() {
        let progress: Signal<Progress> = Signal::default();
        let mut patience = Patience::default();
        let waits = std::cell::Cell::new(0);
        // Every wait asks for the position at its beginning, and at least twice more if it really waits.
        let is_wanted = |_| {
            waits.set(waits.get() + 1);
            false
        };
        patience.wait(&progress, Duration::ZERO, is_wanted);
        assert!(waits.replace(0) > 1);
        patience.wait(&progress, Duration::from_secs(3_600), is_wanted);
        assert_eq!(waits.replace(0), 1, "the indexer has not moved");
        progress.wake_at(5);
        patience.wait(&progress, Duration::from_secs(3_600), is_wanted);
        assert_eq!(waits.replace(0), 1, "a commit is not a step of the indexer");
        progress.reach(4);
        patience.wait(&progress, Duration::ZERO, is_wanted);
        assert!(waits.get() > 1, "the indexer moves again");
    }
}
