//! What is counted of removals.

use crate::lifecycle::WaitingFor;
use audit_store::RemovalState;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// What the last round has found.
#[derive(Clone, Debug, Default)]
pub(super) struct Measured {
    pub(super) open: BTreeMap<RemovalState, i64>,
    pub(super) waiting: BTreeMap<WaitingFor, i64>,
}

impl Measured {
    /// Counts a log whose removal waits for this, if it does.
    pub(super) fn count(&mut self, waiting_for: Option<WaitingFor>) {
        if let Some(reason) = waiting_for {
            *self.waiting.entry(reason).or_default() += 1;
        }
    }
}

/// The counters of this process.
#[derive(Debug, Default)]
pub(super) struct Counters {
    removed: AtomicU64,
    alarms: AtomicU64,
}

impl Counters {
    pub(super) fn note_removed(&self, events: usize) {
        self.removed.fetch_add(events as u64, Ordering::Relaxed);
    }

    pub(super) fn note_alarm(&self) {
        self.alarms.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn read(&self, measured: Measured) -> RemovalStatistics {
        RemovalStatistics {
            open: measured.open,
            waiting: measured.waiting,
            removed: self.removed.load(Ordering::Relaxed),
            alarms: self.alarms.load(Ordering::Relaxed),
        }
    }
}

/// The removals that the last round of this process has found, and what it has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemovalStatistics {
    /// The number of open removals of all nodes, by state.
    pub open: BTreeMap<RemovalState, i64>,
    /// The number of logs whose removal waits, by what it waits for.
    pub waiting: BTreeMap<WaitingFor, i64>,
    /// Events that this process has removed.
    pub removed: u64,
    /// How often this process found something of a removal, or an event to be removed, that is not as the service wrote it.
    pub alarms: u64,
}

impl RemovalStatistics {
    /// Of both.
    #[must_use]
    pub(super) fn plus(mut self, other: Self) -> Self {
        for (state, count) in other.open {
            *self.open.entry(state).or_default() += count;
        }
        for (reason, count) in other.waiting {
            *self.waiting.entry(reason).or_default() += count;
        }
        self.removed += other.removed;
        self.alarms += other.alarms;
        self
    }
}
