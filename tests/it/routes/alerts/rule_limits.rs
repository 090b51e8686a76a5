//! The limits of a rule's fields, and of the number of rules.

use audit_tests::{
    Database, DatabaseKind, Organization, Response, Server, alert_rule, door_opened, merge, on_both_databases,
};
use serde_json::{Value, json};
use std::thread;

const CUSTOM_RULES_MAX: usize = 100;
const BUILTIN_RULES: usize = 7;

/// Creates the rule, and changes an existing rule to it. Both requests must be refused on these fields.
fn expect_invalid(organization: &Organization, path: &str, change: Value, fields: &[&str]) {
    let master = organization.master();
    let created = master
        .post("/alerts/rules")
        .json(merge(alert_rule(json!({})), change.clone()));
    created.send().expect_invalid(fields);
    master.patch(path).json(change).send().expect_invalid(fields);
}

fn post_rule(organization: &Organization) -> Response {
    let rule = alert_rule(json!({"enabled": false}));
    organization
        .master()
        .with_own_connections()
        .post("/alerts/rules")
        .json(rule)
        .send()
}

on_both_databases! {
    every_field_of_a_rule_that_must_be_there_is_named,
    every_number_and_text_has_its_limits_and_reaches_them,
    what_lies_past_a_limit_is_refused_on_its_field,
    every_fault_of_a_rule_is_named_at_once,
    a_body_that_is_no_object_is_refused,
    a_project_has_at_most_a_hundred_rules_of_its_own,
    simultaneous_creators_do_not_pass_the_limit_together,
    the_free_plan_has_the_built_in_rules_alone,
    rules_of_a_paid_plan_rest_on_the_free_one,
}

fn every_field_of_a_rule_that_must_be_there_is_named(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let response = organization
        .master()
        .post("/alerts/rules")
        .json(json!({}))
        .send()
        .expect_invalid(&[
            "name",
            "action_pattern",
            "threshold",
            "window_seconds",
            "group_by",
            "severity",
        ]);
    for field in response.fields() {
        assert_eq!(response.message_on(field), "Required", "{field}");
    }
    let unknown = alert_rule(json!({"colour": "red", "id": "auth_brute_force", "type": "builtin"}));
    let response = organization.master().post("/alerts/rules").json(unknown).send();
    let response = response.expect_invalid(&["colour", "id", "type"]);
    assert_eq!(response.message_on("colour"), "Unrecognized field");
    assert_eq!(organization.project().alert_rules().len(), BUILTIN_RULES);
}

fn every_number_and_text_has_its_limits_and_reaches_them(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let id = organization.create_alert_rule(alert_rule(json!({})));
    let id = id["id"].as_str().expect("an id");
    for change in [
        json!({"name": "x"}),
        json!({"name": "é".repeat(100)}),
        json!({"threshold": 1, "window_seconds": 60, "cooldown_seconds": 0}),
        json!({"threshold": 10_000, "window_seconds": 3_600, "cooldown_seconds": 604_800}),
        json!({"action_pattern": "*"}),
        json!({"action_pattern": "a".repeat(200)}),
        json!({"action_pattern": "*.a_b.c0*"}),
        json!({"group_by": "ip_address", "count_distinct": "actor_id", "threshold": 500}),
        json!({"group_by": "actor_id", "count_distinct": null}),
        json!({"severity": "low"}),
        json!({"severity": "medium"}),
        json!({"severity": "high"}),
        json!({"severity": "critical"}),
    ] {
        let rule = organization.create_alert_rule(merge(alert_rule(json!({})), change.clone()));
        assert_eq!(rule, merge(rule.clone(), change.clone()));
        let rule = organization.change_alert_rule(id, change.clone());
        assert_eq!(rule, merge(rule.clone(), change));
    }
}

