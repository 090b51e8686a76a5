//! The life of an alert: `PATCH /alerts/:id`.

use audit_tests::{
    Client, DatabaseKind, Organization, Response, alert_rule, door_opened, merge, on_both_databases,
};
use serde_json::{Value, json};
use std::thread;

fn organization_with_alert(database: DatabaseKind) -> (Organization, Value) {
    let organization = Organization::fresh(database);
    organization.create_alert_rule(alert_rule(json!({})));
    let alert = organization.raise_alert();
    (organization, alert)
}

fn path_of(alert: &Value) -> String {
    format!("/alerts/{}", alert["id"].as_str().expect("an id"))
}

fn patch(client: &Client, alert: &Value, body: Value) -> Response {
    client.patch(&path_of(alert)).json(body).send()
}

on_both_databases! {
    an_open_alert_is_acknowledged_and_then_resolved,
    an_open_alert_can_be_resolved_at_once,
    the_same_status_again_changes_nothing,
    nothing_leads_out_of_resolved,
    a_wrong_body_is_refused_and_changes_nothing,
    an_alert_that_does_not_exist_is_not_found,
    a_master_key_says_which_environment_it_means,
    of_simultaneous_acknowledgements_the_first_one_counts,
    one_alert_moves_and_the_others_stay,
    a_note_that_is_not_valid_is_refused,
    a_note_is_refused_while_own_events_are_off,
}

fn an_open_alert_is_acknowledged_and_then_resolved(database: DatabaseKind) {
    let (organization, alert) = organization_with_alert(database);
    let acknowledged = organization.project().move_alert(&alert, "acknowledged");
    let at = acknowledged["acknowledged_at"].clone();
    let at_text = at.as_str().expect("a time");
    assert!(
        at_text >= alert["fired_at"].as_str().expect("a time") && at_text.ends_with('Z'),
        "{acknowledged}"
    );
    let change = json!({"status": "acknowledged", "acknowledged_at": at});
    assert_eq!(
        acknowledged,
        merge(alert, change),
        "all other members are unchanged"
    );
    assert_eq!(organization.project().only_alert(), acknowledged);
    let resolved = organization.master().move_alert(&acknowledged, "resolved");
    let resolved_at = resolved["resolved_at"].clone();
    assert!(
        resolved_at.as_str().is_some_and(|time| time >= at_text),
        "{resolved}"
    );
    let change = json!({"status": "resolved", "resolved_at": resolved_at});
    assert_eq!(resolved, merge(acknowledged, change));
    assert_eq!(organization.project().only_alert(), resolved);
}

fn an_open_alert_can_be_resolved_at_once(database: DatabaseKind) {
    let (organization, alert) = organization_with_alert(database);
    let resolved = organization.project().move_alert(&alert, "resolved");
    assert_eq!(resolved["status"], "resolved");
    assert_eq!(resolved["acknowledged_at"], json!(null));
    assert!(resolved["resolved_at"].is_string(), "{resolved}");
}

fn the_same_status_again_changes_nothing(database: DatabaseKind) {
    let (organization, alert) = organization_with_alert(database);
    for status in ["acknowledged", "resolved"] {
        let once = organization.project().move_alert(&alert, status);
        let twice = organization.master().move_alert(&alert, status);
        assert_eq!(once, twice);
        assert_eq!(organization.project().only_alert(), once);
    }
}

fn nothing_leads_out_of_resolved(database: DatabaseKind) {
    let (organization, alert) = organization_with_alert(database);
    let resolved = organization.project().move_alert(&alert, "resolved");
    patch(&organization.project(), &alert, json!({"status": "acknowledged"}))
        .expect_error(409, "invalid_transition");
    patch(&organization.project(), &alert, json!({"status": "open"})).expect_invalid(&["status"]);
    assert_eq!(organization.project().only_alert(), resolved);
}

fn a_wrong_body_is_refused_and_changes_nothing(database: DatabaseKind) {
    let (organization, alert) = organization_with_alert(database);
    let project = organization.project();
    let response = patch(&project, &alert, json!({})).expect_invalid(&["status"]);
    assert_eq!(response.message_on("status"), "Required");
    for status in [
        json!("open"),
        json!("closed"),
        json!("Resolved"),
        json!(5),
        json!(null),
        json!(["resolved"]),
    ] {
        patch(&project, &alert, json!({"status": status})).expect_invalid(&["status"]);
    }
    let response = patch(&project, &alert, json!({"status": "resolved", "severity": "low"}));
    let response = response.expect_invalid(&["severity"]);
    assert_eq!(response.message_on("severity"), "Unrecognized field");
    for body in ["[]", "null", "{", ""] {
        let request = project.patch(&path_of(&alert)).raw_json(body);
        request.send().expect_error(400, "validation_error");
    }
    assert_eq!(project.only_alert(), alert);
}

