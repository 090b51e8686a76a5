//! Deliveries to webhooks.

use super::webhooks::id as webhook_id;
use super::{About, PathParameter, Sample, Tag};
use crate::error_code::ErrorCode;
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
        answers: &[Sample(
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
        answers: &[Sample(
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
        answers: &[Sample(
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
                      pending one keeps its schedule. Needs a paid plan. A \
                      disabled webhook: 409 `conflict`.",
        path: id(),
        outcome: "The message waits to be sent.",
        answers: &[Sample(
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
