//! The documentation of the endpoints, by the names of their handlers.

use crate::about::{About, Sample, Tag};
use crate::error_code::ErrorCode;

/// A plan in its grace period, after an earlier removal.
const RETENTION: &str = r#"{
    "policy": {
        "days": 365, "categories": {"security": 2190}, "preset": null, "archive": true, "since": "2026-01-15T10:30:00.000Z", "seq": 12
    },
    "plan": {
        "seq": 1203, "received_before": {"default": "2025-11-01T02:00:00.000Z", "security": "2020-11-02T02:00:00.000Z"},
        "events": 4211, "held": 17, "kept": 3,
        "digest": "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "planned_at": "2026-11-01T02:00:00.000Z", "not_before": "2026-11-02T02:00:00.000Z", "state": "planned"
    },
    "waiting_for": null,
    "archive": {"end_seq": 1192, "manifest": "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "seq": 1199, "at": "2026-11-01T01:00:00.000Z"},
    "removals": [{
        "seq": 1187, "id": "evt_01KF15PHN8E1V6GK2Q6JQ5N9Y1", "at": "2026-10-02T02:00:00.000Z", "events": 871,
        "received_before": {"default": "2025-10-01T02:00:00.000Z"},
        "archive": "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "state": "done"
    }],
    "removed": 871, "holds": 2, "minimum_days": 93
}"#;

/// Before the first plan.
const NEW: &str = r#"{
    "policy": {"days": 365, "categories": {}, "preset": "pci", "archive": false, "since": "2026-01-15T10:30:00.000Z", "seq": 12},
    "plan": null, "waiting_for": "confirmation", "archive": null, "removals": [], "removed": 0, "holds": 0, "minimum_days": 93
}"#;

pub(crate) fn get() -> About {
    About {
        description: "The retention policy of the project for one environment, the plan in its grace period, and the removals. The \
                      policy and the plans are read from the log. Copies in backups, destinations, receipts and exports are \
                      out of reach.",
        outcome: "The retention.",
        responses: &[Sample("planned", RETENTION), Sample("new", NEW)],
        errors: &[ErrorCode::LogInconsistent],
        is_additive: true,
        ..About::new("get_retention", Tag::Retention, "Read the retention")
    }
}

pub(crate) fn set() -> About {
    About {
        description: "Replaces the policy. The age of an event is the time since the log received it. What the policy makes due at \
                      once is confirmed by this request: read the preview first. A removal is planned first, in the log, and \
                      carried out after a grace period. `days` is at least `minimum_days`, because idempotency keys are known \
                      as long. With `archive`, nothing is removed before an archive has it that the log names: `audit-server \
                      archive create --record`. The same policy again changes nothing.",
        requests: &[
            Sample(
                "days",
                r#"{"days": 365, "categories": {
                    "auth": 400, "access": 400, "mutation": 400, "admin": 730, "security": 2190, "system": 366
                }}"#,
            ),
            Sample("preset", r#"{"preset": "hipaa", "archive": true}"#),
            Sample("for_ever", r#"{"days": null}"#),
        ],
        outcome: "The retention.",
        responses: &[Sample("example", NEW)],
        errors: &[ErrorCode::LogInconsistent],
        is_additive: true,
        ..About::new("set_retention", Tag::Retention, "Set the retention policy")
    }
}

pub(crate) fn preview() -> About {
    About {
        description: "What a policy, by default the one in force, would remove now, by month. The numbers are estimates from the \
                      index. It changes nothing.",
        outcome: "The estimate.",
        responses: &[Sample(
            "example",
            r#"{
                "received_before": {"default": "2025-01-15T10:30:00.000Z"},
                "months": [{"month": "2025-01", "events": 8700, "to_remove": 4194, "held": 17, "kept": 4489}],
                "events": 4194, "estimated": true, "destinations_behind": ["dst_01M7YBWVWMHR5F0HZ7FNJ76A1V"], "archived": true
            }"#,
        )],
        errors: &[ErrorCode::LogInconsistent],
        is_additive: true,
        ..About::new("preview_retention", Tag::Retention, "Preview a retention policy")
    }
}

pub(crate) fn confirm() -> About {
    About {
        description: "A plan takes what was due when the policy was set, and what has become due since. A month in which the server \
                      received no event does not count, so that a wrong clock removes little; beyond the last removal a plan takes 31 \
                      days at least. Where more is due, `waiting_for` is `confirmation`, and this lets plans reach further. Without a \
                      policy that removes events: 409 `conflict`.",
        requests: &[Sample("example", r#"{"until": "2025-06-01T00:00:00Z"}"#)],
        outcome: "The retention.",
        responses: &[Sample("example", RETENTION)],
        errors: &[ErrorCode::Conflict, ErrorCode::LogInconsistent],
        is_additive: true,
        ..About::new("confirm_retention", Tag::Retention, "Confirm how far plans reach")
    }
}

pub(crate) fn cancel() -> About {
    About {
        description: "Until its grace period has ended. The next plan is made a day after the cancelled one at the earliest, if the \
                      policy is still the same. A plan that is not open: 409 `conflict`.",
        requests: &[Sample("example", r#"{"plan": 1203}"#)],
        outcome: "The retention.",
        responses: &[Sample("example", NEW)],
        errors: &[ErrorCode::Conflict, ErrorCode::LogInconsistent],
        is_additive: true,
        ..About::new("cancel_removal", Tag::Retention, "Cancel a plan of retention")
    }
}
