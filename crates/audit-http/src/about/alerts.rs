//! `/api/v1/alerts`.

use super::{About, PathParameter, Sample, Tag};
use crate::error_code::ErrorCode;
use crate::schema::Id;
use audit_app::AlertId;

fn id() -> Option<PathParameter> {
    Some(PathParameter {
        description: "The id of the alert.",
        schema: |generator| generator.subschema_for::<Id<AlertId>>(),
        example: "alt_01M7YBDWMHPH3PBPJD17B5KSK0",
        refusal: ErrorCode::NotFound,
    })
}

pub(crate) fn list() -> About {
    About {
        description: "Newest first: `fired_at` descending, then id descending. An alert must meet every parameter that \
                      is given. A project key sees the alerts of its own environment.",
        outcome: "One page of alerts.",
        answers: &[Sample(
            "example",
            r#"{"alerts": [{
                "id": "alt_01M7YBDWMHPH3PBPJD17B5KSK0", "rule_id": "auth_brute_force", "rule_name": "Auth Brute Force",
                "severity": "high", "status": "open", "group_key": "user_3", "event_count": 5,
                "sample_event_ids": ["evt_01M7YBDWMHNWK91QZQDZCEC02X", "evt_01M7YBDWM4JT39PVR6Q7GX6GD5"],
                "fired_at": "2026-01-15T10:30:00.513Z", "acknowledged_at": null, "resolved_at": null
            }], "cursor": "AQGh_LbykbRHZdpNCdZZ5mBwSfB5FUAPoW-h7-Q", "has_more": true}"#,
        )],
        ..About::new("list_alerts", Tag::Alerts, "Read alerts")
    }
}

pub(crate) fn get() -> About {
    About {
        description: "A project key finds the alerts of its own environment only.",
        path: id(),
        outcome: "The alert.",
        answers: &[Sample(
            "example",
            r#"{"alert": {
                "id": "alt_01M7YBDWMHPH3PBPJD17B5KSK0", "rule_id": "auth_brute_force", "rule_name": "Auth Brute Force",
                "severity": "high", "status": "open", "group_key": "user_3", "event_count": 5,
                "sample_event_ids": ["evt_01M7YBDWMHNWK91QZQDZCEC02X", "evt_01M7YBDWM4JT39PVR6Q7GX6GD5"],
                "fired_at": "2026-01-15T10:30:00.513Z", "acknowledged_at": null, "resolved_at": null
            }}"#,
        )],
        is_additive: true,
        ..About::new("get_alert", Tag::Alerts, "Read one alert")
    }
}

pub(crate) fn change() -> About {
    About {
        description: "An open alert can be acknowledged or resolved, an acknowledged one resolved. The same status \
                      again is 200 and changes nothing. A resolved alert cannot be acknowledged (409), and no alert \
                      can be reopened.",
        path: id(),
        requests: &[Sample("example", r#"{"status": "acknowledged"}"#)],
        outcome: "The changed alert.",
        answers: &[Sample(
            "example",
            r#"{"alert": {
                "id": "alt_01M7YBDWMHPH3PBPJD17B5KSK0", "rule_id": "auth_brute_force", "rule_name": "Auth Brute Force",
                "severity": "high", "status": "acknowledged", "group_key": "user_3", "event_count": 5,
                "sample_event_ids": ["evt_01M7YBDWMHNWK91QZQDZCEC02X", "evt_01M7YBDWM4JT39PVR6Q7GX6GD5"],
                "fired_at": "2026-01-15T10:30:00.513Z", "acknowledged_at": "2026-01-15T10:31:00.549Z",
                "resolved_at": null
            }}"#,
        )],
        errors: &[ErrorCode::InvalidTransition],
        ..About::new("update_alert", Tag::Alerts, "Acknowledge or resolve an alert")
    }
}
