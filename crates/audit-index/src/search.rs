//! Queries.

use crate::bitmap::{Bitmap, chunk_of, first_of, low};
use crate::blocks::{BlockId, Blocks, PREFETCH_BLOCKS_MAX};
use crate::cursor::{self, DictionaryCursor, TokenRows};
use crate::disjoint::DisjointReader;
use crate::ids::IdReader;
use crate::postings::{Postings, for_each_delta};
use crate::row_id::RowId;
use crate::segment::Segment;
use crate::term::{Lookup, Term};
use crate::wide::is_wide;
use std::ops::{Range, RangeInclusive};

/// The `wanted` highest ids within `range` of rows that match all `terms`, descending. `terms` is not empty. With a
/// [`Term::BoundedPrefix`] there may be others among them, unless [`first_wide`](crate::first_wide) finds none.
///
/// # Errors
/// If a block cannot be read, or is damaged.
pub fn newest<I: RowId, B: Blocks>(
    segments: &[Segment<I>],
    terms: &[Term],
    range: &Range<I>,
    wanted: usize,
    blocks: &mut B,
) -> Result<Vec<I>, B::Error> {
    // Sorted by highest id, the highest last. A segment is opened only when its highest id may be the next result.
    let mut unopened: Vec<&Segment<I>> = segments
        .iter()
        .filter(|segment| segment.overlaps(range))
        .collect();
    unopened.sort_unstable_by_key(|segment| segment.last);
    let mut opened: Vec<(I, SegmentMatches<I>)> = Vec::new();
    let lookups: Vec<Lookup<'_>> = terms.iter().flat_map(Term::lookups).collect();
    let mut ahead = PrefetchAhead::default();
    let mut newest = Vec::new();
    while newest.len() < wanted {
        let mut best = index_of_highest(&opened);
        while let Some(segment) =
            unopened.pop_if(|segment| best.is_none_or(|best| segment.last > opened[best].0))
        {
            if B::IS_REMOTE {
                ahead.before(segment, &unopened, &lookups, blocks)?;
            }
            let mut found = SegmentMatches::open(segment, terms, range, wanted, blocks)?;
            if let Some(id) = found.next(blocks)? {
                opened.push((id, found));
                best = index_of_highest(&opened);
            }
        }
        let Some(best) = best else { break };
        let (id, found) = &mut opened[best];
        // A row that is in two segments is returned once.
        if newest.last() != Some(id) {
            newest.push(*id);
        }
        match found.next(blocks)? {
            Some(next) => *id = next,
            None => drop(opened.swap_remove(best)),
        }
    }
    Ok(newest)
}

fn index_of_highest<I: RowId>(opened: &[(I, SegmentMatches<I>)]) -> Option<usize> {
    let highest = opened.iter().enumerate().max_by_key(|(_, (id, _))| *id);
    highest.map(|(index, _)| index)
}

/// Look-ups in segments whose blocks are prefetched together, at most. They have two blocks each: half a MiB, so that concurrent
/// queries do not evict each other's from a cache of a few MiB, and a query that ends early has read little in vain.
pub(crate) const PREFETCH_LOOKUPS_MAX: usize = 64;

/// Prefetches the dictionary blocks of segments, some segments at a time.
#[derive(Debug, Default)]
struct PrefetchAhead {
    /// Whether the first segment was opened.
    is_begun: bool,
    /// The number of segments that come next and are prefetched.
    segments: usize,
}

