//! Conventions of every route: shapes of errors, methods, content types, request ids.

use crate::access::{Objects, ROUTES, Route};
use audit_tests::{DatabaseKind, Organization, Server, event, on_both_databases};
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpStream;

on_both_databases! {
    an_error_has_code_message_and_details,
    an_unknown_route_is_not_found,
    a_wrong_method_is_refused_with_those_that_are_allowed,
    a_body_of_another_type_is_refused,
    every_route_with_a_body_refuses_what_is_no_json,
    unknown_query_parameters_are_refused_everywhere,
    a_well_formed_request_id_is_kept_and_another_one_replaced,
    every_request_gets_an_id_of_its_own,
    broken_paths_and_queries_are_clear_client_errors,
    what_is_no_http_does_not_disturb_the_server,
    no_error_tells_how_the_server_is_made,
}

fn an_error_has_code_message_and_details(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let response = project.post("/events").json(json!({})).send().expect_status(400);
    let mut members: Vec<_> = response["error"].as_object().expect("an object").keys().collect();
    members.sort();
    assert_eq!(members, ["code", "details", "message"]);
    for detail in response["error"]["details"].as_array().expect("an array") {
        assert!(
            detail["field"].is_string() && detail["message"].is_string(),
            "{detail}"
        );
    }
    let response = project
        .get("/events/evt_00000000000000000000000000")
        .send()
        .expect_error(404, "not_found");
    assert!(
        response["error"].get("details").is_none(),
        "details belong to validation errors"
    );
}

fn an_unknown_route_is_not_found(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    for path in [
        "/api",
        "/api/v1",
        "/api/v2/events",
        "/api/v1/event",
        "/api/v1/events/a/b",
        "/favicon.ico",
    ] {
        project.request("GET", path).send().expect_error(404, "not_found");
        project
            .request("POST", path)
            .json(event())
            .send()
            .expect_error(404, "not_found");
    }
}

fn a_wrong_method_is_refused_with_those_that_are_allowed(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let cases: [(&str, &str, &[&str]); 9] = [
        ("DELETE", "/api/v1/events", &["GET", "HEAD", "POST"]),
        ("PATCH", "/api/v1/events/evt_00000000000000000000000000", &["GET"]),
        ("PUT", "/api/v1/keys", &["GET", "POST"]),
        (
            "PUT",
            "/api/v1/keys/67e55044-10b1-426f-9247-bb680e5fe0c8",
            &["GET", "DELETE"],
        ),
        ("DELETE", "/api/v1/redaction/rules", &["GET", "POST"]),
        (
            "PATCH",
            "/api/v1/redaction/rules/builtin_email",
            &["GET", "PUT", "DELETE"],
        ),
        ("GET", "/api/v1/viewer-tokens", &["POST"]),
        ("PUT", "/api/v1/viewer-tiers/full", &["GET", "PATCH", "DELETE"]),
        ("POST", "/healthz", &["GET", "HEAD"]),
    ];
    for (method, path, allowed) in cases {
        let response = project
            .request(method, path)
            .json(json!({}))
            .send()
            .expect_error(405, "method_not_allowed");
        let allow = response
            .header("allow")
            .unwrap_or_else(|| panic!("no Allow: {response:?}"));
        let offered: Vec<&str> = allow.split(',').map(str::trim).collect();
        for method in allowed {
            assert!(offered.contains(method), "{path} allows {method}: {allow}");
        }
        assert!(!offered.contains(&method), "{path}: {allow}");
    }
}

fn a_body_of_another_type_is_refused(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let body = event().to_string();
    let post = |content_type: &str| {
        organization
            .project()
            .post("/events")
            .header("content-type", content_type)
            .raw(body.clone())
            .send()
    };
    for content_type in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/xml",
        "nonsense",
    ] {
        post(content_type).expect_error(415, "unsupported_media_type");
    }
    organization
        .project()
        .post("/events")
        .raw(body.clone())
        .send()
        .expect_error(415, "unsupported_media_type");
    let master = organization.master();
    master
        .post("/keys")
        .raw(body.clone())
        .send()
        .expect_error(415, "unsupported_media_type");
    let path = "/redaction/rules/builtin_email";
    master
        .put(path)
        .header("content-type", "text/plain")
        .raw("{}")
        .send()
        .expect_error(415, "unsupported_media_type");
    assert_eq!(organization.project().count(), 0);
    post("application/json; charset=utf-8").expect_status(201);
    post("Application/JSON").expect_status(201);
}

