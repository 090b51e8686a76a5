//! Custom rules.

use audit_redact::{Behavior, Builtin, Engine, EngineBuilder, FieldPath, HashKey, Pattern, Shape};
use serde_json::{Value, json};

fn fields(builder: EngineBuilder, name: &str, paths: &[&str], behavior: Behavior) -> EngineBuilder {
    builder.fields(
        name,
        paths.iter().map(|path| FieldPath::parse(path).unwrap()).collect(),
        behavior,
    )
}

fn pattern(builder: EngineBuilder, name: &str, text: &str, behavior: Behavior) -> EngineBuilder {
    builder.pattern(name, Pattern::parse(text).unwrap(), behavior)
}

fn run(builder: EngineBuilder, mut event: Value) -> (Value, Vec<String>, Vec<String>) {
    let report = builder.build().redact(&mut event, &Shape::audit_event());
    (event, report.fields().to_vec(), report.rules().to_vec())
}

#[test]
fn a_pattern_replaces_only_its_match() {
    let builder = pattern(Engine::builder(), "employees", "EMP-[0-9]+", Behavior::Replace);
    let (event, fields, rules) = run(builder, json!({"actor": {"name": "Jane (EMP-1234)"}}));
    assert_eq!(event, json!({"actor": {"name": "Jane ([REDACTED])"}}));
    assert_eq!(
        (fields, rules),
        (vec!["actor.name".to_owned()], vec!["custom:employees".to_owned()])
    );
}

#[test]
fn rules_are_listed_in_the_order_fields_patterns_built_ins() {
    let builder = Engine::builder().builtin(Builtin::Email, Behavior::Replace);
    let builder = pattern(builder, "second", "jane", Behavior::Replace);
    let builder = pattern(builder, "third", "@", Behavior::Replace);
    let builder = fields(builder, "first", &["actor.email"], Behavior::Replace);
    let (_, _, rules) = run(builder, json!({"actor": {"email": "jane@example.com"}}));
    assert_eq!(
        rules,
        ["custom:first", "custom:second", "custom:third", "builtin:email"]
    );
}

#[test]
fn the_strictest_behavior_applies_unless_the_first_rule_covers_the_whole_span() {
    for (one, other, output) in [
        (Behavior::Mask, Behavior::Replace, "[REDACTED]"),
        (Behavior::Mask, Behavior::Mask, "j***@example.com"),
        (
            Behavior::Mask,
            Behavior::Hash,
            "sha256:8c87b489ce35cf2e2f39f80e282cb2e804932a56a213983eeeb428407d43b52d",
        ),
    ] {
        let builder = Engine::builder().builtin(Builtin::Email, one);
        let builder = pattern(builder, "p", "example", other);
        assert_eq!(
            run(builder, json!({"actor": {"name": "jane@example.com"}})).0["actor"]["name"],
            output
        );
    }
}

#[test]
fn a_field_rule_alone_determines_its_value() {
    let builder = Engine::builder().builtin(Builtin::Email, Behavior::Replace);
    let builder = fields(builder, "f", &["actor.email"], Behavior::Mask);
    let (event, _, rules) = run(builder, json!({"actor": {"email": "jane@example.com"}}));
    assert_eq!(event["actor"]["email"], "j***@example.com");
    assert_eq!(rules, ["custom:f", "builtin:email"]);
}

#[test]
fn a_field_rule_redacts_values_of_any_type() {
    let event = json!({"metadata": {"a": 5, "b": {"c": [1]}, "d": null, "e": "text", "keep": 1}});
    for (behavior, expected) in [
        (
            Behavior::Replace,
            json!({"a": "[REDACTED]", "b": "[REDACTED]", "d": "[REDACTED]", "e": "[REDACTED]", "keep": 1}),
        ),
        (
            Behavior::Mask,
            json!({"a": "*", "b": "[REDACTED]", "d": "****", "e": "****", "keep": 1}),
        ),
    ] {
        let builder = fields(
            Engine::builder(),
            "f",
            &[
                "metadata.a",
                "metadata.b",
                "metadata.d",
                "metadata.e",
                "metadata.none",
            ],
            behavior,
        );
        let (event, fields, _) = run(builder, event.clone());
        assert_eq!(event["metadata"], expected);
        assert_eq!(fields, ["metadata.a", "metadata.b", "metadata.d", "metadata.e"]);
    }
    let builder = fields(Engine::builder(), "f", &["metadata.b"], Behavior::Hash);
    let (event, ..) = run(builder, event);
    let hash = "sha256:f91180370c4edc0cf45e76f4be946a9b66bd5856e98d014cc58d0927c2c60dcc";
    assert_eq!(event["metadata"]["b"], hash);
}

#[test]
fn a_field_rule_that_names_a_container_redacts_its_parts() {
    let event = json!({
        "actor": {"id": "u1", "type": "user", "name": "Jane"},
        "changes": [{"field": "x", "before": {"y": 1}, "after": 2}, {"field": "z", "before": 3, "after": 4}],
        "metadata": {"a": {"b": 1}, "c": 2},
    });
    let builder = fields(
        Engine::builder(),
        "f",
        &["actor", "changes.1", "metadata"],
        Behavior::Replace,
    );
    let (event, ..) = run(builder, event);
    assert_eq!(event["actor"]["type"], "user");
    assert_eq!(event["actor"]["name"], "[REDACTED]");
    assert!(event["actor"]["id"].as_str().unwrap().starts_with("sha256:"));
    assert_eq!(
        event["changes"][0],
        json!({"field": "x", "before": {"y": 1}, "after": 2})
    );
    assert_eq!(
        event["changes"][1],
        json!({"field": "[REDACTED]", "before": "[REDACTED]", "after": "[REDACTED]"})
    );
    assert_eq!(event["metadata"], json!({"a": "[REDACTED]", "c": "[REDACTED]"}));
}