fn an_alert_that_does_not_exist_is_not_found(database: DatabaseKind) {
    let (organization, alert) = organization_with_alert(database);
    let id = alert["id"].as_str().expect("an id");
    let resolve = json!({"status": "resolved"});
    let unknown = format!("alt_{}", "0".repeat(26));
    let ids = [
        unknown.as_str(),
        "alt_",
        "nonsense",
        &id.to_lowercase(),
        &id[4..],
        &id.replace("alt_", "evt_"),
    ]
    .map(str::to_owned);
    for id in ids {
        let path = format!("/alerts/{id}");
        let request = organization.project().patch(&path).json(resolve.clone());
        request.send().expect_error(404, "not_found");
    }
    let other = organization.create_project("other");
    let strangers = [
        Organization::fresh(database).project(),
        Organization::fresh(database).master(),
        organization.with_credential(&organization.create_key_of(&other, "live")),
        organization.master().with_header("x-project-id", &other),
        organization.test(),
    ];
    for stranger in strangers {
        patch(&stranger, &alert, resolve.clone()).expect_error(404, "not_found");
    }
    assert_eq!(organization.project().only_alert(), alert);
}

fn a_master_key_says_which_environment_it_means(database: DatabaseKind) {
    let (organization, live) = organization_with_alert(database);
    let test = organization.test();
    test.store(door_opened("actor-1"));
    let trial = test.only_alert();
    let master = organization.master();
    let resolve = |alert: &Value, environment: &str| {
        let request = master.patch(&path_of(alert)).query("environment", environment);
        request.json(json!({"status": "resolved"})).send()
    };
    patch(&master, &trial, json!({"status": "resolved"})).expect_error(404, "not_found");
    patch(&organization.project(), &trial, json!({"status": "resolved"})).expect_error(404, "not_found");
    resolve(&live, "test").expect_error(404, "not_found");
    resolve(&trial, "test").expect_status(200);
    assert_eq!(test.only_alert()["status"], "resolved");
    assert_eq!(organization.project().only_alert(), live);
    resolve(&live, "live").expect_status(200);
    resolve(&live, "staging").expect_invalid(&["environment"]);
    let id = &live["id"];
    assert_eq!(organization.project().only_alert()["id"], *id);
}

fn of_simultaneous_acknowledgements_the_first_one_counts(database: DatabaseKind) {
    let (organization, alert) = organization_with_alert(database);
    let project = organization.project();
    let responses: Vec<Value> = thread::scope(|scope| {
        let acknowledge = || project.with_own_connections().move_alert(&alert, "acknowledged");
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(acknowledge)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("an answer"))
            .collect()
    });
    for response in &responses {
        assert_eq!(response, &responses[0], "an alert is acknowledged only once");
    }
    assert_eq!(project.only_alert(), responses[0]);
}

fn one_alert_moves_and_the_others_stay(database: DatabaseKind) {
    let (organization, oldest) = organization_with_alert(database);
    let (middle, newest) = (organization.raise_alert(), organization.raise_alert());
    let moved = organization.project().move_alert(&middle, "acknowledged");
    assert_eq!(organization.project().all_alerts(), [newest, moved, oldest]);
}

fn a_note_that_is_not_valid_is_refused(database: DatabaseKind) {
    let (organization, alert) = organization_with_alert(database);
    let project = organization.project();
    let too_long = "x".repeat(1_001);
    for note in [json!(""), json!(too_long), json!("a\nb"), json!(5), json!(["a"])] {
        let body = json!({"status": "resolved", "note": note});
        patch(&project, &alert, body).expect_invalid(&["note"]);
    }
    let body = json!({"status": "open", "note": "seen"});
    patch(&project, &alert, body).expect_invalid(&["status"]);
    assert_eq!(project.only_alert(), alert);
}

/// The servers of these tests do not record their own events.
fn a_note_is_refused_while_own_events_are_off(database: DatabaseKind) {
    let (organization, alert) = organization_with_alert(database);
    let project = organization.project();
    for body in [
        json!({"note": "seen"}),
        json!({"status": "resolved", "note": "seen"}),
    ] {
        let response = patch(&project, &alert, body).expect_error(409, "conflict");
        assert_eq!(
            response.body()["error"]["message"],
            "a note is stored as an event of the service, and the operator has switched these off"
        );
    }
    assert_eq!(project.only_alert(), alert);
}
