//! Anyone can recompute the content hash of an event from a read.

use audit_tests::{
    DatabaseKind, Organization, content_hash, event, event_with, merge, on_both_databases, python,
    run_python, temporary_directory,
};
use serde_json::{Value, json};

fn events() -> Vec<Value> {
    vec![
        event(),
        event_with(json!({"occurred_at": "2026-01-15T10:30:00.5+01:00", "idempotency_key": "k"})),
        event_with(json!({"actor": {"name": "Zoë \"quoted\" \\ / \u{1}\u{7f}\u{2028} 👩‍👩‍👧"}})),
        // Sorted by UTF-16 code units the astral key comes before U+FB33; by code points it would come after.
        event_with(
            json!({"metadata": {"\u{fb33}": 1, "\u{1f600}": 2, "é": 3, "z": 4, "": 5, "A": 6, "a": 7, "\r": 8}}),
        ),
        event_with(
            json!({"metadata": {"n": [0, -1, 1.5, 1e21, 1e-7, 0.1, 123_456_789.25, 5e-324, 1.797_693_134_862_315_7e308]}}),
        ),
        event_with(json!({"metadata": {"integral": 1.0, "big": 1e20, "zero": -0.0, "small": 0.000_001}})),
        event_with(
            json!({"actor": {"email": "jane@example.com"}, "metadata": {"jane@example.com": "4111 1111 1111 1111"}}),
        ),
        event_with(json!({
            "target": {"id": "jane@example.com", "type": "user", "name": "Jane"},
            "context": {"ip_address": "203.0.113.9", "session_id": "s"},
            "changes": [{"field": "x", "before": null, "after": {"b": [], "a": {}}}],
        })),
        event_with(json!({
            "actor": {"on_behalf_of": {"id": "joe@example.com", "type": "user", "name": "Joe"}},
            "targets": [{"id": "1", "type": "doc"}, {"id": "2", "type": "doc", "name": "é"}], "outcome": "denied",
        })),
    ]
}

on_both_databases! {
    the_hash_is_recomputed_from_a_read,
    a_viewer_without_hidden_fields_can_recompute_it,
    different_events_have_different_hashes,
    the_hash_is_one_of_the_project_and_the_environment,
    an_empty_context_is_not_stored,
    a_viewer_verifies_what_it_sees_and_cannot_guess_the_rest,
}

fn log_of(organization: &Organization, environment: &str) -> String {
    format!("{}/{environment}", organization.project_id)
}

fn the_hash_is_recomputed_from_a_read(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let (project, log) = (organization.project(), log_of(&organization, "live"));
    for id in project.store_all(events()) {
        let stored = project.event(&id);
        assert_eq!(
            stored["content_hash"],
            json!(content_hash(&stored, &log)),
            "{stored}"
        );
    }
    for listed in project.find(&[]) {
        assert_eq!(
            listed["content_hash"],
            json!(content_hash(&listed, &log)),
            "{listed}"
        );
    }
}

fn a_viewer_without_hidden_fields_can_recompute_it(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let log = log_of(&organization, "live");
    organization.project().store_all(events());
    let seen = organization.viewer("tenant-1", "full").find(&[]);
    assert_eq!(seen.len(), events().len());
    for event in seen {
        assert_eq!(
            event["content_hash"],
            json!(content_hash(&event, &log)),
            "{event}"
        );
    }
}

fn different_events_have_different_hashes(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let ids = project.store_all(vec![event(), event()]);
    for member in ["content_hash", "content_salt"] {
        let values = [0, 1].map(|index: usize| project.event(&ids[index])[member].clone());
        assert_ne!(values[0], values[1], "{member}");
    }
}

fn the_hash_is_one_of_the_project_and_the_environment(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let test = organization.test();
    let stored = test.event(&test.store(event()));
    let of_log = |log: &str| json!(content_hash(&stored, log));
    assert_eq!(stored["content_hash"], of_log(&log_of(&organization, "test")));
    assert_ne!(stored["content_hash"], of_log(&log_of(&organization, "live")));
    let other = Organization::fresh(database);
    assert_ne!(stored["content_hash"], of_log(&log_of(&other, "test")));
}

fn an_empty_context_is_not_stored(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let (project, log) = (organization.project(), log_of(&organization, "live"));
    let empty = json!({"context": {}, "metadata": {}, "changes": []});
    let stored = project.event(&project.store(event_with(empty)));
    assert!(stored.get("context").is_none(), "{stored}");
    assert_eq!(
        (&stored["metadata"], &stored["changes"]),
        (&json!({}), &json!([]))
    );
    assert_eq!(
        stored["content_hash"],
        json!(content_hash(&stored, &log)),
        "{stored}"
    );
}

/// The number of values that a hidden field may have, for who guesses it.
const GUESSES: usize = 2_560;

fn a_viewer_verifies_what_it_sees_and_cannot_guess_the_rest(database: DatabaseKind) {
    let Some(python) = python() else { return };
    let organization = Organization::fresh(database);
    let project = organization.project();
    let address = |guess: usize| format!("192.0.{}.{}", guess / 256, guess % 256);
    let stored: Vec<String> = events()
        .into_iter()
        // Python writes fractions and exponents in another way.
        .filter(|event| event.pointer("/metadata/n").is_none() && event.pointer("/metadata/small").is_none())
        .enumerate()
        .map(|(index, event)| {
            let hidden = json!({"context": {"ip_address": address(index * 100)}});
            project.store(merge(event, hidden))
        })
        .collect();
    let folder = temporary_directory("viewer-");
    // The tier `minimal` hides events, so it has no proofs.
    for tier in ["full", "standard"] {
        let viewer = organization.viewer("tenant-1", tier);
        for (index, id) in stored.iter().enumerate() {
            let seen = viewer.find(&[]).into_iter().find(|event| event["id"] == **id);
            let seen = seen.expect("the viewer sees the event");
            let proof = viewer
                .get(&format!("/events/{id}/proof"))
                .send()
                .expect_status(200);
            assert_eq!(seen.get("content_salt").is_some(), tier == "full", "{seen}");
            assert_eq!(proof["content_salt"].is_string(), tier == "full", "{proof:?}");
            let guesses: Vec<String> = (0..GUESSES).map(address).collect();
            let input = json!({
                "event": seen, "proof": proof.body(), "path": "context.ip_address", "guesses": guesses,
            });
            let file = folder.join(format!("{tier}-{index}.json"));
            std::fs::write(&file, input.to_string()).expect("write the input");
        }
    }
    let output = run_python(
        &python,
        "viewer_content_hash.py",
        &[folder.to_str().expect("a path in UTF-8")],
    );
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stdout);
    let count = stored.len();
    assert_eq!(
        said,
        format!(
            "{} events verified, {count} guessed in {} with the salt\n",
            2 * count,
            count
        ),
    );
}
