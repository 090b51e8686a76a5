//! Finding rows.

use crate::bits::{Bits, chunk_of, first_of, low};
use crate::blocks::Blocks;
use crate::dictionary::{self, Rows, Walk};
use crate::ids::IdReader;
use crate::postings::{Postings, for_each_distance};
use crate::row_id::RowId;
use crate::segment::Segment;
use crate::term::Term;
use std::ops::Range;

/// The rows that fulfil all `terms`, of which there is at least one, with ids within `range`: the `wanted` highest ids,
/// descending.
///
/// # Errors
/// When a block cannot be read, or is not as it was written.
pub fn newest<I: RowId, B: Blocks>(
    segments: &[Segment<I>],
    terms: &[Term],
    range: &Range<I>,
    wanted: usize,
    blocks: &mut B,
) -> Result<Vec<I>, B::Error> {
    // Those that may have the highest ids at the end, to be opened only when it comes to them.
    let mut unopened: Vec<&Segment<I>> = segments
        .iter()
        .filter(|segment| segment.last >= range.start && segment.first < range.end)
        .collect();
    unopened.sort_unstable_by_key(|segment| segment.last);
    let mut opened: Vec<(I, Found<I>)> = Vec::new();
    let texts: Vec<&[u8]> = terms.iter().flat_map(Term::texts).map(String::as_bytes).collect();
    let mut opened_before = 0;
    let mut newest = Vec::new();
    while newest.len() < wanted {
        let mut best = index_of_highest(&opened);
        while let Some(segment) =
            unopened.pop_if(|segment| best.is_none_or(|best| segment.last > opened[best].0))
        {
            if B::ARE_FAR {
                // The first one is often enough. If not, all others may be needed.
                match opened_before {
                    0 => dictionary::expect(&[segment], &texts, blocks)?,
                    1 => dictionary::expect(&[&[segment], unopened.as_slice()].concat(), &texts, blocks)?,
                    _ => {}
                }
                opened_before += 1;
            }
            let mut found = Found::open(segment, terms, range, wanted, blocks)?;
            if let Some(id) = found.next(blocks)? {
                opened.push((id, found));
                best = index_of_highest(&opened);
            }
        }
        let Some(best) = best else { break };
        let (id, found) = &mut opened[best];
        // A row that was filed twice is found once.
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

fn index_of_highest<I: RowId>(opened: &[(I, Found<I>)]) -> Option<usize> {
    let highest = opened.iter().enumerate().max_by_key(|(_, (id, _))| *id);
    highest.map(|(index, _)| index)
}

/// Blocks that are read together, at most.
const EXPECTED_BLOCKS_MAX: usize = 100;

/// The rows of one segment that fulfil one term.
#[derive(Debug, Default)]
struct Matching {
    /// Ascending, of all tokens with few rows.
    few: Vec<u32>,
    /// Of tokens with many.
    many: Vec<Postings>,
}

impl Matching {
    fn read<I, B: Blocks>(segment: &Segment<I>, term: &Term, blocks: &mut B) -> Result<Self, B::Error> {
        let mut matching = Self::default();
        match term {
            Term::AnyOf(tokens) => {
                for token in tokens {
                    let mut walk = Walk::to(segment, token.as_bytes(), blocks)?;
                    while walk.advance(blocks)? && walk.token() <= token.as_bytes() {
                        if walk.token() == token.as_bytes() {
                            matching.add(segment, walk.rows())?;
                        }
                    }
                }
            }
            Term::BeginsLike(beginnings) => {
                for beginning in beginnings.iter().map(String::as_bytes) {
                    let mut walk = Walk::to(segment, beginning, blocks)?;
                    while walk.advance(blocks)? {
                        if walk.token().starts_with(beginning) {
                            matching.add(segment, walk.rows())?;
                        } else if walk.token() > beginning {
                            break;
                        }
                    }
                }
            }
        }
        matching.few.sort_unstable();
        Ok(matching)
    }

    fn add<I>(&mut self, segment: &Segment<I>, rows: Rows<'_>) -> Result<(), crate::Damaged> {
        match rows {
            Rows::Here(distances) => for_each_distance(distances, |row| self.few.push(row)),
            Rows::InBlocks(places) => {
                self.many.push(Postings::open(segment.id, places)?);
                Ok(())
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.few.is_empty() && self.many.is_empty()
    }

    /// The few rows within a chunk.
    fn few_in(&self, chunk: u32) -> &[u32] {
        let start = self.few.partition_point(|row| chunk_of(*row) < chunk);
        let rest = &self.few[start..];
        &rest[..rest.partition_point(|row| chunk_of(*row) == chunk)]
    }

    fn add_chunk<B: Blocks>(&mut self, chunk: u32, bits: &mut Bits, blocks: &mut B) -> Result<(), B::Error> {
        for row in self.few_in(chunk) {
            bits.insert(low(*row));
        }
        for postings in &mut self.many {
            postings.add_chunk(chunk, bits, blocks)?;
        }
        Ok(())
    }
}

/// What one segment has, highest first.
#[derive(Debug)]
struct Found<I> {
    ids: IdReader<I>,
    terms: Vec<Matching>,
    /// The rows that are left to be looked at.
    rows: Range<u32>,
    /// How many rows are wanted, at most.
    wanted: usize,
    /// The chunk whose rows are in `found`.
    chunk: Option<u32>,
    /// How many chunks were read before it.
    chunks_before: u32,
    found: Bits,
    other: Bits,
}

impl<I: RowId> Found<I> {
    fn open<B: Blocks>(
        segment: &Segment<I>,
        terms: &[Term],
        range: &Range<I>,
        wanted: usize,
        blocks: &mut B,
    ) -> Result<Self, B::Error> {
        let mut ids = IdReader::new(*segment);
        let mut rows = ids.rows_below(range.start, blocks)?..ids.rows_below(range.end, blocks)?;
        let mut matching = Vec::with_capacity(terms.len());
        // What is soon looked up comes first: it may rule out everything.
        let mut terms: Vec<&Term> = terms.iter().collect();
        terms.sort_by_key(|term| match term {
            Term::AnyOf(tokens) => (false, tokens.len()),
            Term::BeginsLike(beginnings) => (true, beginnings.len()),
        });
        for term in terms {
            if rows.is_empty() {
                break;
            }
            let of_term = Matching::read(segment, term, blocks)?;
            if of_term.is_empty() {
                rows = 0..0;
            } else if of_term.many.is_empty() {
                // Nothing above or below these has to be looked at.
                rows.start = rows.start.max(of_term.few[0]);
                rows.end = rows.end.min(of_term.few[of_term.few.len() - 1] + 1);
            }
            matching.push(of_term);
        }
        // What rules out most comes first.
        matching.sort_by_key(|term| (!term.many.is_empty(), term.few.len()));
        Ok(Self {
            ids,
            terms: matching,
            rows,
            wanted,
            chunk: None,
            chunks_before: 0,
            found: Bits::new(segment.rows),
            other: Bits::new(segment.rows),
        })
    }

    /// The next id.
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
                    self.rows.end = row;
                    return Ok(Some(self.ids.id(row, blocks)?));
                }
                _ => self.rows.end = first_of(chunk).max(self.rows.start),
            }
        }
        Ok(None)
    }

    /// Finds the rows of a chunk that fulfil all terms; whether there are any. If not, `found` has nothing to say.
    fn intersect<B: Blocks>(&mut self, chunk: u32, blocks: &mut B) -> Result<bool, B::Error> {
        let is_ruled_out = |term: &Matching| term.many.is_empty() && term.few_in(chunk).is_empty();
        if self.terms.iter().any(is_ruled_out) {
            return Ok(false);
        }
        if B::ARE_FAR {
            self.expect_chunk(chunk, blocks)?;
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
        if B::ARE_FAR {
            self.expect_ids(chunk, blocks)?;
        }
        Ok(true)
    }

    /// Has the rows of a chunk read together for all terms. The first one is often enough; with the second come all others.
    fn expect_chunk<B: Blocks>(&mut self, chunk: u32, blocks: &mut B) -> Result<(), B::Error> {
        let chunks = match self.chunks_before {
            0 => chunk..=chunk,
            1 => chunk_of(self.rows.start)..=chunk,
            _ => return Ok(()),
        };
        self.chunks_before += 1;
        let postings = self.terms.iter().flat_map(|term| &term.many);
        let expected = postings.flat_map(|postings| postings.blocks_of(chunks.clone()));
        let expected: Vec<_> = expected.take(EXPECTED_BLOCKS_MAX).collect();
        blocks.expect(&expected)
    }

    /// Has the ids of the rows read together that were found in a chunk.
    fn expect_ids<B: Blocks>(&self, chunk: u32, blocks: &mut B) -> Result<(), B::Error> {
        let (mut left, mut limit) = (self.found.clone(), low(self.rows.end - 1));
        let rows = std::iter::from_fn(|| {
            limit = left.take_highest(limit)?;
            Some(first_of(chunk) + u32::from(limit))
        });
        self.ids
            .expect(rows.take(self.wanted.min(EXPECTED_BLOCKS_MAX)), blocks)
    }
}
