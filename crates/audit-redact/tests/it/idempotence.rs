//! Redaction is idempotent, and a session has the same result as one call.

use std::sync::OnceLock;

use audit_redact::{Behavior, Builtin, Engine, FieldPath, HashKey, Pattern, Report, Shape};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use crate::corpus::{redacted, samples};

/// Patterns that match the output of redaction.
const GREEDY: &[&str] = &[
    "[A-Z]+",
    r"\d+",
    r"\w+",
    ".+",
    "[a-f0-9]{8}",
    "sha256",
    r"\*+",
    "RED",
    "[^@]+@",
    r"\[",
    "#[0-9]",
    "x|a\\b",
    r"\d{4}$",
    r"(?i)redacted",
    r"[0-9a-f]{64}",
    ":",
    r".{12,}",
    r"\S+",
];

fn all_builtins(behavior: Behavior, hash_key: Option<HashKey>) -> Engine {
    let builder = Engine::builder().hash_key(hash_key);
    Builtin::ALL
        .iter()
        .fold(builder, |builder, kind| builder.builtin(*kind, behavior))
        .build()
}

#[test]
fn every_behavior_leaves_its_own_output_unchanged() {
    for behavior in Behavior::ALL {
        for key in [None, Some(HashKey::new(b"key".to_vec()))] {
            let engine = all_builtins(*behavior, key);
            for sample in samples() {
                let once = redacted(&engine, &sample.key, &sample.text);
                assert_eq!(
                    redacted(&engine, &sample.key, &once),
                    once,
                    "{behavior} of {:?}",
                    sample.text
                );
            }
        }
    }
}

#[test]
fn greedy_patterns_leave_every_output_unchanged() {
    for pattern in GREEDY {
        for behavior in Behavior::ALL {
            let engine = Builtin::ALL
                .iter()
                .fold(Engine::builder(), |builder, kind| {
                    builder.builtin(*kind, *behavior)
                })
                .pattern("greedy", Pattern::parse(pattern).unwrap(), *behavior)
                .build();
            for sample in samples().iter().step_by(7) {
                let once = redacted(&engine, "k", &sample.text);
                assert_eq!(
                    redacted(&engine, "k", &once),
                    once,
                    "{pattern} {behavior} of {:?}",
                    sample.text
                );
            }
        }
    }
}

