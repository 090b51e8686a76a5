//! Proofs of RFC 9162 §2.1.3 and §2.1.4: lists of hashes of the tree.

mod consistency;
mod inclusion;

pub use consistency::ConsistencyProof;
pub use inclusion::InclusionProof;

use crate::range::RangeError;
use crate::subtree::TREE_LEAVES_MAX;
use crate::{Hash, HashTextError, Subtree};
use std::ops::Range;

/// Most hashes in a proof: one per level of the largest tree, and one more for a consistency proof that starts at an inner
/// node.
pub const PROOF_HASHES_MAX: usize = TREE_LEAVES_MAX.ilog2() as usize + 1;

/// A proof is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    /// The statement cannot be true for any tree.
    #[error(transparent)]
    Range(#[from] RangeError),
    /// The number of hashes is not that of a proof for this index and size.
    #[error("the proof has the wrong number of hashes")]
    Length,
    /// The hashes do not lead to the root. The leaf is not in the tree at this index, or the proof is damaged.
    #[error("the proof does not lead to the root of the tree")]
    Root,
    /// The hashes do not lead to the root of the earlier tree.
    #[error("the proof does not lead to the root of the earlier tree")]
    EarlierRoot,
}

/// A list of texts is not a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProofTextError {
    /// The list exceeds [`PROOF_HASHES_MAX`].
    #[error("a proof has at most {PROOF_HASHES_MAX} hashes")]
    TooLong,
    /// One of the texts is not a hash.
    #[error("cannot read hash {position} of the proof")]
    Hash {
        /// The index of the text, from 0.
        position: usize,
        /// The cause.
        #[source]
        source: HashTextError,
    },
}

fn to_texts(hashes: &[Hash]) -> Vec<String> {
    hashes.iter().map(Hash::to_string).collect()
}

fn from_texts(texts: impl IntoIterator<Item: AsRef<str>>) -> Result<Vec<Hash>, ProofTextError> {
    let mut hashes = Vec::new();
    for (position, text) in texts.into_iter().enumerate() {
        if position == PROOF_HASHES_MAX {
            return Err(ProofTextError::TooLong);
        }
        let hash = text.as_ref().parse();
        hashes.push(hash.map_err(|source| ProofTextError::Hash { position, source })?);
    }
    Ok(hashes)
}

/// The leaves below each sibling on the path from `start` to the root of a tree of `size` leaves, bottom up. A level where
/// the tree ends before the sibling begins has none.
fn siblings(start: Subtree, size: u64) -> impl Iterator<Item = Range<u64>> {
    let levels = start.level()..size.next_power_of_two().ilog2() as u8;
    levels.filter_map(move |level| {
        let other = (start.index() >> (level - start.level())) ^ 1;
        let leaves = other << level..((other + 1) << level).min(size);
        (leaves.start < size).then_some(leaves)
    })
}
