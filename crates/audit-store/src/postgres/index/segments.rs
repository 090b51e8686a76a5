//! The tables of segments and blocks.

use super::RowKey;
use super::backlog::GroupId;
use super::format;
use crate::columns::read_id;
use crate::error::{Result, StoreError};
use crate::postgres::schema::index_segments;
use crate::postgres::statements::InsertBlocks;
use crate::schema::index_blocks;
use crate::search::merging::{Segments, segment_id, small};
use audit_domain::Month;
use audit_index::{Block, BlockId, BlockKind, Blocks, NamedBlock, Roots, Segment, WriteBlocks};
use diesel::dsl::{exists, select, sql};
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use std::collections::HashMap;

/// Blocks, for queries.
pub(crate) struct FoundBlocks<'a>(pub(crate) &'a mut PgConnection);

impl Blocks for FoundBlocks<'_> {
    type Error = StoreError;

    /// Each read is a round trip.
    const IS_REMOTE: bool = true;

    fn read(&mut self, block: BlockId) -> Result<Option<Block>> {
        let bytes = index_blocks::table.find(block.key()).select(index_blocks::bytes);
        let bytes: Option<Vec<u8>> = bytes.get_result(self.0).optional()?;
        Ok(bytes.map(|bytes| Block::check(block, bytes)).transpose()?)
    }

    fn read_all(&mut self, blocks: &[BlockId]) -> Result<Vec<NamedBlock>> {
        let by_key: HashMap<i64, BlockId> = blocks.iter().map(|block| (block.key(), *block)).collect();
        let keys: Vec<i64> = by_key.keys().copied().collect();
        let rows: Vec<(i64, Vec<u8>)> = index_blocks::table
            .filter(index_blocks::id.eq_any(keys))
            .load(self.0)?;
        let named = |(key, bytes)| {
            let block = *by_key.get(&key)?;
            Some(Block::check(block, bytes).map(|bytes| (block, bytes)))
        };
        Ok(rows.into_iter().filter_map(named).collect::<Result<_, _>>()?)
    }
}

/// The row of a segment.
#[derive(Queryable, Selectable)]
#[diesel(table_name = index_segments)]
pub(crate) struct SegmentRow {
    id: i64,
    level: i64,
    row_count: i64,
    first_occurred_at: i64,
    first_id: Vec<u8>,
    last_occurred_at: i64,
    last_id: Vec<u8>,
    leaves: i64,
    directories: i64,
    roots: Vec<u8>,
}

impl SegmentRow {
    pub(crate) fn read(self) -> Result<Segment<RowKey>> {
        let id_of = |bytes| Ok::<_, StoreError>(u128::from_be_bytes(read_id(bytes)?.to_bytes()));
        let segment = Segment {
            id: small(self.id)?,
            level: small(self.level)?,
            rows: small(self.row_count)?,
            first: (self.first_occurred_at, id_of(self.first_id)?),
            last: (self.last_occurred_at, id_of(self.last_id)?),
            leaves: small(self.leaves)?,
            directories: small(self.directories)?,
            roots: Roots::default(),
        };
        Ok(segment.with_stored_roots(&self.roots)?)
    }
}

/// Consecutive blocks that are read together: a merge reads those of a kind in their order.
const READ_AHEAD_BLOCKS: i64 = 16;
/// Blocks that are written together, in bytes.
const WRITTEN_BYTES_MAX: usize = 1 << 20;

/// Prefetched blocks of segments that are merged, by segment and kind.
#[derive(Debug, Default)]
pub(crate) struct ReadAhead(HashMap<(u32, BlockKind), BlockRun>);

/// Consecutive blocks.
#[derive(Debug)]
struct BlockRun {
    first: u32,
    blocks: Vec<Block>,
}

impl ReadAhead {
    fn get(&self, block: BlockId) -> Option<Block> {
        let run = self.0.get(&(block.segment, block.kind))?;
        let index = block.number.checked_sub(run.first)?;
        run.blocks.get(index as usize).cloned()
    }
}

/// The blocks and segments of a group, for the indexer.
pub(crate) struct WrittenBlocks<'a> {
    group: GroupId,
    connection: &'a mut PgConnection,
    ahead: &'a mut ReadAhead,
    keys: Vec<i64>,
    blocks: Vec<Vec<u8>>,
    bytes: usize,
}

impl<'a> WrittenBlocks<'a> {
    /// Changes the index of a group in a transaction, which fails where the index has another format.
    pub(crate) fn change<T>(
        group: GroupId,
        connection: &'a mut PgConnection,
        ahead: &mut ReadAhead,
        work: impl FnOnce(&mut WrittenBlocks<'_>) -> Result<T>,
    ) -> Result<T> {
        connection.transaction(|connection| {
            let mut blocks = WrittenBlocks {
                group,
                connection,
                ahead,
                keys: Vec::new(),
                blocks: Vec::new(),
                bytes: 0,
            };
            format::hold(blocks.connection)?;
            let outcome = work(&mut blocks)?;
            blocks.flush()?;
            Ok(outcome)
        })
    }

    /// The connection, to write other tables.
    pub(crate) fn connection(&mut self) -> &mut PgConnection {
        self.connection
    }

    fn flush(&mut self) -> Result<()> {
        if !self.keys.is_empty() {
            let insert = InsertBlocks {
                keys: std::mem::take(&mut self.keys),
                blocks: self.blocks.iter().map(Vec::as_slice).collect(),
            };
            insert.execute(self.connection)?;
            self.blocks.clear();
            self.bytes = 0;
        }
        Ok(())
    }
}

impl Blocks for WrittenBlocks<'_> {
    type Error = StoreError;

