//! Rules that count distinct values.

use super::{door_opened_at, event_counts, organization_with_rule, strings};
use audit_tests::{
    Client, Database, DatabaseKind, Organization, Server, alert_rule, door_opened, merge, on_both_databases,
};
use serde_json::{Value, json};

const BY_ADDRESS: &str = "203.0.113.7";

fn rule(changes: Value) -> Value {
    let distinct = json!({"group_by": "ip_address", "count_distinct": "actor_id", "threshold": 3});
    merge(distinct, changes)
}

fn from(event: Value, address: &str) -> Value {
    merge(event, json!({"context": {"ip_address": address}}))
}

fn store(project: &Client, actors: &[&str]) {
    for actor in actors {
        project.store(from(door_opened(actor), BY_ADDRESS));
    }
}

on_both_databases! {
    a_value_counts_once_however_often_it_comes,
    events_without_the_field_do_not_count,
    values_count_in_the_order_in_which_they_occurred_not_arrived,
    values_of_a_cooldown_count_after_the_next_event,
    a_batch_and_its_events_one_by_one_count_alike,
    equal_values_of_two_groups_are_counted_apart,
    counts_survive_a_restart_and_no_value_is_in_the_table,
}

fn a_value_counts_once_however_often_it_comes(database: DatabaseKind) {
    let organization = organization_with_rule(database, rule(json!({})));
    let project = organization.project();
    let at = |actor, seconds| project.store(from(door_opened_at(actor, seconds), BY_ADDRESS));
    let earlier = [("a", -9), ("b", -8), ("a", -7), ("b", -6), ("b", -5), ("a", -4)];
    let mut ids: Vec<String> = earlier.map(|(actor, seconds)| at(actor, seconds)).to_vec();
    assert_eq!(project.all_alerts().len(), 0);
    ids.push(at("c", -3));
    let alert = project.only_alert();
    assert_eq!(
        (
            &alert["event_count"],
            &alert["count_distinct"],
            &alert["group_key"]
        ),
        (&json!(3), &json!("actor_id"), &json!(BY_ADDRESS))
    );
    let newest = ids.split_off(4).into_iter().collect();
    assert_eq!(
        strings(&alert["sample_event_ids"]),
        newest,
        "the newest event of each"
    );
    // The next alert needs three values again.
    store(&project, &["a", "b"]);
    assert_eq!(project.all_alerts().len(), 1);
    store(&project, &["c"]);
    assert_eq!(event_counts(&project), [3, 3]);
}

fn events_without_the_field_do_not_count(database: DatabaseKind) {
    let by_session = json!({"group_by": "actor_id", "count_distinct": "session_id", "threshold": 2});
    let project = organization_with_rule(database, by_session).project();
    let of = |session: Value| {
        merge(
            door_opened("actor-1"),
            json!({"context": {"session_id": session}}),
        )
    };
    project.store_all(vec![
        of(json!("s1")),
        door_opened("actor-1"),
        door_opened("actor-1"),
    ]);
    assert_eq!(project.all_alerts().len(), 0);
    project.store(of(json!("s2")));
    assert_eq!(project.only_alert()["event_count"], 2);
}

fn values_count_in_the_order_in_which_they_occurred_not_arrived(database: DatabaseKind) {
    let project = organization_with_rule(database, rule(json!({"window_seconds": 3_600}))).project();
    for (actor, seconds) in [
        ("a", -10),
        ("b", -3_000),
        ("b", -3_500),
        ("c", -4_000),
        ("a", -2_000),
    ] {
        project.store(from(door_opened_at(actor, seconds), BY_ADDRESS));
    }
    assert_eq!(
        project.all_alerts().len(),
        0,
        "the third is older than the window"
    );
    project.store(from(door_opened_at("c", -3_400), BY_ADDRESS));
    assert_eq!(project.only_alert()["event_count"], 3);
}

fn values_of_a_cooldown_count_after_the_next_event(database: DatabaseKind) {
    let organization = organization_with_rule(
        database,
        rule(json!({"cooldown_seconds": 3_600, "window_seconds": 3_600})),
    );
    let project = organization.project();
    store(&project, &["a", "b", "c", "a", "b", "c", "d", "e"]);
    assert_eq!(event_counts(&project), [3]);
    let rules = project.alert_rules();
    let id = rules.last().expect("a rule")["id"].as_str().expect("an id");
    // A change restarts the window.
    organization.change_alert_rule(id, json!({"cooldown_seconds": 0}));
    store(&project, &["a", "b"]);
    assert_eq!(event_counts(&project), [3]);
    store(&project, &["e"]);
    assert_eq!(event_counts(&project), [3, 3]);
}

fn a_batch_and_its_events_one_by_one_count_alike(database: DatabaseKind) {
    let organization = organization_with_rule(database, rule(json!({})));
    let project = organization.project();
    let actors = ["a", "b", "a", "c", "a", "b", "d", "d", "c", "e"];
    let batch = actors.map(|actor| from(door_opened(actor), "203.0.113.8"));
    project.store_all(batch.to_vec());
    let in_batch = event_counts(&project);
    assert_eq!(in_batch, [3, 3, 3]);
    store(&project, &actors);
    assert_eq!(event_counts(&project), [in_batch.clone(), in_batch].concat());
}

fn equal_values_of_two_groups_are_counted_apart(database: DatabaseKind) {
    let project = organization_with_rule(database, rule(json!({}))).project();
    for address in ["203.0.113.7", "203.0.113.8", "203.0.113.9"] {
        project.store(from(door_opened("a"), address));
        project.store(from(door_opened("b"), address));
    }
    let other_tenant = merge(
        from(door_opened("c"), BY_ADDRESS),
        json!({"tenant_id": "tenant-2"}),
    );
    project.store(other_tenant);
    assert_eq!(project.all_alerts().len(), 0);
    project.store(from(door_opened("c"), "203.0.113.8"));
    assert_eq!(project.only_alert()["group_key"], "203.0.113.8");
}

fn counts_survive_a_restart_and_no_value_is_in_the_table(kind: DatabaseKind) {
    let database = Database::create(kind);
    let server = Server::start(&database, &[]);
    let organization = Organization::create(&server, "enterprise");
    organization.create_alert_rule(alert_rule(rule(json!({}))));
    store(&organization.project(), &["somebody-1", "somebody-2"]);
    server.stop();
    let columns = ["group_hash", "state"].map(str::to_owned).into();
    let rows = database.rows("alert_groups", &columns).concat();
    let hex: String = "somebody-1".bytes().map(|byte| format!("{byte:02x}")).collect();
    assert!(
        !rows.is_empty() && !rows.contains("somebody") && !rows.contains(&hex),
        "{rows}"
    );
    let server = Server::start(&database, &[]);
    let project = organization.on(&server).project();
    store(&project, &["somebody-1"]);
    assert_eq!(project.all_alerts().len(), 0, "the node knows the value again");
    store(&project, &["somebody-3"]);
    assert_eq!(project.only_alert()["event_count"], 3);
}
