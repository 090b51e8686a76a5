//! Complete subtrees: the positions of hashes in the tree.

use crate::Hash;
use std::ops::Range;

/// Most leaves of a tree that is read or proved. Far enough below the limits of signed and unsigned 64-bit integers that no
/// arithmetic overflows, also after further appends.
pub const TREE_LEAVES_MAX: u64 = 1 << 62;

/// A complete subtree: `2^level` leaves from leaf `index · 2^level`. Its hash never changes, so it can be stored. The
/// subtrees of level 0 are the leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subtree {
    level: u8,
    index: u64,
}

impl Subtree {
    /// The subtree at this level and index, or `None` if it ends after [`TREE_LEAVES_MAX`].
    pub const fn new(level: u8, index: u64) -> Option<Self> {
        if level as u32 <= TREE_LEAVES_MAX.ilog2() && index < TREE_LEAVES_MAX >> level {
            Some(Self { level, index })
        } else {
            None
        }
    }

    /// The level: 0 for a leaf.
    pub const fn level(&self) -> u8 {
        self.level
    }

    /// The index within the level. At level 0 it is the index of the leaf, which is the event's `seq`.
    pub const fn index(&self) -> u64 {
        self.index
    }

    /// The leaves of the subtree.
    pub const fn leaves(&self) -> Range<u64> {
        self.index << self.level..(self.index + 1) << self.level
    }

    /// Its two halves; none of a leaf.
    pub(crate) const fn halves(&self) -> Option<[Self; 2]> {
        let Some(level) = self.level.checked_sub(1) else {
            return None;
        };
        let index = self.index * 2;
        Some([
            Self { level, index },
            Self {
                level,
                index: index + 1,
            },
        ])
    }

    /// The complete subtrees that make up a tree of `size` leaves, largest first. A larger size counts as
    /// [`TREE_LEAVES_MAX`].
    pub fn of_tree(size: u64) -> impl Iterator<Item = Self> {
        Self::covering(0..size.min(TREE_LEAVES_MAX))
    }

    /// The complete subtrees that make up a range of leaves, largest first. `leaves.start` is 0 or a multiple of the least
    /// power of two that is at least the number of leaves. This holds for every range that RFC 9162 hashes.
    pub(crate) fn covering(leaves: Range<u64>) -> impl Iterator<Item = Self> {
        let mut start = leaves.start;
        std::iter::from_fn(move || {
            let level = leaves.end.checked_sub(start)?.checked_ilog2()?;
            let index = start >> level;
            start += 1 << level;
            // The logarithm of a 64-bit number fits into 8 bits.
            Some(Self {
                level: level as u8,
                index,
            })
        })
    }
}

/// The hash over adjacent complete subtrees, given largest first: MTH of RFC 9162 §2.1.1, which splits at the largest power
/// of two.
pub(crate) fn join(subtrees: impl DoubleEndedIterator<Item = Hash>) -> Hash {
    subtrees
        .rev()
        .reduce(|right, left| Hash::of_node(&left, &right))
        .unwrap_or_else(Hash::of_empty_tree)
}

/// The hash over a range of leaves, which must satisfy the condition of [`Subtree::covering`].
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
    fn a_tree_has_one_subtree_for_each_bit_of_its_size() {
        let ranges = |size| Subtree::of_tree(size).map(|s| s.leaves()).collect::<Vec<_>>();
        assert_eq!(ranges(0), []);
        assert_eq!(ranges(7), [0..4, 4..6, 6..7]);
        assert!(Subtree::of_tree(TREE_LEAVES_MAX).eq(Subtree::new(62, 0)));
        assert!(Subtree::of_tree(u64::MAX).eq(Subtree::new(62, 0)));
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
