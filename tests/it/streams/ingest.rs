//! `POST /streams/:token/events`.

use audit_tests::{
    DatabaseKind, Organization, Stream, address, event, event_with, now_plus, on_both_databases,
};
use serde_json::{Value, json};

fn keyed(key: &str, name: &str) -> Value {
    event_with(json!({"idempotency_key": key, "actor": {"name": name}}))
}

on_both_databases! {
    the_first_event_begins_the_stream,
    a_batch_is_taken_in_order,
    events_are_judged_as_on_the_authenticated_route,
    the_valid_events_of_a_batch_are_stored_and_the_others_reported,
    a_repeat_returns_the_first_id_and_stores_nothing,
    the_same_key_with_other_content_is_a_conflict,
    keys_of_other_streams_are_others,
    a_token_is_a_random_uuid,
    the_case_of_the_token_makes_no_difference,
    a_credential_is_ignored,
    redacted_fields_are_counted,
    unclaimed_events_cannot_be_read,
    another_method_is_not_allowed,
}

fn the_first_event_begins_the_stream(database: DatabaseKind) {
    let stream = Stream::fresh(database);
    stream.info().expect_error(404, "stream_not_found");
    let response = stream.send(event()).expect_status(201);
    assert_eq!(response.ids().len(), 1);
    assert!(response.ids()[0].starts_with("evt_"), "{response:?}");
    assert_eq!(response["redacted_count"], 0);
    assert!(response.body().get("errors").is_none(), "{response:?}");
    assert_eq!(stream.state(), ("active".to_owned(), 1));
}

fn a_batch_is_taken_in_order(database: DatabaseKind) {
    let stream = Stream::fresh(database);
    let first = stream.store(event());
    let batch = stream.store_all(vec![event(); 99]);
    let mut ids = vec![first];
    ids.extend(batch);
    assert!(ids.is_sorted_by(|a, b| a < b), "ids sort as received: {ids:?}");
    assert_eq!(stream.state().1, 100);
    let other = Stream::fresh(database);
    assert_eq!(other.store_all(vec![event(); 100]).len(), 100);
}

/// Sends invalid events to both routes. The responses must be the same.
fn events_are_judged_as_on_the_authenticated_route(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let future = now_plus(25 * 60 * 60);
    let bodies = [
        "{".to_owned(),
        "5".to_owned(),
        "null".to_owned(),
        "[]".to_owned(),
        "{}".to_owned(),
        "[{}, 5]".to_owned(),
        "{\"action\":\"a.b\",\"action\":\"a.c\"}".to_owned(),
        Value::Array(vec![event(); 101]).to_string(),
        event_with(json!({"action": "User", "category": "x", "tenant_id": ""})).to_string(),
        event_with(json!({"actor": {"type": "robot", "id": null}})).to_string(),
        event_with(json!({"more": 1, "actor": {"more": 1}, "target": {"more": 1}})).to_string(),
        event_with(json!({"target": {"name": "x"}, "context": {"more": 1}, "metadata": []})).to_string(),
        event_with(json!({"changes": [{"before": 1}], "idempotency_key": 5})).to_string(),
        event_with(json!({"occurred_at": "yesterday"})).to_string(),
        event_with(json!({"occurred_at": future})).to_string(),
        event_with(json!({"tenant_id": "a\u{0}b"})).to_string(),
        event_with(json!({"tenant_id": "x".repeat(257)})).to_string(),
        event_with(json!({"metadata": {"long": "x".repeat(64 * 1024)}})).to_string(),
        "x".repeat(1024 * 1024 + 1),
    ];
    for body in bodies {
        let stream = Stream::fresh(database);
        let expected = project.post("/events").raw_json(body.as_str()).send();
        let response = stream.post().raw_json(body.as_str()).send();
        let shown = body.chars().take(80).collect::<String>();
        assert!((400..500).contains(&response.status()), "{shown}: {response:?}");
        assert_eq!(response.status(), expected.status(), "{shown}");
        assert_eq!(response["error"], expected["error"], "{shown}");
        stream.info().expect_error(404, "stream_not_found");
    }
    let stream = Stream::fresh(database);
    let untyped = stream
        .post()
        .raw(event().to_string())
        .header("content-type", "text/plain");
    untyped.send().expect_error(415, "unsupported_media_type");
    let unknown = stream.post().json(event()).query("tenant_id", "x");
    unknown.send().expect_invalid(&["tenant_id"]);
}

fn the_valid_events_of_a_batch_are_stored_and_the_others_reported(database: DatabaseKind) {
    let stream = Stream::fresh(database);
    let invalid = event_with(json!({"actor": {"type": "robot"}}));
    let batch = json!([
        event(),
        invalid,
        keyed("k", "Alice"),
        5,
        keyed("k", "Bob"),
        keyed("k", "Alice")
    ]);
    let response = stream.send(batch).expect_status(201);
    let ids = response.ids();
    assert_eq!(ids.len(), 3);
    assert_eq!(ids[1], ids[2], "a repeat in the batch");
    let refused: Vec<_> = response
        .list("errors")
        .iter()
        .map(|error| (error["index"].clone(), error["code"].clone()))
        .collect();
    let expected = [(1, "validation_error"), (3, "validation_error"), (4, "conflict")];
    assert_eq!(refused, expected.map(|(index, code)| (json!(index), json!(code))));
    assert_eq!(stream.state().1, 2);
}

