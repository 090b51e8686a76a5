//! The thread that writes the index.

use super::{connect, insert, tail};
use crate::connection::{AnyConnection, DatabaseUrl, Purpose};
use crate::error::{Result, StoreError};
use crate::schema::sqlite::indexed;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Events of one transaction, at most, and those of the commit that reaches it.
const FILED_EVENTS_MAX: usize = 8_000;
/// How long to leave it after a failure.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// What the writer and the indexer tell each other.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Whether there may be something in the tail.
    is_behind: bool,
    /// The last commit that is in the index.
    last_commit: i64,
    is_closed: bool,
}

impl Progress {
    /// The lock is never held while anything can panic, so a poisoned one is as good as new.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that there may be something in the tail.
    pub(crate) fn ask(&self) {
        let mut state = self.lock();
        if !std::mem::replace(&mut state.is_behind, true) {
            drop(state);
            self.changed.notify_all();
        }
    }

    /// Waits until a commit is in the index, `patience` at most. An index that cannot be written keeps nobody from storing
    /// events: they stay in the tail.
    pub(crate) fn wait_for(&self, commit: i64, patience: Duration) {
        let is_missing = |state: &mut State| state.last_commit < commit && !state.is_closed;
        drop(self.changed.wait_timeout_while(self.lock(), patience, is_missing));
    }

    /// Has the indexer file all that is left, and end.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    fn note(&self, last_commit: i64) {
        self.lock().last_commit = last_commit;
        self.changed.notify_all();
    }

    /// Waits until there is something to do; whether it goes on after that.
    fn wait_for_work(&self) -> bool {
        let is_idle = |state: &mut State| !state.is_behind && !state.is_closed;
        let waiting = self.changed.wait_while(self.lock(), is_idle);
        let mut state = waiting.unwrap_or_else(PoisonError::into_inner);
        state.is_behind = false;
        !state.is_closed
    }

    /// Lets time pass, in which commits come together, unless this is to end.
    fn rest(&self, time: Duration) {
        let goes_on = |state: &mut State| !state.is_closed;
        drop(self.changed.wait_timeout_while(self.lock(), time, goes_on));
    }
}

/// Files what commits leave in the tail.
pub(crate) struct Indexer {
    path: PathBuf,
    index: SqliteConnection,
    database: SqliteConnection,
    interval: Duration,
}

impl Indexer {
    /// `interval`: how long commits come together before they are filed.
    pub(crate) fn open(database: &Path, interval: Duration) -> Result<Self> {
        let url = DatabaseUrl::Sqlite(database.to_owned());
        let AnyConnection::Sqlite(reader) = url.connect(Purpose::Read)? else {
            return Err(StoreError::Stopped);
        };
        Ok(Self {
            path: database.to_owned(),
            index: connect(database)?,
            database: reader,
            interval,
        })
    }

    /// Works until it is closed and nothing is left.
    pub(crate) fn run(mut self, progress: &Progress) {
        while progress.wait_for_work() {
            progress.rest(self.interval);
            if let Err(error) = self.try_to_file_all(progress) {
                log::warn!("what was stored last is not in the index yet: {error}");
                progress.ask();
                progress.rest(RETRY_INTERVAL);
            }
        }
        let filed = self.try_to_file_all(progress);
        let finished =
            filed.and_then(|()| Ok(self.index.batch_execute("PRAGMA wal_checkpoint(TRUNCATE)")?));
        if let Err(error) = finished {
            log::warn!("the index was left unfinished: {error}");
        }
    }

    /// [`Self::file_all`], with new connections when it panics: what the old ones are like then nobody knows.
    fn try_to_file_all(&mut self, progress: &Progress) -> Result<()> {
        let attempt = catch_unwind(AssertUnwindSafe(|| self.file_all(progress)));
        attempt.unwrap_or_else(|_| {
            *self = Self::open(&self.path, self.interval)?;
            Err(StoreError::Unreachable("the indexer panicked".to_owned()))
        })
    }

    fn file_all(&mut self, progress: &Progress) -> Result<()> {
        while self.file_some(progress)? {}
        Ok(())
    }

    /// Files the oldest commits of the tail in one transaction; whether there may be more.
    fn file_some(&mut self, progress: &Progress) -> Result<bool> {
        let (mut commits, mut events) = (Vec::new(), 0);
        tail::for_each(&mut self.database, |commit| {
            events += commit.events_count()?;
            commits.push(commit);
            Ok(events < FILED_EVENTS_MAX)
        })?;
        let Some(newest) = commits.last().map(|commit| commit.id) else {
            return Ok(false);
        };
        let last = self.index.immediate_transaction(|index| {
            // Another process may have filed some of them meanwhile.
            let last = tail::last_indexed(index)?;
            let missing = commits.iter().filter(|commit| commit.id > last);
            let mut rows: Vec<(i64, &str)> = missing.flat_map(tail::Commit::events).collect();
            // FTS5 keeps what is new in memory and writes it out each time a row id goes backwards.
            rows.sort_unstable_by_key(|(position, _)| *position);
            for (position, tokens) in rows {
                insert(index, position, tokens)?;
            }
            let last = last.max(newest);
            diesel::update(indexed::table)
                .set(indexed::last_commit.eq(last))
                .execute(index)?;
            Ok::<_, StoreError>(last)
        })?;
        progress.note(last);
        Ok(events >= FILED_EVENTS_MAX)
    }
}