fn what_lies_past_a_limit_is_refused_on_its_field(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let rule = organization.create_alert_rule(alert_rule(json!({})));
    let path = format!("/alerts/rules/{}", rule["id"].as_str().expect("an id"));
    let refused = [
        ("name", json!("")),
        ("name", json!("é".repeat(101))),
        ("name", json!(5)),
        ("name", json!("a\u{0}b")),
        ("action_pattern", json!("")),
        ("action_pattern", json!("a".repeat(201))),
        ("action_pattern", json!("Door.opened")),
        ("action_pattern", json!("door opened")),
        ("action_pattern", json!("door.?")),
        ("action_pattern", json!("door.[a-z]")),
        ("action_pattern", json!("tür.*")),
        ("action_pattern", json!(["door.*"])),
        ("threshold", json!(0)),
        ("threshold", json!(-1)),
        ("threshold", json!(10_001)),
        ("threshold", json!(1.5)),
        ("threshold", json!("5")),
        ("threshold", json!(1e300)),
        ("window_seconds", json!(59)),
        ("window_seconds", json!(3_601)),
        ("window_seconds", json!(60.5)),
        ("window_seconds", json!(true)),
        ("cooldown_seconds", json!(-1)),
        ("cooldown_seconds", json!(604_801)),
        ("cooldown_seconds", json!(0.5)),
        ("group_by", json!("target_type")),
        ("count_distinct", json!("tenant_id")),
        ("count_distinct", json!("action")),
        ("count_distinct", json!(["actor_id"])),
        ("count_distinct", json!("actor_id")),
        ("actor_types", json!("user")),
        ("outcomes", json!("failure")),
        ("categories", json!({})),
        ("not_actor_ids", json!(vec!["a"; 51])),
        ("group_by", json!("")),
        ("group_by", json!(["actor_id"])),
        ("severity", json!("urgent")),
        ("severity", json!("High")),
        ("severity", json!(1)),
        ("enabled", json!("yes")),
        ("enabled", json!(1)),
    ];
    for (field, value) in refused {
        expect_invalid(&organization, &path, json!({field: value}), &[field]);
    }
    let long = "a".repeat(257);
    for (field, value) in [
        ("actor_types", "admin"),
        ("categories", "Auth"),
        ("outcomes", "failed"),
        ("not_actor_ids", ""),
        ("not_actor_ids", long.as_str()),
    ] {
        let item = format!("{field}[0]");
        expect_invalid(&organization, &path, json!({field: [value]}), &[&item]);
    }
    let most = json!({"not_actor_ids": (0..50).map(|n| format!("{n:0256}")).collect::<Vec<_>>()});
    organization.change_alert_rule("auth_brute_force", most);
    assert_eq!(organization.project().alert_rules()[BUILTIN_RULES..], [rule]);
    for change in [
        json!({"cooldown_seconds": 604_801}),
        json!({"enabled": "yes"}),
        json!({"colour": "red"}),
    ] {
        let field = change.as_object().expect("an object").keys().next();
        organization
            .master()
            .patch("/alerts/rules/auth_brute_force")
            .json(change.clone())
            .send()
            .expect_invalid(&[field.expect("a member")]);
    }
}

fn every_fault_of_a_rule_is_named_at_once(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let rule = organization.create_alert_rule(alert_rule(json!({})));
    let path = format!("/alerts/rules/{}", rule["id"].as_str().expect("an id"));
    let change = json!({
        "name": "", "action_pattern": "", "threshold": 0, "window_seconds": 0, "group_by": "x", "severity": "x",
        "enabled": 0, "cooldown_seconds": -1, "colour": "red",
    });
    let fields: Vec<String> = change.as_object().expect("an object").keys().cloned().collect();
    let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
    expect_invalid(&organization, &path, change, &fields);
}

fn a_body_that_is_no_object_is_refused(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let master = organization.master();
    for body in ["[]", "null", "5", "\"rule\"", "{", ""] {
        for request in [
            master.post("/alerts/rules"),
            master.patch("/alerts/rules/auth_brute_force"),
        ] {
            request
                .raw_json(body)
                .send()
                .expect_error(400, "validation_error");
        }
    }
    master
        .post("/alerts/rules")
        .header("content-type", "text/plain")
        .raw(alert_rule(json!({})).to_string())
        .send()
        .expect_error(415, "unsupported_media_type");
    master
        .get("/alerts/rules")
        .query("limit", "5")
        .send()
        .expect_invalid(&["limit"]);
}

