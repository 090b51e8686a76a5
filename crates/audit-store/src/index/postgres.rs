//! PostgreSQL's index: tables of the same database, for all nodes, whose rows are events by time and id.
//!
//! One of the nodes, whichever comes first, holds a lock and files what all of them store. The index knows of every ledger
//! how many of its events it has; what is behind them in the ledger is the tail. Both are in one transaction with the
//! segments, so nothing is in neither. What an event of the tail is filed under the node that stored it has in memory, and
//! others make it of the event when they need it.

pub(crate) mod indexer;
mod segments;
pub(crate) mod tail;

use crate::append::LedgerId;
use crate::error::{Result, StoreError};
use crate::index::IndexCache;
use crate::statements::FindSegments;
use audit_domain::{EventId, Timestamp};
use audit_index::{BlockCache, Segment, Term};
use diesel::prelude::*;
use segments::{FoundBlocks, SegmentRow};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// What an event is known by in the index: when it occurred, in microseconds, and its id, which is the order of queries.
pub(crate) type RowKey = (i64, u128);

/// What the index knows an event by.
pub(crate) fn row_key(occurred_at: Timestamp, id: EventId) -> RowKey {
    (occurred_at.as_micros(), u128::from_be_bytes(id.to_bytes()))
}

/// The index as it is at one moment, for one ledger.
#[derive(Debug)]
pub(crate) struct Snapshot {
    /// The events of the ledger that are not in the index.
    pub(crate) tail: Range<i64>,
    segments: Vec<Segment<RowKey>>,
}

/// The segments of the last snapshot, by number, each with its mark.
#[derive(Debug, Default)]
pub(crate) struct KnownSegments(Mutex<HashMap<u32, i64>>);

impl KnownSegments {
    /// Takes note of another snapshot, and lets go of the blocks of segments that it does not have: they were merged, or
    /// lost in a crash of the database, and then another one will have the same number.
    fn replace(&self, segments: HashMap<u32, i64>, blocks: &BlockCache) {
        // The lock is never held while anything can panic, so a poisoned one is as good as new.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if *known != segments {
            for (id, _) in known.iter().filter(|(id, mark)| segments.get(id) != Some(mark)) {
                blocks.evict(*id);
            }
            *known = segments;
        }
    }
}

impl Snapshot {
    pub(crate) fn read(
        connection: &mut PgConnection,
        ledger_id: LedgerId,
        cache: &IndexCache,
    ) -> Result<Self> {
        type Row = (i64, i64, Option<i64>, Option<SegmentRow>);
        let find = FindSegments {
            of_indexed: ledger_id.0,
            of_ledger: ledger_id.0,
        };
        let rows: Vec<Row> = find.load(connection)?;
        let tail = rows.first().map_or(0..0, |(indexed, size, ..)| *indexed..*size);
        let (mut segments, mut marks) = (Vec::with_capacity(rows.len()), HashMap::with_capacity(rows.len()));
        for (_, _, mark, row) in rows {
            if let (Some(mark), Some(row)) = (mark, row) {
                let segment = row.read()?;
                marks.insert(segment.id, mark);
                segments.push(segment);
            }
        }
        cache.segments.replace(marks, &cache.blocks);
        Ok(Self { tail, segments })
    }

    /// The newest rows within `range` that are in the index under all `terms`, descending, `wanted` at most.
    ///
    /// Segments may have been merged since it was read. What takes their place has all that they had.
    pub(crate) fn newest(
        &mut self,
        connection: &mut PgConnection,
        ledger_id: LedgerId,
        terms: &[Term],
        range: &Range<RowKey>,
        wanted: usize,
        cache: &IndexCache,
    ) -> Result<Vec<RowKey>> {
        loop {
            let mut blocks = cache.blocks.before(FoundBlocks(connection));
            let found = audit_index::newest(&self.segments, terms, range, wanted, &mut blocks);
            let Err(StoreError::DamagedIndex(_)) = found else {
                return found;
            };
            let now = Self::read(connection, ledger_id, cache)?;
            if now.segments == self.segments {
                return found;
            }
            self.segments = now.segments;
        }
    }
}
