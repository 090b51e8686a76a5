//! What a wrong clock removes, and how far a plan reaches without an operator.

use super::{DAY, Fixture, NEW, OLD};
use crate::lifecycle::WaitingFor;
use audit_domain::{Clock, LifecycleEvent, RetentionPolicy};
use audit_store::RemovalState;

/// Nothing is due yet.
fn keep_300_days(fixture: &Fixture) {
    fixture.add(LifecycleEvent::RetentionChanged(RetentionPolicy {
        days: Some(300),
        ..RetentionPolicy::default()
    }));
}

#[test]
fn a_clock_that_jumps_by_a_year_plans_nothing_and_cancels_the_plan() {
    let fixture = Fixture::new();
    let mut thread = fixture.thread();
    thread.round().unwrap();
    fixture.pass(365 * DAY);
    fixture.set_policy();
    thread.round().unwrap();
    assert!(fixture.rows().is_empty());
    assert_eq!(fixture.waits_for(), Some(WaitingFor::Clock));
    // Another process has not seen that jump, but it sees the next one.
    let mut thread = fixture.thread();
    fixture.pass(1);
    fixture.set_policy();
    thread.round().unwrap();
    assert_eq!(fixture.states(), [RemovalState::Planned]);
    fixture.pass(365 * DAY);
    thread.round().unwrap();
    assert!(fixture.rows().is_empty());
    assert_eq!(fixture.events(), OLD + NEW);
}

#[test]
fn what_has_become_due_while_events_came_in_needs_no_confirmation() {
    let fixture = Fixture::new();
    keep_300_days(&fixture);
    for _ in 0..5 {
        fixture.pass(30 * DAY);
        fixture.store(1);
    }
    fixture.thread().round().unwrap();
    assert_eq!(fixture.states(), [RemovalState::Planned]);
}

#[test]
fn what_has_become_due_while_no_event_came_in_waits_for_a_confirmation() {
    let fixture = Fixture::new();
    keep_300_days(&fixture);
    fixture.pass(150 * DAY);
    fixture.store(1);
    let mut thread = fixture.thread();
    thread.round().unwrap();
    assert!(fixture.rows().is_empty());
    assert_eq!(fixture.waits_for(), Some(WaitingFor::Confirmation));
    let until = fixture.clock.now();
    fixture.add(LifecycleEvent::RetentionConfirmed { until });
    thread.round().unwrap();
    assert_eq!(fixture.states(), [RemovalState::Planned]);
    assert_eq!(fixture.waits_for(), None);
}
