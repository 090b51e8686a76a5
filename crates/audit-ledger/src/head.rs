//! Tree heads: the size and root of a tree.

use crate::{ConsistencyProof, Frontier, Hash, ProofError};
use audit_domain::ContentHash;

/// The size of a tree and the hash over all its leaves. A verifier that holds it can check that a leaf is in the tree and
/// that a later tree has the same leaves. Two trees with the same head are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeHead {
    /// The number of leaves.
    pub size: u64,
    /// The Merkle tree hash over them (RFC 9162 §2.1.1).
    pub root: Hash,
}

/// A tree does not continue an earlier one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HistoryError {
    /// The log shrank: it was truncated or rolled back to an older copy.
    #[error("the log had {known} events and now has {offered}: it was truncated or rolled back")]
    Rollback {
        /// Size of the earlier tree.
        known: u64,
        /// Size of the later tree.
        offered: u64,
    },
    /// The log has two histories of one size.
    #[error("the log has two histories of {size} events")]
    Fork {
        /// Size of both trees.
        size: u64,
    },
    /// The proof does not show that the earlier events are unchanged and at the same positions.
    #[error("the log of {offered} events does not continue the known log of {known} events")]
    Inconsistent {
        /// Size of the earlier tree.
        known: u64,
        /// Size of the later tree.
        offered: u64,
        /// The error in the proof. If events were changed, no valid proof exists. A proof damaged in transit is invalid too.
        #[source]
        source: ProofError,
    },
}

impl TreeHead {
    /// The head of the empty tree, with which every log begins.
    pub fn of_empty_tree() -> Self {
        Frontier::new().head()
    }

    /// The head of the tree over the events with these content hashes.
    pub fn of_events<'a>(content_hashes: impl IntoIterator<Item = &'a ContentHash>) -> Self {
        let mut frontier = Frontier::new();
        frontier.extend(&Hash::of_events(content_hashes.into_iter().copied()));
        frontier.head()
    }

    /// Checks that `next` continues this head: it is at least as large and begins with the same leaves.
    ///
    /// # Errors
    /// [`HistoryError`] names the check that failed.
    pub fn check_successor(&self, next: &Self, proof: &ConsistencyProof) -> Result<(), HistoryError> {
        self.check_size_and_root(next)?;
        proof
            .verify(self, next)
            .map_err(|source| HistoryError::Inconsistent {
                known: self.size,
                offered: next.size,
                source,
            })
    }

    /// The part of [`Self::check_successor`] that needs no proof.
    pub(crate) fn check_size_and_root(&self, next: &Self) -> Result<(), HistoryError> {
        if next.size < self.size {
            return Err(HistoryError::Rollback {
                known: self.size,
                offered: next.size,
            });
        }
        if next.size == self.size && next.root != self.root {
            return Err(HistoryError::Fork { size: next.size });
        }
        Ok(())
    }
}
