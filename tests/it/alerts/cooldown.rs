//! The cooldown of a group after an alert.

use super::{Timed, event_counts, organization_with_rule};
use audit_tests::{DatabaseKind, door_opened, merge, on_both_databases};
use serde_json::{Value, json};

fn doors(count: usize) -> Vec<Value> {
    vec![door_opened("actor-1"); count]
}

on_both_databases! {
    a_group_stays_silent_during_the_cooldown,
    without_a_cooldown_each_threshold_raises_an_alert,
    after_the_cooldown_the_threshold_is_needed_again,
    events_during_the_cooldown_count_for_the_next_alert,
    a_threshold_reached_during_the_cooldown_fires_with_the_next_event_after_it,
    each_group_has_its_own_cooldown,
    resolving_an_alert_does_not_end_the_cooldown,
    a_changed_cooldown_applies_to_a_current_one,
}

fn a_group_stays_silent_during_the_cooldown(database: DatabaseKind) {
    let rule = json!({"threshold": 2, "cooldown_seconds": 3_600});
    let organization = organization_with_rule(database, rule);
    let project = organization.project();
    for _ in 0..10 {
        project.store(door_opened("actor-1"));
    }
    project.store_all(doors(100));
    assert_eq!(event_counts(&project), [2]);
}

fn without_a_cooldown_each_threshold_raises_an_alert(database: DatabaseKind) {
    let rule = json!({"threshold": 3, "cooldown_seconds": 0});
    let organization = organization_with_rule(database, rule);
    let project = organization.project();
    for n in 1..=10 {
        project.store(door_opened("actor-1"));
        assert_eq!(
            event_counts(&project),
            vec![3; n / 3],
            "an event counts for one alert only"
        );
    }
}

fn after_the_cooldown_the_threshold_is_needed_again(database: DatabaseKind) {
    let rule = json!({"threshold": 3, "cooldown_seconds": 1});
    let Some(mut timed) = Timed::with_rule(database, rule) else {
        return;
    };
    let project = timed.organization.project();
    project.store_all(doors(3));
    assert_eq!(event_counts(&project), [3]);
    timed.clock.advance_millis(2_000);
    project.store_all(doors(2));
    assert_eq!(
        event_counts(&project),
        [3],
        "events before an alert no longer count"
    );
    project.store(door_opened("actor-1"));
    assert_eq!(event_counts(&project), [3, 3]);
}

fn events_during_the_cooldown_count_for_the_next_alert(database: DatabaseKind) {
    let rule = json!({"threshold": 3, "cooldown_seconds": 2});
    let Some(mut timed) = Timed::with_rule(database, rule) else {
        return;
    };
    let project = timed.organization.project();
    project.store_all(doors(5));
    timed.clock.advance_millis(3_000);
    assert_eq!(event_counts(&project), [3]);
    project.store(door_opened("actor-1"));
    assert_eq!(event_counts(&project), [3, 3]);
}

fn a_threshold_reached_during_the_cooldown_fires_with_the_next_event_after_it(database: DatabaseKind) {
    let rule = json!({"threshold": 3, "cooldown_seconds": 2});
    let Some(mut timed) = Timed::with_rule(database, rule) else {
        return;
    };
    let project = timed.organization.project();
    project.store_all(doors(7));
    timed.clock.advance_millis(3_000);
    assert_eq!(
        event_counts(&project),
        [3],
        "only an event fires an alert, not the end of the cooldown"
    );
    project.store(door_opened("actor-1"));
    assert_eq!(event_counts(&project), [3, 5]);
}

fn each_group_has_its_own_cooldown(database: DatabaseKind) {
    let rule = json!({"threshold": 2, "cooldown_seconds": 3_600});
    let organization = organization_with_rule(database, rule);
    let project = organization.project();
    for actor in ["actor-1", "actor-2", "actor-1", "actor-2", "actor-1"] {
        project.store(door_opened(actor));
    }
    let elsewhere = merge(door_opened("actor-1"), json!({"tenant_id": "tenant-2"}));
    project.store_all(vec![elsewhere; 3]);
    let alerts = project.all_alerts();
    let keys: Vec<&Value> = alerts.iter().rev().map(|alert| &alert["group_key"]).collect();
    assert_eq!(keys, ["actor-1", "actor-2", "actor-1"]);
}

fn resolving_an_alert_does_not_end_the_cooldown(database: DatabaseKind) {
    let rule = json!({"threshold": 2, "cooldown_seconds": 3_600});
    let organization = organization_with_rule(database, rule);
    let project = organization.project();
    project.store_all(doors(2));
    project.move_alert(&project.only_alert(), "resolved");
    project.store_all(doors(5));
    assert_eq!(project.only_alert()["status"], "resolved");
}

fn a_changed_cooldown_applies_to_a_current_one(database: DatabaseKind) {
    let rule = json!({"threshold": 2, "cooldown_seconds": 3_600});
    let organization = organization_with_rule(database, rule);
    let project = organization.project();
    project.store_all(doors(2));
    let rule_id = project.only_alert()["rule_id"].clone();
    let rule_id = rule_id.as_str().expect("an id");
    organization.change_alert_rule(rule_id, json!({"cooldown_seconds": 0}));
    project.store_all(doors(2));
    assert_eq!(event_counts(&project), [2, 2]);
    organization.change_alert_rule(rule_id, json!({"cooldown_seconds": 604_800}));
    project.store_all(doors(4));
    assert_eq!(event_counts(&project), [2, 2]);
}
