//! The log after events were removed: their rows are deleted, and records have their content hashes.

use crate::{NOW, append, create_project, open_at, prepare};
use audit_domain::{ContentHash, Environment, PartMask};
use audit_ledger::{Hash, RemovalRecord, Tile, TileId, encode_records};
use audit_store::{
    CopyOptions, DatabaseCopy, DatabaseUrl, Destination, FoundCopy, NewEvent, Store, StoreError,
};
use audit_tests::{Database, DatabaseKind, on_both_databases};
use serde_json::json;
use std::collections::BTreeMap;
use std::ops::Range;

on_both_databases! {
    bundles_of_removed_events_are_unchanged,
    a_tile_with_removed_events_is_complete,
    the_head_names_the_newest_lifecycle_event,
}

/// Events of two tiles.
const REMOVED: [u64; 5] = [3, 100, 255, 256, 270];

fn event(to: &Destination, action: &str, number: u64) -> NewEvent {
    let event = json!({
        "action": action, "category": "auth", "tenant_id": "t", "actor": {"id": number.to_string(), "type": "user"},
    });
    prepare(to, &event, NOW, 7)
}

/// Stores events.
fn store_events(store: &Store, to: &Destination, events: u64) {
    for first in (0..events).step_by(1_000) {
        let numbers = first..events.min(first + 1_000);
        append(
            store,
            to,
            numbers.map(|number| event(to, "a.b", number)).collect(),
        );
    }
}

fn tile_id(size: u64, index: u64) -> TileId {
    let width = (size - 256 * index).min(256);
    TileId::new(0, index, u16::try_from(width).expect("a width")).expect("a tile")
}

/// The content hashes of the events of a log of this size, as its bundles have them.
fn bundles(store: &Store, to: &Destination, size: u64) -> Vec<ContentHash> {
    let hashes = store.read(|reader| {
        let mut hashes = Vec::new();
        for index in 0..size.div_ceil(256) {
            let entries = reader.log_entries(to.ledger_id, tile_id(size, index))?;
            hashes.extend(entries.expect("the tree has the tile"));
        }
        Ok::<_, StoreError>(hashes)
    });
    hashes.expect("the bundles are read")
}

fn delete_rows(database: &Database, to: &Destination, seqs: &[u64]) {
    let seqs: Vec<String> = seqs.iter().map(u64::to_string).collect();
    database.execute(&format!(
        "DELETE FROM events WHERE ledger_id = {} AND seq IN ({})",
        to.ledger_id.0,
        seqs.join(", ")
    ));
}

/// Stores the records of a removal, and deletes the rows.
fn remove(database: &Database, to: &Destination, removal: u32, hashes: &[ContentHash], seqs: &[u64]) {
    let mut tiles: BTreeMap<u64, Vec<RemovalRecord>> = BTreeMap::new();
    for seq in seqs {
        tiles.entry(seq / 256).or_default().push(RemovalRecord {
            seq: *seq,
            mask: PartMask::ROW,
            content_hash: hashes[usize::try_from(*seq).expect("a position")],
            slot: 1,
        });
    }
    for (index, records) in &tiles {
        database.execute(&format!(
            "INSERT INTO removed_events (ledger_id, tile_index, removal, records) VALUES ({}, {index}, {removal}, {})",
            to.ledger_id.0,
            database.blob(&encode_records(records))
        ));
    }
    delete_rows(database, to, seqs);
}

fn content_hashes(store: &Store, to: &Destination, seqs: Range<u64>) -> Result<Vec<ContentHash>, StoreError> {
    store.read(|reader| reader.content_hashes(to.ledger_id, seqs.clone()))
}

fn bundles_of_removed_events_are_unchanged(kind: DatabaseKind) {
    let database = Database::create(kind);
    let store = open_at(database.url());
    let to = create_project(&store, 1);
    store_events(&store, &to, 300);
    let hashes = bundles(&store, &to, 300);
    remove(&database, &to, 1, &hashes, &REMOVED);
    assert_eq!(bundles(&store, &to, 300), hashes);
    assert_eq!(
        content_hashes(&store, &to, 99..101).expect("hashes"),
        hashes[99..101]
    );
    delete_rows(&database, &to, &[5]);
    let missing = content_hashes(&store, &to, 0..10);
    assert!(matches!(missing, Err(StoreError::Damaged { .. })), "{missing:?}");
}

fn a_tile_with_removed_events_is_complete(kind: DatabaseKind) {
    let database = Database::create(kind);
    let store = open_at(database.url());
    let to = create_project(&store, 1);
    store_events(&store, &to, 300);
    let hashes = bundles(&store, &to, 300);
    drop(store);
    remove(&database, &to, 1, &hashes, &REMOVED);
    // Another process has no leaves of the partial tile in memory.
    let store = open_at(database.url());
    store_events(&store, &to, 300);
    let after = bundles(&store, &to, 600);
    assert_eq!(after[..300], hashes);
    for index in 0..3 {
        let id = tile_id(600, index);
        let first = usize::try_from(256 * index).expect("a position");
        let leaves = after[first..first + usize::from(id.width())].iter();
        let expected = Tile::new(id, leaves.map(Hash::of_event).collect()).expect("a tile");
        let tile = store.read(|reader| reader.log_tile(to.ledger_id, id));
        assert_eq!(tile.expect("the tile is read"), Some(expected), "{id}");
    }
}

