//! `/api/v1/alerts/webhooks/{id}/deliveries`, `…/test`, and `/api/v1/alerts/deliveries`.

use super::webhooks::id_in;
use crate::caller::Caller;
use crate::error::ApiError;
use crate::input::{Fielded, Parameters, ProjectParameters};
use crate::parameters::{LIMIT_DEFAULT, read_limit};
use crate::reply::{Accepted, Reply};
use crate::schema::{Id, MessageIdText, Time, Word, absent_not_null};
use actix_web::web;
use audit_app::{
    AlertId, AppError, DeliveriesRequest, Delivery, DeliveryAttempt, DeliveryId, DeliveryKind,
    DeliveryStatus, FailureKind, WebhookId,
};
use audit_auth::{Alerts, Master};
use audit_domain::Fields;
use schemars::JsonSchema;
use serde::Serialize;

/// Deliveries of a page, at most.
const DELIVERIES_MAX: usize = 100;

/// One attempt at a delivery.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DeliveryAttempt")]
struct AttemptBody {
    /// Counts from 1.
    #[schemars(range(min = 1))]
    number: i64,
    #[schemars(with = "Time")]
    started_at: String,
    #[schemars(range(min = 0))]
    duration_ms: i64,
    /// The HTTP status of the response; `null` without a response.
    status_code: Option<i64>,
    /// Why there was no response; `null` with one.
    #[schemars(with = "Option<Word<FailureKind>>")]
    error: Option<&'static str>,
}

/// A message to a webhook, with all attempts.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Delivery")]
struct DeliveryBody {
    #[schemars(with = "Id<DeliveryId>")]
    id: DeliveryId,
    #[schemars(with = "Id<WebhookId>")]
    webhook_id: WebhookId,
    /// The header `webhook-id` of every attempt. For an alert it has the characters of the alert's id.
    #[schemars(with = "MessageIdText")]
    message_id: String,
    #[serde(rename = "type")]
    #[schemars(with = "Word<DeliveryKind>")]
    kind: &'static str,
    /// The alert, if the message is about one.
    #[schemars(with = "Option<Id<AlertId>>")]
    alert_id: Option<AlertId>,
    #[schemars(with = "Word<DeliveryStatus>")]
    status: &'static str,
    #[schemars(with = "Time")]
    created_at: String,
    /// When the next attempt may begin; during an attempt, when another node would take over; `null` when finished.
    #[schemars(with = "Option<Time>")]
    next_attempt_at: Option<String>,
    /// When it was delivered or finally failed.
    #[schemars(with = "Option<Time>")]
    finished_at: Option<String>,
    /// Oldest first.
    attempts: Vec<AttemptBody>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DeliveryResult")]
pub(super) struct OneDeliveryBody {
    delivery: DeliveryBody,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DeliveryPage")]
pub(super) struct DeliveriesBody {
    deliveries: Vec<DeliveryBody>,
    /// Asks for the next page; `null` on the last.
    cursor: Option<String>,
    /// Whether there is a next page.
    has_more: bool,
}

/// Which deliveries, and how many of them.
#[derive(JsonSchema)]
#[schemars(transform = absent_not_null)]
#[expect(dead_code, reason = "describes what is read")]
pub(super) struct DeliveriesQuery {
    #[schemars(example = &"failed")]
    status: Option<Word<DeliveryStatus>>,
    /// From an earlier response to the same query.
    cursor: Option<String>,
    /// Deliveries of a page.
    #[schemars(range(min = 1, max = DELIVERIES_MAX), extend("default" = LIMIT_DEFAULT), example = 50)]
    limit: Option<u32>,
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

impl Fielded for DeliveriesQuery {
    type Read = DeliveriesRequest;

