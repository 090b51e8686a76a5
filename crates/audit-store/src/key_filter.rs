//! Which idempotency keys a ledger may have seen: an in-memory Bloom filter in front of the index.
//!
//! A unique B-tree over random keys is the costliest index an event can have. Nearly every key is new, and for a new
//! key the filter's answer ("never seen") is certain, so only repeats and few new keys are looked up.

/// Bits for each key; with [`PROBES`] probes each full layer lets 1 in 1,700 new keys through, to be looked up in vain.
const BITS_PER_KEY: usize = 16;
const PROBES: u32 = 8;
/// Keys of the first layer. Each further layer takes four times as many, up to [`LAYER_KEYS_MAX`].
const LAYER_KEYS_MIN: usize = 256;
/// Keys of the largest layers: 2 MiB each.
const LAYER_KEYS_MAX: usize = 1 << 20;

/// A growing Bloom filter over 16-byte hashes.
#[derive(Debug, Default)]
pub(crate) struct KeyFilter {
    layers: Vec<Layer>,
}

#[derive(Debug)]
struct Layer {
    bits: Vec<u64>,
    keys: usize,
    keys_max: usize,
}

impl Layer {
    fn new(keys_max: usize) -> Self {
        Self {
            bits: vec![0; keys_max * BITS_PER_KEY / 64],
            keys: 0,
            keys_max,
        }
    }

    /// The places of a key. It is a cryptographic hash already, so two of its words serve for any number of hash
    /// functions (Kirsch and Mitzenmacher, "Less Hashing, Same Performance", 2006).
    fn places(&self, key: &[u8; 16]) -> impl Iterator<Item = (usize, u64)> + use<> {
        let word = |range: std::ops::Range<usize>| {
            key[range]
                .iter()
                .fold(0_u64, |word, byte| word << 8 | u64::from(*byte))
        };
        let (first, step) = (word(0..8), word(8..16) | 1);
        let mask = (self.bits.len() * 64 - 1) as u64;
        (0..PROBES).map(move |probe| {
            let bit = first.wrapping_add(step.wrapping_mul(u64::from(probe))) & mask;
            ((bit / 64) as usize, 1 << (bit % 64))
        })
    }

    fn may_hold(&self, key: &[u8; 16]) -> bool {
        self.places(key).all(|(word, bit)| self.bits[word] & bit != 0)
    }

    fn insert(&mut self, key: &[u8; 16]) {
        for (word, bit) in self.places(key) {
            self.bits[word] |= bit;
        }
        self.keys += 1;
    }
}

impl KeyFilter {
    /// `false` when the key has certainly never been inserted.
    pub(crate) fn may_hold(&self, key: &[u8; 16]) -> bool {
        self.layers.iter().rev().any(|layer| layer.may_hold(key))
    }

    /// Adds a key.
    pub(crate) fn insert(&mut self, key: &[u8; 16]) {
        let keys_max = match self.layers.last() {
            Some(last) if last.keys < last.keys_max => None,
            Some(last) => Some((last.keys_max * 4).min(LAYER_KEYS_MAX)),
            None => Some(LAYER_KEYS_MIN),
        };
        self.layers.extend(keys_max.map(Layer::new));
        if let Some(last) = self.layers.last_mut() {
            last.insert(key);
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
    fn no_key_is_ever_forgotten_and_few_are_made_up() {
        let mut filter = KeyFilter::default();
        assert!(!filter.may_hold(&key(0)));
        for number in 0..20_000 {
            filter.insert(&key(number));
        }
        assert!((0..20_000).all(|number| filter.may_hold(&key(number))));
        let made_up = (20_000..120_000)
            .filter(|number| filter.may_hold(&key(*number)))
            .count();
        assert!(made_up < 400, "{made_up} of 100,000");
    }
}
