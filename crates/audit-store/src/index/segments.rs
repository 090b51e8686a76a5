//! Where the segments of the index are kept.

use crate::error::{Result, StoreError};
use crate::schema::sqlite::{index_blocks, index_segments, indexed};
use audit_index::{BlockId, Blocks, Segment, WriteBlocks};
use diesel::prelude::*;
use std::sync::Arc;

/// The blocks of all segments.
pub(crate) struct SegmentBlocks<'a>(pub(crate) &'a mut SqliteConnection);

impl Blocks for SegmentBlocks<'_> {
    type Error = StoreError;

    fn read(&mut self, block: BlockId) -> Result<Option<Arc<[u8]>>> {
        let bytes = index_blocks::table.find(block.key()).select(index_blocks::bytes);
        let bytes: Option<Vec<u8>> = bytes.get_result(self.0).optional()?;
        Ok(bytes.map(Arc::from))
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
}

/// A number of the list of segments.
fn small(number: i64) -> Result<u32> {
    u32::try_from(number).map_err(|_| StoreError::Damaged {
        what: "list of segments",
    })
}

impl SegmentRow {
    fn read(self) -> Result<Segment> {
        Ok(Segment {
            id: small(self.id)?,
            level: small(self.level)?,
            rows: small(self.row_count)?,
            first: self.first_position,
            last: self.last_position,
            leaves: small(self.leaves)?,
            directories: small(self.directories)?,
        })
    }
}

/// The segments that together have everything that is in the index.
pub(crate) fn complete(connection: &mut SqliteConnection) -> Result<Vec<Segment>> {
    let rows: Vec<SegmentRow> = index_segments::table
        .filter(index_segments::is_complete.eq(true))
        .select(SegmentRow::as_select())
        .load(connection)?;
    rows.into_iter().map(SegmentRow::read).collect()
}

/// Files rows, by position, as a segment of their own.
pub(crate) fn file(index: &mut SqliteConnection, rows: &[(i64, &str)]) -> Result<()> {
    let id = next_id(index)?;
    let segment = audit_index::file(rows, id, &mut SegmentBlocks(index))?;
    put(index, &segment, true)
}

/// A number that no segment has had.
pub(crate) fn next_id(index: &mut SqliteConnection) -> Result<u32> {
    let id: i64 = diesel::update(indexed::table)
        .set(indexed::last_segment.eq(indexed::last_segment + 1))
        .returning(indexed::last_segment)
        .get_result(index)?;
    let in_range = i32::try_from(id).ok().map(i32::unsigned_abs);
    in_range.ok_or(StoreError::Damaged {
        what: "number of the last segment",
    })
}

/// Adds a segment to the list, or what will be one.
pub(crate) fn put(index: &mut SqliteConnection, segment: &Segment, is_complete: bool) -> Result<()> {
    diesel::replace_into(index_segments::table)
        .values((
            index_segments::id.eq(i64::from(segment.id)),
            index_segments::level.eq(i64::from(segment.level)),
            index_segments::row_count.eq(i64::from(segment.rows)),
            index_segments::first_position.eq(segment.first),
            index_segments::last_position.eq(segment.last),
            index_segments::leaves.eq(i64::from(segment.leaves)),
            index_segments::directories.eq(i64::from(segment.directories)),
            index_segments::is_complete.eq(is_complete),
        ))
        .execute(index)?;
    Ok(())
}

/// Whether a segment that is being made is still on the list.
pub(crate) fn is_being_made(index: &mut SqliteConnection, id: u32) -> Result<bool> {
    let row = index_segments::table
        .find(i64::from(id))
        .filter(index_segments::is_complete.eq(false));
    Ok(diesel::select(diesel::dsl::exists(row)).get_result(index)?)
}

/// Takes a segment off the list, with its blocks.
pub(crate) fn remove(index: &mut SqliteConnection, id: u32) -> Result<()> {
    let keys = BlockId::keys_of(id);
    diesel::delete(
        index_blocks::table
            .filter(index_blocks::id.ge(keys.start))
            .filter(index_blocks::id.lt(keys.end)),
    )
    .execute(index)?;
    diesel::delete(index_segments::table.find(i64::from(id))).execute(index)?;
    Ok(())
}

/// Takes off what was being made. Another process that is at it finds out, and begins anew.
pub(crate) fn remove_unfinished(index: &mut SqliteConnection) -> Result<()> {
    let unfinished: Vec<i64> = index_segments::table
        .filter(index_segments::is_complete.eq(false))
        .select(index_segments::id)
        .load(index)?;
    for id in unfinished {
        remove(index, small(id)?)?;
    }
    Ok(())
}
