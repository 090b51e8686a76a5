//! The tables of the document: written by a run of all situations, compared with every run.

use super::document::{DOCUMENT, is_full, is_updated, path, with_table, writing};
use super::edits::UNDONE;
use super::observers::Observation;
use super::{Access, Situation};
use audit_tests::DatabaseKind;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The number of rows that no edit of this suite may take away.
const EDITS_MIN: usize = 81;
/// The titles of all columns but the first one, and the line below them.
const COLUMNS: &str = "| Database | `log verify` | `log audit` | Witness | Client | Events refused | Why it is not noticed |\n|---|---|---|---|---|---|---|---|\n";
/// The number of situations in a table.
const SITUATIONS: usize = 4;
const BETWEEN_SITUATIONS: &str = " · ";
/// The reason why neither `log verify` nor `log audit` notices an edit by an attacker with the head key.
const HARMLESS: &str = "the log has all events that it had, and continues what was signed";

/// What was seen in each column of a row, by situation.
type Columns = [[Option<&'static str>; SITUATIONS]; 5];

/// A table of the document.
pub(super) struct Table {
    /// The title of the first column.
    pub(super) edit: &'static str,
    /// In the order of the values of a cell.
    pub(super) situations: [Situation; SITUATIONS],
    /// Those that every run of the tests has.
    pub(super) always: &'static [usize],
}

/// An edit on one database, and what was noticed in each situation.
pub(super) struct Row {
    name: &'static str,
    kind: DatabaseKind,
    excuse: Option<&'static str>,
    pub(super) cells: [Option<Observation>; SITUATIONS],
}

impl Row {
    pub(super) fn new(name: &'static str, kind: DatabaseKind, excuse: Option<&'static str>) -> Self {
        Self {
            name,
            kind,
            excuse,
            cells: [None; SITUATIONS],
        }
    }

    /// One text for each column and situation; `None` where it did not run.
    fn columns(&self) -> Columns {
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
        seen.filter(|seen| !seen.is_noticed())
    }

    /// The row with these columns, without the name of the database.
    fn rest(&self, columns: Columns) -> String {
        let cells = columns.map(|column| {
            let texts: Vec<&str> = column.into_iter().map(Option::unwrap_or_default).collect();
            match texts.iter().all(|text| *text == texts[0]) {
                true => texts[0].to_owned(),
                false => texts.join(BETWEEN_SITUATIONS),
            }
        });
        let reason = match self.unnoticed().next() {
            Some(_) => self.excuse.unwrap_or(HARMLESS),
            None => "",
        };
        format!("{} | {reason}", cells.join(" | "))
    }
}

fn rendered(rows: &[Row], columns: impl Fn(&Row) -> Columns) -> String {
    let mut table = String::new();
    let mut written = Vec::new();
    for row in rows {
        if written.contains(&row.name) {
            continue;
        }
        written.push(row.name);
        let same = rows.iter().filter(|other| other.name == row.name);
        let mut kinds: Vec<(&str, String)> = same
            .map(|row| (name_of(row.kind), row.rest(columns(row))))
            .collect();
        if let [(_, one), (_, other)] = kinds.as_slice()
            && one == other
        {
            kinds = vec![("both", one.clone())];
        }
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
type Documented = BTreeMap<(String, String), Vec<String>>;

fn documented(document: &str, header: &str) -> Documented {
    let table = document.split_once(header).map_or("", |(_, table)| table);
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

/// What the document says of a column and situation of a row.
fn said<'a>(documented: &'a Documented, row: &Row, column: usize, situation: usize) -> Option<&'a str> {
    let key = (row.name.to_owned(), name_of(row.kind).to_owned());
    let texts: Vec<&str> = documented
        .get(&key)?
        .get(column)?
        .split(BETWEEN_SITUATIONS)
        .collect();
    texts.get(if texts.len() == 1 { 0 } else { situation }).copied()
}

/// The columns of those who get proofs from the server.
const WITNESS_AND_CLIENT: [usize; 2] = [2, 3];

impl Table {
    fn header(&self) -> String {
        format!("| {} {COLUMNS}", self.edit)
    }

    /// The situations that run now.
    pub(super) fn running(&self) -> Vec<usize> {
        match is_full() {
            true => (0..SITUATIONS).collect(),
            false => self.always.to_vec(),
        }
    }

    /// Whether it is right that neither `log verify` nor `log audit` has noticed this.
    fn is_excused(&self, row: &Row, situation: usize, seen: &Observation) -> bool {
        // Clients and witnesses see no difference.
        let is_harmless = seen.is_intact && !seen.client && !seen.witness;
        match row.excuse {
            None => is_harmless && self.situations[situation].access == Access::HeadKey,
            Some(UNDONE) => is_harmless,
            Some(_) => true,
        }
    }

    /// Asserts that every edit is noticed by `log verify` or `log audit`, or excused.
    pub(super) fn expect_noticed(&self, rows: &[Row]) {
        let edits_min = if is_full() {
            EDITS_MIN
        } else {
            EDITS_MIN / super::PART
        };
        assert!(rows.len() >= edits_min, "{} rows", rows.len());
        let failed = |row: &&Row| {
            let seen = row.cells.iter().enumerate();
            seen.filter_map(|(situation, seen)| Some((situation, seen.as_ref()?)))
                .any(|(situation, seen)| !seen.is_noticed() && !self.is_excused(row, situation, seen))
        };
        let needless = |row: &&Row| is_full() && row.excuse.is_some() && row.unnoticed().next().is_none();
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
            "neither `log verify` nor `log audit` notices, or the excuse is needless:\n{}",
            wrong.join("\n")
        );
    }

    /// Whether what was seen is what the document says, or what its paragraph about the accepted difference says.
    ///
    /// A running server may still have in memory what the edit removed from the database, depending on when it signed last. One whose
    /// log grows reads the rows of some logs in each round of signing. It then gives right proofs, or shows the checkpoint before the
    /// edit, and those who get them see no difference.
    fn is_as_documented(&self, column: usize, situation: usize, said: Option<&str>, seen: &str) -> bool {
        let Situation {
            is_running,
            is_growing,
            ..
        } = self.situations[situation];
        let depends_on_signing = WITNESS_AND_CLIENT.contains(&column) && (is_running || is_growing);
        said == Some(seen) || (depends_on_signing && said == Some("yes") && seen == "–")
    }

    /// What was seen, with the cells of the document where it differs as is accepted: so what is written does not depend on when the
    /// server signed.
    fn columns_to_write(&self, row: &Row, documented: &Documented) -> Columns {
        let mut columns = row.columns();
        for (column, cells) in columns.iter_mut().enumerate() {
            for (situation, seen) in cells.iter_mut().enumerate() {
                let said = said(documented, row, column, situation);
                if seen.is_some_and(|seen| {
                    said == Some("yes") && self.is_as_documented(column, situation, said, seen)
                }) {
                    *seen = Some("yes");
                }
            }
        }
        columns
    }

    /// Asserts that the document says what was seen. With all situations, writes the document on demand.
    pub(super) fn expect_documented(&self, rows: &[Row]) {
        let header = self.header();
        let guard = writing();
        let document = std::fs::read_to_string(path()).expect("read the document");
        let documented = documented(&document, &header);
        if is_updated() && is_full() && DatabaseKind::Postgres.is_available() {
            let columns = |row: &Row| self.columns_to_write(row, &documented);
            let written = with_table(&document, &header, &rendered(rows, columns));
            std::fs::write(path(), written).expect("write the document");
            return;
        }
        drop(guard);
        let mut differences = Vec::new();
        for row in rows {
            for (column, cells) in row.columns().into_iter().enumerate() {
                for (situation, seen) in cells.into_iter().enumerate() {
                    let Some(seen) = seen else { continue };
                    let said = said(&documented, row, column, situation);
                    if !self.is_as_documented(column, situation, said, seen) {
                        differences.push(format!(
                            "{} on {}, column {column}, {:?}: {seen}, not {said:?}",
                            row.name,
                            name_of(row.kind),
                            self.situations[situation]
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
}
