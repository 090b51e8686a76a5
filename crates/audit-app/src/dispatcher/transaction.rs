//! One transaction of the dispatcher thread.

use super::results::{DeliveryResult, Lease};
use audit_domain::{Clock, Timestamp};
use audit_store::{LeasedDelivery, StoreError, Writer};
use audit_webhooks::NextStep;

/// The maximum number of deliveries that one transaction moves between stages, because other writes wait for it.
const MOVED_ROWS_MAX: i64 = 500;
/// The duration of a lease. Longer than the longest attempt.
const LEASE_MS: i64 = 30_000;

/// The work of one transaction.
pub(super) struct Transaction {
    pub(super) results: Vec<DeliveryResult>,
    pub(super) is_due: bool,
    /// The webhooks with ready deliveries that are not in use.
    pub(super) unused: Vec<String>,
    pub(super) is_releasing: bool,
    /// The webhooks to lease deliveries of, with the maximum number for each.
    pub(super) wanted: Vec<(String, usize)>,
    pub(super) lease: Lease,
}

/// The result of a transaction.
pub(super) struct TransactionResult {
    pub(super) outcomes: Vec<NextStep>,
    /// The number of deliveries that changed their stage. If it is not 0, there may be more work.
    pub(super) moved: usize,
    pub(super) released: usize,
    pub(super) leased: Vec<LeasedDelivery>,
    pub(super) leased_until: Timestamp,
}

impl Transaction {
    pub(super) fn is_empty(&self) -> bool {
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

    /// Reads `clock` inside the transaction, because it may have waited in the write queue.
    pub(super) fn run(
        &self,
        writer: &mut Writer<'_>,
        clock: &dyn Clock,
    ) -> Result<TransactionResult, StoreError> {
        let mut outcomes = Vec::with_capacity(self.results.len());
        for result in &self.results {
            outcomes.extend(result.write(writer)?);
        }
        let now = clock.now();
        let mut moved = match self.is_due {
            true => writer.make_due_deliveries_ready(now, MOVED_ROWS_MAX)?,
            false => 0,
        };
        let mut remaining = MOVED_ROWS_MAX;
        for webhook_id in &self.unused {
            let held = writer.hold_deliveries(webhook_id, remaining)?;
            moved += held;
            remaining -= held as i64;
            if remaining <= 0 {
                break;
            }
        }
        let released = match self.is_releasing {
            true => writer.release_held_deliveries(MOVED_ROWS_MAX)?,
            false => 0,
        };
        let leased_until = Timestamp::from_millis(now.as_millis() + LEASE_MS);
        let mut leased = Vec::new();
        for (webhook_id, limit) in &self.wanted {
            leased.extend(writer.lease_deliveries(webhook_id, now, leased_until, &self.lease, *limit)?);
        }
        Ok(TransactionResult {
            outcomes,
            moved: moved + released,
            released,
            leased,
            leased_until,
        })
    }
}
