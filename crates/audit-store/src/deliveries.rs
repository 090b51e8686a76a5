//! Deliveries and the log of their attempts.

mod queue;

pub use queue::{AfterAttempt, LeasedDelivery, PendingCount, ReadyWebhook};

use crate::alerts::AlertRow;
use crate::append::LedgerId;
use crate::connection::AnyConnection;
use crate::error::{Result, StoreError};
use crate::rows::Rows;
use crate::schema::{delivery_attempts, webhook_deliveries as deliveries};
use crate::webhooks::WebhookRow;
use audit_domain::{ProjectId, Timestamp};
use diesel::prelude::*;
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// A message to one webhook, as it is stored. Words are kept as they are; the application reads them.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = deliveries, treat_none_as_default_value = false)]
#[expect(missing_docs, reason = "the fields are the columns")]
pub struct DeliveryRow {
    pub id: Vec<u8>,
    pub webhook_id: String,
    pub kind: String,
    /// With `alert_id`: the alert it tells of.
    pub ledger_id: Option<i64>,
    pub alert_id: Option<Vec<u8>>,
    pub status: String,
    /// How many were made.
    pub attempts: i64,
    /// Those of the schedule among them.
    pub scheduled_attempts: i64,
    /// Whether another attempt follows a failed one, as the schedule has it.
    pub is_retried: bool,
    /// Where it is on its way to the next attempt; `None` once it is finished.
    pub stage: Option<String>,
    /// When the next attempt may begin, in microseconds since the Unix epoch; `None` once it is finished.
    pub due_at: Option<i64>,
    /// When the schedule has the next attempt, while one that was asked for comes before it.
    pub scheduled_at: Option<i64>,
    /// Whether another attempt was asked for during the one under way.
    pub retry_asked: bool,
    /// Who is at it.
    pub lease: Option<Vec<u8>>,
    pub created_at: i64,
    pub finished_at: Option<i64>,
}

/// Words of deliveries that the store itself writes.
pub const DELIVERY_OF_ALERT: &str = "alert.fired";
/// The status of a delivery that is not finished.
pub const DELIVERY_PENDING: &str = "pending";

/// It may be attempted now.
const READY: &str = "ready";
/// It may be attempted when it is due; it is not before it was attempted at least once.
const WAITING: &str = "waiting";
/// It was ready, and its webhook was not in use.
const HELD: &str = "held";

impl DeliveryRow {
    /// The delivery that tells a webhook of an alert, due at once. Its id is made of both, so that it needs no randomness
    /// where the alert is raised.
    pub(crate) fn of_alert(webhook_id: &String, ledger_id: LedgerId, alert: &AlertRow) -> Self {
        let digest: [u8; 32] = Sha256::new()
            .chain_update(alert.id)
            .chain_update(webhook_id.as_bytes())
            .finalize()
            .into();
        // The time of the alert, so that ids sort as deliveries come about; then what is unique.
        let mut id = alert.id;
        id[6..].copy_from_slice(&digest[..10]);
        Self {
            ledger_id: Some(ledger_id.0),
            alert_id: Some(alert.id.to_vec()),
            is_retried: true,
            ..Self::single(id.to_vec(), webhook_id.clone(), DELIVERY_OF_ALERT, alert.fired_at)
        }
    }

    /// A delivery that tells of no alert, due at once: one attempt.
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
            retry_asked: false,
            lease: None,
            created_at: now.as_micros(),
            finished_at: None,
        }
    }

    /// Has one more attempt made at once. Its schedule, if it is not finished, stays as it is; during an attempt, this is
    /// for when that fails.
    pub fn ask_for_attempt(&mut self, now: Timestamp) {
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
            self.retry_asked = true;
        } else {
            // What was asked for before has not begun either, and is this one.
            self.scheduled_at = self
                .scheduled_at
                .or_else(|| Some(due_at).filter(|_| self.is_retried));
            self.stage = Some(READY.to_owned());
            self.due_at = Some(now);
        }
    }
}

/// One attempt at a delivery.
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

