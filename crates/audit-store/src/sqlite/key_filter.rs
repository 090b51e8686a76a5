//! A Bloom filter over the idempotency keys of all ledgers, in layers.
//!
//! A unique B-tree over random keys is the costliest index an event can have. Nearly every key is new, and for a new
//! key the filter is certain that it is absent, so only repeats and few new keys are looked up.
//!
//! A layer is an array of blocks of [`BLOCK_BYTES`]. A key has one block in each layer, and eight bits in it. Once a layer has
//! [`KEYS_PER_BLOCK`] keys per block on average, it is full, never changes again, and the next one, which is larger, follows. The
//! first key of a month begins a layer of the smallest size, so that the layers of past months can be dropped. The blocks are stored in
//! the database ([`super::seen_keys`]), so hashes and sizes are a stored format. At most one of the largest layers is needed in
//! memory.

pub(crate) use crate::append::key_probe::{BLOCK_BYTES, Probe};

use audit_domain::Month;

/// Keys of a block of a full layer, on average: 16 bits for each. With eight probes a full layer has a false positive for
/// 1 in 1,700 new keys.
const KEYS_PER_BLOCK: usize = 2_000;
/// Blocks of a layer of the smallest size: 64 KB, for 32,000 keys. Each further size has eight times as many, up to the fourth.
const FIRST_BLOCKS: usize = 16;
/// The largest size: 8,192 blocks, 31 MiB, 16.4 million keys.
pub(crate) const LARGEST: i64 = 3;

/// The number of blocks of a layer of this size.
pub(crate) fn blocks_of(size: i64) -> usize {
    FIRST_BLOCKS << (3 * size.clamp(0, LARGEST))
}

/// The number of keys of a full layer of this size.
pub(crate) fn keys_max(size: i64) -> usize {
    blocks_of(size) * KEYS_PER_BLOCK
}

/// A layer in memory.
#[derive(Debug)]
pub(crate) struct Layer {
    pub(crate) number: i64,
    /// From 0 to [`LARGEST`].
    pub(crate) size: i64,
    /// The latest month of its keys. Layers of higher numbers have no earlier months.
    pub(crate) month: Month,
    /// Inserted keys.
    pub(crate) keys: usize,
    /// Whether it takes no more keys, and the database has all of it.
    pub(crate) is_stored: bool,
    blocks: Box<[u8]>,
}

impl Layer {
    pub(crate) fn new(number: i64, size: i64, month: Month) -> Self {
        Self {
            number,
            size,
            month,
            keys: 0,
            is_stored: false,
            blocks: vec![0; blocks_of(size) * BLOCK_BYTES].into_boxed_slice(),
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.keys >= keys_max(self.size)
    }

    /// The bytes of a block; empty beyond the last one.
    pub(crate) fn block(&self, block: usize) -> &[u8] {
        self.blocks
            .chunks_exact(BLOCK_BYTES)
            .nth(block)
            .unwrap_or_default()
    }

    fn block_mut(&mut self, block: usize) -> Option<&mut [u8]> {
        self.blocks.chunks_exact_mut(BLOCK_BYTES).nth(block)
    }

    /// Sets a block to its stored bytes. A damaged one may have any key from then on.
    pub(crate) fn set_block(&mut self, block: usize, bytes: Option<&[u8]>) {
        let Some(own) = self.block_mut(block) else { return };
        match bytes {
            Some(bytes) if bytes.len() == own.len() => own.copy_from_slice(bytes),
            _ => own.fill(u8::MAX),
        }
    }

    pub(crate) fn insert(&mut self, probe: Probe) {
        self.keys += 1;
        let block = probe.block_in(blocks_of(self.size));
        if let Some(block) = self.block_mut(block) {
            probe.insert_into(block);
        }
    }

    pub(crate) fn may_hold(&self, probe: Probe) -> bool {
        probe.may_be_in(Some(self.block(probe.block_in(blocks_of(self.size)))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::LedgerId;
    use sha2::{Digest, Sha256};

    fn probe(number: u32) -> Probe {
        let hash = Sha256::digest(number.to_be_bytes());
        Probe::of(LedgerId(7), &hash[..16].try_into().unwrap())
    }

    #[test]
    fn an_inserted_key_is_always_found_and_few_others_are() {
        let mut layer = Layer::new(0, 0, Month::MIN);
        assert!(!layer.may_hold(probe(0)));
        let keys = u32::try_from(keys_max(0)).unwrap();
        (0..keys).for_each(|number| layer.insert(probe(number)));
        assert!(layer.is_full());
        assert!((0..keys).all(|number| layer.may_hold(probe(number))));
        let others = keys..keys + 170_000;
        let false_positives = others.filter(|number| layer.may_hold(probe(*number))).count();
        assert!(
            (20..250).contains(&false_positives),
            "{false_positives} of 170,000"
        );
    }

    #[test]
    fn the_same_key_in_two_ledgers_is_two_keys() {
        let mut layer = Layer::new(0, 0, Month::MIN);
        let key = |ledger_id| Probe::of(LedgerId(ledger_id), &[7; 16]);
        layer.insert(key(1));
        assert!(layer.may_hold(key(1)) && !layer.may_hold(key(2)));
    }

    #[test]
    fn a_damaged_block_may_have_any_key() {
        assert!(!probe(1).may_be_in(Some(&[0; BLOCK_BYTES])));
        assert!(probe(1).may_be_in(Some(&[0; 7])) && probe(1).may_be_in(None));
        let mut layer = Layer::new(0, 0, Month::MIN);
        let block = probe(1).block_in(blocks_of(0));
        layer.set_block(block, Some(&[0; BLOCK_BYTES]));
        assert!(!layer.may_hold(probe(1)));
        layer.set_block(block, None);
        assert!(layer.may_hold(probe(1)));
    }

    /// Stored blocks depend on them.
    #[test]
    fn the_sizes_of_layers_are_stable() {
        assert_eq!([0, 1, 2, 3, 4].map(blocks_of), [16, 128, 1_024, 8_192, 8_192]);
    }
}
