//! Blocks: the unit in which segments are stored.
//!
//! A block is an immutable byte string of about 4 KB, identified by [`BlockId`]. Its format depends on its [`BlockKind`]: see
//! the modules `ids`, `dictionary` and `postings`. The key of a block is a 64-bit number: bits 32 to 62 the segment, bits 28 to
//! 31 the kind (0 ids, 1 dictionary, 2 postings, 3 directory), bits 0 to 27 the number.

use std::ops::Range;
use std::sync::Arc;

/// The content of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlockKind {
    /// Row ids, by row number.
    Ids,
    /// Tokens in byte order, each with its posting list or a reference to it.
    Dictionary,
    /// The posting lists of frequent tokens.
    Postings,
    /// One separator key per dictionary block.
    Directory,
}

/// The identity of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId {
    /// The segment it belongs to, at most 2^31 - 1.
    pub segment: u32,
    /// The content of the block.
    pub kind: BlockKind,
    /// The index among the segment's blocks of this kind, at most 2^28 - 1.
    pub number: u32,
}

const KIND_SHIFT: u32 = 28;
const SEGMENT_SHIFT: u32 = 32;

impl BlockId {
    /// The identity as one number. The keys of a segment are contiguous, and within it those of a kind.
    #[must_use]
    pub const fn key(self) -> i64 {
        (self.segment as i64) << SEGMENT_SHIFT | (self.kind as i64) << KIND_SHIFT | self.number as i64
    }

    /// The keys of all blocks of a segment.
    #[must_use]
    pub const fn keys_of(segment: u32) -> Range<i64> {
        (segment as i64) << SEGMENT_SHIFT..(segment as i64 + 1) << SEGMENT_SHIFT
    }
}

/// A block is missing or does not have the format that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the index is damaged: {what}")]
pub struct Damaged {
    /// The inconsistency.
    pub what: &'static str,
}

/// A block with its identity.
pub type NamedBlock = (BlockId, Arc<[u8]>);

/// A store of blocks for reading.
pub trait Blocks {
    /// The error of a read or write.
    type Error: From<Damaged>;

    /// Whether a read has high latency, so that [`Self::prefetch`] pays.
    const IS_REMOTE: bool = false;

    /// A block, or `None` if it does not exist.
    ///
    /// # Errors
    /// If the read fails.
    fn read(&mut self, block: BlockId) -> Result<Option<Arc<[u8]>>, Self::Error>;

    /// Several blocks in one request, without those that do not exist.
    ///
    /// # Errors
    /// If the read fails.
    fn read_all(&mut self, blocks: &[BlockId]) -> Result<Vec<NamedBlock>, Self::Error> {
        let mut read = |block: &BlockId| Ok(self.read(*block)?.map(|bytes| (*block, bytes)));
        blocks
            .iter()
            .filter_map(|block| read(block).transpose())
            .collect()
    }

    /// Announces blocks that will be read soon. A cache over a [remote](Self::IS_REMOTE) store fetches them in one request.
    ///
    /// # Errors
    /// If the read fails.
    fn prefetch(&mut self, blocks: &[BlockId]) -> Result<(), Self::Error> {
        let _ = blocks;
        Ok(())
    }
}

/// A store of blocks for reading and writing.
pub trait WriteBlocks: Blocks {
    /// Stores a new block.
    ///
    /// # Errors
    /// If the write fails.
    fn write(&mut self, block: BlockId, bytes: &[u8]) -> Result<(), Self::Error>;
}

/// Writes the blocks of one kind of a segment in order.
#[derive(Debug)]
pub(crate) struct BlockWriter {
    segment: u32,
    kind: BlockKind,
    count: u32,
}

impl BlockWriter {
    pub(crate) const fn new(segment: u32, kind: BlockKind) -> Self {
        Self {
            segment,
            kind,
            count: 0,
        }
    }

    /// The number of blocks written, which is the number of the next block.
    pub(crate) const fn count(&self) -> u32 {
        self.count
    }

    pub(crate) fn write<B: WriteBlocks>(&mut self, bytes: &[u8], blocks: &mut B) -> Result<(), B::Error> {
        let block = BlockId {
            segment: self.segment,
            kind: self.kind,
            number: self.count,
        };
        self.count += 1;
        blocks.write(block, bytes)
    }
}

/// Reads the blocks of one kind of a segment and caches the last one.
#[derive(Debug)]
pub(crate) struct BlockReader {
    segment: u32,
    kind: BlockKind,
    last: Option<(u32, Arc<[u8]>)>,
}

impl BlockReader {
    pub(crate) const fn new(segment: u32, kind: BlockKind) -> Self {
        Self {
            segment,
            kind,
            last: None,
        }
    }

    /// The identity of block `number`.
    pub(crate) const fn block(&self, number: u32) -> BlockId {
        BlockId {
            segment: self.segment,
            kind: self.kind,
            number,
        }
    }

    pub(crate) fn read<B: Blocks>(&mut self, number: u32, blocks: &mut B) -> Result<&[u8], B::Error> {
        let last = match self.last.take().filter(|(last, _)| *last == number) {
            Some(last) => last,
            None => (number, read(blocks, self.segment, self.kind, number)?),
        };
        Ok(&self.last.insert(last).1)
    }
}

/// Reads a block that must exist.
pub(crate) fn read<B: Blocks>(
    blocks: &mut B,
    segment: u32,
    kind: BlockKind,
    number: u32,
) -> Result<Arc<[u8]>, B::Error> {
    let block = BlockId {
        segment,
        kind,
        number,
    };
    let missing = Damaged {
        what: "a block is missing",
    };
    Ok(blocks.read(block)?.ok_or(missing)?)
}
