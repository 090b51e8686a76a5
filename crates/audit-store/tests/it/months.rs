//! Months: in which one an event is stored, and the window in which its idempotency key is known.

use crate::{NOW, append, count, create_project, open_url, prepare};
use audit_domain::{Category, EventFilter, EventId, Facet, IdempotencyWindow, Timestamp};
use audit_store::{
    Appended, DatabaseUrl, Destination, NewEvent, Store, StoreError, StoreOptions, verify_index,
};
use audit_tests::{Database, DatabaseKind, Deadline, on_both_databases};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::thread;

on_both_databases! {
    a_key_is_known_in_the_months_of_the_window_and_new_after_it,
    without_a_window_a_key_is_known_as_long_as_its_event_is_stored,
    a_changed_window_holds_for_events_that_are_stored_already,
    two_nodes_store_a_key_once_on_both_sides_of_a_months_edge,
    a_node_whose_clock_is_behind_stores_in_the_month_of_the_log,
    a_claim_stores_in_its_own_month,
    events_of_many_months_are_read_in_every_order,
}

/// The mean length of a month.
const MONTH_SECONDS: i64 = 2_629_800;

/// A time in the middle of the month so many months after January 2026.
fn month(months: i64) -> Timestamp {
    NOW.plus_seconds(months * MONTH_SECONDS)
}

fn open(database: &Database, window: u16) -> Store {
    let url: DatabaseUrl = database.url().parse().expect("a valid URL");
    let options = StoreOptions {
        idempotency_window: IdempotencyWindow::of_months(window),
        ..StoreOptions::default()
    };
    open_url(&url, options)
}

fn event(key: Option<&str>, content: &str) -> Value {
    let mut event = json!({
        "action": "a.b", "category": "auth", "tenant_id": "t", "actor": {"id": content, "type": "user"},
    });
    if let Some(key) = key {
        event["idempotency_key"] = json!(key);
    }
    event
}

fn prepared(to: &Destination, key: Option<&str>, content: &str, at: Timestamp, random: u8) -> NewEvent {
    prepare(to, &event(key, content), at, random)
}

/// Sends one event.
fn send(store: &Store, to: &Destination, key: &str, content: &str, at: Timestamp, random: u8) -> Appended {
    append(store, to, vec![prepared(to, Some(key), content, at, random)])[0]
}

/// Stores some events without a key, so that on PostgreSQL the node knows the head and stores the next one by one statement.
fn fill(store: &Store, to: &Destination, at: Timestamp) {
    for random in 0..4 {
        append(store, to, vec![prepared(to, None, "filler", at, random)]);
    }
}

fn stored(appended: Appended) -> EventId {
    match appended {
        Appended::Stored(id) => id,
        other => panic!("{other:?}"),
    }
}

/// Asserts that the index has all events, under their own tokens.
fn assert_indexed(database: &Database) {
    let url: DatabaseUrl = database.url().parse().expect("a valid URL");
    let (report, _) = verify_index(&url, &mut |_, _| {}).expect("the index is read");
    assert_eq!(report.findings, []);
}

