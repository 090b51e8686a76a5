//! How each part of a document is redacted.

use audit_redact::{Behavior, Builtin, Engine, HashKey, Shape};
use serde_json::{Value, json};

fn redact(value: Value, shape: &Shape) -> (Value, Vec<String>) {
    let mut value = value;
    let report = Engine::builtins().redact(&mut value, shape);
    (value, report.fields().to_vec())
}

#[test]
fn structure_never_changes() {
    let event = json!({
        "action": "user.jane@example.com", "category": "auth", "tenant_id": "jane@example.com",
        "actor": {"id": "u1", "type": "jane@example.com"}, "target": {"id": "t1", "type": "123-45-6789"},
        "occurred_at": "555-123-4567", "idempotency_key": "jane@example.com",
    });
    assert_eq!(redact(event.clone(), &Shape::audit_event()), (event, vec![]));
}

#[test]
fn an_identifier_is_hashed_as_a_whole() {
    let hash = "sha256:8c87b489ce35cf2e2f39f80e282cb2e804932a56a213983eeeb428407d43b52d";
    let event = json!({"actor": {"id": "jane@example.com"}, "context": {"session_id": "s-1"}});
    let (event, fields) = redact(event, &Shape::audit_event());
    assert_eq!(
        event,
        json!({"actor": {"id": hash}, "context": {"session_id": "s-1"}})
    );
    assert_eq!(fields, ["actor.id"]);
}

#[test]
fn the_party_acted_for_is_as_the_actor_and_each_target_as_the_target() {
    let party =
        json!({"id": "jane@example.com", "type": "jane@example.com", "name": "Jane jane@example.com"});
    let event = json!({
        "actor": {"id": "u1", "on_behalf_of": party}, "targets": [{"id": "t1"}, party], "outcome": "jane@example.com",
    });
    let (event, fields) = redact(event, &Shape::audit_event());
    let hash = "sha256:8c87b489ce35cf2e2f39f80e282cb2e804932a56a213983eeeb428407d43b52d";
    let redacted = json!({"id": hash, "type": "jane@example.com", "name": "Jane [REDACTED]"});
    let expected = json!({
        "actor": {"id": "u1", "on_behalf_of": redacted}, "targets": [{"id": "t1"}, redacted], "outcome": "jane@example.com",
    });
    assert_eq!(event, expected);
    let mut fields = fields;
    fields.sort();
    let names = [
        "actor.on_behalf_of.id",
        "actor.on_behalf_of.name",
        "targets.1.id",
        "targets.1.name",
    ];
    assert_eq!(fields, names);
}

#[test]
fn identifier_forms_are_the_value_and_its_hash_forms() {
    let keyed = Engine::builder()
        .hash_key(Some(HashKey::new(b"key".to_vec())))
        .build();
    let forms = keyed.identifier_forms("jane@example.com");
    assert_eq!(forms.len(), 3);
    assert_eq!(forms[0], "jane@example.com");
    assert!(forms[1].starts_with("hmac-sha256:") && forms[2].starts_with("sha256:"));
    assert_eq!(
        Engine::builtins().identifier_forms("jane@example.com"),
        [forms[0].clone(), forms[2].clone()]
    );
    assert_eq!(keyed.identifier_forms(&forms[2]), [forms[2].clone()]);
}

#[test]
fn identifier_forms_have_the_hashes_of_previous_keys() {
    let key = |text: &str| HashKey::new(text.as_bytes().to_vec());
    let old = Engine::builder().hash_key(Some(key("old"))).build();
    let new = Engine::builder()
        .hash_key(Some(key("new")))
        .previous_hash_keys(vec![key("old")])
        .build();
    let [value, keyed, plain] = old.identifier_forms("jane@example.com").try_into().unwrap();
    let forms = new.identifier_forms("jane@example.com");
    assert_eq!(forms.len(), 4);
    assert_ne!(forms[1], keyed);
    assert_eq!([&forms[0], &forms[2], &forms[3]], [&value, &keyed, &plain]);
    // A key was introduced after hashes without one, and was removed again.
    let none = Engine::builder().previous_hash_keys(vec![key("old")]).build();
    assert_eq!(none.identifier_forms("jane@example.com"), [value, keyed, plain]);
}

