//! What came of attempts, and writing it.

use audit_domain::Timestamp;
use audit_store::{AfterAttempt, AttemptRow, Configurator, StoreError, Writer};
use audit_webhooks::NextStep;
use std::sync::atomic::{AtomicU64, Ordering};

/// Under what a delivery was taken.
pub(super) type Lease = [u8; 16];

/// What attempts have led to, in this process.
#[derive(Debug, Default)]
pub(crate) struct DeliveryCounters {
    delivered: AtomicU64,
    retried: AtomicU64,
    failed: AtomicU64,
}

/// What attempts have led to, in this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeliveryStatistics {
    /// Answered with 2xx.
    pub delivered: u64,
    /// Not, and there will be another attempt.
    pub retried: u64,
    /// Not, and there will be none.
    pub failed: u64,
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

/// A delivery that was taken and is to be let go.
#[derive(Clone, Debug)]
pub(super) struct Finished {
    pub(super) delivery_id: Vec<u8>,
    pub(super) webhook_id: String,
    /// Where it went.
    pub(super) url: String,
    pub(super) lease: Lease,
    pub(super) report: Report,
}

/// What came of it.
#[derive(Clone, Debug)]
pub(super) enum Report {
    /// It could not be attempted now, for a reason that says nothing of the receiver.
    NotAttempted { until: Timestamp },
    /// It was attempted.
    Attempted(Box<Attempted>),
}

/// An attempt, and what becomes of the delivery.
#[derive(Clone, Debug)]
pub(super) struct Attempted {
    pub(super) row: AttemptRow,
    pub(super) step: NextStep,
    pub(super) after: AfterAttempt,
    /// In place of `after`, when another attempt was asked for meanwhile.
    pub(super) if_asked: Option<AfterAttempt>,
    /// In place of `step` and `after`, when the receiver is gone and the webhook leads elsewhere now.
    pub(super) if_moved: Option<(NextStep, AfterAttempt)>,
}

impl Finished {
    /// Whether the receiver said that it is gone, which changes what is configured.
    pub(super) fn is_gone(&self) -> bool {
        matches!(&self.report, Report::Attempted(attempted) if attempted.step == NextStep::Gone)
    }

    /// Writes the result of the last attempt to a webhook that answered 410, and disables the webhook if it still has that
    /// URL.
    pub(super) fn write_gone(
        &self,
        configurator: &mut Configurator<'_>,
    ) -> Result<Option<NextStep>, StoreError> {
        let is_leased = configurator
            .lock_leased_delivery(&self.delivery_id, &self.lease)?
            .is_some();
        if is_leased
            && let Report::Attempted(attempted) = &self.report
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
        let is_held = writer.lock_leased_delivery(&self.delivery_id, &self.lease)?;
        let Attempted {
            row,
            step,
            after,
            if_asked,
            if_moved: _,
        } = match &self.report {
            Report::Attempted(attempted) => attempted.as_ref(),
            Report::NotAttempted { until } => {
                if is_held.is_some() {
                    writer.postpone_delivery(&self.delivery_id, *until)?;
                }
                return Ok(None);
            }
        };
        let webhook_id = &self.webhook_id;
        let Some(is_asked) = is_held else {
            log::info!(
                "a delivery to webhook {webhook_id} was deleted or leased by another node during its attempt"
            );
            return Ok(Some(*step));
        };
        if *step == NextStep::Gone {
            log::warn!("webhook {webhook_id} answered 410 and is disabled");
        }
        let after = if_asked.as_ref().filter(|_| is_asked).unwrap_or(after);
        writer.finish_attempt(row, after)?;
        Ok(Some(*step))
    }
}
