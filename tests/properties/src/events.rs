//! Bodies of requests: JSON, events, their canonical text, their redaction.

use crate::{seeds, text};
use audit_domain::{
    ContentHash, ContentSalt, DEFAULT_TIER, Environment, Event, EventId, LogName, ProjectId, Record, Stamp,
    StoredEvent, Timestamp, ViewerTier, canonical, json,
};
use audit_redact::{Behavior, Engine, Pattern, Shape};
use serde_json::Value;

const NOW: Timestamp = Timestamp::from_seconds(1_768_473_000);

const EVENT: &str = r#"{"action":"user.role.updated","category":"admin","tenant_id":"acme","actor":{"id":"u_1","type":"user",
"name":"Jane \u00fc","email":"jane@example.com","on_behalf_of":{"id":"u_3","type":"user","name":"Ann"}},"outcome":"denied",
"targets":[{"id":"u_2","type":"user","name":"Bob"},{"id":"u_4","type":"user"}],"target":{"id":"u_2","type":"user","name":"Bob"},"context":{"ip_address":
"203.0.113.7","user_agent":"curl/8","location":"Oslo","session_id":"s"},"occurred_at":"2026-01-15T10:30:00.5+01:00",
"idempotency_key":"k-1","metadata":{"card":"4111 1111 1111 1111","n":[1,-0.5e3,null,true]},"changes":[{"field":"role",
"before":"member","after":{"a":"+47 22 33 44 55"}}]}"#;

/// What is JSON for the service is JSON for `serde_json`, and its canonical form is that of an independent implementation of
/// RFC 8785 and does not change when it is read again.
pub fn json(bytes: &[u8]) -> bool {
    let Ok(value) = json::parse(bytes) else {
        return false;
    };
    let value = Value::from(value);
    let text = canonical::to_string(&value);
    let again = json::parse(text.as_bytes()).expect("canonical text is JSON");
    assert_eq!(canonical::to_string(&Value::from(again)), text);
    let other: Value = serde_json::from_slice(bytes).expect("other parsers accept it");
    if is_within_doubles(&other) {
        assert_eq!(
            serde_jcs::to_string(&other).expect("it has a canonical form"),
            text
        );
    }
    true
}

/// Whether other implementations keep the numbers: an integer beyond 64 bits is rounded by them.
fn is_within_doubles(value: &Value) -> bool {
    match value {
        Value::Number(number) => number
            .as_i64()
            .is_some_and(|number| number.unsigned_abs() < 1 << 53),
        Value::Array(items) => items.iter().all(is_within_doubles),
        Value::Object(members) => members.values().all(is_within_doubles),
        _ => true,
    }
}

/// Inputs of [`json()`].
pub fn json_seeds() -> Vec<Vec<u8>> {
    seeds(&[
        EVENT,
        r#"[1e308,-0,0.1,123456789012345678901234567890,1.5E-7]"#,
        r#"{"\ud83d\ude00":"\u0000\"\\","":{"a":[[[[]]]]}}"#,
    ])
}

/// An event is stored as it was read: its text is canonical, has the fields of the event, and its content hash is that of
/// the stored text, for whoever sees all of it and for a viewer who sees a part.
pub fn event(bytes: &[u8]) -> bool {
    let Ok(value) = json::parse(bytes) else {
        return false;
    };
    let Ok(event) = Event::from_json(value, NOW) else {
        return false;
    };
    let text = event.to_text();
    let read = json::parse(text.as_str().as_bytes()).expect("the text of an event is JSON");
    assert_eq!(canonical::to_string(&Value::from(read.clone())), text.as_str());
    let again = Event::from_json(read, NOW).expect("the text of an event is an event");
    assert_eq!(again.to_text(), text);

    let log = LogName::new(ProjectId::from_random([7; 16]), Environment::Live);
    let salt = ContentSalt::from_bytes([9; 16]);
    let stamp = Stamp {
        id: EventId::new(NOW, [3; 10]),
        received_at: NOW,
    };
    let hashed = Record::new(&event, false, stamp).hashed(salt, &log);
    let stored = StoredEvent {
        id: stamp.id,
        occurred_at: hashed.occurred_at(),
        canonical: hashed.canonical().to_owned(),
        content_hash: hashed.content_hash(),
        content_salt: salt.into(),
        redacted: false,
    };
    assert_eq!(
        ContentHash::of(&stored.canonical, &salt, &log),
        Some(stored.content_hash)
    );
    for tier in ViewerTier::initial().into_iter().chain([hiding()]) {
        let proofs = stored.part_proofs(&tier).expect("what was stored is an event");
        let mut seen = stored.to_object().expect("what was stored is an event");
        tier.redact(&mut seen);
        assert_eq!(ContentHash::of_visible(&seen, &proofs, &log), stored.content_hash);
    }
    true
}

