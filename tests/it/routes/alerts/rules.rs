//! Administration of the rules: `/alerts/rules`.

use audit_tests::{DatabaseKind, Organization, alert_rule, merge, on_both_databases};
use serde_json::{Value, json};

/// Id, pattern, threshold, window in seconds, grouping and severity of each built-in rule, in the order of the list.
const BUILTINS: [(&str, &str, u32, u32, &str, &str); 7] = [
    ("auth_brute_force", "auth.failed*", 5, 300, "actor_id", "high"),
    ("password_spraying", "auth.failed*", 5, 300, "ip_address", "high"),
    (
        "privilege_escalation_burst",
        "*.role.updated",
        3,
        600,
        "actor_id",
        "critical",
    ),
    (
        "rapid_api_key_creation",
        "*.api_key.created",
        3,
        300,
        "actor_id",
        "medium",
    ),
    ("bulk_data_export", "*.exported", 5, 600, "actor_id", "medium"),
    ("account_deletion_spike", "*.deleted", 5, 600, "tenant_id", "high"),
    ("retention", "audit.retention.*", 1, 60, "actor_id", "high"),
];
const UNKNOWN_ID: &str = "67e55044-10b1-426f-9247-bb680e5fe0c8";

fn id_of(rule: &Value) -> &str {
    rule["id"].as_str().expect("a rule has an id")
}

fn path_of(rule: &Value) -> String {
    format!("/alerts/rules/{}", id_of(rule))
}

fn listed(organization: &Organization, id: &str) -> Value {
    let rules = organization.project().alert_rules();
    let rule = rules.iter().find(|rule| rule["id"] == id);
    rule.unwrap_or_else(|| panic!("{id} in {rules:?}")).clone()
}

