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
use audit_index::{Segment, Term};
use diesel::prelude::*;
use segments::{FoundBlocks, OptionalSegmentRow};
use std::ops::Range;

/// What an event is known by in the index: when it occurred, in microseconds, and its id, which is the order of queries.
pub(crate) type RowKey = (i64, u128);

/// The index as it is at one moment, for one ledger.
#[derive(Debug)]
pub(crate) struct Snapshot {
    /// The events of the ledger that are not in the index.
    pub(crate) tail: Range<i64>,
    segments: Vec<Segment<RowKey>>,
}

impl Snapshot {
    pub(crate) fn read(connection: &mut PgConnection, ledger_id: LedgerId) -> Result<Self> {
        type Row = (i64, i64, OptionalSegmentRow);
        let find = FindSegments {
            of_indexed: ledger_id.0,
            of_ledger: ledger_id.0,
        };
        let rows: Vec<Row> = find.load(connection)?;
        let tail = rows.first().map_or(0..0, |(indexed, size, _)| *indexed..*size);
        let segments = rows.into_iter().filter_map(|(_, _, segment)| segment);
        Ok(Self {
            tail,
            segments: segments.map(segments::read).collect::<Result<_>>()?,
        })
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
            let now = Self::read(connection, ledger_id)?;
            if now.segments == self.segments {
                return found;
            }
            self.segments = now.segments;
        }
    }
}
