//! Browsers: only `GET /events` with a viewer token answers other origins.

use audit_tests::{Client, DatabaseKind, Organization, RawAnswer, event, on_both_databases};

const ORIGIN: &str = "https://app.example.com";

fn preflight(client: &Client, path: &str, method: &str) -> RawAnswer {
    client
        .options(path)
        .header("origin", ORIGIN)
        .header("access-control-request-method", method)
        .header("access-control-request-headers", "authorization")
        .send_raw()
}

fn get_events(client: &Client) -> RawAnswer {
    client.get("/events").header("origin", ORIGIN).send_raw()
}

fn allows_origin(answer: &RawAnswer) -> bool {
    answer
        .header("access-control-allow-origin")
        .is_some_and(|origin| origin == "*" || origin == ORIGIN)
}

fn assert_no_cors(answer: &RawAnswer) {
    let names = answer.header_names();
    assert!(
        !names.iter().any(|name| name.starts_with("access-control-")),
        "{names:?}"
    );
}

on_both_databases! {
    a_preflight_for_reading_events_is_answered,
    a_viewer_reads_from_any_origin,
    keys_do_not_work_in_browsers,
    no_other_route_answers_other_origins,
}

fn a_preflight_for_reading_events_is_answered(database: DatabaseKind) {
    let client = Organization::fresh(database).anonymous().clone();
    let answer = preflight(&client, "/events", "GET");
    assert!(matches!(answer.status, 200 | 204), "{answer:?}");
    assert!(allows_origin(&answer), "{answer:?}");
    let methods = answer.header("access-control-allow-methods").unwrap_or_default();
    assert!(
        methods.split(',').any(|method| method.trim() == "GET"),
        "{methods}"
    );
    assert!(!methods.contains("POST"), "{methods}");
    let headers = answer
        .header("access-control-allow-headers")
        .unwrap_or_default()
        .to_lowercase();
    assert!(headers.contains("authorization"), "{headers}");
}

fn a_viewer_reads_from_any_origin(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    organization.project().store(event());
    let viewer = organization.viewer("tenant-1", "full");
    let answer = get_events(&viewer);
    assert_eq!(answer.status, 200);
    assert!(allows_origin(&answer), "{answer:?}");
    assert_eq!(answer.header("access-control-allow-credentials"), None);
    let refused = viewer
        .get("/events")
        .query("limit", "0")
        .header("origin", ORIGIN)
        .send_raw();
    assert_eq!(refused.status, 400);
    assert!(
        allows_origin(&refused),
        "a page can read why it was refused: {refused:?}"
    );
}

fn keys_do_not_work_in_browsers(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    assert_no_cors(&get_events(&organization.project()));
    assert_no_cors(&get_events(&organization.master()));
}

fn no_other_route_answers_other_origins(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    for (path, method) in [
        ("/keys", "GET"),
        ("/viewer-tokens", "POST"),
        ("/redaction/rules", "GET"),
        ("/projects", "GET"),
    ] {
        assert_no_cors(&preflight(organization.anonymous(), path, method));
    }
    assert_no_cors(
        &organization
            .project()
            .get("/keys")
            .header("origin", ORIGIN)
            .send_raw(),
    );
    let viewer = organization.viewer("tenant-1", "full");
    assert_no_cors(&viewer.get("/keys").header("origin", ORIGIN).send_raw());
    assert_no_cors(
        &organization
            .anonymous()
            .request("GET", "/healthz")
            .header("origin", ORIGIN)
            .send_raw(),
    );
}