fn member_names(object: &Value) -> Vec<&str> {
    let members = object.as_object().expect("an object");
    let mut names: Vec<&str> = members.keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

on_both_databases! {
    a_project_starts_with_seven_built_in_rules,
    a_created_rule_is_answered_and_listed_after_the_built_in_ones,
    what_a_new_rule_does_not_say_has_a_default,
    a_custom_rule_can_be_changed_in_every_field,
    an_empty_change_changes_nothing,
    a_built_in_rule_has_other_thresholds_and_conditions_in_a_project_that_says_so,
    what_a_built_in_rule_is_cannot_be_changed_and_it_cannot_be_deleted,
    conditions_are_set_replaced_and_removed,
    distinct_values_are_counted_until_a_change_says_null,
    each_rule_is_read_by_its_id,
    a_deleted_rule_is_gone,
    a_rule_that_does_not_exist_is_not_found,
    a_rule_belongs_to_one_project_and_both_of_its_environments,
}

fn a_project_starts_with_seven_built_in_rules(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let expected = BUILTINS.map(|(id, pattern, threshold, window, group_by, severity)| {
        json!({
            "id": id, "type": "builtin", "action_pattern": pattern, "threshold": threshold,
            "window_seconds": window, "group_by": group_by, "severity": severity,
            "enabled": true, "cooldown_seconds": 3600,
        })
    });
    let mut rules = organization.project().alert_rules();
    assert_eq!(rules[0]["name"], "Auth Brute Force");
    for rule in &mut rules[..2] {
        let members = rule.as_object_mut().expect("an object");
        assert_eq!(
            members.remove("further_action_patterns"),
            Some(json!(["login.failed", "*.login.failed", "*.login_failed"]))
        );
        let of_failures = members.remove("failed_action_patterns").unwrap_or_default();
        assert!(
            of_failures
                .as_array()
                .is_some_and(|all| all.contains(&json!("*.login")))
        );
    }
    let retention = rules[6].as_object_mut().expect("an object");
    assert_eq!(
        retention.remove("further_action_patterns"),
        Some(json!([
            "audit.hold.released",
            "audit.events.removed",
            "audit.erasure.planned",
            "audit.events.erased"
        ]))
    );
    let spraying = rules[1].as_object_mut().expect("an object");
    assert_eq!(spraying.remove("count_distinct"), Some(json!("actor_id")));
    for rule in &mut rules {
        let name = rule.as_object_mut().expect("an object").remove("name");
        let name = name.unwrap_or_default();
        assert!(name.as_str().is_some_and(|name| !name.is_empty()), "{rule}");
    }
    assert_eq!(rules, expected);
    assert_eq!(organization.master().alert_rules().len(), BUILTINS.len());
    assert_eq!(organization.test().alert_rules().len(), BUILTINS.len());
}

fn a_created_rule_is_answered_and_listed_after_the_built_in_ones(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let body = json!({
        "name": "Türen", "action_pattern": "door.*", "threshold": 7, "window_seconds": 120,
        "group_by": "tenant_id", "severity": "critical", "cooldown_seconds": 30, "enabled": false,
    });
    let rule = organization.create_alert_rule(body.clone());
    assert_eq!(rule, merge(rule.clone(), body), "the rule is as sent");
    assert_eq!(rule["type"], "custom");
    assert_eq!(id_of(&rule).len(), 36, "a UUID");
    let created_at = rule["created_at"].as_str().expect("a time");
    assert!(created_at.ends_with('Z'), "{created_at}");
    let members = [
        "action_pattern",
        "cooldown_seconds",
        "created_at",
        "enabled",
        "group_by",
        "id",
        "name",
        "severity",
        "threshold",
        "type",
        "window_seconds",
    ];
    assert_eq!(member_names(&rule), members);
    let second = organization.create_alert_rule(alert_rule(json!({"name": "a second one"})));
    let third = organization.create_alert_rule(alert_rule(json!({"name": "a second one"})));
    let rules = organization.project().alert_rules();
    assert_eq!(rules[7..], [rule, second, third], "the oldest first");
    assert_eq!(rules[..7].len(), BUILTINS.len());
}

fn what_a_new_rule_does_not_say_has_a_default(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let rule = organization.create_alert_rule(alert_rule(json!({"cooldown_seconds": null, "enabled": null})));
    assert_eq!(rule["cooldown_seconds"], 3_600);
    assert_eq!(rule["enabled"], true);
}

fn a_custom_rule_can_be_changed_in_every_field(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let mut rule = organization.create_alert_rule(alert_rule(json!({})));
    let changes = [
        json!({"name": "another"}),
        json!({"action_pattern": "*.closed"}),
        json!({"threshold": 9}),
        json!({"window_seconds": 61}),
        json!({"group_by": "tenant_id"}),
        json!({"severity": "high"}),
        json!({"enabled": false}),
        json!({"cooldown_seconds": 1}),
        json!({"name": "all at once", "threshold": 2, "enabled": true, "severity": "low"}),
    ];
    for change in changes {
        let changed = organization.change_alert_rule(id_of(&rule), change.clone());
        assert_eq!(changed, merge(rule, change), "nothing else changes");
        assert_eq!(listed(&organization, id_of(&changed)), changed);
        rule = changed;
    }
}

fn an_empty_change_changes_nothing(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let rule = organization.create_alert_rule(alert_rule(json!({})));
    assert_eq!(organization.change_alert_rule(id_of(&rule), json!({})), rule);
    let builtin = organization.change_alert_rule("auth_brute_force", json!({}));
    assert_eq!(
        builtin,
        listed(&Organization::fresh(database), "auth_brute_force")
    );
}

fn a_built_in_rule_has_other_thresholds_and_conditions_in_a_project_that_says_so(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let before = listed(&organization, "bulk_data_export");
    for change in [
        json!({"enabled": false}),
        json!({"cooldown_seconds": 60}),
        json!({"enabled": true, "cooldown_seconds": 0}),
        json!({"threshold": 7}),
        json!({"window_seconds": 60, "not_actor_ids": ["backup"]}),
    ] {
        let changed = organization.change_alert_rule("bulk_data_export", change.clone());
        let expected = merge(listed(&organization, "bulk_data_export"), change);
        assert_eq!(changed, expected);
    }
    let changes = json!({
        "cooldown_seconds": 0, "threshold": 7, "window_seconds": 60, "not_actor_ids": ["backup"],
    });
    let expected = merge(before.clone(), changes);
    assert_eq!(listed(&organization, "bulk_data_export"), expected);
    let order: Vec<Value> = organization.project().alert_rules();
    let order: Vec<&str> = order.iter().map(id_of).collect();
    assert_eq!(order, BUILTINS.map(|builtin| builtin.0), "the order stays");
    let other = Organization::fresh(database);
    assert_eq!(
        listed(&other, "bulk_data_export"),
        before,
        "of this project alone"
    );
}

fn what_a_built_in_rule_is_cannot_be_changed_and_it_cannot_be_deleted(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let before = organization.project().alert_rules();
    let master = organization.master();
    let path = "/alerts/rules/auth_brute_force";
    for change in [
        json!({"name": "x"}),
        json!({"action_pattern": "x.y"}),
        json!({"group_by": "tenant_id"}),
        json!({"severity": "low"}),
    ] {
        let with_allowed = merge(change, json!({"enabled": false, "threshold": 1}));
        master
            .patch(path)
            .json(with_allowed)
            .send()
            .expect_error(403, "forbidden");
    }
    master.delete(path).send().expect_error(403, "forbidden");
    assert_eq!(organization.project().alert_rules(), before);
}

fn conditions_are_set_replaced_and_removed(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let conditions = json!({
        "actor_types": ["service", "user"], "categories": ["access"], "not_actor_ids": ["backup", "restore"],
    });
    let rule = organization.create_alert_rule(alert_rule(conditions.clone()));
    assert_eq!(rule, merge(rule.clone(), conditions));
    assert_eq!(listed(&organization, id_of(&rule)), rule);
    let replaced = json!({"not_actor_ids": ["backup"], "categories": []});
    let changed = organization.change_alert_rule(id_of(&rule), replaced);
    let expected = json!({"not_actor_ids": ["backup"], "categories": null});
    assert_eq!(changed, merge(rule, expected));
    assert_eq!(listed(&organization, id_of(&changed)), changed);
}

fn distinct_values_are_counted_until_a_change_says_null(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let distinct =
        json!({"group_by": "ip_address", "count_distinct": "actor_id", "outcomes": ["failure", "denied"]});
    let rule = organization.create_alert_rule(alert_rule(distinct));
    assert_eq!(
        (&rule["count_distinct"], &rule["outcomes"]),
        (&json!("actor_id"), &json!(["denied", "failure"]))
    );
    assert_eq!(listed(&organization, id_of(&rule)), rule);
    let same = organization.change_alert_rule(id_of(&rule), json!({"severity": "high"}));
    assert_eq!(same["count_distinct"], "actor_id");
    let other = organization.change_alert_rule(id_of(&rule), json!({"count_distinct": "session_id"}));
    assert_eq!(other["count_distinct"], "session_id");
    let master = organization.master();
    let change = |change: Value| master.patch(&path_of(&rule)).json(change).send();
    change(json!({"group_by": "session_id"})).expect_invalid(&["count_distinct"]);
    change(json!({"threshold": 501})).expect_invalid(&["threshold"]);
    change(json!({"count_distinct": null, "threshold": 501})).expect_status(200);
    let events = listed(&organization, id_of(&rule));
    assert_eq!(
        (events.get("count_distinct"), &events["threshold"]),
        (None, &json!(501))
    );
    change(json!({"count_distinct": "target_id"})).expect_invalid(&["threshold"]);
}

fn each_rule_is_read_by_its_id(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    organization.create_alert_rule(alert_rule(json!({})));
    organization.change_alert_rule("auth_brute_force", json!({"enabled": false}));
    for rule in organization.project().alert_rules() {
        assert_eq!(organization.project().one(&path_of(&rule), "rule"), rule);
    }
}

fn a_deleted_rule_is_gone(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let (rule, other) = (
        organization.create_alert_rule(alert_rule(json!({}))),
        organization.create_alert_rule(alert_rule(json!({}))),
    );
    let response = organization
        .master()
        .delete(&path_of(&rule))
        .send()
        .expect_status(200);
    assert_eq!(response["deleted"], true);
    assert_eq!(organization.project().alert_rules()[7..], [other]);
    organization
        .master()
        .delete(&path_of(&rule))
        .send()
        .expect_error(404, "not_found");
}

fn a_rule_that_does_not_exist_is_not_found(database: DatabaseKind) {
    let master = Organization::fresh(database).master();
    let foreign = Organization::fresh(database).create_alert_rule(alert_rule(json!({})));
    for id in [
        UNKNOWN_ID,
        "auth_brute_forc",
        "nonsense",
        "builtin_email",
        "AUTH_BRUTE_FORCE",
        id_of(&foreign),
    ] {
        let path = format!("/alerts/rules/{id}");
        master.get(&path).send().expect_error(404, "not_found");
        master
            .patch(&path)
            .json(json!({"enabled": true}))
            .send()
            .expect_error(404, "not_found");
        master.delete(&path).send().expect_error(404, "not_found");
    }
}

fn a_rule_belongs_to_one_project_and_both_of_its_environments(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let default = organization.project_id.clone();
    let other = organization.create_project("other");
    let master = organization.master();
    let in_default = master.with_header("x-project-id", &default);
    let in_other = master.with_header("x-project-id", &other);
    master.get("/alerts/rules").send().expect_invalid(&["project_id"]);
    let rule = in_default
        .post("/alerts/rules")
        .json(alert_rule(json!({})))
        .send()
        .expect_status(201)["rule"]
        .clone();
    let change = json!({"enabled": false});
    in_other
        .patch(&path_of(&rule))
        .json(change.clone())
        .send()
        .expect_error(404, "not_found");
    in_other
        .get(&path_of(&rule))
        .send()
        .expect_error(404, "not_found");
    in_other
        .delete(&path_of(&rule))
        .send()
        .expect_error(404, "not_found");
    in_other
        .patch("/alerts/rules/auth_brute_force")
        .json(change)
        .send()
        .expect_status(200);
    assert_eq!(in_other.alert_rules().len(), BUILTINS.len());
    let rules = in_default.alert_rules();
    assert_eq!((&rules[7..], &rules[0]["enabled"]), (&[rule][..], &json!(true)));
    assert_eq!(organization.test().alert_rules(), rules);
    let in_query = master
        .get("/alerts/rules")
        .queries(&[("project_id", &default), ("environment", "test")])
        .send()
        .expect_status(200);
    assert_eq!(in_query.list("rules"), rules);
}
