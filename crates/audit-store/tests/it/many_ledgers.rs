//! Commits to several ledgers at once.

use crate::{NOW, append, create_project, open_url, prepare};
use audit_domain::Timestamp;
use audit_store::{AppendOutcome, Appended, DatabaseUrl, Destination, Store, StoreOptions, verify_index};
use audit_tests::{Database, DatabaseKind, Deadline, on_both_databases};
use serde_json::{Value, json};
use std::sync::mpsc;
use std::thread;

on_both_databases! {
    what_another_node_stores_in_one_of_them_is_noticed,
    a_key_of_one_of_them_that_is_stored_already_is_repeated,
}

const LEDGERS: u8 = 5;
/// The mean length of a month.
const MONTH_SECONDS: i64 = 2_629_800;

/// A store with one writer, so that requests that wait together are one commit.
fn open(database: &Database) -> Store {
    let url: DatabaseUrl = database.url().parse().expect("a valid URL");
    let options = StoreOptions {
        postgres_writers: 1,
        ..StoreOptions::default()
    };
    open_url(&url, options)
}

fn projects(store: &Store) -> Vec<Destination> {
    (1..=LEDGERS)
        .map(|number| create_project(store, number))
        .collect()
}

fn keyed(key: &str) -> Value {
    json!({"action": "a.b", "category": "auth", "tenant_id": "t", "actor": {"id": "a", "type": "user"}, "idempotency_key": key})
}

/// Sends one event with this key to each ledger. They are one commit: the writer is held until all of them wait.
fn send_together(store: &Store, to: &[Destination], key: &str, at: Timestamp, random: u8) -> Vec<Appended> {
    let commits = store.statistics().commits;
    let (began, has_begun) = mpsc::channel();
    let (release, released) = mpsc::channel();
    let outcomes: Vec<AppendOutcome> = thread::scope(|scope| {
        scope.spawn(move || {
            let held = store.write(move |_| {
                began.send(()).expect("the test waits");
                released.recv().expect("the test releases the writer");
                Ok::<_, audit_store::StoreError>(())
            });
            held.expect("the transaction ends");
        });
        has_begun.recv().expect("the writer is held");
        let senders: Vec<_> = to
            .iter()
            .map(|to| {
                let event = prepare(to, &keyed(key), at, random);
                scope.spawn(move || store.append_blocking(to.clone(), vec![event]))
            })
            .collect();
        Deadline::seconds(60).poll("all requests wait", || {
            (store.statistics().queue_depth == to.len()).then_some(())
        });
        release.send(()).expect("the writer is held");
        let outcomes = senders
            .into_iter()
            .map(|sender| sender.join().expect("it is sent"));
        outcomes.collect()
    });
    assert!(store.statistics().commits <= commits + 1, "one commit for all");
    let outcomes = outcomes.into_iter();
    outcomes
        .map(|outcome| outcome.expect("it is stored").events[0])
        .collect()
}

/// Asserts that the ledgers have these numbers of events, without gaps, and that the index has them all.
fn assert_stored(database: &Database, store: Store, to: &[Destination], sizes: &[u64]) {
    for (to, size) in to.iter().zip(sizes) {
        let logged = store.read(|reader| reader.logged_events(to.ledger_id, 0, 1_000));
        let logged = logged.expect("the log is read");
        let seqs: Vec<u64> = logged.iter().map(|event| event.seq).collect();
        assert_eq!(seqs, (0..*size).collect::<Vec<_>>());
        assert!(logged.is_sorted_by(|one, next| one.event.id < next.event.id));
        assert_eq!(
            store
                .read(|reader| reader.ledger_size(to.ledger_id))
                .expect("it is read"),
            *size
        );
    }
    store.close();
    let url: DatabaseUrl = database.url().parse().expect("a valid URL");
    let (report, _) = verify_index(&url, &mut |_, _| {}).expect("the index is read");
    assert_eq!(report.findings, []);
}

/// The first commit to ledgers that the node does not know reads their heads; neither locks them first.
#[test]
fn one_statement_stores_them() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let database = Database::create(DatabaseKind::Postgres);
    let store = open(&database);
    let to = projects(&store);
    send_together(&store, &to, "first", NOW, 0);
    let mut stored = 1;
    Deadline::seconds(60).poll("a commit of one statement", || {
        // Now and then the writer has its statements planned again afterwards.
        send_together(&store, &to, &format!("key {stored}"), NOW, stored);
        stored += 1;
        let by_one_statement = "pg_stat_activity WHERE datname = current_database() AND state = 'idle'
            AND query LIKE 'WITH heads AS %'";
        (database.count(by_one_statement) > 0).then_some(())
    });
    let sizes = vec![u64::from(stored); to.len()];
    assert_stored(&database, store, &to, &sizes);
}