fn every_route_with_a_body_refuses_what_is_no_json(database: DatabaseKind) {
    let objects = Objects::of(Organization::fresh(database));
    // Bodies of events are read by themselves: `routes::events::bad_json`.
    let is_read = |route: &&Route| route.has_body() && !route.path.ends_with("/events");
    for route in ROUTES.iter().filter(is_read) {
        let client = objects.client(route);
        let object = objects.object(route.target);
        let path = route.path_to(&object);
        let send = |body: &str| client.request(route.method, &path).raw_json(body).send();
        for body in ["{", "", "nonsense", "{\"a\":1,}"] {
            send(body).expect_invalid(&["body"]);
        }
        for body in ["[]", "5", "null", "\"text\""] {
            send(body).expect_error(400, "validation_error");
        }
    }
}

fn unknown_query_parameters_are_refused_everywhere(database: DatabaseKind) {
    let objects = Objects::of(Organization::fresh(database));
    // What needs no credential is for operators, or of streams, which have their own test.
    for route in ROUTES.iter().filter(|route| !route.is_open()) {
        let request = objects.request(route, "x", &objects.client(route));
        let response = request.query("colour", "red").send();
        assert_eq!(response.status(), 400, "{}", route.name());
        response.expect_invalid(&["colour"]);
    }
    assert_eq!(objects.organization.project().count(), 0);
}

fn a_well_formed_request_id_is_kept_and_another_one_replaced(database: DatabaseKind) {
    let server = Server::shared(database);
    let own = server
        .client()
        .request("GET", "/healthz")
        .send()
        .text("request_id");
    for path in ["/healthz", "/api/v1/events", "/nonsense"] {
        let response = server
            .client()
            .request("GET", path)
            .header("x-request-id", &own)
            .send();
        assert_eq!(response.text("request_id"), own, "{path}");
    }
    let long = format!("req_{}", "x".repeat(5_000));
    for id in ["", "x", "<script>", "req_", "req_a b", "req_\"}", long.as_str()] {
        let response = server
            .client()
            .request("GET", "/healthz")
            .header("x-request-id", id)
            .send();
        assert_ne!(response.text("request_id"), id);
    }
}

fn every_request_gets_an_id_of_its_own(database: DatabaseKind) {
    let client = Server::shared(database).client();
    let ids: std::collections::BTreeSet<String> = (0..20)
        .map(|_| client.request("GET", "/healthz").send().text("request_id"))
        .collect();
    assert_eq!(ids.len(), 20);
}

fn broken_paths_and_queries_are_clear_client_errors(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    for path in [
        "/api/v1/events/%FF",
        "/api/v1/events/%00",
        "/api/v1/events/..%2f..%2fetc",
    ] {
        let status = project.request("GET", path).send().status();
        assert!(matches!(status, 400 | 404), "{path}: {status}");
    }
    for query in ["search=%FF", "limit=%", "search=%00", "cursor=%FF%FE"] {
        let response = project.request("GET", &format!("/api/v1/events?{query}")).send();
        assert!(matches!(response.status(), 200 | 400), "{query}: {response:?}");
    }
    project
        .request("GET", "/api/v1/events?search=%00")
        .send()
        .expect_invalid(&["search"]);
}

fn what_is_no_http_does_not_disturb_the_server(database: DatabaseKind) {
    let server = Server::shared(database);
    let address = server.base_url().trim_start_matches("http://");
    let noise: [&[u8]; 3] = [
        b"nonsense\r\n\r\n",
        b"\x16\x03\x01\x02\x00",
        b"GET / HTTP/1.1\r\nHost: a\r\nBad Header\r\n\r\n",
    ];
    for bytes in noise {
        let mut stream = TcpStream::connect(address).expect("connect");
        stream.write_all(bytes).expect("write");
        stream
            .shutdown(std::net::Shutdown::Write)
            .expect("end the request");
        let mut response = Vec::new();
        let read = stream.read_to_end(&mut response);
        let text = String::from_utf8_lossy(&response);
        assert!(
            read.is_err() || text.is_empty() || text.starts_with("HTTP/1.1 4"),
            "{text}"
        );
    }
    server
        .client()
        .request("GET", "/healthz")
        .send()
        .expect_status(200);
}

fn no_error_tells_how_the_server_is_made(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let responses = [
        project.get("/events").query("cursor", "' OR 1=1 --").send(),
        project.get("/events").query("search", "\"'*(").send(),
        project.get("/events/evt_'").send(),
        project.post("/events").raw_json("{\"action\":").send(),
        project
            .post("/events")
            .json(json!({"action": "x' OR '1'='1"}))
            .send(),
    ];
    for response in responses {
        let text = response.body().to_string();
        for word in [
            "SELECT", "sqlite", "diesel", "postgres", "serde", ".rs", "panicked", "/src/",
        ] {
            assert!(
                !text.to_lowercase().contains(&word.to_lowercase()),
                "{word} in {text}"
            );
        }
    }
}
