//! Blocks in memory.

use audit_index::{Block, BlockId, BlockKind, Blocks, Damaged, NamedBlock, Segment, WriteBlocks};
use std::collections::BTreeMap;

/// Stored blocks, by key.
#[derive(Default, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Memory(pub(crate) BTreeMap<i64, Vec<u8>>);

impl Blocks for Memory {
    type Error = Damaged;

    fn read(&mut self, block: BlockId) -> Result<Option<Block>, Damaged> {
        let stored = self.0.get(&block.key());
        stored
            .map(|bytes| Block::check(block, bytes.as_slice()))
            .transpose()
    }
}

impl Blocks for &mut Memory {
    type Error = Damaged;

    fn read(&mut self, block: BlockId) -> Result<Option<Block>, Damaged> {
        (**self).read(block)
    }
}

impl WriteBlocks for Memory {
    fn write(&mut self, block: BlockId, bytes: &[u8]) -> Result<(), Damaged> {
        let before = self.0.insert(block.key(), bytes.to_vec());
        assert!(before.is_none(), "{block:?} is written twice");
        Ok(())
    }
}

impl Memory {
    /// The stored blocks of a segment, by key.
    pub(crate) fn of(&self, segment: &Segment) -> Vec<(i64, &[u8])> {
        let blocks = self.0.range(BlockId::keys_of(segment.id));
        blocks.map(|(key, bytes)| (*key, bytes.as_slice())).collect()
    }

    /// The identities of all blocks.
    pub(crate) fn ids(&self) -> Vec<BlockId> {
        let id = |key: &i64| BlockId {
            segment: u32::try_from(key >> 32).expect("the number of a segment"),
            kind: match key >> 28 & 15 {
                0 => BlockKind::Ids,
                1 => BlockKind::Dictionary,
                2 => BlockKind::Postings,
                3 => BlockKind::Directory,
                4 => BlockKind::FirstIds,
                _ => BlockKind::Disjoint,
            },
            number: u32::try_from(key & ((1 << 28) - 1)).expect("the number of a block"),
        };
        self.0.keys().map(id).collect()
    }

    /// Changes the content of a block and gives it the checksum of the new content.
    pub(crate) fn replace(&mut self, key: i64, change: impl FnOnce(&mut Vec<u8>)) {
        let block = self.0.get_mut(&key).expect("a block");
        block.truncate(block.len() - 4);
        change(block);
        let checksum = crc32c::crc32c_append(crc32c::crc32c(&key.to_le_bytes()), block);
        block.extend(checksum.to_le_bytes());
    }
}

/// Blocks in memory that count what is read, as a local or a remote store.
pub(crate) struct Counting<const IS_REMOTE: bool> {
    pub(crate) blocks: Memory,
    /// The number of requests.
    pub(crate) reads: usize,
    /// The blocks of all requests.
    pub(crate) read_blocks: Vec<BlockId>,
}

impl<const IS_REMOTE: bool> Counting<IS_REMOTE> {
    pub(crate) const fn of(blocks: Memory) -> Self {
        Self {
            blocks,
            reads: 0,
            read_blocks: Vec::new(),
        }
    }
}

impl<const IS_REMOTE: bool> Blocks for &mut Counting<IS_REMOTE> {
    type Error = Damaged;
    const IS_REMOTE: bool = IS_REMOTE;

    fn read(&mut self, block: BlockId) -> Result<Option<Block>, Damaged> {
        self.reads += 1;
        self.read_blocks.push(block);
        self.blocks.read(block)
    }

    fn read_all(&mut self, blocks: &[BlockId]) -> Result<Vec<NamedBlock>, Damaged> {
        self.reads += 1;
        self.read_blocks.extend(blocks);
        self.blocks.read_all(blocks)
    }
}
