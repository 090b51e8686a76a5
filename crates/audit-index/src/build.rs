//! Building a segment from rows.

use crate::blocks::WriteBlocks;
use crate::dictionary::{DictionaryWriter, head_of};
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
    let mut by_token: HashMap<&str, Vec<u32>, foldhash::fast::RandomState> = HashMap::default();
    for ((row_id, tokens), row) in rows.iter().zip(0..) {
        ids.push(*row_id, blocks)?;
        for token in tokens.split(' ').filter(|token| !token.is_empty()) {
            let rows = by_token.entry(token).or_default();
            if rows.last() != Some(&row) {
                rows.push(row);
            }
        }
    }
    let mut tokens: Vec<(&str, Vec<u32>)> = by_token.into_iter().collect();
    tokens.sort_unstable_by_key(|(token, _)| (head_of(token.as_bytes()), *token));
    let segment_rows = ids.finish(blocks)?;
    let mut dictionary = DictionaryWriter::new(id, segment_rows);
    for (token, rows) in &tokens {
        dictionary.push(token.as_bytes(), rows, blocks)?;
    }
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
