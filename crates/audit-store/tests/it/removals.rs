//! Removing events: rows, keys, words in the index, and space.

use crate::{NOW, append, count, create_project, open_url, prepare};
use audit_domain::{EventFilter, Facet, IdempotencyWindow, Month, Timestamp};
use audit_store::{
    Appended, DatabaseUrl, Destination, LedgerId, RemovalRow, RemovalState, Store, StoreError, StoreOptions,
    verify_index,
};
use audit_tests::{Citus, Database, DatabaseKind, Deadline, on_both_databases};
use serde_json::json;
use std::collections::BTreeSet;

on_both_databases! {
    a_word_of_a_removed_event_is_in_no_block,
    deleted_events_are_gone_with_their_keys_and_a_repeat_deletes_nothing,
    alerts_of_the_time_before_a_removal_go_with_their_deliveries,
    a_removal_is_moved_on_by_the_holder_of_its_lease_alone,
    plans_in_their_grace_do_not_hide_removals_with_work,
}

/// In July 2025.
pub(crate) const OLD: Timestamp = NOW.plus_seconds(-180 * 86_400);
pub(crate) const EVENTS: u64 = 40;

pub(crate) fn open(database: &Database) -> Store {
    let url: DatabaseUrl = database.url().parse().expect("a valid URL");
    let options = StoreOptions {
        // So that a key is looked up in the month of the removed events, too.
        idempotency_window: IdempotencyWindow::UNBOUNDED,
        ..StoreOptions::default()
    };
    open_url(&url, options)
}

/// A word that is written nowhere else, and whose end no other word shares.
pub(crate) fn word(number: u64) -> String {
    let letter = |digit: u64| char::from(b'a' + (digit % 10) as u8);
    let digits: String = [letter(number / 10), letter(number)].iter().collect();
    format!("{digits}qxz{digits}")
}

pub(crate) fn actor(number: u64) -> EventFilter {
    EventFilter::of(Facet::ActorId, format!("a{number}"))
}

pub(crate) fn send(store: &Store, to: &Destination, number: u64, at: Timestamp) -> Appended {
    let event = json!({
        "action": "a.b", "category": "auth", "tenant_id": "t", "idempotency_key": format!("k{number}"),
        "actor": {"id": format!("a{number}"), "type": "user", "name": word(number)},
    });
    append(store, to, vec![prepare(to, &event, at, 1)])[0]
}

/// Stores old events, and one of the present month.
pub(crate) fn store_events(store: &Store) -> Destination {
    let to = create_project(store, 1);
    for number in 0..EVENTS {
        send(store, &to, number, OLD);
    }
    send(store, &to, EVENTS, NOW);
    to
}

pub(crate) fn delete(store: &Store, ledger_id: LedgerId, seqs: Vec<u64>) -> Option<usize> {
    let deleted = store.write(move |writer| writer.delete_events(ledger_id, &seqs));
    deleted.unwrap_or_else(|error: StoreError| panic!("{error}"))
}

/// The events that are removed: all but every fourth.
pub(crate) fn removed() -> Vec<u64> {
    (0..EVENTS).filter(|seq| seq % 4 != 0).collect()
}

/// Whether a block of the index of a closed store has the end of this word.
pub(crate) fn is_in_a_block(database: &Database, word: &str) -> bool {
    let end = &word.as_bytes()[2..];
    match database.kind() {
        DatabaseKind::Postgres => {
            let end = database.blob(end);
            database.count(&format!("index_blocks WHERE position({end} IN bytes) > 0")) > 0
        }
        DatabaseKind::Sqlite => {
            let index = |path: &std::path::Path| path.to_string_lossy().contains("-index");
            let files = database.files();
            let mut files = files.iter().filter(|(path, _)| index(path));
            files.any(|(_, bytes)| bytes.windows(end.len()).any(|window| window == end))
        }
    }
}

fn a_word_of_a_removed_event_is_in_no_block(kind: DatabaseKind) {
    let database = Database::create(kind);
    let store = open(&database);
    let to = store_events(&store);
    if kind == DatabaseKind::Postgres {
        // On SQLite, the end of the store indexes what is left.
        Deadline::seconds(60).poll("the events are indexed", || {
            let status = store.read(|reader| reader.storage_status());
            (status.expect("the status is read").backlog_events == 0).then_some(())
        });
    }
    drop(store);
    for seq in 0..=EVENTS {
        assert!(is_in_a_block(&database, &word(seq)), "{seq}");
    }
    let store = open(&database);
    assert_eq!(delete(&store, to.ledger_id, removed()), Some(removed().len()));
    let months = Month::of(OLD)..Month::of(NOW);
    Deadline::seconds(60).poll("the index is written without the events", || {
        let has_rows = store.read(|reader| reader.has_removed_rows(months.clone()));
        (!has_rows.expect("the rows are looked for")).then_some(())
    });
    for seq in 0..=EVENTS {
        let is_left = !removed().contains(&seq);
        assert_eq!(count(&store, &to, actor(seq)), usize::from(is_left), "{seq}");
    }
    drop(store);
    for seq in 0..=EVENTS {
        assert_eq!(
            is_in_a_block(&database, &word(seq)),
            !removed().contains(&seq),
            "{seq}"
        );
    }
    let url: DatabaseUrl = database.url().parse().expect("a valid URL");
    let (report, _) = verify_index(&url, &mut |_, _| {}).expect("the index is read");
    assert_eq!(report.findings, []);
    assert_eq!(report.indexed, EVENTS + 1 - removed().len() as u64);
}

