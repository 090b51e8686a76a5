//! The header `Idempotency-Key`.

use audit_tests::{
    Client, DatabaseKind, Organization, Request, Stream, event, event_with, on_both_databases,
};
use serde_json::json;

const HEADER: &str = "Idempotency-Key";

fn post(client: &Client, key: &str) -> Request {
    client.post("/events").header(HEADER, key)
}

on_both_databases! {
    the_header_is_the_key_of_the_event,
    a_quoted_key_is_the_bare_one,
    another_key_in_the_event_is_refused,
    a_batch_has_no_key_of_its_own,
    what_is_no_key_is_refused,
    a_stream_knows_the_header,
}

fn the_header_is_the_key_of_the_event(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let first = post(&project, "order-1").json(event()).send().expect_status(201);
    let id = &first.ids()[0];
    assert_eq!(project.event(id)["idempotency_key"], "order-1");
    let again = post(&project, "order-1").json(event()).send().expect_status(201);
    assert_eq!((again.ids(), &again["repeated_count"]), (first.ids(), &json!(1)));
    // In the event and in both places it is the same key; `null` is none.
    for key in [json!("order-1"), json!(null)] {
        let mut keyed = event();
        keyed["idempotency_key"] = key;
        let again = post(&project, "order-1").json(keyed).send().expect_status(201);
        assert_eq!(again.ids(), first.ids());
    }
    assert_eq!(
        project.store(event_with(json!({"idempotency_key": "order-1"}))),
        *id
    );
    let other = event_with(json!({"action": "user.deleted"}));
    let conflict = post(&project, "order-1").json(other).send();
    conflict.expect_error(409, "conflict");
    assert_eq!(project.count(), 1);
}

fn a_quoted_key_is_the_bare_one(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let ids =
        [r#""a b""#, "a b"].map(|key| post(&project, key).json(event()).send().expect_status(201).ids());
    assert_eq!(ids[0], ids[1]);
    assert_eq!(project.event(&ids[0][0])["idempotency_key"], "a b");
}

fn another_key_in_the_event_is_refused(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    for own in [json!("order-2"), json!("ORDER-1"), json!(""), json!(5)] {
        let keyed = event_with(json!({"idempotency_key": own}));
        let response = post(&project, "order-1").json(keyed).send();
        let response = response.expect_invalid(&["idempotency_key"]);
        assert!(
            response.message_on("idempotency_key").contains(HEADER),
            "{response:?}"
        );
    }
    assert_eq!(project.count(), 0);
}

fn a_batch_has_no_key_of_its_own(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let lines = post(&project, "k").header("content-type", "application/x-ndjson");
    for request in [
        post(&project, "k").json(json!([event(), event()])),
        post(&project, "k").json(json!([event()])),
        lines.raw(event().to_string()),
    ] {
        let response = request.send().expect_invalid(&["idempotency_key"]);
        let message = response.message_on("idempotency_key");
        assert!(message.contains(HEADER) && message.contains("batch"), "{message}");
    }
    assert_eq!(project.count(), 0);
}

fn what_is_no_key_is_refused(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    post(&project, &"k".repeat(256))
        .json(event())
        .send()
        .expect_status(201);
    let too_long = "k".repeat(257);
    for key in [too_long.as_str(), "\"\"", "\"open", "\"a\"; b"] {
        let response = post(&project, key).json(event()).send();
        let response = response.expect_invalid(&["idempotency_key"]);
        assert!(
            response.message_on("idempotency_key").contains(HEADER),
            "{response:?}"
        );
    }
    let twice = post(&project, "a").header(HEADER, "a").json(event()).send();
    twice.expect_invalid(&["idempotency_key"]);
    assert_eq!(project.count(), 1);
}

fn a_stream_knows_the_header(database: DatabaseKind) {
    let stream = Stream::fresh(database);
    for _ in 0..2 {
        let request = stream.post().header(HEADER, "k");
        request.json(event()).send().expect_status(201);
    }
    assert_eq!(stream.state(), ("active".to_owned(), 1));
    let batch = stream.post().header(HEADER, "k").json(json!([event()]));
    batch.send().expect_invalid(&["idempotency_key"]);
}
