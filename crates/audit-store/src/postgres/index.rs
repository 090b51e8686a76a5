//! The index on PostgreSQL: tables of the database, for all nodes. Its rows are events, by time and id.
//!
//! Projects are divided into groups, each with segments of its own. The statement that stores events enters them into the
//! backlog. The node that stored them keeps their tokens in memory and indexes them within about a second: one transaction
//! deletes the rows of the backlog and adds a segment, so an event is always in one of the two.
//!
//! The holder of a group's lease merges its segments, and indexes rows of the backlog that stay, because their node died. The
//! lease expires by itself. Its token is compared by each transaction that needs the lease, so a node that was frozen cannot
//! disturb its successor. No node waits for another one's locks.

pub(crate) mod backlog;
mod format;
pub(crate) mod indexer;
mod lease;
mod removed_rows;
pub(crate) mod segments;

use super::Shared;
use super::statements::FindSegments;
use crate::error::{Result, StoreError};
use crate::ids::LedgerId;
use crate::search::counting::{Counting, Indexed, Tally, Uncounted};
use crate::search::{BACKLOG_EVENTS_MAX, FORMAT, Remaining};
use audit_domain::{EventId, Month, Timestamp};
use audit_index::{BlockCache, Segment, Term};
use backlog::{GroupId, Unindexed};
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

/// Unindexed events of a ledger whose tokens a query searches, at most. A query of a longer backlog reads the events of the
/// ledger in their order instead.
const SEARCHED_EVENTS_MAX: i64 = 4 * BACKLOG_EVENTS_MAX as i64;

/// The index at one moment, for one ledger.
#[derive(Debug)]
pub(crate) struct Snapshot {
    /// The events of the ledger that are not indexed.
    pub(crate) unindexed: Vec<Unindexed>,
    /// Whether this program can read the segments. Another version of it may have rebuilt the index.
    pub(crate) is_readable: bool,
    /// The random mark of the index; another one after each rebuild.
    mark: Option<i64>,
    segments: Vec<Segment<RowKey>>,
}

/// The segments of the latest snapshots, by number.
#[derive(Debug, Default)]
pub(crate) struct KnownSegments(Mutex<HashMap<u32, KnownSegment>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct KnownSegment {
    group: GroupId,
    /// Random.
    mark: i64,
}

impl KnownSegments {
    /// Caches the segments of another snapshot of a group. Drops the blocks of missing segments: they were merged, or lost in
    /// a crash of the database, after which a new segment may have the same number.
    fn replace(&self, group: GroupId, segments: &HashMap<u32, KnownSegment>, blocks: &BlockCache) {
        let mut known = self.0.lock();
        known.retain(|id, segment| {
            let is_current = match segments.get(id) {
                Some(current) => current == segment,
                None => segment.group != group,
            };
            if !is_current {
                blocks.evict(*id);
            }
            is_current
        });
        known.extend(segments);
    }
}

impl Snapshot {
    pub(crate) fn read(connection: &mut PgConnection, ledger_id: LedgerId, shared: &Shared) -> Result<Self> {
        type Row = (
            Option<i64>,
            Option<i32>,
            Option<i64>,
            Option<i64>,
            Option<i64>,
            Option<i32>,
            Option<SegmentRow>,
        );
        let find = FindSegments {
            of_group: ledger_id.0,
            of_backlog: ledger_id.0,
            ledger_id: ledger_id.0,
            of_segments: ledger_id.0,
        };
        let rows: Vec<Row> = find.load(connection)?;
        let group = rows.iter().find_map(|(group, ..)| *group).unwrap_or_default();
        let is_readable = rows.iter().any(|(_, format, ..)| *format == Some(FORMAT));
        let index_mark = rows
            .iter()
            .find_map(|(_, format, _, _, mark, ..)| mark.filter(|_| format.is_some()));
        let mut unindexed = Vec::new();
        let (mut segments, mut known) = (Vec::with_capacity(rows.len()), HashMap::with_capacity(rows.len()));
        for (_, _, first_seq, end_seq, mark, month, row) in rows {
            if let (Some(start), Some(end), Some(month)) = (first_seq, end_seq, month) {
                unindexed.push(Unindexed {
                    ledger_id,
                    seqs: start..end,
                    month: Month::from_number(month),
                });
            }
            if let (Some(mark), Some(row), true) = (mark, row, is_readable) {
                let segment = row.read()?;
                known.insert(segment.id, KnownSegment { group, mark });
                segments.push(segment);
            }
        }
        shared.segments.replace(group, &known, &shared.blocks);
        Ok(Self {
            unindexed,
            is_readable,
            mark: index_mark,
            segments,
        })
    }

    /// Whether the backlog is too long to be searched, because the index is being rebuilt.
    pub(crate) fn is_rebuilt(&self) -> bool {
        self.unindexed.iter().map(Unindexed::events).sum::<i64>() > SEARCHED_EVENTS_MAX
    }

    /// The next indexed rows that fulfil all `terms`, `wanted` at most.
    ///
    /// Segments may have been merged since the snapshot was read. The merged segment has all their rows.
    pub(crate) fn indexed(
        &mut self,
        connection: &mut PgConnection,
        ledger_id: LedgerId,
        terms: &[Term],
        remaining: &Remaining<RowKey>,
        wanted: usize,
        shared: &Shared,
    ) -> Result<Vec<RowKey>> {
        loop {
            let mut blocks = shared.blocks.before(FoundBlocks(connection));
            let found = remaining.indexed(&self.segments, terms, wanted, &mut blocks);
            let Err(StoreError::DamagedIndex(_)) = found else {
                return found;
            };
            let now = Self::read(connection, ledger_id, shared)?;
            if now.mark != self.mark {
                return Err(StoreError::Unreachable("the index is being rebuilt".to_owned()));
            }
            if now.segments == self.segments {
                return found;
            }
            self.segments = now.segments;
        }
    }
}

/// Events that are read more quickly than their tokens are counted, at most, for each million events of the index.
const READ_PER_MILLION: u64 = 500;

/// Counts the events of a ledger within `range` that fulfil all `terms`.
pub(crate) fn count(
    connection: &mut PgConnection,
    ledger_id: LedgerId,
    (terms, range): (&[Term], &Range<RowKey>),
    counting: &Counting,
    shared: &Shared,
) -> Result<Result<Tally<RowKey>, Uncounted>> {
    let mut index = Snapshot::read(connection, ledger_id, shared)?;
    loop {
        if !index.is_readable || index.is_rebuilt() {
            return Ok(Err(Uncounted::Incomplete));
        }
        // One statement has read the backlog and the segments, and each event is in one of them.
        let backlog = &shared.commits().backlog;
        let unindexed = backlog.counted(connection, &index.unindexed, (terms, range), counting)?;
        let indexed = Indexed {
            segments: &index.segments,
            backlog: &unindexed,
            terms,
            range,
            read_per_million: READ_PER_MILLION,
        };
        let mut blocks = shared.blocks.before(FoundBlocks(connection));
        let counted = counting.count(&indexed, &mut blocks);
        let Err(StoreError::DamagedIndex(damaged)) = counted else {
            return counted;
        };
        // Segments may have been merged since. Then the backlog may be another one, too.
        let now = Snapshot::read(connection, ledger_id, shared)?;
        if now.mark != index.mark {
            return Err(StoreError::Unreachable("the index is being rebuilt".to_owned()));
        }
        if now.segments == index.segments {
            return Err(StoreError::DamagedIndex(damaged));
        }
        index = now;
    }
}
