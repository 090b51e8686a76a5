//! The table of the document: written by a run of all situations, compared with every run.

use super::SITUATIONS;
use super::document::{DOCUMENT, is_updated, path, with_table, writing};
use super::edits::UNDONE;
use super::observers::Observation;
use audit_tests::DatabaseKind;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The number of rows that no edit of this suite may take away.
const EDITS_MIN: usize = 78;
/// Of the table in the document.
const HEADER: &str = "| Edit | Database | `log verify` | `log audit` | Witness | Client | Events refused | Where nobody notices it |\n|---|---|---|---|---|---|---|---|\n";
const BETWEEN_SITUATIONS: &str = " · ";

/// An edit on one database, and what was noticed in each situation.
pub(super) struct Row {
    name: &'static str,
    kind: DatabaseKind,
    excuse: Option<&'static str>,
    pub(super) cells: [Option<Observation>; SITUATIONS.len()],
}

impl Row {
    pub(super) fn new(name: &'static str, kind: DatabaseKind, excuse: Option<&'static str>) -> Self {
        Self {
            name,
            kind,
            excuse,
            cells: [None; SITUATIONS.len()],
        }
    }

    /// One text for each column and situation; `None` where it did not run.
    fn columns(&self) -> [[Option<&'static str>; SITUATIONS.len()]; 5] {
        let column = |seen: fn(&Observation) -> bool| {
            self.cells
                .each_ref()
                .map(|cell| cell.as_ref().map(|cell| if seen(cell) { "yes" } else { "–" }))
        };
        [
            column(|seen| seen.verify),
            column(|seen| seen.audit),
            column(|seen| seen.witness),
            column(|seen| seen.client),
            column(|seen| seen.is_refused),
        ]
    }

    fn unnoticed(&self) -> impl Iterator<Item = &Observation> {
        let seen = self.cells.iter().flatten();
        seen.filter(|seen| !seen.verify && !seen.audit)
    }

    /// The row without the name of the database.
    fn rest(&self) -> String {
        let cells = self.columns().map(|column| {
            let texts: Vec<&str> = column.into_iter().map(Option::unwrap_or_default).collect();
            match texts.iter().all(|text| *text == texts[0]) {
                true => texts[0].to_owned(),
                false => texts.join(BETWEEN_SITUATIONS),
            }
        });
        format!("{} | {}", cells.join(" | "), self.excuse.unwrap_or_default())
    }
}

/// Asserts that every edit is noticed by `log verify` or `log audit`, or excused. Where the server writes the right value again, clients
/// and witnesses see no difference.
pub(super) fn expect_noticed(rows: &[Row], is_full: bool) {
    assert!(rows.len() >= EDITS_MIN, "{} rows", rows.len());
    let failed = |row: &Row| match row.excuse {
        None => row.unnoticed().next().is_some(),
        Some(UNDONE) => row
            .unnoticed()
            .any(|seen| !seen.is_intact || seen.client || seen.witness),
        Some(_) => false,
    };
    let needless = |row: &Row| is_full && row.excuse.is_some() && row.unnoticed().next().is_none();
    let wrong = rows.iter().filter(|row| failed(row) || needless(row));
    let wrong: Vec<String> = wrong
        .map(|row| {
            format!(
                "{} on {:?}, excused: {:?}: {:?}",
                row.name, row.kind, row.excuse, row.cells
            )
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "nobody notices, or the excuse is needless:\n{}",
        wrong.join("\n")
    );
}

fn rendered(rows: &[Row]) -> String {
    let mut table = String::new();
    let mut written = Vec::new();
    for row in rows {
        if written.contains(&row.name) {
            continue;
        }
        written.push(row.name);
        let same: Vec<&Row> = rows.iter().filter(|other| other.name == row.name).collect();
        let kinds: Vec<(&str, String)> = match same.as_slice() {
            [one, other] if one.rest() == other.rest() => vec![("both", one.rest())],
            several => several
                .iter()
                .map(|row| (name_of(row.kind), row.rest()))
                .collect(),
        };
        for (kind, rest) in kinds {
            writeln!(table, "| {} | {kind} | {} |", row.name, rest.trim_end()).expect("text is written");
        }
    }
    table
}

pub(super) fn name_of(kind: DatabaseKind) -> &'static str {
    match kind {
        DatabaseKind::Sqlite => "SQLite",
        DatabaseKind::Postgres => "PostgreSQL",
    }
}

/// The cells of the document, by edit and database.
fn documented(document: &str) -> BTreeMap<(String, String), Vec<String>> {
    let table = document.split_once(HEADER).map_or("", |(_, table)| table);
    let lines = table
        .lines()
        .map_while(|line| line.strip_prefix('|')?.strip_suffix('|'));
    let mut cells = BTreeMap::new();
    for line in lines {
        let texts: Vec<String> = line.split('|').map(|cell| cell.trim().to_owned()).collect();
        let kinds = match texts[1].as_str() {
            "both" => vec!["SQLite", "PostgreSQL"],
            kind => vec![kind],
        };
        for kind in kinds {
            cells.insert((texts[0].clone(), kind.to_owned()), texts[2..].to_vec());
        }
    }
    cells
}

/// The columns of those who get proofs from the server.
const WITNESS_AND_CLIENT: [usize; 2] = [2, 3];

/// A running server may still have in memory what the edit removed from the database, depending on when it signed last. It then gives
/// right proofs, and those who get them see no difference.
fn may_be_remembered(column: usize, situation: usize, said: Option<&&str>, seen: &str) -> bool {
    let is_proof = WITNESS_AND_CLIENT.contains(&column) && SITUATIONS[situation].is_running;
    is_proof && said == Some(&"yes") && seen == "–"
}

/// Asserts that the document says what was seen. With all situations, writes the document on demand.
pub(super) fn expect_documented(rows: &[Row], is_full: bool) {
    let guard = writing();
    let document = std::fs::read_to_string(path()).expect("read the document");
    if is_updated() && is_full && DatabaseKind::Postgres.is_available() {
        let written = with_table(&document, HEADER, &rendered(rows));
        std::fs::write(path(), written).expect("write the document");
        return;
    }
    drop(guard);
    let documented = documented(&document);
    let mut differences = Vec::new();
    for row in rows {
        let key = (row.name.to_owned(), name_of(row.kind).to_owned());
        let cells = documented.get(&key);
        for (number, column) in row.columns().into_iter().enumerate() {
            for (situation, seen) in column
                .into_iter()
                .enumerate()
                .filter_map(|(n, seen)| Some((n, seen?)))
            {
                let text = cells
                    .and_then(|cells| cells.get(number))
                    .map_or("", String::as_str);
                let texts: Vec<&str> = text.split(BETWEEN_SITUATIONS).collect();
                let said = texts.get(if texts.len() == 1 { 0 } else { situation });
                if said != Some(&seen) && !may_be_remembered(number, situation, said, seen) {
                    differences.push(format!(
                        "{key:?}, column {number}, {:?}: {seen}, not {said:?}",
                        SITUATIONS[situation]
                    ));
                }
            }
        }
    }
    assert!(
        differences.is_empty(),
        "{DOCUMENT}: look at the differences, then run AUDIT_TEST_ATTACKS=full AUDIT_UPDATE_SNAPSHOT=1 cargo test -p audit-tests \
         log::attacks:\n{}",
        differences.join("\n")
    );
}
