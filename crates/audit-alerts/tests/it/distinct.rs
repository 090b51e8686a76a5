//! Compares rules that count distinct values with a reference that keeps every event.

use crate::windows::{START, Step, id, steps, windowing};
use audit_alerts::{DecodeError, DistinctField, Firing, GroupState, Threshold, ValueHash};
use audit_domain::{EventId, Timestamp};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Few values, so that most come again.
fn value_of(id: u64) -> u64 {
    id % 24
}

fn hash(value: u64) -> ValueHash {
    ValueHash::of("key", DistinctField::ActorId, &value.to_string())
}

/// A transcript of the documentation. Times are milliseconds.
struct Reference {
    threshold: i64,
    window: i64,
    cooldown: i64,
    /// Time and id of the events since the last edit or firing.
    events: Vec<(i64, u64)>,
    last_fired: Option<i64>,
}

impl Reference {
    /// The events of the values that reach the threshold, newest first: of each value the newest, of the value of this event this one.
    fn arrive(&mut self, now: i64, occurred: i64, id: u64) -> Option<Vec<(i64, u64)>> {
        if now - occurred > self.window {
            return None;
        }
        let event = (occurred.min(now), id);
        self.events.push(event);
        if self.last_fired.is_some_and(|fired| now < fired + self.cooldown) {
            return None;
        }
        let mut newest: BTreeMap<u64, (i64, u64)> = BTreeMap::new();
        for event in self.events.iter().filter(|(at, _)| *at >= now - self.window) {
            let of_value = newest.entry(value_of(event.1)).or_insert(*event);
            *of_value = (*of_value).max(*event);
        }
        newest.insert(value_of(id), event);
        if (newest.len() as i64) < self.threshold {
            return None;
        }
        self.events.clear();
        self.last_fired = Some(now);
        let mut counted: Vec<(i64, u64)> = newest.into_values().collect();
        counted.sort_unstable_by(|a, b| b.cmp(a));
        Some(counted)
    }
}

fn ids(firing: &Firing) -> Vec<u64> {
    let number = |id: &EventId| u128::from_be_bytes(id.to_bytes()) as u64;
    firing.sample_event_ids.iter().map(number).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_rule_fires_exactly_when_the_values_of_the_window_reach_the_threshold((first, steps) in steps()) {
        let (mut rule, mut windowing_of, mut now) = (first, windowing(first, 0), START);
        let (mut state, mut largest) = (GroupState::default(), 0);
        let mut reference = Reference {
            threshold: rule.threshold, window: rule.window, cooldown: rule.cooldown, events: Vec::new(), last_fired: None,
        };
        for step in steps {
            let (later, age, n) = match step {
                Step::Edit(edited) => {
                    rule = edited;
                    windowing_of = windowing(edited, windowing_of.revision.number() + 1);
                    (reference.threshold, reference.window, reference.cooldown) = (rule.threshold, rule.window, rule.cooldown);
                    reference.events.clear();
                    continue;
                }
                Step::Event { later, age, id } => (later, age, id),
            };
            now += later;
            let expected = reference.arrive(now, now - age, n);
            let (arrived, occurred) = (Timestamp::from_millis(now), Timestamp::from_millis(now - age));
            let firing = state.observe_value(&windowing_of, arrived, occurred, id(n), hash(value_of(n))).into_firing();
            let threshold = rule.threshold as usize;
            prop_assert_eq!(firing.is_some(), expected.is_some());
            if let (Some(firing), Some(expected)) = (&firing, &expected) {
                // A flood during a cooldown leaves the newest values only.
                prop_assert!((threshold..=expected.len()).contains(&(firing.event_count as usize)));
                prop_assert!(firing.event_count as usize <= threshold + 1);
                prop_assert_eq!(firing.fired_at, arrived);
                let (sampled, counted) = (ids(firing), expected.iter().map(|(_, id)| *id).collect::<Vec<_>>());
                if counted.len() == threshold {
                    prop_assert_eq!(&sampled[..], &counted[..counted.len().min(Firing::SAMPLE_EVENTS_MAX)]);
                }
                prop_assert!(sampled.iter().all(|id| counted.contains(id)));
                let is_small = firing.event_count as usize <= Firing::SAMPLE_EVENTS_MAX;
                prop_assert!(!is_small || firing.sample_event_ids.contains(&id(n)));
            }
            let bytes = state.encode();
            let decoded = GroupState::decode(&bytes);
            prop_assert_eq!(decoded.as_ref(), Ok(&state));
            // A state that no event has changed since an edit has the values of the earlier threshold.
            largest = largest.max(threshold);
            prop_assert!(bytes.len() <= 32 + 34 * largest, "{} bytes at a threshold of {largest}", bytes.len());
        }
    }

    #[test]
    fn an_expired_state_of_values_can_be_deleted((rule, steps) in steps()) {
        let (windowing, mut now) = (windowing(rule, 0), START);
        let (mut kept, mut deleted) = (GroupState::default(), GroupState::default());
        for step in steps {
            let Step::Event { later, age, id: n } = step else { continue };
            now += later;
            let times = (Timestamp::from_millis(now), Timestamp::from_millis(now - age));
            if deleted.expires_at(&windowing).is_some_and(|at| at <= times.0) {
                deleted = GroupState::default();
            }
            let fires = |state: &mut GroupState| {
                state.observe_value(&windowing, times.0, times.1, id(n), hash(value_of(n))).into_firing()
            };
            prop_assert_eq!(fires(&mut deleted), fires(&mut kept));
        }
    }

    #[test]
    fn bytes_of_values_are_refused_or_the_one_encoding_of_a_state(
        damaged in proptest::collection::vec(any::<u8>(), 0..120), at in any::<prop::sample::Index>(), byte: u8,
    ) {
        let mut state = GroupState::default();
        for n in 0..4 {
            let at = Timestamp::from_millis(START + n as i64);
            state.observe_value(&rule(10), at, at, id(n), hash(n));
        }
        let mut bytes = state.encode();
        for end in 0..bytes.len() {
            prop_assert!(GroupState::decode(&bytes[..end]).is_err());
        }
        let at = at.index(bytes.len());
        bytes[at] = byte;
        for bytes in [bytes, [&[2], &damaged[..]].concat()] {
            if let Ok(state) = GroupState::decode(&bytes) {
                prop_assert_eq!(state.encode(), bytes);
            }
        }
    }
}

