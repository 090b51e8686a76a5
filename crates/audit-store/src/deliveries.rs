//! The queue of deliveries and the log of their attempts.
//!
//! A delivery that is not finished has a time at which its next attempt is due. Taking it moves that time to the end of
//! a lease, under a token: whoever dies in the middle gives it back by doing nothing, and whoever comes back after the
//! lease finds another token and changes nothing.

use crate::alerts::AlertRow;
use crate::append::LedgerId;
use crate::connection::AnyConnection;
use crate::error::{Result, StoreError};
use crate::rows::Rows;
use crate::schema::{delivery_attempts, webhook_deliveries as deliveries, webhooks};
use crate::webhooks::{WebhookRow, WebhookSecretRow};
use audit_domain::{ProjectId, Timestamp};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable, Text};
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
    /// Whether another attempt follows a failed one, as the schedule has it.
    pub is_retried: bool,
    /// When the next attempt may begin, in microseconds since the Unix epoch; `None` once it is finished.
    pub due_at: Option<i64>,
    /// Who is at it.
    pub lease: Option<Vec<u8>>,
    pub created_at: i64,
    pub finished_at: Option<i64>,
}

/// Words of deliveries that the store itself writes.
pub const DELIVERY_OF_ALERT: &str = "alert.fired";
/// The status of a delivery that is not finished.
pub const DELIVERY_PENDING: &str = "pending";

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
            id: id.to_vec(),
            webhook_id: webhook_id.clone(),
            kind: DELIVERY_OF_ALERT.to_owned(),
            ledger_id: Some(ledger_id.0),
            alert_id: Some(alert.id.to_vec()),
            status: DELIVERY_PENDING.to_owned(),
            attempts: 0,
            is_retried: true,
            due_at: Some(alert.fired_at.as_micros()),
            lease: None,
            created_at: alert.fired_at.as_micros(),
            finished_at: None,
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

/// A webhook to which something is due.
#[derive(Clone, Debug, PartialEq, Eq, QueryableByName)]
pub struct DueWebhook {
    /// The webhook.
    #[diesel(sql_type = Text)]
    pub webhook_id: String,
    /// Since when, or from when on, in microseconds since the Unix epoch.
    #[diesel(sql_type = BigInt)]
    pub due_at: i64,
}

/// A delivery that was taken, with everything an attempt needs.
#[derive(Clone, Debug)]
pub struct LeasedDelivery {
    /// The delivery.
    pub delivery: DeliveryRow,
    /// Where it goes.
    pub webhook: WebhookRow,
    /// What signs it, newest first.
    pub secrets: Vec<WebhookSecretRow>,
    /// The alert it tells of.
    pub alert: Option<AlertRow>,
}

/// What becomes of a delivery after an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "as in DeliveryRow")]
pub struct AfterAttempt {
    pub status: String,
    pub due_at: Option<Timestamp>,
    pub finished_at: Option<Timestamp>,
}

/// What waits to be delivered, to all webhooks that are in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PendingDeliveries {
    /// How many.
    pub count: i64,
    /// When the oldest was made.
    pub oldest_created_at: Option<Timestamp>,
}

/// The webhooks that have unfinished deliveries, without reading those: one step through the index for each webhook.
/// Only those that are in use: enabled, and of an organization that has paid.
const DUE_WEBHOOKS: &str = "\
    WITH RECURSIVE waiting(webhook_id) AS ( \
        SELECT (SELECT webhook_id FROM webhook_deliveries WHERE due_at IS NOT NULL ORDER BY webhook_id LIMIT 1) \
        UNION ALL \
        SELECT (SELECT next.webhook_id FROM webhook_deliveries AS next \
                WHERE next.due_at IS NOT NULL AND next.webhook_id > waiting.webhook_id ORDER BY next.webhook_id LIMIT 1) \
        FROM waiting WHERE waiting.webhook_id IS NOT NULL) \
    SELECT waiting.webhook_id AS webhook_id, \
           (SELECT first.due_at FROM webhook_deliveries AS first \
            WHERE first.webhook_id = waiting.webhook_id AND first.due_at IS NOT NULL \
            ORDER BY first.due_at LIMIT 1) AS due_at \
    FROM waiting \
    JOIN webhooks ON webhooks.id = waiting.webhook_id AND webhooks.enabled \
    JOIN projects ON projects.id = webhooks.project_id \
    JOIN organizations ON organizations.id = projects.organization_id AND organizations.plan <> 'free' \
    ORDER BY due_at";

const PENDING: &str = "\
    SELECT count(*) AS count, min(webhook_deliveries.created_at) AS oldest \
    FROM webhook_deliveries JOIN webhooks ON webhooks.id = webhook_deliveries.webhook_id AND webhooks.enabled \
    WHERE webhook_deliveries.due_at IS NOT NULL";

