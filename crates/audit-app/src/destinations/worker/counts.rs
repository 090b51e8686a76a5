//! What is counted of destinations.

use super::plan::Step;
use crate::destinations::DestinationState;
use audit_store::DestinationRunRow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of what this process has delivered.
#[derive(Debug, Default)]
pub(super) struct Counters {
    delivered: AtomicU64,
    set_aside: AtomicU64,
}

impl Counters {
    /// Counts the events of an attempt.
    pub(super) fn note(&self, before: &DestinationRunRow, step: &Step) {
        let delivered = (step.run.delivered - before.delivered).cast_unsigned();
        self.delivered.fetch_add(delivered, Ordering::Relaxed);
        let set_aside = u64::from(step.is_set_aside);
        self.set_aside.fetch_add(set_aside, Ordering::Relaxed);
    }

    /// The counts, with the last measurement.
    pub(super) fn read(&self, measured: DestinationLag) -> DestinationStatistics {
        DestinationStatistics {
            delivered: self.delivered.load(Ordering::Relaxed),
            set_aside: self.set_aside.load(Ordering::Relaxed),
            measured,
        }
    }
}

/// The destinations of this process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DestinationStatistics {
    /// Events that receivers have taken from this process.
    pub delivered: u64,
    /// Events that receivers have refused from this process for good.
    pub set_aside: u64,
    /// The last measurement, of all nodes.
    pub measured: DestinationLag,
}

/// The destinations of all nodes, without replays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DestinationLag {
    /// Their number by state.
    pub by_state: BTreeMap<DestinationState, i64>,
    /// The most events of the log that one of them has not come to. Paused ones do not count.
    pub events_max: i64,
    /// How long the log has had the first of these, in seconds, where that is longest. Paused and parked ones do not count.
    pub seconds_max: i64,
}

impl DestinationStatistics {
    /// Of both.
    pub(super) fn plus(mut self, other: Self) -> Self {
        self.delivered += other.delivered;
        self.set_aside += other.set_aside;
        for (state, count) in other.measured.by_state {
            *self.measured.by_state.entry(state).or_default() += count;
        }
        self.measured.events_max = self.measured.events_max.max(other.measured.events_max);
        self.measured.seconds_max = self.measured.seconds_max.max(other.measured.seconds_max);
        self
    }
}