fn deleted_events_are_gone_with_their_keys_and_a_repeat_deletes_nothing(kind: DatabaseKind) {
    let database = Database::create(kind);
    let store = open(&database);
    let to = store_events(&store);
    assert_eq!(delete(&store, to.ledger_id, removed()), Some(removed().len()));
    assert_eq!(delete(&store, to.ledger_id, removed()), Some(0));
    let logged = store.read(|reader| reader.logged_events(to.ledger_id, 0, 100));
    let logged: Vec<u64> = logged
        .expect("the log is read")
        .iter()
        .map(|logged| logged.seq)
        .collect();
    let left: Vec<u64> = (0..=EVENTS).filter(|seq| !removed().contains(seq)).collect();
    assert_eq!(logged, left);
    assert_eq!(count(&store, &to, EventFilter::default()), left.len());
    assert!(matches!(send(&store, &to, 4, NOW), Appended::Repeated(_)));
    assert!(matches!(send(&store, &to, 5, NOW), Appended::Stored(_)));
    // All events of the range, of which a part is gone.
    assert_eq!(
        delete(&store, to.ledger_id, (0..EVENTS).collect()),
        Some(left.len() - 1)
    );
    if kind == DatabaseKind::Sqlite {
        assert_eq!(database.count("event_keys"), 2, "rows of zeros are deleted");
    }
}

fn alerts_of_the_time_before_a_removal_go_with_their_deliveries(kind: DatabaseKind) {
    let database = Database::create(kind);
    let store = open(&database);
    let ledger_id = create_project(&store, 1).ledger_id;
    // An id begins with the time in ms.
    let fired_at = |millis: u8| i64::from_be_bytes([0, 0, 1, 2, 3, 4, 5, millis]) * 1_000;
    let id = |millis: u8, rest: u8| {
        let mut id = [rest; 16];
        id[..6].copy_from_slice(&[1, 2, 3, 4, 5, millis]);
        database.blob(&id)
    };
    database.execute(&format!(
        "INSERT INTO webhooks (id, project_id, url, format, enabled, created_at) \
         SELECT 'w', id, {}, 'json', TRUE, 0 FROM projects",
        database.blob(b"u")
    ));
    for millis in 1..=5 {
        let (alert, delivery, ledger) = (id(millis, 1), id(millis, 2), ledger_id.0);
        let fired_at = fired_at(millis);
        database.execute(&format!(
            "INSERT INTO alerts (ledger_id, id, rule_id, rule_name, severity, status, tenant_id, group_by, group_key, \
                 event_count, sample_event_ids, fired_at) \
             VALUES ({ledger}, {alert}, 'r', 'r', 'low', 'open', 't', 'actor_id', 'a', 1, {alert}, {fired_at}); \
             INSERT INTO webhook_deliveries (id, webhook_id, kind, ledger_id, alert_id, status, attempts, \
                 scheduled_attempts, is_retried, retry_requested, created_at) \
             VALUES ({delivery}, 'w', 'alert.fired', {ledger}, {alert}, 'succeeded', 0, 0, FALSE, FALSE, 0)"
        ));
    }
    let counts = || (database.count("alerts"), database.count("webhook_deliveries"));
    let before = Timestamp::from_micros(fired_at(4));
    let delete = |limit| {
        let deleted = store.write(move |writer| writer.delete_alerts_before(ledger_id, before, limit));
        deleted.unwrap_or_else(|error: StoreError| panic!("{error}"))
    };
    assert_eq!((delete(2), counts()), (2, (3, 3)));
    assert_eq!((delete(2), counts()), (1, (2, 2)));
    assert_eq!((delete(2), counts()), (0, (2, 2)));
}

