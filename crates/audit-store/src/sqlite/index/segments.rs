//! The tables of segments and blocks.

use crate::error::{Result, StoreError};
use crate::schema::index_blocks;
use crate::search::merging::{Segments, segment_id, small};
use crate::sqlite::schema::{index_segments, indexed};
use audit_domain::Month;
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
    month: i32,
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

    /// The complete segments.
    pub(crate) fn segments(&mut self) -> Result<Vec<Segment>> {
        self.complete_rows()?.into_iter().map(SegmentRow::read).collect()
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

    fn complete(&mut self) -> Result<Vec<(Month, Segment)>> {
        let rows = self.complete_rows()?.into_iter();
        rows.map(|row| Ok((Month::from_number(row.month), row.read()?)))
            .collect()
    }

    fn next_id(&mut self) -> Result<u32> {
        let id: i64 = diesel::update(indexed::table)
            .set(indexed::last_segment.eq(indexed::last_segment + 1))
            .returning(indexed::last_segment)
            .get_result(self.0)?;
        segment_id(id)
    }

    fn put(&mut self, month: Month, segment: &Segment, is_complete: bool) -> Result<()> {
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
                index_segments::month.eq(month.number()),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::merging::{Extent, GoneRow, Merging, RemovedRows, to_refresh};
    use crate::sqlite::index::TABLES;
    use audit_index::Term;
    use diesel::connection::SimpleConnection;
    use std::collections::{BTreeMap, BTreeSet};

    /// The number of segments of each month, and of their rows.
    fn months(index: &mut SqliteConnection) -> BTreeMap<i32, (usize, u32)> {
        let mut months = BTreeMap::new();
        for (month, segment) in SegmentBlocks(index).complete().unwrap() {
            let (segments, rows) = months.entry(month.number()).or_default();
            (*segments, *rows) = (*segments + 1, *rows + segment.rows);
            let ids = segment.ids(0..segment.rows, &mut SegmentBlocks(index)).unwrap();
            assert!(
                ids.iter().all(|id| id % 100 == i64::from(month.number())),
                "{month}: {ids:?}"
            );
        }
        months
    }

    /// Erased events, each with the number of the segment that has what remains of it.
    #[derive(Default)]
    struct Erased(BTreeMap<i64, i64>);

    impl Erased {
        fn rows(&self) -> Vec<GoneRow<i64>> {
            let rows = self.0.iter().map(|(id, fresh)| (*id, Some(*fresh)));
            rows.map(|(id, fresh)| GoneRow { id, fresh }).collect()
        }
    }

    impl RemovedRows<SegmentBlocks<'_>> for Erased {
        fn kept(&mut self, _: &mut SegmentBlocks<'_>) -> Result<BTreeSet<i64>> {
            Ok(self.0.values().copied().filter(|fresh| *fresh > 0).collect())
        }

        fn left_out(&mut self, _: &mut SegmentBlocks<'_>, _: Month, segment: &Segment) -> Result<Vec<i64>> {
            let own = self.0.range(segment.first..=segment.last);
            let own = own.filter(|(_, fresh)| **fresh != i64::from(segment.id));
            Ok(own.map(|(id, _)| *id).collect())
        }

        fn refresh(
            &mut self,
            segments: &mut SegmentBlocks<'_>,
            month: Month,
            left_out: &[i64],
        ) -> Result<()> {
            let rows = self.rows();
            let own = rows.into_iter().filter(|row| left_out.contains(&row.id));
            let wanted = to_refresh(own, segments)?;
            let rows: Vec<(i64, &str)> = wanted.iter().map(|id| (*id, "1c")).collect();
            let segment = segments.add_segment(month, &rows)?;
            self.0.extend(wanted.iter().map(|id| (*id, i64::from(segment))));
            Ok(())
        }
    }

    fn empty() -> SqliteConnection {
        let mut index = SqliteConnection::establish(":memory:").unwrap();
        index.batch_execute(TABLES).unwrap();
        index
            .batch_execute("INSERT INTO indexed VALUES (1, 0, 0, 0, 0)")
            .unwrap();
        index
    }

    fn merge(index: &mut SqliteConnection, extent: Extent) {
        let mut merging = Merging::default();
        while merging
            .step(7, extent, &mut SegmentBlocks(index), &mut Erased::default())
            .unwrap()
        {}
        let left: i64 = index_segments::table.count().get_result(index).unwrap();
        let complete = SegmentBlocks(index).complete().unwrap();
        assert_eq!(left as usize, complete.len(), "merged segments are removed");
    }

    #[test]
    fn segments_of_different_months_are_not_merged_and_past_months_have_one_in_the_end() {
        let mut index = empty();
        // In turns, as commits of ledgers whose months differ.
        for number in 0..10_i64 {
            for (month, segments) in [(41, 9), (42, 5), (43, 1), (44, 7)] {
                if number < segments {
                    // Rows of the months lie between each other.
                    let rows: Vec<i64> = (0..5).map(|row| (number * 5 + row) * 100 + month).collect();
                    let rows: Vec<(i64, &str)> = rows.iter().map(|row| (*row, "1a 1b")).collect();
                    let month = Month::from_number(month as i32);
                    SegmentBlocks(&mut index).add_segment(month, &rows).unwrap();
                }
            }
        }
        merge(&mut index, Extent::Levels);
        let of_levels = BTreeMap::from([(41, (2, 45)), (42, (5, 25)), (43, (1, 5)), (44, (7, 35))]);
        assert_eq!(months(&mut index), of_levels);
        merge(&mut index, Extent::PastMonths);
        let at_rest = BTreeMap::from([(41, (1, 45)), (42, (1, 25)), (43, (1, 5)), (44, (7, 35))]);
        assert_eq!(months(&mut index), at_rest);
    }

    #[test]
    fn what_remains_of_erased_events_takes_the_place_of_their_rows() {
        let mut index = empty();
        let month = Month::from_number(41);
        for (month, ids) in [(month, 0..5), (month, 5..10), (month.plus(1), 10..12)] {
            let rows: Vec<(i64, &str)> = ids.map(|id| (id, "1a 1b")).collect();
            SegmentBlocks(&mut index).add_segment(month, &rows).unwrap();
        }
        // One has the number of a segment of an index that was lost.
        let (mut merging, mut erased) = (Merging::default(), Erased([(3, 0), (7, 99)].into()));
        let mut rounds = 0..20;
        let is_done = rounds.any(|_| {
            let segments = &mut SegmentBlocks(&mut index);
            while merging
                .step(7, Extent::PastMonths, segments, &mut erased)
                .unwrap()
            {}
            let gone = erased.rows();
            merging.purge(month, &gone, segments, &mut erased).unwrap()
        });
        assert!(is_done, "each row is indexed anew once");
        assert_eq!(erased.0[&3], erased.0[&7]);
        let segments = SegmentBlocks(&mut index).segments().unwrap();
        assert_eq!(segments.iter().map(|segment| segment.rows).sum::<u32>(), 12);
        let mut found = |token: &str| {
            let (term, all) = (Term::is(token.to_owned()), i64::MIN..i64::MAX);
            audit_index::newest(&segments, &[term], &all, 99, &mut SegmentBlocks(&mut index)).unwrap()
        };
        assert_eq!(found("1c"), [7, 3]);
        assert_eq!(found("1a"), [11, 10, 9, 8, 6, 5, 4, 2, 1, 0]);
    }
}
