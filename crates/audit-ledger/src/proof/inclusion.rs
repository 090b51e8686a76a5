//! Inclusion proofs: a leaf is in a tree (RFC 9162 §2.1.3).

use super::{ProofError, ProofTextError, from_texts, siblings, to_texts};
use crate::range::{RangeError, ReadError};
use crate::subtree::hash_over;
use crate::{Hash, Subtree, TreeHead};

/// The hashes that lead from a leaf to the root of a tree, from the leaf's sibling upwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InclusionProof {
    hashes: Vec<Hash>,
}

impl InclusionProof {
    /// A proof with these hashes, not yet verified.
    pub const fn from_hashes(hashes: Vec<Hash>) -> Self {
        Self { hashes }
    }

    /// The hashes, from the leaf's sibling upwards.
    pub fn hashes(&self) -> &[Hash] {
        &self.hashes
    }

    /// The hashes in base64.
    pub fn to_base64(&self) -> Vec<String> {
        to_texts(&self.hashes)
    }

    /// Parses the output of [`Self::to_base64`].
    ///
    /// # Errors
    /// [`ProofTextError`] if a text is not a hash or there are too many.
    pub fn from_base64(texts: impl IntoIterator<Item: AsRef<str>>) -> Result<Self, ProofTextError> {
        from_texts(texts).map(Self::from_hashes)
    }

    /// Proves that leaf `index` is in the tree of `size` leaves (PATH of RFC 9162 §2.1.3.1). `source` returns the hashes of
    /// complete subtrees; [`Self::subtrees`] lists them in advance.
    ///
    /// # Errors
    /// [`ReadError`] if the tree has no such leaf, or `source` fails.
    pub fn prove<E>(
        index: u64,
        size: u64,
        mut source: impl FnMut(Subtree) -> Result<Hash, E>,
    ) -> Result<Self, ReadError<E>> {
        let hashes = siblings(leaf(index, size)?, size).map(|leaves| hash_over(leaves, &mut source));
        let hashes = hashes.collect::<Result<_, E>>().map_err(ReadError::Source)?;
        Ok(Self { hashes })
    }

    /// The subtrees whose hashes [`Self::prove`] reads.
    ///
    /// # Errors
    /// [`RangeError`] if the tree has no such leaf.
    pub fn subtrees(index: u64, size: u64) -> Result<Vec<Subtree>, RangeError> {
        let siblings = siblings(leaf(index, size)?, size);
        Ok(siblings.flat_map(Subtree::covering).collect())
    }

    /// Verifies that leaf `index` of the tree is `leaf` (RFC 9162 §2.1.3.2). The head is a trusted input: take it from a
    /// signed checkpoint.
    ///
    /// # Errors
    /// [`ProofError`] if the proof is invalid.
    pub fn verify(&self, index: u64, leaf: &Hash, head: &TreeHead) -> Result<(), ProofError> {
        RangeError::check_leaf(index, head.size)?;
        let (mut node, mut last) = (index, head.size - 1);
        let mut hash = *leaf;
        for other in &self.hashes {
            if last == 0 {
                return Err(ProofError::Length);
            }
            if node & 1 == 1 || node == last {
                hash = Hash::of_node(other, &hash);
                // The last node has no sibling at these levels and is its own parent.
                while node & 1 == 0 && node != 0 {
                    node >>= 1;
                    last >>= 1;
                }
            } else {
                hash = Hash::of_node(&hash, other);
            }
            node >>= 1;
            last >>= 1;
        }
        if last != 0 {
            return Err(ProofError::Length);
        }
        if hash != head.root {
            return Err(ProofError::Root);
        }
        Ok(())
    }
}

fn leaf(index: u64, size: u64) -> Result<Subtree, RangeError> {
    RangeError::check_leaf(index, size)?;
    Subtree::new(0, index).ok_or(RangeError::NoSuchLeaf { index, size })
}
