//! Moving SQLite's write-ahead log into the file, beside the writer.
//!
//! Left to itself, SQLite does it at the end of a commit once the log is long: 25 to 75 ms in which nothing else is stored, most
//! of them waiting for the disk. Here a thread does it in passes, each shorter than the one before, since what the writer adds
//! meanwhile is left to the next. The last few pages the writer moves itself: only when nothing was added does the log begin
//! anew.

use crate::connection::{Purpose, connect_sqlite, page_bytes_of};
use crate::error::Result;
use crate::signal::Signal;
use diesel::prelude::*;
use diesel::sql_types::Integer;
use std::path::Path;
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
pub(crate) enum Stage {
    /// It is short.
    #[default]
    Short,
    /// It is to be moved, or being moved.
    Long,
    /// All but a few pages are moved.
    NearlyMoved,
}

impl Signal<Stage> {
    fn enter(&self, stage: Stage) {
        self.update(|now| std::mem::replace(now, stage) != stage);
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
    /// Takes note of a commit of so many events.
    pub(crate) fn committed(&mut self, events: usize) {
        self.added_pages += COMMIT_PAGES + events / EVENTS_PER_PAGE;
    }

    /// Has the log moved when it is long, and moves the rest of it itself.
    pub(crate) fn look(&mut self, connection: &mut SqliteConnection, stage: &Signal<Stage>) -> Result<()> {
        if self.added_pages < LOOK_PAGES {
            return Ok(());
        }
        self.added_pages = 0;
        match stage.get() {
            Stage::Short => {
                let log = Checkpoint::NOOP.run(connection)?;
                let left = (log.pages - log.moved).max(0).unsigned_abs();
                if left >= self.moved_bytes / page_bytes_of(connection)? {
                    stage.enter(Stage::Long);
                }
            }
            Stage::NearlyMoved => {
                Checkpoint::PASSIVE.run(connection)?;
                stage.enter(Stage::Short);
            }
            Stage::Long => {}
        }
        Ok(())
    }
}

/// The thread that moves the log.
pub(crate) struct WalMover(SqliteConnection);

impl WalMover {
    pub(crate) fn open(database: &Path) -> Result<Self> {
        connect_sqlite(database, Purpose::Write).map(Self)
    }

    /// Works until it is closed.
    pub(crate) fn run(mut self, stage: &Signal<Stage>) {
        while stage.wait_for(|stage| *stage == Stage::Long) {
            self.work(stage);
        }
    }

    fn work(&mut self, stage: &Signal<Stage>) {
        match self.move_most() {
            Ok(()) => stage.enter(Stage::NearlyMoved),
            Err(error) => {
                log::warn!("the write-ahead log is moved by who stores: {error}");
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
        let stage = Signal::default();
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
            watch.committed(200);
            watch.look(&mut writer, &stage).unwrap();
            if stage.get() == Stage::Long {
                mover.work(&stage);
                moves += 1;
            }
        }
        let log_bytes = std::fs::metadata(folder.path().join("a.db-wal")).unwrap().len();
        assert!(log_bytes < 8 << 20, "{log_bytes} bytes after {moves} moves");
        assert!((4..=10).contains(&moves), "{moves}");
    }
}
