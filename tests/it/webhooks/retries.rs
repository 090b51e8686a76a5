//! The retry schedule of failed deliveries.

use super::{attempts, seconds_to_next_attempt};
use audit_tests::{DatabaseKind, Reply, Subscription, on_both_databases};
use serde_json::{Value, json};
use std::time::Duration;

on_both_databases! {
    a_failed_attempt_is_repeated_after_five_seconds,
    retry_after_seven_seconds_is_waited_for,
    a_dropped_connection_is_tried_again,
    a_receiver_that_is_not_there_is_tried_again,
    the_second_retry_waits_for_minutes,
    a_pending_delivery_can_be_tried_at_once_and_keeps_its_schedule,
    a_retry_by_hand_of_what_is_finished_is_a_single_attempt,
}

/// The time between the arrivals of the first and the second request.
fn gap(subscription: &Subscription) -> Duration {
    let requests = subscription.wait_for(2);
    requests[1].arrived_at - requests[0].arrived_at
}

fn numbers(delivery: &Value) -> Vec<&Value> {
    attempts(delivery)
        .iter()
        .map(|attempt| &attempt["number"])
        .collect()
}

fn a_failed_attempt_is_repeated_after_five_seconds(database: DatabaseKind) {
    let subscription = Subscription::fresh(database);
    subscription.reply([Reply::Status(500), Reply::Status(200)]);
    subscription.organization.raise_alert();
    let gap = gap(&subscription);
    assert!(gap >= Duration::from_secs(5), "{gap:?}");
    let delivered = subscription.wait_for_status("delivered");
    assert_eq!(numbers(&delivered), [1, 2]);
    let codes: Vec<&Value> = attempts(&delivered)
        .iter()
        .map(|attempt| &attempt["status_code"])
        .collect();
    assert_eq!(codes, [500, 200]);
    assert_eq!(delivered["next_attempt_at"], json!(null));
    assert!(delivered["finished_at"].is_string(), "{delivered}");
}

fn retry_after_seven_seconds_is_waited_for(database: DatabaseKind) {
    let subscription = Subscription::fresh(database);
    let patience = Reply::Header(429, "Retry-After", "7".to_owned());
    subscription.reply([patience, Reply::Status(200)]);
    subscription.organization.raise_alert();
    let gap = gap(&subscription);
    assert!(gap >= Duration::from_secs(7), "{gap:?}");
    subscription.wait_for_status("delivered");
}

fn a_dropped_connection_is_tried_again(database: DatabaseKind) {
    let subscription = Subscription::fresh(database);
    subscription.reply([Reply::Drop, Reply::Status(200)]);
    subscription.organization.raise_alert();
    assert!(gap(&subscription) >= Duration::from_secs(5));
    let delivered = subscription.wait_for_status("delivered");
    let first = &attempts(&delivered)[0];
    assert_eq!(first["status_code"], json!(null));
    assert_eq!(first["error"], "connection_dropped");
    assert_eq!(numbers(&delivered), [1, 2]);
}

fn a_receiver_that_is_not_there_is_tried_again(database: DatabaseKind) {
    let subscription = Subscription::fresh(database);
    // No other test gets this port.
    let webhook = subscription
        .organization
        .create_webhook("https://127.0.0.1:1/hook");
    subscription.organization.raise_alert();
    let pending = subscription.master.wait_for_attempts(&webhook, 1);
    assert_eq!(attempts(&pending)[0]["status_code"], json!(null));
    assert_eq!(attempts(&pending)[0]["error"], "connection_failed");
    assert_eq!(pending["status"], "pending");
    subscription.wait_for_status("delivered");
}

fn the_second_retry_waits_for_minutes(database: DatabaseKind) {
    let subscription = Subscription::fresh(database);
    subscription.reply([Reply::Status(500)]);
    subscription.organization.raise_alert();
    let pending = subscription.wait_for_attempts(2);
    let wait = seconds_to_next_attempt(&pending);
    assert!((299.0..360.0).contains(&wait), "{wait} s");
}

fn a_pending_delivery_can_be_tried_at_once_and_keeps_its_schedule(database: DatabaseKind) {
    let subscription = Subscription::fresh(database);
    let patience = Reply::Header(503, "retry-after", "3600".to_owned());
    subscription.reply([patience, Reply::Status(500), Reply::Status(200)]);
    subscription.organization.raise_alert();
    let pending = subscription.wait_for_attempts(1);
    assert!(seconds_to_next_attempt(&pending) > 3_500.0);
    subscription.master.retry_delivery(&pending);
    let pending = subscription.wait_for_attempts(2);
    assert_eq!(pending["status"], "pending", "more attempts are scheduled");
    let wait = seconds_to_next_attempt(&pending);
    assert!(
        (3_500.0..3_990.0).contains(&wait),
        "the schedule is unchanged: {wait} s"
    );
    subscription.master.retry_delivery(&pending);
    let delivered = subscription.wait_for_status("delivered");
    assert_eq!(numbers(&delivered), [1, 2, 3]);
    let requests = subscription.wait_for(3);
    assert!(
        requests
            .iter()
            .all(|request| pending["message_id"] == request.message_id())
    );
}

fn a_retry_by_hand_of_what_is_finished_is_a_single_attempt(database: DatabaseKind) {
    let subscription = Subscription::fresh(database);
    subscription.reply([Reply::Status(200), Reply::Status(500), Reply::Status(200)]);
    subscription.organization.raise_alert();
    let delivered = subscription.wait_for_status("delivered");
    subscription.master.retry_delivery(&delivered);
    let failed = subscription.wait_for_status("failed");
    assert_eq!(numbers(&failed), [1, 2]);
    assert_eq!(failed["next_attempt_at"], json!(null));
    subscription.master.retry_delivery(&failed);
    let delivered = subscription.wait_for_status("delivered");
    assert_eq!(numbers(&delivered), [1, 2, 3]);
}
