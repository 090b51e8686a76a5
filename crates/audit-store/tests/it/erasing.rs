//! Erasing parts of events: rows, keys, words in the index, and what the database has beside the events.

use crate::removals::{EVENTS, OLD, actor, delete, is_in_a_block, open, removed, send, store_events, word};
use crate::{NOW, count};
use audit_domain::{
    Basis, ContentHash, EventFilter, EventPart, Extent, Facet, LogName, Month, PartMask, Sha256Digest,
    erase_parts,
};
use audit_ledger::{RemovalKind, RemovalRecord, TenantMapKey};
use audit_store::{
    Appended, DatabaseUrl, Destination, ErasedRow, ErasureRequest, LedgerId, RemovalRow, RemovalState, Store,
    StoreError, verify_index,
};
use audit_tests::{Database, DatabaseKind, Deadline, on_both_databases};
use std::collections::BTreeMap;

on_both_databases! {
    what_remains_of_an_erased_event_is_found_and_no_block_has_what_was_erased,
    an_erased_event_has_neither_key_nor_sender_and_its_content_hash,
    an_event_that_is_erased_and_then_deleted_is_in_no_block,
    what_an_erasure_finds_beside_the_events_is_replaced,
    an_erasure_is_found_by_its_id_and_its_list_counts_for_nothing,
}

/// What remains of events of a ledger without these parts.
fn rows_without(store: &Store, to: &Destination, seqs: &[u64], parts: &[EventPart]) -> Vec<ErasedRow> {
    let mask = PartMask::of_parts(parts.iter().copied()).expect("a part at least");
    let row = |seq: &u64| {
        let logged = store.read(|reader| reader.logged_events(to.ledger_id, *seq, 1));
        let event = logged.expect("the log is read").remove(0).event;
        let (body, salt) = erase_parts(&event.canonical, &event.content_salt, mask, 900).expect("an event");
        ErasedRow {
            seq: *seq,
            body,
            salt,
        }
    };
    seqs.iter().map(row).collect()
}

fn write(store: &Store, to: &Destination, rows: Vec<ErasedRow>) -> Result<Option<usize>, StoreError> {
    let (ledger_id, log) = (to.ledger_id, LogName::new(to.project_id, to.environment));
    store.write(move |writer| writer.erase_rows(ledger_id, &log, &rows))
}

fn erase(store: &Store, to: &Destination, seqs: &[u64], parts: &[EventPart]) {
    let erased = write(store, to, rows_without(store, to, seqs, parts));
    assert_eq!(erased.expect("the rows are written"), Some(seqs.len()));
}

/// Whether the index has to be written without something.
fn has_removed_rows(store: &Store) -> bool {
    let months = Month::of(OLD)..Month::of(NOW).plus(1);
    let has_rows = store.read(|reader| reader.has_removed_rows(months.clone()));
    has_rows.expect("the rows are looked for")
}

/// Waits until all events are in a segment.
fn index_all(database: &Database, store: Store) -> Store {
    if database.kind() == DatabaseKind::Postgres {
        Deadline::seconds(60).poll("the events are indexed", || {
            let status = store.read(|reader| reader.storage_status());
            (status.expect("the status is read").backlog_events == 0).then_some(())
        });
    }
    // On SQLite, the end of the store indexes what is left.
    drop(store);
    open(database)
}

fn assert_index(database: &Database, events: u64) {
    let url: DatabaseUrl = database.url().parse().expect("a valid URL");
    let (report, _) = verify_index(&url, &mut |_, _| {}).expect("the index is read");
    assert_eq!(report.findings, []);
    assert_eq!(report.indexed, events);
}

fn what_remains_of_an_erased_event_is_found_and_no_block_has_what_was_erased(kind: DatabaseKind) {
    let database = Database::create(kind);
    let store = open(&database);
    let to = store_events(&store);
    let store = index_all(&database, store);
    // One that may not be indexed yet.
    send(&store, &to, EVENTS + 1, NOW);
    let mut erased = removed();
    erased.push(EVENTS + 1);
    erase(&store, &to, &erased, &[EventPart::ActorName]);
    // Again, before or after the first time has come to the index.
    erase(&store, &to, &[1], &[EventPart::ActorId]);
    let of_tenant = || EventFilter::of(Facet::TenantId, "t");
    Deadline::seconds(60).poll("the index is written without what was erased", || {
        assert_eq!(count(&store, &to, of_tenant()) as u64, EVENTS + 2);
        (!has_removed_rows(&store)).then_some(())
    });
    assert_eq!(count(&store, &to, of_tenant()) as u64, EVENTS + 2);
    for seq in 0..EVENTS + 2 {
        assert_eq!(count(&store, &to, actor(seq)), usize::from(seq != 1), "{seq}");
    }
    drop(index_all(&database, store));
    for seq in 0..EVENTS + 2 {
        assert_eq!(
            is_in_a_block(&database, &word(seq)),
            !erased.contains(&seq),
            "{seq}"
        );
    }
    assert_index(&database, EVENTS + 2);
}