    fn read(&mut self, block: BlockId) -> Result<Option<Block>> {
        if let Some(bytes) = self.ahead.get(block) {
            return Ok(Some(bytes));
        }
        let key = block.key();
        if self.keys.contains(&key) {
            self.flush()?;
        }
        let rows: Vec<(i64, Vec<u8>)> = index_blocks::table
            .filter(index_blocks::id.ge(key))
            .filter(index_blocks::id.lt(key + READ_AHEAD_BLOCKS))
            .order(index_blocks::id)
            .load(self.connection)?;
        // Those that follow without a gap; further blocks are read when they are needed.
        let following = (block.number..)
            .map(|number| BlockId { number, ..block })
            .zip(rows)
            .take_while(|(block, (found, _))| block.key() == *found)
            .map(|(block, (_, bytes))| Block::check(block, bytes));
        let blocks: Vec<Block> = following.collect::<Result<_, _>>()?;
        let found = blocks.first().cloned();
        let run = BlockRun {
            first: block.number,
            blocks,
        };
        self.ahead.0.insert((block.segment, block.kind), run);
        Ok(found)
    }

    fn read_all(&mut self, blocks: &[BlockId]) -> Result<Vec<NamedBlock>> {
        self.flush()?;
        FoundBlocks(self.connection).read_all(blocks)
    }
}

impl WriteBlocks for WrittenBlocks<'_> {
    fn write(&mut self, block: BlockId, bytes: &[u8]) -> Result<()> {
        self.keys.push(block.key());
        self.blocks.push(bytes.to_vec());
        self.bytes += bytes.len();
        if self.bytes > WRITTEN_BYTES_MAX {
            self.flush()?;
        }
        Ok(())
    }
}

impl Segments for WrittenBlocks<'_> {
    type Id = RowKey;

    fn complete(&mut self) -> Result<Vec<(Month, Segment<RowKey>)>> {
        let rows: Vec<(i32, SegmentRow)> = index_segments::table
            .filter(index_segments::group_id.eq(self.group))
            .filter(index_segments::is_complete.eq(true))
            .select((index_segments::month, SegmentRow::as_select()))
            .load(self.connection)?;
        rows.into_iter()
            .map(|(month, row)| Ok((Month::from_number(month), row.read()?)))
            .collect()
    }

    /// A number can come again after its segment was merged or lost in a crash. Readers tell segments of one number apart by their
    /// marks.
    #[expect(clippy::disallowed_methods, reason = "once for each segment")]
    fn next_id(&mut self) -> Result<u32> {
        loop {
            let id: i64 = select(sql::<BigInt>("1 + floor(random() * 2147483647)::bigint"))
                .get_result(self.connection)?;
            let is_used = index_segments::table.filter(index_segments::id.eq(id));
            if !select(exists(is_used)).get_result(self.connection)? {
                return segment_id(id);
            }
        }
    }

    fn put(&mut self, month: Month, segment: &Segment<RowKey>, is_complete: bool) -> Result<()> {
        let [first_id, last_id] = [segment.first.1, segment.last.1].map(u128::to_be_bytes);
        let roots = segment.stored_roots();
        let values = (
            index_segments::level.eq(i64::from(segment.level)),
            index_segments::row_count.eq(i64::from(segment.rows)),
            index_segments::first_occurred_at.eq(segment.first.0),
            index_segments::first_id.eq(first_id.as_slice()),
            index_segments::last_occurred_at.eq(segment.last.0),
            index_segments::last_id.eq(last_id.as_slice()),
            index_segments::leaves.eq(i64::from(segment.leaves)),
            index_segments::directories.eq(i64::from(segment.directories)),
            index_segments::roots.eq(roots.as_slice()),
            index_segments::is_complete.eq(is_complete),
            index_segments::month.eq(month.number()),
        );
        diesel::insert_into(index_segments::table)
            .values((
                index_segments::group_id.eq(self.group),
                index_segments::id.eq(i64::from(segment.id)),
                values,
            ))
            .on_conflict((index_segments::group_id, index_segments::id))
            .do_update()
            .set(values)
            .execute(self.connection)?;
        Ok(())
    }

    fn is_unfinished(&mut self, id: u32) -> Result<bool> {
        let row = index_segments::table
            .find((self.group, i64::from(id)))
            .filter(index_segments::is_complete.eq(false));
        Ok(select(exists(row)).get_result(self.connection)?)
    }

    fn unfinished(&mut self) -> Result<Vec<i64>> {
        let unfinished = index_segments::table
            .filter(index_segments::group_id.eq(self.group))
            .filter(index_segments::is_complete.eq(false));
        Ok(unfinished.select(index_segments::id).load(self.connection)?)
    }

    fn remove(&mut self, id: u32) -> Result<()> {
        self.ahead.0.retain(|(segment, _), _| *segment != id);
        let keys = BlockId::keys_of(id);
        diesel::delete(
            index_blocks::table
                .filter(index_blocks::id.ge(keys.start))
                .filter(index_blocks::id.lt(keys.end)),
        )
        .execute(self.connection)?;
        diesel::delete(index_segments::table.find((self.group, i64::from(id)))).execute(self.connection)?;
        Ok(())
    }
}
