//! Checkpointing of SQLite's write-ahead log (WAL) beside the writer.
//!
//! By default, SQLite checkpoints a long WAL at the end of a commit: 25 to 75 ms in which nothing else is stored, most of them
//! waiting for the disk. Here a thread does it in passes, each shorter than the one before, because a pass leaves the
//! pages that the writer adds meanwhile to the next one. The writer itself moves the last few pages: the WAL restarts only when
//! nothing was added since.

use super::connection::{Purpose, connect, page_bytes_of};
use crate::error::Result;
use crate::signal::Signal;
use diesel::prelude::*;
use diesel::sql_types::Integer;
use std::path::Path;
use std::time::Duration;

/// Size of the WAL at which it is checkpointed, in bytes. Few long checkpoints cost less than many short ones: a page that is
/// written repeatedly is moved once.
const CHECKPOINT_BYTES: u32 = 40 << 20;
/// Approximate pages that a commit adds, and events that share a page.
const COMMIT_PAGES: usize = 8;
const EVENTS_PER_PAGE: usize = 8;
/// Pages that are added before the writer queries the size of the WAL.
const QUERIED_PAGES: usize = 256;
/// A pass that moves fewer pages than this leaves few enough for the writer.
const FEW_PAGES: i32 = 400;
/// Passes, at most: the writer may add pages as fast as they are moved.
const PASSES_MAX: usize = 6;
/// The pause after a failure. SQLite checkpoints a much longer WAL during a commit.
const RETRY_INTERVAL: Duration = Duration::from_secs(10);

/// The stage of a checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The WAL is short.
    #[default]
    Short,
    /// The WAL is long: the checkpointer works on it.
    Long,
    /// All but a few pages are in the file.
    NearlyDone,
}

impl Signal<Stage> {
    fn enter(&self, stage: Stage) {
        self.update(|now| std::mem::replace(now, stage) != stage);
    }
}

/// The writer's side.
#[derive(Debug)]
pub(crate) struct WalWatch {
    /// Size at which it is checkpointed.
    checkpoint_bytes: u32,
    /// Pages added since the size was last queried.
    added_pages: usize,
}

impl Default for WalWatch {
    fn default() -> Self {
        Self {
            checkpoint_bytes: CHECKPOINT_BYTES,
            added_pages: 0,
        }
    }
}

impl WalWatch {
    /// Adds the pages of committed events.
    pub(crate) fn add_events(&mut self, events: usize) {
        self.added_pages += events / EVENTS_PER_PAGE;
    }

    /// After each commit: starts a checkpoint of a long WAL, and finishes one.
    pub(crate) fn after_commit(
        &mut self,
        connection: &mut SqliteConnection,
        stage: &Signal<Stage>,
    ) -> Result<()> {
        self.added_pages += COMMIT_PAGES;
        if self.added_pages < QUERIED_PAGES {
            return Ok(());
        }
        self.added_pages = 0;
        match stage.get() {
            Stage::Short => {
                let log = Checkpoint::NOOP.run(connection)?;
                let unmoved = (log.pages - log.moved).max(0).unsigned_abs();
                if unmoved >= self.checkpoint_bytes / page_bytes_of(connection)? {
                    stage.enter(Stage::Long);
                }
            }
            Stage::NearlyDone => {
                Checkpoint::PASSIVE.run(connection)?;
                stage.enter(Stage::Short);
            }
            Stage::Long => {}
        }
        Ok(())
    }
}

/// The bytes of the WAL that are not in the file yet.
pub(super) fn unmoved_bytes(connection: &mut SqliteConnection) -> Result<i64> {
    let log = Checkpoint::NOOP.run(connection)?;
    Ok(i64::from(log.pages - log.moved) * i64::from(page_bytes_of(connection)?))
}

/// The thread that checkpoints.
pub(crate) struct Checkpointer(SqliteConnection);

impl Checkpointer {
    pub(crate) fn open(database: &Path) -> Result<Self> {
        connect(database, Purpose::Write).map(Self)
    }

    /// Works until the signal is closed.
    pub(crate) fn run(mut self, stage: &Signal<Stage>) {
        while stage.wait_for(|stage| *stage == Stage::Long) {
            self.work(stage);
        }
    }

    fn work(&mut self, stage: &Signal<Stage>) {
        match self.move_most() {
            Ok(()) => stage.enter(Stage::NearlyDone),
            Err(error) => {
                log::warn!("cannot checkpoint the write-ahead log, commits will do it: {error}");
                stage.rest(RETRY_INTERVAL);
                stage.enter(Stage::Short);
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

/// A call of `PRAGMA wal_checkpoint` (<https://www.sqlite.org/pragma.html#pragma_wal_checkpoint>).
struct Checkpoint(&'static str);

/// The result of a [`Checkpoint`]: the state of the log.
#[derive(QueryableByName)]
struct WalState {
    /// Pages in the log.
    #[diesel(sql_type = Integer, column_name = log)]
    pages: i32,
    /// Those of them that are in the file.
    #[diesel(sql_type = Integer, column_name = checkpointed)]
    moved: i32,
}

impl Checkpoint {
    /// Queries the size.
    const NOOP: Self = Self("PRAGMA main.wal_checkpoint(NOOP)");
    /// Moves pages, as far as no reader needs them and no other connection checkpoints.
    const PASSIVE: Self = Self("PRAGMA main.wal_checkpoint(PASSIVE)");

    fn run(&self, connection: &mut SqliteConnection) -> Result<WalState> {
        Ok(diesel::sql_query(self.0).get_result(connection)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::connection::{FileOptions, open_file};
    use diesel::connection::SimpleConnection;

    #[test]
    fn a_long_log_is_checkpointed_and_restarts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let open = || {
            let options = FileOptions {
                page_bytes: 4_096,
                cache_kib: 1_024,
                checkpoint_kib: 1 << 20,
            };
            open_file(&path, options).unwrap()
        };
        let (mut writer, mut checkpointer) = (open(), Checkpointer(open()));
        writer.batch_execute("CREATE TABLE a (x BLOB)").unwrap();
        let stage = Signal::default();
        let mut watch = WalWatch {
            checkpoint_bytes: 2 << 20,
            ..WalWatch::default()
        };
        let mut moves = 0;
        // Twenty megabytes in all.
        for _ in 0..200 {
            writer
                .batch_execute("INSERT INTO a VALUES (zeroblob(100000))")
                .unwrap();
            watch.add_events(200);
            watch.after_commit(&mut writer, &stage).unwrap();
            if stage.get() == Stage::Long {
                checkpointer.work(&stage);
                moves += 1;
            }
        }
        let log_bytes = std::fs::metadata(folder.path().join("a.db-wal")).unwrap().len();
        assert!(log_bytes < 8 << 20, "{log_bytes} bytes after {moves} moves");
        assert!((4..=10).contains(&moves), "{moves}");
    }
}