#[test]
fn a_star_matches_any_one_step() {
    let builder = fields(
        Engine::builder(),
        "f",
        &["changes.*.before", "metadata.*.ssn"],
        Behavior::Replace,
    );
    let event = json!({"changes": [{"before": 1, "after": 2}], "metadata": {"u": {"ssn": 1}, "v": [{"ssn": 2}], "ssn": 3}});
    let (event, ..) = run(builder, event);
    assert_eq!(event["changes"][0], json!({"before": "[REDACTED]", "after": 2}));
    assert_eq!(
        event["metadata"],
        json!({"u": {"ssn": "[REDACTED]"}, "v": [{"ssn": 2}], "ssn": 3})
    );
}

#[test]
fn two_stars_match_any_number_of_steps() {
    let builder = fields(
        Engine::builder(),
        "f",
        &["**.nickname", "metadata.a.**.x"],
        Behavior::Replace,
    );
    let event = json!({
        "actor": {"type": "user", "name": "Jane"},
        "metadata": {"nickname": "J", "list": [{"deep": {"nickname": "J"}}], "a": {"x": 1, "b": [{"x": 2}]}, "x": 3},
        "changes": [{"field": "f", "before": {"nickname": "J"}}],
    });
    let (event, fields, _) = run(builder, event);
    assert_eq!(
        event["metadata"],
        json!({
            "nickname": "[REDACTED]", "list": [{"deep": {"nickname": "[REDACTED]"}}],
            "a": {"x": "[REDACTED]", "b": [{"x": "[REDACTED]"}]}, "x": 3,
        })
    );
    assert_eq!(event["changes"][0]["before"], json!({"nickname": "[REDACTED]"}));
    assert_eq!(event["actor"]["name"], "Jane");
    assert_eq!(fields.len(), 5);
}

#[test]
fn no_rule_changes_structure() {
    let builder = fields(
        Engine::builder(),
        "f",
        &["action", "tenant_id", "actor.type", "*", "**"],
        Behavior::Replace,
    );
    let builder = pattern(builder, "p", ".+", Behavior::Replace);
    let event = json!({"action": "a.b", "tenant_id": "t", "actor": {"type": "user"}});
    assert_eq!(run(builder, event.clone()).0, event);
}

#[test]
fn hashes_are_keyed_if_a_key_is_configured() {
    let builder = Engine::builder()
        .builtin(Builtin::Email, Behavior::Hash)
        .hash_key(Some(HashKey::new(b"k".to_vec())));
    let (event, ..) = run(builder, json!({"actor": {"name": "jane@example.com"}}));
    assert!(
        event["actor"]["name"]
            .as_str()
            .unwrap()
            .starts_with("hmac-sha256:")
    );
}

#[test]
fn a_pattern_does_not_change_redacted_text() {
    let builder = pattern(Engine::builder(), "p", "[A-Z]+|[a-f0-9]+", Behavior::Replace);
    let hash = format!("sha256:{}", "ab".repeat(32));
    let event = json!({"actor": {"name": format!("x [REDACTED] {hash} y")}});
    assert_eq!(run(builder, event.clone()).0, event);
}

#[test]
fn text_around_a_foreign_redaction_marker_is_redacted() {
    let builder = Engine::builder().builtin(Builtin::CreditCard, Behavior::Replace);
    let builder = pattern(builder, "p", ".*secret.*", Behavior::Replace);
    let (event, ..) = run(
        builder,
        json!({"actor": {"name": "[REDACTED] 4111111111111111 *** secret"}}),
    );
    assert_eq!(event["actor"]["name"], "[REDACTED][REDACTED]");
}

#[test]
fn a_number_is_redacted_in_every_notation() {
    let event = json!({"metadata": {"a": 4111111111111111_u64, "b": 4111111111111111.0, "c": 4.111111111111111e15, "d": -4111111111111111.0, "e": 4111111111111111.5}});
    let (event, _, _) = run(
        Engine::builder().builtin(Builtin::CreditCard, Behavior::Replace),
        event,
    );
    for name in ["a", "b", "c", "d"] {
        assert_eq!(event["metadata"][name], "[REDACTED]", "{name}");
    }
    assert!(event["metadata"]["e"].is_number());
}

#[test]
fn a_text_that_costs_a_pattern_too_much_is_replaced_and_reported() {
    let builder = pattern(Engine::builder(), "costly", "[ab]*a[ab]{400}c", Behavior::Mask);
    let engine = builder.build();
    let mut random = 7_u32;
    let mut letter = || {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if random >> 31 == 0 { 'a' } else { 'b' }
    };
    let text: String = (0..60_000).map(|_| letter()).collect();
    let redact = || {
        let mut event = json!({"actor": {"name": text.clone()}, "target": {"name": "clean"}});
        let report = engine.redact(&mut event, &Shape::audit_event());
        (event, report.fields().to_vec(), report.rules().to_vec())
    };
    // The first texts fill the cache of the pattern.
    while redact().1.is_empty() {}
    let (event, fields, rules) = redact();
    assert_eq!(event["actor"]["name"], "[REDACTED]");
    assert_eq!(event["target"]["name"], "clean");
    assert_eq!(
        (fields, rules),
        (vec!["actor.name".to_owned()], vec!["custom:costly".to_owned()])
    );
}