    fn read(fields: &mut Fields<'_>) -> Option<DeliveriesRequest> {
        let status = fields.optional_parsed::<DeliveryStatus>("status");
        let cursor = fields.optional_text("cursor", 0, usize::MAX);
        let limit = read_limit(fields, DELIVERIES_MAX)?;
        Some(DeliveriesRequest {
            status,
            cursor,
            limit,
        })
    }
}

fn delivery_in(path: &str) -> Result<DeliveryId, AppError> {
    path.parse().map_err(|_| AppError::NotFound("delivery"))
}

/// One page of the deliveries to a webhook.
pub(super) async fn list(
    caller: Caller<Master<Alerts>>,
    parameters: Parameters<DeliveriesQuery>,
    id: web::Path<String>,
) -> Result<Reply<DeliveriesBody>, ApiError> {
    let (selection, query) = parameters.read()?;
    let id = id_in(&id)?;
    let response = caller
        .read(move |service, master| service.deliveries(&master, selection, id, &query))
        .await?;
    Ok(Reply::ok(DeliveriesBody {
        has_more: response.cursor.is_some(),
        deliveries: response.deliveries.into_iter().map(DeliveryBody::from).collect(),
        cursor: response.cursor,
    }))
}

/// One delivery.
pub(super) async fn get(
    caller: Caller<Master<Alerts>>,
    parameters: ProjectParameters,
    id: web::Path<String>,
) -> Result<Reply<OneDeliveryBody>, ApiError> {
    let selection = parameters.read()?;
    let id = delivery_in(&id)?;
    let delivery = caller.run(move |service, master| service.delivery(&master, selection, id));
    Ok(Reply::ok(OneDeliveryBody {
        delivery: delivery.await?.into(),
    }))
}

/// Sends a test message to a webhook.
pub(super) async fn test(
    caller: Caller<Master<Alerts>>,
    parameters: ProjectParameters,
    id: web::Path<String>,
) -> Result<Reply<OneDeliveryBody, Accepted>, ApiError> {
    let selection = parameters.read()?;
    let id = id_in(&id)?;
    let made = caller.run(move |service, master| service.test_webhook(&master, selection, id));
    Ok(Reply::accepted(OneDeliveryBody {
        delivery: made.await?.into(),
    }))
}

/// Makes one more attempt at a delivery.
pub(super) async fn retry(
    caller: Caller<Master<Alerts>>,
    parameters: ProjectParameters,
    id: web::Path<String>,
) -> Result<Reply<OneDeliveryBody, Accepted>, ApiError> {
    let selection = parameters.read()?;
    let id = delivery_in(&id)?;
    let retried = caller.run(move |service, master| service.retry_delivery(&master, selection, id));
    Ok(Reply::accepted(OneDeliveryBody {
        delivery: retried.await?.into(),
    }))
}

/// The documentation of the endpoints, by the names of their handlers.
pub(super) mod about {
    use crate::about::{About, PathParameter, Sample, Tag};
    use crate::error_code::ErrorCode;
    use crate::routes::webhooks::about::id as webhook_id;
    use crate::schema::Id;
    use audit_app::DeliveryId;

    fn id() -> Option<PathParameter> {
        Some(PathParameter {
            description: "The id of the delivery.",
            schema: |generator| generator.subschema_for::<Id<DeliveryId>>(),
            example: "whd_01M7YBWX7MK4FJVXJGT7TYSWAX",
            refusal: ErrorCode::NotFound,
        })
    }

    pub(crate) fn list() -> About {
        About {
            description: "Past and pending deliveries of the webhook, newest first, on every plan.",
            path: webhook_id(),
            outcome: "One page of deliveries.",
            responses: &[Sample(
                "example",
                r#"{"deliveries": [{
                    "id": "whd_01M7YBWX7MK4FJVXJGT7TYSWAX", "webhook_id": "wh_01M7YBWVWMHR5F0HZ7FNJ76A1V",
                    "message_id": "msg_01M7YBWX7M0P87NHAXANTCB1JG", "type": "alert.fired",
                    "alert_id": "alt_01M7YBWX7M0P87NHAXANTCB1JG", "status": "delivered",
                    "created_at": "2026-01-15T10:30:02.644Z", "next_attempt_at": null,
                    "finished_at": "2026-01-15T10:30:07.810Z",
                    "attempts": [
                        {
                            "number": 1, "started_at": "2026-01-15T10:30:02.654Z", "duration_ms": 13, "status_code": null,
                            "error": "connection_failed"
                        },
                        {
                            "number": 2, "started_at": "2026-01-15T10:30:07.790Z", "duration_ms": 19, "status_code": 204,
                            "error": null
                        }
                    ]
                }], "cursor": null, "has_more": false}"#,
            )],
            is_additive: true,
            ..About::new(
                "list_deliveries",
                Tag::Webhooks,
                "Read the deliveries to a webhook",
            )
        }
    }

