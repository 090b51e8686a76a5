//! What rows are known by.

use std::fmt::Debug;

/// The id of a row, by which answers are ordered.
pub trait RowId: Copy + Ord + Debug {
    /// How many bytes one takes.
    const BYTES: usize;
    /// The lowest there can be.
    const MIN: Self;
    /// The highest there can be.
    const MAX: Self;

    /// Appends its bytes.
    fn put(self, bytes: &mut Vec<u8>);

    /// What [`Self::put`] appended, if it is as long.
    fn read(bytes: &[u8]) -> Option<Self>;
}

impl RowId for i64 {
    const BYTES: usize = size_of::<Self>();
    const MIN: Self = Self::MIN;
    const MAX: Self = Self::MAX;

    fn put(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_le_bytes());
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self::from_le_bytes)
    }
}

/// The second one orders those whose first one is the same.
impl RowId for (i64, u128) {
    const BYTES: usize = i64::BYTES + size_of::<u128>();
    const MIN: Self = (i64::MIN, u128::MIN);
    const MAX: Self = (i64::MAX, u128::MAX);

    fn put(self, bytes: &mut Vec<u8>) {
        self.0.put(bytes);
        bytes.extend(self.1.to_le_bytes());
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (first, second) = bytes.split_at_checked(i64::BYTES)?;
        Some((RowId::read(first)?, u128::from_le_bytes(second.try_into().ok()?)))
    }
}
