//! `GET /tenants`.

use audit_tests::{Client, DatabaseKind, Organization, event_with, on_both_databases};
use serde_json::{Value, json};
use std::collections::BTreeMap;

on_both_databases! {
    each_tenant_is_listed_once_with_the_number_of_its_events,
    the_tenants_are_those_of_the_environment_and_the_project,
    a_log_without_events_has_no_tenants,
    every_fault_of_the_parameters_is_named,
    a_tenant_learns_nothing_of_others,
}

fn store(client: &Client, tenant_id: &str, events: usize) {
    let events: Vec<Value> = (0..events)
        .map(|_| event_with(json!({"tenant_id": tenant_id})))
        .collect();
    client.store_all(events);
}

/// The tenants of all pages of `limit` tenants, with their numbers of events.
fn tenants(client: &Client, limit: usize) -> BTreeMap<String, u64> {
    let pages = client.pages_of("/tenants", "tenants", &[("limit", &limit.to_string())]);
    let (last, full) = pages.split_last().expect("a page");
    assert!(full.iter().all(|page| page.len() == limit) && last.len() <= limit);
    let listed: Vec<&Value> = pages.iter().flatten().collect();
    let numbers: BTreeMap<String, u64> = listed
        .iter()
        .map(|tenant| {
            let id = tenant["tenant_id"].as_str().expect("an id");
            (id.to_owned(), tenant["event_count"].as_u64().expect("a number"))
        })
        .collect();
    assert_eq!(
        numbers.len(),
        listed.len(),
        "a tenant is listed twice: {listed:?}"
    );
    numbers
}

fn each_tenant_is_listed_once_with_the_number_of_its_events(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    let mut expected = BTreeMap::new();
    for number in 1..=7 {
        let tenant_id = format!("tenant {number}");
        store(&project, &tenant_id, number);
        expected.insert(tenant_id, number as u64);
    }
    for limit in [1, 3, 7, 100] {
        assert_eq!(tenants(&project, limit), expected, "pages of {limit}");
    }
    // More events than a tile of the tenant's log has.
    for _ in 0..3 {
        store(&project, "tenant 1", 100);
    }
    expected.insert("tenant 1".to_owned(), 301);
    assert_eq!(tenants(&organization.master(), 3), expected);
}

fn the_tenants_are_those_of_the_environment_and_the_project(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let other_project = organization.create_project("other");
    let other = organization.with_credential(&organization.create_key_of(&other_project, "live"));
    store(&organization.project(), "live", 1);
    store(&organization.test(), "test", 2);
    store(&other, "other", 3);
    let of = |tenant_id: &str, events: u64| BTreeMap::from([(tenant_id.to_owned(), events)]);
    assert_eq!(tenants(&organization.project(), 10), of("live", 1));
    assert_eq!(tenants(&organization.test(), 10), of("test", 2));
    assert_eq!(tenants(&other, 10), of("other", 3));
    let master = organization.master().with_header("x-project-id", &other_project);
    assert_eq!(tenants(&master, 10), of("other", 3));
    organization
        .master()
        .get("/tenants")
        .send()
        .expect_invalid(&["project_id"]);
    let foreign = Organization::fresh(database).project_id;
    let master = organization.master().with_header("x-project-id", &foreign);
    master.get("/tenants").send().expect_error(404, "not_found");
}

fn a_log_without_events_has_no_tenants(database: DatabaseKind) {
    let response = Organization::fresh(database).project().get("/tenants").send();
    let response = response.expect_status(200);
    assert!(response.list("tenants").is_empty());
    assert_eq!(
        (&response["cursor"], &response["has_more"]),
        (&json!(null), &json!(false))
    );
}

fn every_fault_of_the_parameters_is_named(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    for tenant_id in ["acme", "globex"] {
        store(&project, tenant_id, 1);
        store(&organization.test(), tenant_id, 1);
    }
    for limit in ["0", "101", "many"] {
        project
            .get("/tenants")
            .query("limit", limit)
            .send()
            .expect_invalid(&["limit"]);
    }
    let cursor = project.get("/tenants").query("limit", "1").send().text("cursor");
    for (client, cursor) in [(project, "x".repeat(40)), (organization.test(), cursor)] {
        client
            .get("/tenants")
            .query("cursor", &cursor)
            .send()
            .expect_invalid(&["cursor"]);
    }
}

fn a_tenant_learns_nothing_of_others(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    store(&organization.project(), "acme", 1);
    let viewer = organization.viewer("acme", "full");
    viewer.get("/tenants").send().expect_error(403, "forbidden");
}
