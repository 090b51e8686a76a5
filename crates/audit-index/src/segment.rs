//! Segments: immutable parts of the index.
//!
//! A segment is its descriptor ([`Segment`], stored by the caller) and its blocks: the ids of its rows (`ids`), its tokens
//! (`dictionary`), the posting lists of its frequent tokens (`postings`), and which of these have no row in common (`disjoint`). Rows are numbered from 0 in the order of their ids.

use crate::blocks::{Blocks, CHECKSUM_BYTES, Damaged, WriteBlocks};
use crate::cursor::DictionaryCursor;
use crate::dictionary::{DictionaryWriter, head_of};
use crate::disjoint::Comparison;
use crate::ids::{IdReader, IdWriter};
use crate::roots::Roots;
use crate::row_id::RowId;
use std::collections::HashMap;
use std::ops::Range;

/// The descriptor of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// The range of its tokens, and the separators of its directory blocks.
    pub roots: Roots,
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

impl<I: RowId> Segment<I> {
    /// Whether the range of its ids meets `range`.
    #[must_use]
    pub fn overlaps(&self, range: &Range<I>) -> bool {
        self.last >= range.start && self.first < range.end
    }

    /// The roots as they are stored: encoded, with a checksum (CRC-32C, 4 bytes, little endian) over the whole descriptor.
    #[must_use]
    pub fn stored_roots(&self) -> Vec<u8> {
        let mut stored = self.roots.as_bytes().to_vec();
        stored.extend(self.checksum().to_le_bytes());
        stored
    }

    /// The descriptor with the roots of [`Self::stored_roots`].
    ///
    /// # Errors
    /// If a field or the roots are not those that were stored.
    pub fn with_stored_roots(mut self, stored: &[u8]) -> Result<Self, Damaged> {
        let (roots, checksum) = stored.split_last_chunk().unwrap_or((&[], &[0; CHECKSUM_BYTES]));
        self.roots = Roots::from_bytes(roots);
        match u32::from_le_bytes(*checksum) == self.checksum() {
            true => Ok(self),
            false => {
                Err(Damaged::new("the checksum of the descriptor does not match it").in_segment(self.id))
            }
        }
    }

    /// The checksum over id, level, rows, leaves and directories (32 bits each, little endian), the lowest and highest id, and
    /// the roots.
    fn checksum(&self) -> u32 {
        let numbers = [self.id, self.level, self.rows, self.leaves, self.directories];
        let mut bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.first.put(&mut bytes);
        self.last.put(&mut bytes);
        crc32c::crc32c_append(crc32c::crc32c(&bytes), self.roots.as_bytes())
    }

    /// The ids of these rows.
    ///
    /// # Errors
    /// If a block cannot be read, or is damaged.
    pub fn ids<B: Blocks>(&self, rows: Range<u32>, blocks: &mut B) -> Result<Vec<I>, B::Error> {
        let mut reader = IdReader::new(self);
        rows.map(|row| reader.id(row, blocks)).collect()
    }

    /// Calls `visit` with each token, in byte order, and the ids of its rows, ascending.
    ///
    /// # Errors
    /// If a block cannot be read, or is damaged.
    pub fn for_each<B: Blocks>(
        &self,
        mut visit: impl FnMut(&[u8], &[I]),
        blocks: &mut B,
    ) -> Result<(), B::Error> {
        let (mut cursor, mut reader) = (DictionaryCursor::all(self), IdReader::new(self));
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
