//! Segments: immutable parts of the index.
//!
//! A segment is its descriptor ([`Segment`], stored by the caller) and its blocks: the ids of its rows (`ids`), its tokens
//! (`dictionary`), the posting lists of its frequent tokens (`postings`), and which of these have no row in common (`disjoint`). Rows are numbered from 0 in the order of their ids.

use crate::blocks::{CHECKSUM_BYTES, Damaged};
use crate::roots::Roots;
use crate::row_id::RowId;
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
}