fn the_head_names_the_newest_lifecycle_event(kind: DatabaseKind) {
    let database = Database::create(kind);
    let store = open_at(database.url());
    let to = create_project(&store, 1);
    let newest = || store.read(|reader| reader.lifecycle_seq(to.ledger_id));
    let ledgers = || {
        store
            .read(|reader| reader.ledgers_with_lifecycle())
            .expect("the ledgers are read")
    };
    let placed = || {
        let events = vec![event(&to, "audit.hold.placed", 0)];
        store
            .append_service_blocking(to.clone(), events)
            .expect("the event is stored");
    };
    assert_eq!((newest().expect("a head"), ledgers()), (None, Vec::new()));
    placed();
    // On PostgreSQL the later ones are stored by one statement.
    for _ in 0..4 {
        append(&store, &to, vec![event(&to, "a.b", 0)]);
    }
    assert_eq!(newest().expect("a head"), Some(0));
    placed();
    assert_eq!(newest().expect("a head"), Some(5));
    assert_eq!(ledgers(), [(to.ledger_id, to.project_id, Environment::Live)]);
    for forged in ["0", "NULL"] {
        database.execute(&format!(
            "UPDATE ledgers SET lifecycle_seq = {forged} WHERE id = {}",
            to.ledger_id.0
        ));
        let found = newest();
        assert!(
            matches!(found, Err(StoreError::ForgedHead { .. })),
            "{forged}: {found:?}"
        );
    }
}

#[test]
fn a_copy_has_no_event_that_was_removed_before_it_or_since() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let [source, target] = [DatabaseKind::Sqlite, DatabaseKind::Postgres].map(Database::create);
    let store = open_at(source.url());
    let to = create_project(&store, 1);
    store_events(&store, &to, 9_000);
    let hashes = bundles(&store, &to, 9_000);
    drop(store);
    source.execute("INSERT INTO secrets (name, secret, created_at) VALUES ('secret', X'01', 0)");
    // Without any event of the second batch.
    remove(&source, &to, 1, &hashes, &(4_090..8_300).collect::<Vec<u64>>());
    let mut copy = open_copy(&source, &target);
    copy.copy_events(&mut |_, _| {}).expect("the events are copied");
    // As if the copy had ended after the second batch.
    target.execute(
        "DELETE FROM events WHERE seq >= 8192; DELETE FROM log_tiles WHERE level = 0 AND tile_index >= 32",
    );
    copy.copy_events(&mut |_, _| {}).expect("the copy continues");
    remove(&source, &to, 2, &hashes, &[10, 8_500]);
    let mut copy = copy.lock_source().expect("the source is locked");
    copy.copy_events(&mut |_, _| {}).expect("the events are copied");
    copy.copy_tables().expect("the tables are copied");
    let copied = copy.read_target(|reader| reader.content_hashes(to.ledger_id, 0..9_000));
    assert_eq!(copied.expect("the target is read"), hashes);
    assert_eq!(target.count("events"), 9_000 - 4_210 - 2);
    assert_eq!(target.count("log_tiles"), 35);
}

#[test]
fn a_copy_ends_at_an_event_that_is_missing_without_a_record() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let [source, target] = [DatabaseKind::Sqlite, DatabaseKind::Postgres].map(Database::create);
    let store = open_at(source.url());
    let to = create_project(&store, 1);
    store_events(&store, &to, 20);
    let hashes = bundles(&store, &to, 20);
    drop(store);
    source.execute("INSERT INTO secrets (name, secret, created_at) VALUES ('secret', X'01', 0)");
    remove(&source, &to, 1, &hashes, &[4]);
    delete_rows(&source, &to, &[5]);
    let found = open_copy(&source, &target).copy_events(&mut |_, _| {});
    assert!(
        matches!(found, Err(StoreError::DamagedSource { seq: 5, .. })),
        "{found:?}"
    );
}

/// A copy that begins.
fn open_copy(source: &Database, target: &Database) -> DatabaseCopy {
    let [from, to]: [DatabaseUrl; 2] =
        [source, target].map(|database| database.url().parse().expect("a valid URL"));
    let options = CopyOptions {
        from: &from,
        to: &to,
        identifying_secret: ("secret", &|stored: &[u8]| Ok(stored.to_vec())),
        copy_id: [1; 16],
    };
    match DatabaseCopy::open(&options, NOW).expect("the copy begins") {
        FoundCopy::Unfinished(copy) => *copy,
        FoundCopy::Complete => panic!("the copy is new"),
    }
}
