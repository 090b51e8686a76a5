//! The head of a ledger, and the months of its events.

use crate::configuration::owner::ConfigurationVersion;
use crate::ids::LedgerId;
use audit_domain::{EventId, Month, Stamp};
use audit_ledger::{Frontier, HeadKey, Tile};
use std::sync::Arc;

/// The head of a ledger: its size, and the state that the next event depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// Project and environment.
    pub(crate) name: Arc<str>,
    /// The group of its project, whose index has its events.
    pub(crate) group_id: i64,
    /// The version of its project's configuration.
    pub(crate) configuration_version: ConfigurationVersion,
    /// The number of its events.
    pub(crate) size: i64,
    /// The latest id and time of receipt.
    pub(crate) last: Option<Stamp>,
    /// The right edge of the tree over them; none where it was tampered with and cannot be continued.
    pub(crate) frontier: Option<Frontier>,
    /// The position of the newest lifecycle event.
    pub(crate) lifecycle: Option<i64>,
    /// A UTC day, in days since 1970-01-01.
    pub(crate) day: i64,
    /// The number of events sent to the ledger on that day, if it is a live one.
    pub(crate) day_events: u64,
    /// The months in which its events were stored, ascending. The last one is that of the newest event.
    pub(crate) months: Vec<LedgerMonth>,
}

/// What identifies the history of a ledger: its size and the latest id.
///
/// An id is stored by one commit at most, because a commit whose outcome is unknown is never repeated, and that commit
/// follows one head. So a ledger that has the id of a sent event as its latest id, and the size that it had after it, has the
/// same events, also after a failover has lost others. Claimed events do not change the latest id, so a head that may end
/// with one is not cached (`postgres/heads.rs`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HeadId {
    pub(crate) size: i64,
    pub(crate) last: Option<EventId>,
}

impl HeadId {
    /// The bytes of the latest id.
    pub(crate) fn last_id(&self) -> Option<[u8; 16]> {
        self.last.map(EventId::to_bytes)
    }
}

impl Head {
    /// What identifies the history.
    pub(crate) fn id(&self) -> HeadId {
        HeadId {
            size: self.size,
            last: self.last.map(|last| last.id),
        }
    }

    /// Whether the events that a head has counted on `stored_day` count to the limit of `day`: also those of the next day, because
    /// the clock of another node can be ahead at midnight.
    pub(crate) const fn counts_to(stored_day: i64, day: i64) -> bool {
        stored_day == day || stored_day == day + 1
    }

    /// Restarts the day's count, unless it is of this day, or of the next one by another node's clock.
    pub(crate) fn begin_day(&mut self, day: i64) {
        if !Self::counts_to(self.day, day) {
            (self.day, self.day_events) = (day, 0);
        }
    }

    /// The month of the newest event; none without events.
    pub(crate) fn month(&self) -> Option<Month> {
        self.months.last().map(|last| last.month)
    }

    /// The first of the events that were stored in this month or later; none without such events.
    pub(crate) fn first_seq_since(&self, month: Month) -> Option<i64> {
        let since = self.months.partition_point(|one| one.month < month);
        self.months.get(since).map(|first| first.first_seq)
    }

    /// The month of the event with this `seq`.
    pub(crate) fn month_of(&self, seq: i64) -> Month {
        month_of(&self.months, seq)
    }
}

/// A month in which events of a ledger were stored. Months never go back along `seq`, so the events of the months before it are
/// those before `first_seq`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LedgerMonth {
    pub(crate) month: Month,
    /// Its first event.
    pub(crate) first_seq: i64,
}

/// The month of the event with this `seq`, by the months of its ledger.
pub(crate) fn month_of(months: &[LedgerMonth], seq: i64) -> Month {
    let after = months.partition_point(|one| one.first_seq <= seq);
    let last = after.checked_sub(1).and_then(|last| months.get(last));
    last.map_or(Month::MIN, |last| last.month)
}

/// The head of a ledger as a commit leaves it.
#[derive(Debug)]
pub(crate) struct NewHead {
    pub(crate) ledger_id: LedgerId,
    /// The version of the project's configuration, which the commit does not change.
    pub(crate) configuration_version: ConfigurationVersion,
    pub(crate) size: i64,
    pub(crate) last: Stamp,
    /// Encoded.
    pub(crate) frontier: Vec<u8>,
    pub(crate) lifecycle: Option<i64>,
    pub(crate) code: [u8; HeadKey::CODE_BYTES],
    pub(crate) day: i64,
    pub(crate) day_events: i64,
    /// The tiles that the tree has filled, to be written while the head is locked.
    pub(crate) tiles: Vec<Tile>,
}
