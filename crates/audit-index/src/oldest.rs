//! Queries of the lowest ids.

use crate::bitmap::first_of;
use crate::blocks::{Blocks, PREFETCH_BLOCKS_MAX};
use crate::cursor;
use crate::row_id::RowId;
use crate::search::{PREFETCH_LOOKUPS_MAX, SegmentMatches};
use crate::segment::Segment;
use crate::term::{Lookup, Term};
use std::ops::Range;

/// The `wanted` lowest ids within `range` of rows that match all `terms`, ascending. `terms` is not empty. With a
/// [`Term::BoundedPrefix`] there may be others among them, as in [`newest`](crate::newest).
///
/// # Errors
/// If a block cannot be read, or is damaged.
pub fn oldest<I: RowId, B: Blocks>(
    segments: &[Segment<I>],
    terms: &[Term],
    range: &Range<I>,
    wanted: usize,
    blocks: &mut B,
) -> Result<Vec<I>, B::Error> {
    let mut oldest = Vec::new();
    let Some(last) = wanted.checked_sub(1) else {
        return Ok(oldest);
    };
    let lookups: Vec<Lookup<'_>> = terms.iter().flat_map(Term::lookups).collect();
    let mut unopened: Vec<&Segment<I>> = segments
        .iter()
        .filter(|segment| segment.overlaps(range))
        .collect();
    unopened.sort_unstable_by_key(|segment| segment.first);
    let batch = (PREFETCH_LOOKUPS_MAX / lookups.len().max(1)).max(1);
    for (number, segment) in unopened.iter().enumerate() {
        if oldest.get(last).is_some_and(|last| *last <= segment.first) {
            break;
        }
        if B::IS_REMOTE && number.is_multiple_of(batch) {
            let following = unopened[number..].iter().take(batch).copied();
            cursor::prefetch(following, &lookups, blocks)?;
        }
        oldest.extend(oldest_of(segment, terms, range, wanted, blocks)?);
        oldest.sort_unstable();
        // A row that is in two segments is returned once.
        oldest.dedup();
        oldest.truncate(wanted);
    }
    Ok(oldest)
}

/// The lowest ids of one segment.
fn oldest_of<I: RowId, B: Blocks>(
    segment: &Segment<I>,
    terms: &[Term],
    range: &Range<I>,
    wanted: usize,
    blocks: &mut B,
) -> Result<Vec<I>, B::Error> {
    let mut matches = SegmentMatches::open(segment, terms, range, 0, blocks)?;
    let mut oldest = Vec::new();
    for chunk in matches.chunks() {
        let missing = wanted - oldest.len();
        if missing == 0 {
            break;
        }
        let Some(found) = matches.matches_in(chunk, blocks)? else {
            continue;
        };
        let rows = found.rows().take(missing);
        let rows: Vec<u32> = rows.map(|low| first_of(chunk) + u32::from(low)).collect();
        for rows in rows.chunks(PREFETCH_BLOCKS_MAX) {
            if B::IS_REMOTE {
                matches.ids().prefetch(rows.iter().copied(), blocks)?;
            }
            for row in rows {
                oldest.push(matches.ids().id(*row, blocks)?);
            }
        }
    }
    Ok(oldest)
}
