//! Rows that were filed together.

use crate::blocks::{Blocks, WriteBlocks};
use crate::dictionary::{DictionaryWriter, Walk, beginning_of};
use crate::ids::{IdReader, IdWriter};
use crate::row_id::RowId;
use std::collections::HashMap;

/// What has to be known of a segment to read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<I = i64> {
    /// Names its blocks, and is never used again.
    pub id: u32,
    /// How often its rows have been merged.
    pub level: u32,
    /// How many rows it has.
    pub rows: u32,
    /// The lowest id.
    pub first: I,
    /// The highest id.
    pub last: I,
    /// Blocks of its dictionary.
    pub leaves: u32,
    /// Blocks of its directory.
    pub directories: u32,
}

/// Makes a segment of rows, each an id with the tokens that it is filed under, separated by spaces. Ids ascend.
///
/// # Errors
/// When a block cannot be written.
pub fn file<I: RowId, B: WriteBlocks>(
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
    tokens.sort_unstable_by_key(|(token, _)| (beginning_of(token.as_bytes()), *token));
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
    /// Calls `see` with each token, in alphabetical order, and the ids of the rows that are filed under it, ascending.
    ///
    /// # Errors
    /// When a block cannot be read, or is not as it was written.
    pub fn for_each<B: Blocks>(
        &self,
        mut see: impl FnMut(&[u8], &[I]),
        blocks: &mut B,
    ) -> Result<(), B::Error> {
        let (mut walk, mut reader) = (Walk::to(self, b"", blocks)?, IdReader::new(*self));
        let (mut rows, mut ids) = (Vec::new(), Vec::new());
        while walk.advance(blocks)? {
            rows.clear();
            walk.rows().for_each(self.id, |row| rows.push(row), blocks)?;
            ids.clear();
            for row in &rows {
                ids.push(reader.id(*row, blocks)?);
            }
            see(walk.token(), &ids);
        }
        Ok(())
    }
}
