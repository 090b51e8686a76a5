//! Notes on alerts are events of the service.

use super::{TENANT, organization, own_events_of, project_actor};
use audit_tests::{Client, DatabaseKind, Deadline, Organization, on_both_databases};
use serde_json::{Value, json};

/// A list is made within moments. This bounds a hang.
const LIST_SECONDS: u64 = 600;

on_both_databases! {
    each_note_is_an_event_of_its_alert,
    notes_are_redacted,
    an_erasure_finds_a_person_in_a_note,
}

fn alert_of(organization: &Organization) -> Value {
    organization.create_alert_rule(audit_tests::alert_rule(json!({})));
    organization.raise_alert()
}

fn change(client: &Client, alert: &Value, body: Value) -> Value {
    let path = format!("/alerts/{}", alert["id"].as_str().expect("an id"));
    let response = client.patch(&path).json(body).send().expect_status(200);
    response.body()["alert"].clone()
}

fn each_note_is_an_event_of_its_alert(database: DatabaseKind) {
    let organization = organization(database);
    let (alert, other) = (alert_of(&organization), organization.raise_alert());
    let (master, project) = (organization.master(), organization.project());
    let status = |before: &str, after: &str| json!([{"field": "status", "before": before, "after": after}]);
    // The request, the changes of its event, and its note.
    let steps = [
        (json!({"note": "looking"}), json!(null), json!("looking")),
        (
            json!({"status": "acknowledged"}),
            status("open", "acknowledged"),
            json!(null),
        ),
        (
            json!({"status": "acknowledged", "note": "a second look"}),
            json!(null),
            json!("a second look"),
        ),
        (
            json!({"status": "resolved", "note": "It was the backup job."}),
            status("acknowledged", "resolved"),
            json!("It was the backup job."),
        ),
        (json!({"note": "again"}), json!(null), json!("again")),
        (json!({"note": "again"}), json!(null), json!("again")),
    ];
    for (body, ..) in &steps {
        change(&project, &alert, body.clone());
    }
    change(&master, &other, json!({"note": "another alert"}));
    let mut events = master.find(&[
        ("tenant_id", TENANT),
        ("action", "audit.alert.updated"),
        ("target_id", alert["id"].as_str().expect("an id")),
    ]);
    events.reverse();
    assert_eq!(events.len(), steps.len(), "{events:?}");
    let actor = project_actor(&organization);
    for (event, (body, changes, note)) in events.iter().zip(&steps) {
        assert_eq!(&event["changes"], changes, "{body}");
        assert_eq!(&event["metadata"]["note"], note, "{body}");
        assert_eq!(event["actor"], actor, "{body}");
    }
    let resolved = project.get(&format!("/alerts/{}", alert["id"].as_str().expect("an id")));
    let resolved = resolved.send().expect_status(200);
    assert_eq!(resolved.body()["alert"]["status"], "resolved");
}

fn notes_are_redacted(database: DatabaseKind) {
    let organization = organization(database);
    let alert = alert_of(&organization);
    change(
        &organization.project(),
        &alert,
        json!({"note": "asked jane@example.com"}),
    );
    let events = own_events_of(&organization.master(), "audit.alert.updated");
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!(events[0]["metadata"]["note"], "asked [REDACTED]");
    assert_eq!(events[0]["redacted"], true);
}

fn an_erasure_finds_a_person_in_a_note(database: DatabaseKind) {
    let organization = organization(database);
    let (alert, master) = (alert_of(&organization), organization.master());
    change(&master, &alert, json!({"note": "It was Jane Roe’s laptop."}));
    let noted = own_events_of(&master, "audit.alert.updated");
    let id = noted[0]["id"].as_str().expect("an id");
    // An erasure reads up to the signed checkpoint.
    master
        .get(&format!("/events/{id}/proof"))
        .send()
        .expect_status(200);
    let request = json!({"identifiers": {"texts": ["jane roe"]}, "basis": "gdpr_17"});
    let requested = master.post("/erasures").json(request).send().expect_status(201);
    let path = format!(
        "/erasures/{}",
        requested.body()["erasure"]["id"].as_str().expect("an id")
    );
    Deadline::seconds(LIST_SECONDS).poll("a list", || {
        let response = master.get(&path).send().expect_status(200);
        (response.body()["erasure"]["state"] == "listed").then_some(())
    });
    let list = master.get(&format!("{path}/events")).send().expect_status(200);
    let found = list.list("events");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (&found[0]["id"], &found[0]["parts"]),
        (&noted[0]["id"], &json!(["idempotency_key", "metadata"]))
    );
}
