//! `POST /events` with JSON lines.

use audit_tests::{
    Client, DatabaseKind, Organization, Response, Stream, event, event_with, on_both_databases,
};
use serde_json::{Value, json};

const NDJSON: &str = "application/x-ndjson";

fn named(name: &str) -> String {
    event_with(json!({"actor": {"name": name}})).to_string()
}

fn post(client: &Client, body: impl Into<Vec<u8>>) -> Response {
    let request = client.post("/events").header("content-type", NDJSON);
    request.raw(body).send()
}

fn names(client: &Client, ids: &[String]) -> Vec<Value> {
    let name = |id: &String| client.event(id)["actor"]["name"].clone();
    ids.iter().map(name).collect()
}

on_both_databases! {
    each_line_is_an_event,
    empty_lines_line_ends_and_a_byte_order_mark_are_skipped,
    the_valid_lines_are_stored_and_the_others_reported,
    lines_without_a_valid_event_are_refused_and_name_every_fault,
    a_thousand_lines_are_stored_and_one_more_is_refused_whole,
    lines_are_a_batch_also_where_there_is_one,
    no_line_is_no_event,
    every_name_of_the_content_type_is_taken,
    other_content_types_are_refused_with_both_names,
    a_stream_takes_lines,
}

fn each_line_is_an_event(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let keyed = event_with(json!({"idempotency_key": "k", "actor": {"name": "a"}})).to_string();
    let response = post(&project, format!("{keyed}\n{}\n{keyed}", named("b"))).expect_status(201);
    assert_eq!(names(&project, &response.ids()), ["a", "b", "a"]);
    assert_eq!(response["repeated_count"], 1);
    assert_eq!(project.count(), 2);
}

fn empty_lines_line_ends_and_a_byte_order_mark_are_skipped(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let body = format!("\u{feff}{}\r\n\r\n \n{}\r\n\n", named("a"), named("b"));
    let response = post(&project, body).expect_status(201);
    assert_eq!(names(&project, &response.ids()), ["a", "b"]);
    assert!(response.body().get("errors").is_none(), "{response:?}");
    // The body is JSON, and the mark is skipped there too.
    let single = project
        .post("/events")
        .raw_json(format!("\u{feff}{}", named("c")));
    assert_eq!(names(&project, &single.send().expect_status(201).ids()), ["c"]);
    // A mark elsewhere is no JSON.
    let response = post(&project, format!("{}\n\u{feff}{}", named("d"), named("e"))).expect_status(201);
    assert_eq!(response.list("errors")[0]["index"], 1);
}

fn the_valid_lines_are_stored_and_the_others_reported(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let robot = event_with(json!({"actor": {"type": "robot"}}));
    let body = format!(
        "{}\n{robot}\n\n{{\"action\": broken\n{}\n7\n[{}]\n{}",
        named("a"),
        named("b"),
        event(),
        event_with(json!({"action": 5, "category": "none"}))
    );
    let response = post(&project, body).expect_status(201);
    assert_eq!(names(&project, &response.ids()), ["a", "b"]);
    let fault = |error: &Value| (error["index"].clone(), error["details"][0]["field"].clone());
    let faults: Vec<_> = response.list("errors").iter().map(fault).collect();
    assert_eq!(
        faults,
        [
            (json!(1), json!("actor.type")),
            (json!(2), json!("event")),
            (json!(4), json!("event")),
            (json!(5), json!("event")),
            (json!(6), json!("action")),
        ]
    );
    assert_eq!(project.count(), 2);
}

fn lines_without_a_valid_event_are_refused_and_name_every_fault(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let robot = event_with(json!({"actor": {"type": "robot"}}));
    let response = post(&project, format!("{robot}\n{{\n"));
    let response = response.expect_invalid(&["[0].actor.type", "[1].event"]);
    let message = response.message_on("[1].event");
    assert!(message.starts_with("must be valid JSON"), "{message}");
    assert_eq!(project.count(), 0);
}

fn a_thousand_lines_are_stored_and_one_more_is_refused_whole(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let line = format!("{}\n", event());
    let response = post(&project, line.repeat(1_001)).expect_invalid(&["body"]);
    let message = response.message_on("body");
    assert!(message.contains("1000") && message.contains("1001"), "{message}");
    assert_eq!(project.count(), 0);
    let response = post(&project, line.repeat(1_000) + &"\n".repeat(1_000)).expect_status(201);
    assert_eq!(response.ids().len(), 1_000);
    assert_eq!(project.count(), 1_000);
}

fn lines_are_a_batch_also_where_there_is_one(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let robot = event_with(json!({"actor": {"type": "robot"}})).to_string();
    post(&project, robot).expect_invalid(&["[0].actor.type"]);
    post(&project, named("a")).expect_status(201);
    assert_eq!(project.count(), 1);
}

fn no_line_is_no_event(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    for body in ["", "\n\r\n", "\u{feff}"] {
        post(&project, body).expect_invalid(&["body"]);
    }
}

fn every_name_of_the_content_type_is_taken(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let types = [
        NDJSON,
        "application/ndjson",
        "application/jsonl",
        "Application/X-NDJSON; charset=utf-8",
    ];
    for content_type in types {
        let request = project.post("/events").header("content-type", content_type);
        let body = format!("{}\n{}\n", event(), event());
        assert_eq!(
            request.raw(body).send().expect_status(201).ids().len(),
            2,
            "{content_type}"
        );
    }
}

fn other_content_types_are_refused_with_both_names(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    for content_type in ["text/plain", "application/x-ndjson2", "application/json-seq"] {
        let request = project.post("/events").header("content-type", content_type);
        let response = request.raw(event().to_string()).send();
        let response = response.expect_error(415, "unsupported_media_type");
        let message = response["error"]["message"].as_str().unwrap_or_default();
        assert!(
            message.contains("application/json or application/x-ndjson"),
            "{message}"
        );
    }
    // Elsewhere lines are no body.
    let request = project.post("/redaction/test").header("content-type", NDJSON);
    let response = request.raw("{\"event\": {}}").send();
    response.expect_error(415, "unsupported_media_type");
}

fn a_stream_takes_lines(database: DatabaseKind) {
    let stream = Stream::fresh(database);
    let request = stream.post().header("content-type", NDJSON);
    let response = request.raw(format!("{}\n{{}}\n{}\n", event(), event())).send();
    let response = response.expect_status(201);
    assert_eq!(
        (response.ids().len(), &response.list("errors")[0]["index"]),
        (2, &json!(1))
    );
    assert_eq!(stream.state(), ("active".to_owned(), 2));
}
