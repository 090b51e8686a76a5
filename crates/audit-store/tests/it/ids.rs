//! From an event's id to its position in the log.

use crate::{NOW, append, create_project, open, prepare};
use audit_domain::{EventId, Timestamp};
use audit_store::{Appended, Destination, NewEvent, Store};
use proptest::prelude::*;
use serde_json::json;

/// Events that are stored together.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// A number of events, sent this many milliseconds after the step before.
    Sent(usize, i64),
    /// A number of claimed events, sent this many milliseconds before the latest step.
    Claimed(usize, i64),
}

fn any_step() -> impl Strategy<Value = Step> {
    // Bursts and pauses, so that ids are unevenly distributed.
    let pause = prop_oneof![4 => 0..3_i64, 1 => 0..1_000_000_000_i64];
    prop_oneof![
        3 => (1..30_usize, pause.clone()).prop_map(|(events, pause)| Step::Sent(events, pause)),
        1 => (1..10_usize, pause).prop_map(|(events, age)| Step::Claimed(events, age)),
    ]
}

fn event(to: &Destination, received_at: Timestamp, number: usize) -> NewEvent {
    let event = json!({
        "action": "a.b", "category": "auth", "tenant_id": "t", "actor": {"id": "a", "type": "user"},
        "metadata": {"number": number},
    });
    prepare(to, &event, received_at, number as u8)
}

fn claim(store: &Store, to: &Destination, events: Vec<NewEvent>) -> Vec<Appended> {
    let to = to.clone();
    let appended = store.write(move |writer| writer.append_claimed(to, events, NOW));
    appended.expect("the events are claimed").events
}

fn stored(appended: Vec<Appended>) -> Vec<EventId> {
    let id = |appended| match appended {
        Appended::Stored(id) => id,
        other => panic!("{other:?}"),
    };
    appended.into_iter().map(id).collect()
}

/// Stores the events of the steps. Returns their ids in the order of the log.
pub(crate) fn store_steps(store: &Store, to: &Destination, steps: &[Step]) -> Vec<EventId> {
    let (mut ids, mut now) = (Vec::new(), NOW);
    for step in steps {
        let first = ids.len();
        let of = |events: usize, time: Timestamp| {
            let numbers = first..first + events;
            // Of one time, as concurrent requests have it.
            numbers
                .map(move |number| event(to, time, number))
                .collect::<Vec<_>>()
        };
        let later = |millis: i64| Timestamp::from_millis(now.as_millis() + millis);
        ids.extend(stored(match *step {
            Step::Sent(events, pause) => {
                now = later(pause);
                append(store, to, of(events, now))
            }
            Step::Claimed(events, age) => claim(store, to, of(events, later(-age))),
        }));
    }
    ids
}

pub(crate) fn seq_of(store: &Store, to: &Destination, id: EventId) -> Option<u64> {
    let logged = store.read(|reader| reader.event(to.ledger_id, id));
    logged.expect("the log is searched").map(|logged| logged.seq)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_event_is_found_by_its_id_and_no_other(steps in proptest::collection::vec(any_step(), 1..25)) {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path());
        // Ledgers with a lower and a higher number.
        let around = [1, 3].map(|number| create_project(&store, number));
        let to = create_project(&store, 2);
        let around = around.map(|to| crate::destination(&store, to.project_id));
        for to in &around {
            store_steps(&store, to, &[Step::Sent(3, 0)]);
        }
        let ids = store_steps(&store, &to, &steps);
        let mut distinct = ids.clone();
        distinct.sort();
        distinct.dedup();
        // This test may give a claimed event the id of another event.
        prop_assume!(distinct.len() == ids.len());
        for (seq, id) in ids.iter().enumerate() {
            prop_assert_eq!(seq_of(&store, &to, *id), Some(seq as u64));
            let next = id.successor();
            if !ids.contains(&next) {
                prop_assert_eq!(seq_of(&store, &to, next), None);
            }
        }
        for time in [Timestamp::from_millis(0), NOW, Timestamp::from_seconds(NOW.as_millis())] {
            let id = EventId::new(time, [0xee; 10]);
            prop_assert_eq!(seq_of(&store, &to, id), None);
        }
    }
}

#[test]
fn an_empty_log_and_a_log_of_one_event_are_searched() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let to = create_project(&store, 1);
    assert_eq!(
        seq_of(&store, &to, EventId::new(NOW, [1; 10])),
        None,
        "an empty log"
    );
    let ids = store_steps(&store, &to, &[Step::Sent(1, 0)]);
    assert_eq!(seq_of(&store, &to, ids[0]), Some(0));
    assert_eq!(seq_of(&store, &to, ids[0].successor()), None);
}

#[test]
fn several_events_are_read_by_their_ids() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let to = create_project(&store, 1);
    let ids = store_steps(&store, &to, &[Step::Sent(5, 0), Step::Sent(3, 10)]);
    let read = |wanted: &[EventId]| {
        let found = store.read(|reader| reader.intact_events(to.ledger_id, wanted));
        let found = found.expect("the log is searched");
        found.iter().map(|event| event.id).collect::<Vec<_>>()
    };
    let missing = EventId::new(Timestamp::from_millis(0), [0xee; 10]);
    assert_eq!(read(&[ids[6], missing, ids[0]]), [ids[6], ids[0]]);
    assert!(read(&[]).is_empty());
}
