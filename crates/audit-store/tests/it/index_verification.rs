//! The verification of the index finds damage, missing and surplus rows, and nothing else.

use crate::files::connect;
use crate::numbered::{numbered_batch, open_without_indexing, store_twenty};
use crate::{append, create_project, open};
use audit_store::{DatabaseUrl, EventPlace, IndexFinding, IndexReport, LedgerId, StoreError, verify_index};
use diesel::connection::SimpleConnection;
use std::path::Path;

fn outcome(folder: &Path) -> Result<IndexReport, StoreError> {
    let url = DatabaseUrl::Sqlite(folder.join("audit.db"));
    verify_index(&url, &mut |_, _| {}).map(|(report, _)| report)
}

fn report(folder: &Path) -> IndexReport {
    outcome(folder).expect("the index is verified")
}

/// A folder with an index of twenty events, and their ledger.
fn indexed() -> (tempfile::TempDir, LedgerId) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let to = create_project(&store, 1);
    store_twenty(&store, &to);
    (folder, to.ledger_id)
}

fn change(folder: &Path, file: &str, sql: &str) {
    connect(folder, file).batch_execute(sql).expect("the change");
}

#[test]
fn an_index_is_right_beside_an_open_store_and_after_it_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_without_indexing(folder.path());
    let to = create_project(&store, 1);
    store_twenty(&store, &to);
    let counts = |report: &IndexReport| {
        (
            report.events,
            report.indexed,
            report.backlog,
            report.findings_count,
        )
    };
    assert_eq!(counts(&report(folder.path())), (20, 0, 20, 0));
    drop(store);
    assert_eq!(counts(&report(folder.path())), (20, 20, 0, 0));
    // A segment of several chunks of rows.
    let store = open_without_indexing(folder.path());
    append(&store, &to, numbered_batch(&to, 100..2_700));
    assert_eq!(counts(&report(folder.path())), (2_620, 20, 2_600, 0));
    drop(store);
    let whole = report(folder.path());
    assert_eq!(counts(&whole), (2_620, 2_620, 0, 0));
    assert!(whole.segments > 1 && whole.blocks > whole.segments, "{whole:?}");
}

#[test]
fn a_changed_byte_of_a_block_or_descriptor_is_found() {
    for (sql, named) in [
        (
            "UPDATE index_blocks SET bytes = x'77' || substr(bytes, 2) WHERE id = (SELECT min(id) FROM index_blocks)",
            "ids block 0 of segment ",
        ),
        (
            "UPDATE index_blocks SET bytes = substr(bytes, 1, length(bytes) - 4) || x'00000000' \
             WHERE id >> 28 & 15 = 1",
            "dictionary block 0 of segment ",
        ),
        (
            "DELETE FROM index_blocks WHERE id >> 28 & 15 = 3",
            "directory block 0 of segment ",
        ),
        (
            "UPDATE index_segments SET last_position = last_position + 1",
            "segment ",
        ),
        ("UPDATE index_segments SET roots = substr(roots, 2)", "segment "),
        (
            "UPDATE index_segments SET row_count = -row_count",
            "list of segments",
        ),
    ] {
        let (folder, _) = indexed();
        change(folder.path(), "audit.db-index", sql);
        let report = report(folder.path());
        let Some(IndexFinding::Damaged(damage)) = report.findings.first() else {
            panic!("{sql}: {report:?}");
        };
        assert!(damage.contains(named), "{sql}: {damage}");
    }
}

#[test]
fn a_damaged_index_file_is_found() {
    let (folder, _) = indexed();
    let path = folder.path().join("audit.db-index");
    change(folder.path(), "audit.db-index", "PRAGMA wal_checkpoint(TRUNCATE)");
    let mut bytes = std::fs::read(&path).unwrap();
    // Every page but the first one.
    bytes[4_096..].iter_mut().for_each(|byte| *byte ^= 0x55);
    std::fs::write(&path, bytes).unwrap();
    match outcome(folder.path()) {
        Ok(report) => assert!(report.findings_count > 0, "{report:?}"),
        // The list of segments cannot be read.
        Err(error) => assert!(matches!(error, StoreError::Database(_)), "{error}"),
    }
}

#[test]
fn an_event_that_is_in_no_segment_or_under_other_tokens_is_named() {
    let event = |ledger_id, seq| EventPlace { ledger_id, seq };
    let (folder, _) = indexed();
    change(folder.path(), "audit.db-index", "DELETE FROM index_segments");
    let without_segments = report(folder.path());
    assert_eq!(without_segments.findings_count, 20);
    assert!(
        without_segments
            .findings
            .iter()
            .all(|finding| matches!(finding, IndexFinding::Unindexed(_)))
    );

    let (folder, ledger_id) = indexed();
    let body = "UPDATE events SET body = replace(body, '\"a7\"', '\"a8\"') WHERE entry & 1023 = 7";
    change(folder.path(), "audit.db", body);
    let changed = report(folder.path());
    let [IndexFinding::OtherTokens { event: named, .. }] = changed.findings[..] else {
        panic!("{changed:?}");
    };
    assert_eq!(named, event(ledger_id, 7));

    let (folder, ledger_id) = indexed();
    change(folder.path(), "audit.db", "DELETE FROM ledger_actions");
    let without_actions = report(folder.path());
    let is_unknown = |finding: &IndexFinding| matches!(finding, IndexFinding::UnknownAction(named) if named.ledger_id == ledger_id);
    assert!(
        without_actions.findings.iter().all(is_unknown),
        "{without_actions:?}"
    );
    assert_eq!(without_actions.findings_count, 3);

    let (folder, _) = indexed();
    change(
        folder.path(),
        "audit.db",
        "DELETE FROM events WHERE entry & 1023 = 7; DELETE FROM event_times WHERE entry & 1023 = 7",
    );
    let removed = report(folder.path());
    assert!(
        matches!(removed.findings[..], [IndexFinding::NoEvent { .. }]),
        "{removed:?}"
    );
    assert_eq!((removed.events, removed.indexed), (19, 19));

    let folder = tempfile::tempdir().unwrap();
    let store = open_without_indexing(folder.path());
    let to = create_project(&store, 1);
    store_twenty(&store, &to);
    change(
        folder.path(),
        "audit.db",
        "DELETE FROM event_backlog WHERE id = 5",
    );
    assert_eq!(
        report(folder.path()).findings,
        [IndexFinding::Unindexed(event(to.ledger_id, 4))]
    );
}

#[test]
fn an_index_that_is_missing_or_has_another_format_cannot_be_verified() {
    let (folder, _) = indexed();
    change(folder.path(), "audit.db-index", "PRAGMA user_version = 1");
    assert!(matches!(outcome(folder.path()), Err(StoreError::Unverifiable(_))));
    change(folder.path(), "audit.db-index", "PRAGMA wal_checkpoint(TRUNCATE)");
    std::fs::remove_file(folder.path().join("audit.db-index")).unwrap();
    assert!(matches!(outcome(folder.path()), Err(StoreError::Unreachable(_))));
    assert!(!folder.path().join("audit.db-index").exists());
    let nowhere = tempfile::tempdir().unwrap();
    assert!(matches!(outcome(nowhere.path()), Err(StoreError::Unreachable(_))));
    assert_eq!(std::fs::read_dir(nowhere.path()).unwrap().count(), 0);
}
