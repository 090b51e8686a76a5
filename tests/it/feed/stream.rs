//! Server-sent events.

use super::{ARRIVAL_SECONDS_MAX, end_of, everything, ids, next_id, wait_for_waiting};
use audit_tests::process::Exit;
use audit_tests::{
    Client, Database, DatabaseKind, Deadline, EventStream, Next, Organization, Server, event, event_with,
    on_both_databases,
};
use serde_json::{Value, json};
use std::thread;

/// Waits for the stream's last event, which gives the reason, and for the end of the stream.
fn reason_for_end(stream: &mut EventStream) -> String {
    let deadline = Deadline::seconds(ARRIVAL_SECONDS_MAX);
    let last = stream.next(deadline).expect("the last event");
    assert_eq!(last.event, "end", "{last:?}");
    assert_eq!(stream.next(deadline), Err(Next::End));
    let reason: Value = serde_json::from_str(&last.data).expect("JSON");
    reason["code"].as_str().expect("a code").to_owned()
}

on_both_databases! {
    a_stream_gives_what_is_there_and_then_what_comes,
    a_client_that_comes_back_misses_nothing_and_gets_nothing_twice,
    the_ids_of_a_stream_are_the_cursors_of_the_feed,
    a_cursor_that_moves_without_an_event_is_sent,
    a_request_for_anything_gets_a_response_that_ends,
    an_invalid_stream_request_is_refused_by_its_status,
    a_revoked_key_ends_its_streams,
    a_deleted_tier_ends_the_streams_of_its_tokens,
    a_signal_ends_streams_and_polls,
    a_reader_that_stalls_holds_neither_memory_nor_the_writer,
}

fn a_stream_gives_what_is_there_and_then_what_comes(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let batch = || project.store_all(vec![event(); 65]);
    let first = [batch(), batch()].concat();
    let mut stream = project.get("/events/feed").open_events();
    for id in first {
        assert_eq!(next_id(&mut stream), id);
    }
    assert_eq!(stream.retry_ms, Some(1_000));
    for _ in 0..3 {
        let id = project.store(event());
        assert_eq!(next_id(&mut stream), id);
    }
    let (events, _) = everything(&project, &[]);
    let mut again = project.get("/events/feed").open_events();
    let sent = again
        .next(Deadline::seconds(ARRIVAL_SECONDS_MAX))
        .expect("an event");
    assert_eq!(
        serde_json::from_str::<Value>(&sent.data).ok().as_ref(),
        events.first()
    );
}

fn a_client_that_comes_back_misses_nothing_and_gets_nothing_twice(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let stored = project.store_all(vec![event(); 20]);
    let (mut followed, mut last_event_id) = (Vec::new(), String::new());
    for connection in 1..=5 {
        let mut request = project.get("/events/feed");
        if !last_event_id.is_empty() {
            // The header takes precedence over the URL, which a browser repeats unchanged when it reconnects.
            let address = request.query("after", "where-it-began");
            request = address.header("last-event-id", &last_event_id);
        }
        let mut stream = request.open_events();
        followed.extend((0..connection).map(|_| next_id(&mut stream)));
        last_event_id = stream.last_event_id;
    }
    assert_eq!(followed, stored[..15]);
}

fn the_ids_of_a_stream_are_the_cursors_of_the_feed(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let stored = project.store_all(vec![event(); 3]);
    let mut stream = project.get("/events/feed").open_events();
    next_id(&mut stream);
    let (rest, cursor) = {
        let response = super::page(&project, &[("after", &stream.last_event_id)]);
        (ids(&response.list("events")), response.text("cursor"))
    };
    assert_eq!(rest, stored[1..]);
    let id = project.store(event());
    let mut from_cursor = project.get("/events/feed").query("after", &cursor).open_events();
    assert_eq!(next_id(&mut from_cursor), id);
}

fn a_cursor_that_moves_without_an_event_is_sent(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    project.store_all(vec![event(); 5]);
    let request = project.get("/events/feed").query("actor_id", "actor-2");
    let mut stream = request.open_events();
    let deadline = Deadline::seconds(ARRIVAL_SECONDS_MAX);
    while stream.last_event_id.is_empty() {
        assert_eq!(
            stream.next_block(deadline),
            Ok(None),
            "no event is visible to this reader"
        );
    }
    let reached = stream.last_event_id;
    assert_eq!(reached, everything(&project, &[("actor_id", "actor-2")]).1);
    let id = project.store(event_with(json!({"actor": {"id": "actor-2"}})));
    let request = project.get("/events/feed").query("actor_id", "actor-2");
    let mut stream = request.header("last-event-id", &reached).open_events();
    assert_eq!(next_id(&mut stream), id);
}

fn a_request_for_anything_gets_a_response_that_ends(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    for accept in ["*/*", "application/json", "text/*", "text/event-streams"] {
        let response = project.get("/events/feed").header("accept", accept).send();
        response.expect_status(200);
    }
    for accept in ["text/event-stream;q=0.9, application/json", "Text/Event-Stream"] {
        let stream = project.get("/events/feed").header("accept", accept).open();
        assert_eq!(
            stream.header("content-type"),
            Some("text/event-stream"),
            "{accept}"
        );
        assert_eq!(stream.header("cache-control"), Some("no-store"));
        assert!(stream.header("x-request-id").is_some());
    }
}

