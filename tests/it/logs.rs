//! The log: one line per request, without confidential data, as text and as JSON.

use audit_tests::{
    Database, DatabaseKind, Organization, Server, Stream, command_line_with, event, event_with,
    on_both_databases,
};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;

on_both_databases! {
    a_request_is_one_line_with_its_id_method_route_and_status,
    no_key_token_or_body_is_ever_logged,
    the_line_of_a_request_names_key_project_client_and_bytes,
}

const JSON: (&str, &str) = ("AUDIT_LOG_FORMAT", "json");

fn a_request_is_one_line_with_its_id_method_route_and_status(database: DatabaseKind) {
    let server = Server::start(&Database::create(database), &[("RUST_LOG", "info")]);
    let project = Organization::create(&server, "enterprise").project();
    let id = project.store(event_with(json!({})));
    let response = project.get(&format!("/events/{id}")).send().expect_status(200);
    let request_id = response.text("request_id");
    let log = server.stop().stderr;
    let lines: Vec<&str> = log.lines().filter(|line| line.contains(&request_id)).collect();
    assert_eq!(lines.len(), 1, "{log}");
    for part in ["GET", "/api/v1/events/", "200"] {
        assert!(lines[0].contains(part), "{part} in {}", lines[0]);
    }
}

fn no_key_token_or_body_is_ever_logged(database: DatabaseKind) {
    for format in ["text", "json"] {
        assert_nothing_confidential_is_logged(database, format);
    }
}

fn assert_nothing_confidential_is_logged(database: DatabaseKind, format: &str) {
    let environment = [("RUST_LOG", "debug"), ("AUDIT_LOG_FORMAT", format)];
    let server = Server::start(&Database::create(database), &environment);
    let printed_at_start = server.stdout();
    let organization = Organization::create(&server, "enterprise");
    let token = organization.viewer_token("tenant-1", "full");
    let created_key = organization.create_key("test");
    let body = event_with(json!({"actor": {"name": "Bodyword"}, "metadata": {"note": "jane@example.com"}}));
    organization.project().store(body.clone());
    organization
        .with_credential(&token)
        .find(&[("search", "queryword"), ("actor_id", "jane@example.com")]);
    organization
        .project()
        .post("/events")
        .json(json!([body, {"action": "Bodyword"}]))
        .send()
        .expect_status(201);
    organization
        .project()
        .post("/events")
        .raw_json("{\"Bodyword\":")
        .send()
        .expect_status(400);
    organization
        .with_credential("pk_live_mistyped")
        .get("/events")
        .send()
        .expect_status(401);
    let finished = server.stop();
    let log = finished.stderr;
    assert!(log.contains("/api/v1/events"), "requests are logged: {log}");
    assert_eq!(finished.stdout, printed_at_start, "logs go to standard error");
    let secrets = [
        organization.master_key.as_str(),
        &organization.project_key,
        &created_key,
        &token,
        "pk_live_mistyped",
        "Bodyword",
        "jane@example.com",
    ];
    for secret in secrets {
        assert!(!log.contains(secret), "{secret} in {log}");
    }
}

/// Every line of a log in JSON.
fn objects(log: &str) -> Vec<Value> {
    let object = |line: &str| {
        let object: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        for member in ["time", "level", "target", "message"] {
            assert!(object[member].is_string(), "{member}: {line}");
        }
        object
    };
    log.lines().map(object).collect()
}

/// The members of the access log, besides those that every line has.
const MEMBERS: [&str; 10] = [
    "client",
    "duration_ms",
    "key_id",
    "method",
    "project_id",
    "request_bytes",
    "request_id",
    "response_bytes",
    "route",
    "status",
];

/// The lines of the access log of one route.
fn requests(objects: &[Value], route: &str) -> Vec<Value> {
    let lines = objects.iter().filter(|object| object["route"] == route);
    let mut requests = Vec::new();
    for line in lines {
        assert_eq!(line["target"], "audit_http::access");
        let members = line.as_object().expect("an object").keys();
        let members: Vec<_> = members
            .filter(|name| !["time", "level", "target", "message"].contains(&name.as_str()))
            .collect();
        assert_eq!(members, MEMBERS);
        assert!(line["duration_ms"].is_number(), "{line}");
        requests.push(line.clone());
    }
    requests
}

