//! Events inside and outside the window. The unit tests of `audit-alerts`, where the clock is an argument, test its
//! bounds to the millisecond.

use super::{Timed, door_opened_at, event_counts, organization_with_rule, strings};
use audit_tests::{DatabaseKind, door_opened, moment, now_plus, on_both_databases};
use serde_json::json;
use std::collections::BTreeSet;

on_both_databases! {
    events_that_occurred_within_the_window_count_in_any_order,
    what_occurred_before_the_window_is_history,
    the_window_moves_on,
    the_future_counts_as_now,
    the_newest_ten_events_are_shown,
    a_late_event_does_not_bring_back_what_has_left_the_window,
}

fn events_that_occurred_within_the_window_count_in_any_order(database: DatabaseKind) {
    let rule = json!({"threshold": 5, "window_seconds": 300});
    let Some(timed) = Timed::with_rule(database, rule) else {
        return;
    };
    let project = timed.organization.project();
    for seconds in [-100, 0, -299, -50] {
        project.store(timed.door_opened_at("actor-1", seconds));
        assert_eq!(project.all_alerts().len(), 0);
    }
    project.store(timed.door_opened_at("actor-1", -200));
    assert_eq!(event_counts(&project), [5]);
}

fn what_occurred_before_the_window_is_history(database: DatabaseKind) {
    let rule = json!({"threshold": 3, "window_seconds": 60});
    let Some(timed) = Timed::with_rule(database, rule) else {
        return;
    };
    let project = timed.organization.project();
    for seconds in [-61, -3_600, -86_400 * 400, -61] {
        project.store(timed.door_opened_at("actor-1", seconds));
    }
    project.store_all(vec![timed.door_opened_at("actor-1", -61); 50]);
    project.store_all(vec![door_opened("actor-1"); 2]);
    assert_eq!(project.all_alerts().len(), 0);
    project.store(door_opened("actor-1"));
    assert_eq!(
        event_counts(&project),
        [3],
        "events that occurred before the window do not count"
    );
}

fn the_window_moves_on(database: DatabaseKind) {
    let rule = json!({"threshold": 3, "window_seconds": 60});
    let Some(mut timed) = Timed::with_rule(database, rule) else {
        return;
    };
    let project = timed.organization.project();
    project.store_all(vec![timed.door_opened_at("actor-1", -56); 2]);
    timed.clock.advance_millis(5_000);
    project.store(door_opened("actor-1"));
    assert_eq!(
        project.all_alerts().len(),
        0,
        "the first two events are outside the window"
    );
    project.store_all(vec![door_opened("actor-1"); 2]);
    assert_eq!(event_counts(&project), [3]);
}

fn the_future_counts_as_now(database: DatabaseKind) {
    let organization = organization_with_rule(database, json!({"threshold": 3}));
    let project = organization.project();
    project.store(door_opened_at("actor-1", 3_600));
    project.store(door_opened_at("actor-1", 60 * 60 * 23));
    assert_eq!(project.all_alerts().len(), 0);
    let before = now_plus(0);
    project.store(door_opened("actor-1"));
    let alert = project.only_alert();
    assert_eq!(alert["event_count"], 3);
    let times = [json!(before), alert["fired_at"].clone(), json!(now_plus(0))];
    assert!(times.is_sorted_by_key(moment), "{times:?}");
}

fn the_newest_ten_events_are_shown(database: DatabaseKind) {
    let organization = organization_with_rule(database, json!({"threshold": 12, "window_seconds": 3_600}));
    let project = organization.project();
    // Not sorted by time, and two of them at the same time.
    let seconds = [-70, -60, -1_000, -50, -40, -30, -2_000, -20, -10, -5, -5, 0];
    let ids: Vec<String> = seconds
        .iter()
        .map(|&seconds| project.store(door_opened_at("actor-1", seconds)))
        .collect();
    let alert = project.only_alert();
    assert_eq!(alert["event_count"], 12);
    let is_recent = |(_, seconds): &(&String, &i64)| **seconds > -1_000;
    let newest: BTreeSet<String> = ids
        .iter()
        .zip(&seconds)
        .filter(is_recent)
        .map(|(id, _)| id.clone())
        .collect();
    assert_eq!(newest.len(), 10);
    assert_eq!(strings(&alert["sample_event_ids"]), newest);
}

fn a_late_event_does_not_bring_back_what_has_left_the_window(database: DatabaseKind) {
    let rule = json!({"threshold": 3, "window_seconds": 60});
    let Some(mut timed) = Timed::with_rule(database, rule) else {
        return;
    };
    let project = timed.organization.project();
    project.store_all(vec![timed.door_opened_at("actor-1", -56); 2]);
    timed.clock.advance_millis(5_000);
    // This event occurred less than a minute after them, but they are now more than a minute old.
    project.store(timed.door_opened_at("actor-1", -15));
    assert_eq!(project.all_alerts().len(), 0);
}
