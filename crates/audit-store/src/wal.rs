//! Moving SQLite's write-ahead log into the file, beside the writer.
//!
//! Left to itself, SQLite does it at the end of a commit once the log is long: 25 to 75 ms in which nothing else is stored, most
//! of them waiting for the disk. Here a thread does it in passes, each shorter than the one before, since what the writer adds
//! meanwhile is left to the next. The last few pages the writer moves itself: only when nothing was added does the log begin
//! anew.

use crate::connection::{AnyConnection, DatabaseUrl, Purpose, page_bytes_of};
use crate::error::{Result, StoreError};
use diesel::prelude::*;
use diesel::sql_types::Integer;
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long the log becomes before it is moved, in bytes. Fewer, longer moves cost less than many short ones: pages that are
/// written again and again are moved once.
const MOVED_BYTES: u32 = 40 << 20;
/// Pages that a commit adds, about, and events that share one.
const COMMIT_PAGES: usize = 8;
const EVENTS_PER_PAGE: usize = 8;
/// Pages that are added before the writer looks how long the log is.
const LOOK_PAGES: usize = 256;
/// A pass that moves fewer pages than this leaves so few that the writer can move them.
const FEW_PAGES: i32 = 400;
/// Passes, at most: somebody may write as fast as they move.
const PASSES_MAX: usize = 6;
/// How long to leave it after a failure. SQLite moves the log during a commit when it becomes a multiple as long.
const RETRY_INTERVAL: Duration = Duration::from_secs(10);

/// How far moving the log has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// It is short.
    #[default]
    Short,
    /// It is to be moved, or being moved.
    Long,
    /// All but a few pages are moved.
    NearlyMoved,
    Closed,
}

/// What the writer and the thread that moves the log tell each other.
#[derive(Debug, Default)]
pub(crate) struct WalProgress {
    stage: Mutex<Stage>,
    changed: Condvar,
}

impl WalProgress {
    /// The lock is never held while anything can panic, so a poisoned one is as good as new.
    fn lock(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self, stage: Stage) {
        let mut now = self.lock();
        if *now != Stage::Closed {
            *now = stage;
        }
        self.changed.notify_all();
    }

    /// Has the thread end.
    pub(crate) fn close(&self) {
        self.enter(Stage::Closed);
    }

    /// Waits until the log is to be moved; `false` when it is not any more.
    fn wait_for_work(&self) -> bool {
        let is_idle = |stage: &mut Stage| !matches!(stage, Stage::Long | Stage::Closed);
        let waiting = self.changed.wait_while(self.lock(), is_idle);
        *waiting.unwrap_or_else(PoisonError::into_inner) != Stage::Closed
    }

    fn rest(&self, time: Duration) {
        let goes_on = |stage: &mut Stage| *stage != Stage::Closed;
        drop(self.changed.wait_timeout_while(self.lock(), time, goes_on));
    }
}

/// The writer's side.
#[derive(Debug)]
pub(crate) struct WalWatch {
    /// How long the log becomes before it is moved.
    moved_bytes: u32,
    /// Pages added since it was last looked how long the log is.
    added_pages: usize,
}

impl Default for WalWatch {
    fn default() -> Self {
        Self {
            moved_bytes: MOVED_BYTES,
            added_pages: 0,
        }
    }
}

impl WalWatch {
    /// Takes note of a commit of so many events: has the log moved when it is long, and moves the rest of it itself.
    pub(crate) fn committed(
        &mut self,
        connection: &mut SqliteConnection,
        events: usize,
        progress: &WalProgress,
    ) -> Result<()> {
        self.added_pages += COMMIT_PAGES + events / EVENTS_PER_PAGE;
        if self.added_pages < LOOK_PAGES {
            return Ok(());
        }
        self.added_pages = 0;
        let stage = *progress.lock();
        match stage {
            Stage::Short => {
                let log = Checkpoint::NOOP.run(connection)?;
                let left = (log.pages - log.moved).max(0).unsigned_abs();
                if left >= self.moved_bytes / page_bytes_of(connection)? {
                    progress.enter(Stage::Long);
                }
            }
            Stage::NearlyMoved => {
                Checkpoint::PASSIVE.run(connection)?;
                progress.enter(Stage::Short);
            }
            Stage::Long | Stage::Closed => {}
        }
        Ok(())
    }
}

