//! The part of the index that both databases share: tokens of events, terms of queries, the backlog in memory, and merging.
//! The index itself is `audit-index`'s; each database stores its segments.
//!
//! Writing the index costs as much as storing the events, so a thread does it shortly after the commits, many events at a
//! time. Until then the events are in the indexing backlog, which queries search as well.

pub(crate) mod backlog;
pub(crate) mod counting;
pub(crate) mod merging;
pub(crate) mod terms;
pub(crate) mod tokens;
pub(crate) mod verification;

#[cfg(test)]
mod index_size;

use crate::error::{Result, StoreError};
use audit_domain::EventOrder;
use audit_index::{Blocks, RowId, Segment, Term};
use std::ops::Range;
use std::time::Duration;

/// The index blocks that readers share in memory, in bytes: 7.5 MiB.
pub(crate) const CACHED_BYTES_MAX: usize = 15 << 19;
/// The backlog that is cached in memory, in bytes. The tokens of the rest are computed from the stored events when needed.
pub(crate) const BACKLOG_BYTES_MAX: usize = 8 << 20;
/// Unindexed events beyond which writers wait for the indexer: queries search all of them.
pub(crate) const BACKLOG_EVENTS_MAX: usize = 16_000;
/// How long a writer waits for the indexer, at most, after each commit.
pub(crate) const BACKLOG_WAIT: Duration = Duration::from_secs(1);
/// Events that are indexed in one transaction, at most, rounded up to a whole commit.
pub(crate) const INDEXED_EVENTS_MAX: usize = 8_000;
/// The pause of the indexer after a failure.
pub(crate) const INDEXING_RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// Raise it when the tables that hold segments and blocks change.
const TABLES_VERSION: u32 = 6;

/// The format of the index, on both databases: blocks, tokens and tables. An index of another format is rebuilt when the
/// database is opened.
pub(crate) const FORMAT: i32 =
    ((audit_index::FORMAT_VERSION << 16) | (tokens::VERSION << 8) | TABLES_VERSION).cast_signed();

/// The rows that a walk has not read, and the order in which it reads them.
#[derive(Clone, Debug)]
pub(crate) struct Remaining<I> {
    pub(crate) range: Range<I>,
    pub(crate) order: EventOrder,
}

impl<I: RowId> Remaining<I> {
    /// The next indexed rows that fulfil all `terms`, `wanted` at most.
    pub(crate) fn indexed<B: Blocks<Error = StoreError>>(
        &self,
        segments: &[Segment<I>],
        terms: &[Term],
        wanted: usize,
        blocks: &mut B,
    ) -> Result<Vec<I>> {
        match self.order {
            EventOrder::Descending => audit_index::newest(segments, terms, &self.range, wanted, blocks),
            EventOrder::Ascending => audit_index::oldest(segments, terms, &self.range, wanted, blocks),
        }
    }

    /// Leaves what follows this row.
    pub(crate) fn pass(&mut self, row: I) {
        match self.order {
            EventOrder::Descending => self.range.end = row,
            EventOrder::Ascending => self.range.start = row.following(),
        }
    }

    /// Leaves nothing.
    pub(crate) const fn end(&mut self) {
        self.range.end = self.range.start;
    }

    fn sort(&self, rows: &mut [I]) {
        match self.order {
            EventOrder::Descending => rows.sort_unstable_by(|one, other| other.cmp(one)),
            EventOrder::Ascending => rows.sort_unstable(),
        }
    }
}

/// Candidates whose events were removed that one page passes, at most. Then it ends early, so that the rows of a removal, until the
/// index is written without them, do not hold a session for long.
pub(crate) const GONE_CANDIDATES_MAX: usize = 20_000;

/// The state of a walk through candidates.
#[derive(Debug)]
pub(crate) struct Walk<I> {
    /// The remaining candidates.
    pub(crate) remaining: Remaining<I>,
    /// Candidates that were not indexed when the walk began. They may have been indexed since.
    pub(crate) backlog: Vec<I>,
    /// Candidates whose events were removed.
    pub(crate) gone: usize,
    /// The last candidate of a walk that ended after [`GONE_CANDIDATES_MAX`] of them.
    pub(crate) stopped_at: Option<I>,
}

impl<I: RowId> Walk<I> {
    pub(crate) const fn new(remaining: Remaining<I>, backlog: Vec<I>) -> Self {
        Self {
            remaining,
            backlog,
            gone: 0,
            stopped_at: None,
        }
    }

    /// Counts the events that were not found of these candidates. Returns whether the walk ends early.
    pub(crate) fn note_gone(&mut self, candidates: &[I], found: usize) -> bool {
        self.gone += candidates.len() - found;
        if self.gone >= GONE_CANDIDATES_MAX && !self.remaining.range.is_empty() {
            self.stopped_at = candidates.last().copied();
            self.remaining.end();
        }
        self.stopped_at.is_some()
    }

    /// The next candidates; fewer than `wanted` only at the end. `indexed` returns the indexed ones among those that remain,
    /// `wanted` at most.
    pub(crate) fn next(
        &mut self,
        wanted: usize,
        indexed: impl FnOnce(&Remaining<I>) -> Result<Vec<I>>,
    ) -> Result<Vec<I>> {
        let remaining = &mut self.remaining;
        let mut found = indexed(remaining)?;
        let indexed = found.len();
        found.extend(self.backlog.iter().filter(|row| remaining.range.contains(row)));
        if found.len() > indexed {
            remaining.sort(&mut found);
            found.dedup();
            found.truncate(wanted);
        }
        match found.last() {
            Some(last) if found.len() == wanted => remaining.pass(*last),
            _ => remaining.end(),
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_through_removed_events_ends_early_behind_the_last_of_them() {
        let rows = GONE_CANDIDATES_MAX as i64 + 10;
        for (order, stop) in [
            (EventOrder::Ascending, GONE_CANDIDATES_MAX as i64 - 1),
            (EventOrder::Descending, 10),
        ] {
            let range = 0..rows;
            let mut walk = Walk::new(Remaining { range, order }, Vec::new());
            let (mut stopped, mut steps) = (false, 0);
            while !stopped {
                let of_order = |remaining: &Remaining<i64>| {
                    let range = remaining.range.clone();
                    Ok(match order {
                        EventOrder::Ascending => range.take(1_000).collect(),
                        EventOrder::Descending => range.rev().take(1_000).collect(),
                    })
                };
                let candidates = walk.next(1_000, of_order).unwrap();
                stopped = walk.note_gone(&candidates, 0);
                steps += 1;
            }
            assert_eq!((steps, walk.stopped_at), (20, Some(stop)));
            assert!(walk.remaining.range.is_empty());
        }
    }
}