fn a_removal_is_moved_on_by_the_holder_of_its_lease_alone(kind: DatabaseKind) {
    let database = Database::create(kind);
    let store = open(&database);
    let ledger_id = create_project(&store, 1).ledger_id;
    let row = RemovalRow {
        ledger_id,
        number: 1,
        kind: audit_ledger::RemovalKind::Retention,
        state: RemovalState::Collecting,
        event_seq: None,
        seqs: 0..10,
        cursor_seq: 0,
        records: 0,
        changed_at: NOW,
        request: None,
    };
    let next = RemovalRow {
        state: RemovalState::Removing,
        event_seq: Some(9),
        ..row.clone()
    };
    let (own, other, until) = ([1; 16], [2; 16], NOW.plus_seconds(60));
    let outcomes = store.write(move |writer| {
        let mut outcomes = vec![
            writer.begin_removal(&row, &own, until)?,
            writer.begin_removal(&row, &other, until)?,
            writer.lease_removal(ledger_id, 1, &other, NOW, until)?,
            writer.lease_removal(ledger_id, 1, &own, NOW, until)?,
            writer.change_removal(&row, &next, &other, until)?,
            writer.missed_removal(ledger_id, 0, 5)?,
            writer.change_removal(&row, &next, &own, until)?,
            writer.change_removal(&row, &next, &own, until)?,
            writer.missed_removal(ledger_id, 0, 9)?,
            writer.missed_removal(ledger_id, 0, 10)?,
            writer.missed_removal(ledger_id, 1, 5)?,
        ];
        outcomes.push(writer.lease_removal(ledger_id, 1, &other, until, until)?);
        assert_eq!(writer.removals(ledger_id)?, std::slice::from_ref(&next));
        assert_eq!(writer.newest_removal(ledger_id)?, 1);
        Ok::<_, StoreError>(outcomes)
    });
    let expected = [
        true, false, false, true, false, false, true, false, true, false, false, true,
    ];
    assert_eq!(outcomes.expect("the rows are written"), expected);
    // A row that the service did not write.
    database.execute("UPDATE removals SET end_seq = 11");
    let damaged = store.read(|reader| reader.removals(ledger_id));
    assert!(matches!(damaged, Err(StoreError::Damaged { .. })), "{damaged:?}");
    let open = store.read(|reader| reader.open_removals(10));
    assert_eq!(open.expect("the others are read"), []);
    assert_eq!(store.row_alarms(), 1);
}

fn plans_in_their_grace_do_not_hide_removals_with_work(kind: DatabaseKind) {
    let database = Database::create(kind);
    let store = open(&database);
    let ledger_id = create_project(&store, 1).ledger_id;
    let rows = [
        RemovalState::Listed,
        RemovalState::Planned,
        RemovalState::Removing,
    ];
    let rows = (1..).zip(rows).map(move |(number, state)| RemovalRow {
        ledger_id,
        number,
        kind: audit_ledger::RemovalKind::Retention,
        state,
        event_seq: Some(9),
        seqs: 0..9,
        cursor_seq: 0,
        records: 1,
        changed_at: NOW,
        request: None,
    });
    let begun = store.write(move |writer| {
        for row in rows {
            writer.begin_removal(&row, &[1; 16], NOW.plus_seconds(row.number.into()))?;
        }
        Ok::<_, StoreError>(())
    });
    begun.expect("the rows are written");
    let open = store.read(|reader| reader.open_removals(2));
    let numbers: Vec<u32> = open
        .expect("the rows are read")
        .iter()
        .map(|row| row.number)
        .collect();
    assert_eq!(numbers, [3, 1]);
}

/// A store on PostgreSQL with events of an old month and of the present one.
fn on_postgres() -> Option<(Database, Store, Destination)> {
    if !DatabaseKind::Postgres.is_available() {
        return None;
    }
    let database = Database::create(DatabaseKind::Postgres);
    let store = open(&database);
    let to = store_events(&store);
    Some((database, store, to))
}

/// The name of the partition of [`OLD`].
fn partition() -> String {
    format!("events_{}", Month::of(OLD).to_string().replace('-', "_"))
}

fn months() -> BTreeSet<Month> {
    BTreeSet::from([Month::of(OLD), Month::of(NOW)])
}

#[test]
fn a_month_without_rows_is_dropped() {
    let Some((database, store, to)) = on_postgres() else {
        return;
    };
    let partitions = || database.count("pg_inherits WHERE inhparent = 'events'::regclass");
    let before = partitions();
    assert_eq!(store.give_back_space(&months(), None).ok(), Some(false));
    assert_eq!(partitions(), before, "it has its events");
    delete(&store, to.ledger_id, (0..EVENTS).collect());
    assert_eq!(store.give_back_space(&months(), None).ok(), Some(false));
    assert_eq!(partitions(), before - 1);
    assert_eq!(
        database.count(&format!("pg_class WHERE relname = '{}'", partition())),
        0
    );
    assert_eq!(store.give_back_space(&months(), None).ok(), Some(false));
    assert_eq!(count(&store, &to, EventFilter::default()), 1);
    assert!(matches!(send(&store, &to, EVENTS + 1, NOW), Appended::Stored(_)));
}

