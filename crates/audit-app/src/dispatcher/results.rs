//! The results of attempts, and how they are written.

use audit_domain::{ProjectId, Timestamp};
use audit_store::{AfterAttempt, AttemptRow, Configurator, StoreError, Writer};
use audit_webhooks::NextStep;
use std::sync::atomic::{AtomicU64, Ordering};

/// The token of the lease of a delivery.
pub(super) type Lease = [u8; 16];

/// Counters of the results of attempts in this process.
#[derive(Debug, Default)]
pub(crate) struct DeliveryCounters {
    delivered: AtomicU64,
    retried: AtomicU64,
    failed: AtomicU64,
}

/// The results of the delivery attempts of this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeliveryStatistics {
    /// Attempts with a 2xx response.
    pub delivered: u64,
    /// Failed attempts that are followed by another one.
    pub retried: u64,
    /// Failed attempts that are the last one.
    pub failed: u64,
}

impl DeliveryStatistics {
    /// The sums.
    pub(crate) const fn plus(self, other: Self) -> Self {
        Self {
            delivered: self.delivered + other.delivered,
            retried: self.retried + other.retried,
            failed: self.failed + other.failed,
        }
    }
}

impl DeliveryCounters {
    pub(super) fn count(&self, step: NextStep) {
        let counter = match step {
            NextStep::Delivered => &self.delivered,
            NextStep::RetryAt(_) => &self.retried,
            NextStep::Failed | NextStep::Gone => &self.failed,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> DeliveryStatistics {
        DeliveryStatistics {
            delivered: self.delivered.load(Ordering::Relaxed),
            retried: self.retried.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
        }
    }
}

/// The result for a leased delivery. Writing it ends the lease.
#[derive(Clone, Debug)]
pub(super) struct DeliveryResult {
    pub(super) delivery_id: Vec<u8>,
    pub(super) webhook_id: String,
    /// The project of the webhook.
    pub(super) project_id: String,
    /// The URL of the attempt.
    pub(super) url: Vec<u8>,
    pub(super) lease: Lease,
    pub(super) report: AttemptReport,
}

/// Whether the delivery was attempted.
#[derive(Clone, Debug)]
pub(super) enum AttemptReport {
    /// The delivery could not be attempted, for a reason that is not the receiver's.
    NotAttempted { until: Timestamp },
    /// The delivery was attempted.
    Attempted(Box<Attempted>),
}

/// An attempt, and the state of the delivery after it.
#[derive(Clone, Debug)]
pub(super) struct Attempted {
    pub(super) row: AttemptRow,
    pub(super) step: NextStep,
    pub(super) after: AfterAttempt,
    /// Replaces `after` if another attempt was requested meanwhile.
    pub(super) if_retry_requested: Option<AfterAttempt>,
    /// Replaces `step` and `after` if the response was 410 and the webhook has another URL now.
    pub(super) if_moved: Option<(NextStep, AfterAttempt)>,
}

impl DeliveryResult {
    /// Whether the response was 410, which disables the webhook and so changes the configuration.
    pub(super) fn is_gone(&self) -> bool {
        matches!(&self.report, AttemptReport::Attempted(attempted) if attempted.step == NextStep::Gone)
    }

    /// Writes a result with status 410, and disables the webhook if it still has the URL of the attempt.
    pub(super) fn write_gone(
        &self,
        configurator: &mut Configurator<'_, ProjectId>,
    ) -> Result<Option<NextStep>, StoreError> {
        let is_leased = configurator
            .lock_leased_delivery(&self.delivery_id, &self.lease)?
            .is_some();
        if is_leased
            && let AttemptReport::Attempted(attempted) = &self.report
            && let Some((step, after)) = &attempted.if_moved
            && !configurator.disable_webhook(&self.webhook_id, &self.url)?
        {
            log::info!(
                "webhook {} answered 410 at its former URL and stays enabled",
                self.webhook_id
            );
            configurator.finish_attempt(&attempted.row, after)?;
            return Ok(Some(*step));
        }
        self.write(configurator)
    }

    /// Writes the result of an attempt, unless the delivery was deleted or leased by another node meanwhile.
    pub(super) fn write(&self, writer: &mut Writer<'_>) -> Result<Option<NextStep>, StoreError> {
        let locked = writer.lock_leased_delivery(&self.delivery_id, &self.lease)?;
        let Attempted {
            row,
            step,
            after,
            if_retry_requested,
            if_moved: _,
        } = match &self.report {
            AttemptReport::Attempted(attempted) => attempted.as_ref(),
            AttemptReport::NotAttempted { until } => {
                if locked.is_some() {
                    writer.postpone_delivery(&self.delivery_id, *until)?;
                }
                return Ok(None);
            }
        };
        let webhook_id = &self.webhook_id;
        let Some(is_retry_requested) = locked else {
            log::info!(
                "a delivery to webhook {webhook_id} was deleted or leased by another node during its attempt"
            );
            return Ok(Some(*step));
        };
        if *step == NextStep::Gone {
            log::warn!("webhook {webhook_id} answered 410 and is disabled");
        }
        let after = if_retry_requested
            .as_ref()
            .filter(|_| is_retry_requested)
            .unwrap_or(after);
        writer.finish_attempt(row, after)?;
        Ok(Some(*step))
    }
}
