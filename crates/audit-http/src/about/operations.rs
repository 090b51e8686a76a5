//! `/healthz`, `/readyz`, `/metrics`.

use super::{About, Plain, Sample, Tag};
use crate::error_code::ErrorCode;

pub(crate) fn healthz() -> About {
    About {
        outcome: "The process is up.",
        answers: &[Sample("example", r#"{"status": "ok"}"#)],
        is_additive: true,
        ..About::new("get_health", Tag::Operations, "Check that the process is up")
    }
}

pub(crate) fn readyz() -> About {
    About {
        outcome: "The database accepts writes.",
        answers: &[Sample(
            "example",
            r#"{"status": "ready", "logs_inconsistent": 0, "logs_forged": 0, "logs_without_quorum": 0}"#,
        )],
        errors: &[ErrorCode::InternalError, ErrorCode::Unavailable],
        is_additive: true,
        ..About::new(
            "get_readiness",
            Tag::Operations,
            "Check that the database accepts writes",
        )
    }
}

pub(crate) fn metrics() -> About {
    About {
        description: "Of this process, since its start.",
        outcome: "Counters and histograms in Prometheus' text format.",
        plain: Some(Plain {
            status: 200,
            content_types: &["text/plain"],
            json_type: "string",
        }),
        errors: &[ErrorCode::InternalError],
        is_additive: true,
        ..About::new("get_metrics", Tag::Operations, "Read metrics")
    }
}