/// A tier that hides much.
fn hiding() -> ViewerTier {
    let hidden = ["actor", "context", "metadata", "changes"];
    ViewerTier {
        name: DEFAULT_TIER.parse().expect("the name of a tier"),
        categories: None,
        actions: None,
        hidden_fields: hidden
            .iter()
            .map(|field| field.parse().expect("a field that can be hidden"))
            .collect(),
        routes: None,
    }
}

/// Inputs of [`event`].
pub fn event_seeds() -> Vec<Vec<u8>> {
    seeds(&[
        EVENT,
        r#"{"action":"a.b","category":"auth","tenant_id":"t","actor":{"id":"a","type":"system"}}"#,
        r#"{"action":"a.b","category":"access","tenant_id":"t","actor":{"id":"a","type":"system"},"context":{},"metadata":{}}"#,
    ])
}

/// Redaction of any JSON ends, leaves JSON of the same shape, and finds nothing more in its own result.
pub fn redaction(bytes: &[u8]) -> bool {
    let Ok(value) = json::parse(bytes) else {
        return false;
    };
    let engine = Engine::builtins();
    for shape in [Shape::free_form(), Shape::audit_event()] {
        let mut once = Value::from(value.clone());
        engine.redact(&mut once, &shape);
        let mut twice = once.clone();
        let report = engine.redact(&mut twice, &shape);
        assert_eq!(twice, once);
        assert!(!report.was_redacted(), "{report:?}");
    }
    true
}

/// Inputs of [`redaction`].
pub fn redaction_seeds() -> Vec<Vec<u8>> {
    seeds(&[
        EVENT,
        r#"{"metadata":{"password":"hunter2","t":"Bearer abcdefghijklmnopqrstuvwxyz012345","k":"AKIAIOSFODNN7EXAMPLE"}}"#,
        r#""mail me at a.b+c@example.co.uk or 4012-8888-8888-1881, +1 (555) 123-4567, 10.0.0.1""#,
        r#"["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlc2lnbmF0dXJl"]"#,
    ])
}

/// A pattern that is accepted redacts any text. The first line of the input is the pattern, the rest the text.
pub fn pattern(bytes: &[u8]) -> bool {
    let Some((pattern, text)) = text(bytes).and_then(|text| text.split_once('\n')) else {
        return false;
    };
    let Ok(pattern) = Pattern::parse(pattern) else {
        return false;
    };
    let engine = Engine::builder().pattern("p", pattern, Behavior::Replace).build();
    let mut redacted = text.to_owned();
    let mut session = engine.session();
    session.text(&["metadata", "a"], &mut redacted);
    let report = session.finish();
    assert!(report.was_redacted() || redacted == text, "a change is reported");
    true
}

/// Inputs of [`pattern`].
pub fn pattern_seeds() -> Vec<Vec<u8>> {
    seeds(&[
        "[A-Z]{2}[0-9]{6}\nthe passport AB123456 of Jane",
        "(?i)secret=\\S+\nSECRET=abc def",
        "a(?:[ab]{29}){10}[^ab]\nabababababababababababababababababab",
        "\\bK\\d{3,}(?:-\\d+)?\\b\nK123-4 and K99",
    ])
}