fn a_key_is_known_in_the_months_of_the_window_and_new_after_it(kind: DatabaseKind) {
    let database = Database::create(kind);
    let store = open(&database, 3);
    let to = create_project(&store, 1);
    fill(&store, &to, month(0));
    let first = stored(send(&store, &to, "k", "a", month(0), 10));
    for months in 0..3 {
        // The first commit of a month, and one that is stored by one statement.
        for random in [20, 30] {
            let at = month(months);
            assert_eq!(
                send(&store, &to, "k", "a", at, random),
                Appended::Repeated(first),
                "{months}"
            );
            assert_eq!(
                send(&store, &to, "k", "b", at, random),
                Appended::Conflicting(first)
            );
            fill(&store, &to, at);
            stored(send(
                &store,
                &to,
                &format!("other {months} {random}"),
                "a",
                at,
                random,
            ));
        }
    }
    fill(&store, &to, month(3));
    let second = stored(send(&store, &to, "k", "b", month(3), 40));
    for months in 3..6 {
        fill(&store, &to, month(months));
        let repeat = send(&store, &to, "k", "b", month(months), 50);
        assert_eq!(repeat, Appended::Repeated(second));
        assert_eq!(
            send(&store, &to, "k", "a", month(months), 60),
            Appended::Conflicting(second)
        );
    }
    for id in [first, second] {
        let found = store.read(|reader| reader.event(to.ledger_id, id));
        assert_eq!(found.expect("it is read").expect("it is stored").event.id, id);
    }
    let of_tenant = |tenant: &str| EventFilter::of(Facet::ActorId, tenant);
    assert_eq!(count(&store, &to, of_tenant("b")), 1);
    drop(store);
    let store = open(&database, 3);
    assert_eq!(
        send(&store, &to, "k", "b", month(5), 70),
        Appended::Repeated(second)
    );
    drop(store);
    assert_indexed(&database);
}

fn without_a_window_a_key_is_known_as_long_as_its_event_is_stored(kind: DatabaseKind) {
    let database = Database::create(kind);
    let store = open(&database, 0);
    let to = create_project(&store, 1);
    let first = stored(send(&store, &to, "k", "a", month(0), 1));
    for months in [0, 1, 2, 5, 11, 14] {
        fill(&store, &to, month(months));
        let repeat = send(&store, &to, "k", "a", month(months), 2);
        assert_eq!(repeat, Appended::Repeated(first), "{months}");
    }
}

fn a_changed_window_holds_for_events_that_are_stored_already(kind: DatabaseKind) {
    let database = Database::create(kind);
    let to = create_project(&open(&database, 1), 1);
    let mut ids = Vec::new();
    for (months, window) in [(0, 1), (1, 1), (2, 3)] {
        let store = open(&database, window);
        fill(&store, &to, month(months));
        let sent = send(&store, &to, "k", "a", month(months), 1);
        match window {
            1 => ids.push(stored(sent)),
            _ => assert_eq!(sent, Appended::Repeated(ids[1]), "the newest of two"),
        }
    }
    let store = open(&database, 0);
    assert_eq!(
        send(&store, &to, "k", "a", month(9), 1),
        Appended::Repeated(ids[1])
    );
    drop(store);
    let store = open(&database, 1);
    stored(send(&store, &to, "k", "a", month(9), 2));
}

fn two_nodes_store_a_key_once_on_both_sides_of_a_months_edge(kind: DatabaseKind) {
    const EDGES: i64 = 10;
    let database = Database::create(kind);
    let nodes = [open(&database, 2), open(&database, 2)];
    let to = create_project(&nodes[0], 1);
    for edge in 0..EDGES {
        let times = [month(edge), month(edge + 1)];
        let before = [&nodes[0], &nodes[1], &nodes[0]][(edge % 3) as usize];
        // Which node knows the head, and stores by one statement, alternates.
        fill(before, &to, times[0]);
        let keys: Vec<String> = (0..8).map(|number| format!("{edge} {number}")).collect();
        let outcomes: Vec<Vec<Appended>> = thread::scope(|scope| {
            let send_all = |node: usize| {
                let (keys, to, store) = (&keys, &to, &nodes[node]);
                let send = move |key: &String| send(store, to, key, "a", times[node], node as u8);
                scope.spawn(move || keys.iter().map(send).collect::<Vec<_>>())
            };
            let threads = [send_all(0), send_all(1)];
            threads.map(|thread| thread.join().expect("all are sent")).into()
        });
        for (one, other) in outcomes[0].iter().zip(&outcomes[1]) {
            match (one, other) {
                (Appended::Stored(id), Appended::Repeated(of))
                | (Appended::Repeated(of), Appended::Stored(id)) => {
                    assert_eq!(id, of);
                }
                both => panic!("{both:?}"),
            }
        }
    }
}

