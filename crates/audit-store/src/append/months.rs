//! The months in which events are stored.

use super::plan::Head;
use super::{AppendRequest, LedgerId};
use audit_domain::Month;
use std::collections::HashMap;

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

impl Head {
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

/// The month in which a commit stores events, by ledger: one month for all events of a ledger. It is not before that of the
/// ledger's newest event, and not before that in which an event was received or claimed. So a clock that is behind takes no
/// ledger back to an earlier month, and what is in months before M was received before M.
pub(crate) fn months_of(
    requests: &[AppendRequest],
    heads: &HashMap<LedgerId, Head>,
) -> HashMap<LedgerId, Month> {
    let mut months: HashMap<LedgerId, Month> = HashMap::with_capacity(heads.len());
    for request in requests {
        let ledger_id = request.destination.ledger_id;
        let of_head = || heads.get(&ledger_id).and_then(Head::month).unwrap_or(Month::MIN);
        let month = months.entry(ledger_id).or_insert_with(of_head);
        *month = request
            .latest_time()
            .map_or(*month, |time| Month::of(time).max(*month));
    }
    months
}
