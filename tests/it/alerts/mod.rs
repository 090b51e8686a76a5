//! Which events raise an alert.

mod builtin;
mod cooldown;
mod counting;
mod crash;
mod edits;
mod groups;
mod nodes;
mod windows;

use audit_tests::{
    Client, Clock, Database, DatabaseKind, Organization, Server, alert_rule, door_opened, merge,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// An organization with one rule of its own.
fn organization_with_rule(database: DatabaseKind, rule: Value) -> Organization {
    let organization = Organization::fresh(database);
    organization.create_alert_rule(alert_rule(rule));
    organization
}

/// An organization with a rule, on a server whose clock the test moves.
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

    /// An opened door that happened some seconds from the time that the clock shows.
    fn door_opened_at(&self, actor: &str, seconds: i64) -> Value {
        merge(
            door_opened(actor),
            json!({"occurred_at": self.clock.plus(seconds)}),
        )
    }
}

/// An opened door that happened some seconds from now.
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

/// The `event_count` of every alert, the oldest first.
fn event_counts(client: &Client) -> Vec<u64> {
    let alerts = client.all_alerts();
    let counts = alerts.iter().rev().map(|alert| &alert["event_count"]);
    counts
        .map(|count| count.as_u64().expect("a whole number"))
        .collect()
}

/// Asserts that each of these alerts counted exactly `threshold` events, which are stored and counted nowhere else.
fn assert_counted_once(alerts: &[Value], threshold: usize, stored: &BTreeSet<String>) {
    assert!(threshold <= 10, "ten samples are all that an alert shows");
    let mut seen = BTreeSet::new();
    for alert in alerts {
        assert_eq!(alert["event_count"], threshold, "{alert}");
        let samples = strings(&alert["sample_event_ids"]);
        assert_eq!(samples.len(), threshold, "{alert}");
        assert!(samples.is_subset(stored), "the events of an alert exist: {alert}");
        assert!(
            samples.is_disjoint(&seen),
            "no event counts for two alerts: {alert}"
        );
        seen.extend(samples);
    }
}
