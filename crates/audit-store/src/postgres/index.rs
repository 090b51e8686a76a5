//! The index on PostgreSQL: tables of the database, for all nodes. Its rows are events, by time and id.
//!
//! One node at a time holds an advisory lock and indexes the events of all nodes. `indexed` has the number of indexed events
//! of every ledger; the events behind them are the backlog. The transaction that writes a segment updates it, so an
//! event is always in one of the two. The node that stored an unindexed event caches its tokens; other nodes compute them
//! from the stored event.

pub(crate) mod backlog;
pub(crate) mod indexer;
mod segments;

use super::Shared;
use super::statements::FindSegments;
use crate::append::LedgerId;
use crate::error::{Result, StoreError};
use audit_domain::{EventId, Timestamp};
use audit_index::{BlockCache, Segment, Term};
use diesel::prelude::*;
use parking_lot::Mutex;
use segments::{FoundBlocks, SegmentRow};
use std::collections::HashMap;
use std::ops::Range;

/// The row of an event in the index: `occurred_at` in microseconds, and id. Rows are in the order of queries.
pub(crate) type RowKey = (i64, u128);

/// The row of an event.
pub(crate) fn row_key(occurred_at: Timestamp, id: EventId) -> RowKey {
    (occurred_at.as_micros(), u128::from_be_bytes(id.to_bytes()))
}

/// The index at one moment, for one ledger.
#[derive(Debug)]
pub(crate) struct Snapshot {
    /// The events of the ledger that are not indexed, by `seq`.
    pub(crate) unindexed: Range<i64>,
    segments: Vec<Segment<RowKey>>,
}

/// The segments of the latest snapshot: number → random mark.
#[derive(Debug, Default)]
pub(crate) struct KnownSegments(Mutex<HashMap<u32, i64>>);

impl KnownSegments {
    /// Caches the segments of another snapshot, and drops the blocks of missing segments: they were merged, or lost in a
    /// crash of the database, after which a new segment may have the same number.
    fn replace(&self, segments: HashMap<u32, i64>, blocks: &BlockCache) {
        let mut known = self.0.lock();
        if *known != segments {
            for (id, _) in known.iter().filter(|(id, mark)| segments.get(id) != Some(mark)) {
                blocks.evict(*id);
            }
            *known = segments;
        }
    }
}

impl Snapshot {
    pub(crate) fn read(connection: &mut PgConnection, ledger_id: LedgerId, shared: &Shared) -> Result<Self> {
        type Row = (i64, i64, Option<i64>, Option<SegmentRow>);
        let find = FindSegments {
            of_indexed: ledger_id.0,
            of_ledger: ledger_id.0,
        };
        let rows: Vec<Row> = find.load(connection)?;
        let unindexed = rows.first().map_or(0..0, |(indexed, size, ..)| *indexed..*size);
        let (mut segments, mut marks) = (Vec::with_capacity(rows.len()), HashMap::with_capacity(rows.len()));
        for (_, _, mark, row) in rows {
            if let (Some(mark), Some(row)) = (mark, row) {
                let segment = row.read()?;
                marks.insert(segment.id, mark);
                segments.push(segment);
            }
        }
        shared.segments.replace(marks, &shared.blocks);
        Ok(Self { unindexed, segments })
    }

    /// The newest indexed rows within `range` that fulfil all `terms`, descending, `wanted` at most.
    ///
    /// Segments may have been merged since the snapshot was read. The merged segment has all their rows.
    pub(crate) fn newest(
        &mut self,
        connection: &mut PgConnection,
        ledger_id: LedgerId,
        terms: &[Term],
        range: &Range<RowKey>,
        wanted: usize,
        shared: &Shared,
    ) -> Result<Vec<RowKey>> {
        loop {
            let mut blocks = shared.blocks.before(FoundBlocks(connection));
            let found = audit_index::newest(&self.segments, terms, range, wanted, &mut blocks);
            let Err(StoreError::DamagedIndex(_)) = found else {
                return found;
            };
            let now = Self::read(connection, ledger_id, shared)?;
            if now.segments == self.segments {
                return found;
            }
            self.segments = now.segments;
        }
    }
}
