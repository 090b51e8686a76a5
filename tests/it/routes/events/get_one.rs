use audit_tests::{DatabaseKind, Organization, event, merge, on_both_databases};
use serde_json::{Value, json};

fn full_event() -> Value {
    json!({
        "action": "document.shared",
        "category": "access",
        "actor": {"id": "user-42", "type": "service", "name": "Report Builder", "email": "not-an-address"},
        "tenant_id": "tenant-9",
        "target": {"id": "doc-7", "type": "document", "name": "Quarterly Report"},
        "context": {"ip_address": "203.0.113.9", "user_agent": "curl/8.5", "location": "Berlin", "session_id": "s-1"},
        "metadata": {"reason": "review", "tags": ["a", "b"], "depth": {"n": 1.5}},
        "changes": [{"field": "visibility", "before": "private", "after": {"groups": ["all"]}}],
        "idempotency_key": "share-1",
        "occurred_at": "2026-01-15T10:30:00.250Z",
    })
}

on_both_databases! {
    every_field_is_read_back_as_stored,
    absent_fields_are_absent_and_not_null,
    an_unknown_id_is_not_found,
    an_event_of_another_project_is_not_found,
}

fn every_field_is_read_back_as_stored(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let id = project.store(full_event());
    let stored = project.event(&id);
    for (member, sent) in full_event().as_object().expect("an object") {
        assert_eq!(&stored[member], sent, "{member}");
    }
    assert_eq!(stored["id"], json!(id));
    assert_eq!(stored["redacted"], false);
    let hash = stored["content_hash"]
        .as_str()
        .and_then(|hash| hash.strip_prefix("sha256:"));
    assert!(hash.is_some_and(|hex| hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_hexdigit())));
}

fn absent_fields_are_absent_and_not_null(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let stored = project.event(&project.store(event()));
    for member in ["target", "context", "metadata", "changes", "idempotency_key"] {
        assert!(stored.get(member).is_none(), "{member} in {stored}");
    }
    assert_eq!(stored["actor"], json!({"id": "actor-1", "type": "user"}));
    let changes = json!({"target": {"id": "1", "type": "doc"}, "context": {"location": "Berlin"}});
    let stored = project.event(&project.store(merge(event(), changes.clone())));
    assert_eq!(stored["target"], changes["target"]);
    assert_eq!(stored["context"], changes["context"]);
}

fn an_unknown_id_is_not_found(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    for id in [
        "evt_00000000000000000000000000",
        "evt_",
        "nonsense",
        "evt_01hzzzzzzzzzzzzzzzzzzzzzzz",
    ] {
        project
            .get(&format!("/events/{id}"))
            .send()
            .expect_error(404, "not_found");
    }
}

fn an_event_of_another_project_is_not_found(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let id = organization.project().store(event());
    let path = format!("/events/{id}");
    let other_project = organization.create_project("other");
    let sibling = organization.with_credential(&organization.create_key_of(&other_project, "live"));
    sibling.get(&path).send().expect_error(404, "not_found");
    organization
        .test()
        .get(&path)
        .send()
        .expect_error(404, "not_found");
    let stranger = Organization::fresh(database);
    stranger
        .project()
        .get(&path)
        .send()
        .expect_error(404, "not_found");
    stranger.master().get(&path).send().expect_error(404, "not_found");
}
