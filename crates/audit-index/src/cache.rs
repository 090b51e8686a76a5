//! A cache of blocks. Blocks are immutable, so an entry is removed only to free memory or when its segment is deleted.

use crate::blocks::{BlockId, Blocks};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A cache of recently read blocks of one index, shared by all its readers.
#[derive(Debug)]
pub struct BlockCache {
    generation_bytes_max: usize,
    generations: Mutex<Generations>,
}

/// A hit in the old generation moves the block to the young one. When the young generation is full, it replaces the old one.
#[derive(Debug, Default)]
struct Generations {
    young: HashMap<BlockId, Arc<[u8]>>,
    young_bytes: usize,
    old: HashMap<BlockId, Arc<[u8]>>,
}

/// Approximate memory per entry in addition to the block's bytes.
const ENTRY_BYTES: usize = 64;

impl BlockCache {
    /// A cache that uses at most about `bytes_max` bytes of memory.
    #[must_use]
    pub fn new(bytes_max: usize) -> Self {
        Self {
            generation_bytes_max: bytes_max / 2,
            generations: Mutex::default(),
        }
    }

    /// Reads `blocks` through this cache.
    pub const fn before<B>(&self, blocks: B) -> Cached<'_, B> {
        Cached { cache: self, blocks }
    }

    /// Removes the blocks of a segment.
    pub fn evict(&self, segment: u32) {
        let mut generations = self.lock();
        let Generations {
            young,
            young_bytes,
            old,
        } = &mut *generations;
        young.retain(|block, bytes| {
            let is_kept = block.segment != segment;
            *young_bytes -= if is_kept { 0 } else { bytes.len() + ENTRY_BYTES };
            is_kept
        });
        old.retain(|block, _| block.segment != segment);
    }

    /// No code that can panic runs under the lock, so a poisoned lock guards consistent data.
    fn lock(&self) -> MutexGuard<'_, Generations> {
        self.generations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, block: BlockId) -> Option<Arc<[u8]>> {
        let mut generations = self.lock();
        if let Some(bytes) = generations.young.get(&block) {
            return Some(Arc::clone(bytes));
        }
        let bytes = generations.old.remove(&block)?;
        self.keep(&mut generations, block, &bytes);
        Some(bytes)
    }

    fn keep(&self, generations: &mut Generations, block: BlockId, bytes: &Arc<[u8]>) {
        generations.young_bytes += bytes.len() + ENTRY_BYTES;
        generations.young.insert(block, Arc::clone(bytes));
        if generations.young_bytes > self.generation_bytes_max {
            generations.old = std::mem::take(&mut generations.young);
            generations.young_bytes = 0;
        }
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

    fn read(&mut self, block: BlockId) -> Result<Option<Arc<[u8]>>, B::Error> {
        if let Some(bytes) = self.cache.get(block) {
            return Ok(Some(bytes));
        }
        let read = self.blocks.read(block)?;
        if let Some(bytes) = &read {
            self.cache.keep(&mut self.cache.lock(), block, bytes);
        }
        Ok(read)
    }

    fn prefetch(&mut self, blocks: &[BlockId]) -> Result<(), B::Error> {
        let mut missing: Vec<BlockId> = blocks
            .iter()
            .copied()
            .filter(|block| self.cache.get(*block).is_none())
            .collect();
        missing.sort_unstable();
        missing.dedup();
        if !missing.is_empty() {
            for (block, bytes) in self.blocks.read_all(&missing)? {
                self.cache.keep(&mut self.cache.lock(), block, &bytes);
            }
        }
        Ok(())
    }
}