fn what_another_node_stores_in_one_of_them_is_noticed(kind: DatabaseKind) {
    const ROUNDS: u8 = 6;
    let database = Database::create(kind);
    let nodes = [open(&database), open(&database)];
    let to = projects(&nodes[0]);
    let mut sizes = vec![0; to.len()];
    for round in 0..ROUNDS {
        // The node knows all heads, some, or none of them.
        let node = &nodes[usize::from(round / 3 % 2)];
        let known = &to[..usize::from(round) % (to.len() + 1)];
        for (part, ledgers) in [known, &to].into_iter().enumerate() {
            let key = format!("{round} {part}");
            for appended in send_together(node, ledgers, &key, NOW, round) {
                assert!(matches!(appended, Appended::Stored(_)), "{appended:?}");
            }
            for size in &mut sizes[..ledgers.len()] {
                *size += 1;
            }
        }
        let other = &nodes[usize::from(1 - round / 3 % 2)];
        let disturbed = usize::from(round) % to.len();
        let event = prepare(&to[disturbed], &keyed(&format!("other {round}")), NOW, round);
        append(other, &to[disturbed], vec![event]);
        sizes[disturbed] += 1;
        send_together(node, &to, &format!("after {round}"), NOW, round);
        for size in &mut sizes {
            *size += 1;
        }
    }
    let [store, other] = nodes;
    other.close();
    assert_stored(&database, store, &to, &sizes);
}

fn a_key_of_one_of_them_that_is_stored_already_is_repeated(kind: DatabaseKind) {
    let database = Database::create(kind);
    let nodes = [open(&database), open(&database)];
    let to = projects(&nodes[0]);
    let mut first: Vec<Option<Appended>> = vec![None; to.len()];
    let mut sizes = vec![0; to.len()];
    for months in 0..3_u8 {
        let at = NOW.plus_seconds(i64::from(months) * MONTH_SECONDS);
        // One of the ledgers is a month younger than the others.
        let sent = usize::from(months == 0)..to.len();
        for round in 0..3 {
            send_together(
                &nodes[0],
                &to[sent.clone()],
                &format!("{months} {round}"),
                at,
                months,
            );
        }
        for number in sent {
            sizes[number] += 3;
        }
        if months < 2 {
            // The other node stores the key in one ledger. Afterwards this node stores in all of them again.
            let of_other = to.len() - 1 - usize::from(months);
            let event = prepare(&to[of_other], &keyed("key"), at, months);
            first[of_other] = Some(append(&nodes[1], &to[of_other], vec![event])[0]);
            sizes[of_other] += 1;
        }
    }
    let at = NOW.plus_seconds(2 * MONTH_SECONDS);
    for (number, appended) in send_together(&nodes[0], &to, "key", at, 9)
        .into_iter()
        .enumerate()
    {
        match (first[number], appended) {
            (Some(Appended::Stored(id)), Appended::Repeated(of)) => assert_eq!(of, id),
            (None, Appended::Stored(_)) => sizes[number] += 1,
            other => panic!("{number}: {other:?}"),
        }
    }
    let [store, other] = nodes;
    other.close();
    assert_stored(&database, store, &to, &sizes);
}

/// The partition of an earlier month was removed by hand.
#[test]
fn keys_are_looked_up_where_a_partition_is_missing() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let database = Database::create(DatabaseKind::Postgres);
    let store = open(&database);
    let to = projects(&store);
    let at = |months: i64| NOW.plus_seconds(months * MONTH_SECONDS);
    for months in 0..2 {
        send_together(&store, &to, &format!("{months}"), at(months), 1);
    }
    database.execute("DROP TABLE events_2026_01");
    for round in 0..3 {
        let event = |key: &str| vec![prepare(&to[0], &keyed(key), at(2), round)];
        let stored = append(&store, &to[0], event(&format!("new {round}")));
        assert!(matches!(stored[..], [Appended::Stored(_)]), "{stored:?}");
        let repeated = append(&store, &to[0], event("1"));
        assert!(matches!(repeated[..], [Appended::Repeated(_)]), "{repeated:?}");
    }
}
