//! The indexing backlog: events that are stored and not indexed yet.

use crate::files::{connect, count_rows, crashed_copy, indexed_tokens, unindexed_commits};
use crate::numbered::{
    assert_repeated, numbered_batch, numbered_event, of_tenant, open_without_indexing, store_twenty,
};
use crate::{NOW, append, count, create_project, open, prepare};
use audit_domain::{EventFilter, Facet};
use audit_ledger::TileId;
use audit_store::{Appended, Store, StoreError};
use diesel::connection::SimpleConnection;
use serde_json::json;
use std::path::Path;

#[test]
fn unindexed_events_are_found_in_the_backlog() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_without_indexing(folder.path());
    let to = create_project(&store, 1);
    let stored = store_twenty(&store, &to);
    assert_eq!(unindexed_commits(folder.path()), 20);
    assert_eq!(count(&store, &to, of_tenant("t1")), 10);
    assert_repeated(&store, &to, &stored, 7);
}

#[test]
fn the_backlog_of_a_crashed_process_is_indexed_by_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_without_indexing(folder.path());
    let to = create_project(&store, 1);
    let stored = store_twenty(&store, &to);
    let copy = crashed_copy(folder.path());
    assert_eq!(unindexed_commits(copy.path()), 20);

    let restarted = open_without_indexing(copy.path());
    assert_eq!(count(&restarted, &to, of_tenant("t1")), 10);
    assert_repeated(&restarted, &to, &stored, 7);
    drop(restarted);
    drop(store);
    assert_eq!(unindexed_commits(copy.path()), 0);
    let (expected, found) = (indexed_tokens(folder.path()), indexed_tokens(copy.path()));
    assert!(expected.len() > 200 && expected == found, "{found:?}");
}

#[test]
fn a_clean_stop_indexes_the_backlog() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_without_indexing(folder.path());
    let to = create_project(&store, 1);
    append(&store, &to, vec![prepare(&to, &numbered_event(1), NOW, 1)]);
    drop(store);
    assert_eq!(unindexed_commits(folder.path()), 0);
    assert!(!indexed_tokens(folder.path()).is_empty());
}

/// The backlog has events of all ledgers; queries find only those of their own.
#[test]
fn a_long_backlog_is_removed_once_it_is_indexed() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    create_project(&store, 1);
    create_project(&store, 2);
    let destination = |number| crate::destination(&store, audit_domain::ProjectId::from_random([number; 16]));
    let (one, two) = (destination(1), destination(2));
    append(&store, &one, vec![prepare(&one, &numbered_event(1), NOW, 1)]);
    assert_eq!(count(&store, &two, EventFilter::default()), 0);
    let actor = EventFilter::of(Facet::ActorId, "a1");
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
    assert_eq!(unindexed_commits(folder.path()), 0);
    let rows = count_rows(&mut connect(folder.path(), "audit.db"), "event_backlog");
    assert!(rows < 51, "{rows}");
}

/// A transaction that is rolled back may have read the keys of another process into the filter. They stay in it.
#[test]
fn a_key_in_the_backlog_of_another_process_is_found_after_a_failed_commit() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (
        open_without_indexing(folder.path()),
        open_without_indexing(folder.path()),
    );
    let to = create_project(&one, 1);
    let event = |number| vec![prepare(&to, &numbered_event(number), NOW, 1)];
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

/// Makes every commit fail after it has written all rows but the head of its ledger.
fn refuse_heads(folder: &Path) {
    connect(folder, "audit.db")
        .batch_execute(
            "CREATE TRIGGER refuse BEFORE UPDATE ON ledgers BEGIN SELECT RAISE(ABORT, 'refused'); END",
        )
        .expect("the trigger is created");
}

fn accept_heads(folder: &Path) {
    connect(folder, "audit.db")
        .batch_execute("DROP TRIGGER refuse")
        .expect("the trigger is removed");
}

#[test]
fn a_rolled_back_commit_is_not_confused_with_the_next_one_of_another_process() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (
        open_without_indexing(folder.path()),
        open_without_indexing(folder.path()),
    );
    let to = create_project(&one, 1);
    refuse_heads(folder.path());
    let refused = one.append_blocking(to.clone(), numbered_batch(&to, 1..2));
    assert!(matches!(refused, Err(StoreError::Unreachable(_))), "{refused:?}");
    accept_heads(folder.path());
    // At the same position of the ledger, by a commit of the same id, and of the other tenant.
    append(&two, &to, numbered_batch(&to, 2..3));
    let found = |store: &Store| ["t0", "t1"].map(|tenant| count(store, &to, of_tenant(tenant)));
    assert_eq!(found(&one), [1, 0]);
    drop(one);
    assert_eq!(found(&two), [1, 0]);
}

#[test]
fn a_tile_with_rolled_back_leaves_in_the_cache_is_computed_from_stored_events() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (
        open_without_indexing(folder.path()),
        open_without_indexing(folder.path()),
    );
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
        .read(|reader| {
            Ok::<_, StoreError>((
                reader.log_tile(to.ledger_id, leaves)?,
                reader.log_frontier(to.ledger_id)?,
            ))
        })
        .unwrap();
    assert_eq!(tile.and_then(|tile| tile.root()), Some(frontier.root()));
}
