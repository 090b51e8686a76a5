//! The tables of the document whose lines the tests compare as they are.

use super::table::name_of;
use audit_tests::DatabaseKind;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(super) const DOCUMENT: &str = "docs/design/tampering.md";

/// Held while the document is written: each test writes the table of its own.
static WRITING: Mutex<()> = Mutex::new(());

pub(super) fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(DOCUMENT)
}

pub(super) fn writing() -> MutexGuard<'static, ()> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether every attack is made, and not a part of them.
pub(super) fn is_full() -> bool {
    audit_tests::environment("AUDIT_TEST_ATTACKS").is_some_and(|form| form == "full")
}

pub(super) fn is_updated() -> bool {
    audit_tests::environment("AUDIT_UPDATE_SNAPSHOT").is_some_and(|value| value == "1")
}

/// The document with other rows below this header.
pub(super) fn with_table(document: &str, header: &str, rows: &str) -> String {
    let (before, table) = document.split_once(header).expect("the table of the document");
    let after: String = table
        .split_inclusive('\n')
        .skip_while(|line| line.starts_with('|'))
        .collect();
    format!("{before}{header}{rows}{after}")
}

/// Asserts that the table below this header has these lines of a database, and no others of it if every attack was made. Writes them
/// on demand.
pub(super) fn expect_lines(header: &str, kind: DatabaseKind, lines: &[String], is_complete: bool) {
    let guard = writing();
    let document = std::fs::read_to_string(path()).expect("read the document");
    let (_, table) = document.split_once(header).expect("the table of the document");
    let documented = table.lines().take_while(|line| line.starts_with('|'));
    let column = format!("| {} |", name_of(kind));
    let (own, others): (Vec<&str>, Vec<&str>) = documented.partition(|line| line.contains(&column));
    if is_updated() && is_complete {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let all = match kind {
            DatabaseKind::Sqlite => [lines, others].concat(),
            DatabaseKind::Postgres => [others, lines].concat(),
        };
        let rows: String = all.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(path(), with_table(&document, header, &rows)).expect("write the document");
        return;
    }
    drop(guard);
    let differences: Vec<&String> = lines
        .iter()
        .filter(|line| !own.contains(&line.as_str()))
        .collect();
    assert!(
        differences.is_empty() && (!is_complete || own.len() == lines.len()),
        "{DOCUMENT} has {} lines of {}, and not these: look at them, then run AUDIT_TEST_ATTACKS=full AUDIT_UPDATE_SNAPSHOT=1 \
         cargo test -p audit-tests log::attacks:\n{differences:#?}",
        own.len(),
        lines.len(),
    );
}
