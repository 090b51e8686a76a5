//! Questions that no tree can answer.

use crate::subtree::TREE_LEAVES_MAX;

/// A leaf or a size that the tree in question does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RangeError {
    /// The leaf is beyond the end of the tree.
    #[error("there is no leaf {index} in a tree of {size} leaves")]
    NoSuchLeaf {
        /// The leaf.
        index: u64,
        /// The tree's size.
        size: u64,
    },
    /// The earlier tree is larger than the later one.
    #[error("a tree of {from} leaves is no beginning of one of {to} leaves")]
    Backwards {
        /// Size of the tree that should be the earlier one.
        from: u64,
        /// Size of the other.
        to: u64,
    },
    /// The tree is larger than [`TREE_LEAVES_MAX`].
    #[error("a tree of {size} leaves is larger than there can be")]
    TooLarge {
        /// The tree's size.
        size: u64,
    },
}

impl RangeError {
    pub(crate) fn check_size(size: u64) -> Result<(), Self> {
        if size > TREE_LEAVES_MAX {
            return Err(Self::TooLarge { size });
        }
        Ok(())
    }

    pub(crate) fn check_leaf(index: u64, size: u64) -> Result<(), Self> {
        Self::check_size(size)?;
        if index >= size {
            return Err(Self::NoSuchLeaf { index, size });
        }
        Ok(())
    }

    pub(crate) fn check_growth(from: u64, to: u64) -> Result<(), Self> {
        Self::check_size(to)?;
        if from > to {
            return Err(Self::Backwards { from, to });
        }
        Ok(())
    }
}

/// Something could not be made from the hashes of a tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError<E> {
    /// It cannot be, whatever the hashes are.
    #[error(transparent)]
    Range(#[from] RangeError),
    /// A hash could not be read.
    #[error("cannot read the hashes of the tree")]
    Source(#[source] E),
}
