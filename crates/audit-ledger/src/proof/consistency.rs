//! Consistency proofs: a tree begins with all the leaves of an earlier one (RFC 9162 §2.1.4).

use super::{ProofError, ProofTextError, from_texts, siblings, to_texts};
use crate::range::{RangeError, ReadError};
use crate::subtree::hash_over;
use crate::{Hash, Subtree, TreeHead};
use std::ops::Range;

/// The hashes from which both the root of a tree and that of an earlier one follow. Every tree continues the empty tree and
/// itself; these proofs are empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsistencyProof {
    hashes: Vec<Hash>,
}

impl ConsistencyProof {
    /// A proof with these hashes, not yet verified.
    pub const fn from_hashes(hashes: Vec<Hash>) -> Self {
        Self { hashes }
    }

    /// The hashes, bottom up.
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

    /// Proves that the tree of `to` leaves continues the tree of `from` leaves (PROOF of RFC 9162 §2.1.4.1). `source` returns
    /// the hashes of complete subtrees; [`Self::subtrees`] lists them in advance.
    ///
    /// # Errors
    /// [`ReadError`] if `from` is greater than `to`, or `source` fails.
    pub fn prove<E>(
        from: u64,
        to: u64,
        mut source: impl FnMut(Subtree) -> Result<Hash, E>,
    ) -> Result<Self, ReadError<E>> {
        RangeError::check_growth(from, to)?;
        let hashes = parts(from, to).map(|leaves| hash_over(leaves, &mut source));
        let hashes = hashes.collect::<Result<_, E>>().map_err(ReadError::Source)?;
        Ok(Self { hashes })
    }

    /// The subtrees whose hashes [`Self::prove`] reads.
    ///
    /// # Errors
    /// [`RangeError`] if `from` is greater than `to`.
    pub fn subtrees(from: u64, to: u64) -> Result<Vec<Subtree>, RangeError> {
        RangeError::check_growth(from, to)?;
        Ok(parts(from, to).flat_map(Subtree::covering).collect())
    }

    /// Verifies that the tree `to` continues the tree `from` (RFC 9162 §2.1.4.2). Both heads are trusted inputs: take them
    /// from signed checkpoints.
    ///
    /// # Errors
    /// [`ProofError`] if the proof is invalid.
    pub fn verify(&self, from: &TreeHead, to: &TreeHead) -> Result<(), ProofError> {
        RangeError::check_growth(from.size, to.size)?;
        if from.size == 0 || from.size == to.size {
            return self.verify_without_hashes(from, to);
        }
        // A complete earlier tree is a node of the later tree. The verifier has its hash, so the proof omits it.
        let (mut hashes, mut node, mut last) = (self.hashes.iter(), from.size - 1, to.size - 1);
        let start = if from.size.is_power_of_two() {
            &from.root
        } else {
            hashes.next().ok_or(ProofError::Length)?
        };
        let complete_levels = node.trailing_ones();
        node >>= complete_levels;
        last >>= complete_levels;
        let (mut earlier, mut later) = (*start, *start);
        for other in hashes {
            if last == 0 {
                return Err(ProofError::Length);
            }
            if node & 1 == 1 || node == last {
                earlier = Hash::of_node(other, &earlier);
                later = Hash::of_node(other, &later);
                // The last node has no sibling at these levels and is its own parent.
                while node & 1 == 0 && node != 0 {
                    node >>= 1;
                    last >>= 1;
                }
            } else {
                later = Hash::of_node(&later, other);
            }
            node >>= 1;
            last >>= 1;
        }
        if last != 0 {
            return Err(ProofError::Length);
        }
        if earlier != from.root {
            return Err(ProofError::EarlierRoot);
        }
        if later != to.root {
            return Err(ProofError::Root);
        }
        Ok(())
    }

    fn verify_without_hashes(&self, from: &TreeHead, to: &TreeHead) -> Result<(), ProofError> {
        if !self.hashes.is_empty() {
            return Err(ProofError::Length);
        }
        if from.size == 0 && from.root != Hash::of_empty_tree() {
            return Err(ProofError::EarlierRoot);
        }
        if from.size == to.size && from.root != to.root {
            return Err(ProofError::Root);
        }
        Ok(())
    }
}

/// The leaves below each hash of the proof: the last complete subtree of the earlier tree, unless it is the whole tree, then
/// the siblings on the path from there to the root.
fn parts(from: u64, to: u64) -> impl Iterator<Item = Range<u64>> {
    let last_of_earlier = Subtree::of_tree(from).last().filter(|_| from < to);
    last_of_earlier.into_iter().flat_map(move |last| {
        let start = (last.index() > 0).then(|| last.leaves());
        start.into_iter().chain(siblings(last, to))
    })
}