/// The reader holds the lock that the exchange waits for, so that an attempt fails.
#[test]
fn a_month_is_rewritten_while_readers_read() {
    let Some((database, store, to)) = on_postgres() else {
        return;
    };
    let node = || {
        let of_month = format!("pg_class WHERE relname = '{}'", partition());
        database.rows(&of_month, &BTreeSet::from(["relfilenode".to_owned()]))
    };
    let before = node();
    delete(&store, to.ledger_id, removed());
    let reader = database.hold_locks("SELECT count(*) FROM events");
    std::thread::scope(|scope| {
        let given_back = scope.spawn(|| store.give_back_space(&months(), None));
        let waiting = "pg_locks WHERE locktype = 'relation' AND NOT granted AND database = \
                       (SELECT oid FROM pg_database WHERE datname = current_database())";
        Deadline::seconds(60).poll("the exchange waits", || {
            (database.count(waiting) > 0).then_some(())
        });
        Deadline::seconds(60).poll("it gives way", || (database.count(waiting) == 0).then_some(()));
        assert_eq!(count(&store, &to, EventFilter::default()), 11);
        let deleted = delete(&store, to.ledger_id, vec![0]);
        assert_eq!(deleted, None, "nothing is deleted of a month that is copied");
        drop(reader);
        let given_back = given_back.join().expect("the thread ends");
        assert_eq!(given_back.ok(), Some(false));
    });
    assert_ne!(node(), before, "it is another table");
    assert_eq!(database.count("event_months WHERE event_count = 10"), 1);
    assert_eq!(database.count("pg_constraint WHERE conname = 'of_month'"), 0);
    assert_eq!(count(&store, &to, EventFilter::default()), 11);
    assert_eq!(delete(&store, to.ledger_id, vec![0]), Some(1));
    let after = node();
    assert_eq!(store.give_back_space(&months(), None).ok(), Some(false));
    assert_eq!(node(), after, "it has lost few of its events since");
    let give_back = |erased| store.give_back_space(&months(), Some(erased)).ok();
    assert_eq!(give_back(NOW), Some(false));
    let rewritten = node();
    assert_ne!(rewritten, after, "it may have what was erased");
    // The next turn, or another node.
    assert_eq!(give_back(NOW), Some(false));
    assert_eq!(node(), rewritten, "it was written since");
    assert_eq!(give_back(NOW.plus_seconds(1)), Some(false));
    assert_ne!(node(), rewritten, "more was erased");
}

/// A node whose clock is behind stores an event between the count of the month and its exchange.
#[test]
fn a_month_in_which_an_event_is_stored_meanwhile_is_not_dropped() {
    let Some((database, store, to)) = on_postgres() else {
        return;
    };
    delete(&store, to.ledger_id, (0..EVENTS).collect());
    let late = create_project(&store, 2);
    let reader = database.hold_locks("SELECT count(*) FROM events");
    std::thread::scope(|scope| {
        let given_back = scope.spawn(|| store.give_back_space(&months(), None));
        let waiting = "pg_locks WHERE locktype = 'relation' AND NOT granted AND database = \
                       (SELECT oid FROM pg_database WHERE datname = current_database())";
        Deadline::seconds(60).poll("the exchange waits", || {
            (database.count(waiting) > 0).then_some(())
        });
        assert!(matches!(send(&store, &late, 0, OLD), Appended::Stored(_)));
        drop(reader);
        let given_back = given_back.join().expect("the thread ends");
        assert!(matches!(given_back, Err(StoreError::InUse(_))), "{given_back:?}");
    });
    assert_eq!(count(&store, &late, EventFilter::default()), 1);
    let given_back = store.give_back_space(&months(), None);
    assert!(
        matches!(given_back, Err(StoreError::InUse(_))),
        "it is not tried again at once: {given_back:?}"
    );
}

/// The coordinator exchanges and drops the tables, which are on another server.
#[test]
fn a_month_of_a_distributed_schema_is_rewritten_and_dropped() {
    let Some(citus) = Citus::find() else {
        return;
    };
    let (database, schema) = (citus.home(), citus.schema("home"));
    let store = open(&database);
    store.close();
    assert_eq!(store.distribute().ok(), Some(true));
    let store = open(&database);
    let to = store_events(&store);
    let server = citus.server_of(&schema);
    delete(&store, to.ledger_id, removed());
    assert_eq!(store.give_back_space(&months(), None).ok(), Some(false));
    assert_eq!(
        citus.server_of(&schema),
        server,
        "the new table is where the others are"
    );
    assert_eq!(count(&store, &to, EventFilter::default()), 11);
    assert_eq!(delete(&store, to.ledger_id, (0..EVENTS).collect()), Some(10));
    assert_eq!(store.give_back_space(&months(), None).ok(), Some(false));
    assert_eq!(count(&store, &to, EventFilter::default()), 1);
}