fn an_erased_event_has_neither_key_nor_sender_and_its_content_hash(kind: DatabaseKind) {
    let database = Database::create(kind);
    let store = open(&database);
    let to = store_events(&store);
    let stored = |seq: u64| {
        let rows = store.read(|reader| reader.stored_rows(to.ledger_id, seq, 1));
        rows.expect("the rows are read").remove(0)
    };
    let before = stored(5);
    assert!(before.idempotency_hash.is_some());
    let other = rows_without(&store, &to, &[6], &[EventPart::IdempotencyKey]).remove(0);
    let other = ErasedRow { seq: 5, ..other };
    let refused = write(&store, &to, vec![other]);
    assert!(matches!(refused, Err(StoreError::Damaged { .. })), "{refused:?}");
    assert_eq!(stored(5).body, before.body, "nothing was written");
    erase(&store, &to, &[5], &[EventPart::IdempotencyKey]);
    let after = stored(5);
    assert_eq!((after.idempotency_hash, after.sender), (None, None));
    assert_eq!(after.content_hash, before.content_hash);
    assert!(!after.body.contains("\"k5\"") && after.body.contains("\"a5\""));
    // Without a row there is nothing to write.
    let gone = rows_without(&store, &to, &[7], &[EventPart::ActorId]);
    assert_eq!(delete(&store, to.ledger_id, vec![7]), Some(1));
    assert_eq!(write(&store, &to, gone).ok(), Some(Some(0)));
    assert!(matches!(send(&store, &to, 4, NOW), Appended::Repeated(_)));
    assert!(matches!(send(&store, &to, 5, NOW), Appended::Stored(_)));
}

fn an_event_that_is_erased_and_then_deleted_is_in_no_block(kind: DatabaseKind) {
    let database = Database::create(kind);
    let store = open(&database);
    let to = store_events(&store);
    let store = index_all(&database, store);
    erase(&store, &to, &[3, 4], &[EventPart::ActorId]);
    assert_eq!(delete(&store, to.ledger_id, vec![3]), Some(1));
    Deadline::seconds(60).poll("the index is written without them", || {
        (!has_removed_rows(&store)).then_some(())
    });
    drop(store);
    assert!(!is_in_a_block(&database, &word(3)) && is_in_a_block(&database, &word(4)));
    assert_index(&database, EVENTS);
}

fn what_an_erasure_finds_beside_the_events_is_replaced(kind: DatabaseKind) {
    let database = Database::create(kind);
    let store = open(&database);
    let to = store_events(&store);
    let ledger_id = to.ledger_id;
    let (id, blob) = (|number: u8| database.blob(&[number; 16]), database.blob(&[1]));
    let ledger = ledger_id.0;
    for (number, group_key) in [(1, "a1"), (2, ""), (3, "a3")] {
        let alert = id(number);
        database.execute(&format!(
            "INSERT INTO alerts (ledger_id, id, rule_id, rule_name, severity, status, tenant_id, group_by, group_key, \
                 event_count, sample_event_ids, fired_at) \
             VALUES ({ledger}, {alert}, 'r', 'r', 'low', 'open', 't', 'actor_id', '{group_key}', 1, {alert}, 0)"
        ));
    }
    database.execute(&format!(
        "INSERT INTO destinations SELECT 'dst_1', id, 'live', 'SIEM', 'https', 'json', TRUE, '[]', '{{}}', {blob}, {blob}, FALSE, 1, \
             NULL FROM projects; \
         INSERT INTO destination_runs SELECT 'dst_1', 0, {ledger}, 2, 3, 4, {blob}, '{{}}', 6, 'delayed', 7, 8, 9, {blob}, 11, 12, 13, \
             14, 'no a1', 15 FROM projects; \
         INSERT INTO destination_set_aside VALUES ('dst_1', 0, 4, 1, {blob}, {blob}, 3, 'no a1'), \
             ('dst_1', 0, 5, 2, {blob}, {blob}, 3, 'no a2')"
    ));
    let alerts = |after, limit| {
        let found = store.read(|reader| reader.alerts_with_samples(ledger_id, after, limit));
        let found = found.expect("the alerts are read");
        let found = found
            .into_iter()
            .map(|alert| (alert.id[0], alert.group_key, alert.samples.len()));
        found.collect::<Vec<_>>()
    };
    let (first, last) = ((1, "a1".to_owned(), 1), (3, "a3".to_owned(), 1));
    assert_eq!(alerts(None, 1), [first]);
    assert_eq!(alerts(Some([1; 16]), 9), [last]);
    let forgotten = store.write(move |writer| {
        let keys = writer.forget_group_keys(ledger_id, &[[1; 16], [9; 16]])?;
        Ok::<_, StoreError>((keys, writer.forget_refusals(ledger_id, &[0, 1])?))
    });
    assert_eq!(forgotten.expect("the rows are written"), (1, 1));
    let count = |rows: &str| database.count(rows);
    assert_eq!(count("alerts WHERE group_key = '[ERASED]'"), 1);
    assert_eq!(
        count("destination_set_aside WHERE reason = '[ERASED]' AND seq = 1"),
        1
    );
    assert_eq!(count("destination_set_aside WHERE reason = 'no a2'"), 1);
    assert_eq!(count("destination_runs WHERE last_error IS NULL"), 1);
    let forgotten = store.write(move |writer| {
        let other = writer.forget_tenant_of_alerts(ledger_id, "u")?;
        Ok::<_, StoreError>((other, writer.forget_tenant_of_alerts(ledger_id, "t")?))
    });
    assert_eq!(forgotten.expect("the rows are written"), (0, 3));
    assert_eq!(count("alerts WHERE tenant_id = '[ERASED]'"), 3);
}

