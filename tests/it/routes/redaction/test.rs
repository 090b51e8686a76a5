//! `POST /redaction/test`: a preview of the redaction of an event.

use audit_tests::{DatabaseKind, Organization, event, event_with, on_both_databases};
use serde_json::{Value, json};

on_both_databases! {
    the_affected_parts_are_shown_before_and_after,
    custom_rules_are_named_and_counted,
    a_clean_event_is_reported_as_such,
    any_object_can_be_tried_and_nothing_is_kept,
    what_is_no_object_is_refused,
    the_result_is_what_ingest_does,
}

fn enabled_rules(organization: &Organization) -> usize {
    let rules = organization
        .project()
        .get("/redaction/rules")
        .send()
        .list("rules");
    rules.iter().filter(|rule| rule["enabled"] == true).count()
}

fn the_affected_parts_are_shown_before_and_after(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let sent = json!({"event": event_with(json!({"actor": {"email": "jane@example.com", "name": "Jane"}}))});
    let response = organization
        .project()
        .post("/redaction/test")
        .json(sent)
        .send()
        .expect_status(200);
    assert_eq!(
        response["original"],
        json!({"actor": {"email": "jane@example.com"}})
    );
    assert_eq!(response["redacted"], json!({"actor": {"email": "[REDACTED]"}}));
    let metadata = &response["metadata"];
    assert_eq!(metadata["was_redacted"], true);
    assert_eq!(metadata["redacted_fields"], json!(["actor.email"]));
    assert_eq!(metadata["redacted_rules"], json!(["builtin:email"]));
    assert_eq!(metadata["rules_evaluated"], enabled_rules(&organization));
}

fn custom_rules_are_named_and_counted(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    organization.create_rule(json!({"type": "pattern", "name": "ticket numbers", "pattern": "T-[0-9]+"}));
    organization.create_rule(json!({"type": "pattern", "name": "off", "pattern": "x", "enabled": false}));
    let sent = json!({"event": {"metadata": {"note": "T-1", "other": "fine"}}});
    let response = organization
        .master()
        .post("/redaction/test")
        .json(sent)
        .send()
        .expect_status(200);
    assert_eq!(
        response["metadata"]["redacted_rules"],
        json!(["custom:ticket numbers"])
    );
    assert_eq!(response["metadata"]["redacted_fields"], json!(["metadata.note"]));
    assert_eq!(
        response["metadata"]["rules_evaluated"],
        enabled_rules(&organization)
    );
}

fn a_clean_event_is_reported_as_such(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let response = organization
        .project()
        .post("/redaction/test")
        .json(json!({"event": event()}))
        .send();
    let response = response.expect_status(200);
    assert_eq!(response["metadata"]["was_redacted"], false);
    assert_eq!(response["metadata"]["redacted_fields"], json!([]));
    assert_eq!(response["metadata"]["redacted_rules"], json!([]));
    assert_eq!(
        (&response["original"], &response["redacted"]),
        (&json!({}), &json!({}))
    );
}

fn any_object_can_be_tried_and_nothing_is_kept(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    for event in [
        json!({}),
        json!({"actor": {"email": "jane@example.com"}}),
        event(),
    ] {
        let response = organization
            .project()
            .post("/redaction/test")
            .json(json!({"event": event}))
            .send();
        response.expect_status(200);
    }
    assert_eq!(organization.project().count(), 0);
}

fn what_is_no_object_is_refused(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let post = |body: Value| organization.project().post("/redaction/test").json(body).send();
    assert_eq!(
        post(json!({})).expect_invalid(&["event"]).message_on("event"),
        "Required"
    );
    for event in [json!([]), json!("text"), json!(5)] {
        post(json!({"event": event})).expect_invalid(&["event"]);
    }
    post(json!({"event": {}, "colour": "red"})).expect_invalid(&["colour"]);
}

fn the_result_is_what_ingest_does(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let change = json!({"actor": {"id": "jane@example.com"}, "metadata": {"card": "4111 1111 1111 1111"}});
    let sent = json!({"event": event_with(change.clone())});
    let tried = organization
        .project()
        .post("/redaction/test")
        .json(sent)
        .send()
        .expect_status(200);
    let stored = organization
        .project()
        .event(&organization.project().store(event_with(change)));
    assert_eq!(tried["redacted"]["actor"]["id"], stored["actor"]["id"]);
    assert_eq!(tried["redacted"]["metadata"], stored["metadata"]);
}
