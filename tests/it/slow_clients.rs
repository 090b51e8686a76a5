//! Clients that announce, and do not send or do not read: others do not notice.

use audit_tests::{
    Client, Database, DatabaseKind, Organization, Server, Stream, allow_many_open_files, event, event_with,
    on_both_databases,
};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;

on_both_databases! {
    bodies_that_are_announced_and_not_sent_hold_nothing,
    a_bad_credential_is_reported_before_the_body_is_sent,
    a_chunked_body_of_a_refused_request_is_not_waited_for,
    a_client_that_sends_its_body_to_the_end_gets_the_refusal,
    a_connection_goes_on_after_a_refusal_when_the_body_has_arrived,
    each_request_to_a_stream_counts_before_its_body_is_read,
    a_page_ends_at_a_megabyte_and_the_next_one_continues,
    responses_that_are_not_read_fill_the_share_of_their_reader_alone,
    a_method_of_a_hundred_kilobytes_is_cut_in_the_log,
    no_cache_stores_what_the_service_returns,
}

fn connect(server: &Server) -> TcpStream {
    TcpStream::connect(server.base_url().trim_start_matches("http://")).expect("connect")
}

/// Sends the head of a request that announces a body of `bytes`.
fn announce(server: &Server, path: &str, credential: Option<&str>, bytes: usize) -> TcpStream {
    let mut stream = connect(server);
    let credential = credential.map(|key| format!("Authorization: Bearer {key}\r\n"));
    let head = format!(
        "POST /api/v1{path} HTTP/1.1\r\nHost: test\r\n{}Content-Type: application/json\r\nContent-Length: {bytes}\r\n\r\n",
        credential.unwrap_or_default()
    );
    stream.write_all(head.as_bytes()).expect("send a head");
    stream
}

/// Reads the head and the body of one response.
fn response(stream: &mut TcpStream) -> (String, Value) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream
            .read_exact(&mut byte)
            .expect("the head of a response arrives");
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).expect("a head is text").to_lowercase();
    let length = head
        .split("content-length: ")
        .nth(1)
        .expect("a body has a length");
    let length = length
        .split("\r\n")
        .next()
        .expect("a line")
        .parse()
        .expect("a number");
    let mut body = vec![0; length];
    stream
        .read_exact(&mut body)
        .expect("the body of a response arrives");
    (head, serde_json::from_slice(&body).expect("a response is JSON"))
}

fn bodies_that_are_announced_and_not_sent_hold_nothing(database: DatabaseKind) {
    allow_many_open_files();
    let server = Server::start(&Database::create(database), &[]);
    let (idle, other) = (
        Organization::create(&server, "enterprise"),
        Organization::create(&server, "enterprise"),
    );
    let stream = Stream::of(idle.anonymous());
    let path = format!("/streams/{}/events", stream.token);
    let key = Some(idle.project_key.as_str());
    let mut waiting = Vec::new();
    for _ in 0..250 {
        waiting.push(announce(&server, "/events", key, 16 * 1024));
        waiting.push(announce(&server, "/events", key, 1024 * 1024));
        waiting.push(announce(&server, "/events", None, 16 * 1024));
    }
    for _ in 0..10 {
        waiting.push(announce(&server, &path, None, 1024 * 1024));
    }
    other.project().store(event());
    idle.project().store(event());
    stream.store(event());
    drop(waiting);
}

fn a_bad_credential_is_reported_before_the_body_is_sent(database: DatabaseKind) {
    let server = Server::shared(database);
    let organization = Organization::fresh(database);
    let viewer = organization.viewer_token("tenant-1", "full");
    for (path, credential, status, code) in [
        ("/events", None, 401, "unauthorized"),
        ("/events", Some("pk_live_mistyped"), 401, "invalid_api_key"),
        ("/events", Some(viewer.as_str()), 403, "forbidden"),
        ("/keys", Some(organization.project_key.as_str()), 403, "forbidden"),
        ("/viewer-tokens", Some(viewer.as_str()), 403, "forbidden"),
    ] {
        let mut stream = announce(server, path, credential, 1_000_000);
        let (head, body) = response(&mut stream);
        assert!(head.starts_with(&format!("http/1.1 {status} ")), "{path}: {head}");
        assert!(head.contains("connection: close"), "{path}: {head}");
        assert_eq!(body["error"]["code"], code, "{path}");
    }
}

fn a_chunked_body_of_a_refused_request_is_not_waited_for(database: DatabaseKind) {
    let server = Server::shared(database);
    for (path, status) in [("/events", 401), ("/nothing", 404)] {
        let mut stream = connect(server);
        let request = format!(
            "POST /api/v1{path} HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n[\r\n"
        );
        stream
            .write_all(request.as_bytes())
            .expect("send a head and a chunk");
        let (head, _) = response(&mut stream);
        assert!(head.starts_with(&format!("http/1.1 {status} ")), "{path}: {head}");
        assert!(head.contains("connection: close"), "{path}: {head}");
        let mut rest = Vec::new();
        stream
            .read_to_end(&mut rest)
            .expect("the server closes the connection");
        assert_eq!(rest, b"");
    }
}

fn a_client_that_sends_its_body_to_the_end_gets_the_refusal(database: DatabaseKind) {
    let server = Server::shared(database);
    let mut stream = announce(server, "/events", Some("pk_live_mistyped"), 1_000_000);
    stream.write_all(&[b' '; 1_000_000]).expect("the rest is taken");
    let (head, _) = response(&mut stream);
    assert!(head.starts_with("http/1.1 401 "), "{head}");
}

