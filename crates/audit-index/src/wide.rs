//! Prefixes of so many tokens that reading these costs more than checking rows.

use crate::blocks::Blocks;
use crate::cursor::{self, leaves_of};
use crate::row_id::RowId;
use crate::search::PREFETCH_LOOKUPS_MAX;
use crate::segment::Segment;
use crate::term::{Lookup, Term};
use std::ops::Range;

/// Dictionary blocks that a query reads in a segment for a [`Term::BoundedPrefix`], at most, and one for each prefix. They have some ten
/// thousand tokens. A segment that is not merged further has two million rows, so where a prefix has more tokens, at least one row in
/// some hundred has it.
pub const PREFIX_BLOCKS_MAX: u32 = 128;

/// The position of the first [`Term::BoundedPrefix`] that is not read in one of the segments that overlap `range`. If there is none, queries
/// return exactly the rows that match.
///
/// # Errors
/// If a block cannot be read, or is damaged.
pub fn first_wide<I: RowId, B: Blocks>(
    segments: &[Segment<I>],
    terms: &[Term],
    range: &Range<I>,
    blocks: &mut B,
) -> Result<Option<usize>, B::Error> {
    let bounded = terms.iter().enumerate();
    let bounded = bounded.filter(|(_, term)| matches!(term, Term::BoundedPrefix { .. }));
    let bounded: Vec<(usize, &Term)> = bounded.collect();
    let lookups: Vec<Lookup<'_>> = bounded.iter().flat_map(|(_, term)| term.lookups()).collect();
    if lookups.is_empty() {
        return Ok(None);
    }
    let large = |segment: &&Segment<I>| segment.overlaps(range) && segment.leaves > PREFIX_BLOCKS_MAX;
    let large: Vec<&Segment<I>> = segments.iter().filter(large).collect();
    for batch in large.chunks((PREFETCH_LOOKUPS_MAX / lookups.len()).max(1)) {
        if B::IS_REMOTE {
            cursor::prefetch(batch.iter().copied(), &lookups, blocks)?;
        }
        for segment in batch {
            for (position, term) in &bounded {
                if is_wide(segment, term, blocks)? {
                    return Ok(Some(*position));
                }
            }
        }
    }
    Ok(None)
}

/// Whether more dictionary blocks than are read can have the tokens of a term.
pub(crate) fn is_wide<I, B: Blocks>(
    segment: &Segment<I>,
    term: &Term,
    blocks: &mut B,
) -> Result<bool, B::Error> {
    if segment.leaves <= PREFIX_BLOCKS_MAX {
        return Ok(false);
    }
    let mut further = 0_u32;
    for lookup in term.lookups() {
        further = further.saturating_add(leaf_count(segment, lookup, blocks)?.saturating_sub(1));
        if further > PREFIX_BLOCKS_MAX {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The number of dictionary blocks that can have a token with a prefix.
fn leaf_count<I, B: Blocks>(
    segment: &Segment<I>,
    prefix: Lookup<'_>,
    blocks: &mut B,
) -> Result<u32, B::Error> {
    let mut leaves = leaves_of(segment, prefix, blocks)?;
    if leaves.end == segment.leaves {
        // A directory block does not say where the tokens end that go on in the next one. They are before this text, as UTF-8 has no
        // such byte. Behind the last token of the segment, nothing is found.
        let behind = [prefix.text, &[0xFF]].concat();
        let lookup = Lookup {
            text: &behind,
            is_prefix: false,
        };
        let last = leaves_of(segment, lookup, blocks)?;
        if !last.is_empty() {
            leaves.end = last.end;
        }
    }
    Ok(leaves.end.saturating_sub(leaves.start))
}