fn an_invalid_stream_request_is_refused_by_its_status(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let stream = |name: &str, value: &str| {
        let request = project.get("/events/feed").query(name, value);
        request.header("accept", "text/event-stream").send()
    };
    stream("after", "x").expect_invalid(&["after"]);
    stream("limit", "0").expect_invalid(&["limit"]);
    for id in ["x", "ü"] {
        let request = project.get("/events/feed").header("accept", "text/event-stream");
        request
            .header("last-event-id", id)
            .send()
            .expect_invalid(&["after"]);
    }
}

fn a_revoked_key_ends_its_streams(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let key = organization.create_key("live");
    let client = organization.with_credential(&key);
    let id = organization.project().store(event());
    let mut stream = client.get("/events/feed").open_events();
    assert_eq!(next_id(&mut stream), id);
    let keys = organization.master().get("/keys").send().list("keys");
    let listed = keys.iter().find(|listed| listed["prefix"] == key[..12]);
    let key_id = listed.expect("the key is listed")["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    organization
        .master()
        .delete(&format!("/keys/{key_id}"))
        .send()
        .expect_status(200);
    // Events stored from now on must not reach it, not even directly after the revocation.
    organization.project().store(event());
    assert_eq!(reason_for_end(&mut stream), "key_revoked");
}

fn a_deleted_tier_ends_the_streams_of_its_tokens(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let master = organization.master();
    master
        .post("/viewer-tiers")
        .json(json!({"name": "support"}))
        .send()
        .expect_status(201);
    let viewer = organization.viewer("tenant-1", "support");
    let id = organization.project().store(event());
    let mut stream = viewer.get("/events/feed").open_events();
    assert_eq!(next_id(&mut stream), id);
    master.delete("/viewer-tiers/support").send().expect_status(200);
    assert_eq!(reason_for_end(&mut stream), "invalid_token");
}

fn a_signal_ends_streams_and_polls(database: DatabaseKind) {
    let server = Server::start(&Database::create(database), &[]);
    let organization = Organization::create(&server, "enterprise");
    let project = organization.project();
    let id = project.store(event());
    let cursor = end_of(&project);
    let mut streams: Vec<_> = (0..20)
        .map(|_| project.get("/events/feed").open_events())
        .collect();
    streams
        .iter_mut()
        .for_each(|stream| assert_eq!(next_id(stream), id));
    thread::scope(|scope| {
        let client = project.with_own_connections();
        let poll = scope.spawn(move || super::page(&client, &[("after", &cursor), ("wait", "60")]));
        wait_for_waiting(&server, 21);
        let finished = server.stop();
        assert_eq!(finished.exit, Exit::Code(0), "{finished:?}");
        assert_eq!(poll.join().expect("the poll is answered")["events"], json!([]));
    });
    for stream in &mut streams {
        assert_eq!(stream.next(Deadline::seconds(30)), Err(Next::End));
    }
}

/// Stores about `mebibytes` MiB in large events and returns their number.
fn store_mebibytes(client: &Client, mebibytes: usize) -> usize {
    let large = event_with(json!({"metadata": {"padding": "x".repeat(40_000)}}));
    for _ in 0..mebibytes {
        client.store_all(vec![large.clone(); 25]);
    }
    mebibytes * 25
}

fn a_reader_that_stalls_holds_neither_memory_nor_the_writer(database: DatabaseKind) {
    const STALLED: usize = 20;
    const MEBIBYTES: usize = 24;
    /// Few, because even a busy machine must store them within a minute.
    const MORE_MEBIBYTES: usize = 4;
    const GROWTH_BYTES_MAX: u64 = 150 << 20;
    let server = Server::start(&Database::create(database), &[]);
    let project = Organization::create(&server, "enterprise").project();
    let count = store_mebibytes(&project, MEBIBYTES);
    let before = server.memory_bytes();
    let mut streams: Vec<_> = (0..STALLED)
        .map(|_| project.get("/events/feed").open_events())
        .collect();
    // Each reads its first event and then stalls.
    let first: Vec<String> = streams.iter_mut().map(next_id).collect();
    assert!(first.iter().all(|id| *id == first[0]));
    let count = count + store_mebibytes(&project, MORE_MEBIBYTES);
    let newest = project.store(event());
    // Each socket buffers a few megabytes of these; the server buffers nothing of the rest.
    let growth = server.memory_bytes().saturating_sub(before);
    assert!(
        growth < GROWTH_BYTES_MAX,
        "{growth} bytes for {STALLED} readers of {MEBIBYTES} MiB"
    );
    // One of them continues to read and has missed nothing. The server breaks off a stream that is not read for a
    // minute, so the requests above did not wait for the stalled readers.
    let mut stream = streams.swap_remove(0);
    let rest = (0..count).map(|_| next_id(&mut stream));
    let followed: Vec<String> = first[..1].iter().cloned().chain(rest).collect();
    assert_eq!(followed.last(), Some(&newest));
    assert_eq!(followed, ids(&everything(&project, &[("limit", "200")]).0));
}
