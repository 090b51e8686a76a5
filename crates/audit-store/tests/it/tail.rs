//! Events that are stored and not in the index yet.

use crate::{NOW, append, count, create_project, open, open_with, prepare};
use audit_domain::EventFilter;
use audit_index::{BlockId, Blocks, Damaged, Segment};
use audit_ledger::TileId;
use audit_store::{Appended, Store, StoreError, StoreOptions};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    count: i64,
}

fn connect(folder: &Path, name: &str) -> SqliteConnection {
    let path = folder.join(name);
    SqliteConnection::establish(path.to_str().expect("a path in UTF-8")).expect("the database opens")
}

diesel::table! {
    index_segments (id) {
        id -> BigInt,
        level -> BigInt,
        row_count -> BigInt,
        first_position -> BigInt,
        last_position -> BigInt,
        leaves -> BigInt,
        directories -> BigInt,
        is_complete -> Bool,
    }
}

diesel::table! {
    index_blocks (id) { id -> BigInt, bytes -> Binary, }
}

struct Stored(SqliteConnection);

impl Blocks for Stored {
    type Error = Damaged;

    fn read(&mut self, block: BlockId) -> Result<Option<Arc<[u8]>>, Damaged> {
        let bytes = index_blocks::table.find(block.key()).select(index_blocks::bytes);
        let bytes: Option<Vec<u8>> = bytes
            .get_result(&mut self.0)
            .optional()
            .expect("the index is read");
        Ok(bytes.map(Arc::from))
    }
}

type SegmentRow = (i64, i64, i64, i64, i64, i64, i64, bool);

fn segments(index: &mut SqliteConnection) -> Vec<Segment> {
    let rows: Vec<SegmentRow> = index_segments::table
        .load(index)
        .expect("the segments are listed");
    let read = |row: SegmentRow| {
        let small = |number: i64| u32::try_from(number).expect("a small number");
        assert!(row.7, "a segment that was not finished");
        Segment {
            id: small(row.0),
            level: small(row.1),
            rows: small(row.2),
            first: row.3,
            last: row.4,
            leaves: small(row.5),
            directories: small(row.6),
        }
    };
    rows.into_iter().map(read).collect()
}

/// What the index has: each token with each row that is filed under it.
fn filed(folder: &Path) -> Vec<(String, i64)> {
    let mut connection = connect(folder, "audit.db-index");
    let (segments, mut blocks, mut filed) = (segments(&mut connection), Stored(connection), Vec::new());
    for segment in segments {
        let see = |token: &[u8], rows: &[i64]| {
            let token = String::from_utf8(token.to_vec()).expect("a token in UTF-8");
            filed.extend(rows.iter().map(|row| (token.clone(), *row)));
        };
        segment.for_each(see, &mut blocks).expect("the segment is sound");
    }
    filed.sort_unstable();
    filed
}

/// How many commits are not in the index.
fn commits_left(folder: &Path) -> i64 {
    let mut connection = connect(folder, "audit.db");
    connection
        .batch_execute(&format!(
            "ATTACH DATABASE '{}' AS search",
            folder.join("audit.db-index").display()
        ))
        .expect("the index is there");
    let count = diesel::sql_query(
        "SELECT COUNT(*) AS count FROM event_tail WHERE id > (SELECT last_commit FROM search.indexed)",
    );
    let counted: Count = count.get_result(&mut connection).expect("the tail is counted");
    counted.count
}

/// A store that indexes nothing of its own accord.
fn open_patient(folder: &Path) -> Store {
    let indexing_interval = std::time::Duration::from_secs(3_600);
    open_with(
        folder,
        StoreOptions {
            indexing_interval,
            ..StoreOptions::default()
        },
    )
}

/// The files as a process that is killed now leaves them.
fn killed(folder: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().expect("a folder");
    // The logs first: what a checkpoint moves out of one meanwhile is in its database then. The index first: it is never
    // ahead of the database.
    for name in ["audit.db-index-wal", "audit.db-index", "audit.db-wal", "audit.db"] {
        std::fs::copy(folder.join(name), copy.path().join(name)).expect("a file of the database");
    }
    copy
}

