//! Notification of new events: the sizes of the ledgers that have followers.
//!
//! Writers of this process notify at once, after their commits. One query over the sizes of all followed ledgers finds
//! the commits of other processes.

use crate::database::{AnySession, on_either};
use crate::error::Result;
use crate::ids::LedgerId;
use crate::schema::ledgers;
use diesel::prelude::*;
use parking_lot::Mutex;
use std::collections::HashMap;
use tokio::sync::watch;

/// Ledgers per query: SQLite takes 32,766 parameters at most.
const LEDGERS_PER_QUERY_MAX: usize = 10_000;

/// The known sizes of the followed ledgers.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    sizes: Mutex<HashMap<LedgerId, watch::Sender<u64>>>,
}

impl Arrivals {
    /// Follows the size of a ledger; 0 until it is known.
    pub(crate) fn subscribe(&self, ledger_id: LedgerId) -> watch::Receiver<u64> {
        self.sizes.lock().entry(ledger_id).or_default().subscribe()
    }

    /// Notifies the followers of ledgers that have grown to these sizes.
    pub(crate) fn notify(&self, sizes: impl IntoIterator<Item = (LedgerId, u64)>) {
        let followed = self.sizes.lock();
        if followed.is_empty() {
            return;
        }
        for (ledger_id, size) in sizes {
            if let Some(known) = followed.get(&ledger_id) {
                // Two writers can notify in another order than they committed in.
                known.send_if_modified(|known| {
                    let is_larger = size > *known;
                    *known = size.max(*known);
                    is_larger
                });
            }
        }
    }

    /// The ledgers that have followers; the others are removed.
    fn followed(&self) -> Vec<LedgerId> {
        let mut sizes = self.sizes.lock();
        sizes.retain(|_, size| size.receiver_count() > 0);
        sizes.keys().copied().collect()
    }

    /// Queries the database for commits of other processes.
    pub(crate) fn query(&self, session: &mut AnySession) -> Result<()> {
        let ids: Vec<i64> = self.followed().into_iter().map(|id| id.0).collect();
        for ids in ids.chunks(LEDGERS_PER_QUERY_MAX) {
            let rows = sizes(session, ids)?.into_iter();
            self.notify(rows.map(|(id, size)| (LedgerId(id), size.cast_unsigned())));
        }
        Ok(())
    }
}

fn sizes(session: &mut AnySession, ids: &[i64]) -> Result<Vec<(i64, i64)>> {
    let wanted = ledgers::table
        .filter(ledgers::id.eq_any(ids))
        .select((ledgers::id, ledgers::size));
    Ok(on_either!(session, session => wanted.load(session))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn followers_of_a_ledger_see_its_largest_size() {
        let arrivals = Arrivals::default();
        arrivals.notify([(LedgerId(1), 5)]);
        let (mut first, second) = (arrivals.subscribe(LedgerId(1)), arrivals.subscribe(LedgerId(2)));
        assert_eq!(*first.borrow(), 0, "the ledger had no follower at that time");
        arrivals.notify([(LedgerId(1), 7), (LedgerId(3), 9)]);
        assert!(first.has_changed().unwrap());
        assert!(!second.has_changed().unwrap());
        assert_eq!(*first.borrow_and_update(), 7);
        arrivals.notify([(LedgerId(1), 6)]);
        assert!(
            !first.has_changed().unwrap(),
            "a late notification of a smaller size is ignored"
        );
        assert_eq!(*first.borrow(), 7);
    }

    #[test]
    fn a_ledger_without_followers_is_removed() {
        let arrivals = Arrivals::default();
        let receiver = arrivals.subscribe(LedgerId(1));
        assert_eq!(arrivals.followed(), [LedgerId(1)]);
        drop(receiver);
        assert!(arrivals.followed().is_empty());
        assert!(arrivals.sizes.lock().is_empty());
    }
}