/// Adds deliveries, in the transaction of what they tell of.
pub(crate) fn insert_deliveries(connection: &mut AnyConnection, rows: &[DeliveryRow]) -> Result<()> {
    for row in rows {
        diesel::insert_into(deliveries::table)
            .values(row.clone())
            .execute(connection)?;
    }
    Ok(())
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be asked"
)]
impl Rows<'_> {
    /// Adds a delivery.
    pub fn insert_delivery(&mut self, delivery: &DeliveryRow) -> Result<()> {
        insert_deliveries(self.connection, std::slice::from_ref(delivery))
    }

    /// Deliveries to a webhook, newest first: those after the one with the id `after`, `limit` at most.
    pub fn deliveries(
        &mut self,
        webhook_id: &str,
        status: Option<&str>,
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<DeliveryRow>> {
        let mut query = deliveries::table
            .filter(deliveries::webhook_id.eq(webhook_id))
            .order(deliveries::id.desc())
            .limit(i64::try_from(limit).unwrap_or(i64::MAX))
            .select(DeliveryRow::as_select())
            .into_boxed();
        if let Some(status) = status {
            query = query.filter(deliveries::status.eq(status));
        }
        if let Some(after) = after {
            query = query.filter(deliveries::id.lt(after));
        }
        Ok(query.load(self.connection)?)
    }

    /// The attempts at these deliveries, by delivery, oldest first.
    pub fn attempts(&mut self, ids: &[&[u8]]) -> Result<HashMap<Vec<u8>, Vec<AttemptRow>>> {
        let mut attempts: HashMap<Vec<u8>, Vec<AttemptRow>> = HashMap::new();
        for id in ids {
            let of_one = delivery_attempts::table
                .filter(delivery_attempts::delivery_id.eq(id))
                .order(delivery_attempts::number)
                .select(AttemptRow::as_select())
                .load(self.connection)?;
            attempts.insert(id.to_vec(), of_one);
        }
        Ok(attempts)
    }

    /// A delivery to a webhook of a project, with the webhook, which nobody else changes until the end of the
    /// transaction.
    pub fn lock_delivery(
        &mut self,
        project_id: ProjectId,
        id: &[u8],
    ) -> Result<Option<(DeliveryRow, WebhookRow)>> {
        let row = deliveries::table.find(id);
        let found: Option<DeliveryRow> = match self.connection {
            AnyConnection::Sqlite(sqlite) => row
                .select(DeliveryRow::as_select())
                .get_result(sqlite)
                .optional()?,
            AnyConnection::Postgres(postgres) => row
                .select(DeliveryRow::as_select())
                .for_update()
                .get_result(postgres)
                .optional()?,
        };
        let Some(delivery) = found else {
            return Ok(None);
        };
        let webhook = self.webhook(project_id, &delivery.webhook_id)?;
        Ok(webhook.map(|webhook| (delivery, webhook)))
    }

    /// Writes what [`DeliveryRow::ask_for_attempt`] has changed.
    pub fn reschedule_delivery(&mut self, delivery: &DeliveryRow) -> Result<()> {
        let updated = diesel::update(deliveries::table.find(&delivery.id))
            .set((
                deliveries::status.eq(&delivery.status),
                deliveries::is_retried.eq(delivery.is_retried),
                deliveries::stage.eq(&delivery.stage),
                deliveries::due_at.eq(delivery.due_at),
                deliveries::scheduled_at.eq(delivery.scheduled_at),
                deliveries::retry_asked.eq(delivery.retry_asked),
                deliveries::finished_at.eq(delivery.finished_at),
            ))
            .execute(self.connection)?;
        match updated {
            1 => Ok(()),
            _ => Err(StoreError::Damaged { what: "delivery" }),
        }
    }
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

    fn asked(before: &DeliveryRow) -> DeliveryRow {
        let mut row = before.clone();
        row.ask_for_attempt(NOW);
        row
    }

    #[test]
    fn an_attempt_that_is_asked_for_leaves_the_schedule_as_it_is() {
        let later = NOW.plus_seconds(300);
        let row = row(true, later);
        let once = asked(&row);
        assert_eq!(
            (once.due_at, once.scheduled_at),
            (Some(NOW.as_micros()), row.due_at)
        );
        assert_eq!((once.stage.as_deref(), once.is_retried), (Some(READY), true));
        assert_eq!(asked(&once), once, "asking twice is asking once");
    }

    #[test]
    fn what_is_due_anyway_is_not_hastened() {
        for stage in [READY, HELD, WAITING] {
            let row = DeliveryRow {
                stage: Some(stage.to_owned()),
                ..row(true, NOW)
            };
            let expected = DeliveryRow {
                stage: Some(READY.to_owned()),
                ..row.clone()
            };
            assert_eq!(asked(&row), expected);
        }
    }

    #[test]
    fn an_attempt_under_way_is_left_to_whoever_is_at_it() {
        let row = DeliveryRow {
            lease: Some(vec![1]),
            ..row(true, NOW.plus_seconds(20))
        };
        let expected = DeliveryRow {
            retry_asked: true,
            ..row.clone()
        };
        assert_eq!(asked(&row), expected);
    }

    #[test]
    fn what_is_finished_gets_a_single_attempt() {
        let row = DeliveryRow {
            status: "failed".to_owned(),
            stage: None,
            due_at: None,
            finished_at: Some(1),
            ..row(true, NOW)
        };
        let again = asked(&row);
        assert_eq!(
            (again.status.as_str(), again.is_retried),
            (DELIVERY_PENDING, false)
        );
        assert_eq!((again.due_at, again.finished_at), (Some(NOW.as_micros()), None));
        assert_eq!(again.stage.as_deref(), Some(READY));
    }
}
