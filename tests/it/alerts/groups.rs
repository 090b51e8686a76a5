//! Grouping of events.

use super::organization_with_rule;
use audit_tests::{Client, DatabaseKind, Organization, alert_rule, door_opened, merge, on_both_databases};
use serde_json::{Value, json};

fn door_of(tenant: &str, actor: &str) -> Value {
    merge(door_opened(actor), json!({"tenant_id": tenant}))
}

/// The keys of the groups that fired, oldest alert first.
fn group_keys(client: &Client) -> Vec<String> {
    let alerts = client.all_alerts();
    let keys = alerts.iter().rev().map(|alert| &alert["group_key"]);
    keys.map(|key| key.as_str().expect("a string").to_owned())
        .collect()
}

on_both_databases! {
    actors_are_counted_each_alone,
    equal_actors_of_two_tenants_never_merge,
    no_spelling_of_tenant_and_actor_looks_like_another,
    tenants_are_counted_whole,
    one_address_of_many_users_is_a_group,
    sessions_and_targets_are_groups_of_their_tenant,
    only_events_that_meet_the_conditions_count,
    the_groups_of_one_batch_fire_each_for_itself,
    a_redacted_actor_is_named_as_it_is_stored,
    projects_do_not_merge,
    environments_do_not_merge,
}

fn actors_are_counted_each_alone(database: DatabaseKind) {
    let organization = organization_with_rule(database, json!({"threshold": 3}));
    let project = organization.project();
    for n in 0..10 {
        project.store(door_opened(&format!("actor-{n}")));
    }
    for actor in ["actor-4", "ACTOR-4", "actor-40", "actor-4 "] {
        project.store(door_opened(actor));
    }
    assert_eq!(group_keys(&project), Vec::<String>::new());
    project.store(door_opened("actor-4"));
    assert_eq!(group_keys(&project), ["actor-4"]);
}

fn equal_actors_of_two_tenants_never_merge(database: DatabaseKind) {
    let organization = organization_with_rule(database, json!({"threshold": 2}));
    let project = organization.project();
    for tenant in ["tenant-1", "tenant-2", "tenant-3"] {
        project.store(door_of(tenant, "admin"));
    }
    assert_eq!(project.all_alerts().len(), 0);
    let id = project.store(door_of("tenant-2", "admin"));
    let alert = project.only_alert();
    assert_eq!(alert["group_key"], "admin");
    let samples = alert["sample_event_ids"].as_array().expect("an array").clone();
    assert!(samples.contains(&json!(id)));
    for sample in samples {
        let event = project.event(sample.as_str().expect("an id"));
        assert_eq!(event["tenant_id"], "tenant-2");
    }
}

fn no_spelling_of_tenant_and_actor_looks_like_another(database: DatabaseKind) {
    let organization = organization_with_rule(database, json!({"threshold": 2}));
    let project = organization.project();
    let mut events = Vec::new();
    for separator in [":", "|", "/", ".", ",", " ", "\n", "\u{1}", "\u{1f}", "\\", "\""] {
        events.push(door_of("a", &format!("b{separator}c")));
        events.push(door_of(&format!("a{separator}b"), "c"));
    }
    events.extend([door_of("ab", "cd"), door_of("a", "bcd"), door_of("abc", "d")]);
    project.store_all(events);
    assert_eq!(group_keys(&project), Vec::<String>::new());
}

fn tenants_are_counted_whole(database: DatabaseKind) {
    let rule = json!({"threshold": 3, "group_by": "tenant_id"});
    let organization = organization_with_rule(database, rule);
    let project = organization.project();
    for (tenant, actor) in [
        ("tenant-1", "actor-1"),
        ("tenant-2", "actor-1"),
        ("tenant-1", "actor-2"),
        ("tenant-2", "actor-1"),
    ] {
        project.store(door_of(tenant, actor));
    }
    assert_eq!(project.all_alerts().len(), 0);
    project.store(door_of("tenant-1", "actor-3"));
    assert_eq!(group_keys(&project), ["tenant-1"]);
}

fn one_address_of_many_users_is_a_group(database: DatabaseKind) {
    let rule = json!({"threshold": 6, "group_by": "ip_address"});
    let organization = organization_with_rule(database, rule);
    let project = organization.project();
    let from = |actor: usize, address: Value| {
        let from = json!({"context": {"ip_address": address}});
        project.store(merge(door_opened(&format!("actor-{actor}")), from));
    };
    for actor in 0..5 {
        from(actor, json!("203.0.113.7"));
        from(actor, json!("203.0.113.8"));
        from(actor, Value::Null);
        from(actor, Value::Null);
    }
    assert_eq!(group_keys(&project), Vec::<String>::new());
    from(5, json!("203.0.113.7"));
    assert_eq!(group_keys(&project), ["203.0.113.7"]);
    let alert = project.only_alert();
    assert_eq!(
        (&alert["group_by"], &alert["tenant_id"]),
        (&json!("ip_address"), &json!("tenant-1"))
    );
}

