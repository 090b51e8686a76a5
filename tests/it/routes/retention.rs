//! `/retention`: policies, their preview, and what they record. `tests/it/retention` removes events.

use audit_tests::{
    Database, DatabaseKind, Organization, Response, Server, event, event_with, on_both_databases,
};
use serde_json::{Value, json};

on_both_databases! {
    a_log_without_a_policy_keeps_everything,
    a_policy_is_an_event_that_names_the_one_before,
    a_policy_that_cannot_be_is_refused,
    each_environment_has_a_policy_of_its_own,
    a_preview_counts_by_month_what_a_policy_removes,
    a_preview_shows_what_is_held,
    a_preview_needs_a_policy,
    a_confirmation_needs_a_policy_and_a_time_of_the_past,
    a_plan_that_is_not_open_cannot_be_cancelled,
    retention_is_recorded_with_self_audit_off,
    records_of_removed_events_are_not_found_where_there_are_none,
}

fn set(organization: &Organization, policy: Value) -> Response {
    organization.master().put("/retention").json(policy).send()
}

fn read(organization: &Organization) -> Value {
    let request = organization.master().get("/retention");
    request.send().expect_status(200).body().clone()
}

/// The lifecycle events, oldest first.
fn recorded(organization: &Organization, action: &str) -> Vec<Value> {
    organization.master().find(&[
        ("tenant_id", "audit-server"),
        ("action", action),
        ("order", "asc"),
    ])
}

fn a_log_without_a_policy_keeps_everything(database: DatabaseKind) {
    let retention = read(&Organization::fresh(database));
    for name in ["policy", "plan", "waiting_for"] {
        assert_eq!(retention[name], Value::Null, "{name}");
    }
    assert_eq!(retention["removals"], json!([]));
    assert_eq!(retention["removed"], 0);
    assert_eq!(retention["holds"], 0);
    assert_eq!(retention["minimum_days"], 93);
}