impl PrefetchAhead {
    /// Prepares to open `segment`; `unopened` are opened afterwards, the last one first.
    fn before<I, B: Blocks>(
        &mut self,
        segment: &Segment<I>,
        unopened: &[&Segment<I>],
        lookups: &[Lookup<'_>],
        blocks: &mut B,
    ) -> Result<(), B::Error> {
        if self.segments == 0 {
            // One segment is often sufficient. If it is not, all others may be needed.
            let segments_max = match std::mem::replace(&mut self.is_begun, true) {
                false => 1,
                true => (PREFETCH_LOOKUPS_MAX / lookups.len().max(1)).max(1),
            };
            let following = unopened.iter().rev().copied();
            let batch = std::iter::once(segment).chain(following).take(segments_max);
            cursor::prefetch(batch, lookups, blocks)?;
            self.segments = segments_max;
        }
        self.segments -= 1;
        Ok(())
    }
}

/// The posting lists of one term in one segment.
#[derive(Debug, Default)]
pub(crate) struct TermPostings {
    /// The rows of all inline lists, ascending.
    few: Vec<u32>,
    /// The posted lists.
    many: Vec<Postings>,
}

impl TermPostings {
    pub(crate) fn read<I, B: Blocks>(
        segment: &Segment<I>,
        term: &Term,
        blocks: &mut B,
    ) -> Result<Self, B::Error> {
        let all;
        let term = match term {
            Term::BoundedPrefix { otherwise, .. } if is_wide(segment, term, blocks)? => {
                all = Term::AnyOf(otherwise.clone());
                &all
            }
            _ => term,
        };
        let mut postings = Self::default();
        for lookup in term.lookups() {
            let mut cursor = DictionaryCursor::to(segment, lookup, blocks)?;
            while cursor.advance(blocks)? && !lookup.ends_before(cursor.token()) {
                if lookup.finds(cursor.token()) {
                    postings.add(segment, cursor.rows())?;
                }
            }
        }
        postings.few.sort_unstable();
        Ok(postings)
    }

