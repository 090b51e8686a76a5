//! Webhook metrics.

use audit_tests::{
    Client, Database, DatabaseKind, Deadline, Reply, Server, Subscription, on_both_databases,
    webhook_environment,
};
use serde_json::json;

/// The sum of a metric's samples with these labels; `None` if there is no sample.
fn metric(client: &Client, name: &str, labels: &str) -> Option<f64> {
    let response = client.request("GET", "/metrics").send_raw();
    assert_eq!(response.status, 200);
    let text = String::from_utf8(response.bytes).expect("metrics are text");
    let values: Vec<f64> = text
        .lines()
        .filter(|line| line.split(['{', ' ']).next() == Some(name) && line.contains(labels))
        .map(|line| {
            let value = line.rsplit(' ').next().expect("a sample has a value");
            value.parse().expect("a value is a number")
        })
        .collect();
    (!values.is_empty()).then(|| values.iter().sum())
}

/// Waits until a metric has this value. Gauges may lag a little behind what they measure.
fn wait_for(client: &Client, name: &str, labels: &str, value: f64) {
    Deadline::seconds(30).poll(format!("{name}{labels} to be {value}"), || {
        (metric(client, name, labels) == Some(value)).then_some(())
    });
}

const ATTEMPTS: &str = "audit_webhook_attempts_total";
const PENDING: &str = "audit_webhook_deliveries_pending";
const OLDEST: &str = "audit_webhook_oldest_pending_seconds";

on_both_databases! {
    alerts_and_attempts_are_counted,
    what_is_pending_is_measured,
}

fn alerts_and_attempts_are_counted(database: DatabaseKind) {
    let server = Server::start(&Database::create(database), &webhook_environment());
    let subscription = Subscription::on(&server);
    let client = server.client();
    let alerts = || metric(&client, "audit_alerts_fired_total", "").unwrap_or(0.0);
    assert_eq!(alerts(), 0.0);
    for outcome in ["delivered", "retried", "failed"] {
        let labels = format!("outcome=\"{outcome}\"");
        assert_eq!(metric(&client, ATTEMPTS, &labels).unwrap_or(0.0), 0.0);
    }
    subscription.reply([Reply::Status(500), Reply::Status(200), Reply::Status(500)]);
    subscription.organization.raise_alert();
    assert_eq!(alerts(), 1.0);
    subscription
        .organization
        .test()
        .store(audit_tests::door_opened("actor-1"));
    assert_eq!(alerts(), 2.0, "alerts of test events count, too");
    wait_for(&client, ATTEMPTS, "outcome=\"retried\"", 1.0);
    wait_for(&client, ATTEMPTS, "outcome=\"delivered\"", 1.0);
    subscription.master.test_webhook(&subscription.webhook);
    wait_for(&client, ATTEMPTS, "outcome=\"failed\"", 1.0);
    assert_eq!(metric(&client, ATTEMPTS, ""), Some(3.0));
    assert_eq!(alerts(), 2.0);
}

fn what_is_pending_is_measured(database: DatabaseKind) {
    let server = Server::start(&Database::create(database), &webhook_environment());
    let subscription = Subscription::on(&server);
    let client = server.client();
    wait_for(&client, PENDING, "", 0.0);
    wait_for(&client, OLDEST, "", 0.0);
    let patience = Reply::Header(503, "retry-after", "3600".to_owned());
    subscription.reply([patience.clone(), patience, Reply::Status(200)]);
    subscription.organization.raise_alert();
    subscription.wait_for(1);
    subscription.organization.raise_alert();
    subscription.wait_for(2);
    wait_for(&client, PENDING, "", 2.0);
    Deadline::seconds(30).poll(OLDEST, || (metric(&client, OLDEST, "")? >= 1.0).then_some(()));
    for delivery in subscription.master.deliveries(&subscription.webhook) {
        subscription.master.retry_delivery(&delivery);
    }
    wait_for(&client, PENDING, "", 0.0);
    wait_for(&client, OLDEST, "", 0.0);
    let change = json!({"enabled": false});
    subscription.master.change_webhook(&subscription.webhook, change);
}
