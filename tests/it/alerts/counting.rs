//! Every stored event is counted exactly once; events that are not stored are not counted.

use super::{assert_counted_once, event_counts, organization_with_rule};
use audit_tests::{
    DatabaseKind, Organization, Server, door_opened, event_with, merge, now_plus, on_both_databases,
    temporary_directory,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The daily limit of the free plan on the shared servers.
const FREE_EVENTS_MAX: usize = 10;

fn failed() -> Value {
    event_with(json!({"action": "auth.failed", "category": "auth"}))
}

fn keyed(key: &str) -> Value {
    merge(door_opened("actor-1"), json!({"idempotency_key": key}))
}

on_both_databases! {
    a_repeated_event_counts_once,
    a_batch_of_a_hundred_fires_once,
    without_a_cooldown_a_batch_fires_for_each_threshold,
    events_that_are_refused_within_a_batch_do_not_count,
    a_batch_that_is_refused_whole_leaves_no_trace,
    an_event_counts_with_every_credential,
    imports_of_old_events_raise_nothing,
    imported_events_that_are_new_are_counted,
    an_alert_is_there_when_its_last_event_is_acknowledged,
}

fn a_repeated_event_counts_once(database: DatabaseKind) {
    let organization = organization_with_rule(database, json!({"threshold": 3}));
    let project = organization.project();
    for _ in 0..5 {
        project.store(keyed("a"));
    }
    project.store_all(vec![keyed("b"); 5]);
    let other_content = merge(keyed("a"), json!({"category": "system"}));
    let response = project.post("/events").json(other_content).send();
    response.expect_error(409, "conflict");
    assert_eq!(project.all_alerts().len(), 0);
    project.store_all(vec![keyed("a"), keyed("c"), keyed("b")]);
    assert_eq!(event_counts(&project), [3]);
    project.store_all(vec![keyed("a"), keyed("b"), keyed("c")]);
    assert_eq!(event_counts(&project), [3], "a repeated event raises no alert");
}

fn a_batch_of_a_hundred_fires_once(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let ids = project.store_all(vec![failed(); 100]);
    let alert = project.only_alert();
    assert_counted_once(&[alert], 5, &ids.into_iter().collect());
}

fn without_a_cooldown_a_batch_fires_for_each_threshold(database: DatabaseKind) {
    let organization = organization_with_rule(database, json!({"threshold": 7}));
    let project = organization.project();
    let ids = project.store_all(vec![door_opened("actor-1"); 100]);
    let alerts = project.all_alerts();
    assert_eq!(alerts.len(), 100 / 7);
    assert_counted_once(&alerts, 7, &ids.into_iter().collect());
}

fn events_that_are_refused_within_a_batch_do_not_count(database: DatabaseKind) {
    let organization = organization_with_rule(database, json!({"threshold": 3}));
    let project = organization.project();
    let broken = merge(door_opened("actor-1"), json!({"category": "other"}));
    let batch = vec![
        door_opened("actor-1"),
        broken.clone(),
        broken.clone(),
        door_opened("actor-1"),
    ];
    let response = project.post("/events").json(Value::Array(batch)).send();
    assert_eq!(response.expect_status(201).ids().len(), 2);
    let batch = json!([broken, broken, broken]);
    let response = project.post("/events").json(batch).send();
    response.expect_error(400, "validation_error");
    assert_eq!(project.all_alerts().len(), 0);
    project.store(door_opened("actor-1"));
    assert_eq!(event_counts(&project), [3]);
}

fn a_batch_that_is_refused_whole_leaves_no_trace(database: DatabaseKind) {
    let Some(server) = Server::shared_on_stopped_clock(database) else {
        return;
    };
    let organization = Organization::create(server, "free");
    let project = organization.project();
    let mut stored: BTreeSet<String> = project.store_all(vec![failed(); 4]).into_iter().collect();
    let too_many = Value::Array(vec![failed(); FREE_EVENTS_MAX - 4 + 1]);
    let response = project.post("/events").json(too_many).send();
    response.expect_error(429, "daily_event_limit_reached");
    assert_eq!(project.all_alerts().len(), 0);
    stored.insert(project.store(failed()));
    assert_counted_once(&[project.only_alert()], 5, &stored);
}

fn an_event_counts_with_every_credential(database: DatabaseKind) {
    let organization = organization_with_rule(database, json!({"threshold": 4}));
    let another_key = organization.with_credential(&organization.create_key("live"));
    for client in [
        organization.project(),
        organization.master(),
        another_key,
        organization.master(),
    ] {
        assert_eq!(client.all_alerts().len(), 0);
        client.store(door_opened("actor-1"));
    }
    assert_eq!(event_counts(&organization.project()), [4]);
}

/// Imports `count` failed sign-ins that occurred `seconds` from now; in the past if negative.
fn import(database: DatabaseKind, organization: &Organization, count: usize, seconds: i64) {
    let event = merge(failed(), json!({"occurred_at": now_plus(seconds)}));
    let lines = vec![event.to_string(); count].join("\n");
    let path = temporary_directory("import-").join("events.jsonl");
    std::fs::write(&path, lines).expect("write a file");
    let path = path.to_str().expect("a path in UTF-8");
    Server::shared(database)
        .command_line(&["import", path, "--project", &organization.project_id])
        .success();
}

fn imports_of_old_events_raise_nothing(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    import(database, &organization, 50, -86_400);
    import(database, &organization, 50, -301);
    let project = organization.project();
    assert_eq!(project.all_alerts().len(), 0);
    project.store_all(vec![failed(); 4]);
    assert_eq!(project.all_alerts().len(), 0);
    project.store(failed());
    assert_eq!(event_counts(&project), [5]);
}

fn imported_events_that_are_new_are_counted(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    import(database, &organization, 4, 0);
    let project = organization.project();
    assert_eq!(project.all_alerts().len(), 0);
    project.store(failed());
    assert_eq!(event_counts(&project), [5]);
}

fn an_alert_is_there_when_its_last_event_is_acknowledged(database: DatabaseKind) {
    let organization = organization_with_rule(database, json!({}));
    let project = organization.project();
    for n in 1..=20 {
        let id = project.store(door_opened("actor-1"));
        let alerts = project.all_alerts();
        assert_eq!(alerts.len(), n);
        assert_eq!(alerts[0]["sample_event_ids"], json!([id]));
    }
}