fn a_repeat_returns_the_first_id_and_stores_nothing(database: DatabaseKind) {
    let stream = Stream::fresh(database);
    let first = stream.store(keyed("order-1", "Alice"));
    assert_eq!(stream.store(keyed("order-1", "Alice")), first);
    let ids = stream.store_all(vec![keyed("order-2", "Alice"), keyed("order-1", "Alice")]);
    assert_eq!(ids[1], first);
    assert_eq!(stream.state().1, 2);
}

fn the_same_key_with_other_content_is_a_conflict(database: DatabaseKind) {
    let stream = Stream::fresh(database);
    stream.store(keyed("k", "jane@example.com"));
    // The contents differ only before redaction. The comparison uses the content as sent.
    let other = || keyed("k", "john@example.com");
    stream.send(other()).expect_error(409, "conflict");
    stream
        .send(json!([other(), other()]))
        .expect_error(409, "conflict");
    assert_eq!(stream.state().1, 1);
}

fn keys_of_other_streams_are_others(database: DatabaseKind) {
    let (one, two) = (Stream::fresh(database), Stream::fresh(database));
    assert_ne!(one.store(keyed("k", "Alice")), two.store(keyed("k", "Alice")));
    two.send(keyed("k", "Bob")).expect_error(409, "conflict");
    assert_eq!((one.state().1, two.state().1), (1, 1));
}

fn a_token_is_a_random_uuid(database: DatabaseKind) {
    let client = audit_tests::Server::shared(database)
        .client()
        .with_address(&address());
    let tokens = [
        "nonsense",
        "00000000-0000-0000-0000-000000000000",
        "67e55044-10b1-126f-9247-bb680e5fe0c8",
        "67e55044-10b1-726f-9247-bb680e5fe0c8",
        "67e55044-10b1-426f-1247-bb680e5fe0c8",
        "67e5504410b1426f9247bb680e5fe0c8",
        "%7B67e55044-10b1-426f-9247-bb680e5fe0c8%7D",
        "67e55044-10b1-426f-9247-bb680e5fe0c8%20",
    ];
    for token in tokens {
        let events = client.post(&format!("/streams/{token}/events"));
        events.json(event()).send().expect_invalid(&["token"]);
        let info = client.get(&format!("/streams/{token}/info"));
        info.send().expect_invalid(&["token"]);
    }
}

fn the_case_of_the_token_makes_no_difference(database: DatabaseKind) {
    let stream = Stream::fresh(database);
    stream.store(event());
    let shouted = stream.with_token(&stream.token.to_uppercase());
    shouted.store(event());
    let info = shouted.info().expect_status(200);
    assert_eq!(info["event_count"], 2);
    assert_eq!(info["claim_token"], json!(stream.token));
}

fn a_credential_is_ignored(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let stream = Stream::fresh(database);
    let credentials = [
        organization.master_key.as_str(),
        &organization.project_key,
        "pk_live_mistyped",
        "nonsense",
    ];
    for credential in credentials {
        let client = organization.with_credential(credential).with_address(&address());
        let stream = stream.held_by(&client);
        stream.store(event());
        stream.info().expect_status(200);
    }
    assert_eq!(stream.state(), ("active".to_owned(), credentials.len() as u64));
    assert_eq!(organization.project().count(), 0);
}

fn redacted_fields_are_counted(database: DatabaseKind) {
    let stream = Stream::fresh(database);
    let both = json!({"actor": {"email": "jane@example.com", "name": "jane@example.com or j@example.com"}});
    let card = json!({"metadata": {"card": 4_111_111_111_111_111_u64}});
    let batch = json!([event_with(both), event(), event_with(card)]);
    assert_eq!(stream.send(batch).expect_status(201)["redacted_count"], 3);
}

fn unclaimed_events_cannot_be_read(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let stream = Stream::fresh(database);
    let id = stream.store(event_with(json!({"actor": {"name": "Unclaimed"}})));
    let readers = [
        organization.master(),
        organization.project(),
        organization.test(),
        organization.viewer("tenant-1", "full"),
    ];
    for reader in readers {
        assert_eq!(reader.find(&[]).len(), 0);
        assert_eq!(reader.find(&[("search", "unclaimed")]).len(), 0);
    }
    let one = organization.project().get(&format!("/events/{id}")).send();
    one.expect_error(404, "not_found");
}

fn another_method_is_not_allowed(database: DatabaseKind) {
    let stream = Stream::fresh(database);
    let client = Organization::fresh(database).anonymous().clone();
    let events = client.get(&format!("/streams/{}/events", stream.token)).send();
    let events = events.expect_error(405, "method_not_allowed");
    assert_eq!(events.header("allow"), Some("POST"));
    let info = client.post(&format!("/streams/{}/info", stream.token)).send();
    assert_eq!(
        info.expect_error(405, "method_not_allowed").header("allow"),
        Some("GET, HEAD")
    );
    let claim = client.get("/streams/claim").send();
    assert_eq!(
        claim.expect_error(405, "method_not_allowed").header("allow"),
        Some("POST")
    );
}