fn a_node_whose_clock_is_behind_stores_in_the_month_of_the_log(kind: DatabaseKind) {
    let database = Database::create(kind);
    let nodes = [open(&database, 2), open(&database, 2)];
    let to = create_project(&nodes[0], 1);
    let first = stored(send(&nodes[0], &to, "k", "a", month(1), 1));
    for round in 0..4 {
        // One month behind, and the other way round.
        let (node, months) = ((round % 2) as usize, if round % 2 == 0 { 2 } else { 1 });
        fill(&nodes[node], &to, month(months));
        assert_eq!(
            send(&nodes[node], &to, "k", "a", month(months), 2),
            Appended::Repeated(first)
        );
    }
    assert_eq!(database.count("ledger_months"), 2);
    fill(&nodes[0], &to, month(3));
    // By the clock of the node, the key would be known.
    let second = stored(send(&nodes[1], &to, "k", "a", month(2), 3));
    assert_eq!(
        send(&nodes[0], &to, "k", "a", month(3), 4),
        Appended::Repeated(second)
    );
    assert_eq!(database.count("ledger_months"), 3);
    let (ids, size) = nodes[0]
        .read(|reader| {
            let events = reader.logged_events(to.ledger_id, 0, 100)?;
            let ids: Vec<EventId> = events.iter().map(|event| event.event.id).collect();
            Ok::<_, audit_store::StoreError>((ids, reader.ledger_size(to.ledger_id)?))
        })
        .expect("the log is read");
    assert_eq!(ids.len() as u64, size);
    assert!(ids.is_sorted_by(|one, next| one < next));
}

fn a_claim_stores_in_its_own_month(kind: DatabaseKind) {
    let database = Database::create(kind);
    let store = open(&database, 2);
    let to = create_project(&store, 1);
    fill(&store, &to, month(0));
    let claim = |claimed: NewEvent, at| {
        let to = to.clone();
        let outcome = store.write(move |writer| writer.append_claimed(to, vec![claimed], at));
        outcome.expect("it is claimed").events[0]
    };
    let at = month(0).plus_seconds(-5);
    let claimed = stored(claim(prepared(&to, Some("k"), "a", at, 9), month(2)));
    assert_eq!(
        database.count("ledger_months"),
        2,
        "January and the month of the claim"
    );
    assert_eq!(
        send(&store, &to, "k", "a", month(3), 1),
        Appended::Repeated(claimed),
        "the window of the key begins with the claim"
    );
    // The node's clock is behind the claim.
    stored(send(&store, &to, "l", "a", month(0).plus_seconds(9), 2));
    assert_eq!(database.count("ledger_months"), 2);
    let again = claim(prepared(&to, Some("k"), "a", at, 9), month(3));
    assert_eq!(again, Appended::Repeated(claimed));
    let found = store.read(|reader| reader.event(to.ledger_id, claimed));
    assert_eq!(
        found.expect("it is read").expect("it is stored").event.id,
        claimed
    );
    drop(store);
    assert_indexed(&database);
}

