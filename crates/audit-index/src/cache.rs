//! A cache of blocks. Blocks are immutable, so an entry is removed only to free memory or when its segment is deleted.

use crate::blocks::{Block, BlockId, Blocks};
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};

/// A cache of recently read blocks of one index, shared by all its readers.
#[derive(Debug)]
pub struct BlockCache {
    blocks: Cache<BlockId, Block, EntryBytes, DefaultHashBuilder>,
}

/// Weighs an entry by the memory that it takes.
#[derive(Clone, Debug)]
struct EntryBytes;

impl Weighter<BlockId, Block> for EntryBytes {
    fn weight(&self, _block: &BlockId, bytes: &Block) -> u64 {
        (bytes.len() + ENTRY_BYTES) as u64
    }
}

/// Approximate memory per entry in addition to the block's bytes.
const ENTRY_BYTES: usize = 64;
/// The size of most blocks.
const TYPICAL_BLOCK_BYTES: usize = 4 * 1024;
/// The part of the cache for blocks that were read repeatedly. New blocks compete for the rest. It must hold the blocks of a
/// few concurrent prefetches, or they are evicted before they are read.
const HOT_ALLOCATION: f64 = 0.9;
/// Shards divide the memory, and the blocks of a prefetch are not distributed evenly. A hit takes a shared lock only: with two
/// threads, one shard is as fast as eight.
const SHARDS: usize = 1;

impl BlockCache {
    /// A cache that uses at most about `bytes_max` bytes of memory.
    #[must_use]
    pub fn new(bytes_max: usize) -> Self {
        let options = OptionsBuilder::new()
            .weight_capacity(bytes_max as u64)
            .estimated_items_capacity(bytes_max / TYPICAL_BLOCK_BYTES)
            .hot_allocation(HOT_ALLOCATION)
            .shards(SHARDS)
            .build()
            .expect("both capacities are set");
        Self {
            blocks: Cache::with_options(
                options,
                EntryBytes,
                DefaultHashBuilder::default(),
                DefaultLifecycle::default(),
            ),
        }
    }

    /// Reads `blocks` through this cache.
    pub const fn before<B>(&self, blocks: B) -> Cached<'_, B> {
        Cached { cache: self, blocks }
    }

    /// Removes the blocks of a segment.
    pub fn evict(&self, segment: u32) {
        self.blocks.retain(|block, _| block.segment != segment);
    }
}

/// A store of blocks behind a cache.
#[derive(Debug)]
pub struct Cached<'a, B> {
    cache: &'a BlockCache,
    blocks: B,
}

impl<B: Blocks> Blocks for Cached<'_, B> {
    type Error = B::Error;

    const IS_REMOTE: bool = B::IS_REMOTE;

    fn read(&mut self, block: BlockId) -> Result<Option<Block>, B::Error> {
        if let Some(bytes) = self.cache.blocks.get(&block) {
            return Ok(Some(bytes));
        }
        let read = self.blocks.read(block)?;
        if let Some(bytes) = &read {
            self.cache.blocks.insert(block, bytes.clone());
        }
        Ok(read)
    }

    fn prefetch(&mut self, blocks: &[BlockId]) -> Result<(), B::Error> {
        let mut missing: Vec<BlockId> = blocks
            .iter()
            .copied()
            .filter(|block| self.cache.blocks.get(block).is_none())
            .collect();
        missing.sort_unstable();
        missing.dedup();
        if !missing.is_empty() {
            for (block, bytes) in self.blocks.read_all(&missing)? {
                self.cache.blocks.insert(block, bytes);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::{BlockKind, Damaged, NamedBlock};

    const BLOCK_BYTES: usize = 4_000;

    /// A store that has every block and counts how many are read.
    struct Endless<'a>(&'a mut usize);

    impl Blocks for Endless<'_> {
        type Error = Damaged;

        fn read(&mut self, _block: BlockId) -> Result<Option<Block>, Damaged> {
            *self.0 += 1;
            Ok(Some(Block::unchecked(vec![0; BLOCK_BYTES])))
        }
    }

    fn block(segment: u32, number: u32) -> BlockId {
        BlockId {
            segment,
            kind: BlockKind::Postings,
            number,
        }
    }

    /// Reads blocks `numbers` of a segment and returns how many of them the store had to read.
    fn reads(cache: &BlockCache, segment: u32, numbers: std::ops::Range<u32>) -> usize {
        let mut reads = 0;
        let mut blocks = cache.before(Endless(&mut reads));
        for number in numbers {
            assert!(blocks.read(block(segment, number)).unwrap().is_some());
        }
        reads
    }

    #[test]
    fn a_cached_block_is_read_from_the_store_once() {
        let cache = BlockCache::new(1 << 20);
        assert_eq!(reads(&cache, 1, 0..10), 10);
        assert_eq!(reads(&cache, 1, 0..10), 0);
    }

    #[test]
    fn the_cache_stays_within_its_memory() {
        let cache = BlockCache::new(1 << 20);
        reads(&cache, 1, 0..5_000);
        let in_use: usize = cache
            .blocks
            .iter()
            .map(|(_, bytes)| bytes.len() + ENTRY_BYTES)
            .sum();
        assert!(in_use <= 1 << 20, "{in_use}");
        assert!(in_use > 1 << 19, "{in_use}");
    }

    #[test]
    fn a_scan_does_not_evict_the_blocks_that_are_read_again_and_again() {
        let cache = BlockCache::new(1 << 20);
        for _ in 0..10 {
            reads(&cache, 1, 0..50);
        }
        reads(&cache, 2, 0..2_000);
        let missing = reads(&cache, 1, 0..50);
        assert!(missing < 10, "{missing} of 50");
    }

    #[test]
    fn the_blocks_of_an_evicted_segment_are_gone_and_no_others() {
        let cache = BlockCache::new(1 << 20);
        reads(&cache, 1, 0..10);
        reads(&cache, 2, 0..10);
        cache.evict(1);
        assert_eq!(reads(&cache, 2, 0..10), 0);
        assert_eq!(reads(&cache, 1, 0..10), 10);
    }

    #[test]
    fn prefetched_blocks_of_a_full_cache_are_there_when_they_are_read() {
        let cache = BlockCache::new(10 << 20);
        for _ in 0..3 {
            reads(&cache, 1, 0..4_000);
        }
        let expected: Vec<BlockId> = (0..100).map(|number| block(2, number)).collect();
        let mut count = 0;
        let mut blocks = cache.before(Endless(&mut count));
        blocks.prefetch(&expected).unwrap();
        let found: Vec<NamedBlock> = blocks.read_all(&expected).unwrap();
        assert_eq!(found.len(), 100);
        assert!(count < 110, "{count}");
    }
}
