//! The thread that indexes.

use super::segments::SegmentBlocks;
use super::{backlog, connect};
use crate::error::{Result, StoreError};
use crate::search::merging::{MERGED_ROWS_MIN, Merging, Segments, rows_to_merge};
use crate::search::{INDEXED_EVENTS_MAX, INDEXING_RETRY_INTERVAL};
use crate::signal::{Progress, Signal};
use crate::sqlite::Shared;
use crate::sqlite::connection::{self, Purpose};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Indexes the commits of the backlog.
pub(crate) struct Indexer {
    path: PathBuf,
    index: SqliteConnection,
    database: SqliteConnection,
    shared: Arc<Shared>,
    interval: Duration,
    merging: Merging<i64>,
}

impl Indexer {
    /// `interval`: how long commits are collected before they are indexed.
    pub(crate) fn open(database: &Path, shared: Arc<Shared>, interval: Duration) -> Result<Self> {
        let reader = connection::connect(database, Purpose::Read)?;
        let mut index = connect(database)?;
        index.immediate_transaction(|index| SegmentBlocks(index).remove_unfinished())?;
        Ok(Self {
            path: database.to_owned(),
            index,
            database: reader,
            shared,
            interval,
            merging: Merging::default(),
        })
    }

    /// Works until the signal is closed and the backlog is empty.
    pub(crate) fn run(mut self, progress: &Signal<Progress>) {
        while progress.wait_for_work() {
            progress.rest(self.interval);
            if let Err(error) = self.attempt(|indexer| indexer.index_all(progress)) {
                log::warn!("cannot index the latest events, queries search them in the backlog: {error}");
                progress.wake();
                progress.rest(INDEXING_RETRY_INTERVAL);
            }
        }
        let finished = self.attempt(|indexer| {
            indexer.index_all(progress)?;
            indexer.merging.forget();
            indexer
                .index
                .immediate_transaction(|index| SegmentBlocks(index).remove_unfinished())?;
            Ok(indexer.index.batch_execute("PRAGMA wal_checkpoint(TRUNCATE)")?)
        });
        if let Err(error) = finished {
            log::warn!("cannot finish the index, it continues at the next start: {error}");
        }
    }

    /// Does a part of the work. When it fails or panics, the state of merges and connections is unknown, and both are
    /// replaced.
    fn attempt(&mut self, work: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let attempt = catch_unwind(AssertUnwindSafe(|| work(self)));
        let error = match attempt {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => error,
            Err(_) => StoreError::Unreachable("the indexer panicked".to_owned()),
        };
        *self = Self::open(&self.path, Arc::clone(&self.shared), self.interval)?;
        Err(error)
    }

    fn index_all(&mut self, progress: &Signal<Progress>) -> Result<()> {
        loop {
            let events = self.index_some(progress)?;
            self.merge(rows_to_merge(events))?;
            if events < INDEXED_EVENTS_MAX {
                break;
            }
        }
        while progress.is_idle() && self.merge(MERGED_ROWS_MIN)? {}
        Ok(())
    }

    /// Continues merges for about `rows` postings. Returns whether there is more to do.
    fn merge(&mut self, rows: usize) -> Result<bool> {
        let merging = &mut self.merging;
        let outcome = self
            .index
            .immediate_transaction(|index| merging.step(rows, &mut SegmentBlocks(index)));
        merging.stepped(
            outcome,
            "stop the server, remove the index file, and start: the index is rebuilt",
        )
    }

    /// Indexes the oldest commits of the backlog in one transaction. Returns the number of their events, which is
    /// [`INDEXED_EVENTS_MAX`] or more when the backlog may have more.
    fn index_some(&mut self, progress: &Signal<Progress>) -> Result<usize> {
        let (mut commits, mut events) = (Vec::new(), 0);
        // Each commit has an event at least.
        backlog::for_each(
            &mut self.database,
            &self.shared,
            INDEXED_EVENTS_MAX,
            |name, commit| {
                events += commit.len();
                commits.push((name.id, commit));
                events < INDEXED_EVENTS_MAX
            },
        )?;
        let Some(newest) = commits.last().map(|(id, _)| *id) else {
            // Another process may have indexed the commits of this one.
            let last = backlog::last_indexed(&mut self.database)?;
            self.shared.backlog.forget(last);
            return Ok(0);
        };
        let last = self.index.immediate_transaction(|index| {
            // Another process may have indexed some of them meanwhile.
            let last = backlog::last_indexed(index)?;
            let missing = commits.iter().filter(|(id, _)| *id > last);
            let mut rows: Vec<(i64, &str)> = missing.flat_map(|(_, commit)| commit.events()).collect();
            if !rows.is_empty() {
                rows.sort_unstable_by_key(|(position, _)| *position);
                SegmentBlocks(index).add_segment(&rows)?;
            }
            let last = last.max(newest);
            backlog::set_last_indexed(index, last)?;
            Ok::<_, StoreError>(last)
        })?;
        self.shared.backlog.forget(last);
        progress.reach(last);
        Ok(events)
    }
}
