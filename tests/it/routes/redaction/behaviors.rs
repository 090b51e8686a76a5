//! `replace`, `hash` and `mask`, by built-in and by custom rules.

use audit_tests::{DatabaseKind, Organization, event_with, on_both_databases};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

fn sha256(text: &str) -> String {
    format!("sha256:{}", base16ct::lower::encode_string(&Sha256::digest(text)))
}

fn set_behavior(organization: &Organization, builtin: &str, behavior: &str) {
    let path = format!("/redaction/rules/builtin_{builtin}");
    organization
        .master()
        .put(&path)
        .json(json!({"behavior": behavior}))
        .send()
        .expect_status(200);
}

/// The stored form of this text in `metadata.note`.
fn note(organization: &Organization, text: &str) -> String {
    let metadata = metadata(organization, json!({"note": text}));
    metadata["note"]
        .as_str()
        .unwrap_or_else(|| panic!("{metadata}"))
        .to_owned()
}

fn metadata(organization: &Organization, metadata: Value) -> Value {
    let project = organization.project();
    project.event(&project.store(event_with(json!({"metadata": metadata}))))["metadata"].clone()
}

on_both_databases! {
    a_mask_keeps_what_tells_values_apart,
    a_hash_is_that_of_the_matched_text,
    a_pattern_replaces_what_it_matches,
    a_field_rule_replaces_whole_values_at_its_paths,
    custom_rules_go_before_built_in_ones,
    a_slow_pattern_of_other_engines_is_fast_here,
}

fn a_mask_keeps_what_tells_values_apart(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    for builtin in ["credit_card", "ssn", "email", "phone", "aws_key"] {
        set_behavior(&organization, builtin, "mask");
    }
    assert_eq!(
        note(&organization, "card 4111 1111 1111 1111."),
        "card ****-****-****-1111."
    );
    assert_eq!(note(&organization, "number 123-45-6789"), "number ***-**-6789");
    assert_eq!(
        note(&organization, "from alice@example.com"),
        "from a***@example.com"
    );
    assert_eq!(note(&organization, "at (212) 555-0187"), "at (***) ***-0187");
    assert_eq!(note(&organization, "at 212-555-0187"), "at ***-***-0187");
    assert_eq!(
        note(&organization, "id AKIAIOSFODNN7EXAMPLE"),
        "id ****************MPLE"
    );
}

fn a_hash_is_that_of_the_matched_text(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    set_behavior(&organization, "email", "hash");
    let expected = format!("from {} today", sha256("alice@example.com"));
    assert_eq!(note(&organization, "from alice@example.com today"), expected);
}

fn a_pattern_replaces_what_it_matches(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let rule = |behavior: &str, pattern: &str| {
        organization.create_rule(
            json!({"type": "pattern", "name": behavior, "pattern": pattern, "behavior": behavior}),
        );
    };
    rule("replace", "T-[0-9]+");
    rule("hash", "H-[0-9]+");
    rule("mask", "M-[0-9]+");
    assert_eq!(
        note(&organization, "see T-1 and T-22!"),
        "see [REDACTED] and [REDACTED]!"
    );
    assert_eq!(note(&organization, "see H-1"), format!("see {}", sha256("H-1")));
    assert_eq!(
        note(&organization, "see M-1234567890"),
        "see ********7890",
        "12 characters: the last 4 stay"
    );
    assert_eq!(
        note(&organization, "see M-123456789"),
        "see ***********",
        "11 characters: none stays"
    );
}

fn a_field_rule_replaces_whole_values_at_its_paths(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let fields = json!([
        "metadata.user.note",
        "metadata.list.*.secret",
        "changes.*.before",
        "context.location"
    ]);
    organization.create_rule(json!({"type": "field_redact", "name": "fields", "fields": fields}));
    let project = organization.project();
    let response = project.post("/events").json(event_with(json!({
        "context": {"location": "Berlin", "user_agent": "curl"},
        "metadata": {"user": {"note": {"any": ["thing"]}, "name": "kept"}, "list": [{"secret": 1, "open": 2}, {"secret": 3}]},
        "changes": [{"field": "a", "before": "x", "after": "y"}, {"field": "b", "before": null, "after": "z"}],
    }))).send().expect_status(201);
    let event = project.event(&response.ids()[0]);
    assert_eq!(
        event["context"],
        json!({"location": "[REDACTED]", "user_agent": "curl"})
    );
    assert_eq!(
        event["metadata"]["user"],
        json!({"note": "[REDACTED]", "name": "kept"})
    );
    assert_eq!(
        event["metadata"]["list"],
        json!([{"secret": "[REDACTED]", "open": 2}, {"secret": "[REDACTED]"}])
    );
    assert_eq!(
        event["changes"][0],
        json!({"field": "a", "before": "[REDACTED]", "after": "y"})
    );
    assert_eq!(event["redacted"], true);
}

fn custom_rules_go_before_built_in_ones(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let pattern = r"alice@example\.com";
    organization
        .create_rule(json!({"type": "pattern", "name": "alice", "pattern": pattern, "behavior": "hash"}));
    assert_eq!(
        note(&organization, "alice@example.com"),
        sha256("alice@example.com")
    );
    assert_eq!(note(&organization, "bob@example.com"), "[REDACTED]");
    let fields =
        json!({"type": "field_redact", "name": "note", "fields": ["metadata.note"], "behavior": "hash"});
    organization.create_rule(fields);
    assert_eq!(
        note(&organization, "to bob@example.com"),
        sha256("to bob@example.com")
    );
}

fn a_slow_pattern_of_other_engines_is_fast_here(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    organization.create_rule(json!({"type": "pattern", "name": "evil", "pattern": "(a+)+$"}));
    let text = format!("{}!", "a".repeat(20_000));
    assert_eq!(note(&organization, &text), text);
}
