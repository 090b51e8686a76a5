//! The most frequent tokens of the rows that match a query, without reading the rows.

use crate::bitmap::{Bitmap, chunk_of, first_of, low};
use crate::blocks::{BlockId, Blocks, PREFETCH_BLOCKS_MAX};
use crate::cursor::{self, DictionaryCursor, TokenRows};
use crate::ids::IdReader;
use crate::postings::{Postings, for_each_delta};
use crate::row_id::RowId;
use crate::search::{PREFETCH_LOOKUPS_MAX, SegmentMatches};
use crate::segment::Segment;
use crate::term::{Lookup, Term};
use std::collections::HashMap;
use std::ops::Range;

/// Segments whose matches are in memory together, at most: 256 KiB each.
const WINDOWS_MAX: usize = 12;
/// Posted lists whose blocks are prefetched together.
const PREFETCHED_LISTS: usize = 64;

/// The numbers of matching rows by token, of some tokens.
#[derive(Debug)]
pub struct TokenCounts<I>(HashMap<Vec<u8>, Counted<I>, foldhash::fast::RandomState>);

impl<I> Default for TokenCounts<I> {
    fn default() -> Self {
        Self(HashMap::default())
    }
}

/// The rows that have a token.
#[derive(Clone, Copy, Debug)]
struct Counted<I> {
    count: u64,
    example: Example<I>,
}

/// One of the rows.
#[derive(Clone, Copy, Debug)]
enum Example<I> {
    Id(I),
    /// The position of its segment in the list of segments, and the row.
    Row(usize, u32),
}

/// A token, the number of rows that have it, and one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrequentToken<I> {
    /// The token.
    pub token: Vec<u8>,
    /// How many rows have it.
    pub count: u64,
    /// A row that has it.
    pub row: I,
}

impl<I: RowId> TokenCounts<I> {
    /// Adds a token of a row that is in no segment.
    pub fn add(&mut self, token: &str, row: I) {
        self.add_rows(token.as_bytes(), 1, Example::Id(row));
    }

    fn add_rows(&mut self, token: &[u8], count: u64, example: Example<I>) {
        match self.0.get_mut(token) {
            Some(counted) => counted.count += count,
            None => drop(self.0.insert(token.to_vec(), Counted { count, example })),
        }
    }

    /// The `wanted` most frequent tokens, the most frequent one first; equally frequent ones in the order of their bytes. `segments` are
    /// those that were counted.
    ///
    /// # Errors
    /// If a block cannot be read, or is damaged.
    pub fn most_frequent<B: Blocks>(
        self,
        wanted: usize,
        segments: &[Segment<I>],
        blocks: &mut B,
    ) -> Result<Vec<FrequentToken<I>>, B::Error> {
        let mut all: Vec<(Vec<u8>, Counted<I>)> = self.0.into_iter().collect();
        all.sort_unstable_by(|(one, of_one), (other, of_other)| {
            of_other.count.cmp(&of_one.count).then_with(|| one.cmp(other))
        });
        all.truncate(wanted);
        let mut found = Vec::with_capacity(all.len());
        for (token, Counted { count, example }) in all {
            let row = match example {
                Example::Id(id) => id,
                Example::Row(segment, row) => IdReader::new(&segments[segment]).id(row, blocks)?,
            };
            found.push(FrequentToken { token, count, row });
        }
        Ok(found)
    }
}

/// Counts the rows within `range` that match all `terms` by their tokens: for each of `wanted`, by the tokens that it finds. `terms` is
/// not empty, and no text of a wanted term is the beginning of another one. No row is in two segments.
///
/// # Errors
/// If a block cannot be read, or is damaged.
pub fn count_tokens<I: RowId, B: Blocks>(
    segments: &[Segment<I>],
    terms: &[Term],
    range: &Range<I>,
    wanted: &[Term],
    blocks: &mut B,
) -> Result<Vec<TokenCounts<I>>, B::Error> {
    let mut counts: Vec<TokenCounts<I>> = wanted.iter().map(|_| TokenCounts::default()).collect();
    let lookups: Vec<Lookup<'_>> = wanted.iter().flat_map(Term::lookups).collect();
    let overlapping: Vec<(usize, &Segment<I>)> = segments
        .iter()
        .enumerate()
        .filter(|(_, segment)| segment.overlaps(range))
        .collect();
    let batch = (PREFETCH_LOOKUPS_MAX / lookups.len().max(1)).clamp(1, WINDOWS_MAX);
    for batch in overlapping.chunks(batch) {
        let mut windows = Vec::with_capacity(batch.len());
        for (number, segment) in batch {
            let window = Window::of(segment, *number, terms, range, blocks)?;
            windows.extend(window.map(|window| (*segment, window)));
        }
        if B::IS_REMOTE {
            let segments = windows.iter().map(|(segment, _)| *segment);
            cursor::prefetch(segments, &lookups, blocks)?;
        }
        for (segment, window) in &windows {
            for (term, counts) in wanted.iter().zip(&mut counts) {
                for lookup in term.lookups() {
                    window.count(segment, lookup, counts, blocks)?;
                }
            }
        }
    }
    Ok(counts)
}