fn events_of_many_months_are_read_in_every_order(kind: DatabaseKind) {
    const MONTHS: i64 = 14;
    let database = Database::create(kind);
    let store = open(&database, 3);
    let to = create_project(&store, 1);
    let mut ids = Vec::new();
    for months in 0..MONTHS {
        let events = (0..10).map(|number| {
            // Every second event occurred long before it was sent.
            let at = month(months).plus_seconds(i64::from(number));
            let mut event = event(None, if number == 3 { "rare" } else { "a" });
            if number % 2 == 0 {
                let occurred_at = NOW.plus_seconds(i64::from(number) - months * MONTH_SECONDS);
                event["occurred_at"] = json!(occurred_at.to_string());
            }
            prepare(&to, &event, at, number)
        });
        ids.extend(append(&store, &to, events.collect()).into_iter().map(stored));
    }
    let size = ids.len() as u64;
    for start in 0..size {
        let logged = store.read(|reader| reader.logged_events(to.ledger_id, start, 200));
        let logged = logged.expect("the log is read");
        let seqs: Vec<u64> = logged.iter().map(|event| event.seq).collect();
        assert_eq!(seqs, (start..size).collect::<Vec<_>>());
        let id = ids[start as usize];
        assert_eq!(logged[0].event.id, id);
        let found = store.read(|reader| reader.event(to.ledger_id, id));
        assert_eq!(found.expect("it is read").expect("it is stored").seq, start);
    }
    let rare = EventFilter::of(Facet::ActorId, "rare");
    assert_eq!(count(&store, &to, EventFilter::default()), ids.len());
    assert_eq!(count(&store, &to, rare.clone()), MONTHS as usize);
    let of_category = EventFilter::of(Facet::Category, Category::Auth.as_str());
    assert_eq!(count(&store, &to, of_category.clone()), ids.len());
    drop(store);
    assert_indexed(&database);
    // Without the backlog.
    let store = open(&database, 3);
    assert_eq!(count(&store, &to, of_category), ids.len());
    assert_eq!(count(&store, &to, rare), MONTHS as usize);
}

/// Gives an event the key, past the service, and writes another content hash into another one.
fn plant(database: &Database, key: &str, in_event: EventId, changed: Option<EventId>) {
    let digest = Sha256::digest(format!("t\0{key}"));
    let set = |column: &str, value: &[u8], id: EventId| {
        let (value, id) = (database.blob(value), database.blob(&id.to_bytes()));
        database.execute(&format!("UPDATE events SET {column} = {value} WHERE id = {id}"));
    };
    set("idempotency_hash", &digest[..16], in_event);
    if let Some(changed) = changed {
        set("content_hash", &[0; 32], changed);
    }
}

/// A node that has a filter of the keys of the months 0 and 1, with the events of these months that have keys.
fn node_with_filter(database: &Database) -> (Store, Destination, [EventId; 3]) {
    let store = open(database, 3);
    let to = create_project(&store, 1);
    let ids = [("k", 0), ("l", 0), ("m", 1)]
        .map(|(key, months)| stored(send(&store, &to, key, "a", month(months), 1)));
    let mut sent = 0_u8;
    Deadline::seconds(60).poll("the keys of the earlier months are read", || {
        sent = sent.wrapping_add(1);
        // A filter of the month 0 alone, which the key in the month 1 has asked for, is dropped by the next commit with a key.
        let has_filter = || store.statistics().key_filter_bytes > 0;
        let had_one = has_filter();
        stored(send(&store, &to, &format!("new {sent}"), "a", month(2), sent));
        (had_one && has_filter()).then_some(())
    });
    (store, to, ids)
}

/// The key is one that only the filter says is absent: an attacker, or a restored database, put it there.
#[test]
fn a_filter_of_earlier_months_is_used_for_the_stored_history_only() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let database = Database::create(DatabaseKind::Postgres);
    let (store, to, [k, l, m]) = node_with_filter(&database);
    let repeat = |key, id| assert_eq!(send(&store, &to, key, "a", month(2), 200), Appended::Repeated(id));
    // A repeat costs its commit the expected head, so these are known as well.
    fill(&store, &to, month(2));
    repeat("k", k);
    fill(&store, &to, month(2));
    repeat("m", m);
    fill(&store, &to, month(2));
    plant(&database, "planted", l, None);
    stored(send(&store, &to, "planted", "a", month(2), 201));
    // The same, and the ledger has another history than that of the filter.
    plant(&database, "of another history", l, Some(m));
    fill(&store, &to, month(2));
    let event = prepared(&to, Some("of another history"), "a", month(2), 202);
    let found = store
        .append_blocking(to.clone(), vec![event])
        .map(|done| done.events);
    assert!(
        matches!(found, Err(StoreError::ForgedRow { .. })),
        "the key is looked up, and its row has the code of another key: {found:?}"
    );
    stored(send(&store, &to, "new again", "a", month(2), 203));
}
