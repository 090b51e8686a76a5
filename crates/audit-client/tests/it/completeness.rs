//! `docs/vectors/completeness.json`: the events of a tenant, some of them removed.

use audit_client::{Completeness, Error, verify_completeness};
use serde_json::Value;

fn vectors() -> Value {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/vectors/completeness.json"
    );
    let text = std::fs::read(path).expect("the vectors");
    serde_json::from_slice(&text).expect("JSON")
}

fn items(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn verify(vectors: &Value, case: &Value) -> Result<Completeness, Error> {
    let mut proof = vectors["proof"].clone();
    if let Some(removed) = case.get("removed") {
        proof["removed"] = removed.clone();
    }
    let events = items(&case["there"]).iter().map(|index| {
        let index = usize::try_from(index.as_u64().expect("an index")).expect("an index");
        vectors["events"][index].as_object().expect("an event")
    });
    let text = |name: &str| vectors[name].as_str().expect("a text");
    verify_completeness(events, &proof, text("key"), Some(text("log")))
}

#[test]
fn the_events_that_are_not_removed_are_complete() {
    let vectors = vectors();
    for case in items(&vectors["accepted"]) {
        let found = verify(&vectors, case).unwrap_or_else(|error| panic!("{error}: {case}"));
        let removed = case["removed"]["events"].as_u64().unwrap_or(0);
        let there = items(&case["there"]).len() as u64;
        assert_eq!(
            (found.size, found.removed, found.newer),
            (7, removed, there - (7 - removed)),
            "{case}"
        );
    }
}

#[test]
fn another_statement_of_removed_events_is_refused() {
    let vectors = vectors();
    for case in items(&vectors["refused"]) {
        let refused = verify(&vectors, case);
        assert!(
            matches!(refused, Err(Error::Verification(_))),
            "{case}: {refused:?}"
        );
    }
}
