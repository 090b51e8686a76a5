//! Alerts that were changed in the database: `log verify` compares each with the events that raised it.

use super::{Case, id_bytes, stop, verify};
use audit_tests::process::Exit;
use audit_tests::{Client, DatabaseKind, event_with, on_both_databases};
use serde_json::{Value, json};

on_both_databases! {
    alerts_of_built_in_and_custom_rules_are_those_that_their_events_raised,
    every_changed_column_of_an_alert_is_found,
}

/// Raises an alert of a built-in rule, one of a custom rule by tenant, and one of distinct values. The actor's id is an address, which is stored
/// as its hash.
fn raise_alerts(case: &Case) {
    let (server, project) = case.start();
    let master = case.organization.on(&server).master();
    let rule = json!({
        "name": "Doors", "action_pattern": "door.*", "threshold": 12, "window_seconds": 300,
        "group_by": "tenant_id", "severity": "low",
    });
    master.post("/alerts/rules").json(rule).send().expect_status(201);
    let failed = |number: usize| {
        event_with(json!({
            "action": "auth.failed.password", "tenant_id": "acme", "metadata": {"number": number},
            "actor": {"id": "jane@example.com", "type": "user"},
        }))
    };
    project.store_all((0..5).map(failed).collect());
    let opened = |number: usize| {
        event_with(json!({
            "action": "door.opened", "tenant_id": "acme", "metadata": {"number": number},
            "actor": {"id": format!("user-{number}"), "type": "user"},
        }))
    };
    project.store_all((0..12).map(opened).collect());
    let sprayed = |number: usize| {
        event_with(json!({
            "action": "user.login", "outcome": "denied", "tenant_id": "acme", "context": {"ip_address": "203.0.113.7"},
            "actor": {"id": format!("user-{number}"), "type": "user"},
        }))
    };
    project.store_all((0..5).map(sprayed).collect());
    assert_eq!(alerts(&project).len(), 3);
    stop(server);
}

fn alerts(project: &Client) -> Vec<Value> {
    project.get("/alerts").send().list("alerts")
}

fn alerts_of_built_in_and_custom_rules_are_those_that_their_events_raised(kind: DatabaseKind) {
    let case = Case::fresh(kind);
    raise_alerts(&case);
    case.expect_sound();
    let (server, project) = case.start();
    for alert in alerts(&project) {
        let path = format!("/alerts/{}", alert["id"].as_str().expect("an id"));
        for status in ["acknowledged", "resolved"] {
            let change = project.patch(&path).json(json!({"status": status}));
            change.send().expect_status(200);
        }
    }
    stop(server);
    case.expect_sound();
}

fn every_changed_column_of_an_alert_is_found(kind: DatabaseKind) {
    let case = Case::fresh(kind);
    raise_alerts(&case);
    let of_builtin = "rule_id = 'auth_brute_force'";
    let of_custom = "severity = 'low'";
    let of_spraying = "rule_id = 'password_spraying'";
    let other_event = case.database.blob(&id_bytes(&case.ids[3]));
    let no_event = case.database.blob(&id_bytes("evt_01ARZ3NDEKTSV4RRFFQ69G5FAV"));
    let other_rule = "'01890000-0000-7000-8000-000000000000'";
    let edits = [
        (of_builtin, "rule_id = 'bulk_data_export'"),
        (of_builtin, &format!("rule_id = {other_rule}")),
        (of_builtin, "rule_name = 'Nothing'"),
        (of_builtin, "severity = 'low'"),
        (of_builtin, "severity = 'none'"),
        (of_builtin, "status = 'resolved'"),
        (of_builtin, "status = 'acknowledged'"),
        (of_builtin, "tenant_id = 'another'"),
        (of_builtin, "group_by = 'tenant_id'"),
        (of_builtin, "group_key = 'somebody else'"),
        (of_builtin, "count_distinct = 'session_id'"),
        (of_builtin, "event_count = 4"),
        (of_builtin, "event_count = 6"),
        (of_builtin, "fired_at = fired_at + 1000"),
        (of_builtin, &format!("sample_event_ids = {other_event}")),
        (of_builtin, &format!("sample_event_ids = {no_event}")),
        (
            of_builtin,
            &format!("sample_event_ids = {}", case.database.blob(&[])),
        ),
        (
            of_builtin,
            &format!("sample_event_ids = {}", case.database.blob(&[7; 15])),
        ),
        (of_builtin, &format!("id = {other_event}")),
        (of_custom, "rule_id = 'auth_brute_force'"),
        (of_custom, "group_key = 'user-3'"),
        (of_custom, "count_distinct = 'target_id'"),
        (of_spraying, "count_distinct = NULL"),
        (of_spraying, "count_distinct = 'session_id'"),
        (of_custom, "event_count = 9"),
        (of_custom, "fired_at = fired_at + 1000"),
        (of_custom, &format!("sample_event_ids = {other_event}")),
    ];
    for (alert, change) in edits {
        let case = case.copy();
        case.tamper(&format!("UPDATE alerts SET {change} WHERE LEDGER AND {alert}"));
        let verified = verify(&case.database);
        assert_eq!(verified.exit, Exit::Code(1), "{alert}: {change}: {verified:?}");
    }
}
