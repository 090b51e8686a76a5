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

pub(crate) fn get() -> About {
    About {
        description: "On every plan.",
        path: id(),
        outcome: "The webhook; its secret is redacted.",
        answers: &[Sample(
            "example",
            r#"{"webhook": {
                "id": "wh_01M7YBWVWMHR5F0HZ7FNJ76A1V", "url": "https://example.com/alerts", "enabled": true,
                "secret": "whsec_****************[REDACTED]", "created_at": "2026-01-15T10:30:00.268Z"
            }}"#,
        )],
        is_additive: true,
        ..About::new("get_webhook", Tag::Webhooks, "Read one webhook")
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
        outcome: "The webhook with its secret, which is not shown again.",
        answers: &[Sample("example", WITH_SECRET)],
        errors: &[ErrorCode::WebhooksNotAvailable],
        ..About::new("create_webhook", Tag::Webhooks, "Create a webhook")
    }
}

pub(crate) fn change() -> About {
    About {
        description: "On every plan. Pending deliveries are sent to the new URL, with the same secret. A disabled \
                      webhook gets no new deliveries, and pending ones remain pending.",
        path: id(),
        requests: &[Sample(
            "example",
            r#"{"url": "https://example.com/alerts", "enabled": false}"#,
        )],
        outcome: "The changed webhook; its secret is redacted.",
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
        description: "On every plan. Also deletes its deliveries.",
        path: id(),
        outcome: "The webhook is deleted.",
        answers: &[Sample("example", r#"{"deleted": true}"#)],
        ..About::new("delete_webhook", Tag::Webhooks, "Delete a webhook")
    }
}

pub(crate) fn rotate_secret() -> About {
    About {
        description: "The old secret remains valid for 24 hours: `webhook-signature` then holds two \
                      signatures, and more after more rotations. While ten sign, another rotation is 409.",
        path: id(),
        outcome: "The webhook with its new secret, which is not shown again.",
        answers: &[Sample("example", WITH_SECRET)],
        errors: &[ErrorCode::Conflict],
        is_additive: true,
        ..About::new(
            "rotate_webhook_secret",
            Tag::Webhooks,
            "Rotate the secret of a webhook",
        )
    }
}
