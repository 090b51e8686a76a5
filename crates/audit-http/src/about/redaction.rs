//! `/api/v1/redaction`.

use super::{About, PathParameter, Sample, Tag};
use crate::error_code::ErrorCode;
use crate::schema::Text;

fn id() -> Option<PathParameter> {
    Some(PathParameter {
        description: "The id of the rule: `builtin_` and a word for a built-in rule, a UUID for a custom one.",
        schema: |generator| generator.subschema_for::<Text<1, 256>>(),
        example: "dd33a08f-e4cd-4638-b0cd-30008f3d598b",
        refusal: ErrorCode::NotFound,
    })
}

const RULE: &str = r#"{"rule": {
    "id": "dd33a08f-e4cd-4638-b0cd-30008f3d598b", "type": "pattern", "name": "employee number",
    "pattern": "EMP-[0-9]{6}", "behavior": "mask", "enabled": true, "created_at": "2026-01-15T10:30:00.016Z"
}}"#;

pub(crate) fn list() -> About {
    About {
        description: "The built-in rules, then the custom ones, oldest first.",
        outcome: "The rules.",
        answers: &[Sample(
            "example",
            r#"{"rules": [
                {
                    "id": "builtin_email", "type": "builtin", "name": "Email", "behavior": "replace", "enabled": true,
                    "builtin_id": "email"
                },
                {
                    "id": "145ce0a1-8008-42c0-add0-43199332f0b2", "type": "field_redact", "name": "salary",
                    "fields": ["metadata.salary", "metadata.*.salary"], "behavior": "hash", "enabled": true,
                    "created_at": "2026-01-15T10:30:00.033Z"
                }
            ]}"#,
        )],
        ..About::new("list_redaction_rules", Tag::Redaction, "List redaction rules")
    }
}

pub(crate) fn get() -> About {
    About {
        description: "A built-in rule is returned with the settings of the project.",
        path: id(),
        outcome: "The rule.",
        answers: &[Sample("example", RULE)],
        is_additive: true,
        ..About::new("get_redaction_rule", Tag::Redaction, "Read one redaction rule")
    }
}

pub(crate) fn create() -> About {
    About {
        description: "At most 100 custom rules of a project (403). Matching takes time linear in the text, whatever the \
                      pattern. What is found becomes `[REDACTED]` (`replace`), its SHA-256 or HMAC (`hash`), or stars \
                      with a recognisable rest (`mask`).",
        requests: &[
            Sample(
                "pattern",
                r#"{"type": "pattern", "name": "employee number", "pattern": "EMP-[0-9]{6}", "behavior": "mask", "enabled": true}"#,
            ),
            Sample(
                "field_redact",
                r#"{"type": "field_redact", "name": "salary", "fields": ["metadata.salary", "metadata.*.salary"], "behavior": "hash", "enabled": true}"#,
            ),
        ],
        outcome: "The rule.",
        answers: &[Sample("example", RULE)],
        ..About::new("create_redaction_rule", Tag::Redaction, "Create a redaction rule")
    }
}

pub(crate) fn change() -> About {
    About {
        description: "The type cannot change. A `pattern` rule takes no `fields`, a `field_redact` rule no `pattern`, \
                      and a built-in rule only `behavior` and `enabled` (403).",
        path: id(),
        requests: &[
            Sample(
                "pattern",
                r#"{"name": "employee number", "pattern": "EMP-[0-9]{6}", "behavior": "mask", "enabled": true}"#,
            ),
            Sample("fields", r#"{"fields": ["metadata.salary"]}"#),
        ],
        outcome: "The changed rule.",
        answers: &[Sample("example", RULE)],
        ..About::new("update_redaction_rule", Tag::Redaction, "Change a redaction rule")
    }
}

pub(crate) fn delete() -> About {
    About {
        description: "Custom rules only. A built-in rule is switched off with `enabled: false`; deleting one is 403.",
        path: id(),
        outcome: "The rule is deleted.",
        answers: &[Sample("example", r#"{"deleted": true}"#)],
        ..About::new("delete_redaction_rule", Tag::Redaction, "Delete a redaction rule")
    }
}

pub(crate) fn test() -> About {
    About {
        description: "Applies the project's enabled rules to an event and returns what changes. Nothing is stored.",
        requests: &[Sample(
            "example",
            r#"{"event": {
                "actor": {"id": "u1", "name": "Jane (EMP-123456)", "email": "jane@example.com"},
                "metadata": {"card": "4111 1111 1111 1111", "ok": "fine"}
            }}"#,
        )],
        outcome: "The changed parts, before and after.",
        answers: &[Sample(
            "example",
            r#"{
                "original": {"actor": {"email": "jane@example.com"}, "metadata": {"card": "4111 1111 1111 1111"}},
                "redacted": {"actor": {"email": "[REDACTED]"}, "metadata": {"card": "[REDACTED]"}},
                "metadata": {
                    "was_redacted": true, "redacted_fields": ["actor.email", "metadata.card"],
                    "redacted_rules": ["builtin:credit_card", "builtin:email"], "rules_evaluated": 7
                }
            }"#,
        )],
        ..About::new("test_redaction", Tag::Redaction, "Test the redaction rules")
    }
}
