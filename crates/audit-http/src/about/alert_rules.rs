//! `/api/v1/alerts/rules`.

use super::{About, PathParameter, Sample, Tag};
use crate::error_code::ErrorCode;
use crate::schema::Text;

fn id() -> Option<PathParameter> {
    Some(PathParameter {
        description: "The id of the rule: a word for a built-in rule, a UUID for a custom one.",
        schema: |generator| generator.subschema_for::<Text<1, 256>>(),
        example: "4349c662-19f6-4227-8e7b-3d33e0ef5103",
        refusal: ErrorCode::NotFound,
    })
}

const RULE: &str = r#"{"rule": {
    "id": "4349c662-19f6-4227-8e7b-3d33e0ef5103", "type": "custom", "name": "Permission changes",
    "action_pattern": "*.permission.*", "threshold": 3, "window_seconds": 600, "group_by": "tenant_id",
    "severity": "medium", "enabled": true, "cooldown_seconds": 60, "created_at": "2026-01-15T10:30:00.179Z"
}}"#;

pub(crate) fn list() -> About {
    About {
        description: "The five built-in rules, then the custom ones, oldest first. Rules belong to the project; its two \
                      environments are counted apart.",
        outcome: "The rules.",
        answers: &[Sample(
            "example",
            r#"{"rules": [{
                "id": "auth_brute_force", "type": "builtin", "name": "Auth Brute Force",
                "action_pattern": "auth.failed*", "threshold": 5, "window_seconds": 300, "group_by": "actor_id",
                "severity": "high", "enabled": true, "cooldown_seconds": 3600
            }]}"#,
        )],
        ..About::new("list_alert_rules", Tag::Alerts, "List alert rules")
    }
}

pub(crate) fn get() -> About {
    About {
        description: "A built-in rule is returned with the settings of the project.",
        path: id(),
        outcome: "The rule.",
        answers: &[Sample("example", RULE)],
        is_additive: true,
        ..About::new("get_alert_rule", Tag::Alerts, "Read one alert rule")
    }
}

pub(crate) fn create() -> About {
    About {
        description: "Needs a paid plan. At most 100 custom rules of a project. Both limits are 403 \
                      `alert_rule_limit_reached`.",
        requests: &[Sample(
            "example",
            r#"{
                "name": "Permission changes", "action_pattern": "*.permission.*", "threshold": 3,
                "window_seconds": 600, "group_by": "tenant_id", "severity": "medium", "enabled": true,
                "cooldown_seconds": 60
            }"#,
        )],
        outcome: "The rule.",
        answers: &[Sample("example", RULE)],
        errors: &[ErrorCode::AlertRuleLimitReached],
        ..About::new("create_alert_rule", Tag::Alerts, "Create an alert rule")
    }
}

pub(crate) fn change() -> About {
    About {
        description: "On every plan. Holds from the next request on, and starts the rule's windows afresh. A built-in \
                      rule takes only `enabled` and `cooldown_seconds` (403).",
        path: id(),
        requests: &[Sample(
            "example",
            r#"{
                "name": "Permission changes", "action_pattern": "*.permission.*", "threshold": 3,
                "window_seconds": 600, "group_by": "tenant_id", "severity": "medium", "enabled": true,
                "cooldown_seconds": 60
            }"#,
        )],
        outcome: "The changed rule.",
        answers: &[Sample("example", RULE)],
        ..About::new("update_alert_rule", Tag::Alerts, "Change an alert rule")
    }
}

pub(crate) fn delete() -> About {
    About {
        description: "Custom rules only, on every plan. Its alerts stay. A built-in rule is switched off with \
                      `enabled: false`; deleting one is 403.",
        path: id(),
        outcome: "The rule is deleted.",
        answers: &[Sample("example", r#"{"deleted": true}"#)],
        ..About::new("delete_alert_rule", Tag::Alerts, "Delete an alert rule")
    }
}
