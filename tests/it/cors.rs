//! Browsers: what a viewer token may read answers other origins, and nothing else does.

use crate::access::{Objects, ROUTES, Route};
use audit_tests::{
    Client, Database, DatabaseKind, Organization, RawResponse, Request, Server, on_both_databases,
};
use std::collections::BTreeSet;

const ORIGIN: &str = "https://app.example.com";

/// The rows that pages may read.
fn viewer_reads() -> impl Iterator<Item = &'static Route> {
    ROUTES.iter().filter(|route| route.is_viewer_read())
}

/// The methods of a path.
fn methods_of(path: &str) -> BTreeSet<&'static str> {
    let routes = ROUTES.iter().filter(|route| route.path == path);
    routes.map(|route| route.method).collect()
}

fn preflight(client: &Client, path: &str, method: &str) -> RawResponse {
    client
        .request("OPTIONS", path)
        .header("origin", ORIGIN)
        .header("access-control-request-method", method)
        .header("access-control-request-headers", "authorization")
        .send_raw()
}

/// The request of a row to an object of its own, from a page.
fn from_page(objects: &Objects, route: &Route, client: &Client) -> Request {
    let object = objects.object(route.target);
    objects.request(route, &object, client).header("origin", ORIGIN)
}

fn allows_origin(response: &RawResponse) -> bool {
    response
        .header("access-control-allow-origin")
        .is_some_and(|origin| origin == "*" || origin == ORIGIN)
}

fn assert_no_cors(response: &RawResponse) {
    let names = response.header_names();
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
    for Route { path, .. } in viewer_reads() {
        let response = preflight(&client, path, "GET");
        assert_eq!(response.status, 204, "{response:?}");
        assert!(allows_origin(&response), "{response:?}");
        let methods = response.header("access-control-allow-methods");
        assert_eq!(methods, Some("GET, HEAD"), "{path}");
        let headers = response
            .header("access-control-allow-headers")
            .unwrap_or_default();
        let headers: Vec<&str> = headers.split(", ").collect();
        for header in ["authorization", "last-event-id"] {
            assert!(headers.contains(&header), "{path}: {headers:?}");
        }
    }
}

fn a_preflight_for_anything_else_is_refused(database: DatabaseKind) {
    let client = Organization::fresh(database).anonymous().clone();
    for Route { path, .. } in viewer_reads() {
        let response = preflight(&client, path, "POST");
        assert_eq!(response.status, 405, "{response:?}");
        let allow: BTreeSet<&str> = response.header("allow").unwrap_or_default().split(", ").collect();
        let mut methods = methods_of(path);
        methods.insert("HEAD");
        assert_eq!(allow, methods, "{path}");
        assert_no_cors(&response);
    }
}

fn a_viewer_reads_from_any_origin(database: DatabaseKind) {
    let objects = Objects::of(Organization::fresh(database));
    let viewer = objects.organization.viewer("tenant-1", "full");
    for route in viewer_reads() {
        let response = from_page(&objects, route, &viewer).send_raw();
        assert_eq!(response.status, 200, "{}", route.path);
        assert!(allows_origin(&response), "{response:?}");
        assert_eq!(response.header("access-control-allow-credentials"), None);
        let refused = from_page(&objects, route, &viewer).query("no_such_parameter", "0");
        let refused = refused.send_raw();
        assert_eq!(refused.status, 400);
        assert!(allows_origin(&refused), "a page can read the error: {refused:?}");
    }
    let request = viewer.get("/events/feed").header("origin", ORIGIN);
    let stream = request.header("accept", "text/event-stream").open();
    assert_eq!(stream.header("content-type"), Some("text/event-stream"));
    assert_eq!(stream.header("access-control-allow-origin"), Some("*"));
}

fn keys_do_not_work_in_browsers(database: DatabaseKind) {
    let objects = Objects::of(Organization::fresh(database));
    let (project, master) = (objects.organization.project(), objects.organization.master());
    for route in viewer_reads() {
        assert_no_cors(&from_page(&objects, route, &project).send_raw());
        assert_no_cors(&from_page(&objects, route, &master).send_raw());
    }
}

fn no_other_route_answers_other_origins(database: DatabaseKind) {
    let objects = Objects::of(Organization::fresh(database));
    let anonymous = objects.organization.anonymous();
    let viewer = objects.organization.viewer("tenant-1", "full");
    let project = objects.organization.project();
    for route in ROUTES.iter().filter(|route| !route.is_viewer_read()) {
        assert_no_cors(&preflight(anonymous, route.path, route.method));
        if route.method == "GET" {
            for client in [&viewer, &project] {
                assert_no_cors(&from_page(&objects, route, client).send_raw());
            }
        }
    }
}

fn a_response_says_that_it_depends_on_the_origin_also_to_a_refused_one(database: DatabaseKind) {
    let own = Database::create(database);
    let server = Server::start(&own, &[("AUDIT_CORS_ORIGINS", "https://other.example.com")]);
    let objects = Objects::of(Organization::create(&server, "enterprise"));
    let viewer = objects.organization.viewer("tenant-1", "full");
    for route in viewer_reads() {
        let object = objects.object(route.target);
        let elsewhere = objects.request(route, &object, &viewer);
        for request in [from_page(&objects, route, &viewer), elsewhere] {
            let response = request.send_raw();
            assert_eq!(response.status, 200, "{response:?}");
            assert_no_cors(&response);
            let vary = response.header("vary").unwrap_or_default();
            assert!(vary.ends_with("Origin"), "{response:?}");
        }
    }
}
