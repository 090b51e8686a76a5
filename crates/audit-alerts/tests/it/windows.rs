//! Compares the state machine with the reference, also for a store that deletes expired states.

use crate::reference::{Alert, Reference, Rule};
use audit_alerts::{Firing, GroupState, Observed, Revision, Windowing};
use audit_domain::{EventId, Timestamp};
use proptest::collection::vec;
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// An event arrives `later` milliseconds after the last one and occurred `age` milliseconds before its arrival.
    Event {
        later: i64,
        age: i64,
        id: u64,
    },
    Edit(Rule),
}

pub(crate) const START: i64 = 1_768_473_000_000;

fn rules() -> impl Strategy<Value = Rule> {
    let threshold = prop_oneof![Just(1), 1..6_i64, 8..20_i64];
    let window = prop_oneof![3 => Just(60_000), 1 => Just(61_000), 1 => Just(120_000)];
    let cooldown = prop_oneof![
        Just(0),
        Just(1_000),
        Just(59_000),
        Just(60_000),
        Just(61_000),
        Just(300_000)
    ];
    (threshold, window, cooldown).prop_map(|(threshold, window, cooldown)| Rule {
        threshold,
        window,
        cooldown,
    })
}

/// Durations around the limits: the ends of windows and cooldowns, to the millisecond.
fn spans() -> impl Strategy<Value = i64> {
    let edge = prop_oneof![
        Just(1_000),
        Just(30_000),
        Just(60_000),
        Just(61_000),
        Just(120_000)
    ];
    prop_oneof![
        3 => Just(0),
        3 => 0..4_i64,
        2 => (edge, -1..=1_i64).prop_map(|(edge, off)| edge + off),
        2 => 0..20_000_i64,
    ]
}

pub(crate) fn steps() -> impl Strategy<Value = (Rule, Vec<Step>)> {
    let age =
        prop_oneof![4 => Just(0), 4 => spans(), 1 => spans().prop_map(|span| -span), 1 => Just(-86_400_000)];
    let event = (spans(), age, 0..50_u64).prop_map(|(later, age, id)| Step::Event { later, age, id });
    let step = prop_oneof![30 => event, 1 => rules().prop_map(Step::Edit)];
    (rules(), vec(step, 1..150))
}

/// Runs both implementations on the same steps.
pub(crate) struct Pair {
    pub(crate) reference: Reference,
    pub(crate) state: GroupState,
    pub(crate) windowing: Windowing,
    pub(crate) now: i64,
}

pub(crate) fn windowing(rule: Rule, revision: u32) -> Windowing {
    Windowing {
        revision: Revision::from_number(revision),
        threshold: rule.threshold.try_into().unwrap(),
        window_seconds: (rule.window / 1_000).try_into().unwrap(),
        cooldown_seconds: (rule.cooldown / 1_000).try_into().unwrap(),
    }
}

pub(crate) fn id(n: u64) -> EventId {
    EventId::from_bytes(u128::from(n).to_be_bytes())
}

fn as_alert(firing: Firing) -> Alert {
    let number = |id: EventId| u128::from_be_bytes(id.to_bytes()) as u64;
    Alert {
        fired_at: firing.fired_at.as_millis(),
        event_count: firing.event_count,
        samples: firing.sample_event_ids.into_iter().map(number).collect(),
    }
}

impl Pair {
    pub(crate) fn new(rule: Rule) -> Self {
        Self {
            reference: Reference::new(rule),
            state: GroupState::default(),
            windowing: windowing(rule, 0),
            now: START,
        }
    }

    /// The results of the reference and of the state machine for a step.
    pub(crate) fn take(&mut self, step: Step) -> (Option<Alert>, Observed) {
        match step {
            Step::Edit(rule) => {
                self.reference.edit(rule);
                self.windowing = windowing(rule, self.windowing.revision.number() + 1);
                (None, Observed::Unchanged)
            }
            Step::Event { later, age, id: n } => {
                self.now += later;
                let (now, occurred) = (self.now, self.now - age);
                let times = (Timestamp::from_millis(now), Timestamp::from_millis(occurred));
                let expected = self.reference.arrive(now, occurred, n);
                let observed = self.state.observe(&self.windowing, times.0, times.1, id(n));
                (expected, observed)
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_state_machine_does_what_the_sentences_say((rule, steps) in steps()) {
        let mut pair = Pair::new(rule);
        for step in steps {
            let (expected, observed) = pair.take(step);
            prop_assert_eq!(observed.into_firing().map(as_alert), expected);
        }
    }

    #[test]
    fn a_state_that_is_reported_unchanged_is_unchanged((rule, steps) in steps()) {
        let mut pair = Pair::new(rule);
        for step in steps {
            let before = pair.state.clone();
            let (_, observed) = pair.take(step);
            prop_assert!(observed != Observed::Unchanged || pair.state == before);
        }
    }

    #[test]
    fn an_event_that_does_not_count_never_changes_a_state((rule, steps) in steps()) {
        let mut pair = Pair::new(rule);
        for step in steps {
            let (_, observed) = pair.take(step);
            if let Step::Event { age, .. } = step {
                let (now, occurred) = (Timestamp::from_millis(pair.now), Timestamp::from_millis(pair.now - age));
                prop_assert!(pair.windowing.counts(now, occurred) || observed == Observed::Unchanged);
            }
        }
    }

    /// Simulates a store that deletes each state as soon as it has expired.
    #[test]
    fn an_expired_state_can_be_deleted((rule, steps) in steps(), pause in prop_oneof![spans(), Just(604_799_999), Just(604_800_000)]) {
        let mut pair = Pair::new(rule);
        for step in steps {
            let next = pair.now + if let Step::Event { later, .. } = step { later + pause } else { 0 };
            let is_expired = |at: Timestamp| at.as_millis() <= next;
            if pair.state.expires_at(&pair.windowing).is_some_and(is_expired) {
                pair.state = GroupState::default();
            }
            pair.now += if let Step::Event { .. } = step { pause } else { 0 };
            let (expected, observed) = pair.take(step);
            prop_assert_eq!(observed.into_firing().map(as_alert), expected);
        }
    }

    /// The same events in any order give the same result.
    #[test]
    fn order_of_arrival_within_the_window_does_not_matter(
        occurred in vec(0..60_000_i64, 1..30), order in any::<u64>(), threshold in 1..30_i64,
    ) {
        let rule = windowing(Rule { threshold, window: 60_000, cooldown: 300_000 }, 0);
        let fires = |events: &[i64]| {
            let mut state = GroupState::default();
            let now = Timestamp::from_millis(START + 60_000);
            let firings = (0..).zip(events).filter_map(|(n, occurred)| {
                state.observe(&rule, now, Timestamp::from_millis(START + occurred), id(n)).into_firing()
            });
            firings.map(|firing| firing.event_count).collect::<Vec<_>>()
        };
        let mut shuffled = occurred.clone();
        shuffled.sort_by_key(|occurred| (*occurred as u64 + 1).wrapping_mul(order | 1));
        prop_assert_eq!(fires(&occurred), fires(&shuffled));
    }
}