fn a_policy_is_an_event_that_names_the_one_before(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    organization.project().store(event());
    let first = json!({"days": 365, "categories": {"security": 2190}});
    let answered = set(&organization, first.clone()).expect_status(200);
    let policy = &answered.body()["policy"];
    assert_eq!(policy["days"], 365);
    assert_eq!(policy["categories"], json!({"security": 2190}));
    assert_eq!(policy["preset"], Value::Null);
    assert_eq!(read(&organization)["policy"], *policy);
    // The same policy again is no event.
    set(&organization, first).expect_status(200);
    let second = set(&organization, json!({"preset": "pci"})).expect_status(200);
    assert_eq!(second.body()["policy"]["days"], 365);
    assert_eq!(second.body()["policy"]["preset"], "pci");
    set(&organization, json!({"days": null})).expect_status(200);
    let events = recorded(&organization, "audit.retention.changed");
    assert_eq!(events.len(), 3, "{events:?}");
    let log = format!("{}/live", organization.project_id);
    for event in &events {
        assert_eq!(event["target"], json!({"type": "log", "id": log}));
        assert_eq!(event["category"], "security");
    }
    assert_eq!(events[0]["metadata"]["previous"], Value::Null);
    assert_eq!(events[0]["metadata"]["days"], 365);
    assert_eq!(events[0]["metadata"]["categories"], json!({"security": 2190}));
    assert_eq!(events[1]["metadata"]["previous"], policy["seq"]);
    assert_eq!(events[2]["metadata"]["days"], Value::Null);
    let changed = |event: &Value| {
        let changes = event["changes"].as_array().expect("changes").clone();
        changes
            .into_iter()
            .map(|change| change["field"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(changed(&events[1]), ["categories", "preset"]);
}

fn a_policy_that_cannot_be_is_refused(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    for (policy, field) in [
        (json!({"days": 92}), "days"),
        (json!({"days": 0}), "days"),
        (json!({"days": 36_501}), "days"),
        (json!({"days": "365"}), "days"),
        (json!({"days": 365, "preset": "pci"}), "preset"),
        (json!({"preset": "gdpr"}), "preset"),
        (
            json!({"days": 365, "categories": {"security": 365}}),
            "categories.security",
        ),
        (json!({"categories": {"security": 365}}), "categories.security"),
        (
            json!({"days": 365, "categories": {"secrets": 400}}),
            "categories.secrets",
        ),
    ] {
        let refused = set(&organization, policy.clone());
        refused.expect_invalid(&[field]);
    }
    let refused = set(&organization, json!({"days": 92}));
    assert_eq!(
        refused.message_on("days"),
        "must be at least 93: idempotency keys are known for 3 months (--idempotency-window-months)"
    );
    assert_eq!(read(&organization)["policy"], Value::Null);
}

fn each_environment_has_a_policy_of_its_own(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let of_test = |request: audit_tests::Request| request.query("environment", "test").send();
    let master = organization.master();
    of_test(master.put("/retention").json(json!({"days": 100}))).expect_status(200);
    assert_eq!(read(&organization)["policy"], Value::Null);
    let test = of_test(master.get("/retention")).expect_status(200);
    assert_eq!(test.body()["policy"]["days"], 100);
    let events = of_test(master.get("/events")).list("events");
    assert_eq!(events[0]["action"], "audit.retention.changed", "{events:?}");
}

/// An event of a month in which it happened.
fn old_event(tenant: &str, month: &str) -> Value {
    event_with(json!({"tenant_id": tenant, "occurred_at": format!("{month}-10T12:00:00Z")}))
}

/// A month that is more than a year ago, and within what a preview looks at.
const OLD: &str = "2024-03";

fn preview(organization: &Organization, parameters: &[(&str, &str)]) -> Response {
    let request = organization.master().get("/retention/preview");
    request.queries(parameters).send()
}

fn a_preview_counts_by_month_what_a_policy_removes(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    project.store_all(vec![
        old_event("acme", OLD),
        old_event("acme", OLD),
        old_event("other", "2024-05"),
    ]);
    project.store(event());
    let found = preview(&organization, &[("days", "93")])
        .expect_status(200)
        .body()
        .clone();
    let months = json!([
        {"month": OLD, "events": 2, "to_remove": 2, "held": 0, "kept": 0},
        {"month": "2024-05", "events": 1, "to_remove": 1, "held": 0, "kept": 0},
    ]);
    assert_eq!(found["months"], months, "{found}");
    assert_eq!(found["events"], 3);
    assert_eq!(found["estimated"], true);
    assert_eq!(found["destinations_behind"], json!([]));
    assert!(found["received_before"]["default"].is_string(), "{found}");
    let all_stay = preview(&organization, &[("days", "36500")]).expect_status(200);
    assert_eq!(all_stay.body()["events"], 0);
    // A preview changes nothing.
    assert_eq!(read(&organization)["policy"], Value::Null);
}

fn a_preview_shows_what_is_held(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let master = organization.master();
    let project = organization.project();
    project.store_all(vec![
        old_event("acme", OLD),
        old_event("acme", OLD),
        old_event("other", OLD),
    ]);
    let hold = json!({"reason": "a case", "tenant_id": "acme"});
    master.post("/holds").json(hold).send().expect_status(201);
    let found = preview(&organization, &[("days", "93")]).expect_status(200);
    let months = json!([{"month": OLD, "events": 3, "to_remove": 1, "held": 2, "kept": 0}]);
    assert_eq!(found.body()["months"], months);
    // By default the policy in force.
    set(
        &organization,
        json!({"days": 93, "categories": {"mutation": 36_500}}),
    )
    .expect_status(200);
    let found = preview(&organization, &[]).expect_status(200);
    assert_eq!(found["events"], 0, "{found:?}");
    let names: Vec<&String> = found["received_before"]
        .as_object()
        .expect("times")
        .keys()
        .collect();
    assert_eq!(names, ["default", "mutation"]);
}

fn a_preview_needs_a_policy(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    preview(&organization, &[]).expect_invalid(&["days"]);
    preview(&organization, &[("days", "92")]).expect_invalid(&["days"]);
    preview(&organization, &[("days", "365"), ("preset", "pci")]).expect_invalid(&["preset"]);
    preview(&organization, &[("days", "0")]).expect_invalid(&["days"]);
}

fn a_confirmation_needs_a_policy_and_a_time_of_the_past(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let confirm = |until: &str| {
        let request = organization.master().post("/retention/confirm");
        request.json(json!({"until": until})).send()
    };
    confirm("2026-01-01T00:00:00Z").expect_error(409, "conflict");
    set(&organization, json!({"days": null})).expect_status(200);
    confirm("2026-01-01T00:00:00Z").expect_error(409, "conflict");
    set(&organization, json!({"days": 365})).expect_status(200);
    confirm("2200-01-01T00:00:00Z").expect_invalid(&["until"]);
    confirm("yesterday").expect_invalid(&["until"]);
    confirm("2020-01-02T00:00:00Z").expect_status(200);
    // What is confirmed already is no event again.
    confirm("2020-01-01T00:00:00Z").expect_status(200);
    let events = recorded(&organization, "audit.retention.confirmed");
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!(events[0]["metadata"]["until"], "2020-01-02T00:00:00.000Z");
}

fn a_plan_that_is_not_open_cannot_be_cancelled(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let cancel = |plan: Value| {
        let request = organization.master().post("/retention/cancel");
        request.json(json!({"plan": plan})).send()
    };
    let refused = cancel(json!(1203)).expect_error(409, "conflict");
    assert_eq!(refused.body()["error"]["message"], "the plan 1203 is not open");
    cancel(json!(-1)).expect_invalid(&["plan"]);
    cancel(json!("1203")).expect_invalid(&["plan"]);
}

fn retention_is_recorded_with_self_audit_off(database: DatabaseKind) {
    let server = Server::start(&Database::create(database), &[("AUDIT_SELF_AUDIT", "off")]);
    let organization = Organization::create(&server, "enterprise");
    set(&organization, json!({"days": 365})).expect_status(200);
    let hold = json!({"reason": "a case"});
    organization
        .master()
        .post("/holds")
        .json(hold)
        .send()
        .expect_status(201);
    organization.create_key("live");
    let events = recorded(&organization, "audit.*");
    let actions: Vec<&Value> = events.iter().map(|event| &event["action"]).collect();
    assert_eq!(actions, ["audit.retention.changed", "audit.hold.placed"]);
    assert_eq!(read(&organization)["holds"], 1);
}

fn records_of_removed_events_are_not_found_where_there_are_none(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    project.store(event());
    for path in ["removed/000", "removed/x", "removed/000.p/1"] {
        let found = project.get(&format!("/log/tile/{path}")).send();
        found.expect_error(404, "not_found");
    }
    let removals = project
        .get("/log/removals")
        .send()
        .expect_status(200)
        .list("removals");
    assert!(removals.is_empty(), "{removals:?}");
}
