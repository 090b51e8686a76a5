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
    seconds_from(last, &delivery["next_attempt_at"])
}

/// Seconds from the end of an attempt to this time.
fn seconds_from(attempt: &Value, time: &Value) -> f64 {
    let wait = moment(time) - moment(&attempt["started_at"]);
    let duration = attempt["duration_ms"]
        .as_f64()
        .expect("an attempt took some time");
    wait.as_seconds_f64() - duration / 1_000.0
}

/// Asserts that the second attempt is scheduled within this range of seconds after the end of the first one. On a busy machine
/// it may have been made before the log was read. It then shows that it did not come too early.
fn assert_second_attempt(delivery: &Value, expected: std::ops::Range<f64>, what: &str) {
    let all = attempts(delivery);
    let (wait, range) = match all.get(1) {
        None => (seconds_to_next_attempt(delivery), expected),
        Some(second) => (
            seconds_from(&all[0], &second["started_at"]),
            expected.start..f64::INFINITY,
        ),
    };
    assert!(range.contains(&wait), "{what}: {wait} s in {delivery}");
}
