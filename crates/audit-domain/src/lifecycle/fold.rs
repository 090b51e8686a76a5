//! The fold of the chain: what is in force, and whether each event was allowed.

use super::{
    Archived, Erasure, ErasurePlan, Hold, LifecycleEvent, ReceivedBefore, Removal, Restored, RetentionPlan,
    RetentionPolicy,
};
use crate::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// What the lifecycle events of a log say, up to one of them. Default: there was none yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lifecycle {
    /// By position, with the time at which the log received each.
    events: BTreeMap<u64, (Timestamp, LifecycleEvent)>,
    /// Positions of the plans that were carried out or cancelled, and of the holds that were released.
    closed: BTreeSet<u64>,
}

/// An event that the chain before it does not allow.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LifecycleError {
    /// The chain has a gap, or another order.
    #[error("the lifecycle event at {seq} does not name the one before it")]
    Previous {
        /// Position of the event.
        seq: u64,
        /// The last one.
        expected: Option<u64>,
        /// The one that it names.
        found: Option<u64>,
    },
    /// It names no plan that is open.
    #[error("the lifecycle event at {seq} names a plan that is not open")]
    UnknownPlan {
        /// Position of the event.
        seq: u64,
    },
    /// It releases no hold that is in force, or restores events for none.
    #[error("the lifecycle event at {seq} names a hold that is not in force")]
    UnknownHold {
        /// Position of the event.
        seq: u64,
    },
    /// It removes something else than was planned.
    #[error("the removal at {seq} does not remove what its plan says")]
    OtherDigest {
        /// Position of the event.
        seq: u64,
    },
    /// The grace was not over.
    #[error("the removal at {seq} was before the end of the grace, {not_before}")]
    TooEarly {
        /// Position of the event.
        seq: u64,
        /// The end of the grace.
        not_before: Timestamp,
    },
    /// A hold was placed after the plan, or was left out.
    #[error("the removal at {seq} was while the hold {hold} was in force")]
    HoldInForce {
        /// Position of the event.
        seq: u64,
        /// The hold.
        hold: String,
    },
    /// It names a policy that was not in force.
    #[error("the lifecycle event at {seq} names a policy that was not in force")]
    NoPolicy {
        /// Position of the event.
        seq: u64,
    },
    /// The policy keeps the events for longer.
    #[error("the lifecycle event at {seq} is of events that the policy keeps for longer")]
    TooYoung {
        /// Position of the event.
        seq: u64,
    },
    /// The policy lets events go once an archive has them, and no archive has, or it is not the one that is named.
    #[error("the lifecycle event at {seq} names no archive that has its events")]
    NotArchived {
        /// Position of the event.
        seq: u64,
    },
}

impl LifecycleError {
    /// Position of the event.
    pub const fn seq(&self) -> u64 {
        match self {
            Self::Previous { seq, .. }
            | Self::UnknownPlan { seq }
            | Self::UnknownHold { seq }
            | Self::OtherDigest { seq }
            | Self::TooEarly { seq, .. }
            | Self::HoldInForce { seq, .. }
            | Self::NoPolicy { seq }
            | Self::TooYoung { seq }
            | Self::NotArchived { seq } => *seq,
        }
    }
}

impl Lifecycle {
    /// Adds the event at `seq`, which the log received at `at`. It is added also where it was not allowed: it is in the log.
    ///
    /// # Errors
    /// [`LifecycleError`] when the chain before it does not allow it. Then it closes no plan and releases no hold.
    pub fn add(
        &mut self,
        seq: u64,
        at: Timestamp,
        event: LifecycleEvent,
        previous: Option<u64>,
    ) -> Result<(), LifecycleError> {
        let expected = self.last_seq();
        let checked = match previous == expected && expected.is_none_or(|last| last < seq) {
            true => self.check(seq, at, &event),
            false => Err(LifecycleError::Previous {
                seq,
                expected,
                found: previous,
            }),
        };
        if checked.is_ok() {
            self.closed.extend(match &event {
                LifecycleEvent::Cancelled { plan, .. } | LifecycleEvent::ErasureCancelled { plan, .. } => {
                    Some(*plan)
                }
                LifecycleEvent::Removed(removal) => Some(removal.plan),
                LifecycleEvent::Erased(erasure) => Some(erasure.plan),
                LifecycleEvent::HoldReleased { placed, .. } => Some(*placed),
                _ => None,
            });
        }
        self.events.insert(seq, (at, event));
        checked
    }

