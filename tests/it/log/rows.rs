//! The columns beside the text of an event: a change that the service did not make is noticed.

use super::{Case, stop};
use audit_tests::{Client, DatabaseKind, Response, event_with, on_both_databases};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

on_both_databases! {
    a_planted_digest_does_not_make_another_event_a_repeat,
    a_repeat_is_refused_where_its_row_was_changed_and_others_are_not,
}

/// The metric of what somebody has tampered with.
const ALARMS: &str = "audit_log_alarms_total";
/// The event with [`KEY`].
const KEYED: usize = super::EVENTS;
const KEY: &str = "key of the test";

fn keyed(key: &str, content: &str) -> Value {
    event_with(json!({"idempotency_key": key, "metadata": {"content": content}}))
}

fn send(client: &Client, key: &str, content: &str) -> Response {
    client.post("/events").json(keyed(key, content)).send()
}

/// A log whose last event has [`KEY`].
fn with_key(kind: DatabaseKind) -> Case {
    let case = Case::fresh(kind);
    let (server, project) = case.start();
    send(&project, KEY, "first").expect_status(201);
    stop(server);
    case
}

/// The attack: somebody who can write to the database knows which event a client will send, and that its key is then taken. The service
/// answered 201 with the id of the old event, and the new one was never stored.
fn a_planted_digest_does_not_make_another_event_a_repeat(kind: DatabaseKind) {
    let case = with_key(kind);
    // A digest with another key cannot be compared: the key alone then makes the event a repeat.
    let digest = case.database.blob(&[7; 20]);
    let hash = case.database.blob(&Sha256::digest("tenant-1\0another key")[..16]);
    case.tamper(&format!(
        "UPDATE events SET sent_digest = {digest} WHERE LEDGER AND seq = {KEYED}"
    ));
    if kind == DatabaseKind::Postgres {
        // An event without a key gets that of a request that nobody has sent yet.
        case.tamper(&format!(
            "UPDATE events SET idempotency_hash = {hash}, sent_digest = {digest} WHERE LEDGER AND seq = 17"
        ));
    }
    let (server, project) = case.start();
    send(&project, KEY, "second").expect_error(503, "unavailable");
    if kind == DatabaseKind::Postgres {
        send(&project, "another key", "second").expect_error(503, "unavailable");
    }
    assert!(server.metric(ALARMS) >= 1);
    server.wait_for_log("the row of an idempotency key");
    stop(server);
    let findings = case.findings();
    let named: Vec<_> = findings.iter().map(|finding| finding["seq"].as_u64()).collect();
    assert!(named.contains(&Some(KEYED as u64)), "{findings:?}");
}

fn a_repeat_is_refused_where_its_row_was_changed_and_others_are_not(kind: DatabaseKind) {
    for column in [
        "sender = sender + 1",
        "redacted = NOT redacted",
        "sent_digest = NULL",
    ] {
        let case = with_key(kind);
        case.tamper(&format!(
            "UPDATE events SET {column} WHERE LEDGER AND seq = {KEYED}"
        ));
        let (_server, project) = case.start();
        // The whole request is refused, and nothing of it is stored.
        let both = json!([keyed("a third key", "third"), keyed(KEY, "first")]);
        project
            .post("/events")
            .json(both)
            .send()
            .expect_error(503, "unavailable");
        let stored = project.get("/events").query("search", "third").send();
        assert!(stored.list("events").is_empty(), "{column}");
        // Other events of the log are stored, and their repeats are repeats.
        let first = send(&project, "another key", "second").expect_status(201);
        let again = send(&project, "another key", "second").expect_status(201);
        assert_eq!(again["ids"], first["ids"], "{column}");
        assert_eq!(send(&project, "another key", "other").status(), 409, "{column}");
    }
}
