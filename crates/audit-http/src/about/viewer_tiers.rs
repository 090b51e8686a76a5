//! `/api/v1/viewer-tiers`.

use super::{About, PathParameter, Sample, Tag};
use crate::error_code::ErrorCode;
use crate::schema::TierNameText;

fn name() -> Option<PathParameter> {
    Some(PathParameter {
        description: "The name of the tier.",
        schema: |generator| generator.subschema_for::<TierNameText>(),
        example: "logins",
        refusal: ErrorCode::NotFound,
    })
}

const TIER: &str = r#"{"viewer_tier": {
    "name": "logins", "categories": ["auth"], "actions": ["auth.*"],
    "hidden_fields": ["actor.email", "metadata.*.ip"], "routes": ["event", "feed"], "created_at": "2026-01-15T10:30:00.968Z"
}}"#;

pub(crate) fn create() -> About {
    About {
        description: "At most 50 tiers of a project (403).",
        requests: &[Sample(
            "example",
            r#"{"name": "logins", "categories": ["auth"], "actions": ["auth.*"], "hidden_fields": ["actor.email", "metadata.*.ip"],
                "routes": ["event", "feed"]}"#,
        )],
        outcome: "The tier.",
        answers: &[Sample("example", TIER)],
        errors: &[ErrorCode::Conflict],
        is_additive: true,
        ..About::new("create_viewer_tier", Tag::Viewers, "Create a viewer tier")
    }
}

pub(crate) fn list() -> About {
    About {
        description: "Every project starts with `full` (everything), `standard` (hides `context`, `metadata`, \
                      `actor.email`) and `minimal` (hides those and `changes`, `actor.name`, `target.name`, and shows \
                      no `security`, `admin` or `system` events).",
        outcome: "The tiers, by name.",
        answers: &[Sample(
            "example",
            r#"{"viewer_tiers": [{
                "name": "standard", "categories": null, "actions": null,
                "hidden_fields": ["context", "metadata", "actor.email"], "routes": null, "created_at": "2026-01-14T09:00:00.731Z"
            }]}"#,
        )],
        is_additive: true,
        ..About::new("list_viewer_tiers", Tag::Viewers, "List viewer tiers")
    }
}

pub(crate) fn get() -> About {
    About {
        description: "Its settings as they hold now, also for tokens that were issued before.",
        path: name(),
        outcome: "The tier.",
        answers: &[Sample("example", TIER)],
        is_additive: true,
        ..About::new("get_viewer_tier", Tag::Viewers, "Read one viewer tier")
    }
}

pub(crate) fn change() -> About {
    About {
        description: "Holds at once, also for tokens that are out. A list replaces the old one.",
        path: name(),
        requests: &[Sample(
            "example",
            r#"{"categories": ["auth", "access"], "actions": null, "hidden_fields": ["context.ip_address"], "routes": ["event"]}"#,
        )],
        outcome: "The tier as it is now.",
        answers: &[Sample(
            "example",
            r#"{"viewer_tier": {
                "name": "logins", "categories": ["auth", "access"], "actions": null, "hidden_fields": ["context.ip_address"],
                "routes": ["event", "feed"], "created_at": "2026-01-15T10:30:00.968Z"
            }}"#,
        )],
        is_additive: true,
        ..About::new("update_viewer_tier", Tag::Viewers, "Change a viewer tier")
    }
}

pub(crate) fn delete() -> About {
    About {
        description: "Ends the access of the tier's tokens at once (401 `invalid_token`).",
        path: name(),
        outcome: "The tier is deleted.",
        answers: &[Sample("example", r#"{"deleted": true}"#)],
        is_additive: true,
        ..About::new("delete_viewer_tier", Tag::Viewers, "Delete a viewer tier")
    }
}
