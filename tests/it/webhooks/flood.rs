//! Rules that fire for every event: the alerts of a minute are bounded, and deliveries are written beside the events.

use audit_tests::{
    Database, DatabaseKind, Deadline, Server, Subscription, alert_rule, door_opened, event,
    on_both_databases, webhook_environment,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The limit of a project and environment in a minute.
const ALERTS: usize = 1_000;
const RULES: usize = 12;
const EVENTS: usize = 100;

on_both_databases! {
    what_exceeds_the_alerts_of_a_minute_is_counted_and_each_alert_gets_its_deliveries,
}

fn what_exceeds_the_alerts_of_a_minute_is_counted_and_each_alert_gets_its_deliveries(database: DatabaseKind) {
    let server = Server::start(&Database::create(database), &webhook_environment());
    let subscription = Subscription::on(&server);
    let organization = &subscription.organization;
    for _ in 1..RULES {
        organization.create_alert_rule(alert_rule(json!({})));
    }
    let second = organization.create_webhook(&subscription.receiver.url("/second"));
    let project = organization.project();
    assert_eq!(
        project.get("/alerts/rules").send().expect_status(200)["suppressed_alerts"],
        Value::Null
    );
    // The alerts of one request have one time.
    let doors = (0..EVENTS).map(|number| door_opened(&format!("actor-{number}")));
    project.store_all(doors.collect());
    let alerts = project.all_alerts();
    assert_eq!(alerts.len(), ALERTS, "the alerts are there at once");
    let rules = project.get("/alerts/rules").send().expect_status(200);
    let suppressed = &rules["suppressed_alerts"];
    assert_eq!(suppressed["count"], json!(RULES * EVENTS - ALERTS));
    let minute = suppressed["minute"].as_str().expect("a time");
    let fired_at = alerts[0]["fired_at"].as_str().expect("a time");
    assert_eq!((&minute[..16], &minute[16..]), (&fired_at[..16], ":00.000Z"));
    let other = organization.test().get("/alerts/rules").send().expect_status(200);
    assert_eq!(
        other["suppressed_alerts"],
        Value::Null,
        "the test environment has its own limit"
    );
    let metrics = server.client().request("GET", "/metrics").send_raw();
    let text = String::from_utf8(metrics.bytes).expect("metrics are text");
    assert!(text.contains("audit_alerts_suppressed_total 200\n"), "{text}");
    let ids = |objects: &[Value], member: &str| -> BTreeSet<String> {
        objects.iter().map(|object| object[member].to_string()).collect()
    };
    for webhook in [&subscription.webhook, &second] {
        let deliveries = Deadline::seconds(60).poll("the deliveries of all alerts", || {
            let deliveries = subscription.master.deliveries(webhook);
            (deliveries.len() >= ALERTS).then_some(deliveries)
        });
        assert_eq!(deliveries.len(), ALERTS);
        assert_eq!(ids(&deliveries, "alert_id"), ids(&alerts, "id"));
    }
    assert_eq!(
        project.store_all(vec![event()]).len(),
        1,
        "events are stored as before"
    );
}
