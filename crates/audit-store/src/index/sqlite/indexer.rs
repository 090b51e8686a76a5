//! The thread that writes the index.

use super::segments::SegmentBlocks;
use super::{connect, tail};
use crate::connection::{Purpose, connect_sqlite};
use crate::error::{Result, StoreError};
use crate::index::merging::{MERGED_ROWS_MIN, Merging, Segments, rows_to_merge};
use crate::index::{FILED_EVENTS_MAX, FILING_RETRY_INTERVAL, IndexCache};
use crate::signal::{Filing, Signal};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Files what commits leave in the tail.
pub(crate) struct Indexer {
    path: PathBuf,
    index: SqliteConnection,
    database: SqliteConnection,
    cache: Arc<IndexCache>,
    interval: Duration,
    merging: Merging<i64>,
}

impl Indexer {
    /// `interval`: how long commits come together before they are filed.
    pub(crate) fn open(database: &Path, cache: Arc<IndexCache>, interval: Duration) -> Result<Self> {
        let reader = connect_sqlite(database, Purpose::Read)?;
        let mut index = connect(database)?;
        index.immediate_transaction(|index| SegmentBlocks(index).remove_unfinished())?;
        Ok(Self {
            path: database.to_owned(),
            index,
            database: reader,
            cache,
            interval,
            merging: Merging::default(),
        })
    }

    /// Works until it is closed and nothing is left.
    pub(crate) fn run(mut self, filing: &Signal<Filing>) {
        while filing.wait_for_work() {
            filing.rest(self.interval);
            if let Err(error) = self.attempt(|indexer| indexer.file_all(filing)) {
                log::warn!("what was stored last is not in the index yet: {error}");
                filing.ask();
                filing.rest(FILING_RETRY_INTERVAL);
            }
        }
        let finished = self.attempt(|indexer| {
            indexer.file_all(filing)?;
            indexer.merging.forget();
            indexer
                .index
                .immediate_transaction(|index| SegmentBlocks(index).remove_unfinished())?;
            Ok(indexer.index.batch_execute("PRAGMA wal_checkpoint(TRUNCATE)")?)
        });
        if let Err(error) = finished {
            log::warn!("the index was left unfinished: {error}");
        }
    }

    /// Does some of the work, with new connections when it fails: what has become of merges then nobody knows, nor after a
    /// panic of the connections.
    fn attempt(&mut self, work: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let attempt = catch_unwind(AssertUnwindSafe(|| work(self)));
        let error = match attempt {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => error,
            Err(_) => StoreError::Unreachable("the indexer panicked".to_owned()),
        };
        *self = Self::open(&self.path, Arc::clone(&self.cache), self.interval)?;
        Err(error)
    }

    fn file_all(&mut self, filing: &Signal<Filing>) -> Result<()> {
        loop {
            let events = self.file_some(filing)?;
            self.merge(rows_to_merge(events))?;
            if events < FILED_EVENTS_MAX {
                break;
            }
        }
        while filing.is_idle() && self.merge(MERGED_ROWS_MIN)? {}
        Ok(())
    }

    /// Goes on with merges for about so many rows of tokens; whether there is more to do.
    fn merge(&mut self, rows: usize) -> Result<bool> {
        let merging = &mut self.merging;
        let outcome = self
            .index
            .immediate_transaction(|index| merging.step(rows, &mut SegmentBlocks(index)));
        merging.stepped(outcome, "remove its file and start again to have it made anew")
    }

    /// Files the oldest commits of the tail in one transaction; how many events there were, of all that are filed together
    /// when there may be more.
    fn file_some(&mut self, filing: &Signal<Filing>) -> Result<usize> {
        let (mut commits, mut events) = (Vec::new(), 0);
        // Each commit has an event at least.
        tail::for_each(
            &mut self.database,
            &self.cache,
            FILED_EVENTS_MAX,
            |name, commit| {
                events += commit.len();
                commits.push((name.id, commit));
                events < FILED_EVENTS_MAX
            },
        )?;
        let Some(newest) = commits.last().map(|(id, _)| *id) else {
            // Another process may have filed what was stored here.
            self.cache.commits.forget(tail::last_indexed(&mut self.database)?);
            return Ok(0);
        };
        let last = self.index.immediate_transaction(|index| {
            // Another process may have filed some of them meanwhile.
            let last = tail::last_indexed(index)?;
            let missing = commits.iter().filter(|(id, _)| *id > last);
            let mut rows: Vec<(i64, &str)> = missing.flat_map(|(_, commit)| commit.events()).collect();
            if !rows.is_empty() {
                rows.sort_unstable_by_key(|(position, _)| *position);
                SegmentBlocks(index).file(&rows)?;
            }
            let last = last.max(newest);
            tail::set_last_indexed(index, last)?;
            Ok::<_, StoreError>(last)
        })?;
        self.cache.commits.forget(last);
        filing.filed(last);
        Ok(events)
    }
}
