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

use crate::error::Result;
use audit_index::RowId;
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

/// The state of a walk through candidates, newest first.
#[derive(Debug)]
pub(crate) struct Walk<I> {
    /// The range of the remaining candidates.
    pub(crate) range: Range<I>,
    /// Candidates that were not indexed when the walk began. They may have been indexed since.
    pub(crate) backlog: Vec<I>,
}

impl<I: RowId> Walk<I> {
    /// The next candidates, newest first; fewer than `wanted` only at the end. `newest` returns the indexed ones within a
    /// range, `wanted` at most.
    pub(crate) fn next(
        &mut self,
        wanted: usize,
        newest: impl FnOnce(&Range<I>) -> Result<Vec<I>>,
    ) -> Result<Vec<I>> {
        let mut found = newest(&self.range)?;
        let indexed = found.len();
        found.extend(self.backlog.iter().filter(|row| self.range.contains(row)));
        if found.len() > indexed {
            found.sort_unstable_by(|one, other| other.cmp(one));
            found.dedup();
            found.truncate(wanted);
        }
        self.range.end = match found.last() {
            Some(last) if found.len() == wanted => *last,
            _ => self.range.start,
        };
        Ok(found)
    }
}
