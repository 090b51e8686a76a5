//! Blocks that have been read, in memory. They never change, so nothing has to be thrown away but for want of room, or when
//! their segment is gone.

use crate::blocks::{BlockId, Blocks};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The blocks that were read last, of one index, for all who read it.
#[derive(Debug)]
pub struct BlockCache {
    generation_bytes_max: usize,
    generations: Mutex<Generations>,
}

/// What is found in the old generation comes into the young one; when that is full, it becomes the old one.
#[derive(Debug, Default)]
struct Generations {
    young: HashMap<BlockId, Arc<[u8]>>,
    young_bytes: usize,
    old: HashMap<BlockId, Arc<[u8]>>,
}

/// What a block costs besides its bytes, about.
const ENTRY_BYTES: usize = 64;

impl BlockCache {
    /// `bytes_max`: how much memory it may take.
    #[must_use]
    pub fn new(bytes_max: usize) -> Self {
        Self {
            generation_bytes_max: bytes_max / 2,
            generations: Mutex::default(),
        }
    }

    /// `blocks`, with this before them.
    pub const fn before<B>(&self, blocks: B) -> Cached<'_, B> {
        Cached { cache: self, blocks }
    }

    /// Lets go of the blocks of a segment.
    pub fn forget(&self, segment: u32) {
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

    /// The lock is never held while anything can panic, so a poisoned one is as good as new.
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

/// Blocks that are looked for in memory first.
#[derive(Debug)]
pub struct Cached<'a, B> {
    cache: &'a BlockCache,
    blocks: B,
}

impl<B: Blocks> Blocks for Cached<'_, B> {
    type Error = B::Error;

    const ARE_FAR: bool = B::ARE_FAR;

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

    fn expect(&mut self, blocks: &[BlockId]) -> Result<(), B::Error> {
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