/// The thread that moves the log.
pub(crate) struct WalMover(SqliteConnection);

impl WalMover {
    pub(crate) fn open(database: &Path) -> Result<Self> {
        let url = DatabaseUrl::Sqlite(database.to_owned());
        match url.connect(Purpose::Write)? {
            AnyConnection::Sqlite(connection) => Ok(Self(connection)),
            AnyConnection::Postgres(_) => Err(StoreError::Stopped),
        }
    }

    /// Works until it is closed.
    pub(crate) fn run(mut self, progress: &WalProgress) {
        while progress.wait_for_work() {
            self.work(progress);
        }
    }

    fn work(&mut self, progress: &WalProgress) {
        match self.move_most() {
            Ok(()) => progress.enter(Stage::NearlyMoved),
            Err(error) => {
                log::warn!("the write-ahead log is moved by who stores: {error}");
                progress.rest(RETRY_INTERVAL);
                progress.enter(Stage::Short);
            }
        }
    }

    fn move_most(&mut self) -> Result<()> {
        let mut moved = Checkpoint::NOOP.run(&mut self.0)?.moved;
        for _ in 0..PASSES_MAX {
            let log = Checkpoint::PASSIVE.run(&mut self.0)?;
            if log.moved - moved < FEW_PAGES {
                break;
            }
            moved = log.moved;
        }
        Ok(())
    }
}

/// What is asked of the log (`PRAGMA wal_checkpoint`, <https://www.sqlite.org/pragma.html#pragma_wal_checkpoint>).
struct Checkpoint(&'static str);

/// What is answered.
#[derive(QueryableByName)]
struct Log {
    /// Pages in it.
    #[diesel(sql_type = Integer, column_name = log)]
    pages: i32,
    /// Those of them that are in the file.
    #[diesel(sql_type = Integer, column_name = checkpointed)]
    moved: i32,
}

impl Checkpoint {
    /// How long it is.
    const NOOP: Self = Self("PRAGMA main.wal_checkpoint(NOOP)");
    /// To be moved, as far as no reader needs it and nobody else is moving it.
    const PASSIVE: Self = Self("PRAGMA main.wal_checkpoint(PASSIVE)");

    fn run(&self, connection: &mut SqliteConnection) -> Result<Log> {
        Ok(diesel::sql_query(self.0).get_result(connection)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::{FileOptions, open_sqlite};
    use diesel::connection::SimpleConnection;

    #[test]
    fn the_log_begins_anew_when_it_was_long() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let open = || {
            let options = FileOptions {
                page_bytes: 4_096,
                cache_kib: 1_024,
                checkpoint_kib: 1 << 20,
            };
            open_sqlite(&path, options).unwrap()
        };
        let (mut writer, mut mover) = (open(), WalMover(open()));
        writer.batch_execute("CREATE TABLE a (x BLOB)").unwrap();
        let progress = WalProgress::default();
        let mut watch = WalWatch {
            moved_bytes: 2 << 20,
            ..WalWatch::default()
        };
        let mut moves = 0;
        // Twenty megabytes in all.
        for _ in 0..200 {
            writer
                .batch_execute("INSERT INTO a VALUES (zeroblob(100000))")
                .unwrap();
            watch.committed(&mut writer, 200, &progress).unwrap();
            if *progress.lock() == Stage::Long {
                mover.work(&progress);
                moves += 1;
            }
        }
        let log_bytes = std::fs::metadata(folder.path().join("a.db-wal")).unwrap().len();
        assert!(log_bytes < 8 << 20, "{log_bytes} bytes after {moves} moves");
        assert!((4..=10).contains(&moves), "{moves}");
    }

    #[test]
    fn a_mover_that_has_nothing_to_do_ends_when_it_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let options = FileOptions {
            page_bytes: 4_096,
            cache_kib: 100,
            checkpoint_kib: 1_024,
        };
        let mover = WalMover(open_sqlite(&folder.path().join("a.db"), options).unwrap());
        let progress = std::sync::Arc::new(WalProgress::default());
        let thread = {
            let progress = std::sync::Arc::clone(&progress);
            std::thread::spawn(move || mover.run(&progress))
        };
        progress.close();
        thread.join().unwrap();
        progress.enter(Stage::Long);
        assert_eq!(*progress.lock(), Stage::Closed);
    }
}