fn listed(ledger_id: LedgerId) -> RemovalRow {
    RemovalRow {
        ledger_id,
        number: 1,
        kind: RemovalKind::Erasure,
        state: RemovalState::Listed,
        event_seq: None,
        seqs: 0..EVENTS,
        cursor_seq: 0,
        records: 3,
        changed_at: NOW,
        request: Some(ErasureRequest {
            id: "ers_1".to_owned(),
            extent: Extent::Person,
            basis: Basis::Gdpr17,
            ticket: None,
            created_at: NOW,
            created_by: "key".to_owned(),
            lifecycle_seq: Some(3),
            held: 1,
            rows: 0,
            digest: Some(Sha256Digest::from_bytes([7; 32])),
        }),
    }
}

fn an_erasure_is_found_by_its_id_and_its_list_counts_for_nothing(kind: DatabaseKind) {
    let database = Database::create(kind);
    let store = open(&database);
    let to = store_events(&store);
    let ledger_id = to.ledger_id;
    let row = listed(ledger_id);
    let removing = RemovalRow {
        state: RemovalState::Removing,
        event_seq: Some(9),
        ..row.clone()
    };
    let label = TenantMapKey::new([7; 32]).label("t");
    let slot = label.slot();
    let record = move |seq: u64| RemovalRecord {
        seq,
        mask: PartMask::of_parts([EventPart::ActorId]).expect("a part"),
        content_hash: ContentHash::from_bytes([seq as u8; 32]),
        slot,
    };
    let (lease, until) = ([1; 16], NOW.plus_seconds(60));
    let written = store.write(move |writer| {
        assert!(writer.begin_removal(&row, &lease, until)?);
        let labels = BTreeMap::from([(slot, label)]);
        writer.put_records(ledger_id, 1, &[record(1), record(2), record(300)], &labels)?;
        assert_eq!(writer.erasure(ledger_id, "ers_1")?.as_ref(), Some(&row));
        assert_eq!(writer.erasure(ledger_id, "ers_2")?, None);
        assert_eq!(writer.removal_records(ledger_id, 0..2)?, []);
        assert_eq!(
            writer.exclude_records(ledger_id, 1, &[2, 3, 300])?,
            [record(2), record(300)]
        );
        assert_eq!(writer.exclude_records(ledger_id, 1, &[2])?, []);
        assert!(writer.change_removal(&row, &removing, &lease, until)?);
        assert_eq!(writer.removal_records(ledger_id, 0..2)?, [(1, record(1))]);
        // Who reads the log has it all the same.
        assert!(!writer.missed_removal(ledger_id, 0, 0)?);
        assert_eq!(writer.newest_removal(ledger_id)?, 0);
        Ok::<_, StoreError>(())
    });
    written.expect("the rows are written");
    assert_eq!(database.count("removed_events"), 1);
    database.execute("UPDATE removals SET request = NULL");
    let damaged = store.read(|reader| reader.erasure(ledger_id, "ers_1"));
    assert!(matches!(damaged, Err(StoreError::Damaged { .. })), "{damaged:?}");
}

/// On SQLite a position of the order of time is a row of the index.
#[test]
fn an_event_of_the_time_of_a_removed_one_is_in_the_index() {
    let database = Database::create(DatabaseKind::Sqlite);
    let store = open(&database);
    let to = crate::create_project(&store, 1);
    for number in 0..3 {
        send(&store, &to, number, NOW);
    }
    assert_eq!(delete(&store, to.ledger_id, vec![2]), Some(1));
    send(&store, &to, 3, NOW);
    Deadline::seconds(60).poll("the index is written without the event", || {
        (!has_removed_rows(&store)).then_some(())
    });
    assert_eq!(count(&store, &to, actor(3)), 1);
    drop(store);
    assert_index(&database, 3);
}
