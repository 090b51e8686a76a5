//! A verifier that keeps one checkpoint.

use crate::{CheckpointError, ConsistencyProof, HistoryError, Origin, SignedCheckpoint, VerifierKey};

/// Follows a log from checkpoint to checkpoint without reading events. Its state is the last checkpoint, a few hundred
/// bytes. Store [`SignedCheckpoint::note`] and continue with [`Self::resume`].
///
/// As long as it advances, no event of an accepted checkpoint was changed, removed, inserted or reordered. It cannot detect
/// a split view, in which the log shows another history to another follower. To detect one, compare several followers.
#[derive(Clone, Debug)]
pub struct Follower {
    origin: Origin,
    keys: Vec<VerifierKey>,
    last: Option<SignedCheckpoint>,
}

/// The progress of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advance {
    /// Size of the checkpoint before; 0 for the first step.
    pub from: u64,
    /// Size of the new checkpoint.
    pub to: u64,
}

/// A verifier refused a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FollowError {
    /// The note is not a signed checkpoint of this log.
    #[error("cannot read the checkpoint")]
    Checkpoint(#[from] CheckpointError),
    /// The checkpoint does not continue the last one.
    #[error("the log does not continue the last checkpoint")]
    History(#[from] HistoryError),
    /// The number of events appended is not the size of the checkpoint.
    #[error("the checkpoint has {expected} events, but {replayed} were replayed")]
    EventCount {
        /// Size of the checkpoint.
        expected: u64,
        /// Number of events appended.
        replayed: u64,
    },
    /// The events are not those that the log signed, or an earlier event was changed. To find the event, compare the log's
    /// tiles of level 0: see [`Tile::first_difference`](crate::Tile::first_difference).
    #[error("the {size} replayed events do not have the signed root hash")]
    EventsDiffer {
        /// Size of the checkpoint.
        size: u64,
    },
    /// The stored frontier and the stored checkpoint do not belong together.
    #[error("the stored frontier does not belong to the stored checkpoint")]
    OtherFrontier,
}

impl Follower {
    /// Starts without a checkpoint. The first checkpoint is trusted if its signature is valid.
    pub const fn new(origin: Origin, keys: Vec<VerifierKey>) -> Self {
        Self {
            origin,
            keys,
            last: None,
        }
    }

    /// Resumes from the last checkpoint.
    ///
    /// # Errors
    /// [`CheckpointError`] if the note is not a checkpoint of this log, signed by one of these keys.
    pub fn resume(origin: Origin, keys: Vec<VerifierKey>, last_note: &str) -> Result<Self, CheckpointError> {
        let last = SignedCheckpoint::open(last_note, &origin, &keys)?;
        Ok(Self {
            last: Some(last),
            ..Self::new(origin, keys)
        })
    }

    /// The last checkpoint, if any.
    pub const fn last(&self) -> Option<&SignedCheckpoint> {
        self.last.as_ref()
    }

    /// The size of the last checkpoint, or 0.
    pub fn size(&self) -> u64 {
        self.last.as_ref().map_or(0, |last| last.head().size)
    }

    /// Makes the checks that need no proof: the signature, the origin, that the log did not shrink, and that its root is the
    /// same at the same size. Then fetch the consistency proof from [`Self::size`] to the checkpoint's size.
    ///
    /// # Errors
    /// [`FollowError`] names the check that failed.
    pub fn check(&self, note: &str) -> Result<SignedCheckpoint, FollowError> {
        let offered = SignedCheckpoint::open(note, &self.origin, &self.keys)?;
        if let Some(last) = &self.last {
            last.head().check_size_and_root(offered.head())?;
        }
        Ok(offered)
    }

    /// Accepts a new checkpoint that continues the last one. The proof is empty if there is no last checkpoint, or if both
    /// have the same size.
    ///
    /// # Errors
    /// [`FollowError`] names the check that failed. The last checkpoint then stays in place; together with the refused note
    /// it is evidence.
    pub fn advance(&mut self, note: &str, proof: &ConsistencyProof) -> Result<Advance, FollowError> {
        let offered = self.check(note)?;
        if let Some(last) = &self.last {
            last.head().check_successor(offered.head(), proof)?;
        }
        Ok(self.accept(offered))
    }

    /// Replaces the last checkpoint. The caller has verified that `offered` continues it.
    pub(crate) fn accept(&mut self, offered: SignedCheckpoint) -> Advance {
        let from = self.size();
        let to = offered.head().size;
        self.last = Some(offered);
        Advance { from, to }
    }
}
