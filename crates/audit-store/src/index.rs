//! The index: which events have a field's value, a word or, on SQLite, an idempotency key. What is in it is
//! `audit-index`'s; this is where its segments are kept, and who files what is stored.
//!
//! To write it takes as long as to store the events, so a thread of its own does that a moment later, many events at a time.
//! What is stored and not filed yet is the tail, which whoever reads looks through beside the index.

mod filed;
mod merging;
pub(crate) mod postgres;
pub(crate) mod sqlite;

use crate::error::Result;
use crate::event_ids::Waypoints;
use audit_index::{BlockCache, RowId};
use std::ops::Range;
use std::time::Duration;

/// How much of the index readers share in memory.
const CACHED_BYTES_MAX: usize = 10 << 20;
/// What is kept in memory of the tail, in bytes. The rest is made of its events when needed.
const KEPT_BYTES_MAX: usize = 8 << 20;
/// Events that are filed in one transaction, at most, and those that were stored together with the one that reaches it.
const FILED_EVENTS_MAX: usize = 8_000;
/// How long to leave filing after a failure.
const FILING_RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// What this process has in memory to find events by.
#[derive(Debug)]
pub(crate) struct IndexCache {
    /// What was read of the index.
    blocks: BlockCache,
    /// The segments that those are of, on PostgreSQL.
    segments: postgres::KnownSegments,
    /// What is to come into SQLite's.
    commits: sqlite::tail::KeptCommits,
    /// What is to come into PostgreSQL's.
    pub(crate) tail: postgres::tail::KeptTail,
    /// What searches by id remember.
    pub(crate) waypoints: Waypoints,
}

impl IndexCache {
    pub(crate) fn new() -> Self {
        Self {
            blocks: BlockCache::new(CACHED_BYTES_MAX),
            segments: postgres::KnownSegments::default(),
            commits: sqlite::tail::KeptCommits::default(),
            tail: postgres::tail::KeptTail::default(),
            waypoints: Waypoints::default(),
        }
    }
}

/// What a walk backwards through the candidates has before it.
#[derive(Debug)]
pub(crate) struct Ahead<I> {
    /// Where the next candidates are.
    pub(crate) range: Range<I>,
    /// Candidates that were not in the index when the walk began. They may have come into it since.
    pub(crate) tail: Vec<I>,
}

impl<I: RowId> Ahead<I> {
    /// The next candidates, newest first; fewer than `wanted` only at the end. `newest` gives those of a range that are in the
    /// index, as many at most.
    pub(crate) fn take(
        &mut self,
        wanted: usize,
        newest: impl FnOnce(&Range<I>) -> Result<Vec<I>>,
    ) -> Result<Vec<I>> {
        let mut found = newest(&self.range)?;
        let indexed = found.len();
        found.extend(self.tail.iter().filter(|row| self.range.contains(row)));
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
