use super::*;

const NOW: Timestamp = Timestamp::from_seconds(1_768_473_000);

fn rule(threshold: i64, window_seconds: i64, cooldown_seconds: i64) -> Windowing {
    Windowing {
        revision: Revision::default(),
        threshold: threshold.try_into().unwrap(),
        window_seconds: window_seconds.try_into().unwrap(),
        cooldown_seconds: cooldown_seconds.try_into().unwrap(),
    }
}

fn id(n: u64) -> EventId {
    EventId::from_bytes(u128::from(n).to_be_bytes())
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(NOW.as_millis() + millis)
}

/// Passes events that arrive and occur at the given milliseconds to an empty group; returns which of them fire.
fn fires(rule: &Windowing, events: &[(i64, i64)]) -> Vec<bool> {
    let mut state = GroupState::default();
    (0..)
        .zip(events)
        .map(|(n, (arrives, occurs))| {
            let observed = state.observe(rule, at(*arrives), at(*occurs), id(n));
            observed.into_firing().is_some()
        })
        .collect()
}

#[test]
fn the_event_that_reaches_the_threshold_fires() {
    assert_eq!(
        fires(&rule(3, 60, 0), &[(0, 0), (1, 1), (2, 2)]),
        [false, false, true]
    );
    assert_eq!(fires(&rule(1, 60, 0), &[(0, 0), (0, 0)]), [true, true]);
}

#[test]
fn both_ends_of_the_window_are_included() {
    assert_eq!(fires(&rule(2, 60, 0), &[(0, 0), (60_000, 60_000)]), [false, true]);
    assert_eq!(
        fires(&rule(2, 60, 0), &[(0, 0), (60_001, 60_001)]),
        [false, false]
    );
}

#[test]
fn microseconds_are_ignored() {
    let mut state = GroupState::default();
    let rule = rule(2, 60, 0);
    state.observe(&rule, at(0), at(0), id(1));
    let now = Timestamp::from_micros(at(60_000).as_micros() + 999);
    assert!(rule.counts(now, at(0)));
    let firing = state.observe(&rule, now, now, id(2)).into_firing().unwrap();
    assert_eq!(firing.fired_at, at(60_000));
}

#[test]
fn an_event_that_is_late_by_more_than_the_window_does_not_count() {
    let rule = rule(1, 60, 0);
    assert_eq!(fires(&rule, &[(60_000, 0), (60_001, 0)]), [true, false]);
    assert!(rule.counts(at(60_000), at(0)));
    assert!(!rule.counts(at(60_001), at(0)));
}

#[test]
fn a_time_in_the_future_counts_as_the_arrival() {
    let day = 86_400_000;
    assert_eq!(
        fires(&rule(2, 60, 0), &[(0, day), (60_000, 60_000)]),
        [false, true]
    );
    assert_eq!(fires(&rule(2, 60, 0), &[(0, day), (60_001, day)]), [false, false]);
}

#[test]
fn order_of_arrival_within_the_window_does_not_matter() {
    let events = [(30_000, 29_000), (30_001, 1_000), (30_002, 15_000)];
    assert_eq!(fires(&rule(3, 60, 0), &events), [false, false, true]);
}

#[test]
fn after_firing_the_group_is_silent_for_the_cooldown_and_then_needs_the_threshold_again() {
    let rule = rule(2, 60, 100);
    let events = [
        (0, 0),
        (1, 1),             // fires
        (99_999, 99_999),   // in the cooldown, counted
        (100_000, 100_000), // in the last millisecond of the cooldown
        (100_001, 100_001), // fires together with the two before
        (200_001, 200_001), // the first of the next window
        (200_002, 200_002), // fires
    ];
    assert_eq!(
        fires(&rule, &events),
        [false, true, false, false, true, false, true]
    );
}

#[test]
fn an_event_that_leaves_the_window_before_the_cooldown_ends_changes_nothing() {
    let rule = rule(1, 60, 3_600);
    let mut state = GroupState::default();
    state.observe(&rule, at(0), at(0), id(0));
    let fired = state.clone();
    assert_eq!(
        state.observe(&rule, at(3_539_999), at(3_539_999), id(1)),
        Observed::Unchanged
    );
    assert_eq!(state, fired);
    assert_eq!(
        state.observe(&rule, at(3_540_000), at(3_540_000), id(2)),
        Observed::Counted
    );
    let firing = state
        .observe(&rule, at(3_600_000), at(3_600_000), id(3))
        .into_firing()
        .unwrap();
    assert_eq!(firing.event_count, 2);
}

#[test]
fn the_ten_newest_events_are_samples() {
    let rule = rule(12, 60, 0);
    let mut state = GroupState::default();
    for n in (0..11_u64).rev() {
        state.observe(&rule, at(0), at(-(n as i64) / 2), id(n));
    }
    let firing = state
        .observe(&rule, at(0), at(-60_000), id(99))
        .into_firing()
        .unwrap();
    // 0 and 1 occurred together, as did 2 and 3 and so on; within a pair the greater id comes first.
    let expected = [1, 0, 3, 2, 5, 4, 7, 6, 9, 8].map(id);
    assert_eq!(firing.sample_event_ids, expected);
    assert_eq!(firing.event_count, 12);
}

