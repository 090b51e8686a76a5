//! An outsider who recomputes the whole log.

use crate::follower::{Advance, FollowError, Follower};
use crate::{Frontier, Hash, Origin, SignedCheckpoint, VerifierKey};
use audit_domain::ContentHash;
use std::ops::Range;

/// Follows a log by its events: the root hash of the events seen must be the one that was signed. Needs no proofs, since
/// the tree is built by appending alone, from the one whose root was checked the last time.
///
/// What it remembers is the last checkpoint and the frontier there, two kilobytes at most: keep
/// [`SignedCheckpoint::note`] and [`Frontier::encode`] together.
#[derive(Clone, Debug)]
pub struct Auditor {
    follower: Follower,
    frontier: Frontier,
}

/// An audit up to a checkpoint, while its events are fetched. Dropped halfway, it changes nothing.
#[derive(Debug)]
pub struct Replay<'a> {
    auditor: &'a mut Auditor,
    offered: SignedCheckpoint,
    frontier: Frontier,
}

impl Auditor {
    /// Begins with the first event.
    pub const fn new(origin: Origin, keys: Vec<VerifierKey>) -> Self {
        Self {
            follower: Follower::new(origin, keys),
            frontier: Frontier::new(),
        }
    }

    /// Goes on from the last checkpoint.
    ///
    /// # Errors
    /// [`FollowError`] when the note is not one of this log, or the frontier is another one's.
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

    /// Begins to audit up to a new checkpoint.
    ///
    /// # Errors
    /// [`FollowError`] when the checkpoint alone shows that something is wrong: see [`Follower::check`].
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
    /// The events that are still to be appended, by `seq`.
    pub fn missing(&self) -> Range<u64> {
        self.frontier.size()..self.offered.head().size
    }

    /// Appends the next event. Compute its content hash from its canonical JSON; the one that the service says it has
    /// proves nothing.
    pub fn append(&mut self, content_hash: &ContentHash) {
        self.frontier.append(Hash::of_event(content_hash));
    }

    /// Compares the root hash of the events with the signed one, and remembers the checkpoint.
    ///
    /// # Errors
    /// [`FollowError::EventCount`] or [`FollowError::EventsDiffer`]. The auditor is then still at the last checkpoint.
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
        Ok(self.auditor.follower.remember(self.offered))
    }
}
