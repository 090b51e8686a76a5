//! `GET /events?id=…`: events by their ids.

use audit_tests::{Client, DatabaseKind, Organization, event, event_with, on_both_databases};
use serde_json::json;

on_both_databases! {
    events_are_found_by_their_ids_in_the_order_of_the_ids,
    the_other_parameters_hold_too,
    pages_of_ids_are_everything_exactly_once,
    an_event_that_the_credential_may_not_read_is_absent,
    every_fault_of_ids_is_named,
    other_routes_take_no_ids,
}

const UNKNOWN: &str = "evt_00000000000000000000000000";

fn of_ids<'a>(ids: impl IntoIterator<Item = &'a String>) -> Vec<(&'a str, &'a str)> {
    ids.into_iter().map(|id| ("id", id.as_str())).collect()
}

/// The ids, the latest first.
fn descending(mut ids: Vec<String>) -> Vec<String> {
    ids.sort();
    ids.reverse();
    ids
}

fn events_are_found_by_their_ids_in_the_order_of_the_ids(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    // They occurred in the other order.
    let at = |day: u32| event_with(json!({"occurred_at": format!("2026-01-{day:02}T00:00:00Z")}));
    let ids = project.store_all((1..=20).rev().map(at).collect());
    for wanted in [&ids[3..4], &ids[2..9], &ids[..]] {
        let mut parameters = of_ids(wanted);
        parameters.extend([("id", UNKNOWN), ("id", wanted[0].as_str())]);
        let found = project.find(&parameters);
        let found_ids = project.find_ids(&parameters);
        assert_eq!(found_ids, descending(wanted.to_vec()));
        assert_eq!(found[0], project.event(&found_ids[0]));
        parameters.push(("order", "asc"));
        let mut ascending = wanted.to_vec();
        ascending.sort();
        assert_eq!(project.find_ids(&parameters), ascending);
    }
    assert_eq!(project.find_ids(&[("id", UNKNOWN)]), [] as [String; 0]);
}

fn the_other_parameters_hold_too(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let ids = project.store_all(vec![
        event_with(json!({"tenant_id": "acme", "occurred_at": "2026-01-01T00:00:00Z"})),
        event_with(json!({"tenant_id": "other", "actor": {"name": "Zebra"}})),
        event(),
    ]);
    let with = |name, value| {
        let mut parameters = of_ids(&ids[..2]);
        parameters.push((name, value));
        project.find_ids(&parameters)
    };
    assert_eq!(with("tenant_id", "acme"), ids[..1]);
    assert_eq!(with("not_tenant_id", "acme"), ids[1..2]);
    assert_eq!(with("search", "zebra"), ids[1..2]);
    assert_eq!(with("end_date", "2026-01-02"), ids[..1]);
    assert_eq!(with("tenant_id", "tenant-1"), [] as [String; 0]);
}

fn pages_of_ids_are_everything_exactly_once(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let ids = project.store_all(vec![event(); 100]);
    for limit in ["1", "7", "99", "100", "200"] {
        let mut parameters = of_ids(&ids);
        parameters.push(("limit", limit));
        let pages = project.pages(&parameters).concat();
        let found: Vec<String> = pages
            .iter()
            .map(|event| event["id"].as_str().expect("an id").to_owned())
            .collect();
        assert_eq!(found, descending(ids.clone()), "{limit}");
    }
    // A page ends at 1 MiB.
    let large = event_with(json!({"metadata": {"p": "x".repeat(60_000)}}));
    let large: Vec<String> = (0..25).map(|_| project.store(large.clone())).collect();
    let pages = project.pages(&[of_ids(&large), vec![("limit", "100")]].concat());
    assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [18, 7]);
    // A cursor belongs to its ids.
    let first = project
        .get("/events")
        .queries(&of_ids(&ids[..3]))
        .query("limit", "1");
    let cursor = first.send().expect_status(200).text("cursor");
    let next = project.get("/events").queries(&of_ids(&ids[1..4]));
    next.query("cursor", &cursor).send().expect_invalid(&["cursor"]);
}

fn an_event_that_the_credential_may_not_read_is_absent(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    let own = project.store_all(vec![
        event(),
        event_with(json!({"category": "security"})),
        event_with(json!({"tenant_id": "other"})),
    ]);
    let sibling = organization.create_project("sibling");
    let sibling = organization.with_credential(&organization.create_key_of(&sibling, "live"));
    let test = organization.test();
    let stranger = Organization::fresh(database);
    let foreign = [&sibling, &test, &stranger.project()].map(|client| client.store(event()));
    let all: Vec<String> = own.iter().chain(&foreign).cloned().collect();
    let find = |client: &Client| client.find_ids(&of_ids(&all));
    assert_eq!(find(&project), descending(own.clone()));
    assert_eq!(find(&sibling), foreign[..1]);
    assert_eq!(find(&test), foreign[1..2]);
    assert_eq!(find(&stranger.project()), foreign[2..]);
    let viewer = organization.viewer("tenant-1", "full");
    assert_eq!(find(&viewer), descending(own[..2].to_vec()));
    let minimal = organization.viewer("tenant-1", "minimal");
    assert_eq!(find(&minimal), own[..1]);
    // Not even the number of pages tells of the others.
    let page = minimal.get("/events").queries(&of_ids(&all)).query("limit", "1");
    assert_eq!(page.send().expect_status(200)["has_more"], false);
    let hidden = minimal.find(&of_ids(&own[..1]));
    assert!(hidden[0]["actor"].get("name").is_none(), "{hidden:?}");
}

fn every_fault_of_ids_is_named(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let id = project.store(event());
    for wrong in ["", "evt_", "nonsense", "67e55044-10b1-426f-9247-bb680e5fe0c8"] {
        let request = project.get("/events").query("id", &id).query("id", wrong);
        request.send().expect_invalid(&["id"]);
    }
    let most = vec![id.clone(); 100];
    assert_eq!(project.find_ids(&of_ids(&most)), std::slice::from_ref(&id));
    let more = vec![id; 101];
    let refused = project.get("/events").queries(&of_ids(&more)).send();
    refused.expect_invalid(&["id"]);
}

fn other_routes_take_no_ids(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let id = project.store(event());
    for path in ["/events/feed", "/events/export", "/events/summary"] {
        project.get(path).query("id", &id).send().expect_invalid(&["id"]);
    }
}
