//! Delivers events to destinations: each run in order, one batch in flight.
//!
//! One thread ([`thread`]) finds the runs that are due. Each of them is leased, so that one node delivers it, and delivered in a thread of its
//! own ([`run`]), because an attempt may block for its whole timeout. [`Lanes`](lanes::Lanes) limit how many that are. All state is in the
//! database: [`plan`] has what follows an attempt, and [`planned`] what is stored of a batch in flight.

mod batch;
mod counts;
mod lanes;
mod metrics;
mod outcome;
mod plan;
mod planned;
mod run;
#[cfg(test)]
mod tests;
pub(crate) mod thread;

pub use counts::{DestinationLag, DestinationStatistics};

use crate::turns::OwnedTurns;
use crate::wake::Wake;
use audit_admission::TurnsOptions;
use audit_destinations::{Attempt, Batch, Config, DestinationSender};
use audit_domain::Timestamp;
use audit_webhooks::TooManyLookups;
use counts::Counters;
use lanes::Lane;
use parking_lot::Mutex;
use std::time::Duration;

/// The most concurrent reads of all runs of a process. An organization alone gets two.
const READS_MAX: usize = 3;
/// How long a run waits to read.
const READ_WAIT: Duration = Duration::from_secs(10);

/// Sends batches.
pub(crate) trait Transport: Send + Sync {
    /// Makes one attempt to send `batch` at `now`.
    ///
    /// # Errors
    /// [`TooManyLookups`]: no attempt was made, for a reason unrelated to the receiver.
    fn send(&self, config: &Config, batch: &Batch, now: Timestamp) -> Result<Attempt, TooManyLookups>;
}

impl Transport for DestinationSender {
    fn send(&self, config: &Config, batch: &Batch, now: Timestamp) -> Result<Attempt, TooManyLookups> {
        Self::send(self, config, batch, now)
    }
}

/// The state that the threads of the destinations share.
pub(crate) struct Worker {
    wake: Wake<Lane>,
    reads: OwnedTurns,
    counters: Counters,
    measured: Mutex<DestinationLag>,
}

impl Default for Worker {
    fn default() -> Self {
        Self {
            wake: Wake::default(),
            reads: OwnedTurns::new(TurnsOptions {
                permits: READS_MAX,
                group_share: 1,
                member_share: 1,
                group_waiting_max: lanes::Lanes::RUNS_MAX,
                member_waiting_max: lanes::Lanes::RUNS_MAX,
                wait_max: READ_WAIT,
            }),
            counters: Counters::default(),
            measured: Mutex::default(),
        }
    }
}
