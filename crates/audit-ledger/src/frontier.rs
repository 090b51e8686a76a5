//! The frontier: the right edge of a tree, which is sufficient to append to it.
//!
//! Encoding: version byte `1`, size (u64, big endian), then the hashes of the complete subtrees that make up the tree, 32
//! bytes each, largest subtree first. There is one hash for each bit set in the size.

use crate::range::{RangeError, ReadError};
use crate::subtree::{TREE_LEAVES_MAX, join};
use crate::tile::TILE_HEIGHT;
use crate::{Hash, Subtree, TreeHead};

/// The hashes of the complete subtrees that make up a tree: one for each bit set in its size. Appending a leaf computes one
/// hash on average and at most one per level.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frontier {
    size: u64,
    /// Largest subtree first, as [`Subtree::of_tree`] lists them.
    edge: Vec<Hash>,
}

/// The bytes are not the encoding of a frontier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrontierError {
    /// The version byte is unknown.
    #[error("cannot read a frontier of version {0}")]
    UnknownVersion(u8),
    /// The number of hashes does not match the size.
    #[error("the frontier has the wrong length")]
    Length,
    /// The tree is larger than [`TREE_LEAVES_MAX`].
    #[error("the frontier has {0} leaves, more than the largest tree")]
    Size(u64),
}

impl Frontier {
    /// Most bytes of an encoding.
    pub const BYTES_MAX: usize = 1 + 8 + 62 * Hash::BYTES;
    const VERSION: u8 = 1;

    /// The frontier of the empty tree.
    pub const fn new() -> Self {
        Self {
            size: 0,
            edge: Vec::new(),
        }
    }

    /// The frontier of a tree whose hashes are stored elsewhere, for example in tiles. `source` is called for at most one
    /// hash per level.
    ///
    /// # Errors
    /// An error of `source`, or a size above [`TREE_LEAVES_MAX`].
    pub fn read<E>(size: u64, source: impl FnMut(Subtree) -> Result<Hash, E>) -> Result<Self, ReadError<E>> {
        RangeError::check_size(size)?;
        let edge = Subtree::of_tree(size).map(source).collect::<Result<_, E>>();
        let edge = edge.map_err(ReadError::Source)?;
        Ok(Self { size, edge })
    }

    /// Appends a leaf by its hash and returns its index in the tree.
    pub fn append(&mut self, leaf: Hash) -> u64 {
        let index = self.size;
        let mut hash = leaf;
        let mut level = 0;
        // As in binary addition of one: each trailing one bit of the index is a left subtree whose sibling is now complete.
        while index >> level & 1 == 1 {
            let Some(left) = self.edge.pop() else { break };
            hash = Hash::of_node(&left, &hash);
            level += 1;
        }
        self.edge.push(hash);
        self.size += 1;
        index
    }

    /// Appends leaves by their hashes. The nodes of a level are computed together, which takes less time than [`Self::append`] for
    /// each leaf.
    pub fn extend(&mut self, leaves: &[Hash]) {
        self.extend_each(leaves, |_, _| {});
    }

    /// Does the same and calls `visit` with each level and the hashes of the subtrees that the leaves complete there, from left to
    /// right, the leaves first.
    pub(crate) fn extend_each(&mut self, leaves: &[Hash], mut visit: impl FnMut(u8, &[Hash])) {
        let mut completed = leaves.to_vec();
        // Of the first of them, among all subtrees of their level.
        let mut index = self.size;
        let mut level = 0;
        let mut without_sibling = Vec::new();
        while !completed.is_empty() {
            visit(level, &completed);
            if index & 1 == 1
                && let Some(left) = self.edge.pop()
            {
                completed.insert(0, left);
            }
            if completed.len() % 2 == 1 {
                without_sibling.extend(completed.pop());
            }
            completed = Hash::of_nodes(&completed);
            index >>= 1;
            level += 1;
        }
        self.edge.extend(without_sibling.into_iter().rev());
        self.size += leaves.len() as u64;
    }

    /// The number of leaves in the tree.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// The complete subtrees that make up the tree, largest first, each with its hash. Comparing them narrows down where two
    /// trees of one size differ.
    pub fn edge(&self) -> impl Iterator<Item = (Subtree, Hash)> + '_ {
        Subtree::of_tree(self.size).zip(self.edge.iter().copied())
    }

    /// The frontier of the leaves that are in full tiles: of the first multiple of 256 leaves.
    ///
    /// ```
    /// use audit_ledger::{Frontier, Hash};
    ///
    /// let mut frontier = Frontier::new();
    /// for _ in 0..512 {
    ///     frontier.append(Hash::of_leaf(b"leaf"));
    /// }
    /// let tiles = frontier.clone();
    /// frontier.append(Hash::of_leaf(b"leaf"));
    /// assert_eq!(frontier.full_tiles(), tiles);
    /// ```
    #[must_use]
    pub fn full_tiles(&self) -> Self {
        let size = self.size >> TILE_HEIGHT << TILE_HEIGHT;
        let edge = self.edge.iter().take(size.count_ones() as usize);
        Self {
            size,
            edge: edge.copied().collect(),
        }
    }

    /// The tree's root hash. Computes one hash fewer than the size has bits set.
    pub fn root(&self) -> Hash {
        join(self.edge.iter().copied())
    }

    /// The size and root of the tree.
    pub fn head(&self) -> TreeHead {
        TreeHead {
            size: self.size,
            root: self.root(),
        }
    }

    /// Encodes the frontier in the format above. A frontier has exactly one encoding.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(1 + 8 + self.edge.len() * Hash::BYTES);
        bytes.push(Self::VERSION);
        bytes.extend_from_slice(&self.size.to_be_bytes());
        for hash in &self.edge {
            bytes.extend_from_slice(hash.as_bytes());
        }
        bytes
    }

    /// Decodes the output of [`Self::encode`]. It cannot verify the hashes: compare [`Self::root`] with a root stored
    /// elsewhere.
    ///
    /// # Errors
    /// [`FrontierError`] if the bytes are not an encoding.
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
