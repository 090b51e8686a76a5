//! What a tree is at one size.

use crate::{ConsistencyProof, Frontier, Hash, ProofError};
use audit_domain::ContentHash;

/// The size of a tree and the hash over all its leaves. Who has it can be shown that a leaf is in the tree and that a
/// later tree has all the same leaves; two trees with the same head are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeHead {
    /// How many leaves the tree has.
    pub size: u64,
    /// The Merkle tree hash over them (RFC 9162 §2.1.1).
    pub root: Hash,
}

/// One tree does not continue another.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HistoryError {
    /// The log shows less than it did: it was cut off, or rolled back to an older copy.
    #[error("the log had {known} events and now has {offered}: it was cut off or rolled back")]
    Rollback {
        /// Events it was known to have.
        known: u64,
        /// Events it has now.
        offered: u64,
    },
    /// There are two logs of one size with different events: somebody was shown another history.
    #[error("the log has two histories of {size} events")]
    Fork {
        /// Events in each.
        size: u64,
    },
    /// There is no showing that the events known are still there, unchanged and in their places.
    #[error("the log of {offered} events does not continue the one of {known} events that is known")]
    Inconsistent {
        /// Events it was known to have.
        known: u64,
        /// Events it has now.
        offered: u64,
        /// What is wrong with the proof. Nobody can make a right one if events were changed, but a wrong one may also
        /// have been damaged on its way.
        #[source]
        source: ProofError,
    },
}

impl TreeHead {
    /// The head of the tree without leaves, with which every log begins.
    pub fn of_empty_tree() -> Self {
        Frontier::new().head()
    }

    /// The head of the tree over the events with these content hashes.
    pub fn of_events<'a>(content_hashes: impl IntoIterator<Item = &'a ContentHash>) -> Self {
        let mut frontier = Frontier::new();
        for content_hash in content_hashes {
            frontier.append(Hash::of_event(content_hash));
        }
        frontier.head()
    }

    /// Whether `next` may follow this head: at least as large, with all the same leaves.
    ///
    /// # Errors
    /// [`HistoryError`] says in which way it may not.
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