    pub(crate) fn get() -> About {
        About {
            description: "With all attempts, on every plan.",
            path: id(),
            outcome: "The delivery.",
            responses: &[Sample(
                "example",
                r#"{"delivery": {
                    "id": "whd_01M7YBWX7MK4FJVXJGT7TYSWAX", "webhook_id": "wh_01M7YBWVWMHR5F0HZ7FNJ76A1V",
                    "message_id": "msg_01M7YBWX7M0P87NHAXANTCB1JG", "type": "alert.fired",
                    "alert_id": "alt_01M7YBWX7M0P87NHAXANTCB1JG", "status": "delivered",
                    "created_at": "2026-01-15T10:30:02.644Z", "next_attempt_at": null,
                    "finished_at": "2026-01-15T10:30:02.673Z",
                    "attempts": [{
                        "number": 1, "started_at": "2026-01-15T10:30:02.654Z", "duration_ms": 19, "status_code": 204,
                        "error": null
                    }]
                }}"#,
            )],
            is_additive: true,
            ..About::new("get_delivery", Tag::Webhooks, "Read one delivery")
        }
    }

    pub(crate) fn test() -> About {
        About {
            description: "Sends a message of the type `webhook.test`: one attempt, at once. The deliveries show the \
                          result. Needs a paid plan. A disabled webhook: 409 `conflict`.",
            path: webhook_id(),
            outcome: "The message waits to be sent.",
            responses: &[Sample(
                "example",
                r#"{"delivery": {
                    "id": "whd_01M7YBWVZPNJBFNJ4N9PJDMVCN", "webhook_id": "wh_01M7YBWVWMHR5F0HZ7FNJ76A1V",
                    "message_id": "msg_01M7YBWVZPNJBFNJ4N9PJDMVCN", "type": "webhook.test", "alert_id": null,
                    "status": "pending", "created_at": "2026-01-15T10:30:01.366Z",
                    "next_attempt_at": "2026-01-15T10:30:01.366Z", "finished_at": null, "attempts": []
                }}"#,
            )],
            errors: &[ErrorCode::WebhooksNotAvailable, ErrorCode::Conflict],
            is_additive: true,
            ..About::new("test_webhook", Tag::Webhooks, "Send a test message to a webhook")
        }
    }

    pub(crate) fn retry() -> About {
        About {
            description: "An immediate attempt with the same `message_id`. A finished delivery gets one attempt; a \
                          pending one keeps its schedule. Needs a paid plan. A disabled webhook: 409 `conflict`.",
            path: id(),
            outcome: "The message waits to be sent.",
            responses: &[Sample(
                "example",
                r#"{"delivery": {
                    "id": "whd_01M7YBWX7MK4FJVXJGT7TYSWAX", "webhook_id": "wh_01M7YBWVWMHR5F0HZ7FNJ76A1V",
                    "message_id": "msg_01M7YBWX7M0P87NHAXANTCB1JG", "type": "alert.fired",
                    "alert_id": "alt_01M7YBWX7M0P87NHAXANTCB1JG", "status": "pending",
                    "created_at": "2026-01-15T10:30:02.644Z", "next_attempt_at": "2026-01-15T10:40:00.000Z",
                    "finished_at": null,
                    "attempts": [{
                        "number": 1, "started_at": "2026-01-15T10:30:02.654Z", "duration_ms": 5, "status_code": 500,
                        "error": null
                    }]
                }}"#,
            )],
            errors: &[ErrorCode::WebhooksNotAvailable, ErrorCode::Conflict],
            is_additive: true,
            ..About::new("retry_delivery", Tag::Webhooks, "Retry a delivery")
        }
    }
}
