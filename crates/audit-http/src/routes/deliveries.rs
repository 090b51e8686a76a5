//! `/api/v1/alerts/webhooks/{id}/deliveries`, `…/test`, and `/api/v1/alerts/deliveries`.

use super::webhooks::id_in;
use crate::caller::{Caller, Master};
use crate::error::ApiError;
use crate::input::{read_query, read_selection, selection};
use crate::parameters::read_limit;
use crate::reply::Reply;
use actix_web::{HttpRequest, web};
use audit_app::{
    AlertId, AppError, DeliveriesRequest, Delivery, DeliveryAttempt, DeliveryId, DeliveryStatus, Selection,
    WebhookId,
};
use audit_auth::Principal;
use audit_domain::Fields;
use serde::Serialize;

/// Deliveries of a page, at most.
const DELIVERIES_MAX: usize = 100;

#[derive(Serialize)]
struct AttemptBody {
    number: i64,
    started_at: String,
    duration_ms: i64,
    status_code: Option<i64>,
    error: Option<&'static str>,
}

#[derive(Serialize)]
struct DeliveryBody {
    id: DeliveryId,
    webhook_id: WebhookId,
    message_id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    alert_id: Option<AlertId>,
    status: &'static str,
    created_at: String,
    next_attempt_at: Option<String>,
    finished_at: Option<String>,
    attempts: Vec<AttemptBody>,
}

#[derive(Serialize)]
pub(super) struct OneDeliveryBody {
    delivery: DeliveryBody,
}

#[derive(Serialize)]
pub(super) struct DeliveriesBody {
    deliveries: Vec<DeliveryBody>,
    cursor: Option<String>,
    has_more: bool,
}

impl From<DeliveryAttempt> for AttemptBody {
    fn from(attempt: DeliveryAttempt) -> Self {
        Self {
            number: attempt.number,
            started_at: attempt.started_at.to_string(),
            duration_ms: attempt.duration_ms,
            status_code: attempt.status_code,
            error: attempt.failure.map(|kind| kind.as_str()),
        }
    }
}

impl From<Delivery> for DeliveryBody {
    fn from(delivery: Delivery) -> Self {
        Self {
            id: delivery.id,
            webhook_id: delivery.webhook_id,
            message_id: delivery.message_id.to_string(),
            kind: delivery.kind.as_str(),
            alert_id: delivery.alert_id,
            status: delivery.status.as_str(),
            created_at: delivery.created_at.to_string(),
            next_attempt_at: delivery.next_attempt_at.map(|at| at.to_string()),
            finished_at: delivery.finished_at.map(|at| at.to_string()),
            attempts: delivery.attempts.into_iter().map(AttemptBody::from).collect(),
        }
    }
}

fn read_deliveries_query(
    request: &HttpRequest,
    fields: &mut Fields<'_>,
) -> Option<(Selection, DeliveriesRequest)> {
    let selection = selection(request, fields);
    let status = fields.optional_parsed::<DeliveryStatus>("status");
    let cursor = fields.optional_text("cursor", 0, usize::MAX);
    let limit = read_limit(fields, DELIVERIES_MAX)?;
    Some((
        selection,
        DeliveriesRequest {
            status,
            cursor,
            limit,
        },
    ))
}

/// One page of the deliveries to a webhook.
pub(super) async fn list(
    caller: Caller<Master>,
    request: HttpRequest,
    id: web::Path<String>,
) -> Result<Reply<DeliveriesBody>, ApiError> {
    let (selection, query) = read_query(&request, |fields| read_deliveries_query(&request, fields))?;
    let id = id_in(&id)?;
    let answer = caller
        .run(move |service, master| service.deliveries(&Principal::Master(master), selection, id, &query))
        .await?;
    Ok(Reply::ok(DeliveriesBody {
        has_more: answer.cursor.is_some(),
        deliveries: answer.deliveries.into_iter().map(DeliveryBody::from).collect(),
        cursor: answer.cursor,
    }))
}

/// Sends a test message to a webhook.
pub(super) async fn test(
    caller: Caller<Master>,
    request: HttpRequest,
    id: web::Path<String>,
) -> Result<Reply<OneDeliveryBody>, ApiError> {
    let selection = read_selection(&request)?;
    let id = id_in(&id)?;
    let made =
        caller.run(move |service, master| service.test_webhook(&Principal::Master(master), selection, id));
    Ok(Reply::accepted(OneDeliveryBody {
        delivery: made.await?.into(),
    }))
}

/// Makes one more attempt at a delivery.
pub(super) async fn retry(
    caller: Caller<Master>,
    request: HttpRequest,
    id: web::Path<String>,
) -> Result<Reply<OneDeliveryBody>, ApiError> {
    let selection = read_selection(&request)?;
    let id: DeliveryId = id.parse().map_err(|_| AppError::NotFound("delivery"))?;
    let retried =
        caller.run(move |service, master| service.retry_delivery(&Principal::Master(master), selection, id));
    Ok(Reply::accepted(OneDeliveryBody {
        delivery: retried.await?.into(),
    }))
}
