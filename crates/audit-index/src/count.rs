//! Counting the rows that match a query, by part of the range and by further tokens, without reading them.
//!
//! A segment numbers its rows in the order of their ids, so the rows between two ids are a range of row numbers, and their
//! matches are the bits of that range in the bitmaps of the matches.

use crate::bitmap::{Bitmap, CHUNK_ROWS, first_of};
use crate::blocks::{Blocks, PREFETCH_BLOCKS_MAX};
use crate::cursor;
use crate::row_id::RowId;
use crate::search::{PREFETCH_LOOKUPS_MAX, SegmentMatches, TermPostings};
use crate::segment::Segment;
use crate::term::{Lookup, Term};
use std::ops::Range;

/// Matches of a segment whose ids are read to count them, at most. The ids of more cost more than the binary searches for the
/// bounds of the parts.
const READ_IDS_MAX: usize = 256;
/// Chunks whose postings of split terms are prefetched together.
const PREFETCHED_CHUNKS: u32 = 16;

/// Numbers of matching rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// The matches, by part.
    pub all: Vec<u64>,
    /// The matches that also match a split term, by split term and part.
    pub split: Vec<Vec<u64>>,
}

impl Counts {
    /// No matches, in this number of parts.
    #[must_use]
    pub fn none(parts: usize, splits: usize) -> Self {
        Self {
            all: vec![0; parts],
            split: vec![vec![0; parts]; splits],
        }
    }

    /// The series of all matches is 0, and that of split term `n` is `n + 1`.
    fn series(&mut self, number: usize) -> &mut Vec<u64> {
        match number.checked_sub(1) {
            None => &mut self.all,
            Some(split) => &mut self.split[split],
        }
    }
}

/// The part of an id: the number of the last bound that is not above it.
#[must_use]
pub fn part_of<I: RowId>(bounds: &[I], id: I) -> usize {
    let parts = bounds.len().saturating_sub(1);
    let not_above = bounds.partition_point(|bound| *bound <= id);
    not_above.saturating_sub(1).min(parts.saturating_sub(1))
}

/// Counts the rows that match all `terms`. Part `n` has the rows from bound `n` to before bound `n + 1`; rows outside of all
/// parts are not counted. `bounds` ascend, and `terms` is not empty. No row is in two segments, and [`first_wide`](crate::first_wide) finds no term.
///
/// # Errors
/// If a block cannot be read, or is damaged.
pub fn count<I: RowId, B: Blocks>(
    segments: &[Segment<I>],
    terms: &[Term],
    bounds: &[I],
    splits: &[Term],
    blocks: &mut B,
) -> Result<Counts, B::Error> {
    let mut counts = Counts::none(bounds.len().saturating_sub(1), splits.len());
    let [first, .., last] = bounds else {
        return Ok(counts);
    };
    let range = *first..*last;
    let lookups: Vec<Lookup<'_>> = terms.iter().chain(splits).flat_map(Term::lookups).collect();
    let query = Query {
        terms,
        bounds,
        splits,
        range: &range,
    };
    let overlapping: Vec<&Segment<I>> = segments
        .iter()
        .filter(|segment| segment.overlaps(&range))
        .collect();
    for batch in overlapping.chunks((PREFETCH_LOOKUPS_MAX / lookups.len().max(1)).max(1)) {
        if B::IS_REMOTE {
            cursor::prefetch(batch.iter().copied(), &lookups, blocks)?;
        }
        for segment in batch {
            query.count_segment(segment, &mut counts, blocks)?;
        }
    }
    Ok(counts)
}

/// What is counted.
struct Query<'a, I> {
    terms: &'a [Term],
    bounds: &'a [I],
    splits: &'a [Term],
    /// From the first bound to the last.
    range: &'a Range<I>,
}

