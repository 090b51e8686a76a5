//! Browsers: what a viewer token may read answers other origins, and nothing else does.

use audit_tests::{
    Client, Database, DatabaseKind, Organization, RawAnswer, Server, event, on_both_databases,
};

const ORIGIN: &str = "https://app.example.com";

fn preflight(client: &Client, path: &str, method: &str) -> RawAnswer {
    client
        .options(path)
        .header("origin", ORIGIN)
        .header("access-control-request-method", method)
        .header("access-control-request-headers", "authorization")
        .send_raw()
}

/// The paths that pages may read, `ID` for an event's.
const PATHS: [&str; 8] = [
    "/events",
    "/events/summary",
    "/events/feed",
    "/events/export",
    "/events/ID",
    "/events/ID/proof",
    "/events/ID/receipt",
    "/log/completeness",
];

/// The paths with the id of an event.
fn paths(id: &str) -> [String; PATHS.len()] {
    PATHS.map(|path| path.replace("ID", id))
}

/// Stores an event of which there is a proof.
fn signed_event(organization: &Organization) -> String {
    let stored = organization.project().post("/events").header("prefer", "receipt");
    stored.json(event()).send().expect_status(201).ids().remove(0)
}

fn get_from_page(client: &Client, path: &str) -> RawAnswer {
    client.get(path).header("origin", ORIGIN).send_raw()
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
    a_preflight_for_anything_else_is_refused,
    a_viewer_reads_from_any_origin,
    keys_do_not_work_in_browsers,
    no_other_route_answers_other_origins,
    a_response_says_that_it_depends_on_the_origin_also_to_a_refused_one,
}

fn a_preflight_for_reading_events_is_answered(database: DatabaseKind) {
    let client = Organization::fresh(database).anonymous().clone();
    for path in paths("evt_01ARZ3NDEKTSV4RRFFQ69G5FAV") {
        let answer = preflight(&client, &path, "GET");
        assert_eq!(answer.status, 204, "{answer:?}");
        assert!(allows_origin(&answer), "{answer:?}");
        let methods = answer.header("access-control-allow-methods");
        assert_eq!(methods, Some("GET, HEAD"), "{path}");
        let headers = answer.header("access-control-allow-headers").unwrap_or_default();
        let headers: Vec<&str> = headers.split(", ").collect();
        for header in ["authorization", "last-event-id"] {
            assert!(headers.contains(&header), "{path}: {headers:?}");
        }
    }
}

fn a_preflight_for_anything_else_is_refused(database: DatabaseKind) {
    let client = Organization::fresh(database).anonymous().clone();
    for path in PATHS {
        let answer = preflight(&client, path, "POST");
        assert_eq!(answer.status, 405, "{answer:?}");
        let allow = if path == "/events" {
            "POST, GET, HEAD"
        } else {
            "GET, HEAD"
        };
        assert_eq!(answer.header("allow"), Some(allow));
        assert_no_cors(&answer);
    }
}

fn a_viewer_reads_from_any_origin(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let id = signed_event(&organization);
    let viewer = organization.viewer("tenant-1", "full");
    for path in paths(&id) {
        let answer = get_from_page(&viewer, &path);
        assert_eq!(answer.status, 200, "{path}");
        assert!(allows_origin(&answer), "{answer:?}");
        assert_eq!(answer.header("access-control-allow-credentials"), None);
        let refused = viewer
            .get(&path)
            .query("no_such_parameter", "0")
            .header("origin", ORIGIN)
            .send_raw();
        assert_eq!(refused.status, 400);
        assert!(allows_origin(&refused), "a page can read the error: {refused:?}");
    }
    let request = viewer.get("/events/feed").header("origin", ORIGIN);
    let stream = request.header("accept", "text/event-stream").open();
    assert_eq!(stream.header("content-type"), Some("text/event-stream"));
    assert_eq!(stream.header("access-control-allow-origin"), Some("*"));
}

fn keys_do_not_work_in_browsers(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    for path in paths(&organization.project().store(event())) {
        assert_no_cors(&get_from_page(&organization.project(), &path));
        assert_no_cors(&get_from_page(&organization.master(), &path));
    }
}

fn no_other_route_answers_other_origins(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    for (path, method) in [
        ("/keys", "GET"),
        ("/viewer-tokens", "POST"),
        ("/redaction/rules", "GET"),
        ("/projects", "GET"),
        ("/log/checkpoint", "GET"),
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
    for path in ["/keys", "/log/checkpoint"] {
        assert_no_cors(&get_from_page(&viewer, path));
    }
    assert_no_cors(
        &organization
            .anonymous()
            .request("GET", "/healthz")
            .header("origin", ORIGIN)
            .send_raw(),
    );
}

fn a_response_says_that_it_depends_on_the_origin_also_to_a_refused_one(database: DatabaseKind) {
    let own = Database::create(database);
    let server = Server::start(&own, &[("AUDIT_CORS_ORIGINS", "https://other.example.com")]);
    let organization = Organization::create(&server, "enterprise");
    let id = signed_event(&organization);
    let viewer = organization.viewer("tenant-1", "full");
    for path in paths(&id) {
        for answer in [get_from_page(&viewer, &path), viewer.get(&path).send_raw()] {
            assert_eq!(answer.status, 200, "{answer:?}");
            assert_no_cors(&answer);
            let vary = answer.header("vary").unwrap_or_default();
            assert!(vary.ends_with("Origin"), "{answer:?}");
        }
    }
}