fn text() -> impl Strategy<Value = String> {
    static TEXTS: OnceLock<Vec<String>> = OnceLock::new();
    let texts = TEXTS.get_or_init(|| samples().into_iter().map(|sample| sample.text).collect());
    let pieces = select(texts.as_slice());
    let noise = "[ -~é\u{2011}\u{a0}]{0,12}".prop_map(String::from).boxed();
    let marks = select(vec![
        "[REDACTED]",
        "***",
        "phone ",
        "ssn: ",
        "@",
        "%40",
        "4111",
        "\"",
        "Bearer ",
        "+1",
        "_",
        "password=",
        "token: ",
        "://u:",
        "curl -u ",
        "mysql -p",
        " is your login code",
        "&sig=",
        "DB_PASSWORD ",
        "echo ",
        "\u{ff14}",
    ]);
    prop_oneof![
        3 => pieces.clone(),
        1 => noise.clone(),
        2 => (noise, pieces.clone(), marks, pieces).prop_map(|(one, two, three, four)| format!("{one}{two}{three}{four}")),
    ]
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => text().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => select(vec![json!(4111111111111111_u64), json!(123456789), json!(null), json!(true), json!(1.5)]),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((key(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => select(vec!["ssn", "phone", "card", "user", "id", "before", "x", "secret", "bearer", "password", "api_key", "pin", "Authorization"]).prop_map(str::to_owned),
        1 => text(),
    ]
}

fn engine() -> impl Strategy<Value = Engine> {
    let behavior = || select(Behavior::ALL.to_vec());
    let paths = select(vec![
        "actor",
        "actor.id",
        "actor.email",
        "context",
        "metadata",
        "metadata.user.ssn",
        "changes.*.before",
        "changes.0",
        "*.*",
        "metadata.*.phone",
        "target.name",
        "**.x",
    ]);
    (
        vec(behavior(), Builtin::ALL.len()),
        vec((select(GREEDY.to_vec()), behavior()), 0..3),
        vec((paths, behavior()), 0..3),
        any::<bool>(),
    )
        .prop_map(|(builtins, patterns, fields, keyed)| {
            let builder = Engine::builder().hash_key(keyed.then(|| HashKey::new(b"key".to_vec())));
            let builder = Builtin::ALL
                .iter()
                .zip(builtins)
                .fold(builder, |builder, (kind, behavior)| {
                    builder.builtin(*kind, behavior)
                });
            let builder = patterns
                .into_iter()
                .fold(builder, |builder, (pattern, behavior)| {
                    builder.pattern(pattern, Pattern::parse(pattern).unwrap(), behavior)
                });
            fields
                .into_iter()
                .fold(builder, |builder, (path, behavior)| {
                    builder.fields(path, vec![FieldPath::parse(path).unwrap()], behavior)
                })
                .build()
        })
}

fn event() -> impl Strategy<Value = Value> {
    let texts = || text();
    (vec(texts(), 9), json_value(), vec((texts(), json_value(), json_value()), 0..3)).prop_map(|(texts, metadata, changes)| {
        let changes: Vec<Value> =
            changes.into_iter().map(|(field, before, after)| json!({"field": field, "before": before, "after": after})).collect();
        json!({
            "action": "user.login", "tenant_id": "555-123-4567",
            "actor": {"id": texts[0], "type": "user", "name": texts[1], "email": texts[2]},
            "target": {"id": texts[3], "type": "user", "name": texts[4]},
            "context": {"ip_address": texts[5], "user_agent": texts[6], "location": texts[7], "session_id": texts[8]},
            "metadata": metadata, "changes": changes,
        })
    })
}

/// Redacts the event as a caller with a typed event does.
fn part_by_part(engine: &Engine, event: &mut Value) -> Report {
    let mut session = engine.session();
    let text =
        |session: &mut audit_redact::Session<'_>, event: &mut Value, path: &[&str], identifier: bool| {
            let pointer = format!("/{}", path.join("/"));
            if let Some(Value::String(text)) = event.pointer_mut(&pointer) {
                if identifier {
                    session.identifier(path, text)
                } else {
                    session.text(path, text)
                }
            }
        };
    text(&mut session, event, &["actor", "email"], false);
    text(&mut session, event, &["actor", "id"], true);
    text(&mut session, event, &["actor", "name"], false);
    for index in 0..event["changes"].as_array().map_or(0, Vec::len) {
        let number = index.to_string();
        text(&mut session, event, &["changes", &number, "field"], false);
        session.value(
            &["changes", &number, "before"],
            &mut event["changes"][index]["before"],
        );
        session.value(
            &["changes", &number, "after"],
            &mut event["changes"][index]["after"],
        );
    }
    for name in ["ip_address", "location", "session_id", "user_agent"] {
        text(&mut session, event, &["context", name], name == "session_id");
    }
    session.value(&["metadata"], &mut event["metadata"]);
    text(&mut session, event, &["target", "id"], true);
    text(&mut session, event, &["target", "name"], false);
    session.finish()
}

fn sorted(report: &Report) -> Vec<String> {
    let mut fields = report.fields().to_vec();
    fields.sort_unstable();
    fields
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn redaction_of_an_event_is_idempotent(engine in engine(), event in event()) {
        let mut once = event;
        engine.redact(&mut once, &Shape::audit_event());
        let mut twice = once.clone();
        let report = engine.redact(&mut twice, &Shape::audit_event());
        prop_assert_eq!(&twice, &once);
        prop_assert!(!report.was_redacted(), "{:?}", report);
    }

    #[test]
    fn redaction_of_any_json_is_idempotent(engine in engine(), value in json_value()) {
        let mut once = value;
        engine.redact(&mut once, &Shape::free_form());
        let mut twice = once.clone();
        engine.redact(&mut twice, &Shape::free_form());
        prop_assert_eq!(&twice, &once);
    }

    #[test]
    fn a_session_has_the_same_result_as_one_call(engine in engine(), event in event()) {
        let mut whole = event.clone();
        let report = engine.redact(&mut whole, &Shape::audit_event());
        let mut parts = event;
        let parts_report = part_by_part(&engine, &mut parts);
        prop_assert_eq!(&whole, &parts);
        prop_assert_eq!(sorted(&report), sorted(&parts_report));
        prop_assert_eq!(report.rules(), parts_report.rules());
    }
}
