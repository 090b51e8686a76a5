//! Which dense posting lists of a segment have no row in common.
//!
//! An intersection of two long lists that never meet reads both to their ends, so the answer "never" would cost most, and more with
//! every event. A segment of several chunks therefore knows it of its dense lists. A posted list is *dense* if it has at least one
//! in 256 of the segment's rows. The dense lists are numbered from 0 in the order of their tokens, 512 at most; the dictionary has
//! the numbers (see `postings`).
//!
//! ```text
//! disjoint block = (bits: u64 * 8) * 62, fewer in the last block
//! ```
//!
//! There are 512 bits for each dense list, in the order of their numbers, the lowest bit first; `u64` is little endian. Bit `n` is 1
//! if no row is in both the list and dense list `n`.

use crate::bitmap::{Bitmap, CHUNK_ROWS, chunk_of};
use crate::blocks::{
    BlockId, BlockKind, BlockReader, BlockWriter, Blocks, Damaged, PREFETCH_BLOCKS_MAX, WriteBlocks,
};
use crate::postings::{Postings, insert_chunk};
use std::collections::HashMap;
use std::ops::Range;

/// Most dense lists of a segment.
const DENSE_MAX: usize = 512;
/// Rows of the segment for each row of a dense list, at most.
const ROWS_PER_DENSE_ROW: u64 = 256;
const WORDS: usize = DENSE_MAX / u64::BITS as usize;
const BYTES: usize = WORDS * size_of::<u64>();
/// Lists whose bits are in one block.
const BLOCK_LISTS: usize = 62;

/// The dense lists that have no row in common with one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Disjoint([u64; WORDS]);

impl Disjoint {
    /// All of this number of lists.
    fn with_all(lists: usize) -> Self {
        let mut all = Self([0; WORDS]);
        (0..lists).for_each(|list| all.0[list / 64] |= 1 << (list % 64));
        all
    }

    fn has(&self, list: usize) -> bool {
        self.0[list / 64] & 1 << (list % 64) != 0
    }

    fn remove(&mut self, list: usize) {
        self.0[list / 64] &= !(1 << (list % 64));
    }

    fn is_empty(&self) -> bool {
        self.0 == [0; WORDS]
    }

    fn put(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.0.iter().flat_map(|word| word.to_le_bytes()));
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (words, rest) = bytes.as_chunks();
        let words: &[[u8; 8]; WORDS] = words.try_into().ok().filter(|_| rest.is_empty())?;
        Some(Self(words.map(u64::from_le_bytes)))
    }
}

/// The dense lists of a segment, while its dictionary is written or verified.
#[derive(Debug)]
pub(crate) struct DenseLists {
    segment: u32,
    segment_rows: u32,
    lists: Vec<Postings>,
}

impl DenseLists {
    pub(crate) const fn new(segment: u32, segment_rows: u32) -> Self {
        Self {
            segment,
            segment_rows,
            lists: Vec::new(),
        }
    }

    /// The number of the next posted list, if it is dense.
    pub(crate) fn next_number(&self, rows: u64) -> Option<u32> {
        let is_dense = rows * ROWS_PER_DENSE_ROW >= u64::from(self.segment_rows);
        let has_chunks = self.segment_rows > CHUNK_ROWS;
        (has_chunks && is_dense && self.lists.len() < DENSE_MAX).then_some(self.lists.len() as u32)
    }

    /// The segment.
    pub(crate) const fn segment(&self) -> u32 {
        self.segment
    }

    /// Adds the next dense list.
    pub(crate) fn push(&mut self, list: Postings) {
        self.lists.push(list);
    }

    /// The number of blocks that say which lists are disjoint.
    pub(crate) fn blocks(&self) -> u32 {
        self.lists.len().div_ceil(BLOCK_LISTS) as u32
    }
}

/// Compares the dense lists of a segment, chunk by chunk.
#[derive(Debug)]
pub(crate) struct Comparison {
    segment: u32,
    lists: Vec<Postings>,
    /// By list, those that it has not met so far.
    disjoint: Vec<Disjoint>,
    /// The chunks that were not compared yet.
    chunks: Range<u32>,
    /// The rows of a chunk by list, of those that have not met all others.
    rows: Vec<Bitmap>,
}

impl Comparison {
    pub(crate) fn of(dense: DenseLists) -> Self {
        let DenseLists {
            segment,
            segment_rows,
            lists,
        } = dense;
        let mut disjoint = vec![Disjoint::with_all(lists.len()); lists.len()];
        for (list, disjoint) in disjoint.iter_mut().enumerate() {
            disjoint.remove(list);
        }
        Self {
            segment,
            rows: vec![Bitmap::new(segment_rows); lists.len()],
            chunks: 0..chunk_of(segment_rows.saturating_sub(1)) + 1,
            disjoint,
            lists,
        }
    }

