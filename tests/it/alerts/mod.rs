//! Alerts raised by events.

mod builtin;
mod cooldown;
mod cost;
mod counting;
mod crash;
mod distinct;
mod edits;
mod groups;
mod nodes;
mod windows;

use audit_tests::{
    Client, Clock, Database, DatabaseKind, Organization, Server, alert_rule, door_opened, merge,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// An organization with one custom rule.
fn organization_with_rule(database: DatabaseKind, rule: Value) -> Organization {
    let organization = Organization::fresh(database);
    organization.create_alert_rule(alert_rule(rule));
    organization
}

/// An organization with a rule, on a server whose clock the test controls.
struct Timed {
    clock: Clock,
    organization: Organization,
    _server: Server,
}

impl Timed {
    /// `None` without libfaketime.
    fn with_rule(kind: DatabaseKind, rule: Value) -> Option<Self> {
        let clock = Clock::at("2026-03-10T12:00:00Z")?;
        let server = Server::start_at(&Database::create(kind), &[], &clock);
        let organization = Organization::create(&server, "enterprise");
        organization.create_alert_rule(alert_rule(rule));
        Some(Self {
            clock,
            organization,
            _server: server,
        })
    }

    /// A door event that occurred `seconds` after the time of the clock; before it if negative.
    fn door_opened_at(&self, actor: &str, seconds: i64) -> Value {
        merge(
            door_opened(actor),
            json!({"occurred_at": self.clock.plus(seconds)}),
        )
    }
}

/// A door event that occurred `seconds` from now; in the past if negative.
fn door_opened_at(actor: &str, seconds: i64) -> Value {
    merge(
        door_opened(actor),
        json!({"occurred_at": audit_tests::now_plus(seconds)}),
    )
}

fn strings(value: &Value) -> BTreeSet<String> {
    let strings = value.as_array().expect("an array").iter();
    strings
        .map(|string| string.as_str().expect("a string").to_owned())
        .collect()
}

/// The `event_count` of every alert, oldest first.
fn event_counts(client: &Client) -> Vec<u64> {
    let alerts = client.all_alerts();
    let counts = alerts.iter().rev().map(|alert| &alert["event_count"]);
    counts
        .map(|count| count.as_u64().expect("a whole number"))
        .collect()
}

/// Asserts that each alert counts exactly `threshold` events, all of them stored and counted for one alert only.
fn assert_counted_once(alerts: &[Value], threshold: usize, stored: &BTreeSet<String>) {
    assert!(threshold <= 10, "an alert shows at most ten samples");
    let mut seen = BTreeSet::new();
    for alert in alerts {
        assert_eq!(alert["event_count"], threshold, "{alert}");
        let samples = strings(&alert["sample_event_ids"]);
        assert_eq!(samples.len(), threshold, "{alert}");
        assert!(samples.is_subset(stored), "the events of an alert exist: {alert}");
        assert!(
            samples.is_disjoint(&seen),
            "each event counts for one alert only: {alert}"
        );
        seen.extend(samples);
    }
}