    fn check(&self, seq: u64, at: Timestamp, event: &LifecycleEvent) -> Result<(), LifecycleError> {
        let unknown_plan = Err(LifecycleError::UnknownPlan { seq });
        match event {
            LifecycleEvent::RetentionChanged(_)
            | LifecycleEvent::RetentionConfirmed { .. }
            | LifecycleEvent::ErasurePlanned(_)
            | LifecycleEvent::HoldPlaced(_) => Ok(()),
            // What is behind the event cannot be in an archive yet.
            LifecycleEvent::Archived(archived) => match archived.end_seq <= seq {
                true => Ok(()),
                false => Err(LifecycleError::NotArchived { seq }),
            },
            LifecycleEvent::Restored(restored) => match self.hold(&restored.hold) {
                Some(_) => Ok(()),
                None => Err(LifecycleError::UnknownHold { seq }),
            },
            LifecycleEvent::Planned(plan) => self.check_policy(seq, at, plan.policy, &plan.received_before),
            LifecycleEvent::Removed(removal) => self.check_removal(seq, at, removal),
            LifecycleEvent::Cancelled { plan, .. } => match self.open(*plan) {
                Some(LifecycleEvent::Planned(_)) => Ok(()),
                _ => unknown_plan,
            },
            LifecycleEvent::ErasureCancelled { erasure, plan, .. } => match self.open(*plan) {
                Some(LifecycleEvent::ErasurePlanned(plan)) if plan.erasure == *erasure => Ok(()),
                _ => unknown_plan,
            },
            LifecycleEvent::Erased(erasure) => match self.open(erasure.plan) {
                Some(LifecycleEvent::ErasurePlanned(plan)) if plan.erasure == erasure.erasure => {
                    let is_same = (plan.digest, plan.events, plan.rows)
                        == (erasure.digest, erasure.events, erasure.rows);
                    check_plan(seq, at, is_same, plan.not_before)?;
                    // Whether it covers what is erased cannot be told afterwards.
                    self.check_holds(seq, |placed| placed < erasure.plan)
                }
                _ => unknown_plan,
            },
            LifecycleEvent::HoldReleased { hold, placed, .. } => match self.open(*placed) {
                Some(LifecycleEvent::HoldPlaced(placed)) if placed.hold == *hold => Ok(()),
                _ => Err(LifecycleError::UnknownHold { seq }),
            },
        }
    }

    fn check_removal(&self, seq: u64, at: Timestamp, removal: &Removal) -> Result<(), LifecycleError> {
        let Some(LifecycleEvent::Planned(plan)) = self.open(removal.plan) else {
            return Err(LifecycleError::UnknownPlan { seq });
        };
        let is_same = (plan.digest, plan.events) == (removal.digest, removal.events)
            && (&plan.seqs, &plan.received_before) == (&removal.seqs, &removal.received_before);
        check_plan(seq, at, is_same, plan.not_before)?;
        self.check_policy(seq, at, removal.policy, &removal.received_before)?;
        self.check_archive(seq, removal)?;
        self.check_holds(seq, |placed| {
            placed < removal.plan && removal.holds.contains(&placed)
        })
    }

    /// Refuses an event at `seq` while a hold is in force that is not respected, by the position at which it was placed.
    fn check_holds(&self, seq: u64, is_respected: impl Fn(u64) -> bool) -> Result<(), LifecycleError> {
        match self.holds().find(|(placed, _)| !is_respected(*placed)) {
            Some((_, hold)) => Err(LifecycleError::HoldInForce {
                seq,
                hold: hold.hold.clone(),
            }),
            None => Ok(()),
        }
    }

    fn check_policy(
        &self,
        seq: u64,
        at: Timestamp,
        policy: u64,
        before: &ReceivedBefore,
    ) -> Result<(), LifecycleError> {
        match self.policy() {
            Some((in_force, _)) if in_force != policy => Err(LifecycleError::NoPolicy { seq }),
            Some((_, policy)) if policy.allows(before, at) => Ok(()),
            Some(_) => Err(LifecycleError::TooYoung { seq }),
            None => Err(LifecycleError::NoPolicy { seq }),
        }
    }

    /// Refuses a removal that names no archive although the policy asks for one, or one that does not have its range.
    fn check_archive(&self, seq: u64, removal: &Removal) -> Result<(), LifecycleError> {
        let is_asked_for = self.policy().is_some_and(|(_, policy)| policy.archive);
        let mut archives = self.archived(removal.seqs.end);
        let is_archived = match removal.archive {
            None => !is_asked_for,
            Some(manifest) => archives.any(|(_, archived)| archived.manifest == manifest),
        };
        match is_archived {
            true => Ok(()),
            false => Err(LifecycleError::NotArchived { seq }),
        }
    }

    /// The event at a position, if it is a plan or a hold that is open.
    fn open(&self, seq: u64) -> Option<&LifecycleEvent> {
        let (_, event) = self.event(seq).filter(|_| self.is_open(seq))?;
        Some(event)
    }

    /// The event at a position, and when the log received it.
    pub fn event(&self, seq: u64) -> Option<(Timestamp, &LifecycleEvent)> {
        self.events.get(&seq).map(|(at, event)| (*at, event))
    }

    /// Whether no later event has carried out, cancelled or released the plan or hold at a position.
    pub fn is_open(&self, seq: u64) -> bool {
        !self.closed.contains(&seq)
    }

