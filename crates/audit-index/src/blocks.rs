//! Blocks: the unit in which segments are stored.
//!
//! A block is an immutable byte string of about 4 KB, identified by [`BlockId`]: its content, and a checksum (CRC-32C, 4 bytes,
//! little endian) over its key and content. The format of the content depends on the [`BlockKind`]: see the modules `ids`,
//! `dictionary`, `postings` and `disjoint`. The key of a block is a 64-bit number: bits 32 to 62 the segment, bits 28 to
//! 31 the kind (0 ids, 1 dictionary, 2 postings, 3 directory, 4 first ids, 5 disjoint), bits 0 to 27 the number.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// Most blocks per prefetch.
pub(crate) const PREFETCH_BLOCKS_MAX: usize = 100;

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
    /// The first id of each ids block.
    FirstIds,
    /// Which dense posting lists have no row in common.
    Disjoint,
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

impl fmt::Display for BlockId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            BlockKind::Ids => "ids",
            BlockKind::Dictionary => "dictionary",
            BlockKind::Postings => "postings",
            BlockKind::Directory => "directory",
            BlockKind::FirstIds => "first ids",
            BlockKind::Disjoint => "disjoint",
        };
        write!(f, "{kind} block {} of segment {}", self.number, self.segment)
    }
}

/// The damaged part of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The descriptor of a segment.
    Segment(u32),
    /// A block.
    Block(BlockId),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Segment(id) => write!(f, "segment {id}"),
            Self::Block(block) => block.fmt(f),
        }
    }
}

/// A block is missing, or a block or descriptor is not the one that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the index is damaged: {}{what}", .place.map(|place| format!("{place}: ")).unwrap_or_default())]
pub struct Damaged {
    /// The damaged part, if it is known.
    pub place: Option<Place>,
    /// The inconsistency.
    pub what: &'static str,
}

impl Damaged {
    pub(crate) const fn new(what: &'static str) -> Self {
        Self { place: None, what }
    }

    pub(crate) const fn in_block(self, block: BlockId) -> Self {
        self.at(Place::Block(block))
    }

    pub(crate) const fn in_segment(self, id: u32) -> Self {
        self.at(Place::Segment(id))
    }

    /// Adds the place, unless it is known.
    const fn at(self, place: Place) -> Self {
        match self.place {
            Some(_) => self,
            None => Self {
                place: Some(place),
                what: self.what,
            },
        }
    }
}

/// Length of a checksum.
pub(crate) const CHECKSUM_BYTES: usize = 4;

/// The checksum of a block: CRC-32C over the block's key (64 bits, little endian) and its content. The key is covered, so that
/// a block in the place of another one is noticed.
fn checksum_of(block: BlockId, content: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&block.key().to_le_bytes()), content)
}

/// A block that was read from storage and has the right checksum. Dereferences to its content, without the checksum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block(Arc<[u8]>);

impl Block {
    /// Checks the stored bytes of a block.
    ///
    /// # Errors
    /// If they are not the bytes that were written for this block.
    pub fn check(block: BlockId, stored: impl Into<Arc<[u8]>>) -> Result<Self, Damaged> {
        let stored = stored.into();
        let is_right = stored
            .split_last_chunk()
            .is_some_and(|(content, checksum)| u32::from_le_bytes(*checksum) == checksum_of(block, content));
        match is_right {
            true => Ok(Self(stored)),
            false => Err(Damaged::new("the checksum does not match the content").in_block(block)),
        }
    }

    /// A block with any content, for tests of what does not look at it.
    #[cfg(test)]
    pub(crate) fn unchecked(stored: Vec<u8>) -> Self {
        Self(stored.into())
    }

    /// A block without content.
    pub(crate) fn empty() -> Self {
        Self(Arc::new([0; CHECKSUM_BYTES]))
    }
}

impl Deref for Block {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let content = self.0.len().saturating_sub(CHECKSUM_BYTES);
        self.0.get(..content).unwrap_or_default()
    }
}

/// A block with its identity.
pub type NamedBlock = (BlockId, Block);

/// A store of blocks for reading.
pub trait Blocks {
    /// The error of a read or write.
    type Error: From<Damaged>;

    /// Whether a read has high latency, so that [`Self::prefetch`] pays.
    const IS_REMOTE: bool = false;

    /// A block, or `None` if it does not exist.
    ///
    /// # Errors
    /// If the read fails, or the block is damaged ([`Block::check`]).
    fn read(&mut self, block: BlockId) -> Result<Option<Block>, Self::Error>;

    /// Several blocks in one request, without those that do not exist.
    ///
    /// # Errors
    /// As [`Self::read`].
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

/// A store of blocks for reading and writing. Reads find what was written before.
pub trait WriteBlocks: Blocks {
    /// Stores a new block: content and checksum.
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

    /// Writes a block of this content and clears `content`.
    pub(crate) fn write<B: WriteBlocks>(
        &mut self,
        content: &mut Vec<u8>,
        blocks: &mut B,
    ) -> Result<(), B::Error> {
        let block = BlockId {
            segment: self.segment,
            kind: self.kind,
            number: self.count,
        };
        self.count += 1;
        content.extend(checksum_of(block, content).to_le_bytes());
        blocks.write(block, content)?;
        content.clear();
        Ok(())
    }
}

/// Reads the blocks of one kind of a segment and caches the last one.
#[derive(Debug)]
pub(crate) struct BlockReader {
    segment: u32,
    kind: BlockKind,
    last: Option<(u32, Block)>,
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
            None => (number, read(blocks, self.block(number))?),
        };
        Ok(&self.last.insert(last).1)
    }
}

/// Reads a block that must exist.
pub(crate) fn read<B: Blocks>(blocks: &mut B, block: BlockId) -> Result<Block, B::Error> {
    let missing = Damaged::new("the block is missing").in_block(block);
    Ok(blocks.read(block)?.ok_or(missing)?)
}
