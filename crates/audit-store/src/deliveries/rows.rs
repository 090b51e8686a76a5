//! The rows of deliveries and of their attempts.

use crate::ids::LedgerId;
use crate::schema::{delivery_attempts, webhook_deliveries as deliveries};
use audit_alerts::AlertId;
use audit_domain::Timestamp;
use diesel::prelude::*;
use sha2::{Digest, Sha256};

/// A stored delivery: a message to one webhook. Kind and status are text; the application parses them.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = deliveries, treat_none_as_default_value = false)]
#[expect(missing_docs, reason = "the fields are the columns")]
pub struct DeliveryRow {
    pub id: Vec<u8>,
    pub webhook_id: String,
    pub kind: String,
    /// With `alert_id`: the alert it delivers.
    pub ledger_id: Option<i64>,
    pub alert_id: Option<Vec<u8>>,
    pub status: String,
    /// Attempts made.
    pub attempts: i64,
    /// Attempts made by the schedule.
    pub scheduled_attempts: i64,
    /// Whether the schedule retries a failed attempt.
    pub is_retried: bool,
    /// The stage before the next attempt; `None` once it is finished.
    pub stage: Option<String>,
    /// When the next attempt may begin, in microseconds since the Unix epoch; `None` once it is finished.
    pub due_at: Option<i64>,
    /// When the schedule makes the next attempt, while a requested one comes before it.
    pub scheduled_at: Option<i64>,
    /// Whether another attempt was requested during the one in flight.
    pub retry_requested: bool,
    /// The token of the node that attempts it.
    pub lease: Option<Vec<u8>>,
    pub created_at: i64,
    pub finished_at: Option<i64>,
}

/// The kind of a delivery of an alert.
pub const DELIVERY_OF_ALERT: &str = "alert.fired";
/// The status of a delivery that is not finished.
pub const DELIVERY_PENDING: &str = "pending";

/// The delivery may be attempted now.
pub(crate) const READY: &str = "ready";
/// The delivery may be attempted when it is due. It was attempted at least once.
pub(crate) const WAITING: &str = "waiting";
/// The delivery was ready while its webhook was not in use.
pub(crate) const HELD: &str = "held";

impl DeliveryRow {
    /// The delivery of an alert to a webhook, due at once. Its id is derived from both, so it is the same whenever and
    /// wherever the delivery is written.
    pub(crate) fn of_alert(
        webhook_id: &str,
        ledger_id: LedgerId,
        alert_id: AlertId,
        fired_at: Timestamp,
    ) -> Self {
        let digest: [u8; 32] = Sha256::new()
            .chain_update(alert_id.to_bytes())
            .chain_update(webhook_id.as_bytes())
            .finalize()
            .into();
        // The time of the alert, so that ids sort by creation, followed by the unique part.
        let mut id = alert_id.to_bytes();
        id[6..].copy_from_slice(&digest[..10]);
        Self {
            ledger_id: Some(ledger_id.0),
            alert_id: Some(alert_id.to_bytes().to_vec()),
            is_retried: true,
            ..Self::single(id.to_vec(), webhook_id.to_owned(), DELIVERY_OF_ALERT, fired_at)
        }
    }

    /// A delivery without an alert, due at once, with one attempt.
    pub fn single(id: Vec<u8>, webhook_id: String, kind: &str, now: Timestamp) -> Self {
        Self {
            id,
            webhook_id,
            kind: kind.to_owned(),
            ledger_id: None,
            alert_id: None,
            status: DELIVERY_PENDING.to_owned(),
            attempts: 0,
            scheduled_attempts: 0,
            is_retried: false,
            stage: Some(READY.to_owned()),
            due_at: Some(now.as_micros()),
            scheduled_at: None,
            retry_requested: false,
            lease: None,
            created_at: now.as_micros(),
            finished_at: None,
        }
    }

    /// Requests one more attempt at once. The schedule of an unfinished delivery stays as it is. A request during an
    /// attempt takes effect if that fails.
    pub fn request_attempt(&mut self, now: Timestamp) {
        let now = now.as_micros();
        let Some(due_at) = self.due_at else {
            DELIVERY_PENDING.clone_into(&mut self.status);
            self.finished_at = None;
            self.is_retried = false;
            self.stage = Some(READY.to_owned());
            self.due_at = Some(now);
            return;
        };
        if due_at <= now {
            // The next attempt is about to begin.
            self.stage = Some(READY.to_owned());
        } else if self.lease.is_some() {
            self.retry_requested = true;
        } else {
            // An earlier request whose attempt has not begun counts as this one.
            self.scheduled_at = self
                .scheduled_at
                .or_else(|| Some(due_at).filter(|_| self.is_retried));
            self.stage = Some(READY.to_owned());
            self.due_at = Some(now);
        }
    }
}

/// One attempt of a delivery.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = delivery_attempts, treat_none_as_default_value = false)]
#[expect(missing_docs, reason = "the fields are the columns")]
pub struct AttemptRow {
    pub delivery_id: Vec<u8>,
    /// Counts from 1.
    pub number: i64,
    pub started_at: i64,
    pub duration_ms: i64,
    pub status_code: Option<i64>,
    pub failure: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_seconds(1_768_473_000);

    fn row(is_retried: bool, due_at: Timestamp) -> DeliveryRow {
        DeliveryRow {
            is_retried,
            stage: Some(WAITING.to_owned()),
            due_at: Some(due_at.as_micros()),
            ..DeliveryRow::single(vec![1], "wh".to_owned(), DELIVERY_OF_ALERT, NOW)
        }
    }

    fn requested(before: &DeliveryRow) -> DeliveryRow {
        let mut row = before.clone();
        row.request_attempt(NOW);
        row
    }

    #[test]
    fn a_requested_attempt_leaves_the_schedule_as_it_is() {
        let later = NOW.plus_seconds(300);
        let row = row(true, later);
        let once = requested(&row);
        assert_eq!(
            (once.due_at, once.scheduled_at),
            (Some(NOW.as_micros()), row.due_at)
        );
        assert_eq!((once.stage.as_deref(), once.is_retried), (Some(READY), true));
        assert_eq!(requested(&once), once, "a second request changes nothing");
    }

    #[test]
    fn a_request_for_a_due_delivery_changes_only_its_stage() {
        for stage in [READY, HELD, WAITING] {
            let row = DeliveryRow {
                stage: Some(stage.to_owned()),
                ..row(true, NOW)
            };
            let expected = DeliveryRow {
                stage: Some(READY.to_owned()),
                ..row.clone()
            };
            assert_eq!(requested(&row), expected);
        }
    }

    #[test]
    fn a_request_during_an_attempt_is_recorded() {
        let row = DeliveryRow {
            lease: Some(vec![1]),
            ..row(true, NOW.plus_seconds(20))
        };
        let expected = DeliveryRow {
            retry_requested: true,
            ..row.clone()
        };
        assert_eq!(requested(&row), expected);
    }

    #[test]
    fn a_finished_delivery_gets_a_single_attempt() {
        let row = DeliveryRow {
            status: "failed".to_owned(),
            stage: None,
            due_at: None,
            finished_at: Some(1),
            ..row(true, NOW)
        };
        let again = requested(&row);
        assert_eq!(
            (again.status.as_str(), again.is_retried),
            (DELIVERY_PENDING, false)
        );
        assert_eq!((again.due_at, again.finished_at), (Some(NOW.as_micros()), None));
        assert_eq!(again.stage.as_deref(), Some(READY));
    }
}