fn rule(threshold: i64) -> audit_alerts::Windowing {
    let rule = crate::reference::Rule {
        threshold,
        window: 60_000,
        cooldown: 3_600_000,
    };
    windowing(rule, 0)
}

/// The values that arrive during a cooldown have no limit.
#[test]
fn a_flood_of_values_in_a_cooldown_is_held_in_bounded_space_and_fires_after_it() {
    let rule = rule(20);
    let mut state = GroupState::default();
    let mut fires = |millis: i64, n: u64| {
        let at = Timestamp::from_millis(START + millis);
        let firing = state.observe_value(&rule, at, at, id(n), hash(n)).into_firing();
        (firing.map(|firing| firing.event_count), state.encode().len())
    };
    for n in 0..19 {
        assert_eq!(fires(0, n).0, None);
    }
    assert_eq!(fires(0, 19).0, Some(20));
    for n in 0..10_000 {
        let (fired, bytes) = fires(3_540_000 + n as i64, n);
        assert_eq!(fired, None);
        assert!(bytes < 700, "{bytes}");
    }
    assert_eq!(fires(3_600_000, 9_999).0, Some(20));
}

#[test]
fn a_value_that_comes_again_counts_once_and_stays_in_the_window() {
    let rule = rule(3);
    let mut state = GroupState::default();
    let mut fires = |millis: i64, n: u64| {
        let at = Timestamp::from_millis(START + millis);
        state
            .observe_value(&rule, at, at, id(n), hash(n))
            .into_firing()
            .is_some()
    };
    assert!(!fires(0, 1));
    assert!(!fires(1, 2));
    assert!(!fires(2, 1));
    assert!(!fires(59_999, 1), "one value many times");
    assert!(!fires(60_002, 3), "the second has left the window");
    assert!(fires(60_003, 4));
}

#[test]
fn a_state_has_no_more_values_than_a_threshold_and_no_value_twice() {
    let of = |count: u64| {
        let mut bytes = vec![2, 0, 0];
        let (mut rest, time) = (count, 0);
        while rest >= 0x80 {
            bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        bytes.extend([rest as u8, time]);
        bytes
    };
    let decode = |bytes: &[u8]| GroupState::decode(bytes).unwrap_err();
    assert_eq!(decode(&of(0)), DecodeError::OutOfRange);
    assert_eq!(
        decode(&of(u64::from(Threshold::MAX.get()) + 1)),
        DecodeError::OutOfRange
    );
    assert_eq!(
        decode(&of(u64::from(Threshold::MAX.get()))),
        DecodeError::Truncated
    );
    let value = [&[0][..], &[7; 24]].concat();
    assert_eq!(
        decode(&[of(2), value.clone(), value].concat()),
        DecodeError::Disordered
    );
}
