//! Lifecycle events: what a log says of its own retention, holds, erasures and removals.
//!
//! They are events of the service in the log that they concern, and form a chain: each names the position of the one before it. The fold
//! of the chain, [`Lifecycle`], has the policy, the holds and the plans in force, and refuses a removal that they do not allow.

mod fold;
mod hold;
mod policy;
mod read;

pub use fold::{Lifecycle, LifecycleError};
pub use hold::{HeldFields, Hold};
pub use policy::{DEFAULT_DAYS, ReceivedBefore, RetentionPolicy, before_of};

use crate::{Sha256Digest, Timestamp, words};
use std::ops::Range;

words! {
    /// Why a plan was cancelled.
    pub enum CancelReason {
        /// An operator asked for it.
        Requested = "requested",
        /// A hold was placed.
        Hold = "hold",
        /// The policy was changed.
        Policy = "policy",
        /// The clock could not be trusted.
        Clock = "clock",
    }
}

/// An event of the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LifecycleEvent {
    /// `audit.retention.changed`: a policy is in force from here on.
    RetentionChanged(RetentionPolicy),
    /// `audit.retention.confirmed`: an operator allows plans that reach to this time of the log.
    RetentionConfirmed {
        /// The time.
        until: Timestamp,
    },
    /// `audit.retention.planned`.
    Planned(RetentionPlan),
    /// `audit.retention.cancelled`.
    Cancelled {
        /// Position of the plan.
        plan: u64,
        /// Why.
        reason: CancelReason,
    },
    /// `audit.events.removed`: the rows of a plan go.
    Removed(Removal),
    /// `audit.erasure.planned`.
    ErasurePlanned(ErasurePlan),
    /// `audit.erasure.cancelled`.
    ErasureCancelled {
        /// The request.
        erasure: String,
        /// Position of its plan.
        plan: u64,
        /// Why.
        reason: CancelReason,
    },
    /// `audit.events.erased`: what a plan of an erasure has goes.
    Erased(Erasure),
    /// `audit.events.archived`: an archive has the events up to here.
    Archived(Archived),
    /// `audit.events.restored`: rows may be there again.
    Restored(Restored),
    /// `audit.hold.placed`.
    HoldPlaced(Hold),
    /// `audit.hold.released`.
    HoldReleased {
        /// The hold.
        hold: String,
        /// Position at which it was placed.
        placed: u64,
        /// Why, as the operator says.
        reason: String,
    },
}

/// A plan of retention: what will be removed after the grace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetentionPlan {
    /// Position of the policy in force.
    pub policy: u64,
    /// The range of the log from which events go.
    pub seqs: Range<u64>,
    /// The events that go were received before.
    pub received_before: ReceivedBefore,
    /// How many go.
    pub events: u64,
    /// How many stay because of a hold.
    pub held: u64,
    /// How many stay for another reason.
    pub kept: u64,
    /// Commits to each event that goes.
    pub digest: Sha256Digest,
    /// The end of the grace.
    pub not_before: Timestamp,
}

/// A removal by retention: the plan is carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removal {
    /// Position of the plan.
    pub plan: u64,
    /// Position of the policy in force.
    pub policy: u64,
    /// Positions of the holds in force.
    pub holds: Vec<u64>,
    /// As in the plan.
    pub seqs: Range<u64>,
    /// As in the plan.
    pub events: u64,
    /// As in the plan.
    pub digest: Sha256Digest,
    /// As in the plan.
    pub received_before: ReceivedBefore,
    /// The newest manifest of the archive that has the events.
    pub archive: Option<Sha256Digest>,
    /// Destinations that never got a part of them.
    pub undelivered: Vec<Undelivered>,
}

/// A destination that did not get the events of a removal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undelivered {
    /// Its id.
    pub destination: String,
    /// The first position that it did not get.
    pub from_seq: u64,
}

/// A plan of an erasure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErasurePlan {
    /// The request, `ers_…`.
    pub erasure: String,
    /// The legal ground.
    pub basis: String,
    /// The operator's reference.
    pub ticket: Option<String>,
    /// What of each event goes.
    pub extent: String,
    /// How many events lose something.
    pub events: u64,
    /// How many of them go as a whole.
    pub rows: u64,
    /// How many stay because of a hold.
    pub held: u64,
    /// The size of the log when it was searched.
    pub read_to: u64,
    /// Commits to what goes of each event.
    pub digest: Sha256Digest,
    /// The end of the grace.
    pub not_before: Timestamp,
}

/// An erasure: its plan is carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Erasure {
    /// The request.
    pub erasure: String,
    /// Position of the plan.
    pub plan: u64,
    /// The legal ground.
    pub basis: String,
    /// The operator's reference.
    pub ticket: Option<String>,
    /// As in the plan.
    pub events: u64,
    /// As in the plan.
    pub rows: u64,
    /// As in the plan.
    pub digest: Sha256Digest,
}

/// An archive has all events before a position that are not removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Archived {
    /// The position behind the last one.
    pub end_seq: u64,
    /// The newest manifest of the archive, which names the one before it, down to the first.
    pub manifest: Sha256Digest,
}

/// Rows were put back from an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The range that may be there again.
    pub seqs: Range<u64>,
    /// How many rows.
    pub events: u64,
    /// The manifest of the archive.
    pub archive: Sha256Digest,
    /// The hold that keeps them.
    pub hold: String,
}

#[cfg(test)]
mod tests;
