//! The months in which a commit stores events.

use super::request::AppendRequest;
use crate::ids::LedgerId;
use crate::ledgers::head::Head;
use audit_domain::Month;
use std::collections::HashMap;

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
