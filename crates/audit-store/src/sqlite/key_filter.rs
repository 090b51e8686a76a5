//! The idempotency keys that a ledger may have: an in-memory Bloom filter in front of the index.
//!
//! A unique B-tree over random keys is the costliest index an event can have. Nearly every key is new, and for a new
//! key the filter is certain that it is absent, so only repeats and few new keys are looked up.

/// Bits for each key; with [`PROBES`] probes each full layer has a false positive for 1 in 4,000 new keys.
const BITS_PER_KEY: usize = 20;
const PROBES: u32 = 8;
/// Keys of the first layer. Each further layer takes eight times as many, up to [`LAYER_KEYS_MAX`].
const LAYER_KEYS_MIN: usize = 256;
/// Keys of the largest layers: 2.5 MiB each.
const LAYER_KEYS_MAX: usize = 1 << 20;

/// A growing Bloom filter over 16-byte hashes.
#[derive(Debug, Default)]
pub(crate) struct KeyFilter {
    layers: Vec<Layer>,
}

/// All bits of a key are in one block, so that it costs one access to memory (Putze, Sanders and Singler, "Cache-, Hash- and
/// Space-Efficient Bloom Filters", 2007).
#[derive(Debug)]
struct Layer {
    blocks: Vec<Block>,
    keys: usize,
    keys_max: usize,
}

/// A line of the processor's cache.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Block([u64; 8]);

impl Block {
    const BITS: usize = 512;

    /// Whether all bits of `mask` are in it.
    fn has(&self, mask: &Self) -> bool {
        self.0
            .iter()
            .zip(&mask.0)
            .all(|(word, bits)| word & bits == *bits)
    }

    /// Sets the bits of `mask`.
    fn add(&mut self, mask: &Self) {
        for (word, bits) in self.0.iter_mut().zip(&mask.0) {
            *word |= bits;
        }
    }
}

/// The bits of a key, for every layer. A key is a cryptographic hash already, so its parts serve as hashes.
struct KeyBits {
    /// Selects the block.
    block: u64,
    /// The bits within the block.
    mask: Block,
}

impl KeyBits {
    fn of(key: &[u8; 16]) -> Self {
        const WIDTH: u32 = Block::BITS.ilog2();
        let key = u128::from_be_bytes(*key);
        let mut mask = Block::default();
        for probe in 0..PROBES {
            // From the low bits: the high bits select the block.
            let bit = (key >> (probe * WIDTH)) as usize % Block::BITS;
            mask.0[bit / 64] |= 1 << (bit % 64);
        }
        Self {
            block: (key >> 64) as u64,
            mask,
        }
    }
}

impl Layer {
    fn new(keys_max: usize) -> Self {
        Self {
            blocks: vec![Block::default(); keys_max * BITS_PER_KEY / Block::BITS],
            keys: 0,
            keys_max,
        }
    }

    fn block_of(&self, key: &KeyBits) -> usize {
        ((u128::from(key.block) * self.blocks.len() as u128) >> 64) as usize
    }

    fn may_hold(&self, key: &KeyBits) -> bool {
        self.blocks[self.block_of(key)].has(&key.mask)
    }

    fn insert(&mut self, key: &KeyBits) {
        let block = self.block_of(key);
        self.blocks[block].add(&key.mask);
        self.keys += 1;
    }
}

impl KeyFilter {
    /// `false` when the key has certainly never been inserted.
    pub(crate) fn may_hold(&self, key: &[u8; 16]) -> bool {
        let key = KeyBits::of(key);
        self.layers.iter().rev().any(|layer| layer.may_hold(&key))
    }

    /// Adds a key.
    pub(crate) fn insert(&mut self, key: &[u8; 16]) {
        let keys_max = match self.layers.last() {
            Some(last) if last.keys < last.keys_max => None,
            Some(last) => Some((last.keys_max * 8).min(LAYER_KEYS_MAX)),
            None => Some(LAYER_KEYS_MIN),
        };
        self.layers.extend(keys_max.map(Layer::new));
        if let Some(last) = self.layers.last_mut() {
            last.insert(&KeyBits::of(key));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    fn key(number: u32) -> [u8; 16] {
        Sha256::digest(number.to_be_bytes())[..16].try_into().unwrap()
    }

    #[test]
    fn inserted_keys_are_always_found_and_false_positives_are_rare() {
        let mut filter = KeyFilter::default();
        assert!(!filter.may_hold(&key(0)));
        for number in 0..20_000 {
            filter.insert(&key(number));
        }
        assert!((0..20_000).all(|number| filter.may_hold(&key(number))));
        let false_positives = (20_000..220_000)
            .filter(|number| filter.may_hold(&key(*number)))
            .count();
        // Three full layers, and a partial one.
        assert!(false_positives < 200, "{false_positives} of 200,000");
    }
}