#[derive(QueryableByName)]
struct PendingColumns {
    #[diesel(sql_type = BigInt)]
    count: i64,
    #[diesel(sql_type = Nullable<BigInt>)]
    oldest: Option<i64>,
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
    /// The webhooks in use to which something is or will be due, the most urgent first.
    pub fn due_webhooks(&mut self) -> Result<Vec<DueWebhook>> {
        Ok(diesel::sql_query(DUE_WEBHOOKS).load(self.connection)?)
    }

    /// Takes up to `limit` deliveries to a webhook that are due at `now`, under `lease`, until `leased_until`.
    pub fn lease_deliveries(
        &mut self,
        webhook_id: &str,
        now: Timestamp,
        leased_until: Timestamp,
        lease: &[u8],
        limit: usize,
    ) -> Result<Vec<LeasedDelivery>> {
        let due = deliveries::table
            .filter(deliveries::webhook_id.eq(webhook_id))
            .filter(deliveries::due_at.le(now.as_micros()))
            .order(deliveries::due_at)
            .limit(i64::try_from(limit).unwrap_or(i64::MAX));
        let due: Vec<DeliveryRow> = match self.connection {
            AnyConnection::Sqlite(sqlite) => due.select(DeliveryRow::as_select()).load(sqlite)?,
            // What another node is about to take, this one leaves to it.
            AnyConnection::Postgres(postgres) => due
                .select(DeliveryRow::as_select())
                .for_update()
                .skip_locked()
                .load(postgres)?,
        };
        let webhook = webhooks::table
            .find(webhook_id)
            .filter(webhooks::enabled.eq(true))
            .select(WebhookRow::as_select())
            .first(self.connection)
            .optional()?;
        let Some(webhook) = webhook.filter(|_| !due.is_empty()) else {
            return Ok(Vec::new());
        };
        let secrets = self.webhook_secrets(webhook_id, now)?;
        let mut leased = Vec::with_capacity(due.len());
        for delivery in due {
            diesel::update(deliveries::table.find(&delivery.id))
                .set((
                    deliveries::due_at.eq(Some(leased_until.as_micros())),
                    deliveries::lease.eq(Some(lease)),
                ))
                .execute(self.connection)?;
            let alert = match (delivery.ledger_id, &delivery.alert_id) {
                (Some(ledger_id), Some(alert_id)) => self.alert(LedgerId(ledger_id), alert_id)?,
                _ => None,
            };
            leased.push(LeasedDelivery {
                delivery,
                webhook: webhook.clone(),
                secrets: secrets.clone(),
                alert,
            });
        }
        Ok(leased)
    }

    /// Writes what an attempt led to, if the delivery is still held under `lease`; whether it was.
    pub fn finish_attempt(
        &mut self,
        attempt: &AttemptRow,
        lease: &[u8],
        after: &AfterAttempt,
    ) -> Result<bool> {
        let held = deliveries::table
            .find(&attempt.delivery_id)
            .filter(deliveries::lease.eq(lease));
        let updated = diesel::update(held)
            .set((
                deliveries::status.eq(&after.status),
                deliveries::attempts.eq(attempt.number),
                deliveries::due_at.eq(after.due_at.map(Timestamp::as_micros)),
                deliveries::finished_at.eq(after.finished_at.map(Timestamp::as_micros)),
                deliveries::lease.eq(None::<Vec<u8>>),
            ))
            .execute(self.connection)?;
        if updated == 0 {
            return Ok(false);
        }
        diesel::insert_into(delivery_attempts::table)
            .values(attempt.clone())
            .execute(self.connection)?;
        Ok(true)
    }

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
            AnyConnection::Sqlite(sqlite) => row.select(DeliveryRow::as_select()).first(sqlite).optional()?,
            AnyConnection::Postgres(postgres) => row
                .select(DeliveryRow::as_select())
                .for_update()
                .first(postgres)
                .optional()?,
        };
        let Some(delivery) = found else {
            return Ok(None);
        };
        let webhook = self.webhook(project_id, &delivery.webhook_id)?;
        Ok(webhook.map(|webhook| (delivery, webhook)))
    }

    /// Makes a delivery due.
    pub fn reschedule_delivery(&mut self, delivery: &DeliveryRow) -> Result<()> {
        let updated = diesel::update(deliveries::table.find(&delivery.id))
            .set((
                deliveries::status.eq(&delivery.status),
                deliveries::is_retried.eq(delivery.is_retried),
                deliveries::due_at.eq(delivery.due_at),
                deliveries::finished_at.eq(delivery.finished_at),
            ))
            .execute(self.connection)?;
        match updated {
            1 => Ok(()),
            _ => Err(StoreError::Damaged { what: "delivery" }),
        }
    }

    /// What waits to be delivered.
    pub fn pending_deliveries(&mut self) -> Result<PendingDeliveries> {
        let found: PendingColumns = diesel::sql_query(PENDING).get_result(self.connection)?;
        Ok(PendingDeliveries {
            count: found.count,
            oldest_created_at: found.oldest.map(Timestamp::from_micros),
        })
    }
}
