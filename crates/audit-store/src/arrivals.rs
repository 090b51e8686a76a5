//! Who waits for the next event of a ledger, and how they are told that it has come.
//!
//! What this process commits is told at once, by its writers. What other processes commit is found by looking at the
//! sizes of the ledgers that somebody waits for, all in one query.

use crate::append::LedgerId;
use crate::connection::AnyConnection;
use crate::error::Result;
use crate::schema::ledgers;
use diesel::prelude::*;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// Ledgers that are asked for in one query: SQLite takes no more than 32,766 parameters.
const LEDGERS_PER_QUERY_MAX: usize = 10_000;

/// The sizes of the ledgers that somebody waits for, as far as they are known.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    sizes: Mutex<HashMap<LedgerId, watch::Sender<u64>>>,
}

impl Arrivals {
    fn lock(&self) -> MutexGuard<'_, HashMap<LedgerId, watch::Sender<u64>>> {
        // The map is changed by single insertions and removals, which leave it whole even in a panic.
        self.sizes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The size of a ledger from now on; 0 as long as it is not known.
    pub(crate) fn subscribe(&self, ledger_id: LedgerId) -> watch::Receiver<u64> {
        self.lock().entry(ledger_id).or_default().subscribe()
    }

    /// Tells those who wait for one of the ledgers that it has grown to this size.
    pub(crate) fn tell(&self, sizes: impl IntoIterator<Item = (LedgerId, u64)>) {
        let waited_for = self.lock();
        if waited_for.is_empty() {
            return;
        }
        for (ledger_id, size) in sizes {
            if let Some(known) = waited_for.get(&ledger_id) {
                // Two writers may tell in another order than they committed.
                known.send_if_modified(|known| {
                    let is_larger = size > *known;
                    *known = size.max(*known);
                    is_larger
                });
            }
        }
    }

    /// The ledgers that somebody waits for; the others are forgotten.
    fn waited_for(&self) -> Vec<LedgerId> {
        let mut sizes = self.lock();
        sizes.retain(|_, size| size.receiver_count() > 0);
        sizes.keys().copied().collect()
    }

    /// Looks in the database for what others have committed.
    pub(crate) fn look(&self, connection: &mut AnyConnection) -> Result<()> {
        let ids: Vec<i64> = self.waited_for().into_iter().map(|id| id.0).collect();
        for ids in ids.chunks(LEDGERS_PER_QUERY_MAX) {
            let rows = sizes(connection, ids)?.into_iter();
            self.tell(rows.map(|(id, size)| (LedgerId(id), size.cast_unsigned())));
        }
        Ok(())
    }
}

fn sizes(connection: &mut AnyConnection, ids: &[i64]) -> Result<Vec<(i64, i64)>> {
    let (columns, wanted) = ((ledgers::id, ledgers::size), ledgers::id.eq_any(ids));
    Ok(match connection {
        AnyConnection::Sqlite(sqlite) => ledgers::table.filter(wanted).select(columns).load(sqlite)?,
        AnyConnection::Postgres(postgres) => ledgers::table.filter(wanted).select(columns).load(postgres)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_wait_for_a_ledger_are_told_its_largest_size() {
        let arrivals = Arrivals::default();
        arrivals.tell([(LedgerId(1), 5)]);
        let (mut first, second) = (arrivals.subscribe(LedgerId(1)), arrivals.subscribe(LedgerId(2)));
        assert_eq!(*first.borrow(), 0, "nobody waited when it was told");
        arrivals.tell([(LedgerId(1), 7), (LedgerId(3), 9)]);
        assert!(first.has_changed().unwrap());
        assert!(!second.has_changed().unwrap());
        assert_eq!(*first.borrow_and_update(), 7);
        arrivals.tell([(LedgerId(1), 6)]);
        assert!(
            !first.has_changed().unwrap(),
            "late news of a smaller size is none"
        );
        assert_eq!(*first.borrow(), 7);
    }

    #[test]
    fn a_ledger_that_nobody_waits_for_is_forgotten() {
        let arrivals = Arrivals::default();
        let receiver = arrivals.subscribe(LedgerId(1));
        assert_eq!(arrivals.waited_for(), [LedgerId(1)]);
        drop(receiver);
        assert!(arrivals.waited_for().is_empty());
        assert!(arrivals.lock().is_empty());
    }
}
