//! The index: which events have a field's value, a word or, on SQLite, an idempotency key. What is in it is
//! `audit-index`'s; this is where its segments are kept, and who files what is stored.
//!
//! To write it takes as long as to store the events, so a thread of its own does that a moment later, many events at a time.
//! What is stored and not filed yet is the tail, which whoever reads looks through beside the index.

mod filed;
mod merging;
pub(crate) mod postgres;
pub(crate) mod sqlite;

use crate::event_ids::Waypoints;
use audit_index::{BlockCache, RowId};

/// How much of the index readers share in memory.
const CACHED_BYTES_MAX: usize = 10 << 20;

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

/// The newest of what was found in the index, descending, and in the tail, in no order: `wanted` at most, each once.
pub(crate) fn newest_of<I: RowId>(
    mut indexed: Vec<I>,
    tail: impl Iterator<Item = I>,
    wanted: usize,
) -> Vec<I> {
    let before = indexed.len();
    indexed.extend(tail);
    if indexed.len() > before {
        indexed.sort_unstable_by(|one, other| other.cmp(one));
        indexed.dedup();
        indexed.truncate(wanted);
    }
    indexed
}
