//! Plan and usage of a project.

use audit_tests::{DatabaseKind, Organization, Server, alert_rule, event, now_plus, on_both_databases};
use serde_json::{Value, json};

/// `AUDIT_DAILY_LIMIT_PRO` of the server that the tests share.
const DAILY_LIMIT_PRO: u64 = 20;

on_both_databases! {
    a_new_project_uses_nothing,
    what_is_stored_and_created_counts,
    the_free_plan_has_its_limits,
    a_master_key_reads_the_usage_of_the_project_that_it_names,
}

fn usage(client: &audit_tests::Client) -> Value {
    client.get("/usage").send().expect_status(200)["usage"].clone()
}

fn a_new_project_uses_nothing(database: DatabaseKind) {
    let organization = Organization::create(Server::shared(database), "enterprise");
    let before = now_plus(0);
    let usage = usage(&organization.project());
    let expected = json!({
        "plan": "enterprise",
        "events_today": {"count": 0, "max": null},
        "day_ends_at": usage["day_ends_at"],
        // The project and its two keys are events of the service.
        "events": {"live": usage["events"]["live"], "test": 0},
        "keys": {"count": 1, "max": 1_000},
        "redaction_rules": {"count": 0, "max": 100},
        "alert_rules": {"count": 0, "max": 100},
        "webhooks": {"count": 0, "max": 20},
        "viewer_tiers": {"count": 3, "max": 50},
    });
    assert_eq!(usage, expected);
    let end = usage["day_ends_at"].as_str().expect("a time");
    assert!(end.ends_with("T00:00:00.000Z"), "{end}");
    assert!(end > before.as_str() && end <= now_plus(86_400).as_str(), "{end}");
}

fn what_is_stored_and_created_counts(database: DatabaseKind) {
    let Some(server) = Server::shared_on_stopped_clock(database) else {
        return;
    };
    let organization = Organization::create(server, "pro");
    let before = usage(&organization.project());
    organization
        .project()
        .store_all((0..3).map(|_| event()).collect());
    organization.test().store(event());
    let key = organization.create_key("live");
    organization.create_rule(json!({"type": "pattern", "name": "a rule", "pattern": "acme-[0-9]+"}));
    // The settings of a built-in rule are stored, and it is none of the custom ones.
    let master = organization.master();
    master
        .put("/redaction/rules/builtin_email")
        .json(json!({"behavior": "hash"}))
        .send()
        .expect_status(200);
    master
        .patch("/alerts/rules/auth_brute_force")
        .json(json!({"enabled": false}))
        .send()
        .expect_status(200);
    organization.create_alert_rule(alert_rule(json!({})));
    master
        .post("/viewer-tiers")
        .json(json!({"name": "support"}))
        .send()
        .expect_status(201);
    let after = usage(&organization.project());
    assert_eq!(after["events_today"], json!({"count": 3, "max": DAILY_LIMIT_PRO}));
    assert_eq!(after["events"]["test"], 1);
    let live = |usage: &Value| usage["events"]["live"].as_u64().expect("a number");
    assert!(live(&after) >= live(&before) + 3, "{before} {after}");
    for (name, count) in [
        ("keys", 3),
        ("redaction_rules", 1),
        ("alert_rules", 1),
        ("viewer_tiers", 4),
    ] {
        assert_eq!(after[name]["count"], count, "{name} in {after}");
    }
    organization.revoke_key(&key);
    assert_eq!(usage(&organization.project())["keys"]["count"], 2);
}

fn the_free_plan_has_its_limits(database: DatabaseKind) {
    let organization = Organization::create(Server::shared(database), "free");
    let usage = usage(&organization.project());
    assert_eq!(usage["plan"], "free");
    assert_eq!(usage["alert_rules"], json!({"count": 0, "max": 0}));
    assert_eq!(usage["webhooks"], json!({"count": 0, "max": 0}));
}

fn a_master_key_reads_the_usage_of_the_project_that_it_names(database: DatabaseKind) {
    let organization = Organization::create(Server::shared(database), "pro");
    organization.project().store(event());
    let other = organization.create_project("other");
    let master = organization.master().with_header("x-project-id", &other);
    assert_eq!(usage(&master)["events_today"]["count"], 0);
    assert_eq!(usage(&master)["keys"]["count"], 0);
    let viewer = organization.viewer("tenant-1", "full");
    viewer.get("/usage").send().expect_error(403, "forbidden");
}
