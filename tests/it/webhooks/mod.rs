//! Webhook deliveries. The receivers are real HTTPS servers on the loopback interface.

mod addresses;
mod crash;
mod delivery;
mod encryption;
mod flood;
mod isolation;
mod metrics;
mod nodes;
mod replies;
mod retries;
mod signatures;
mod timeouts;

use audit_tests::moment;
use serde_json::Value;

/// The attempts of a delivery, oldest first.
fn attempts(delivery: &Value) -> &[Value] {
    delivery["attempts"].as_array().expect("a delivery has attempts")
}

/// Seconds from the end of the last attempt to the next one.
fn seconds_to_next_attempt(delivery: &Value) -> f64 {
    let last = attempts(delivery).last().expect("there was an attempt");
    let wait = moment(&delivery["next_attempt_at"]) - moment(&last["started_at"]);
    let duration = last["duration_ms"].as_f64().expect("an attempt took some time");
    wait.as_seconds_f64() - duration / 1_000.0
}
