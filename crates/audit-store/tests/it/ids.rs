//! From an event's id to its place in the log.

use crate::{NOW, append, create_project, open, prepare};
use audit_domain::{EventId, Timestamp};
use audit_store::{Appended, Destination, NewEvent, Store};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary};
use proptest::prelude::*;
use serde_json::json;
use std::path::Path;

/// Events that are stored together.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// So many, so many milliseconds after those before.
    Sent(usize, i64),
    /// So many, that were sent so many milliseconds before the newest so far.
    Claimed(usize, i64),
}

fn any_step() -> impl Strategy<Value = Step> {
    // Bursts and pauses, so that ids come anything but evenly.
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
    let appended = store.write(move |rows| rows.append_claimed(to, events, NOW));
    appended.expect("the events are claimed").events
}

fn stored(appended: Vec<Appended>) -> Vec<EventId> {
    let id = |appended| match appended {
        Appended::Stored(id) => id,
        other => panic!("{other:?}"),
    };
    appended.into_iter().map(id).collect()
}

/// Stores what the steps say; the ids in the order of the log.
pub(crate) fn take(store: &Store, to: &Destination, steps: &[Step]) -> Vec<EventId> {
    let (mut ids, mut now) = (Vec::new(), NOW);
    for step in steps {
        let first = ids.len();
        let of = |events: usize, time: Timestamp| {
            let numbers = first..first + events;
            // One after the other, as requests that come at the same time.
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
    let logged = store.read(|rows| rows.event(to.ledger_id, id));
    logged.expect("the log is searched").map(|logged| logged.seq)
}

#[derive(QueryableByName, Debug, PartialEq)]
struct Listed {
    #[diesel(sql_type = BigInt)]
    entry: i64,
    #[diesel(sql_type = Binary)]
    id: Vec<u8>,
    #[diesel(sql_type = Binary)]
    after_id: Vec<u8>,
}

fn connect(folder: &Path) -> SqliteConnection {
    let path = folder.join("audit.db");
    SqliteConnection::establish(path.to_str().expect("a path in UTF-8")).expect("the database opens")
}

fn listed(folder: &Path) -> Vec<Listed> {
    diesel::sql_query("SELECT entry, id, after_id FROM unordered_events ORDER BY entry")
        .load(&mut connect(folder))
        .expect("the list is read")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_event_is_found_by_its_id_and_no_other(steps in proptest::collection::vec(any_step(), 1..25)) {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path());
        // Another ledger before and one behind it.
        let around = [1, 3].map(|number| create_project(&store, number));
        let to = create_project(&store, 2);
        let around = around.map(|to| crate::destination(&store, to.project_id));
        for to in &around {
            take(&store, to, &[Step::Sent(3, 0)]);
        }
        let ids = take(&store, &to, &steps);
        let mut different = ids.clone();
        different.sort();
        different.dedup();
        // Claimed ones may have the id of another by the way they are made here.
        prop_assume!(different.len() == ids.len());
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
fn an_older_database_gets_the_list_that_it_would_have() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let (one, two) = (create_project(&store, 1), create_project(&store, 2));
    let one = crate::destination(&store, one.project_id);
    let steps = [
        Step::Sent(3, 5),
        Step::Claimed(4, 1_000),
        Step::Sent(2, 5),
        Step::Claimed(1, 6),
    ];
    for to in [&one, &two] {
        take(&store, to, &steps);
    }
    drop(store);
    let expected = listed(folder.path());
    assert_eq!(expected.len(), 10, "{expected:?}");
    connect(folder.path())
        .batch_execute(concat!(
            "BEGIN;",
            include_str!("../../../../migrations/sqlite/2026-11-21-000011_unordered_events/down.sql"),
            include_str!("../../../../migrations/sqlite/2026-11-21-000011_unordered_events/up.sql"),
            "COMMIT;"
        ))
        .unwrap();
    assert_eq!(listed(folder.path()), expected);
}

#[test]
fn a_log_of_nothing_or_of_one_event_is_searched_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let to = create_project(&store, 1);
    assert_eq!(
        seq_of(&store, &to, EventId::new(NOW, [1; 10])),
        None,
        "an empty log"
    );
    let ids = take(&store, &to, &[Step::Sent(1, 0)]);
    assert_eq!(seq_of(&store, &to, ids[0]), Some(0));
    assert_eq!(seq_of(&store, &to, ids[0].successor()), None);
}
