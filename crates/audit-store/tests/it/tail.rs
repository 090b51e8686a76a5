//! Events that are stored and not in the index yet.

use crate::{NOW, append, count, create_project, open, open_with, prepare};
use audit_domain::EventFilter;
use audit_store::{Appended, Store, StoreError, StoreOptions};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use serde_json::{Value, json};
use std::path::Path;

/// What the index has: each token with each row that is filed under it.
#[derive(QueryableByName, Debug, PartialEq, Eq)]
struct Filed {
    #[diesel(sql_type = Text)]
    term: String,
    #[diesel(sql_type = BigInt)]
    doc: i64,
}

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    count: i64,
}

fn connect(folder: &Path) -> SqliteConnection {
    let path = folder.join("audit.db");
    SqliteConnection::establish(path.to_str().expect("a path in UTF-8")).expect("the database opens")
}

fn filed(folder: &Path) -> Vec<Filed> {
    let mut connection = connect(folder);
    connection
        .batch_execute("CREATE VIRTUAL TABLE temp.filed USING fts5vocab(main, event_index, instance)")
        .expect("the index can be listed");
    diesel::sql_query("SELECT term, doc FROM temp.filed ORDER BY term, doc")
        .load(&mut connection)
        .expect("the index is listed")
}

fn commits_in_the_tail(folder: &Path) -> i64 {
    let count = diesel::sql_query("SELECT COUNT(*) AS count FROM event_tail");
    let counted: Count = count
        .get_result(&mut connect(folder))
        .expect("the tail is counted");
    counted.count
}

/// A store that indexes nothing of its own accord.
fn open_patient(folder: &Path) -> Store {
    let indexing_idle = std::time::Duration::from_secs(3_600);
    open_with(
        folder,
        StoreOptions {
            indexing_idle,
            ..StoreOptions::default()
        },
    )
}

/// The files as a process that is killed now leaves them.
fn killed(folder: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().expect("a folder");
    // The log first: what a checkpoint moves out of it meanwhile is in the database then.
    for name in ["audit.db-wal", "audit.db"] {
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

#[test]
fn what_a_killed_process_left_is_indexed_as_it_would_have_been() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_patient(folder.path());
    let to = create_project(&store, 1);
    let ids: Vec<Appended> = (0..20)
        .flat_map(|number| append(&store, &to, vec![prepare(&to, &numbered(number), NOW, 1)]))
        .collect();
    let copy = killed(folder.path());
    assert!(
        commits_in_the_tail(copy.path()) > 0,
        "small commits leave their events"
    );

    let restarted = open(copy.path());
    assert_eq!(commits_in_the_tail(copy.path()), 0);
    drop(store);
    let (expected, found) = (filed(folder.path()), filed(copy.path()));
    assert!(expected.len() > 200 && expected == found, "{found:?}");

    let tenant = EventFilter {
        tenant_id: Some("t1".to_owned()),
        ..EventFilter::default()
    };
    assert_eq!(count(&restarted, &to, tenant), 10);
    let Appended::Stored(id) = ids[7] else {
        panic!("{ids:?}")
    };
    let again = append(&restarted, &to, vec![prepare(&to, &numbered(7), NOW, 2)]);
    assert_eq!(again, [Appended::Repeated(id)]);
}

#[test]
fn a_clean_stop_leaves_no_tail() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_patient(folder.path());
    let to = create_project(&store, 1);
    append(&store, &to, vec![prepare(&to, &numbered(1), NOW, 1)]);
    drop(store);
    assert_eq!(commits_in_the_tail(folder.path()), 0);
    assert!(!filed(folder.path()).is_empty());
}

/// Also those of other ledgers are indexed then, and found by their own readers alone.
#[test]
fn enough_rows_are_indexed_with_all_that_was_left() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_patient(folder.path());
    create_project(&store, 1);
    create_project(&store, 2);
    let destination = |number| crate::destination(&store, audit_domain::ProjectId::from_random([number; 16]));
    let (one, two) = (destination(1), destination(2));
    append(&store, &one, vec![prepare(&one, &numbered(1), NOW, 1)]);
    assert_eq!(count(&store, &two, EventFilter::default()), 0);
    let many = (0..600).map(|number| prepare(&two, &numbered(number), NOW, 1));
    append(&store, &two, many.collect());
    assert_eq!(commits_in_the_tail(folder.path()), 0);
    let actor = EventFilter {
        actor_ids: Some(vec!["a1".to_owned()]),
        ..EventFilter::default()
    };
    assert_eq!(count(&store, &one, actor.clone()), 1);
    assert_eq!(count(&store, &two, actor), 1);
}

/// What another process left is indexed by whoever needs to know its keys; when that is undone, it has to be done again.
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
    let mut connection = connect(folder.path());
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
