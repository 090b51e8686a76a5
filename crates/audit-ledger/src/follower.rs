//! An outsider who remembers one checkpoint.

use crate::{CheckpointError, ConsistencyProof, HistoryError, Origin, SignedCheckpoint, VerifierKey};

/// Follows a log from checkpoint to checkpoint, without seeing events. What it remembers is the last checkpoint, a few
/// hundred bytes: keep [`SignedCheckpoint::note`] and go on with [`Self::resume`].
///
/// As long as it gets on, everything the log ever showed to it is still there: nothing was changed, removed, inserted or
/// reordered. What it cannot see is whether the log shows somebody else another history; let several follow, and compare.
#[derive(Clone, Debug)]
pub struct Follower {
    origin: Origin,
    keys: Vec<VerifierKey>,
    last: Option<SignedCheckpoint>,
}

/// How far a log has been followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advance {
    /// Events known before; 0 at first.
    pub from: u64,
    /// Events known now.
    pub to: u64,
}

/// A log cannot be followed further.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FollowError {
    /// The log did not show a checkpoint of itself.
    #[error("cannot read the checkpoint")]
    Checkpoint(#[from] CheckpointError),
    /// The log's history is not what it was.
    #[error("the log does not continue what is known of it")]
    History(#[from] HistoryError),
    /// Not all the new events were seen, or more than there are.
    #[error("the checkpoint is of {expected} events and {replayed} were seen")]
    EventCount {
        /// Events of the checkpoint.
        expected: u64,
        /// Events that were seen.
        replayed: u64,
    },
    /// The events are not those that the log signed, or those that were known are no longer in it. The log's tiles of
    /// level 0 tell which: see [`Tile::first_difference`](crate::Tile::first_difference).
    #[error("the {size} events seen do not have the root hash that the log signed")]
    EventsDiffer {
        /// Events of the checkpoint.
        size: u64,
    },
    /// What was kept does not belong together.
    #[error("the frontier kept is not that of the checkpoint kept")]
    OtherFrontier,
}

impl Follower {
    /// Begins to follow. The first checkpoint is believed, as nothing is known that it could contradict.
    pub const fn new(origin: Origin, keys: Vec<VerifierKey>) -> Self {
        Self {
            origin,
            keys,
            last: None,
        }
    }

    /// Goes on from the last checkpoint.
    ///
    /// # Errors
    /// [`CheckpointError`] when the note is not one of this log, signed by one of these keys.
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

    /// How many events are known.
    pub fn size(&self) -> u64 {
        self.last.as_ref().map_or(0, |last| last.head().size)
    }

    /// What can be told of a new checkpoint alone: whose it is, and whether the log has shrunk or has another history of
    /// the same size. Its size then says which consistency proof to fetch: from [`Self::size`] to it.
    ///
    /// # Errors
    /// [`FollowError`] says what is wrong.
    pub fn check(&self, note: &str) -> Result<SignedCheckpoint, FollowError> {
        let offered = SignedCheckpoint::open(note, &self.origin, &self.keys)?;
        if let Some(last) = &self.last {
            last.head().check_size_and_root(offered.head())?;
        }
        Ok(offered)
    }

    /// Accepts a new checkpoint that continues the last one. The proof is empty when nothing was known, or nothing is
    /// new.
    ///
    /// # Errors
    /// [`FollowError`] says what is wrong. The last checkpoint is then still the one before; with the note that was
    /// refused it is the evidence.
    pub fn advance(&mut self, note: &str, proof: &ConsistencyProof) -> Result<Advance, FollowError> {
        let offered = self.check(note)?;
        if let Some(last) = &self.last {
            last.head().check_successor(offered.head(), proof)?;
        }
        Ok(self.remember(offered))
    }

    /// Makes a checkpoint that [`Self::check`] gave the last one. Whoever calls this has made sure that it is consistent.
    pub(crate) fn remember(&mut self, offered: SignedCheckpoint) -> Advance {
        let from = self.size();
        let to = offered.head().size;
        self.last = Some(offered);
        Advance { from, to }
    }
}
