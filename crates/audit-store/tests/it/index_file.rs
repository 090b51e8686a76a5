//! The index file: it is merged, rebuilt when it does not belong to the database, and never stops appends.

use crate::files::{connect, count_rows, crashed_copy, indexed_tokens, segments, unindexed_commits};
use crate::numbered::{assert_repeated, numbered_event, of_tenant, open_without_indexing, store_twenty};
use crate::{NOW, append, count, create_project, open, prepare};
use audit_domain::{EventFilter, Facet};
use audit_store::Appended;
use diesel::connection::SimpleConnection;
use diesel::{QueryableByName, RunQueryDsl, SqliteConnection};
use std::path::Path;

#[test]
fn events_are_stored_and_found_while_the_index_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let to = create_project(&store, 1);
    let mut other = connect(folder.path(), "audit.db-index");
    other.batch_execute("BEGIN IMMEDIATE").unwrap();
    store_twenty(&store, &to);
    assert_eq!(count(&store, &to, of_tenant("t1")), 10);
    assert_eq!(unindexed_commits(folder.path()), 20);
    other.batch_execute("ROLLBACK").unwrap();
    drop(store);
    assert_eq!(unindexed_commits(folder.path()), 0);
}

/// The index is missing, behind the database, or ahead of it, because one of the two was restored from a backup.
#[test]
fn an_index_that_does_not_belong_to_the_database_is_rebuilt() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let to = create_project(&store, 1);
    let empty = crashed_copy(folder.path());
    store_twenty(&store, &to);
    drop(store);
    let expected = indexed_tokens(folder.path());
    let index = folder.path().join("audit.db-index");
    let (current, old) = (
        std::fs::read(&index).unwrap(),
        std::fs::read(empty.path().join("audit.db-index")).unwrap(),
    );
    let reopen = |expected: &[(String, i64)]| {
        let store = open(folder.path());
        assert_eq!(count(&store, &to, of_tenant("t1")), 10);
        let again = append(&store, &to, vec![prepare(&to, &numbered_event(7), NOW, 2)]);
        assert!(matches!(again[..], [Appended::Repeated(_)]), "{again:?}");
        store.wait_for_rebuild();
        drop(store);
        assert_eq!(indexed_tokens(folder.path()), expected);
    };
    std::fs::remove_file(&index).unwrap();
    reopen(&expected);
    std::fs::write(&index, old).unwrap();
    reopen(&expected);
    // The empty database is restored, and the index stays.
    for name in ["audit.db-wal", "audit.db"] {
        std::fs::copy(empty.path().join(name), folder.path().join(name)).unwrap();
    }
    std::fs::write(&index, current).unwrap();
    let store = open(folder.path());
    assert_eq!(count(&store, &to, of_tenant("t1")), 0);
    store_twenty(&store, &to);
    assert_eq!(count(&store, &to, of_tenant("t1")), 10);
    drop(store);
    assert_eq!(indexed_tokens(folder.path()), expected);
}

/// Replaces a file of a closed store, and removes what its last user left beside it.
fn put_file(folder: &Path, name: &str, bytes: &[u8]) {
    for beside in ["-wal", "-shm"] {
        match std::fs::remove_file(folder.join(format!("{name}{beside}"))) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => panic!("{error}"),
            _ => {}
        }
    }
    std::fs::write(folder.join(name), bytes).expect("the file is written");
}

/// A backup of the database is restored and gets other events. Then the index of the abandoned events, which has as many
/// commits or one less, is put back.
#[test]
fn an_index_of_another_history_is_rebuilt_and_no_key_is_stored_twice() {
    for commits in [10, 9] {
        let folder = tempfile::tempdir().unwrap();
        let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
        let to = create_project(&open(folder.path()), 1);
        let backup = ["audit.db", "audit.db-index"].map(read);
        let store_from = |first: usize, commits: usize| {
            let store = open(folder.path());
            let stored = (first..first + commits).flat_map(|number| {
                let event = prepare(&to, &numbered_event(number), NOW, 1);
                append(&store, &to, vec![event])
            });
            stored.collect::<Vec<_>>()
        };
        store_from(0, commits);
        let abandoned = read("audit.db-index");
        put_file(folder.path(), "audit.db", &backup[0]);
        put_file(folder.path(), "audit.db-index", &backup[1]);
        let stored = store_from(100, 10);
        put_file(folder.path(), "audit.db-index", &abandoned);

        let store = open(folder.path());
        let actor = |number: usize| EventFilter::of(Facet::ActorId, format!("a{number}"));
        for (number, stored) in stored.iter().enumerate() {
            assert_eq!(count(&store, &to, actor(100 + number)), 1, "{number}");
            assert_eq!(count(&store, &to, actor(number)), 0, "{number}");
            let again = append(
                &store,
                &to,
                vec![prepare(&to, &numbered_event(100 + number), NOW, 2)],
            );
            let Appended::Stored(id) = stored else {
                panic!("{stored:?}")
            };
            assert_eq!(again, [Appended::Repeated(*id)], "{number}");
        }
        assert_eq!(count(&store, &to, EventFilter::default()), 10);
    }
}

