//! Live and test data of a project never mix.

use audit_tests::{DatabaseKind, Organization, event, event_with, on_both_databases};
use serde_json::json;

on_both_databases! {
    each_environment_reads_its_own_events,
    a_master_key_reads_live_events_unless_it_asks_for_the_others,
    only_a_master_key_chooses_the_environment,
    a_viewer_token_reads_live_events,
}

fn each_environment_reads_its_own_events(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let live = organization.project().store(event());
    let test = organization.test();
    let trial = test.store(event());
    assert_eq!(organization.project().find_ids(&[]), std::slice::from_ref(&live));
    assert_eq!(test.find_ids(&[]), std::slice::from_ref(&trial));
    organization
        .project()
        .get(&format!("/events/{trial}"))
        .send()
        .expect_error(404, "not_found");
    test.get(&format!("/events/{live}"))
        .send()
        .expect_error(404, "not_found");
}

fn a_master_key_reads_live_events_unless_it_asks_for_the_others(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let live = organization.project().store(event());
    let trial = organization.test().store(event());
    let master = organization.master();
    assert_eq!(master.find_ids(&[]), std::slice::from_ref(&live));
    assert_eq!(master.find_ids(&[("environment", "live")]), [live]);
    assert_eq!(
        master.find_ids(&[("environment", "test")]),
        std::slice::from_ref(&trial)
    );
    master
        .get(&format!("/events/{trial}"))
        .send()
        .expect_error(404, "not_found");
    let read = master
        .get(&format!("/events/{trial}"))
        .query("environment", "test")
        .send()
        .expect_status(200);
    assert_eq!(read["event"]["id"], json!(trial));
    master
        .get("/events")
        .query("environment", "staging")
        .send()
        .expect_invalid(&["environment"]);
}

fn only_a_master_key_chooses_the_environment(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    organization.project().store(event());
    organization
        .test()
        .store(event_with(json!({"actor": {"name": "trial"}})));
    let response = organization
        .project()
        .get("/events")
        .query("environment", "test")
        .send();
    assert_ne!(response.status(), 500, "{response:?}");
    assert!(!response.body().to_string().contains("trial"), "{response:?}");
}

fn a_viewer_token_reads_live_events(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let live = organization.project().store(event());
    organization.test().store(event());
    assert_eq!(organization.viewer("tenant-1", "full").find_ids(&[]), [live]);
}
