//! Faults of the machine and of the database: no event is acknowledged that is not there afterwards, once; clients get an honest
//! error; log and readiness name the cause. `docs/design/faults.md` lists them.

mod clock_jumps;
mod disk_full;
mod hanging_commit;
mod lying_sync;
mod memory;
mod open_files;
mod stopped_node;
mod sync_failure;

use audit_tests::{Client, Deadline, Response, Server, event_with};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The acknowledged events: their ids by idempotency key.
#[derive(Debug, Default)]
struct Acknowledged(BTreeMap<String, String>);

impl Acknowledged {
    /// Sends one event with this key, and notes it if it is acknowledged. A refusal must be an honest one.
    fn send(&mut self, client: &Client, key: &str) -> Response {
        let response = send(client, key);
        match response.status() {
            201 => {
                let id = response.ids().remove(0);
                let earlier = self.0.insert(key.to_owned(), id.clone());
                assert!(earlier.is_none_or(|earlier| earlier == id), "{key} has one id");
            }
            _ => assert_refused(&response),
        }
        response
    }

    /// Sends an event that must be acknowledged.
    fn store(&mut self, client: &Client, key: &str) {
        self.send(client, key).expect_status(201);
    }

    /// Sends an event until it is acknowledged, as clients do.
    fn store_in_the_end(&mut self, client: &Client, key: &str) {
        let stored = || (self.send(client, key).status() == 201).then_some(());
        Deadline::seconds(120).poll("an event is stored", stored);
    }

    /// Asserts that each of these events is there once, and that no other is, except those with a key of `unanswered`.
    fn assert_kept(&self, client: &Client, unanswered: &[&str]) {
        let stored: Vec<Value> = client.pages(&[("limit", "200")]).concat();
        let text = |event: &Value, member: &str| event[member].as_str().expect("a string").to_owned();
        let ids: BTreeSet<String> = stored.iter().map(|event| text(event, "id")).collect();
        assert_eq!(ids.len(), stored.len(), "no id is there twice");
        let mut by_key = BTreeMap::new();
        for event in &stored {
            let key = text(event, "idempotency_key");
            let earlier = by_key.insert(key.clone(), text(event, "id"));
            assert!(earlier.is_none(), "{key} is there once");
        }
        by_key.retain(|key, _| self.0.contains_key(key) || !unanswered.contains(&key.as_str()));
        assert_eq!(by_key, self.0);
    }
}

fn body(key: &str) -> Value {
    event_with(json!({"idempotency_key": key, "metadata": {"padding": "x".repeat(2_000)}}))
}

fn send(client: &Client, key: &str) -> Response {
    client.post("/events").json(body(key)).send()
}

/// Asserts a refusal that a client may retry: 503 with `Retry-After`, and the code of the interface.
fn assert_refused(response: &Response) {
    assert_eq!(
        (response.status(), response.code()),
        (503, "unavailable"),
        "{response:?}"
    );
    assert!(response.header("retry-after").is_some(), "{response:?}");
}

fn assert_unknown(response: &Response) {
    assert_refused(response);
    let message = response.body()["error"]["message"].as_str().expect("a message");
    assert!(message.contains("outcome is unknown"), "{message}");
}

/// Waits until the server is ready, or is not.
fn wait_until_ready(server: &Server, is_ready: bool) {
    let status = if is_ready { 200 } else { 503 };
    Deadline::seconds(60).poll(("/readyz", status), || {
        let response = server.client().request("GET", "/readyz").send();
        (response.status() == status).then_some(())
    });
}
