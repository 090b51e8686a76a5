//! `GET /events/feed`: every event once, in the order of commits, by long poll and as server-sent events.

mod claims;
mod follower;
mod nodes;
mod poll;
mod stream;
mod viewers;

use audit_tests::{Client, Deadline, EventStream, Response, Server};
use serde_json::Value;

/// More than any event takes to arrive.
const ARRIVAL_SECONDS_MAX: u64 = 30;

/// Waits until `count` readers of the server have read everything and wait for more.
fn wait_for_waiting(server: &Server, count: u64) {
    server.wait_for_metric("audit_feed_waiting", count);
}

/// The ids of events.
fn ids(events: &[Value]) -> Vec<String> {
    let id = |event: &Value| event["id"].as_str().expect("an event has an id").to_owned();
    events.iter().map(id).collect()
}

/// One page of the feed.
fn page(client: &Client, parameters: &[(&str, &str)]) -> Response {
    let response = client.get("/events/feed").queries(parameters).send();
    response.expect_status(200)
}

/// The cursor at the end of the feed.
fn end_of(client: &Client) -> String {
    everything(client, &[]).1
}

/// All events of the feed, and the cursor at its end.
fn everything(client: &Client, parameters: &[(&str, &str)]) -> (Vec<Value>, String) {
    let (mut events, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let mut request = client.get("/events/feed").queries(parameters);
        if let Some(cursor) = &cursor {
            request = request.query("after", cursor);
        }
        let response = request.send().expect_status(200);
        events.extend(response.list("events"));
        cursor = Some(response.text("cursor"));
        if response["has_more"] == false {
            return (events, response.text("cursor"));
        }
    }
}

/// The id of the next event of a stream.
fn next_id(stream: &mut EventStream) -> String {
    let sent = stream
        .next(Deadline::seconds(ARRIVAL_SECONDS_MAX))
        .expect("an event");
    assert_eq!(sent.event, "audit");
    assert_eq!(sent.id, stream.last_event_id);
    let event: Value = serde_json::from_str(&sent.data).expect("JSON");
    event["id"].as_str().expect("an id").to_owned()
}
