//! The effect of a rule change on events already counted.

use super::{event_counts, organization_with_rule};
use audit_tests::{
    Client, DatabaseKind, Organization, Server, alert_rule, door_opened, merge, on_both_databases,
};
use serde_json::{Value, json};

/// A project with one custom rule, and the id of that rule.
fn project_with_rule(database: DatabaseKind, rule: Value) -> (Organization, Client, String) {
    let organization = organization_with_rule(database, rule);
    let project = organization.project();
    let rules = project.alert_rules();
    let id = rules[7]["id"].as_str().expect("an id").to_owned();
    (organization, project, id)
}

fn doors(count: usize) -> Vec<Value> {
    vec![door_opened("actor-1"); count]
}

on_both_databases! {
    an_edit_starts_the_windows_afresh,
    an_edit_that_changes_nothing_is_none,
    another_threshold_holds_at_once,
    another_pattern_holds_at_once,
    another_grouping_holds_at_once,
    a_disabled_rule_counts_nothing,
    a_deleted_rule_stops_at_once_and_its_alerts_stay,
    a_new_rule_counts_from_now_on,
    an_alert_stays_as_it_fired_whatever_becomes_of_its_rule,
    what_one_node_changes_another_obeys_at_once,
}

fn an_edit_starts_the_windows_afresh(database: DatabaseKind) {
    let (organization, project, id) = project_with_rule(database, json!({"threshold": 3}));
    project.store_all(doors(2));
    organization.change_alert_rule(&id, json!({"name": "renamed"}));
    project.store_all(doors(2));
    assert_eq!(project.all_alerts().len(), 0);
    project.store(door_opened("actor-1"));
    assert_eq!(event_counts(&project), [3]);
}

fn an_edit_that_changes_nothing_is_none(database: DatabaseKind) {
    let (organization, project, id) = project_with_rule(database, json!({"threshold": 3}));
    project.store_all(doors(2));
    organization.change_alert_rule(&id, json!({}));
    let refused = organization
        .master()
        .patch(&format!("/alerts/rules/{id}"))
        .json(json!({"threshold": 0}));
    refused.send().expect_invalid(&["threshold"]);
    project.store(door_opened("actor-1"));
    assert_eq!(event_counts(&project), [3]);
}

fn another_threshold_holds_at_once(database: DatabaseKind) {
    let (organization, project, id) = project_with_rule(database, json!({"threshold": 100}));
    project.store_all(doors(99));
    organization.change_alert_rule(&id, json!({"threshold": 2}));
    project.store(door_opened("actor-1"));
    assert_eq!(project.all_alerts().len(), 0);
    project.store(door_opened("actor-1"));
    assert_eq!(event_counts(&project), [2]);
    organization.change_alert_rule(&id, json!({"threshold": 3}));
    project.store_all(doors(2));
    assert_eq!(event_counts(&project), [2]);
    project.store(door_opened("actor-1"));
    assert_eq!(event_counts(&project), [2, 3]);
}

fn another_pattern_holds_at_once(database: DatabaseKind) {
    let (organization, project, id) = project_with_rule(database, json!({}));
    organization.change_alert_rule(&id, json!({"action_pattern": "window.*"}));
    project.store_all(doors(3));
    assert_eq!(project.all_alerts().len(), 0);
    let window = merge(door_opened("actor-1"), json!({"action": "window.opened"}));
    project.store(window.clone());
    assert_eq!(project.all_alerts().len(), 1);
    organization.change_alert_rule(&id, json!({"action_pattern": "*.opened"}));
    project.store_all(vec![window, door_opened("actor-1")]);
    assert_eq!(project.all_alerts().len(), 3);
}

fn another_grouping_holds_at_once(database: DatabaseKind) {
    let (organization, project, id) = project_with_rule(database, json!({"threshold": 2}));
    project.store(door_opened("actor-1"));
    organization.change_alert_rule(&id, json!({"group_by": "tenant_id"}));
    project.store(door_opened("actor-1"));
    assert_eq!(project.all_alerts().len(), 0);
    project.store(door_opened("actor-2"));
    assert_eq!(project.only_alert()["group_key"], "tenant-1");
    organization.change_alert_rule(&id, json!({"group_by": "actor_id"}));
    project.store_all(vec![door_opened("actor-1"), door_opened("actor-2")]);
    assert_eq!(project.all_alerts().len(), 1);
    project.store(door_opened("actor-2"));
    assert_eq!(project.alerts(&[])[0]["group_key"], "actor-2");
}

