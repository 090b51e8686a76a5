//! One transaction of the deciding thread.

use super::results::{Finished, Lease};
use audit_domain::{Clock, Timestamp};
use audit_store::{LeasedDelivery, StoreError, Writer};
use audit_webhooks::NextStep;

/// Deliveries that one transaction moves from one stage to another, at most: others wait for the writer meanwhile.
const STEP_ROWS_MAX: i64 = 500;
/// How long a delivery that was taken is left to whoever took it. Longer than an attempt can last.
const LEASE_MS: i64 = 30_000;

/// What one transaction does.
pub(super) struct Step {
    pub(super) results: Vec<Finished>,
    pub(super) is_due: bool,
    /// Webhooks that are not in use.
    pub(super) unused: Vec<String>,
    pub(super) is_releasing: bool,
    /// How many deliveries to take of which webhooks.
    pub(super) wanted: Vec<(String, usize)>,
    pub(super) lease: Lease,
}

/// What it has done.
pub(super) struct Done {
    pub(super) outcomes: Vec<NextStep>,
    /// Deliveries that went from one stage to another, by which there may be more to do.
    pub(super) moved: usize,
    pub(super) released: usize,
    pub(super) leased: Vec<LeasedDelivery>,
    pub(super) leased_until: Timestamp,
}

impl Step {
    pub(super) fn is_nothing(&self) -> bool {
        let Self {
            results,
            is_due,
            unused,
            is_releasing,
            wanted,
            lease: _,
        } = self;
        results.is_empty() && !is_due && unused.is_empty() && !is_releasing && wanted.is_empty()
    }

    /// `clock` is read only now, because a transaction may have waited for its turn.
    pub(super) fn run(&self, writer: &mut Writer<'_>, clock: &dyn Clock) -> Result<Done, StoreError> {
        let mut outcomes = Vec::with_capacity(self.results.len());
        for finished in &self.results {
            outcomes.extend(finished.write(writer)?);
        }
        let now = clock.now();
        let mut moved = match self.is_due {
            true => writer.make_due_deliveries_ready(now, STEP_ROWS_MAX)?,
            false => 0,
        };
        let mut left = STEP_ROWS_MAX;
        for webhook_id in &self.unused {
            let held = writer.hold_deliveries(webhook_id, left)?;
            moved += held;
            left -= held as i64;
            if left <= 0 {
                break;
            }
        }
        let released = match self.is_releasing {
            true => writer.release_held_deliveries(STEP_ROWS_MAX)?,
            false => 0,
        };
        let leased_until = Timestamp::from_millis(now.as_millis() + LEASE_MS);
        let mut leased = Vec::new();
        for (webhook_id, limit) in &self.wanted {
            leased.extend(writer.lease_deliveries(webhook_id, now, leased_until, &self.lease, *limit)?);
        }
        Ok(Done {
            outcomes,
            moved: moved + released,
            released,
            leased,
            leased_until,
        })
    }
}
