//! What the store's threads tell each other: a state, which somebody waits to see changed, and that the end has come.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
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
    /// The lock is never held while anything can panic, so a poisoned one is as good as new.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and wakes whoever waits if `change` says that it is news.
    pub(crate) fn update(&self, change: impl FnOnce(&mut T) -> bool) {
        let is_news = change(&mut self.lock().value);
        if is_news {
            self.changed.notify_all();
        }
    }

    /// The state.
    pub(crate) fn get(&self) -> T
    where
        T: Copy,
    {
        self.lock().value
    }

    /// Waits until `take` finds what it wants in the state, which it may change; `false` when the end has come, whatever was found.
    pub(crate) fn wait_for(&self, mut take: impl FnMut(&mut T) -> bool) -> bool {
        let is_missing = |state: &mut State<T>| !take(&mut state.value) && !state.is_closed;
        let waiting = self.changed.wait_while(self.lock(), is_missing);
        !waiting.unwrap_or_else(PoisonError::into_inner).is_closed
    }

    /// Waits until the state is as wanted or the end has come, `patience` at most.
    pub(crate) fn wait_at_most(&self, patience: Duration, is_wanted: impl Fn(&T) -> bool) {
        let is_missing = |state: &mut State<T>| !is_wanted(&state.value) && !state.is_closed;
        drop(self.changed.wait_timeout_while(self.lock(), patience, is_missing));
    }

    /// Lets time pass, unless the end has come.
    pub(crate) fn rest(&self, time: Duration) {
        self.wait_at_most(time, |_| false);
    }

    /// Has whoever waits do what is left, and end.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// Whether the end has come.
    pub(crate) fn is_closed(&self) -> bool {
        self.lock().is_closed
    }
}

/// How far those are who file what was stored into the index, beside the writers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Filing {
    /// Whether there may be something to file.
    is_behind: bool,
    /// The last commit that is in SQLite's index.
    last_commit: i64,
    /// Events that PostgreSQL's index does not have, as far as this process knows.
    events_missing: i64,
}

impl Signal<Filing> {
    /// Says that there may be something to file.
    pub(crate) fn ask(&self) {
        self.update(|filing| !std::mem::replace(&mut filing.is_behind, true));
    }

    /// Waits until there is something to file; whether it goes on after that.
    pub(crate) fn wait_for_work(&self) -> bool {
        self.wait_for(|filing| std::mem::take(&mut filing.is_behind))
    }

    /// [`Self::wait_for_work`], `patience` at most.
    pub(crate) fn wait_for_work_at_most(&self, patience: Duration) -> bool {
        self.wait_at_most(patience, |filing| filing.is_behind);
        self.update(|filing| {
            filing.is_behind = false;
            false
        });
        !self.is_closed()
    }

    /// Whether nothing waits to be filed.
    pub(crate) fn is_idle(&self) -> bool {
        !self.get().is_behind && !self.is_closed()
    }

    /// Says that a commit is in the index, and all before it.
    pub(crate) fn filed(&self, last_commit: i64) {
        self.update(|filing| {
            filing.last_commit = last_commit;
            true
        });
    }

    /// Says how many events the index does not have.
    pub(crate) fn missing(&self, events: i64) {
        self.update(|filing| {
            filing.events_missing = events;
            true
        });
    }

    /// Waits while the index does not have more than `events`, `patience` at most, as [`Self::wait_for_commit`] does.
    pub(crate) fn wait_while_missing(&self, events: i64, patience: Duration) {
        self.wait_at_most(patience, |filing| filing.events_missing <= events);
    }

    /// Waits until a commit is in the index, `patience` at most. An index that cannot be written keeps nobody from storing
    /// events: they stay in the tail.
    pub(crate) fn wait_for_commit(&self, commit: i64, patience: Duration) {
        self.wait_at_most(patience, |filing| filing.last_commit >= commit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn what_was_said_before_the_end_is_heard() {
        let filing: Arc<Signal<Filing>> = Arc::default();
        let filer = {
            let filing = Arc::clone(&filing);
            std::thread::spawn(move || {
                let mut last = 0;
                while filing.wait_for_work() {
                    last += 1;
                    filing.filed(last);
                }
                assert!(!filing.get().is_behind);
            })
        };
        for commit in 1..=3 {
            filing.ask();
            filing.wait_for_commit(commit, Duration::from_secs(60));
            assert_eq!(filing.get().last_commit, commit);
        }
        assert!(filing.is_idle());
        filing.close();
        filer.join().unwrap();
        assert!(!filing.is_idle());
        filing.wait_for_commit(4, Duration::from_secs(60));
        filing.rest(Duration::from_secs(60));
    }
}
