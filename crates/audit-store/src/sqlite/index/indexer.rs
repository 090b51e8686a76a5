//! The thread that indexes.

use super::removed_rows::{Refreshed, Removed};
use super::segments::SegmentBlocks;
use super::{backlog, connect, rebuild, removed_rows};
use crate::error::{Result, StoreError};
use crate::search::merging::{Extent, MERGED_ROWS_MIN, Merging, Segments as _, rows_to_merge};
use crate::search::{INDEXED_EVENTS_MAX, INDEXING_RETRY_INTERVAL};
use crate::signal::{Progress, Signal};
use crate::sqlite::Shared;
use crate::sqlite::connection::{self, Purpose};
use crate::sqlite::space;
use audit_domain::Month;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use std::collections::BTreeMap;
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
    /// Events that this process has indexed of a rebuild.
    rebuilt_events: usize,
    /// Whether the write-ahead log has pages that were given back, with words of removed events.
    has_given_back: bool,
}

/// Postings that are merged in one transaction, at most.
const MERGED_ROWS_MAX: usize = 200_000;
/// What an operator does about a damaged index.
const REPAIR: &str = "stop the server, remove the index file, and start: the index is rebuilt";
/// Events of a rebuild that are indexed in one transaction.
const REBUILT_EVENTS_MAX: usize = 4_000;
/// Events of a rebuild between two lines in the log.
const LOGGED_EVENTS: usize = 200_000;

