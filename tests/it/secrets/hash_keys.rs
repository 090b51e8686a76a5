//! The hash key is rotated: hashes with the keys before it are still found.

use super::{on_both, start, stop};
use audit_tests::{DatabaseKind, Organization, event_with, on_both_databases};
use serde_json::{Value, json};

const KEY: &str = "AUDIT_HASH_KEY";
const PREVIOUS: &str = "AUDIT_HASH_KEYS_PREVIOUS";

on_both_databases! {
    hashes_with_previous_keys_are_found,
}

fn person(number: usize) -> Value {
    event_with(json!({
        "actor": {"id": "jane@example.com", "type": "user"},
        "target": {"id": "jane@example.com", "type": "user"},
        "metadata": {"number": number},
    }))
}

fn hashes_with_previous_keys_are_found(kind: DatabaseKind) {
    let database = on_both(kind);
    let by_actor = [("actor_id", "jane@example.com")];
    let by_target = [("target_id", "jane@example.com")];
    // A hash without a key, two with the first key, one with the second.
    let server = start(&database, &[]);
    let organization = Organization::create(&server, "enterprise");
    organization.create_rule(json!({
        "type": "field_redact", "name": "people", "fields": ["actor.id", "target.id"], "behavior": "hash",
    }));
    let first = organization.project().store(person(1));
    stop(server);
    let server = start(&database, &[(KEY, "one")]);
    let organization = organization.on(&server);
    organization.project().store(person(2));
    organization.project().store(person(3));
    let page = organization
        .project()
        .get("/events")
        .queries(&by_actor)
        .query("limit", "1");
    let cursor = page.send().expect_status(200).text("cursor");
    let hashed = organization.project().event(&first)["actor"]["id"].clone();
    assert!(
        hashed.as_str().is_some_and(|id| id.starts_with("sha256:")),
        "{hashed}"
    );
    stop(server);
    let server = start(&database, &[(KEY, "two"), (PREVIOUS, "zero,one")]);
    let organization = organization.on(&server);
    organization.project().store(person(4));
    for filter in [by_actor, by_target] {
        assert_eq!(organization.project().find(&filter).len(), 4);
    }
    // A cursor from before the rotation goes on.
    let page = organization
        .project()
        .get("/events")
        .queries(&by_actor)
        .query("cursor", &cursor);
    assert_eq!(page.send().expect_status(200).list("events").len(), 2);
    stop(server);
    // Without the previous key, its hashes are not found.
    let server = start(&database, &[(KEY, "two")]);
    assert_eq!(organization.on(&server).project().find(&by_actor).len(), 2);
    stop(server);
}
