//! Range checks for leaves and sizes.

use crate::subtree::TREE_LEAVES_MAX;

/// A leaf or size is out of range.
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
    #[error("a tree of {to} leaves cannot continue a tree of {from} leaves")]
    Backwards {
        /// Size of the earlier tree.
        from: u64,
        /// Size of the later tree.
        to: u64,
    },
    /// The tree is larger than [`TREE_LEAVES_MAX`].
    #[error("{size} leaves are more than the largest tree has")]
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

/// A proof or frontier cannot be built from the hashes of a tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError<E> {
    /// A leaf or size is out of range.
    #[error(transparent)]
    Range(#[from] RangeError),
    /// A hash cannot be read.
    #[error("cannot read the hashes of the tree")]
    Source(#[source] E),
}