impl<I: RowId> Query<'_, I> {
    fn count_segment<B: Blocks>(
        &self,
        segment: &Segment<I>,
        counts: &mut Counts,
        blocks: &mut B,
    ) -> Result<(), B::Error> {
        let mut matches = SegmentMatches::open(segment, self.terms, self.range, 0, blocks)?;
        let mut parts = Parts::of(segment, self.bounds);
        let mut splits: Option<Vec<TermPostings>> = None;
        let mut both = Bitmap::new(segment.rows);
        let chunks = matches.chunks();
        let mut prefetched = chunks.end;
        for chunk in chunks.clone().rev() {
            let Some(found) = matches.matches_in(chunk, blocks)? else {
                continue;
            };
            let found = found.clone();
            parts.add(0, chunk, &found, &mut matches, counts, blocks)?;
            let splits = match &mut splits {
                Some(splits) => splits,
                None => {
                    let read = |term| TermPostings::read(segment, term, blocks);
                    splits.insert(self.splits.iter().map(read).collect::<Result<_, _>>()?)
                }
            };
            if B::IS_REMOTE && chunk < prefetched {
                prefetched = (chunk + 1).saturating_sub(PREFETCHED_CHUNKS).max(chunks.start);
                prefetch(splits, prefetched..chunk + 1, blocks)?;
            }
            for (number, split) in splits.iter_mut().enumerate() {
                both.clear();
                split.add_chunk(chunk, &mut both, blocks)?;
                both.intersect(&found);
                parts.add(number + 1, chunk, &both, &mut matches, counts, blocks)?;
            }
        }
        parts.finish(&mut matches, counts, blocks)
    }
}

fn prefetch<B: Blocks>(splits: &[TermPostings], chunks: Range<u32>, blocks: &mut B) -> Result<(), B::Error> {
    let expected = splits
        .iter()
        .flat_map(|split| split.blocks_of(chunks.start..=chunks.end - 1));
    let expected: Vec<_> = expected.collect();
    for expected in expected.chunks(PREFETCH_BLOCKS_MAX) {
        blocks.prefetch(expected)?;
    }
    Ok(())
}

/// Distributes the matches of a segment to the parts.
struct Parts<'a, I> {
    bounds: &'a [I],
    /// The part of all rows within the range, if it is the same for all.
    only: Option<usize>,
    /// Matches whose part is not known yet, each with its series.
    unread: Vec<(u32, usize)>,
    /// The row at which each part begins, and the end of the last one, once there are too many matches to read their ids.
    starts: Option<Vec<u32>>,
}

impl<'a, I: RowId> Parts<'a, I> {
    fn of(segment: &Segment<I>, bounds: &'a [I]) -> Self {
        let (first, last) = (part_of(bounds, segment.first), part_of(bounds, segment.last));
        Self {
            bounds,
            only: (first == last).then_some(first),
            unread: Vec::new(),
            starts: None,
        }
    }

    fn add<B: Blocks>(
        &mut self,
        series: usize,
        chunk: u32,
        found: &Bitmap,
        matches: &mut SegmentMatches<I>,
        counts: &mut Counts,
        blocks: &mut B,
    ) -> Result<(), B::Error> {
        let count = found.count();
        if count == 0 {
            return Ok(());
        }
        if let Some(part) = self.only {
            counts.series(series)[part] += count;
            return Ok(());
        }
        if self.starts.is_none() {
            if self.unread.len() as u64 + count <= READ_IDS_MAX as u64 {
                let rows = found.rows().map(|low| first_of(chunk) + u32::from(low));
                self.unread.extend(rows.map(|row| (row, series)));
                return Ok(());
            }
            self.starts = Some(matches.ids().rows_below_each(self.bounds, blocks)?);
        }
        let first = first_of(chunk);
        let starts = self.starts.as_deref().unwrap_or_default();
        let begins = starts.partition_point(|start| *start <= first).saturating_sub(1);
        for (part, of_part) in starts.windows(2).enumerate().skip(begins) {
            let rows = of_part[0].saturating_sub(first)..of_part[1].saturating_sub(first);
            if rows.start >= CHUNK_ROWS {
                break;
            }
            counts.series(series)[part] += found.count_in(rows);
        }
        Ok(())
    }

    /// Counts the matches whose part is not known yet.
    fn finish<B: Blocks>(
        mut self,
        matches: &mut SegmentMatches<I>,
        counts: &mut Counts,
        blocks: &mut B,
    ) -> Result<(), B::Error> {
        self.unread.sort_unstable();
        if self.starts.is_none() && B::IS_REMOTE {
            let rows = self.unread.iter().map(|(row, _)| *row);
            let rows: Vec<u32> = rows.collect();
            for rows in rows.chunks(PREFETCH_BLOCKS_MAX) {
                matches.ids().prefetch(rows.iter().copied(), blocks)?;
            }
        }
        for (row, series) in self.unread {
            let part = match &self.starts {
                Some(starts) => part_of_row(starts, row),
                None => part_of(self.bounds, matches.ids().id(row, blocks)?),
            };
            counts.series(series)[part] += 1;
        }
        Ok(())
    }
}

/// The last part that begins at the row or before it, of parts that may be empty.
fn part_of_row(starts: &[u32], row: u32) -> usize {
    starts.partition_point(|start| *start <= row).saturating_sub(1)
}
