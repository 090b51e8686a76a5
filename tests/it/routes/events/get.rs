//! The shape and the order of a page. Filters, search and paging have files of their own.

use audit_tests::{DatabaseKind, Organization, event, event_with, on_both_databases};
use serde_json::json;

on_both_databases! {
    nothing_stored_is_an_empty_last_page,
    a_page_shows_each_event_as_reading_it_alone_does,
    the_latest_event_comes_first_whenever_it_arrived,
    a_page_holds_fifty_events_by_default,
}

fn nothing_stored_is_an_empty_last_page(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let response = project.get("/events").send().expect_status(200);
    assert_eq!(response["events"], json!([]));
    assert_eq!(response["has_more"], false);
    assert_eq!(
        response.body().get("cursor"),
        Some(&json!(null)),
        "the cursor is null, not absent"
    );
}

fn a_page_shows_each_event_as_reading_it_alone_does(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    project.store(event_with(
        json!({"metadata": {"a": 1}, "actor": {"email": "jane@example.com"}}),
    ));
    project.store(event());
    for listed in project.find(&[]) {
        assert_eq!(project.event(listed["id"].as_str().expect("an id")), listed);
    }
}

fn the_latest_event_comes_first_whenever_it_arrived(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let at = |time: &str| project.store(event_with(json!({"occurred_at": time})));
    let middle = at("2026-01-15T10:30:00.500Z");
    let last = at("2026-01-15T10:30:00.501Z");
    let first = at("2025-01-15T10:30:00Z");
    let also_middle = at("2026-01-15T12:30:00.5+02:00");
    assert_eq!(project.find_ids(&[]), [last, also_middle, middle, first]);
}

fn a_page_holds_fifty_events_by_default(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    project.store_all(vec![event(); 100]);
    project.store_all(vec![event(); 100]);
    project.store(event());
    assert_eq!(project.find(&[]).len(), 50);
    assert_eq!(project.find(&[("limit", "1")]).len(), 1);
    let response = project
        .get("/events")
        .query("limit", "200")
        .send()
        .expect_status(200);
    assert_eq!(response.list("events").len(), 200);
    assert_eq!(response["has_more"], true);
    assert!(response["cursor"].is_string());
}
