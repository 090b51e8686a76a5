//! Removes the events that the policies of logs no longer keep, and erases what requests name.
//!
//! One thread ([`thread`]) takes one step after the other, each in a transaction that names the lease of the removal. How far a removal is
//! stands in its row of `removals`; what authorises it is in the log. A process may end at any point: the next lease continues.
//!
//! 1. [`due`]: a removal begins when events are older than the policy keeps them, and no [guard](guards) holds it back.
//! 2. [`collect`]: a record of each event is stored, once the event is known to be the one that was signed. Then the plan is appended to
//!    the log. This is done by one process from beginning to end; what another one has left is discarded.
//! 3. [`authorise`]: after the grace, unless the plan was cancelled, the removal is appended to the log.
//! 4. [`delete`]: rows go, once the removal is signed, and cosigned where witnesses are asked.
//! 5. [`clean`]: what follows the rows, and the space.
//!
//! An erasure begins with a request, and takes the same way. It is [listed](list_erasure) in turns by the process that has its
//! [identifiers](listing), and an operator confirms the list. Instead of rows, [parts of events](erase) may go.

pub(crate) mod archived;
pub(super) mod authorise;
pub(crate) mod authorities;
mod clean;
mod collect;
mod counts;
mod delete;
mod due;
mod erase;
mod guards;
mod list_erasure;
pub(crate) mod listing;
mod rows;
mod taken;
#[cfg(test)]
mod tests;
pub(crate) mod thread;

pub use counts::RemovalStatistics;
pub(crate) use rows::{beginning, rows_of};
pub(crate) use taken::{LISTING_LEASE_SECONDS, of_read, tile_of};

use crate::wake::Wake;
use counts::{Counters, Measured};
use listing::Listings;
use parking_lot::Mutex;
use std::time::Duration;

/// What the thread of the removals shares with requests.
#[derive(Debug, Default)]
pub(crate) struct RemovalWorker {
    wake: Wake<()>,
    counters: Counters,
    measured: Mutex<Measured>,
    pub(crate) listings: Listings,
}

impl RemovalWorker {
    fn is_stopping(&self) -> bool {
        self.wake.is_stopping()
    }

    /// Waits for `time`, or until the thread must stop.
    fn pause(&self, time: Duration) {
        self.wake.pause(time);
    }

    fn statistics(&self) -> RemovalStatistics {
        self.counters.read(self.measured.lock().clone())
    }
}
