//! Receivers whose response never ends. An attempt times out after fifteen seconds.

use super::attempts;
use audit_tests::webhook_environment;
use audit_tests::{Database, DatabaseKind, Receiver, Reply, Server, Subscription, on_both_databases};
use serde_json::{Value, json};

on_both_databases! {
    an_attempt_ends_after_fifteen_seconds_whatever_the_receiver_does,
}

fn an_attempt_ends_after_fifteen_seconds_whatever_the_receiver_does(database: DatabaseKind) {
    let server = Server::start(&Database::create(database), &webhook_environment());
    let subscription = Subscription::on(&server);
    subscription.reply([Reply::Stall, Reply::Status(200)]);
    subscription
        .receiver
        .reply("/drip", [Reply::Drip, Reply::Status(200)]);
    // This receiver accepts connections but never starts a TLS handshake.
    let deaf = Receiver::deaf();
    let dripping = subscription
        .organization
        .create_webhook(&subscription.receiver.url("/drip"));
    let silent = subscription.organization.create_webhook(&deaf.url("/hook"));
    subscription.organization.raise_alert();
    for webhook in [&subscription.webhook, &dripping, &silent] {
        let delivery = subscription.master.wait_for_attempts(webhook, 1);
        let first: &Value = &attempts(&delivery)[0];
        assert_eq!(
            (&first["status_code"], &first["error"]),
            (&json!(null), &json!("timed_out"))
        );
        let duration = first["duration_ms"].as_u64().expect("a duration");
        // Only the timeout ends the attempt. The upper bound allows for a busy machine.
        assert!((14_000..45_000).contains(&duration), "{duration} ms");
    }
    for webhook in [&subscription.webhook, &dripping] {
        subscription.master.wait_for_status(webhook, "delivered");
    }
    subscription.receiver.wait_until_given_up("/drip");
}
