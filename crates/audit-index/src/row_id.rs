//! Row ids.

use std::fmt::Debug;

/// The id of a row. Results are ordered by it.
pub trait RowId: Copy + Ord + Debug {
    /// The length of an encoded id.
    const BYTES: usize;
    /// The lowest id.
    const MIN: Self;
    /// The highest id.
    const MAX: Self;

    /// The id that follows; the highest one follows itself.
    #[must_use]
    fn following(self) -> Self;

    /// Appends the encoded id.
    fn put(self, bytes: &mut Vec<u8>);

    /// Decodes the output of [`Self::put`], or `None` if the length is wrong.
    fn read(bytes: &[u8]) -> Option<Self>;
}

/// Encoding: little endian.
impl RowId for i64 {
    const BYTES: usize = size_of::<Self>();
    const MIN: Self = Self::MIN;
    const MAX: Self = Self::MAX;

    fn following(self) -> Self {
        self.saturating_add(1)
    }

    fn put(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_le_bytes());
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self::from_le_bytes)
    }
}

/// A composite id: the second part orders ids with the same first part. Encoding: both parts, little endian.
impl RowId for (i64, u128) {
    const BYTES: usize = i64::BYTES + size_of::<u128>();
    const MIN: Self = (i64::MIN, u128::MIN);
    const MAX: Self = (i64::MAX, u128::MAX);

    fn following(self) -> Self {
        match self.1.checked_add(1) {
            Some(second) => (self.0, second),
            None if self.0 < i64::MAX => (self.0 + 1, u128::MIN),
            None => self,
        }
    }

    fn put(self, bytes: &mut Vec<u8>) {
        self.0.put(bytes);
        bytes.extend(self.1.to_le_bytes());
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (first, second) = bytes.split_at_checked(i64::BYTES)?;
        Some((RowId::read(first)?, u128::from_le_bytes(second.try_into().ok()?)))
    }
}
