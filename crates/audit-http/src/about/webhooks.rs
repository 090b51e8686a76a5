//! `/api/v1/alerts/webhooks`.

use super::{About, PathParameter, Sample, Tag};
use crate::error_code::ErrorCode;
use crate::schema::Id;
use audit_app::WebhookId;

pub(super) fn id() -> Option<PathParameter> {
    Some(PathParameter {
        description: "The id of the webhook.",
        schema: |generator| generator.subschema_for::<Id<WebhookId>>(),
        example: "wh_01M7YBWVWMHR5F0HZ7FNJ76A1V",
        refusal: ErrorCode::NotFound,
    })
}

const WITH_SECRET: &str = r#"{"webhook": {
    "id": "wh_01M7YBWVWMHR5F0HZ7FNJ76A1V", "url": "https://example.com/alerts", "enabled": true,
    "secret": "whsec_q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=", "created_at": "2026-01-15T10:30:00.268Z"
}}"#;

pub(crate) fn list() -> About {
    About {
        description: "Oldest first, on every plan.",
        outcome: "The webhooks; their secrets redacted.",
        answers: &[Sample(
            "example",
            r#"{"webhooks": [{
                "id": "wh_01M7YBWVWMHR5F0HZ7FNJ76A1V", "url": "https://example.com/alerts", "enabled": true,
                "secret": "whsec_****************[REDACTED]", "created_at": "2026-01-15T10:30:00.268Z"
            }]}"#,
        )],
        ..About::new("list_webhooks", Tag::Webhooks, "List webhooks")
    }
}

pub(crate) fn create() -> About {
    About {
        description: "Needs a paid plan. At most 20 webhooks of a project (403 `forbidden`). Nothing is sent to the URL \
                      by this.",
        requests: &[Sample(
            "example",
            r#"{"url": "https://example.com/alerts", "enabled": true}"#,
        )],
        outcome: "The webhook, its secret shown here only.",
        answers: &[Sample("example", WITH_SECRET)],
        errors: &[ErrorCode::WebhooksNotAvailable],
        ..About::new("create_webhook", Tag::Webhooks, "Make a webhook")
    }
}

pub(crate) fn change() -> About {
    About {
        description: "On every plan. What waits is sent to the new URL, with the same secret. While a webhook is \
                      disabled it gets no new deliveries, and those that wait go on waiting.",
        path: id(),
        requests: &[Sample(
            "example",
            r#"{"url": "https://example.com/alerts", "enabled": false}"#,
        )],
        outcome: "The webhook as it is now; its secret redacted.",
        answers: &[Sample(
            "example",
            r#"{"webhook": {
                "id": "wh_01M7YBWVWMHR5F0HZ7FNJ76A1V", "url": "https://example.com/alerts", "enabled": false,
                "secret": "whsec_****************[REDACTED]", "created_at": "2026-01-15T10:30:00.268Z"
            }}"#,
        )],
        ..About::new("update_webhook", Tag::Webhooks, "Change a webhook")
    }
}

pub(crate) fn delete() -> About {
    About {
        description: "On every plan. Its deliveries, finished and pending, go with it.",
        path: id(),
        outcome: "The webhook is deleted.",
        answers: &[Sample("example", r#"{"deleted": true}"#)],
        ..About::new("delete_webhook", Tag::Webhooks, "Delete a webhook")
    }
}

pub(crate) fn rotate_secret() -> About {
    About {
        description: "The old secret signs beside the new one for 24 hours: `webhook-signature` then holds two \
                      signatures, and more after more rotations. While ten sign, another rotation is 409.",
        path: id(),
        outcome: "The webhook, its new secret shown here only.",
        answers: &[Sample("example", WITH_SECRET)],
        errors: &[ErrorCode::Conflict],
        is_additive: true,
        ..About::new(
            "rotate_webhook_secret",
            Tag::Webhooks,
            "Give a webhook a new secret",
        )
    }
}