fn numbered(number: usize) -> Value {
    json!({
        "action": format!("doc.opened.by_{}", ["link", "search", "mail"][number % 3]), "category": "access", "tenant_id": format!("t{}", number % 2),
        "actor": {"id": format!("a{number}"), "type": "user", "name": "Álvaro O'Neil"},
        "target": {"id": "o", "type": "document", "name": "Plan B"},
        "idempotency_key": format!("k{number}"),
    })
}

/// Twenty events, each stored by a commit of its own.
fn store_twenty(store: &Store, to: &audit_store::Destination) -> Vec<Appended> {
    let stored = (0..20).flat_map(|number| append(store, to, vec![prepare(to, &numbered(number), NOW, 1)]));
    stored.collect()
}

/// Sends one of the `stored` once more, which is to be recognised.
fn assert_repeated(store: &Store, to: &audit_store::Destination, stored: &[Appended], number: usize) {
    let Appended::Stored(id) = stored[number] else {
        panic!("{stored:?}")
    };
    let again = append(store, to, vec![prepare(to, &numbered(number), NOW, 2)]);
    assert_eq!(again, [Appended::Repeated(id)]);
}

fn of_tenant_1() -> EventFilter {
    of_tenant("t1")
}

fn of_tenant(id: &str) -> EventFilter {
    EventFilter {
        tenant_id: Some(id.to_owned()),
        ..EventFilter::default()
    }
}

#[test]
fn what_is_not_in_the_index_is_found_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_patient(folder.path());
    let to = create_project(&store, 1);
    let stored = store_twenty(&store, &to);
    assert_eq!(commits_left(folder.path()), 20);
    assert_eq!(count(&store, &to, of_tenant_1()), 10);
    assert_repeated(&store, &to, &stored, 7);
}

#[test]
fn what_a_killed_process_left_is_indexed_as_it_would_have_been() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_patient(folder.path());
    let to = create_project(&store, 1);
    let stored = store_twenty(&store, &to);
    let copy = killed(folder.path());
    assert_eq!(commits_left(copy.path()), 20);

    let restarted = open_patient(copy.path());
    assert_eq!(count(&restarted, &to, of_tenant_1()), 10);
    assert_repeated(&restarted, &to, &stored, 7);
    drop(restarted);
    drop(store);
    assert_eq!(commits_left(copy.path()), 0);
    let (expected, found) = (filed(folder.path()), filed(copy.path()));
    assert!(expected.len() > 200 && expected == found, "{found:?}");
}

#[test]
fn a_clean_stop_leaves_nothing_to_be_indexed() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_patient(folder.path());
    let to = create_project(&store, 1);
    append(&store, &to, vec![prepare(&to, &numbered(1), NOW, 1)]);
    drop(store);
    assert_eq!(commits_left(folder.path()), 0);
    assert!(!filed(folder.path()).is_empty());
}

/// Also those of other ledgers are in the tail, and found by their own readers alone.
#[test]
fn a_tail_of_many_events_is_forgotten_once_it_is_indexed() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    create_project(&store, 1);
    create_project(&store, 2);
    let destination = |number| crate::destination(&store, audit_domain::ProjectId::from_random([number; 16]));
    let (one, two) = (destination(1), destination(2));
    append(&store, &one, vec![prepare(&one, &numbered(1), NOW, 1)]);
    assert_eq!(count(&store, &two, EventFilter::default()), 0);
    let actor = EventFilter {
        actor_ids: Some(vec!["a1".to_owned()]),
        ..EventFilter::default()
    };
    for round in 0..50 {
        let many = (0..600).map(|number| {
            let event = json!({"action": "doc.opened", "category": "access", "tenant_id": "t", "actor": {"id": format!("a{number}"), "type": "user"}});
            prepare(&two, &event, NOW, round)
        });
        append(&store, &two, many.collect());
        assert_eq!(count(&store, &one, actor.clone()), 1);
        assert_eq!(count(&store, &two, actor.clone()), 1 + usize::from(round));
    }
    drop(store);
    assert_eq!(commits_left(folder.path()), 0);
    let kept = diesel::sql_query("SELECT COUNT(*) AS count FROM event_tail");
    let kept: Count = kept.get_result(&mut connect(folder.path(), "audit.db")).unwrap();
    assert!(kept.count < 51, "{}", kept.count);
}

