//! Anyone can recompute the content hash of an event from a read.

use audit_tests::{DatabaseKind, Organization, content_hash, event, event_with, on_both_databases};
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
    ]
}

on_both_databases! {
    the_hash_is_that_of_the_canonical_form_of_what_is_read,
    a_viewer_without_hidden_fields_can_recompute_it,
    different_events_have_different_hashes,
}

fn the_hash_is_that_of_the_canonical_form_of_what_is_read(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    for id in project.store_all(events()) {
        let stored = project.event(&id);
        assert_eq!(stored["content_hash"], json!(content_hash(&stored)), "{stored}");
    }
    for listed in project.find(&[]) {
        assert_eq!(listed["content_hash"], json!(content_hash(&listed)), "{listed}");
    }
}

fn a_viewer_without_hidden_fields_can_recompute_it(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    organization.project().store_all(events());
    let seen = organization.viewer("tenant-1", "full").find(&[]);
    assert_eq!(seen.len(), events().len());
    for event in seen {
        assert_eq!(event["content_hash"], json!(content_hash(&event)), "{event}");
    }
}

fn different_events_have_different_hashes(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let ids = project.store_all(vec![event(), event()]);
    let hashes = ids
        .iter()
        .map(|id| project.event(id)["content_hash"].clone())
        .collect::<Vec<_>>();
    assert_ne!(hashes[0], hashes[1], "the hash covers the id");
}