fn sessions_and_targets_are_groups_of_their_tenant(database: DatabaseKind) {
    for (group_by, fields) in [
        ("session_id", json!({"context": {"session_id": "key-1"}})),
        ("target_id", json!({"target": {"id": "key-1", "type": "door"}})),
    ] {
        let rule = json!({"threshold": 2, "group_by": group_by});
        let project = organization_with_rule(database, rule).project();
        for tenant in ["tenant-1", "tenant-2"] {
            project.store(merge(door_of(tenant, "actor-1"), fields.clone()));
        }
        assert_eq!(group_keys(&project), Vec::<String>::new(), "{group_by}");
        project.store(merge(door_of("tenant-2", "actor-2"), fields));
        assert_eq!(group_keys(&project), ["key-1"], "{group_by}");
        assert_eq!(project.only_alert()["tenant_id"], "tenant-2");
    }
}

fn only_events_that_meet_the_conditions_count(database: DatabaseKind) {
    let conditions = json!({
        "group_by": "tenant_id", "actor_types": ["user"], "categories": ["access"], "not_actor_ids": ["backup"],
        "outcomes": ["failure", "denied"],
    });
    let project = organization_with_rule(database, conditions).project();
    let denied = merge(door_opened("actor-1"), json!({"outcome": "denied"}));
    for miss in [
        json!({"actor": {"type": "service"}}),
        json!({"category": "auth"}),
        json!({"actor": {"id": "backup"}}),
        json!({"outcome": "success"}),
        json!({"outcome": null}),
    ] {
        project.store(merge(denied.clone(), miss));
    }
    assert_eq!(project.all_alerts().len(), 0);
    project.store(denied);
    assert_eq!(project.only_alert()["event_count"], 1);
}

fn the_groups_of_one_batch_fire_each_for_itself(database: DatabaseKind) {
    let rule = json!({"threshold": 20, "cooldown_seconds": 3_600});
    let organization = organization_with_rule(database, rule);
    let project = organization.project();
    let actors = ["a", "b", "c", "d"];
    let doors = (0..100).map(|n| door_opened(if n < 19 { "e" } else { actors[n % 4] }));
    project.store_all(doors.collect());
    let mut keys = group_keys(&project);
    keys.sort();
    assert_eq!(keys, actors);
}

fn a_redacted_actor_is_named_as_it_is_stored(database: DatabaseKind) {
    let organization = organization_with_rule(database, json!({"threshold": 2}));
    let project = organization.project();
    project.store(door_opened("john@example.com"));
    let id = project.store(door_opened("jane@example.com"));
    assert_eq!(
        project.all_alerts().len(),
        0,
        "redacted actors stay distinguishable"
    );
    project.store(door_opened("jane@example.com"));
    let alert = project.only_alert();
    assert_eq!(alert["group_key"], project.event(&id)["actor"]["id"]);
    assert!(!alert.to_string().contains("jane"), "{alert}");
}

fn projects_do_not_merge(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let other = organization.create_project("other");
    let other_key = organization.with_credential(&organization.create_key_of(&other, "live"));
    let master = organization.master();
    for project in [&organization.project_id, &other] {
        master
            .with_header("x-project-id", project)
            .post("/alerts/rules")
            .json(alert_rule(json!({"threshold": 2})))
            .send()
            .expect_status(201);
    }
    organization.project().store(door_opened("actor-1"));
    other_key.store(door_opened("actor-1"));
    assert_eq!(other_key.all_alerts().len(), 0);
    other_key.store(door_opened("actor-1"));
    assert_eq!(other_key.only_alert()["event_count"], 2);
    assert_eq!(organization.project().all_alerts().len(), 0);
}

fn environments_do_not_merge(database: DatabaseKind) {
    let organization = organization_with_rule(database, json!({"threshold": 2}));
    let (live, test) = (organization.project(), organization.test());
    live.store(door_opened("actor-1"));
    test.store(door_opened("actor-1"));
    assert_eq!(test.all_alerts().len(), 0);
    test.store(door_opened("actor-1"));
    assert_eq!(test.only_alert()["event_count"], 2);
    assert_eq!(live.all_alerts().len(), 0);
    live.store(door_opened("actor-1"));
    assert_eq!(live.only_alert()["event_count"], 2);
    assert_eq!(test.all_alerts().len(), 1);
}
