//! The position of an idempotency key in a Bloom filter of blocks.
//!
//! All bits of a key are in one block, so that a look-up reads one place of the memory, or one row of the database. SQLite stores
//! the blocks (`sqlite::seen_keys`), so hashes and the size of a block are a stored format.

use crate::append::idempotency::KeyHash;
use crate::ids::LedgerId;

/// Size of a block. Two of them fit into a page of the database.
pub(crate) const BLOCK_BYTES: usize = 4_000;
const BLOCK_BITS: u64 = BLOCK_BYTES as u64 * 8;
/// Bits of a key.
const PROBES: u32 = 8;

/// The position of a key: its block, and its bits in there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    block: u64,
    bits: u64,
}

impl Probe {
    /// The key is a cryptographic hash already, so its halves serve as hashes.
    pub(crate) fn of(ledger_id: LedgerId, key: &KeyHash) -> Self {
        /// Distributes the ledger's number over all bits (2^64 divided by the golden ratio).
        const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
        let key = u128::from_be_bytes(*key);
        Self {
            block: ((key >> 64) as u64) ^ ledger_id.0.unsigned_abs().wrapping_mul(SPREAD),
            bits: key as u64,
        }
    }

    /// Its block, of this many.
    pub(crate) fn block_in(self, blocks: usize) -> usize {
        ((u128::from(self.block) * blocks as u128) >> 64) as usize
    }

    /// Its bits in a block: byte and mask.
    fn bits(self) -> impl Iterator<Item = (usize, u8)> {
        let (first, step) = (self.bits as u32, (self.bits >> 32) as u32 | 1);
        (0..PROBES).map(move |probe| {
            let hash = first.wrapping_add(step.wrapping_mul(probe));
            let bit = (u64::from(hash) * BLOCK_BITS) >> 32;
            ((bit / 8) as usize, 1 << (bit % 8))
        })
    }

    /// Sets its bits in a block of [`BLOCK_BYTES`].
    pub(crate) fn insert_into(self, block: &mut [u8]) {
        for (byte, mask) in self.bits() {
            block[byte] |= mask;
        }
    }

    /// Whether a block may have the key. One that is missing or damaged may have any key.
    pub(crate) fn may_be_in(self, block: Option<&[u8]>) -> bool {
        match block {
            Some(block) if block.len() == BLOCK_BYTES => {
                self.bits().all(|(byte, mask)| block[byte] & mask != 0)
            }
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With other hashes a stored key would not be found.
    #[test]
    fn the_stored_format_is_stable() {
        let probe = Probe::of(LedgerId(3), &std::array::from_fn(|byte| byte as u8 * 17));
        let bits: Vec<_> = probe.bits().collect();
        assert_eq!(
            (probe.block_in(8_192), &bits[..2]),
            (6_998, &[(3_201, 1), (1_335, 8)][..])
        );
    }
}