fn a_connection_goes_on_after_a_refusal_when_the_body_has_arrived(database: DatabaseKind) {
    let server = Server::shared(database);
    let organization = Organization::fresh(database);
    let mut stream = connect(server);
    for body in ["{}", "[]", "{"] {
        let request = format!(
            "POST /api/v1/events HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            organization.project_key,
            body.len()
        );
        stream
            .write_all(request.as_bytes())
            .expect("the connection is open");
        let (head, body) = response(&mut stream);
        assert!(
            head.starts_with("http/1.1 400 ") && !head.contains("connection: close"),
            "{head}"
        );
        assert_eq!(body["error"]["code"], "validation_error");
    }
}

fn each_request_to_a_stream_counts_before_its_body_is_read(database: DatabaseKind) {
    let own = Database::create(database);
    let server = Server::start(&own, &[("AUDIT_STREAM_REQUESTS_PER_MINUTE", "3")]);
    let stream = Stream::of(&server.client());
    stream.store(event());
    stream
        .post()
        .raw_json("{")
        .send()
        .expect_error(400, "validation_error");
    stream.send(json!({})).expect_error(400, "validation_error");
    let path = format!("/streams/{}/events", stream.token);
    let mut unsent = announce(&server, &path, None, 1_000_000);
    let (head, body) = response(&mut unsent);
    assert!(
        head.starts_with("http/1.1 429 ") && head.contains("retry-after: "),
        "{head}"
    );
    assert_eq!(body["error"]["code"], "rate_limited");
}

/// An event of about this size.
fn padded(bytes: usize) -> Value {
    event_with(json!({"metadata": {"padding": "x".repeat(bytes)}}))
}

fn a_page_ends_at_a_megabyte_and_the_next_one_continues(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    let mut stored = Vec::new();
    for _ in 0..4 {
        stored.extend(project.store_all(vec![padded(60_000); 12]));
    }
    stored.reverse();
    for reader in [project.clone(), organization.viewer("tenant-1", "full")] {
        let pages = reader.pages(&[("limit", "200")]);
        let counts: Vec<_> = pages.iter().map(Vec::len).collect();
        assert_eq!(counts, [18, 18, 12]);
        let ids: Vec<_> = pages
            .iter()
            .flatten()
            .map(|event| event["id"].as_str().expect("an id"))
            .collect();
        assert_eq!(ids, stored);
    }
}

/// Asks for pages with a credential and does not read them, until one is refused with 503.
fn stall(server: &Server, credential: &str) -> Vec<TcpStream> {
    let request = format!(
        "GET /api/v1/events?limit=200 HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer {credential}\r\n\r\n"
    );
    // Each is read up to its first bytes, so that the next one is asked for when this one is held.
    let mut unread = Vec::new();
    let refused = (0..200).find_map(|_| {
        let mut stream = connect(server);
        stream.write_all(request.as_bytes()).expect("send a request");
        let mut beginning = [0; 12];
        stream.read_exact(&mut beginning).expect("a response begins");
        if &beginning == b"HTTP/1.1 200" {
            unread.push(stream);
            return None;
        }
        Some(beginning)
    });
    assert_eq!(
        refused.as_ref(),
        Some(b"HTTP/1.1 503"),
        "{} responses",
        unread.len()
    );
    unread
}

fn responses_that_are_not_read_fill_the_share_of_their_reader_alone(database: DatabaseKind) {
    let server = Server::start(&Database::create(database), &[]);
    let (stalled, other) = (
        Organization::create(&server, "enterprise"),
        Organization::create(&server, "enterprise"),
    );
    for organization in [&stalled, &other] {
        for _ in 0..2 {
            organization.project().store_all(vec![padded(60_000); 12]);
        }
    }
    let page = |client: Client| client.get("/events").query("limit", "200").send();
    let token = stalled.viewer_token("tenant-1", "full");
    let of_viewer = stall(&server, &token);
    // A second token of the tenant has no share of its own.
    let refused = page(stalled.viewer("tenant-1", "full")).expect_error(503, "unavailable");
    assert!(refused.header("retry-after").is_some());
    // Other readers of the organization still get their pages.
    assert_eq!(
        page(stalled.project()).expect_status(200).list("events").len(),
        18
    );
    page(stalled.viewer("tenant-2", "full")).expect_status(200);
    let of_key = stall(&server, &stalled.project_key);
    page(stalled.project()).expect_error(503, "unavailable");
    assert_eq!(page(other.project()).expect_status(200).list("events").len(), 18);
    stalled.project().store(event());
    drop((of_viewer, of_key));
}

fn a_method_of_a_hundred_kilobytes_is_cut_in_the_log(database: DatabaseKind) {
    let server = Server::start(&Database::create(database), &[("RUST_LOG", "info")]);
    let mut stream = connect(&server);
    let method = "M".repeat(100_000);
    let request = format!("{method} /healthz HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("send a request");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("read the answer");
    assert!(response.starts_with("HTTP/1.1 405 "), "{response}");
    let log = server.stop().stderr;
    let line = log
        .lines()
        .find(|line| line.contains("MMM"))
        .expect("the request is logged");
    assert!(line.len() < 300, "{} characters", line.len());
}

fn no_cache_stores_what_the_service_returns(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    organization.project().store(event());
    let master = organization.master();
    for response in [
        organization.project().get("/events").send_raw(),
        organization.anonymous().get("/events").send_raw(),
        master
            .post("/keys")
            .json(json!({"name": "new", "project_id": organization.project_id}))
            .send_raw(),
        master.get("/keys").send_raw(),
    ] {
        assert_eq!(response.header("cache-control"), Some("no-store"), "{response:?}");
        assert_eq!(
            response.header("x-content-type-options"),
            Some("nosniff"),
            "{response:?}"
        );
    }
}
