//! Deliveries and the log of their attempts.

mod fan_out;
mod queue;
pub(crate) mod rows;

pub use fan_out::AlertLedgers;
pub use queue::{AfterAttempt, LeasedDelivery, PendingCount, ReadyWebhook};

use crate::access::{Reader, Writer};
use crate::configuration::WebhookRow;
use crate::database::select_for_update;
use crate::error::{Result, StoreError};
use crate::schema::{delivery_attempts, webhook_deliveries as deliveries};
use audit_domain::ProjectId;
use diesel::prelude::*;
use rows::{AttemptRow, DeliveryRow};

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be queried"
)]
impl Reader<'_> {
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
        Ok(query.load(self.session())?)
    }

    /// A delivery to a webhook of a project.
    pub fn delivery(&mut self, project_id: ProjectId, id: &[u8]) -> Result<Option<DeliveryRow>> {
        let found: Option<DeliveryRow> = deliveries::table
            .find(id)
            .select(DeliveryRow::as_select())
            .get_result(self.session())
            .optional()?;
        let Some(delivery) = found else {
            return Ok(None);
        };
        let webhook = self.webhook(project_id, &delivery.webhook_id)?;
        Ok(webhook.map(|_| delivery))
    }

    /// The attempts of a delivery, oldest first. An attempt that ended after the delivery was read is left out: it would
    /// contradict the status of the row.
    pub fn attempts(&mut self, delivery: &DeliveryRow) -> Result<Vec<AttemptRow>> {
        Ok(delivery_attempts::table
            .filter(delivery_attempts::delivery_id.eq(&delivery.id))
            .filter(delivery_attempts::number.le(delivery.attempts))
            .order(delivery_attempts::number)
            .select(AttemptRow::as_select())
            .load(self.session())?)
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be written"
)]
impl Writer<'_> {
    /// Adds a delivery.
    pub fn insert_delivery(&mut self, delivery: &DeliveryRow) -> Result<()> {
        diesel::insert_into(deliveries::table)
            .values(delivery.clone())
            .execute(self.session())?;
        Ok(())
    }

    /// A delivery to a webhook of a project, locked until the end of the transaction, with the webhook.
    pub fn lock_delivery(
        &mut self,
        project_id: ProjectId,
        id: &[u8],
    ) -> Result<Option<(DeliveryRow, WebhookRow)>> {
        let row = deliveries::table.find(id);
        let found: Option<DeliveryRow> =
            select_for_update!(self.session(), row.select(DeliveryRow::as_select()), get_result)
                .optional()?;
        let Some(delivery) = found else {
            return Ok(None);
        };
        let webhook = self.webhook(project_id, &delivery.webhook_id)?;
        Ok(webhook.map(|webhook| (delivery, webhook)))
    }

    /// Writes the changes of [`DeliveryRow::request_attempt`].
    pub fn reschedule_delivery(&mut self, delivery: &DeliveryRow) -> Result<()> {
        let updated = diesel::update(deliveries::table.find(&delivery.id))
            .set((
                deliveries::status.eq(&delivery.status),
                deliveries::is_retried.eq(delivery.is_retried),
                deliveries::stage.eq(&delivery.stage),
                deliveries::due_at.eq(delivery.due_at),
                deliveries::scheduled_at.eq(delivery.scheduled_at),
                deliveries::retry_requested.eq(delivery.retry_requested),
                deliveries::finished_at.eq(delivery.finished_at),
            ))
            .execute(self.session())?;
        match updated {
            1 => Ok(()),
            _ => Err(StoreError::Damaged { what: "delivery" }),
        }
    }
}
