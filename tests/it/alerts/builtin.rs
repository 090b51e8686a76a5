//! The built-in rules.

use super::strings;
use audit_tests::{DatabaseKind, Organization, Server, alert_rule, event_with, on_both_databases};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Id, severity, threshold and matching actions.
const RULES: [(&str, &str, usize, &[&str]); 6] = [
    (
        "auth_brute_force",
        "high",
        5,
        &[
            "auth.failed",
            "auth.failed.password",
            "login.failed",
            "user.login.failed",
            "auth.login_failed",
        ],
    ),
    (
        "privilege_escalation_burst",
        "critical",
        3,
        &["user.role.updated", "a.b.role.updated"],
    ),
    (
        "rapid_api_key_creation",
        "medium",
        3,
        &["project.api_key.created", "a.b.api_key.created"],
    ),
    (
        "bulk_data_export",
        "medium",
        5,
        &["report.exported", "a.b.exported"],
    ),
    (
        "account_deletion_spike",
        "high",
        5,
        &["user.deleted", "a.b.deleted"],
    ),
    ("retention", "high", 1, &["audit.retention.planned"]),
];

fn action(action: &str) -> Value {
    event_with(json!({"action": action}))
}

on_both_databases! {
    each_built_in_rule_fires_at_its_threshold_and_not_before,
    actions_that_only_look_alike_do_not_count,
    the_free_plan_has_them_too,
    a_disabled_rule_does_not_fire,
    another_threshold_of_a_project_holds,
    an_actor_that_a_rule_leaves_out_raises_no_alert,
    a_login_that_fails_by_its_outcome_counts_as_one_that_fails_by_its_name,
    many_users_who_fail_to_log_in_from_one_address_raise_an_alert,
    every_rule_that_matches_fires,
}

fn each_built_in_rule_fires_at_its_threshold_and_not_before(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    for (rule_id, severity, threshold, actions) in RULES {
        let mut ids = BTreeSet::new();
        for n in 0..threshold {
            let fired = project.alerts(&[("rule_id", rule_id)]).len();
            assert_eq!(fired, 0, "{rule_id} after {n} events");
            ids.insert(project.store(action(actions[n % actions.len()])));
        }
        let alerts = project.alerts(&[("rule_id", rule_id)]);
        assert_eq!(alerts.len(), 1, "{rule_id} after {threshold} events");
        let group_key = match rule_id {
            "account_deletion_spike" => "tenant-1",
            _ => "actor-1",
        };
        assert_eq!(alerts[0]["severity"], severity);
        assert_eq!(alerts[0]["event_count"], threshold);
        assert_eq!(alerts[0]["group_key"], group_key);
        assert_eq!(strings(&alerts[0]["sample_event_ids"]), ids);
        let rules = project.alert_rules();
        let rule = rules.iter().find(|rule| rule["id"] == rule_id);
        assert_eq!(alerts[0]["rule_name"], rule.expect("it is listed")["name"]);
    }
    assert_eq!(project.all_alerts().len(), RULES.len(), "no other alert fires");
}

fn actions_that_only_look_alike_do_not_count(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    for look_alike in [
        "auth.fail",
        "oauth.failed",
        "sso.auth.failed",
        "login.failed_over",
        "user.login_failed_over",
        "job.failed",
        "role.updated",
        "user.role.updated_by",
        "user.roles.updated",
        "api_key.created",
        "user.apikey.created",
        "report.exported.csv",
        "report.reexported",
        "user.undeleted",
        "user.deleted_at",
    ] {
        project.store_all(vec![action(look_alike); 6]);
        assert_eq!(project.all_alerts().len(), 0, "{look_alike}");
    }
}

fn the_free_plan_has_them_too(database: DatabaseKind) {
    let organization = Organization::create(Server::shared(database), "free");
    let project = organization.project();
    project.store_all(vec![action("auth.failed"); 5]);
    assert_eq!(project.only_alert()["rule_id"], "auth_brute_force");
}

fn a_disabled_rule_does_not_fire(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    organization.change_alert_rule("auth_brute_force", json!({"enabled": false}));
    project.store_all(vec![action("auth.failed"); 10]);
    assert_eq!(project.all_alerts().len(), 0);
    organization.change_alert_rule("auth_brute_force", json!({"enabled": true}));
    project.store_all(vec![action("auth.failed"); 4]);
    assert_eq!(
        project.all_alerts().len(),
        0,
        "events stored while the rule was disabled do not count"
    );
    project.store(action("auth.failed"));
    assert_eq!(project.only_alert()["event_count"], 5);
}

