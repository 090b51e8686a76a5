//! One log line per request, without confidential data.

use audit_tests::{Database, DatabaseKind, Organization, Server, event_with, on_both_databases};
use serde_json::json;

on_both_databases! {
    a_request_is_one_line_with_its_id_method_route_and_status,
    no_key_token_or_body_is_ever_logged,
}

fn a_request_is_one_line_with_its_id_method_route_and_status(database: DatabaseKind) {
    let server = Server::start(&Database::create(database), &[("RUST_LOG", "info")]);
    let project = Organization::create(&server, "enterprise").project();
    let id = project.store(event_with(json!({})));
    let answer = project.get(&format!("/events/{id}")).send().expect_status(200);
    let request_id = answer.text("request_id");
    let log = server.stop().stderr;
    let lines: Vec<&str> = log.lines().filter(|line| line.contains(&request_id)).collect();
    assert_eq!(lines.len(), 1, "{log}");
    for part in ["GET", "/api/v1/events/", "200"] {
        assert!(lines[0].contains(part), "{part} in {}", lines[0]);
    }
}

fn no_key_token_or_body_is_ever_logged(database: DatabaseKind) {
    let server = Server::start(&Database::create(database), &[("RUST_LOG", "debug")]);
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
