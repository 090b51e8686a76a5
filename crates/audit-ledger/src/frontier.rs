//! The right edge of a growing tree, which is all that appending needs to know of it.

use crate::range::{RangeError, ReadError};
use crate::subtree::{TREE_LEAVES_MAX, join};
use crate::{Hash, Subtree, TreeHead};

/// The hashes of the complete subtrees that make up a tree: one for each bit that is set in its size. Appending a leaf
/// costs one hash on average and one for each level at most.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frontier {
    size: u64,
    /// Largest subtree first, as [`Subtree::of_tree`] lists them.
    edge: Vec<Hash>,
}

/// Bytes are not the encoding of a frontier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrontierError {
    /// Another version of the service wrote them, or something else did.
    #[error("cannot read a frontier of version {0}")]
    UnknownVersion(u8),
    /// They are fewer or more than a tree of their size has.
    #[error("the frontier has the wrong length")]
    Length,
    /// The tree is larger than [`TREE_LEAVES_MAX`].
    #[error("the frontier is of a tree of {0} leaves, more than there can be")]
    Size(u64),
}

impl Frontier {
    /// The most bytes of an encoding.
    pub const BYTES_MAX: usize = 1 + 8 + 62 * Hash::BYTES;
    const VERSION: u8 = 1;

    /// The frontier of the tree without leaves.
    pub const fn new() -> Self {
        Self {
            size: 0,
            edge: Vec::new(),
        }
    }

    /// The frontier of a tree whose hashes are kept elsewhere, for one in tiles.
    ///
    /// # Errors
    /// Whatever `source` fails with, which is asked for at most one hash of each level; and for a size above
    /// [`TREE_LEAVES_MAX`].
    pub fn read<E>(size: u64, source: impl FnMut(Subtree) -> Result<Hash, E>) -> Result<Self, ReadError<E>> {
        RangeError::check_size(size)?;
        let edge = Subtree::of_tree(size).map(source).collect::<Result<_, E>>();
        let edge = edge.map_err(ReadError::Source)?;
        Ok(Self { size, edge })
    }

    /// Appends a leaf by its hash and returns its index in the tree.
    pub fn append(&mut self, leaf: Hash) -> u64 {
        self.append_each(leaf, |_, _| {})
    }

    /// [`Self::append`] that shows each subtree which the leaf completes, by level, the leaf itself first.
    pub(crate) fn append_each(&mut self, leaf: Hash, mut show: impl FnMut(u8, Hash)) -> u64 {
        let index = self.size;
        let mut hash = leaf;
        let mut level = 0;
        show(level, hash);
        // Adding one to a binary number: each one at its end is a subtree whose other half is now there.
        while index >> level & 1 == 1 {
            let Some(left) = self.edge.pop() else { break };
            hash = Hash::of_node(&left, &hash);
            level += 1;
            show(level, hash);
        }
        self.edge.push(hash);
        self.size += 1;
        index
    }

    /// How many leaves the tree has.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// The tree's root hash. One hash for each bit set in the size, less one.
    pub fn root(&self) -> Hash {
        join(self.edge.iter().copied())
    }

    /// Size and root.
    pub fn head(&self) -> TreeHead {
        TreeHead {
            size: self.size,
            root: self.root(),
        }
    }

    /// The frontier as a row holds it: a version byte, the size in 8 bytes with the highest first, and the hashes of the
    /// subtrees with the largest first. A frontier has exactly one encoding.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(1 + 8 + self.edge.len() * Hash::BYTES);
        bytes.push(Self::VERSION);
        bytes.extend_from_slice(&self.size.to_be_bytes());
        for hash in &self.edge {
            bytes.extend_from_slice(hash.as_bytes());
        }
        bytes
    }

    /// Reads what [`Self::encode`] wrote.
    ///
    /// # Errors
    /// [`FrontierError`] when the bytes are anything else. Whether the hashes are right, only the root that was kept
    /// elsewhere can tell: compare it with [`Self::root`].
    pub fn decode(bytes: &[u8]) -> Result<Self, FrontierError> {
        let (version, rest) = bytes.split_first().ok_or(FrontierError::Length)?;
        if *version != Self::VERSION {
            return Err(FrontierError::UnknownVersion(*version));
        }
        let (size, hashes) = rest.split_first_chunk().ok_or(FrontierError::Length)?;
        let size = u64::from_be_bytes(*size);
        if size > TREE_LEAVES_MAX {
            return Err(FrontierError::Size(size));
        }
        let (hashes, rest) = hashes.as_chunks::<{ Hash::BYTES }>();
        if !rest.is_empty() || hashes.len() != size.count_ones() as usize {
            return Err(FrontierError::Length);
        }
        let edge = hashes.iter().map(|bytes| Hash::from_bytes(*bytes)).collect();
        Ok(Self { size, edge })
    }
}
