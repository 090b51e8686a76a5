//! A bitmap over the rows of one chunk.
//!
//! A chunk is 65,536 consecutive row numbers: the high 16 bits of a row number select the chunk, the low 16 bits the row
//! within it. The encoded form of a bitmap is bytes, lowest row first, lowest bit first. Trailing zero bytes are omitted.

use std::ops::Range;

/// Rows per chunk.
pub(crate) const CHUNK_ROWS: u32 = 1 << CHUNK_SHIFT;
const CHUNK_SHIFT: u32 = 16;

/// The chunk of a row.
pub(crate) const fn chunk_of(row: u32) -> u32 {
    row >> CHUNK_SHIFT
}

/// The first row of a chunk.
pub(crate) const fn first_of(chunk: u32) -> u32 {
    chunk << CHUNK_SHIFT
}

/// The offset of a row within its chunk.
pub(crate) const fn low(row: u32) -> u16 {
    row as u16
}

/// One bit per row of a chunk.
#[derive(Clone, Debug)]
pub(crate) struct Bitmap {
    words: Box<[u64]>,
}

impl Bitmap {
    /// An empty bitmap for the chunks of a segment with `rows` rows. Rows beyond that are never set.
    pub(crate) fn new(rows: u32) -> Self {
        let words = rows.min(CHUNK_ROWS).div_ceil(64);
        Self {
            words: vec![0; words as usize].into_boxed_slice(),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.words.fill(0);
    }

    pub(crate) fn insert(&mut self, row: u16) {
        if let Some(word) = self.words.get_mut(usize::from(row >> 6)) {
            *word |= 1 << (row & 63);
        }
    }

    pub(crate) fn has(&self, row: u16) -> bool {
        let word = self.words.get(usize::from(row >> 6));
        word.is_some_and(|word| word & 1 << (row & 63) != 0)
    }

    /// Calls `visit` with the rows that an encoded bitmap has too, ascending.
    pub(crate) fn for_each_common(&self, bitmap: &[u8], mut visit: impl FnMut(u16)) {
        let (whole, rest) = bitmap.as_chunks::<8>();
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        let encoded = whole.iter().chain(std::iter::once(&last));
        for (index, (word, bytes)) in self.words.iter().zip(encoded).enumerate() {
            let mut left = word & u64::from_le_bytes(*bytes);
            while left != 0 {
                visit((index as u16) << 6 | left.trailing_zeros() as u16);
                left &= left - 1;
            }
        }
    }

    /// Adds the rows of an encoded bitmap.
    pub(crate) fn insert_bitmap(&mut self, bitmap: &[u8]) {
        let (whole, rest) = bitmap.as_chunks::<8>();
        for (word, bytes) in self.words.iter_mut().zip(whole) {
            *word |= u64::from_le_bytes(*bytes);
        }
        if let Some(word) = self.words.get_mut(whole.len()) {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            *word |= u64::from_le_bytes(last);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        // One OR over all words is vectorised, and so faster than a branch per word.
        self.words.iter().fold(0, |all, word| all | word) == 0
    }

    /// Whether a row is in both bitmaps.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        /// So many words are compared without a branch, which is vectorised.
        const WORDS: usize = 64;
        let words = self.words.chunks(WORDS).zip(other.words.chunks(WORDS));
        let mut common = words.map(|(one, other)| {
            let common = one.iter().zip(other).map(|(one, other)| one & other);
            common.fold(0, |all, word| all | word)
        });
        common.any(|common| common != 0)
    }

    /// Keeps the rows that are in both bitmaps.
    pub(crate) fn intersect(&mut self, other: &Self) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word &= other;
        }
    }

    /// Keeps the rows of the chunk that are in `rows`.
    pub(crate) fn keep(&mut self, rows: Range<u32>) {
        for (word, first) in self.words.iter_mut().zip((0..).step_by(64)) {
            *word &= bits_of(first, &rows);
        }
    }

    /// The number of its rows.
    pub(crate) fn count(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// The number of its rows that are in `rows`.
    pub(crate) fn count_in(&self, rows: Range<u32>) -> u64 {
        let start = (rows.start / 64) as usize;
        let end = self.words.len().min(rows.end.div_ceil(64) as usize);
        let words = self.words.get(start..end).unwrap_or_default();
        let within = |(word, first): (&u64, u32)| u64::from((word & bits_of(first, &rows)).count_ones());
        words
            .iter()
            .zip((start as u32 * 64..).step_by(64))
            .map(within)
            .sum()
    }

    /// Its rows, ascending.
    pub(crate) fn rows(&self) -> impl Iterator<Item = u16> {
        self.words.iter().enumerate().flat_map(|(index, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some((index as u16) << 6 | bit as u16)
            })
        })
    }

    /// Removes and returns the highest row that is at most `limit`.
    pub(crate) fn take_highest(&mut self, limit: u16) -> Option<u16> {
        let top = usize::from(limit >> 6);
        let allowed = self
            .words
            .get(top)
            .map(|word| word & u64::MAX >> (63 - (limit & 63)));
        let (index, allowed) = match allowed.filter(|word| *word != 0) {
            Some(word) => (top, word),
            None => {
                let below = &self.words[..top.min(self.words.len())];
                let index = below.iter().rposition(|word| *word != 0)?;
                (index, below[index])
            }
        };
        let bit = 63 - allowed.leading_zeros();
        self.words[index] &= !(1 << bit);
        Some((index as u16) << 6 | bit as u16)
    }
}

/// The bits of a word that begins with the row `first` whose rows are in `rows`.
fn bits_of(first: u32, rows: &Range<u32>) -> u64 {
    let below = |row: u32| match row.saturating_sub(first) {
        count @ 0..64 => (1 << count) - 1,
        _ => u64::MAX,
    };
    below(rows.end) & !below(rows.start)
}

/// The rows of an encoded bitmap, ascending.
pub(crate) fn rows_of(bitmap: &[u8]) -> impl Iterator<Item = u16> {
    bitmap.iter().enumerate().flat_map(|(index, byte)| {
        let mut left = *byte;
        std::iter::from_fn(move || {
            let bit = (left != 0).then(|| left.trailing_zeros())?;
            left &= left - 1;
            Some((index * 8) as u16 + bit as u16)
        })
    })
}