#[test]
fn an_edit_starts_windows_afresh_and_leaves_the_silence() {
    let (before, edited) = (
        rule(2, 60, 100),
        Windowing {
            revision: Revision::from_number(1),
            ..rule(2, 60, 100)
        },
    );
    let mut state = GroupState::default();
    state.observe(&before, at(0), at(0), id(0));
    assert_eq!(state.observe(&edited, at(1), at(1), id(1)), Observed::Counted);
    assert!(
        state
            .observe(&edited, at(2), at(2), id(2))
            .into_firing()
            .is_some()
    );
    // A shorter cooldown also applies to the running one.
    let shorter = Windowing {
        revision: Revision::from_number(2),
        ..rule(1, 60, 50)
    };
    assert_eq!(
        state.observe(&shorter, at(50_001), at(50_001), id(3)),
        Observed::Counted
    );
    assert!(
        state
            .observe(&shorter, at(50_002), at(50_002), id(4))
            .into_firing()
            .is_some()
    );
}

#[test]
fn clock_skew_does_not_stop_any_node_from_counting() {
    let hour = 3_600_000;
    assert_eq!(
        fires(&rule(2, 60, 0), &[(5_000, 5_000), (4_000, 4_000)]),
        [false, true]
    );
    assert_eq!(
        fires(&rule(2, 60, 0), &[(hour, hour), (0, 0), (hour, hour), (1, 1)]),
        [false, true, false, true]
    );
    assert_eq!(fires(&rule(1, 60, 0), &[(2, 2), (1, 1), (0, 0)]), [true; 3]);
    assert_eq!(
        fires(&rule(1, 60, 1), &[(2, 2), (1, 1), (0, 0)]),
        [true, false, false]
    );
}

#[test]
fn a_flood_at_the_end_of_a_silence_is_held_in_bounded_space_and_fires_exactly() {
    let (window, cooldown) = (300, 3_600);
    let rule = rule(5, window, cooldown);
    let mut state = GroupState::default();
    for n in 0..5 {
        state.observe(&rule, at(0), at(0), id(n));
    }
    // An event every 7 ms over the last window of the cooldown.
    let (from, until) = ((cooldown - window) * 1_000, cooldown * 1_000);
    let mut events = 0_u64;
    for millis in (from..until).step_by(7) {
        state.observe(&rule, at(millis), at(millis), id(millis as u64));
        events += 1;
        assert!(state.occurrences.len() <= times_max(5, 300));
        assert_eq!(
            state.occurrences.iter().map(|held| held.count).sum::<u64>(),
            events
        );
    }
    assert_eq!(GroupState::decode(&state.encode()).as_ref(), Ok(&state));
    assert!(state.encode().len() < 6_000, "{}", state.encode().len());
    let now = until + 500;
    let firing = state
        .observe(&rule, at(now), at(now), id(0))
        .into_firing()
        .unwrap();
    let exact = 1
        + (from..until)
            .step_by(7)
            .filter(|millis| *millis >= now - window * 1_000)
            .count() as u64;
    assert!(
        firing.event_count <= exact && exact - firing.event_count <= 1_000 / 7 + 1,
        "{} of {exact}",
        firing.event_count
    );
}

#[test]
fn a_state_expires_when_neither_window_nor_any_cooldown_needs_it() {
    let rule = rule(2, 60, 100);
    let mut state = GroupState::default();
    assert_eq!(state.expires_at(&rule), None);
    state.observe(&rule, at(0), at(0), id(0));
    assert_eq!(state.expires_at(&rule), Some(at(60_001)));
    state.observe(&rule, at(0), at(0), id(1));
    let longest = i64::from(CooldownSeconds::MAX.get()) * 1_000;
    assert_eq!(state.expires_at(&rule), Some(at(longest)));
}

#[test]
fn an_older_event_of_a_value_in_the_window_changes_nothing() {
    let rule = rule(2, 60, 100);
    let mut state = GroupState::default();
    let mut observe = |now: i64, occurred: i64, n: u8| {
        let value = ValueHash::from_bytes([n; ValueHash::BYTES]);
        let before = state.clone();
        let observed = state.observe_value(&rule, at(now), at(occurred), id(u64::from(n)), value);
        (observed, state == before)
    };
    assert_eq!(observe(10, 10, 1).0, Observed::Counted);
    assert_eq!(observe(11, 9, 1), (Observed::Unchanged, true));
    assert_eq!(observe(12, 12, 1).0, Observed::Counted);
    assert!(observe(13, 13, 2).0.into_firing().is_some());
    // During the cooldown only the two newest values matter.
    assert_eq!(observe(50_000, 50_000, 3).0, Observed::Counted);
    assert_eq!(observe(60_000, 60_000, 4).0, Observed::Counted);
    assert_eq!(observe(60_001, 49_999, 5), (Observed::Unchanged, true));
    // Value 3 leaves the window, which changes the state.
    assert_eq!(observe(111_000, 55_000, 4), (Observed::Counted, false));
}
