//! Each limit is tried at its value and one past it.

use audit_tests::{Client, DatabaseKind, Organization, Response, event_with, on_both_databases};
use serde_json::{Value, json};

const BODY_BYTES_MAX: usize = 1 << 20;
const EVENT_BYTES_MAX: usize = 64 << 10;
const ID_CHARS_MAX: usize = 256;
const NAME_CHARS_MAX: usize = 512;
const DEPTH_MAX: usize = 16;
const CHANGES_MAX: usize = 200;

fn post(client: &Client, event: Value) -> Response {
    client.post("/events").json(event).send()
}

/// An event that is `bytes` long as compact JSON.
fn event_of_bytes(bytes: usize) -> Value {
    let padded = |length: usize| event_with(json!({"metadata": {"text": "x".repeat(length)}}));
    let event = padded(bytes - padded(0).to_string().len());
    assert_eq!(event.to_string().len(), bytes);
    event
}

/// An event nested `depth` levels deep, of which the event itself is the first and `metadata` the second.
fn event_of_depth(depth: usize) -> Value {
    let inner = (3..=depth).fold(json!("text"), |inner, level| {
        if level % 2 == 0 {
            json!([inner])
        } else {
            json!({"a": inner})
        }
    });
    event_with(json!({"metadata": {"a": inner}}))
}

on_both_databases! {
    ids_have_up_to_256_characters,
    names_have_up_to_512_characters,
    an_event_nests_up_to_16_levels,
    an_event_has_up_to_200_changes,
    an_event_has_up_to_64_kib,
    a_body_has_up_to_1_mib,
}

fn ids_have_up_to_256_characters(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let change = |field: &str, text: &str| match field {
        "actor.id" => json!({"actor": {"id": text}}),
        "target.id" => json!({"target": {"id": text, "type": "doc"}}),
        other => json!({other: text}),
    };
    for field in ["actor.id", "target.id", "tenant_id", "idempotency_key"] {
        let id = project.store(event_with(change(field, &"é".repeat(ID_CHARS_MAX))));
        assert_eq!(project.event(&id)["id"], json!(id));
        post(&project, event_with(change(field, &"é".repeat(ID_CHARS_MAX + 1)))).expect_invalid(&[field]);
    }
}

fn names_have_up_to_512_characters(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let change = |field: &str, text: &str| match field {
        "actor.name" => json!({"actor": {"name": text}}),
        _ => json!({"target": {"id": "1", "type": "doc", "name": text}}),
    };
    for field in ["actor.name", "target.name"] {
        project.store(event_with(change(field, &"山".repeat(NAME_CHARS_MAX))));
        post(
            &project,
            event_with(change(field, &"山".repeat(NAME_CHARS_MAX + 1))),
        )
        .expect_invalid(&[field]);
    }
}

fn an_event_nests_up_to_16_levels(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let event = event_of_depth(DEPTH_MAX);
    let id = project.store(event.clone());
    assert_eq!(project.event(&id)["metadata"], event["metadata"]);
    post(&project, event_of_depth(DEPTH_MAX + 1)).expect_error(400, "validation_error");
    assert_eq!(project.count(), 1);
}

fn an_event_has_up_to_200_changes(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let changes = |count: usize| {
        let changes: Vec<Value> = (0..count)
            .map(|n| json!({"field": format!("f{n}"), "before": n, "after": n + 1}))
            .collect();
        event_with(json!({"changes": changes}))
    };
    let id = project.store(changes(CHANGES_MAX));
    assert_eq!(project.event(&id)["changes"][CHANGES_MAX - 1]["field"], "f199");
    post(&project, changes(CHANGES_MAX + 1)).expect_invalid(&["changes"]);
}

fn an_event_has_up_to_64_kib(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let id = project.store(event_of_bytes(EVENT_BYTES_MAX));
    assert!(
        project.event(&id)["metadata"]["text"]
            .as_str()
            .is_some_and(|text| text.len() > 65_000)
    );
    post(&project, event_of_bytes(EVENT_BYTES_MAX + 1)).expect_error(400, "validation_error");
    let response = post(
        &project,
        json!([event_of_bytes(EVENT_BYTES_MAX + 1), event_of_bytes(1000)]),
    )
    .expect_status(201);
    assert_eq!(response.list("errors")[0]["index"], 0);
    assert_eq!(project.count(), 2);
}

fn a_body_has_up_to_1_mib(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let mut events = vec![event_of_bytes(EVENT_BYTES_MAX); 15];
    let separators = 17;
    events.push(event_of_bytes(BODY_BYTES_MAX - 15 * EVENT_BYTES_MAX - separators));
    let body = Value::Array(events).to_string();
    assert_eq!(body.len(), BODY_BYTES_MAX);
    let response = project.post("/events").raw_json(format!("{body} ")).send();
    response.expect_error(413, "payload_too_large");
    assert_eq!(project.count(), 0);
    let response = project.post("/events").raw_json(body).send().expect_status(201);
    assert_eq!(response.ids().len(), 16);
}
