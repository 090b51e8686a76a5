//! Edits of what a removal has left in the database, with write access to the database alone. `docs/design/tampering.md` has them.

use super::{OLD, SQLITE_COLUMNS, Scene};
use crate::log::delete;
use audit_tests::{DatabaseKind, on_both_databases};
use serde_json::Value;

on_both_databases! {
    log_verify_notices_every_edit_of_what_a_removal_left,
}

/// Name, statements and the problem that `log verify` finds.
type Edit = (&'static str, String, &'static str);

const REMOVED: &str = "it was removed";
const RECORDS: &str = "are not those that it was logged with";

/// Gives the tenants of removed events another label, of which only the digest of the removal knows.
pub(super) fn another_label(kind: DatabaseKind) -> String {
    // The slot is in its first eight bytes.
    let halves = "substr(label, 1, 8) || substr(label, 1, 24)";
    let label = match kind {
        DatabaseKind::Sqlite => format!("CAST({halves} AS BLOB)"),
        DatabaseKind::Postgres => halves.to_owned(),
    };
    format!("UPDATE removed_tenants SET label = {label} WHERE LEDGER")
}

/// The edits of a log whose removal is at this position.
fn edits(kind: DatabaseKind, removal: u64) -> Vec<Edit> {
    let edit = |name, sql: &str, problem| (name, sql.to_owned(), problem);
    let changed = match kind {
        DatabaseKind::Sqlite => {
            "UPDATE removed_events SET records = CAST(substr(records, 1, 10) || X'07' || substr(records, 12) AS BLOB) WHERE LEDGER"
        }
        DatabaseKind::Postgres => {
            "UPDATE removed_events SET records = overlay(records placing '\\x07'::bytea from 11) WHERE LEDGER"
        }
    };
    let put_back = match kind {
        DatabaseKind::Sqlite => format!(
            "INSERT INTO events ({SQLITE_COLUMNS}) SELECT {SQLITE_COLUMNS} FROM saved_events;
             INSERT INTO event_times (position, entry) SELECT position, entry FROM saved_events"
        ),
        // The partition of its month may be gone.
        DatabaseKind::Postgres => "UPDATE saved_events SET month = (SELECT max(month) FROM events);
             INSERT INTO events SELECT * FROM saved_events"
            .to_owned(),
    };
    let label = another_label(kind);
    vec![
        (
            "one more event deleted",
            delete(kind, &format!("seq = {OLD}")),
            REMOVED,
        ),
        (
            "the event of the removal deleted",
            delete(kind, &format!("seq = {removal}")),
            REMOVED,
        ),
        edit(
            "all records deleted",
            "DELETE FROM removed_events WHERE LEDGER",
            REMOVED,
        ),
        edit(
            "a record deleted",
            "UPDATE removed_events SET records = substr(records, 44) WHERE LEDGER",
            REMOVED,
        ),
        edit("a record changed", changed, RECORDS),
        ("the label of a tenant of removed events", label, RECORDS),
        edit(
            "the row of the removal deleted",
            "DELETE FROM removals WHERE LEDGER",
            REMOVED,
        ),
        edit(
            "another event as that of the removal",
            "UPDATE removals SET event_seq = event_seq - 1 WHERE LEDGER",
            REMOVED,
        ),
        edit(
            "no lifecycle events",
            "UPDATE ledgers SET lifecycle_seq = NULL WHERE HEAD",
            "ledgers.lifecycle_seq",
        ),
        ("a removed event put back", put_back, "are there again"),
    ]
}

fn log_verify_notices_every_edit_of_what_a_removal_left(kind: DatabaseKind) {
    let Some(scene) = Scene::removed(kind) else { return };
    let verified = scene.verified();
    let removal = verified["removed"]["removals"][0]["seq"]
        .as_u64()
        .expect("a position");
    for (name, sql, problem) in edits(kind, removal) {
        let case = scene.case();
        case.tamper(&sql);
        let findings = case.findings();
        let mut problems = findings.iter().filter_map(|finding| finding["problem"].as_str());
        assert!(
            problems.any(|found| found.contains(problem)),
            "{name}: {}",
            Value::from(findings.clone())
        );
    }
}
