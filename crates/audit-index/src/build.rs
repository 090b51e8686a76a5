//! Building a segment from rows.

use crate::blocks::WriteBlocks;
use crate::dictionary::{DictionaryWriter, TokenHead, head_of};
use crate::disjoint::Comparison;
use crate::ids::IdWriter;
use crate::row_id::RowId;
use crate::segment::Segment;
use std::collections::HashMap;

/// Builds a segment from rows. A row is an id and its tokens, separated by spaces. The ids ascend.
///
/// # Errors
/// If a block cannot be written.
pub fn build_segment<I: RowId, B: WriteBlocks>(
    rows: &[(I, &str)],
    id: u32,
    blocks: &mut B,
) -> Result<Segment<I>, B::Error> {
    let mut ids = IdWriter::new(id);
    let mut tokens = Tokens::default();
    for ((row_id, of_row), row) in rows.iter().zip(0..) {
        ids.push(*row_id, blocks)?;
        let mut start = 0;
        for end in memchr::memchr_iter(b' ', of_row.as_bytes()).chain([of_row.len()]) {
            if start < end {
                tokens.add(&of_row.as_bytes()[start..end], row);
            }
            start = end + 1;
        }
    }
    let segment_rows = ids.finish(blocks)?;
    let mut dictionary = DictionaryWriter::new(id, segment_rows);
    tokens.for_each(|token, rows| dictionary.push(token, rows, blocks))?;
    let dictionary = dictionary.finish(blocks)?;
    Comparison::whole(dictionary.dense, blocks)?.write(blocks)?;
    Ok(Segment {
        id,
        level: 0,
        rows: segment_rows,
        first: rows.first().map_or(I::MAX, |(id, _)| *id),
        last: rows.last().map_or(I::MIN, |(id, _)| *id),
        leaves: dictionary.leaves,
        directories: dictionary.directories,
        roots: dictionary.roots,
    })
}

/// The rows of tokens, without an allocation for each of them: most are of one row.
#[derive(Debug, Default)]
struct Tokens<'a> {
    numbers: HashMap<&'a [u8], u32, foldhash::fast::RandomState>,
    /// By number: the token, the number of its rows, and the last one.
    found: Vec<(&'a [u8], u32, u32)>,
    /// The number of a token, and a row that has it; the rows ascend.
    rows: Vec<(u32, u32)>,
}

impl<'a> Tokens<'a> {
    fn add(&mut self, token: &'a [u8], row: u32) {
        let next = self.found.len() as u32;
        let number = *self.numbers.entry(token).or_insert(next);
        if number == next {
            self.found.push((token, 0, 0));
        }
        let (_, count, last) = &mut self.found[number as usize];
        if *count == 0 || *last != row {
            (*count, *last) = (*count + 1, row);
            self.rows.push((number, row));
        }
    }

    /// Calls `visit` with each token, in byte order, and its rows, ascending.
    fn for_each<E>(self, mut visit: impl FnMut(&'a [u8], &[u32]) -> Result<(), E>) -> Result<(), E> {
        let mut sorted: Vec<(TokenHead, &[u8], u32)> = (self.found.iter().zip(0..))
            .map(|((token, ..), number)| (head_of(token), *token, number))
            .collect();
        sorted.sort_unstable();
        // Where the rows of each token begin, and then end.
        let mut ends = vec![0_u32; self.found.len()];
        let mut start = 0;
        for (_, _, number) in &sorted {
            ends[*number as usize] = start;
            start += self.found[*number as usize].1;
        }
        let mut rows = vec![0_u32; self.rows.len()];
        for (number, row) in self.rows {
            let end = &mut ends[number as usize];
            rows[*end as usize] = row;
            *end += 1;
        }
        for (_, token, number) in sorted {
            let (end, count) = (ends[number as usize], self.found[number as usize].1);
            visit(token, &rows[(end - count) as usize..end as usize])?;
        }
        Ok(())
    }
}