    fn add<I>(&mut self, segment: &Segment<I>, rows: TokenRows<'_>) -> Result<(), crate::Damaged> {
        match rows {
            TokenRows::Inline(deltas) => for_each_delta(deltas, |row| self.few.push(row)),
            TokenRows::Posted(block_refs) => {
                self.many.push(Postings::open(segment.id, block_refs)?);
                Ok(())
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.few.is_empty() && self.many.is_empty()
    }

    /// The numbers of the posted lists, if there are any and all of them are dense.
    fn dense(&self) -> Option<Vec<u32>> {
        let numbers: Option<Vec<u32>> = self.many.iter().map(Postings::dense).collect();
        numbers.filter(|numbers| !numbers.is_empty())
    }

    /// The rows of the inline lists within a chunk.
    fn few_in(&self, chunk: u32) -> &[u32] {
        let start = self.few.partition_point(|row| chunk_of(*row) < chunk);
        let rest = &self.few[start..];
        &rest[..rest.partition_point(|row| chunk_of(*row) == chunk)]
    }

    /// The blocks that have its rows in these chunks.
    pub(crate) fn blocks_of(&self, chunks: RangeInclusive<u32>) -> impl Iterator<Item = BlockId> {
        self.many
            .iter()
            .flat_map(move |postings| postings.blocks_of(chunks.clone()))
    }

    /// Adds its rows within a chunk to `bits`.
    pub(crate) fn add_chunk<B: Blocks>(
        &mut self,
        chunk: u32,
        bits: &mut Bitmap,
        blocks: &mut B,
    ) -> Result<(), B::Error> {
        for row in self.few_in(chunk) {
            bits.insert(low(*row));
        }
        for postings in &mut self.many {
            postings.add_chunk(chunk, bits, blocks)?;
        }
        Ok(())
    }
}

/// An iterator over the matches in one segment, highest id first.
#[derive(Debug)]
pub(crate) struct SegmentMatches<I> {
    ids: IdReader<I>,
    terms: Vec<TermPostings>,
    /// The rows not yet visited.
    rows: Range<u32>,
    /// The most results that the query returns.
    wanted: usize,
    /// The chunk whose matches are in `found`.
    chunk: Option<u32>,
    /// Terms by index, two at a time, whose posted lists have no row in common. `None` until it is read.
    disjoint: Option<Vec<[usize; 2]>>,
    disjoint_reader: DisjointReader,
    /// The chunk that was prefetched first, and whether the others were, too.
    prefetched: Option<(u32, bool)>,
    /// The number of the next matches whose ids were prefetched.
    ids_prefetched: usize,
    found: Bitmap,
    other: Bitmap,
}

impl<I: RowId> SegmentMatches<I> {
    pub(crate) fn open<B: Blocks>(
        segment: &Segment<I>,
        terms: &[Term],
        range: &Range<I>,
        wanted: usize,
        blocks: &mut B,
    ) -> Result<Self, B::Error> {
        let mut rows = 0..segment.rows;
        let mut postings = Vec::with_capacity(terms.len());
        // The cheapest lookups come first, because an empty one ends the query.
        let mut terms: Vec<&Term> = terms.iter().collect();
        terms.sort_by_key(|term| match term {
            Term::AnyOf(tokens) => (false, tokens.len()),
            Term::Prefix(prefixes) | Term::BoundedPrefix { prefixes, .. } => (true, prefixes.len()),
        });
        for term in terms {
            if rows.is_empty() {
                break;
            }
            let of_term = TermPostings::read(segment, term, blocks)?;
            if of_term.is_empty() {
                rows = 0..0;
            } else if of_term.many.is_empty() {
                // No row outside of these can match.
                rows.start = rows.start.max(of_term.few[0]);
                rows.end = rows.end.min(of_term.few[of_term.few.len() - 1] + 1);
            }
            postings.push(of_term);
        }
        // The range is looked up last: in a segment without a match it reads nothing.
        let mut ids = IdReader::new(segment);
        if !rows.is_empty() {
            let below = ids.rows_below_each(&[range.start, range.end.max(range.start)], blocks)?;
            rows.start = rows.start.max(below[0]);
            rows.end = rows.end.min(below[1]);
        }
        // The most selective term comes first.
        postings.sort_by_key(|term| (!term.many.is_empty(), term.few.len()));
        // The postings of one chunk cost as much as what would rule them out.
        let is_one_chunk = rows.is_empty() || chunk_of(rows.start) == chunk_of(rows.end - 1);
        Ok(Self {
            ids,
            terms: postings,
            rows,
            wanted,
            chunk: None,
            disjoint: is_one_chunk.then(Vec::new),
            disjoint_reader: DisjointReader::new(segment.id),
            prefetched: None,
            ids_prefetched: 0,
            found: Bitmap::new(segment.rows),
            other: Bitmap::new(segment.rows),
        })
    }

    /// The chunks that can have matches.
    pub(crate) fn chunks(&self) -> Range<u32> {
        match self.rows.is_empty() {
            true => 0..0,
            false => chunk_of(self.rows.start)..chunk_of(self.rows.end - 1) + 1,
        }
    }

    /// The matches in a chunk; `None` if there are none. Each chunk is visited once, all in one direction.
    pub(crate) fn matches_in<B: Blocks>(
        &mut self,
        chunk: u32,
        blocks: &mut B,
    ) -> Result<Option<&Bitmap>, B::Error> {
        if !self.intersect(chunk, blocks)? {
            return Ok(None);
        }
        let within = |row: u32| row.saturating_sub(first_of(chunk));
        self.found.keep(within(self.rows.start)..within(self.rows.end));
        Ok(Some(&self.found).filter(|found| !found.is_empty()))
    }

    /// The ids of the segment's rows.
    pub(crate) const fn ids(&mut self) -> &mut IdReader<I> {
        &mut self.ids
    }

    /// The next match.
    fn next<B: Blocks>(&mut self, blocks: &mut B) -> Result<Option<I>, B::Error> {
        while !self.rows.is_empty() {
            let last = self.rows.end - 1;
            let chunk = chunk_of(last);
            let is_ruled_out = self.chunk.replace(chunk) != Some(chunk) && !self.intersect(chunk, blocks)?;
            let taken = match is_ruled_out {
                true => None,
                false => self.found.take_highest(low(last)),
            };
            match taken.map(|row| first_of(chunk) + u32::from(row)) {
                Some(row) if row >= self.rows.start => {
                    if B::IS_REMOTE {
                        self.prefetch_ids(row, blocks)?;
                    }
                    self.rows.end = row;
                    return Ok(Some(self.ids.id(row, blocks)?));
                }
                _ => self.rows.end = first_of(chunk).max(self.rows.start),
            }
        }
        Ok(None)
    }

    /// Computes the matches in a chunk into `found`. Returns whether there are any; if not, `found` is undefined.
    fn intersect<B: Blocks>(&mut self, chunk: u32, blocks: &mut B) -> Result<bool, B::Error> {
        if self.is_ruled_out(chunk) {
            return Ok(false);
        }
        if B::IS_REMOTE {
            self.prefetch_chunk(chunk, blocks)?;
        }
        if self.disjoint.is_none() {
            self.disjoint = Some(self.read_disjoint(blocks)?);
            if self.is_ruled_out(chunk) {
                return Ok(false);
            }
        }
        let [first, others @ ..] = self.terms.as_mut_slice() else {
            return Ok(false);
        };
        self.found.clear();
        first.add_chunk(chunk, &mut self.found, blocks)?;
        for term in others {
            self.other.clear();
            term.add_chunk(chunk, &mut self.other, blocks)?;
            self.found.intersect(&self.other);
        }
        if self.found.is_empty() {
            return Ok(false);
        }
        self.ids_prefetched = 0;
        Ok(true)
    }

    /// Whether a chunk can have no match, as far as it is known without reading its postings.
    fn is_ruled_out(&self, chunk: u32) -> bool {
        let has_no_few = |term: &TermPostings| term.few_in(chunk).is_empty();
        let has_none = |term: &TermPostings| term.many.is_empty() && has_no_few(term);
        let never_meet = |two: &[usize; 2]| two.iter().all(|term| has_no_few(&self.terms[*term]));
        self.terms.iter().any(has_none) || self.disjoint.iter().flatten().any(never_meet)
    }

    /// Two terms each that have dense lists only, with the numbers of these; those of the term that has fewer come first.
    fn dense_terms(&self) -> Vec<([usize; 2], [Vec<u32>; 2])> {
        let numbers = self.terms.iter().map(TermPostings::dense);
        let dense = numbers
            .enumerate()
            .filter_map(|(term, numbers)| Some((term, numbers?)));
        let mut dense: Vec<(usize, Vec<u32>)> = dense.collect();
        dense.sort_by_key(|(_, numbers)| numbers.len());
        let pairs = dense.iter().enumerate().flat_map(|(index, (one, of_one))| {
            let others = dense[index + 1..].iter();
            others.map(|(other, of_other)| ([*one, *other], [of_one.clone(), of_other.clone()]))
        });
        pairs.collect()
    }

    /// Reads which terms have posted lists without a row in common.
    fn read_disjoint<B: Blocks>(&mut self, blocks: &mut B) -> Result<Vec<[usize; 2]>, B::Error> {
        let mut disjoint = Vec::new();
        for (terms, [some, others]) in self.dense_terms() {
            if self.disjoint_reader.are_disjoint(&some, &others, blocks)? {
                disjoint.push(terms);
            }
        }
        Ok(disjoint)
    }

    /// Prefetches the postings of a chunk for all terms, and what can rule out chunks. One chunk is often sufficient; with the
    /// second, all others are prefetched.
    fn prefetch_chunk<B: Blocks>(&mut self, chunk: u32, blocks: &mut B) -> Result<(), B::Error> {
        let chunks = match self.prefetched {
            None => chunk..=chunk,
            Some((first, false)) if first < chunk => chunk..=chunk_of(self.rows.end - 1),
            Some((_, false)) => chunk_of(self.rows.start)..=chunk,
            Some((_, true)) => return Ok(()),
        };
        self.prefetched = Some((chunk, self.prefetched.is_some()));
        let expected = self.terms.iter().flat_map(|term| term.blocks_of(chunks.clone()));
        let mut expected: Vec<_> = expected.take(PREFETCH_BLOCKS_MAX).collect();
        if self.disjoint.is_none() {
            for (_, [some, _]) in self.dense_terms() {
                expected.extend(some.iter().map(|list| self.disjoint_reader.block_of(*list)));
            }
        }
        blocks.prefetch(&expected)
    }

    /// Prefetches the ids of a match and of those below it in its chunk, unless that was done.
    fn prefetch_ids<B: Blocks>(&mut self, row: u32, blocks: &mut B) -> Result<(), B::Error> {
        if self.ids_prefetched > 0 {
            self.ids_prefetched -= 1;
            return Ok(());
        }
        let (mut left, chunk) = (self.found.clone(), chunk_of(row));
        let mut limit = low(row);
        let below = std::iter::from_fn(|| {
            limit = left.take_highest(limit)?;
            Some(first_of(chunk) + u32::from(limit))
        });
        let rows: Vec<u32> = std::iter::once(row)
            .chain(below)
            .take(self.wanted.min(PREFETCH_BLOCKS_MAX))
            .collect();
        self.ids_prefetched = rows.len().saturating_sub(1);
        self.ids.prefetch(rows.into_iter(), blocks)
    }
}
