//! Removes the events that the policies of logs no longer keep.
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

pub(super) mod authorise;
mod clean;
mod collect;
mod counts;
mod delete;
mod due;
mod guards;
mod taken;
#[cfg(test)]
mod tests;
pub(crate) mod thread;

pub use counts::RemovalStatistics;

use crate::wake::Wake;
use counts::{Counters, Measured};
use parking_lot::Mutex;
use std::time::Duration;

/// What the thread of the removals shares with requests.
#[derive(Debug, Default)]
pub(crate) struct RemovalWorker {
    wake: Wake<()>,
    counters: Counters,
    measured: Mutex<Measured>,
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
