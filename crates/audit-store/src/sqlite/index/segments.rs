//! The tables of segments and blocks.

use crate::error::{Result, StoreError};
use crate::schema::index_blocks;
use crate::search::merging::{Segments, segment_id, small};
use crate::sqlite::schema::{index_segments, indexed};
use audit_index::{Block, BlockId, Blocks, Damaged, Roots, Segment, WriteBlocks};
use diesel::prelude::*;

/// The segments of the index, with their blocks.
pub(crate) struct SegmentBlocks<'a>(pub(crate) &'a mut SqliteConnection);

impl Blocks for SegmentBlocks<'_> {
    type Error = StoreError;

    fn read(&mut self, block: BlockId) -> Result<Option<Block>> {
        let bytes = index_blocks::table.find(block.key()).select(index_blocks::bytes);
        let bytes: Option<Vec<u8>> = bytes.get_result(self.0).optional()?;
        Ok(bytes.map(|bytes| Block::check(block, bytes)).transpose()?)
    }
}

impl WriteBlocks for SegmentBlocks<'_> {
    fn write(&mut self, block: BlockId, bytes: &[u8]) -> Result<()> {
        diesel::insert_into(index_blocks::table)
            .values((index_blocks::id.eq(block.key()), index_blocks::bytes.eq(bytes)))
            .execute(self.0)?;
        Ok(())
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = index_segments)]
struct SegmentRow {
    id: i64,
    level: i64,
    row_count: i64,
    first_position: i64,
    last_position: i64,
    leaves: i64,
    directories: i64,
    roots: Vec<u8>,
}

impl SegmentRow {
    fn read(self) -> Result<Segment> {
        let segment = Segment {
            id: small(self.id)?,
            level: small(self.level)?,
            rows: small(self.row_count)?,
            first: self.first_position,
            last: self.last_position,
            leaves: small(self.leaves)?,
            directories: small(self.directories)?,
            roots: Roots::default(),
        };
        Ok(segment.with_stored_roots(&self.roots)?)
    }
}

impl SegmentBlocks<'_> {
    fn complete_rows(&mut self) -> Result<Vec<SegmentRow>> {
        Ok(index_segments::table
            .filter(index_segments::is_complete.eq(true))
            .select(SegmentRow::as_select())
            .load(self.0)?)
    }

    /// The complete segments, with an error in place of a damaged one.
    pub(crate) fn complete_or_damaged(&mut self) -> Result<Vec<Result<Segment, Damaged>>> {
        let read = |row: SegmentRow| match row.read() {
            Ok(segment) => Ok(Ok(segment)),
            Err(StoreError::DamagedIndex(damaged)) => Ok(Err(damaged)),
            Err(StoreError::Damaged { what }) => Ok(Err(Damaged { place: None, what })),
            Err(error) => Err(error),
        };
        self.complete_rows()?.into_iter().map(read).collect()
    }
}

impl Segments for SegmentBlocks<'_> {
    type Id = i64;

    fn complete(&mut self) -> Result<Vec<Segment>> {
        self.complete_rows()?.into_iter().map(SegmentRow::read).collect()
    }

    fn next_id(&mut self) -> Result<u32> {
        let id: i64 = diesel::update(indexed::table)
            .set(indexed::last_segment.eq(indexed::last_segment + 1))
            .returning(indexed::last_segment)
            .get_result(self.0)?;
        segment_id(id)
    }

    fn put(&mut self, segment: &Segment, is_complete: bool) -> Result<()> {
        diesel::replace_into(index_segments::table)
            .values((
                index_segments::id.eq(i64::from(segment.id)),
                index_segments::level.eq(i64::from(segment.level)),
                index_segments::row_count.eq(i64::from(segment.rows)),
                index_segments::first_position.eq(segment.first),
                index_segments::last_position.eq(segment.last),
                index_segments::leaves.eq(i64::from(segment.leaves)),
                index_segments::directories.eq(i64::from(segment.directories)),
                index_segments::roots.eq(segment.stored_roots()),
                index_segments::is_complete.eq(is_complete),
            ))
            .execute(self.0)?;
        Ok(())
    }

    fn is_unfinished(&mut self, id: u32) -> Result<bool> {
        let row = index_segments::table
            .find(i64::from(id))
            .filter(index_segments::is_complete.eq(false));
        Ok(diesel::select(diesel::dsl::exists(row)).get_result(self.0)?)
    }

    fn unfinished(&mut self) -> Result<Vec<i64>> {
        let unfinished = index_segments::table.filter(index_segments::is_complete.eq(false));
        Ok(unfinished.select(index_segments::id).load(self.0)?)
    }

    fn remove(&mut self, id: u32) -> Result<()> {
        let keys = BlockId::keys_of(id);
        diesel::delete(
            index_blocks::table
                .filter(index_blocks::id.ge(keys.start))
                .filter(index_blocks::id.lt(keys.end)),
        )
        .execute(self.0)?;
        diesel::delete(index_segments::table.find(i64::from(id))).execute(self.0)?;
        Ok(())
    }
}