/// An organization on a separate server: hundreds of consecutive configuration changes make all other requests on that
/// server restart.
fn organization_alone(database: DatabaseKind) -> (Server, Organization) {
    let server = Server::start(&Database::create(database), &[]);
    let organization = Organization::create(&server, "enterprise");
    (server, organization)
}

fn a_project_has_at_most_a_hundred_rules_of_its_own(database: DatabaseKind) {
    let (server, organization) = organization_alone(database);
    for _ in 0..CUSTOM_RULES_MAX {
        post_rule(&organization).expect_status(201);
    }
    post_rule(&organization).expect_error(403, "alert_rule_limit_reached");
    let rules = organization.project().alert_rules();
    assert_eq!(rules.len(), BUILTIN_RULES + CUSTOM_RULES_MAX);
    let id = rules[BUILTIN_RULES]["id"].as_str().expect("an id");
    organization.change_alert_rule(id, json!({"enabled": true}));
    organization
        .master()
        .delete(&format!("/alerts/rules/{id}"))
        .send()
        .expect_status(200);
    post_rule(&organization).expect_status(201);
    post_rule(&organization).expect_error(403, "alert_rule_limit_reached");
    post_rule(&Organization::create(&server, "enterprise")).expect_status(201);
}

fn simultaneous_creators_do_not_pass_the_limit_together(database: DatabaseKind) {
    let (_server, organization) = organization_alone(database);
    for _ in 0..CUSTOM_RULES_MAX - 3 {
        post_rule(&organization).expect_status(201);
    }
    let mut statuses: Vec<u16> = thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| post_rule(&organization).status()))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("an answer"))
            .collect()
    });
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 201, 201, 403, 403, 403, 403, 403]);
    assert_eq!(
        organization.project().alert_rules().len(),
        BUILTIN_RULES + CUSTOM_RULES_MAX
    );
}

fn the_free_plan_has_the_built_in_rules_alone(database: DatabaseKind) {
    let server = Server::shared(database);
    let organization = Organization::create(server, "free");
    post_rule(&organization).expect_error(403, "alert_rule_limit_reached");
    assert_eq!(organization.project().alert_rules().len(), BUILTIN_RULES);
    organization.change_alert_rule("auth_brute_force", json!({"cooldown_seconds": 60}));
    organization.set_plan(server, "pro");
    post_rule(&organization).expect_status(201);
}

fn rules_of_a_paid_plan_rest_on_the_free_one(database: DatabaseKind) {
    let server = Server::shared(database);
    let organization = Organization::create(server, "pro");
    let rule = organization.create_alert_rule(alert_rule(json!({"threshold": 2})));
    let other = organization.create_alert_rule(alert_rule(json!({"action_pattern": "x.y"})));
    let id = rule["id"].as_str().expect("an id");
    let project = organization.project();
    project.store(door_opened("actor-1"));
    organization.set_plan(server, "free");
    project.store_all(vec![door_opened("actor-1"); 2]);
    assert_eq!(project.all_alerts().len(), 0);
    assert_eq!(
        project.alert_rules()[BUILTIN_RULES..],
        [rule.clone(), other.clone()]
    );
    let changed = organization.change_alert_rule(id, json!({"name": "renamed"}));
    assert_eq!(changed["name"], "renamed");
    let path = format!("/alerts/rules/{}", other["id"].as_str().expect("an id"));
    organization.master().delete(&path).send().expect_status(200);
    organization.set_plan(server, "enterprise");
    project.store(door_opened("actor-1"));
    assert_eq!(
        project.all_alerts().len(),
        0,
        "events stored on the free plan do not count"
    );
    project.store(door_opened("actor-1"));
    let alert = project.only_alert();
    assert_eq!(
        (&alert["rule_id"], &alert["event_count"]),
        (&json!(id), &json!(2))
    );
}