fn another_threshold_of_a_project_holds(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    organization.change_alert_rule("account_deletion_spike", json!({"threshold": 7}));
    project.store_all(vec![action("user.deleted"); 6]);
    assert_eq!(project.all_alerts().len(), 0);
    project.store(action("user.deleted"));
    assert_eq!(project.only_alert()["event_count"], 7);
}

fn an_actor_that_a_rule_leaves_out_raises_no_alert(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    let left_out = json!({"not_actor_ids": ["backup", "john@example.com"]});
    organization.change_alert_rule("bulk_data_export", left_out);
    // Redaction replaces the second by its hash before rules see it.
    for actor in ["backup", "john@example.com"] {
        let export = event_with(json!({"action": "report.exported", "actor": {"id": actor}}));
        project.store_all(vec![export; 5]);
    }
    assert_eq!(project.all_alerts().len(), 0);
    project.store_all(vec![action("report.exported"); 5]);
    assert_eq!(project.only_alert()["group_key"], "actor-1");
}

fn a_login_that_fails_by_its_outcome_counts_as_one_that_fails_by_its_name(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let login = |action: &str, outcome: Value| event_with(json!({"action": action, "outcome": outcome}));
    for (action, outcome) in [
        ("user.login", json!("success")),
        ("user.login", Value::Null),
        ("invoice.deleted_draft", json!("failure")),
    ] {
        project.store_all(vec![login(action, outcome); 6]);
    }
    assert_eq!(project.all_alerts().len(), 0);
    project.store_all(vec![login("user.login", json!("failure")); 2]);
    project.store(login("sso.signed_in", json!("denied")));
    project.store(login("user.signin", json!("denied")));
    assert_eq!(project.all_alerts().len(), 0);
    project.store(login("auth.failed", Value::Null));
    let alert = project.only_alert();
    assert_eq!(
        (&alert["rule_id"], &alert["event_count"]),
        (&json!("auth_brute_force"), &json!(5))
    );
}

fn many_users_who_fail_to_log_in_from_one_address_raise_an_alert(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let failed = |actor: usize, address: &str| {
        event_with(json!({
            "action": "auth.failed", "actor": {"id": format!("user-{actor}")}, "context": {"ip_address": address},
        }))
    };
    for user in [0, 1, 2, 3, 0, 1, 2, 3] {
        project.store(failed(user, "203.0.113.7"));
    }
    project.store(failed(4, "203.0.113.8"));
    assert_eq!(project.all_alerts().len(), 0);
    project.store(failed(4, "::ffff:203.0.113.7"));
    let alert = project.only_alert();
    assert_eq!(
        (
            &alert["rule_id"],
            &alert["group_key"],
            &alert["count_distinct"],
            &alert["event_count"]
        ),
        (
            &json!("password_spraying"),
            &json!("203.0.113.7"),
            &json!("actor_id"),
            &json!(5)
        )
    );
    let actors = strings(&alert["sample_event_ids"]);
    let actors = actors
        .iter()
        .map(|id| project.event(id)["actor"]["id"].to_string());
    assert_eq!(actors.collect::<BTreeSet<_>>().len(), 5, "an event of each user");
}

fn every_rule_that_matches_fires(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let everything = json!({"action_pattern": "*", "threshold": 5, "group_by": "tenant_id"});
    let everything = organization.create_alert_rule(alert_rule(everything));
    let exact = json!({"action_pattern": "auth.failed", "threshold": 2, "cooldown_seconds": 3_600});
    let exact = organization.create_alert_rule(alert_rule(exact));
    let project = organization.project();
    project.store_all(vec![action("auth.failed"); 5]);
    let alerts = project.all_alerts();
    let fired: BTreeSet<String> = alerts.iter().map(|alert| alert["rule_id"].to_string()).collect();
    let expected = [
        json!("auth_brute_force"),
        everything["id"].clone(),
        exact["id"].clone(),
    ];
    let expected: BTreeSet<String> = expected.iter().map(Value::to_string).collect();
    assert_eq!(fired, expected);
    assert_eq!(alerts.len(), 3, "{alerts:?}");
}