    /// All events, with their positions and when the log received them.
    pub fn events(&self) -> impl DoubleEndedIterator<Item = (u64, Timestamp, &LifecycleEvent)> {
        self.events.iter().map(|(seq, (at, event))| (*seq, *at, event))
    }

    /// Those of [`Self::events`] that are open.
    fn all_open(&self) -> impl DoubleEndedIterator<Item = (u64, &LifecycleEvent)> {
        let open = self.events().filter(move |(seq, ..)| self.is_open(*seq));
        open.map(|(seq, _, event)| (seq, event))
    }

    /// Position of the last event.
    pub fn last_seq(&self) -> Option<u64> {
        self.events.last_key_value().map(|(seq, _)| *seq)
    }

    /// The policy in force, with the position of its event.
    pub fn policy(&self) -> Option<(u64, &RetentionPolicy)> {
        self.events().rev().find_map(|(seq, _, event)| match event {
            LifecycleEvent::RetentionChanged(policy) => Some((seq, policy)),
            _ => None,
        })
    }

    /// The holds in force, with the positions at which they were placed.
    pub fn holds(&self) -> impl Iterator<Item = (u64, &Hold)> {
        self.all_open().filter_map(|(seq, event)| match event {
            LifecycleEvent::HoldPlaced(hold) => Some((seq, hold)),
            _ => None,
        })
    }

    /// The hold in force with this id.
    pub fn hold(&self, id: &str) -> Option<&Hold> {
        self.holds()
            .find(|(_, hold)| hold.hold == id)
            .map(|(_, hold)| hold)
    }

    /// The last plan of retention, if it was neither carried out nor cancelled.
    pub fn open_plan(&self) -> Option<(u64, &RetentionPlan)> {
        self.all_open().rev().find_map(|(seq, event)| match event {
            LifecycleEvent::Planned(plan) => Some((seq, plan)),
            _ => None,
        })
    }

    /// The removals by retention.
    pub fn removals(&self) -> impl Iterator<Item = (u64, Timestamp, &Removal)> {
        self.events().filter_map(|(seq, at, event)| match event {
            LifecycleEvent::Removed(removal) => Some((seq, at, removal)),
            _ => None,
        })
    }

    /// The erasures that were carried out.
    pub fn erasures(&self) -> impl Iterator<Item = (u64, Timestamp, &Erasure)> {
        self.events().filter_map(|(seq, at, event)| match event {
            LifecycleEvent::Erased(erasure) => Some((seq, at, erasure)),
            _ => None,
        })
    }

    /// The plans of erasures that were neither carried out nor cancelled.
    pub fn open_erasures(&self) -> impl Iterator<Item = (u64, &ErasurePlan)> {
        self.all_open().filter_map(|(seq, event)| match event {
            LifecycleEvent::ErasurePlanned(plan) => Some((seq, plan)),
            _ => None,
        })
    }

    /// The archives that have all events before a position, as the log says, with the positions of their events. An archive that was
    /// recorded before events were put back may have been made without them.
    pub fn archived(&self, end_seq: u64) -> impl DoubleEndedIterator<Item = (u64, Archived)> {
        let restored = self
            .restored()
            .filter(|(_, restored)| restored.seqs.start < end_seq);
        let since = restored.map(|(seq, _)| seq).last();
        self.events().filter_map(move |(seq, _, event)| match event {
            LifecycleEvent::Archived(archived) if archived.end_seq >= end_seq && Some(seq) > since => {
                Some((seq, *archived))
            }
            _ => None,
        })
    }

    /// Whether the policy in force lets this plan be carried out once an archive has its range, and none has.
    pub fn lacks_archive(&self, plan: &RetentionPlan) -> bool {
        let is_asked_for = self.policy().is_some_and(|(_, policy)| policy.archive);
        is_asked_for && self.archived(plan.seqs.end).next().is_none()
    }

    /// The restores: of their ranges rows may be there again that their holds cover.
    pub fn restored(&self) -> impl Iterator<Item = (u64, &Restored)> {
        self.events().filter_map(|(seq, _, event)| match event {
            LifecycleEvent::Restored(restored) => Some((seq, restored)),
            _ => None,
        })
    }

    /// The latest time of the log to which an operator has allowed plans to reach.
    pub fn confirmed_until(&self) -> Option<Timestamp> {
        let until = |(_, _, event): (u64, Timestamp, &LifecycleEvent)| match event {
            LifecycleEvent::RetentionConfirmed { until } => Some(*until),
            _ => None,
        };
        self.events().filter_map(until).max()
    }
}

/// What removals and erasures have in common: they do what was planned, after the grace.
fn check_plan(seq: u64, at: Timestamp, is_same: bool, not_before: Timestamp) -> Result<(), LifecycleError> {
    match is_same {
        false => Err(LifecycleError::OtherDigest { seq }),
        true if at < not_before => Err(LifecycleError::TooEarly { seq, not_before }),
        true => Ok(()),
    }
}