#[test]
fn segments_are_merged_and_unfinished_ones_are_removed() {
    let (folder, at_once) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = open_without_indexing(at_once.path());
    let to = create_project(&store, 1);
    store_twenty(&store, &to);
    drop(store);
    let store = open_without_indexing(folder.path());
    let same = create_project(&store, 1);
    drop(store);
    let index = || connect(folder.path(), "audit.db-index");
    for number in 0..20 {
        let store = open_without_indexing(folder.path());
        append(
            &store,
            &same,
            vec![prepare(&same, &numbered_event(number), NOW, 1)],
        );
        // As a crash during a merge leaves it.
        index()
            .batch_execute(
                "INSERT INTO index_segments VALUES (100000, 1, 3, 0, 9, 1, 1, x'', FALSE, 0);
                 INSERT INTO index_blocks VALUES ((100000 << 32) + 5, x'00')",
            )
            .unwrap();
        assert_eq!(count(&store, &same, EventFilter::default()), number + 1);
        drop(store);
        assert_eq!(
            count_rows(&mut index(), "index_blocks WHERE id >> 32 = 100000"),
            0
        );
    }
    let segments = segments(&mut index());
    assert!(segments.len() < 8, "{segments:?}");
    assert!(segments.iter().any(|segment| segment.level > 0), "{segments:?}");
    assert_eq!(indexed_tokens(folder.path()), indexed_tokens(at_once.path()));
}

#[test]
fn events_are_stored_beside_a_damaged_index_which_is_rebuilt_after_its_removal() {
    let folder = tempfile::tempdir().unwrap();
    let index = || connect(folder.path(), "audit.db-index");
    let mut ids = Vec::new();
    let to = create_project(&open_without_indexing(folder.path()), 1);
    // Ten segments, so that a merge is due.
    for number in 0..10 {
        let store = open_without_indexing(folder.path());
        ids.extend(append(
            &store,
            &to,
            vec![prepare(&to, &numbered_event(number), NOW, 1)],
        ));
        drop(store);
        index()
            .batch_execute("UPDATE index_blocks SET bytes = x'ffff'")
            .unwrap();
    }
    let store = open(folder.path());
    let stored = append(&store, &to, vec![prepare(&to, &numbered_event(11), NOW, 1)]);
    assert!(matches!(stored[..], [Appended::Stored(_)]), "{stored:?}");
    drop(store);
    assert_eq!(unindexed_commits(folder.path()), 0);
    std::fs::remove_file(folder.path().join("audit.db-index")).unwrap();
    let store = open(folder.path());
    assert_eq!(count(&store, &to, EventFilter::default()), 11);
    assert_repeated(&store, &to, &ids, 7);
}

#[test]
fn an_index_of_another_format_is_rebuilt() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let to = create_project(&store, 1);
    let stored = store_twenty(&store, &to);
    drop(store);
    let expected = indexed_tokens(folder.path());
    let index = || connect(folder.path(), "audit.db-index");
    let format = format_of(&mut index());
    for other in [0, format - 1, format + 1] {
        index()
            .batch_execute(&format!(
                "PRAGMA user_version = {other}; UPDATE index_blocks SET bytes = x'ffff'"
            ))
            .unwrap();
        let store = open(folder.path());
        assert_eq!(count(&store, &to, EventFilter::default()), 20, "format {other}");
        assert_eq!(count(&store, &to, of_tenant("t1")), 10, "format {other}");
        assert_repeated(&store, &to, &stored, 7);
        store.wait_for_rebuild();
        drop(store);
        assert_eq!(format_of(&mut index()), format);
        assert_eq!(indexed_tokens(folder.path()), expected);
    }
}

/// The format of an index file, which SQLite stores in its header.
fn format_of(index: &mut SqliteConnection) -> i64 {
    #[derive(QueryableByName)]
    struct Format {
        #[diesel(sql_type = diesel::sql_types::BigInt)]
        user_version: i64,
    }
    let found: Format = diesel::sql_query("PRAGMA user_version")
        .get_result(index)
        .expect("the format is read");
    found.user_version
}