fn a_disabled_rule_counts_nothing(database: DatabaseKind) {
    let (organization, project, id) = project_with_rule(database, json!({"threshold": 3}));
    project.store_all(doors(2));
    organization.change_alert_rule(&id, json!({"enabled": false}));
    project.store_all(doors(5));
    assert_eq!(project.all_alerts().len(), 0);
    organization.change_alert_rule(&id, json!({"enabled": true}));
    project.store_all(doors(2));
    assert_eq!(project.all_alerts().len(), 0);
    project.store(door_opened("actor-1"));
    assert_eq!(event_counts(&project), [3]);
}

fn a_deleted_rule_stops_at_once_and_its_alerts_stay(database: DatabaseKind) {
    let (organization, project, id) = project_with_rule(database, json!({}));
    let alert = organization.raise_alert();
    let path = format!("/alerts/rules/{id}");
    organization.master().delete(&path).send().expect_status(200);
    project.store_all(doors(5));
    assert_eq!(project.only_alert(), alert);
    assert_eq!(project.alerts(&[("rule_id", &id)]).len(), 1);
    let resolved = project.move_alert(&alert, "resolved");
    assert_eq!(project.only_alert(), resolved);
}

fn a_new_rule_counts_from_now_on(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    project.store_all(doors(10));
    organization.create_alert_rule(alert_rule(json!({"threshold": 3})));
    assert_eq!(project.all_alerts().len(), 0);
    project.store_all(doors(2));
    assert_eq!(project.all_alerts().len(), 0);
    project.store(door_opened("actor-1"));
    assert_eq!(event_counts(&project), [3]);
}

fn an_alert_stays_as_it_fired_whatever_becomes_of_its_rule(database: DatabaseKind) {
    let (organization, project, id) = project_with_rule(database, json!({"name": "before"}));
    let alert = organization.raise_alert();
    let change = json!({"name": "after", "severity": "critical", "group_by": "tenant_id", "enabled": false});
    organization.change_alert_rule(&id, change);
    assert_eq!(project.only_alert(), alert);
    assert_eq!(alert["rule_name"], "before");
}

fn what_one_node_changes_another_obeys_at_once(database: DatabaseKind) {
    let database = audit_tests::Database::create(database);
    let (one, two) = (Server::start(&database, &[]), Server::start(&database, &[]));
    let organization = Organization::create(&one, "enterprise");
    let elsewhere = organization.on(&two).project();
    let raised = || {
        let before = elsewhere.all_alerts().len();
        elsewhere.store(door_opened("actor-1"));
        elsewhere.all_alerts().len() - before
    };
    assert_eq!(raised(), 0);
    for _ in 0..5 {
        let rule = organization.create_alert_rule(alert_rule(json!({})));
        let id = rule["id"].as_str().expect("an id");
        assert_eq!(raised(), 1, "a new rule");
        organization.change_alert_rule(id, json!({"enabled": false}));
        assert_eq!(raised(), 0, "a disabled rule");
        organization.change_alert_rule(id, json!({"enabled": true, "threshold": 2}));
        assert_eq!((raised(), raised()), (0, 1), "a changed threshold");
        let path = format!("/alerts/rules/{id}");
        organization.master().delete(&path).send().expect_status(200);
        assert_eq!((raised(), raised()), (0, 0), "a deleted rule");
    }
    let failed = || audit_tests::event_with(json!({"action": "auth.failed"}));
    organization.change_alert_rule("auth_brute_force", json!({"enabled": false}));
    let before = elsewhere.all_alerts().len();
    elsewhere.store_all(vec![failed(); 5]);
    assert_eq!(elsewhere.all_alerts().len(), before, "a disabled built-in rule");
    organization.change_alert_rule("auth_brute_force", json!({"enabled": true}));
    elsewhere.store_all(vec![failed(); 5]);
    assert_eq!(
        elsewhere.all_alerts().len(),
        before + 1,
        "an enabled built-in rule"
    );
    organization.create_alert_rule(alert_rule(json!({})));
    organization.set_plan(&one, "free");
    assert_eq!(raised(), 0, "a changed plan");
}