/// The matches in a segment, at least one.
struct Window {
    /// The position of the segment in the list of segments.
    segment: usize,
    /// The first chunk that can have matches.
    first: u32,
    /// The matches in this chunk and in those behind it.
    chunks: Vec<Option<Bitmap>>,
}

impl Window {
    /// The matches in a segment, if there are any.
    fn of<I: RowId, B: Blocks>(
        segment: &Segment<I>,
        number: usize,
        terms: &[Term],
        range: &Range<I>,
        blocks: &mut B,
    ) -> Result<Option<Self>, B::Error> {
        let mut matches = SegmentMatches::open(segment, terms, range, 0, blocks)?;
        let all = matches.chunks();
        let mut chunks = vec![None; all.len()];
        for (chunk, found) in all.clone().zip(&mut chunks).rev() {
            *found = matches.matches_in(chunk, blocks)?.cloned();
        }
        Ok(chunks.iter().any(Option::is_some).then_some(Self {
            segment: number,
            first: all.start,
            chunks,
        }))
    }

    /// The chunks that have matches.
    fn chunks(&self) -> impl Iterator<Item = (u32, &Bitmap)> {
        let chunks = (self.first..).zip(&self.chunks);
        chunks.filter_map(|(chunk, found)| Some((chunk, found.as_ref()?)))
    }

    fn has(&self, row: u32) -> bool {
        let index = chunk_of(row).wrapping_sub(self.first) as usize;
        let found = self.chunks.get(index).and_then(Option::as_ref);
        found.is_some_and(|found| found.has(low(row)))
    }

    /// Counts the matches by the tokens that `lookup` finds.
    fn count<I: RowId, B: Blocks>(
        &self,
        segment: &Segment<I>,
        lookup: Lookup<'_>,
        counts: &mut TokenCounts<I>,
        blocks: &mut B,
    ) -> Result<(), B::Error> {
        let mut posted = Vec::new();
        let mut cursor = DictionaryCursor::walk(segment, lookup, blocks)?;
        while cursor.advance(blocks)? && !lookup.ends_before(cursor.token()) {
            match cursor.rows() {
                _ if !lookup.finds(cursor.token()) => {}
                TokenRows::Inline(deltas) => {
                    let (mut count, mut last) = (0, 0);
                    for_each_delta(deltas, |row| {
                        if self.has(row) {
                            (count, last) = (count + 1, row);
                        }
                    })?;
                    if count > 0 {
                        counts.add_rows(cursor.token(), count, Example::Row(self.segment, last));
                    }
                }
                TokenRows::Posted(block_refs) => {
                    posted.push((cursor.token().to_vec(), Postings::open(segment.id, block_refs)?));
                    if posted.len() == PREFETCHED_LISTS {
                        self.count_posted(&mut posted, counts, blocks)?;
                    }
                }
            }
        }
        self.count_posted(&mut posted, counts, blocks)
    }

    /// Counts the rows of posted lists, and removes these.
    fn count_posted<I: RowId, B: Blocks>(
        &self,
        posted: &mut Vec<(Vec<u8>, Postings)>,
        counts: &mut TokenCounts<I>,
        blocks: &mut B,
    ) -> Result<(), B::Error> {
        if B::IS_REMOTE {
            let chunks = || self.chunks().map(|(chunk, _)| chunk..=chunk);
            let expected = posted
                .iter()
                .flat_map(|(_, postings)| chunks().flat_map(|chunk| postings.blocks_of(chunk)));
            let mut expected: Vec<BlockId> = expected.collect();
            expected.dedup();
            for expected in expected.chunks(PREFETCH_BLOCKS_MAX) {
                blocks.prefetch(expected)?;
            }
        }
        for (token, mut postings) in posted.drain(..) {
            let (mut count, mut last) = (0, None);
            for (chunk, found) in self.chunks() {
                let visit = |row: u16| (count, last) = (count + 1, Some(first_of(chunk) + u32::from(row)));
                postings.for_each_common(chunk, found, visit, blocks)?;
            }
            if let Some(last) = last {
                counts.add_rows(&token, count, Example::Row(self.segment, last));
            }
        }
        Ok(())
    }
}
