use audit_tests::{DatabaseKind, Organization, event, event_with, on_both_databases};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::thread;

fn keyed(key: &str, name: &str) -> Value {
    event_with(json!({"idempotency_key": key, "actor": {"name": name}}))
}

on_both_databases! {
    a_repeat_returns_the_first_id_and_stores_nothing,
    a_repeat_inside_one_batch_returns_the_first_id,
    the_order_of_members_and_the_default_time_make_no_difference,
    the_same_key_with_other_content_is_a_conflict,
    a_conflict_in_a_batch_is_reported_and_the_rest_is_stored,
    a_conflict_inside_one_batch_is_reported_on_the_second,
    a_changed_redaction_rule_makes_no_false_conflict,
    contents_that_redact_to_the_same_text_still_conflict,
    keys_of_other_projects_and_environments_are_others,
    keys_of_other_tenants_are_others,
    events_without_a_key_are_never_repeats,
    simultaneous_repeats_store_one_event,
}

fn a_repeat_returns_the_first_id_and_stores_nothing(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let first = project.store(keyed("order-1", "Alice"));
    assert_eq!(project.store(keyed("order-1", "Alice")), first);
    assert_eq!(
        project.store_all(vec![keyed("order-1", "Alice")]),
        std::slice::from_ref(&first)
    );
    assert_eq!(project.find_ids(&[]), [first]);
}

fn a_repeat_inside_one_batch_returns_the_first_id(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let ids = project.store_all(vec![
        keyed("a", "x"),
        keyed("b", "x"),
        keyed("a", "x"),
        keyed("b", "x"),
    ]);
    assert_eq!(ids[..2], ids[2..]);
    assert_ne!(ids[0], ids[1]);
    assert_eq!(project.count(), 2);
}

fn the_order_of_members_and_the_default_time_make_no_difference(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let one = r#"{"action":"a.b","category":"auth","actor":{"id":"1","type":"user"},"tenant_id":"t",
        "metadata":{"x":1,"y":{"p":"q","r":[]}},"idempotency_key":"k"}"#;
    let other = r#"{"idempotency_key":"k","metadata":{"y":{"r":[],"p":"\u0071"},"x":1},"tenant_id":"t",
        "actor":{"type":"user","id":"1"},"category":"auth","action":"a.b"}"#;
    let first = project
        .post("/events")
        .raw_json(one)
        .send()
        .expect_status(201)
        .ids();
    let second = project
        .post("/events")
        .raw_json(other)
        .send()
        .expect_status(201)
        .ids();
    assert_eq!(first, second);
}

fn the_same_key_with_other_content_is_a_conflict(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let id = project.store(keyed("order-1", "Alice"));
    project
        .post("/events")
        .json(keyed("order-1", "Bob"))
        .send()
        .expect_error(409, "conflict");
    assert_eq!(project.find_ids(&[]), [id.as_str()]);
    assert_eq!(project.event(&id)["actor"]["name"], "Alice");
}

fn a_conflict_in_a_batch_is_reported_and_the_rest_is_stored(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let first = project.store(keyed("order-1", "Alice"));
    let batch = json!([
        event(),
        keyed("order-1", "Bob"),
        keyed("order-1", "Alice"),
        keyed("order-2", "Bob")
    ]);
    let response = project.post("/events").json(batch).send().expect_status(201);
    let errors = response.list("errors");
    assert_eq!(errors.len(), 1, "{response:?}");
    assert_eq!(
        (&errors[0]["index"], &errors[0]["code"]),
        (&json!(1), &json!("conflict"))
    );
    assert_eq!(response.ids().len(), 3);
    assert_eq!(response.ids()[1], first);
    assert_eq!(project.count(), 3);
}

fn a_conflict_inside_one_batch_is_reported_on_the_second(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let response = project
        .post("/events")
        .json(json!([keyed("k", "Alice"), keyed("k", "Bob")]))
        .send();
    let response = response.expect_status(201);
    assert_eq!(response.list("errors")[0]["index"], 1);
    assert_eq!(response.list("errors")[0]["code"], "conflict");
    assert_eq!(project.find(&[])[0]["actor"]["name"], "Alice");
}

fn a_changed_redaction_rule_makes_no_false_conflict(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    let first = project.store(keyed("k", "Project Zebra, jane@example.com"));
    organization.create_rule(json!({"type": "pattern", "name": "zebra", "pattern": "Zebra"}));
    let disabled = organization
        .master()
        .put("/redaction/rules/builtin_email")
        .json(json!({"enabled": false}));
    disabled.send().expect_status(200);
    assert_eq!(
        project.store(keyed("k", "Project Zebra, jane@example.com")),
        first
    );
    project
        .post("/events")
        .json(keyed("k", "Project [REDACTED]"))
        .send()
        .expect_error(409, "conflict");
}

fn contents_that_redact_to_the_same_text_still_conflict(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    project.store(keyed("k", "jane@example.com"));
    project
        .post("/events")
        .json(keyed("k", "john@example.com"))
        .send()
        .expect_error(409, "conflict");
}

fn keys_of_other_projects_and_environments_are_others(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let other_project = organization.create_project("other");
    let clients = [
        organization.project(),
        organization.test(),
        organization.with_credential(&organization.create_key_of(&other_project, "live")),
        Organization::fresh(database).project(),
    ];
    let ids: BTreeSet<String> = clients
        .iter()
        .map(|client| client.store(keyed("k", "Alice")))
        .collect();
    assert_eq!(ids.len(), clients.len());
    for client in &clients {
        assert_eq!(client.count(), 1);
    }
}

fn keys_of_other_tenants_are_others(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    // Without a separator the first two would be one text.
    let events = [
        ("tenant-1", "1"),
        ("tenant-11", ""),
        ("tenant-2", "1"),
        ("TENANT-1", "1"),
    ]
    .map(|(tenant, key)| event_with(json!({"tenant_id": tenant, "idempotency_key": format!("{key}k")})));
    let ids = project.store_all(events.to_vec());
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), events.len());
    for (event, id) in events.iter().zip(&ids) {
        assert_eq!(project.store(event.clone()), *id);
        let other = audit_tests::merge(event.clone(), json!({"action": "user.deleted"}));
        let conflict = project.post("/events").json(other).send();
        conflict.expect_error(409, "conflict");
    }
    assert_eq!(project.count(), events.len());
}

fn events_without_a_key_are_never_repeats(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let ids: BTreeSet<String> = project.store_all(vec![event(), event()]).into_iter().collect();
    assert_eq!(ids.len(), 2);
}

fn simultaneous_repeats_store_one_event(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let ids: BTreeSet<String> = thread::scope(|scope| {
        let post = |_| scope.spawn(|| project.with_own_connections().store(keyed("race", "Alice")));
        let threads: Vec<_> = (0..16).map(post).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("a repeat is answered"))
            .collect()
    });
    assert_eq!(ids.len(), 1, "{ids:?}");
    assert_eq!(project.count(), 1);
}
