//! Reading deliveries, test deliveries and requested retries.

use crate::error::{AppError, Result};
use crate::service::{AuditLog, Selection};
use crate::webhooks::{require_paid_plan, webhook_of};
use audit_alerts::AlertId;
use audit_auth::{MasterKey, Principal};
use audit_domain::Timestamp;
use audit_store::{AttemptRow, DeliveryRow, Reader, StoreError};
use audit_webhooks::{DeliveryId, DeliveryStatus, FailureKind, MessageId, WebhookId};
use std::sync::Arc;

audit_domain::words! {
    /// The type of the message of a delivery.
    pub enum DeliveryKind {
        /// An alert fired.
        AlertFired = "alert.fired",
        /// A test of the webhook.
        WebhookTest = "webhook.test",
    }
}

/// A message to one webhook.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// Its id.
    pub id: DeliveryId,
    /// The receiving webhook.
    pub webhook_id: WebhookId,
    /// The header `webhook-id` of every attempt.
    pub message_id: MessageId,
    /// The type of its message.
    pub kind: DeliveryKind,
    /// The alert; `None` for a test.
    pub alert_id: Option<AlertId>,
    /// Its status.
    pub status: DeliveryStatus,
    /// When it was created.
    pub created_at: Timestamp,
    /// When the next attempt may begin. During an attempt, the end of its lease.
    pub next_attempt_at: Option<Timestamp>,
    /// When it was delivered or failed finally.
    pub finished_at: Option<Timestamp>,
    /// The attempts, oldest first.
    pub attempts: Vec<DeliveryAttempt>,
}

/// One attempt at a delivery.
#[derive(Clone, Debug)]
pub struct DeliveryAttempt {
    /// Counts from 1.
    pub number: i64,
    /// When it began.
    pub started_at: Timestamp,
    /// How long it took, in milliseconds.
    pub duration_ms: i64,
    /// The HTTP status of the response.
    pub status_code: Option<i64>,
    /// The reason if there was no response.
    pub failure: Option<FailureKind>,
}

/// A request for a page of deliveries.
#[derive(Clone, Debug)]
pub struct DeliveriesRequest {
    /// Filters by status.
    pub status: Option<DeliveryStatus>,
    /// The cursor of an earlier response.
    pub cursor: Option<String>,
    /// The maximum number of deliveries.
    pub limit: usize,
}

/// A page of deliveries.
#[derive(Clone, Debug)]
pub struct DeliveriesResponse {
    /// The deliveries, newest first.
    pub deliveries: Vec<Delivery>,
    /// The cursor of the next page; `None` on the last page.
    pub cursor: Option<String>,
}

fn damaged() -> AppError {
    StoreError::Damaged { what: "delivery" }.into()
}

/// The message id of a delivery: that of its alert, which is the same for all webhooks, or the id of the delivery.
pub(crate) fn message_id(row: &DeliveryRow) -> Result<MessageId> {
    let bytes = row.alert_id.as_ref().unwrap_or(&row.id);
    Ok(MessageId::from_bytes(
        bytes.as_slice().try_into().map_err(|_| damaged())?,
    ))
}

impl DeliveryAttempt {
    fn from_row(row: AttemptRow) -> Result<Self> {
        let failure = row.failure.map(|word| word.parse().map_err(|_| damaged()));
        Ok(Self {
            number: row.number,
            started_at: Timestamp::from_micros(row.started_at),
            duration_ms: row.duration_ms,
            status_code: row.status_code,
            failure: failure.transpose()?,
        })
    }
}

impl Delivery {
    fn from_row(row: DeliveryRow, attempts: Vec<AttemptRow>) -> Result<Self> {
        let attempts = attempts.into_iter().map(DeliveryAttempt::from_row);
        let alert_id = row.alert_id.as_deref().map(<[u8; 16]>::try_from);
        Ok(Self {
            message_id: message_id(&row)?,
            id: DeliveryId::from_bytes(row.id.as_slice().try_into().map_err(|_| damaged())?),
            webhook_id: row.webhook_id.parse().map_err(|_| damaged())?,
            kind: row.kind.parse().map_err(|_| damaged())?,
            alert_id: alert_id
                .transpose()
                .map_err(|_| damaged())?
                .map(AlertId::from_bytes),
            status: row.status.parse().map_err(|_| damaged())?,
            created_at: Timestamp::from_micros(row.created_at),
            next_attempt_at: row.due_at.map(Timestamp::from_micros),
            finished_at: row.finished_at.map(Timestamp::from_micros),
            attempts: attempts.collect::<Result<_>>()?,
        })
    }

    fn with_attempts(reader: &mut Reader<'_>, row: DeliveryRow) -> Result<Self> {
        let attempts = reader.attempts(&row)?;
        Self::from_row(row, attempts)
    }
}