#[test]
fn an_index_that_cannot_be_written_keeps_nobody_from_storing_and_finding() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let to = create_project(&store, 1);
    let mut other = connect(folder.path(), "audit.db-index");
    other.batch_execute("BEGIN IMMEDIATE").unwrap();
    store_twenty(&store, &to);
    assert_eq!(count(&store, &to, of_tenant_1()), 10);
    assert_eq!(commits_left(folder.path()), 20);
    other.batch_execute("ROLLBACK").unwrap();
    drop(store);
    assert_eq!(commits_left(folder.path()), 0);
}

/// The index is lost, or one of another time: a backup of the database alone, or an index that is ahead of it or behind.
#[test]
fn an_index_that_does_not_belong_to_the_database_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let to = create_project(&store, 1);
    let none = killed(folder.path());
    store_twenty(&store, &to);
    drop(store);
    let expected = filed(folder.path());
    let index = folder.path().join("audit.db-index");
    let (right, old) = (
        std::fs::read(&index).unwrap(),
        std::fs::read(none.path().join("audit.db-index")).unwrap(),
    );
    let reopen = |expected: &[(String, i64)]| {
        let store = open(folder.path());
        assert_eq!(count(&store, &to, of_tenant_1()), 10);
        let again = append(&store, &to, vec![prepare(&to, &numbered(7), NOW, 2)]);
        assert!(matches!(again[..], [Appended::Repeated(_)]), "{again:?}");
        drop(store);
        assert_eq!(filed(folder.path()), expected);
    };
    std::fs::remove_file(&index).unwrap();
    reopen(&expected);
    std::fs::write(&index, old).unwrap();
    reopen(&expected);
    // The database goes back to when it was empty, and the index stays.
    for name in ["audit.db-wal", "audit.db"] {
        std::fs::copy(none.path().join(name), folder.path().join(name)).unwrap();
    }
    std::fs::write(&index, right).unwrap();
    let store = open(folder.path());
    assert_eq!(count(&store, &to, of_tenant_1()), 0);
    store_twenty(&store, &to);
    assert_eq!(count(&store, &to, of_tenant_1()), 10);
    drop(store);
    assert_eq!(filed(folder.path()), expected);
}

/// Where the keys of others were read into the filter by a transaction that came to nothing, they stay known.
#[test]
fn a_key_in_the_tail_of_another_process_is_known_after_a_commit_that_failed() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (open_patient(folder.path()), open_patient(folder.path()));
    let to = create_project(&one, 1);
    let event = |number| vec![prepare(&to, &numbered(number), NOW, 1)];
    let stored = append(&one, &to, event(1));
    let Appended::Stored(id) = stored[0] else {
        panic!("{stored:?}")
    };
    let mut connection = connect(folder.path(), "audit.db");
    connection
        .batch_execute(
            "CREATE TRIGGER refuse BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'refused'); END",
        )
        .unwrap();
    let refused = two.append_blocking(to.clone(), event(2));
    assert!(matches!(refused, Err(StoreError::Unreachable(_))), "{refused:?}");
    connection.batch_execute("DROP TRIGGER refuse").unwrap();
    assert_eq!(append(&two, &to, event(1)), [Appended::Repeated(id)]);
}

/// Has every commit undone once it has written all but the head of its ledger.
fn refuse_heads(folder: &Path) {
    connect(folder, "audit.db")
        .batch_execute(
            "CREATE TRIGGER refuse BEFORE UPDATE ON ledgers BEGIN SELECT RAISE(ABORT, 'refused'); END",
        )
        .expect("the trigger is made");
}

fn accept_heads(folder: &Path) {
    connect(folder, "audit.db")
        .batch_execute("DROP TRIGGER refuse")
        .expect("the trigger is removed");
}

fn numbered_batch(
    to: &audit_store::Destination,
    numbers: std::ops::Range<usize>,
) -> Vec<audit_store::NewEvent> {
    numbers
        .map(|number| prepare(to, &numbered(number), NOW, 1))
        .collect()
}

