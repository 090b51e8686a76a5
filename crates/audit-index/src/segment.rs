//! Segments: immutable parts of the index.
//!
//! A segment is its descriptor ([`Segment`], stored by the caller) and its blocks: the ids of its rows (`ids`), its tokens
//! (`dictionary`) and the posting lists of its frequent tokens (`postings`). Rows are numbered from 0 in the order of their ids.

use crate::blocks::{Blocks, WriteBlocks};
use crate::dictionary::{DictionaryCursor, DictionaryWriter, head_of};
use crate::ids::{IdReader, IdWriter};
use crate::row_id::RowId;
use std::collections::HashMap;

/// The descriptor of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<I = i64> {
    /// The identity of the segment, part of its blocks' keys. Never reused.
    pub id: u32,
    /// 0 for a new segment; a merged segment is one level above the highest of its sources.
    pub level: u32,
    /// Number of rows.
    pub rows: u32,
    /// The lowest id.
    pub first: I,
    /// The highest id.
    pub last: I,
    /// Number of dictionary blocks.
    pub leaves: u32,
    /// Number of directory blocks.
    pub directories: u32,
}

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
    let mut dictionary = DictionaryWriter::new(id);
    for (token, rows) in &tokens {
        dictionary.push(token.as_bytes(), rows, blocks)?;
    }
    let (leaves, directories) = dictionary.finish(blocks)?;
    Ok(Segment {
        id,
        level: 0,
        rows: ids.finish(blocks)?,
        first: rows.first().map_or(I::MAX, |(id, _)| *id),
        last: rows.last().map_or(I::MIN, |(id, _)| *id),
        leaves,
        directories,
    })
}

impl<I: RowId> Segment<I> {
    /// Calls `visit` with each token, in byte order, and the ids of its rows, ascending.
    ///
    /// # Errors
    /// If a block cannot be read, or is damaged.
    pub fn for_each<B: Blocks>(
        &self,
        mut visit: impl FnMut(&[u8], &[I]),
        blocks: &mut B,
    ) -> Result<(), B::Error> {
        let (mut cursor, mut reader) = (DictionaryCursor::to(self, b"", blocks)?, IdReader::new(*self));
        let (mut rows, mut ids) = (Vec::new(), Vec::new());
        while cursor.advance(blocks)? {
            rows.clear();
            cursor.rows().for_each(self.id, |row| rows.push(row), blocks)?;
            ids.clear();
            for row in &rows {
                ids.push(reader.id(*row, blocks)?);
            }
            visit(cursor.token(), &ids);
        }
        Ok(())
    }
}
