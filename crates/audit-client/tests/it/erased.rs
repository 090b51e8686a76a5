//! Events of which an erasure took parts, made of `docs/vectors/events.json`.

use audit_client::{Error, verify_proof};
use serde_json::{Value, json};

fn verified(event: &Value, proof: &Value, key: &Value) -> Result<(), Error> {
    let event = event.as_object().expect("an event");
    verify_proof(event, proof, key.as_str().expect("a key"), None).map(drop)
}

#[test]
fn a_field_of_an_erased_part_is_refused() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/vectors/events.json");
    let vectors: Value = serde_json::from_slice(&std::fs::read(path).expect("the vectors")).expect("JSON");
    let (vector, key) = (&vectors["events"][0], &vectors["key"]);
    let seen: Value =
        serde_json::from_str(vector["viewer"]["read"].as_str().expect("a text")).expect("an event");
    let mut proof = vector["proof"].clone();
    proof["parts"] = vector["viewer"]["parts"].clone();
    let mut erased = seen.clone();
    erased["parts"] = proof["parts"].clone();
    erased["erased"] = json!([{"seq": 7, "parts": ["metadata"]}, {"parts": ["network"]}]);
    verified(&seen, &proof, key).expect("what a viewer sees");
    verified(&erased, &proof, key).expect("what an erasure left");
    for (name, value, field) in [
        ("metadata", json!({"made": "up"}), "metadata"),
        ("context", json!({"location": "Oslo"}), "context.location"),
    ] {
        let mut forged = erased.clone();
        forged[name] = value;
        let error = verified(&forged, &proof, key).expect_err("a field that nothing proves");
        assert!(
            error
                .to_string()
                .contains(&format!("has {field}, which was erased")),
            "{error}"
        );
    }
}