#[test]
fn what_was_undone_is_not_taken_for_what_another_process_stored_then() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (open_patient(folder.path()), open_patient(folder.path()));
    let to = create_project(&one, 1);
    refuse_heads(folder.path());
    let refused = one.append_blocking(to.clone(), numbered_batch(&to, 1..2));
    assert!(matches!(refused, Err(StoreError::Unreachable(_))), "{refused:?}");
    accept_heads(folder.path());
    // In the same place of the ledger, by a commit of the same number, and of the other tenant.
    append(&two, &to, numbered_batch(&to, 2..3));
    let found = |store: &Store| ["t0", "t1"].map(|tenant| count(store, &to, of_tenant(tenant)));
    assert_eq!(found(&one), [1, 0]);
    drop(one);
    assert_eq!(found(&two), [1, 0]);
}

#[test]
fn a_tile_that_was_begun_with_what_was_undone_is_made_of_what_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (open_patient(folder.path()), open_patient(folder.path()));
    let to = create_project(&one, 1);
    append(&one, &to, numbered_batch(&to, 0..100));
    refuse_heads(folder.path());
    let refused = one.append_blocking(to.clone(), numbered_batch(&to, 100..110));
    assert!(matches!(refused, Err(StoreError::Unreachable(_))), "{refused:?}");
    accept_heads(folder.path());
    append(&two, &to, numbered_batch(&to, 200..210));
    append(&one, &to, numbered_batch(&to, 300..446));
    let leaves = TileId::new(0, 0, TileId::WIDTH_MAX).unwrap();
    let (tile, frontier) = one
        .read(|rows| {
            Ok::<_, StoreError>((
                rows.log_tile(to.ledger_id, leaves)?,
                rows.log_frontier(to.ledger_id)?,
            ))
        })
        .unwrap();
    assert_eq!(tile.and_then(|tile| tile.root()), Some(frontier.root()));
}

#[test]
fn segments_are_merged_and_what_was_left_unfinished_is_removed() {
    let (folder, at_once) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = open_patient(at_once.path());
    let to = create_project(&store, 1);
    store_twenty(&store, &to);
    drop(store);
    let store = open_patient(folder.path());
    let same = create_project(&store, 1);
    drop(store);
    let index = || connect(folder.path(), "audit.db-index");
    for number in 0..20 {
        let store = open_patient(folder.path());
        append(&store, &same, vec![prepare(&same, &numbered(number), NOW, 1)]);
        // As a process that is killed in the middle of a merge leaves it.
        index()
            .batch_execute(
                "INSERT INTO index_segments VALUES (100000, 1, 3, 0, 9, 1, 1, FALSE);
                 INSERT INTO index_blocks VALUES ((100000 << 32) + 5, x'00')",
            )
            .unwrap();
        assert_eq!(count(&store, &same, EventFilter::default()), number + 1);
        drop(store);
        let left = diesel::sql_query("SELECT COUNT(*) AS count FROM index_blocks WHERE id >> 32 = 100000");
        assert_eq!(left.get_result::<Count>(&mut index()).unwrap().count, 0);
    }
    let segments = segments(&mut index());
    assert!(segments.len() < 8, "{segments:?}");
    assert!(segments.iter().any(|segment| segment.level > 0), "{segments:?}");
    assert_eq!(filed(folder.path()), filed(at_once.path()));
}

#[test]
fn a_damaged_index_keeps_nobody_from_storing_and_is_made_anew_when_it_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let index = || connect(folder.path(), "audit.db-index");
    let mut ids = Vec::new();
    let to = create_project(&open_patient(folder.path()), 1);
    // Ten segments, so that there is something to merge.
    for number in 0..10 {
        let store = open_patient(folder.path());
        ids.extend(append(&store, &to, vec![prepare(&to, &numbered(number), NOW, 1)]));
        drop(store);
        index()
            .batch_execute("UPDATE index_blocks SET bytes = x'ffff'")
            .unwrap();
    }
    let store = open(folder.path());
    let stored = append(&store, &to, vec![prepare(&to, &numbered(11), NOW, 1)]);
    assert!(matches!(stored[..], [Appended::Stored(_)]), "{stored:?}");
    drop(store);
    assert_eq!(commits_left(folder.path()), 0);
    std::fs::remove_file(folder.path().join("audit.db-index")).unwrap();
    let store = open(folder.path());
    assert_eq!(count(&store, &to, EventFilter::default()), 11);
    assert_repeated(&store, &to, &ids, 7);
}
