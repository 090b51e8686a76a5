//! `/api/v1/usage`.

use super::{About, Sample, Tag};

pub(crate) fn get() -> About {
    About {
        description: "The plan of the organization, and the usage of the project with its limits.",
        outcome: "Plan and usage.",
        answers: &[Sample(
            "example",
            r#"{"usage": {
                "plan": "pro",
                "events_today": {"count": 4211, "max": 1000000}, "day_ends_at": "2026-01-16T00:00:00.000Z",
                "events": {"live": 182404, "test": 310},
                "keys": {"count": 4, "max": 1000},
                "redaction_rules": {"count": 2, "max": 100}, "alert_rules": {"count": 1, "max": 100},
                "webhooks": {"count": 1, "max": 20}, "viewer_tiers": {"count": 3, "max": 50}
            }}"#,
        )],
        is_additive: true,
        ..About::new("get_usage", Tag::Projects, "Read plan and usage")
    }
}
