//! A verifier that recomputes the whole log from its events.

use crate::follower::{Advance, FollowError, Follower};
use crate::{Frontier, Hash, Origin, SignedCheckpoint, VerifierKey};
use audit_domain::ContentHash;
use std::ops::Range;

/// Follows a log by its events: their root hash must equal the signed root hash. It needs no proofs, because it appends
/// the new events to a tree whose root is already verified.
///
/// Its state is the last checkpoint and the frontier at that size, at most two kilobytes. Store
/// [`SignedCheckpoint::note`] and [`Frontier::encode`] together.
#[derive(Clone, Debug)]
pub struct Auditor {
    follower: Follower,
    frontier: Frontier,
}

/// An audit up to a checkpoint, in progress. Dropping it before [`Self::finish`] leaves the auditor unchanged.
#[derive(Debug)]
pub struct Replay<'a> {
    auditor: &'a mut Auditor,
    offered: SignedCheckpoint,
    frontier: Frontier,
}

impl Auditor {
    /// Starts with the first event of the log.
    pub const fn new(origin: Origin, keys: Vec<VerifierKey>) -> Self {
        Self {
            follower: Follower::new(origin, keys),
            frontier: Frontier::new(),
        }
    }

    /// Resumes from the last checkpoint.
    ///
    /// # Errors
    /// [`FollowError`] if the note is not a checkpoint of this log, or the frontier belongs to another checkpoint.
    pub fn resume(
        origin: Origin,
        keys: Vec<VerifierKey>,
        last_note: &str,
        frontier: Frontier,
    ) -> Result<Self, FollowError> {
        let follower = Follower::resume(origin, keys, last_note)?;
        if follower.last().map(SignedCheckpoint::head) != Some(&frontier.head()) {
            return Err(FollowError::OtherFrontier);
        }
        Ok(Self { follower, frontier })
    }

    /// The last checkpoint, if any.
    pub const fn last(&self) -> Option<&SignedCheckpoint> {
        self.follower.last()
    }

    /// The frontier at the last checkpoint.
    pub const fn frontier(&self) -> &Frontier {
        &self.frontier
    }

    /// Starts an audit up to a new checkpoint.
    ///
    /// # Errors
    /// [`FollowError`] if [`Follower::check`] refuses the checkpoint.
    pub fn begin(&mut self, note: &str) -> Result<Replay<'_>, FollowError> {
        let offered = self.follower.check(note)?;
        Ok(Replay {
            frontier: self.frontier.clone(),
            offered,
            auditor: self,
        })
    }
}

impl Replay<'_> {
    /// The events to append, by `seq`.
    pub fn missing(&self) -> Range<u64> {
        self.frontier.size()..self.offered.head().size
    }

    /// Appends the next event. Compute its content hash from its canonical JSON; the hash that the service reports proves
    /// nothing.
    pub fn append(&mut self, content_hash: &ContentHash) {
        self.frontier.append(Hash::of_event(content_hash));
    }

    /// Compares the root hash of the events with the signed one and accepts the checkpoint.
    ///
    /// # Errors
    /// [`FollowError::EventCount`] or [`FollowError::EventsDiffer`]. The auditor then stays at the last checkpoint.
    pub fn finish(self) -> Result<Advance, FollowError> {
        let (signed, seen) = (self.offered.head(), self.frontier.head());
        if signed.size != seen.size {
            return Err(FollowError::EventCount {
                expected: signed.size,
                replayed: seen.size,
            });
        }
        if signed.root != seen.root {
            return Err(FollowError::EventsDiffer { size: signed.size });
        }
        self.auditor.frontier = self.frontier;
        Ok(self.auditor.follower.accept(self.offered))
    }
}