impl AuditLog {
    /// One page of the deliveries to a webhook.
    ///
    /// # Errors
    /// [`AppError::NotFound`]; [`AppError::Invalid`] when the cursor belongs to another query.
    pub fn deliveries(
        &self,
        master: &MasterKey,
        selection: Selection,
        webhook_id: WebhookId,
        request: &DeliveriesRequest,
    ) -> Result<DeliveriesResponse> {
        let principal = &Principal::Master(*master);
        self.store.query(|reader| {
            let scope = self.scope(reader, principal, selection)?;
            let webhook = webhook_of(reader, scope.project.project.id, webhook_id)?;
            let status = request.status.map(DeliveryStatus::as_str);
            let cursor_scope = format!("deliveries {webhook_id} {status:?}");
            let after = self.open_id_cursor(request.cursor.as_deref(), &cursor_scope)?;
            let after = after.as_ref().map(<[u8; 16]>::as_slice);
            let mut found = reader.deliveries(&webhook.id, status, after, request.limit + 1)?;
            let cursor = self.seal_id_cursor(&mut found, request.limit, &cursor_scope, |row| row.id.clone());
            let with_attempts = |row| Delivery::with_attempts(reader, row);
            let deliveries = found.into_iter().map(with_attempts).collect::<Result<_>>()?;
            Ok(DeliveriesResponse { deliveries, cursor })
        })
    }

    /// A delivery to a webhook of a project.
    ///
    /// # Errors
    /// [`AppError::NotFound`].
    pub fn delivery(&self, master: &MasterKey, selection: Selection, id: DeliveryId) -> Result<Delivery> {
        let principal = &Principal::Master(*master);
        self.store.read(|reader| {
            let scope = self.scope(reader, principal, selection)?;
            let row = reader.delivery(scope.project.project.id, &id.to_bytes())?;
            Delivery::with_attempts(reader, row.ok_or(AppError::NotFound("delivery"))?)
        })
    }

    /// Sends a test message to a webhook immediately, in a single attempt.
    ///
    /// # Errors
    /// [`AppError::NotFound`], [`AppError::Conflict`] when the webhook is disabled, [`AppError::WebhooksNotAvailable`].
    pub fn test_webhook(
        &self,
        master: &MasterKey,
        selection: Selection,
        webhook_id: WebhookId,
    ) -> Result<Delivery> {
        let principal = &Principal::Master(*master);
        let project_id = self.project_id(principal, selection)?;
        let now = self.clock.now();
        let id = DeliveryId::new(now, self.entropy.bytes()).to_bytes().to_vec();
        let kind = DeliveryKind::WebhookTest.as_str();
        let delivery = DeliveryRow::single(id, webhook_id.to_string(), kind, now);
        let created = self.store.write_for(project_id, move |writer| {
            let webhook = webhook_of(writer, project_id, webhook_id)?;
            require_paid_plan(writer, project_id)?;
            require_enabled(webhook.enabled)?;
            writer.insert_delivery(&delivery)?;
            Delivery::from_row(delivery, Vec::new())
        });
        self.wake_deliveries();
        created
    }

    /// Requests an extra attempt at a delivery, immediately or, during an attempt, after that attempt fails. The schedule of
    /// retries does not change.
    ///
    /// # Errors
    /// [`AppError::NotFound`], [`AppError::Conflict`] when the webhook is disabled, [`AppError::WebhooksNotAvailable`].
    pub fn retry_delivery(
        &self,
        master: &MasterKey,
        selection: Selection,
        id: DeliveryId,
    ) -> Result<Delivery> {
        let principal = &Principal::Master(*master);
        let project_id = self.project_id(principal, selection)?;
        let clock = Arc::clone(&self.clock);
        let retried = self.store.write_for(project_id, move |writer| {
            let found = writer.lock_delivery(project_id, &id.to_bytes())?;
            let (mut delivery, webhook) = found.ok_or(AppError::NotFound("delivery"))?;
            require_paid_plan(writer, project_id)?;
            require_enabled(webhook.enabled)?;
            delivery.request_attempt(clock.now());
            writer.reschedule_delivery(&delivery)?;
            Delivery::with_attempts(writer, delivery)
        });
        self.wake_deliveries();
        retried
    }
}

fn require_enabled(enabled: bool) -> Result<()> {
    match enabled {
        true => Ok(()),
        false => Err(AppError::Conflict("the webhook is disabled".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use audit_store::{DELIVERY_OF_ALERT, DELIVERY_PENDING};

    #[test]
    fn the_words_of_the_store_are_those_of_the_api() {
        assert_eq!(DELIVERY_OF_ALERT.parse(), Ok(DeliveryKind::AlertFired));
        assert_eq!(DELIVERY_PENDING.parse(), Ok(DeliveryStatus::Pending));
    }
}
