//! The pieces that segments are kept in.

use std::ops::Range;
use std::sync::Arc;

/// What a block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlockKind {
    /// The ids of rows, by their number within the segment.
    Ids,
    /// Tokens in alphabetical order, each with its rows or where those are.
    Dictionary,
    /// The rows of tokens that have many.
    Postings,
    /// What each block of the dictionary begins with.
    Directory,
}

/// Names a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId {
    /// The segment it belongs to, at most 2^31 - 1.
    pub segment: u32,
    /// What it holds.
    pub kind: BlockKind,
    /// Counts the blocks of a kind within a segment, at most 2^28 - 1.
    pub number: u32,
}

const KIND_SHIFT: u32 = 28;
const SEGMENT_SHIFT: u32 = 32;

impl BlockId {
    /// One number for all of it. Those of a segment are beside each other, and within it those of a kind.
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

/// What was read is not what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the index is damaged: {what}")]
pub struct Damaged {
    /// Where it is.
    pub what: &'static str,
}

/// A block, with its name.
pub type NamedBlock = (BlockId, Arc<[u8]>);

/// Where blocks are read.
pub trait Blocks {
    /// Why one cannot be read or written.
    type Error: From<Damaged>;

    /// Whether it takes long to get there, so that several are better read together.
    const ARE_FAR: bool = false;

    /// A block, if it is there.
    ///
    /// # Errors
    /// When it cannot be read.
    fn read(&mut self, block: BlockId) -> Result<Option<Arc<[u8]>>, Self::Error>;

    /// Those of some blocks that are there.
    ///
    /// # Errors
    /// When they cannot be read.
    fn read_all(&mut self, blocks: &[BlockId]) -> Result<Vec<NamedBlock>, Self::Error> {
        let mut read = |block: &BlockId| Ok(self.read(*block)?.map(|bytes| (*block, bytes)));
        blocks
            .iter()
            .filter_map(|block| read(block).transpose())
            .collect()
    }

    /// Says which blocks will be read soon, to whoever [is far](Self::ARE_FAR) from them and can keep them until then.
    ///
    /// # Errors
    /// When they cannot be read.
    fn expect(&mut self, blocks: &[BlockId]) -> Result<(), Self::Error> {
        let _ = blocks;
        Ok(())
    }
}

/// Where blocks are written as well.
pub trait WriteBlocks: Blocks {
    /// Keeps a new block.
    ///
    /// # Errors
    /// When it cannot be written.
    fn write(&mut self, block: BlockId, bytes: &[u8]) -> Result<(), Self::Error>;
}

/// Writes the blocks of one kind of a segment, one after the other.
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

    /// How many have been written, and so the number of the next one.
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

/// Reads the blocks of one kind of a segment, and keeps the last one.
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

    /// The block of this number.
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

/// A block that has to be there.
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