fn the_line_of_a_request_names_key_project_client_and_bytes(database: DatabaseKind) {
    let trusting = ("AUDIT_TRUSTED_PROXIES", "127.0.0.1");
    let server = Server::start(&Database::create(database), &[JSON, trusting]);
    let organization = Organization::create(&server, "enterprise");
    let project_id = organization.project_id.as_str();
    let keys = organization
        .master()
        .get("/keys")
        .query("project_id", project_id)
        .send();
    let key_id = keys.expect_status(200).list("keys")[0]["id"].clone();
    let project = organization.project().with_address("192.0.2.7");
    let body = event().to_string();
    let stored = project
        .post("/events")
        .raw_json(body.clone())
        .send()
        .expect_status(201);
    // The second one is admitted by the cache.
    project
        .post("/events")
        .raw_json(body.clone())
        .send()
        .expect_status(201);
    let read = organization
        .viewer("tenant-1", "full")
        .get("/events")
        .send()
        .expect_status(200);
    let export = project.get("/events/export").send_raw();
    Stream::of(&server.client()).store(event());
    let master = organization
        .master()
        .get("/alerts")
        .query("project_id", project_id);
    master.send().expect_status(200);
    let mistyped = organization
        .with_credential("pk_live_mistyped")
        .get("/events/feed");
    mistyped.send().expect_status(401);

    let objects = objects(&server.stop().stderr);
    let events = requests(&objects, "/api/v1/events");
    assert_eq!(events.len(), 3, "{events:?}");
    for line in &events[..2] {
        assert_eq!(line["method"], "POST");
        assert_eq!(line["status"], 201);
        assert_eq!(line["client"], "192.0.2.7");
        assert_eq!(line["key_id"], key_id);
        assert_eq!(line["project_id"], project_id);
        assert_eq!(line["request_bytes"], body.len());
    }
    assert_eq!(events[0]["request_id"], stored.text("request_id"));
    assert_eq!(events[0]["response_bytes"], stored.raw.bytes.len());
    // A viewer token has a project, and no key.
    assert_eq!(events[2]["request_id"], read.text("request_id"));
    assert_eq!(events[2]["key_id"], Value::Null);
    assert_eq!(events[2]["project_id"], project_id);
    assert_eq!(events[2]["response_bytes"], read.raw.bytes.len());
    let one = |route: &str| {
        let mut lines = requests(&objects, route);
        assert_eq!(lines.len(), 1, "{lines:?}");
        lines.remove(0)
    };
    // Its size is known at its end.
    let exported = one("/api/v1/events/export");
    assert_eq!(exported["response_bytes"], export.bytes.len());
    assert_eq!(exported["key_id"], key_id);
    let stream = one("/api/v1/streams/{token}/events");
    assert_eq!(
        (&stream["key_id"], &stream["project_id"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(stream["client"], "127.0.0.1");
    let master = one("/api/v1/alerts");
    assert!(
        master["key_id"].is_string() && master["key_id"] != key_id,
        "{master}"
    );
    assert_eq!(master["project_id"], project_id, "the one that the request names");
    assert_eq!(one("/api/v1/events/feed")["key_id"], Value::Null);
}

#[test]
fn a_revoked_key_is_named_when_it_is_refused() {
    let server = Server::start(&Database::create(DatabaseKind::Sqlite), &[JSON]);
    let organization = Organization::create(&server, "enterprise");
    let key = organization.create_key("live");
    let keys = organization.master().get("/keys").send().list("keys");
    let listed = keys.iter().find(|listed| listed["prefix"] == key[..12]);
    let id = listed.expect("the key is listed")["id"].clone();
    organization.revoke_key(&key);
    let leaked = organization.with_credential(&key);
    leaked.get("/events").send().expect_error(401, "key_revoked");
    leaked
        .post("/events")
        .json(event())
        .send()
        .expect_error(401, "key_revoked");
    let refused = requests(&objects(&server.stop().stderr), "/api/v1/events");
    assert_eq!(refused.len(), 2, "{refused:?}");
    for line in refused {
        assert_eq!((&line["status"], &line["key_id"]), (&json!(401), &id));
    }
}

/// Sends bytes, and reads until the server closes the connection.
fn send(server: &Server, bytes: &str) -> String {
    let mut stream = TcpStream::connect(server.base_url().trim_start_matches("http://")).expect("connect");
    stream.write_all(bytes.as_bytes()).expect("send");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("read");
    response
}

#[test]
fn the_bytes_of_a_chunked_body_are_those_that_were_read() {
    let server = Server::start(&Database::create(DatabaseKind::Sqlite), &[JSON]);
    let organization = Organization::create(&server, "enterprise");
    let body = event().to_string();
    let head = "POST /api/v1/events HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Type: application/json\r\n";
    let chunked = format!(
        "Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n",
        body.len()
    );
    let key = &organization.project_key;
    let response = send(
        &server,
        &format!("{head}Authorization: Bearer {key}\r\n{chunked}"),
    );
    assert!(response.starts_with("HTTP/1.1 201 "), "{response}");
    let response = send(&server, &format!("{head}{chunked}"));
    assert!(response.starts_with("HTTP/1.1 401 "), "{response}");
    let lines = requests(&objects(&server.stop().stderr), "/api/v1/events");
    let bytes: Vec<_> = lines.iter().map(|line| line["request_bytes"].clone()).collect();
    assert_eq!(bytes, [json!(body.len()), json!(0)]);
}

#[test]
fn the_last_error_is_a_line_of_json_whatever_the_filter_says() {
    let arguments = [
        "serve",
        "--listen",
        "\"quoted\"",
        "--database-url",
        "sqlite:/nonexistent/a.db",
    ];
    let refusal = command_line_with(&arguments, &[JSON, ("RUST_LOG", "off")]).refusal();
    let lines = objects(&refusal);
    assert_eq!(lines.len(), 1, "{refusal}");
    assert_eq!(lines[0]["level"], "ERROR");
    let message = lines[0]["message"].as_str().expect("a message");
    assert!(message.contains("cannot listen on \"quoted\""), "{message}");
}
