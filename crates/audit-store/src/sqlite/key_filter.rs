//! The idempotency keys that a ledger may have: an in-memory Bloom filter in front of the index.
//!
//! A unique B-tree over random keys is the costliest index an event can have. Nearly every key is new, and for a new
//! key the filter is certain that it is absent, so only repeats and few new keys are looked up.

use fastbloom::BloomFilter;

/// Bits for each key; with [`PROBES`] probes each full layer has a false positive for 1 in 5,000 new keys.
const BITS_PER_KEY: usize = 20;
const PROBES: u32 = 7;
/// Keys of the first layer. Each further layer takes eight times as many, up to [`LAYER_KEYS_MAX`].
const LAYER_KEYS_MIN: usize = 256;
/// Keys of the largest layers: 2.5 MiB each.
const LAYER_KEYS_MAX: usize = 1 << 20;

/// A growing Bloom filter over 16-byte hashes. A Bloom filter has a fixed size, so each full one is followed by another.
#[derive(Debug, Default)]
pub(crate) struct KeyFilter {
    layers: Vec<Layer>,
}

#[derive(Debug)]
struct Layer {
    filter: BloomFilter,
    keys: usize,
    keys_max: usize,
}

impl Layer {
    fn new(keys_max: usize) -> Self {
        Self {
            filter: BloomFilter::with_num_bits(keys_max * BITS_PER_KEY).hashes(PROBES),
            keys: 0,
            keys_max,
        }
    }
}

/// The key is a cryptographic hash already, so a part of it serves as its hash.
fn hash(key: &[u8; 16]) -> u64 {
    (u128::from_be_bytes(*key) >> 64) as u64
}

impl KeyFilter {
    /// `false` when the key has certainly never been inserted.
    pub(crate) fn may_hold(&self, key: &[u8; 16]) -> bool {
        let hash = hash(key);
        self.layers
            .iter()
            .rev()
            .any(|layer| layer.filter.contains_hash(hash))
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
            last.filter.insert_hash(hash(key));
            last.keys += 1;
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
    fn an_inserted_key_is_always_found_and_few_others_are() {
        let mut filter = KeyFilter::default();
        assert!(!filter.may_hold(&key(0)));
        for number in 0..20_000 {
            filter.insert(&key(number));
        }
        assert!((0..20_000).all(|number| filter.may_hold(&key(number))));
        let false_positives = (20_000..220_000)
            .filter(|number| filter.may_hold(&key(*number)))
            .count();
        // Three full layers, and one that is not.
        assert!(false_positives < 200, "{false_positives} of 200,000");
    }
}