#[test]
fn keys_and_integers_of_free_form_parts_are_redacted() {
    let event = json!({
        "metadata": {"jane@example.com": 1, "n": 4111111111111111_u64, "at": 1700000000000_u64, "list": [{"mail": "a@b.co"}]},
        "changes": [{"field": "ssn", "before": 123456789, "after": "987 65 4321"}],
    });
    let (event, fields) = redact(event, &Shape::audit_event());
    let expected = json!({
        "metadata": {"[REDACTED]": 1, "n": "[REDACTED]", "at": 1700000000000_u64, "list": [{"mail": "[REDACTED]"}]},
        "changes": [{"field": "ssn", "before": "[REDACTED]", "after": "987 65 4321"}],
    });
    assert_eq!(event, expected);
    let mut fields = fields;
    fields.sort_unstable();
    assert_eq!(
        fields,
        [
            "changes.0.before",
            "metadata.[REDACTED]",
            "metadata.list.0.mail",
            "metadata.n"
        ]
    );
}

#[test]
fn keys_that_collide_are_all_kept() {
    let (value, _) = redact(
        json!({"a@b.co": 1, "c@d.co": 2, "[REDACTED]": 3}),
        &Shape::free_form(),
    );
    assert_eq!(value.as_object().unwrap().len(), 3);
    assert_eq!(value["[REDACTED]"], 3);
}

#[test]
fn integers_need_more_evidence_than_text() {
    let (value, _) = redact(
        json!({"card": 4222222222222_u64, "id": 378282246310005_u64, "x": 123456789, "phone": 4155550123_u64, "y": 4155550123_u64}),
        &Shape::free_form(),
    );
    assert_eq!(
        value,
        json!({"card": 4222222222222_u64, "id": "[REDACTED]", "x": 123456789, "phone": "[REDACTED]", "y": 4155550123_u64})
    );
}

#[test]
fn unknown_parts_and_unexpected_types_are_redacted() {
    let event = json!({"actor": "a@b.co", "changes": {"x": "a@b.co"}, "other": [{"a@b.co": "a@b.co"}], "target": {"id": ["a@b.co"], "n": 4111111111111111_u64}});
    let (event, _) = redact(event, &Shape::audit_event());
    assert_eq!(
        event,
        json!({"actor": "[REDACTED]", "changes": {"x": "[REDACTED]"}, "other": [{"a@b.co": "[REDACTED]"}], "target": {"id": ["[REDACTED]"], "n": 4111111111111111_u64}})
    );
    assert_eq!(
        redact(json!("a@b.co"), &Shape::audit_event()).0,
        json!("[REDACTED]")
    );
}

#[test]
fn a_report_lists_fields_and_rules_once() {
    let engine = Engine::builder()
        .builtin(Builtin::Email, Behavior::Mask)
        .builtin(Builtin::CreditCard, Behavior::Replace)
        .build();
    let mut event = json!({"actor": {"email": "jane@example.com", "name": "b@x.co 4111111111111111 c@x.co"}});
    let report = engine.redact(&mut event, &Shape::audit_event());
    assert_eq!(
        event,
        json!({"actor": {"email": "j***@example.com", "name": "b***@x.co [REDACTED] c***@x.co"}})
    );
    assert_eq!(report.fields(), ["actor.email", "actor.name"]);
    assert_eq!(report.rules(), ["builtin:credit_card", "builtin:email"]);
    assert_eq!(report.rules_evaluated(), 2);
    assert!(
        !engine
            .redact(&mut json!({"actor": {"name": "Jane"}}), &Shape::audit_event())
            .was_redacted()
    );
}
