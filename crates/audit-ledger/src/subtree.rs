//! Where a hash is in the tree.

use crate::Hash;
use std::ops::Range;

/// The most leaves of a tree that is read or proved. Far enough from where 64-bit numbers end (the signed ones of
/// databases and of other implementations, too) that nothing overflows, however long one appends afterwards.
pub const TREE_LEAVES_MAX: u64 = 1 << 62;

/// A complete subtree: `2^level` leaves from leaf `index · 2^level` on. Once all its leaves are there its hash never
/// changes, so these are the hashes that are worth keeping. Level 0 are the leaves themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subtree {
    level: u8,
    index: u64,
}

impl Subtree {
    /// The subtree at a place, or `None` when it ends after [`TREE_LEAVES_MAX`].
    pub const fn new(level: u8, index: u64) -> Option<Self> {
        if level as u32 <= TREE_LEAVES_MAX.ilog2() && index < TREE_LEAVES_MAX >> level {
            Some(Self { level, index })
        } else {
            None
        }
    }

    /// How many doublings lead from a leaf to this subtree.
    pub const fn level(&self) -> u8 {
        self.level
    }

    /// How many subtrees of this level are to the left. At level 0 that is the index of the leaf, an event's `seq`.
    pub const fn index(&self) -> u64 {
        self.index
    }

    /// The leaves below.
    pub const fn leaves(&self) -> Range<u64> {
        self.index << self.level..(self.index + 1) << self.level
    }

    /// The complete subtrees that make up a tree of `size` leaves, largest first.
    pub fn of_tree(size: u64) -> impl Iterator<Item = Self> {
        Self::covering(0..size)
    }

    /// The complete subtrees that make up some leaves, largest first. `leaves.start` is 0 or a multiple of the least
    /// power of two that is not below the number of leaves: thus begins everything that RFC 9162 takes the hash of.
    pub(crate) fn covering(leaves: Range<u64>) -> impl Iterator<Item = Self> {
        let mut start = leaves.start;
        std::iter::from_fn(move || {
            let level = leaves.end.checked_sub(start)?.checked_ilog2()?;
            let index = start >> level;
            start += 1 << level;
            // A logarithm of 64 bits fits into 8.
            Some(Self {
                level: level as u8,
                index,
            })
        })
    }
}

/// The hash over neighbouring complete subtrees, given largest first: MTH of RFC 9162 §2.1.1, which splits at the largest
/// power of two every time.
pub(crate) fn join(subtrees: impl DoubleEndedIterator<Item = Hash>) -> Hash {
    subtrees
        .rev()
        .reduce(|right, left| Hash::of_node(&left, &right))
        .unwrap_or_else(Hash::of_empty_tree)
}

/// The hash over some leaves, for which see [`Subtree::covering`].
pub(crate) fn hash_over<E>(
    leaves: Range<u64>,
    source: &mut impl FnMut(Subtree) -> Result<Hash, E>,
) -> Result<Hash, E> {
    let hashes = Subtree::covering(leaves).map(source);
    Ok(join(hashes.collect::<Result<Vec<_>, E>>()?.into_iter()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_made_of_one_subtree_for_each_bit_of_its_size() {
        let places = |size| Subtree::of_tree(size).map(|s| s.leaves()).collect::<Vec<_>>();
        assert_eq!(places(0), []);
        assert_eq!(places(7), [0..4, 4..6, 6..7]);
        assert_eq!(places(TREE_LEAVES_MAX), [0..TREE_LEAVES_MAX]);
        let all = Subtree::of_tree(TREE_LEAVES_MAX - 1).collect::<Vec<_>>();
        assert_eq!(all.len(), 62);
        assert!(
            all.windows(2)
                .all(|pair| pair[0].leaves().end == pair[1].leaves().start)
        );
    }

    #[test]
    fn no_subtree_ends_after_the_largest_tree() {
        assert_eq!(Subtree::new(62, 0).map(|s| s.leaves()), Some(0..TREE_LEAVES_MAX));
        assert_eq!(Subtree::new(62, 1), None);
        assert_eq!(Subtree::new(63, 0), None);
        assert_eq!(Subtree::new(255, 0), None);
        assert!(Subtree::new(0, TREE_LEAVES_MAX - 1).is_some());
        assert_eq!(Subtree::new(0, TREE_LEAVES_MAX), None);
    }
}