impl Indexer {
    /// `interval`: how long commits are collected before they are indexed.
    pub(crate) fn open(database: &Path, shared: Arc<Shared>, interval: Duration) -> Result<Self> {
        let reader = connection::connect(database, Purpose::Read)?;
        let mut index = connect(database)?;
        let mut merging = Merging::default();
        merging.clean_up(&mut SegmentBlocks(&mut index))?;
        Ok(Self {
            path: database.to_owned(),
            index,
            database: reader,
            shared,
            interval,
            merging,
            rebuilt_events: 0,
            has_given_back: false,
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
            } else if let Err(error) = self.attempt(|indexer| indexer.rebuild(progress)) {
                log::warn!("cannot rebuild the index, queries for older events remain slow: {error}");
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
        self.shared.rebuild.close();
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
            self.merge_after(events)?;
            if events < INDEXED_EVENTS_MAX {
                break;
            }
        }
        let extent = match self.shared.rebuild.is_finished() {
            true => Extent::PastMonths,
            false => Extent::Levels,
        };
        // Once at least: while events arrive all the time, the rows of removed ones go, too.
        while !progress.is_closed() && self.merge_or_purge(extent, progress)? && progress.is_idle() {}
        Ok(())
    }

    /// A step of merges, or without one of what follows removals. Returns whether there is more to do.
    fn merge_or_purge(&mut self, extent: Extent, progress: &Signal<Progress>) -> Result<bool> {
        if self.merge(MERGED_ROWS_MIN, extent)? {
            return Ok(true);
        }
        // A rebuild may still add rows that are gone.
        Ok(extent == Extent::PastMonths && self.purge(progress)?)
    }

    /// Writes segments again without the rows of removed and erased events, one in each call. Returns whether there is more to do.
    fn purge(&mut self, progress: &Signal<Progress>) -> Result<bool> {
        if self.merging.is_damaged() {
            return Ok(false);
        }
        let Some((month, gone)) = removed_rows::first(&mut self.database)? else {
            return Ok(false);
        };
        // Events that are removed or erased before they are indexed enter the index as they were stored.
        while self.index_some(progress)? >= INDEXED_EVENTS_MAX {}
        let mut removed = Removed {
            database: &mut self.database,
            refreshed: None,
        };
        let merging = &mut self.merging;
        let outcome = self.index.immediate_transaction(|index| {
            merging.purge(month, &gone, &mut SegmentBlocks(index), &mut removed)
        });
        let refreshed = removed.refreshed;
        if self.stepped(outcome, refreshed)? && !self.give_back()? {
            removed_rows::forget(&self.path, &gone)?;
        }
        Ok(!self.merging.is_damaged())
    }

    /// Gives free pages of the file back, until it has none: they have the words of removed events. Returns whether there are more.
    fn give_back(&mut self) -> Result<bool> {
        if space::give_back_pages(&mut self.index, 0)? {
            self.has_given_back = true;
            return Ok(true);
        }
        if std::mem::take(&mut self.has_given_back) {
            self.index.batch_execute("PRAGMA main.wal_checkpoint(TRUNCATE)")?;
        }
        Ok(false)
    }

    /// Continues a rebuild of the index until it is complete or there is something else to do, in each call at least once: while
    /// events arrive all the time, it makes progress too.
    fn rebuild(&mut self, progress: &Signal<Progress>) -> Result<()> {
        while !progress.is_closed() {
            let Some(events) = rebuild::step(&mut self.index, &mut self.database, REBUILT_EVENTS_MAX)? else {
                self.shared.rebuild.finish();
                return Ok(());
            };
            let logged = self.rebuilt_events / LOGGED_EVENTS;
            self.rebuilt_events += events;
            if self.rebuilt_events / LOGGED_EVENTS > logged {
                log::info!("rebuilding the index: {} events so far", self.rebuilt_events);
            }
            self.shared.rebuild.advance(events);
            self.merge_after(events)?;
            if !progress.is_idle() {
                break;
            }
        }
        Ok(())
    }

    /// Continues merges as far as so many indexed events require, in bounded transactions.
    fn merge_after(&mut self, events: usize) -> Result<()> {
        let mut rows = rows_to_merge(events);
        while rows > 0 {
            let step = rows.min(MERGED_ROWS_MAX);
            if !self.merge(step, Extent::Levels)? {
                break;
            }
            rows -= step;
        }
        Ok(())
    }

    /// Continues merges for about `rows` postings. Returns whether there is more to do.
    fn merge(&mut self, rows: usize, extent: Extent) -> Result<bool> {
        let mut removed = Removed {
            database: &mut self.database,
            refreshed: None,
        };
        let merging = &mut self.merging;
        let outcome = self.index.immediate_transaction(|index| {
            merging.step(rows, extent, &mut SegmentBlocks(index), &mut removed)
        });
        let refreshed = removed.refreshed;
        self.stepped(outcome, refreshed)
    }

    /// Handles the outcome of a transaction of the index.
    fn stepped(&mut self, outcome: Result<bool>, refreshed: Option<Refreshed>) -> Result<bool> {
        if let (Ok(_), Some(refreshed)) = (&outcome, refreshed) {
            removed_rows::note(&self.path, &refreshed)?;
        }
        self.merging.stepped(outcome, REPAIR)
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
                commits.push((name, commit));
                events < INDEXED_EVENTS_MAX
            },
        )?;
        let Some(newest) = commits.last().map(|(name, _)| *name) else {
            // Another process may have indexed the commits of this one.
            let last = backlog::last_indexed(&mut self.database)?;
            self.shared.backlog.forget(last);
            return Ok(0);
        };
        let last = self.index.immediate_transaction(|index| {
            // Another process may have indexed some of them meanwhile.
            let last = backlog::last_indexed(index)?;
            let missing = commits.iter().filter(|(name, _)| name.id > last);
            let mut months: BTreeMap<Month, Vec<(i64, &str)>> = BTreeMap::new();
            for (month, event) in missing.flat_map(|(_, commit)| commit.events()) {
                months.entry(month).or_default().push(event);
            }
            for (month, mut rows) in months {
                rows.sort_unstable_by_key(|(position, _)| *position);
                SegmentBlocks(index).add_segment(month, &rows)?;
            }
            if newest.id > last {
                backlog::set_last_indexed(index, newest)?;
            }
            Ok::<_, StoreError>(last.max(newest.id))
        })?;
        self.shared.backlog.forget(last);
        progress.reach(last);
        Ok(events)
    }
}