    /// A complete comparison.
    pub(crate) fn whole<B: Blocks>(dense: DenseLists, blocks: &mut B) -> Result<Self, B::Error> {
        let mut comparison = Self::of(dense);
        while comparison.step(blocks)?.is_some() {}
        Ok(comparison)
    }

    /// Compares the lists in the next chunk. Returns how many it read, or `None` at the end.
    pub(crate) fn step<B: Blocks>(&mut self, blocks: &mut B) -> Result<Option<usize>, B::Error> {
        let has_disjoint = |list: &usize| !self.disjoint[*list].is_empty();
        let lists: Vec<usize> = (0..self.lists.len()).filter(has_disjoint).collect();
        let Some(chunk) = self.chunks.next().filter(|_| !lists.is_empty()) else {
            return Ok(None);
        };
        for lists in lists.chunks(PREFETCH_BLOCKS_MAX) {
            self.read(lists, chunk, blocks)?;
        }
        for (index, one) in lists.iter().enumerate() {
            for other in &lists[index + 1..] {
                if self.disjoint[*one].has(*other) && self.rows[*one].meets(&self.rows[*other]) {
                    self.disjoint[*one].remove(*other);
                    self.disjoint[*other].remove(*one);
                }
            }
        }
        Ok(Some(lists.len()))
    }

    /// Reads the rows of these lists in a chunk.
    fn read<B: Blocks>(&mut self, lists: &[usize], chunk: u32, blocks: &mut B) -> Result<(), B::Error> {
        let block_of = |list: &usize| self.lists[*list].block_with(chunk);
        let wanted: Vec<BlockId> = lists.iter().filter_map(block_of).collect();
        let found: HashMap<BlockId, _> = blocks.read_all(&wanted)?.into_iter().collect();
        for list in lists {
            self.rows[*list].clear();
            let Some(block) = self.lists[*list].block_with(chunk) else {
                continue;
            };
            let missing = Damaged::new("the block is missing").in_block(block);
            let content = found.get(&block).ok_or(missing)?;
            let inserted = insert_chunk(content, chunk, &mut self.rows[*list]);
            inserted.map_err(|damaged| damaged.in_block(block))?;
        }
        Ok(())
    }

    /// The contents of the blocks that say which lists are disjoint.
    fn contents(&self) -> impl Iterator<Item = Vec<u8>> {
        self.disjoint.chunks(BLOCK_LISTS).map(|lists| {
            let mut content = Vec::with_capacity(lists.len() * BYTES);
            lists.iter().for_each(|disjoint| disjoint.put(&mut content));
            content
        })
    }

    /// Writes the blocks, after the last step.
    pub(crate) fn write<B: WriteBlocks>(&self, blocks: &mut B) -> Result<(), B::Error> {
        let mut writer = BlockWriter::new(self.segment, BlockKind::Disjoint);
        for mut content in self.contents() {
            writer.write(&mut content, blocks)?;
        }
        Ok(())
    }

    /// Compares the blocks of the segment with those that would be written, after the last step.
    pub(crate) fn verify<B: Blocks>(&self, blocks: &mut B) -> Result<(), B::Error> {
        let mut reader = BlockReader::new(self.segment, BlockKind::Disjoint);
        for (content, number) in self.contents().zip(0..) {
            let wrong = Damaged::new("the block says otherwise which posting lists have a common row");
            let is_right = reader.read(number, blocks)? == content.as_slice();
            is_right
                .then_some(())
                .ok_or(wrong.in_block(reader.block(number)))?;
        }
        Ok(())
    }
}

/// Reads which dense lists of a segment are disjoint.
#[derive(Debug)]
pub(crate) struct DisjointReader(BlockReader);

impl DisjointReader {
    pub(crate) const fn new(segment: u32) -> Self {
        Self(BlockReader::new(segment, BlockKind::Disjoint))
    }

    /// The block that has the bits of a dense list.
    pub(crate) const fn block_of(&self, list: u32) -> BlockId {
        self.0.block(list / BLOCK_LISTS as u32)
    }

    /// Whether no row is in a list of `some` and in one of `others`.
    pub(crate) fn are_disjoint<B: Blocks>(
        &mut self,
        some: &[u32],
        others: &[u32],
        blocks: &mut B,
    ) -> Result<bool, B::Error> {
        for list in some {
            let block = self.block_of(*list);
            let content = self.0.read(block.number, blocks)?;
            let start = *list as usize % BLOCK_LISTS * BYTES;
            let bits = content.get(start..start + BYTES).and_then(Disjoint::read);
            let missing = Damaged::new("a dense posting list is missing").in_block(block);
            let disjoint = bits.ok_or(missing)?;
            let is_disjoint = |other: &u32| (*other as usize) < DENSE_MAX && disjoint.has(*other as usize);
            if !others.iter().all(is_disjoint) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
