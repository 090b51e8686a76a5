//! The attacks of `tests/attacks` against the table of limits and the table of results.

use super::{quoted, read, root};
use audit_tests::python;
use std::collections::BTreeSet;
use std::process::Command;

const LIMITS_HEADER: &str = "| Held | Owner |";
const RESULTS_HEADER: &str = "| Attack | Before |";
/// Begins the cell of a row that no attack measures.
const NO_ATTACK: &str = "none: ";
/// Measures the harmless load.
const CONTROL: &str = "control";

/// The names that `run.py --list` prints, in its order.
fn attacks(python: &str) -> Vec<String> {
    let script = root().join("tests/attacks/run.py");
    let output = Command::new(python)
        .arg("-B")
        .arg(script)
        .arg("--list")
        .output()
        .expect("run Python");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("Python writes UTF-8");
    let names = text.lines().filter_map(|line| line.split_once(": "));
    names.map(|(name, _)| name.to_owned()).collect()
}

/// The first and the last cell of the rows below a header.
fn rows<'a>(document: &'a str, header: &str) -> Vec<(&'a str, &'a str)> {
    let lines = document.lines().skip_while(|line| !line.starts_with(header));
    let rows = lines
        .skip(2)
        .map_while(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    rows.filter_map(|row| Some((row.split(" | ").next()?, row.split(" | ").last()?)))
        .collect()
}

#[test]
fn every_limit_has_an_attack_or_a_reason_for_none_and_every_attack_a_limit() {
    let Some(python) = python() else { return };
    let attacks = attacks(&python);
    let known: BTreeSet<&str> = attacks.iter().map(String::as_str).collect();
    let document = read("docs/design/limits.md");
    let rows = rows(&document, LIMITS_HEADER);
    assert!(rows.len() > 30, "only {} rows", rows.len());
    let mut named = BTreeSet::from([CONTROL]);
    for (held, cell) in rows {
        if cell.starts_with(NO_ATTACK) {
            continue;
        }
        let of_row: BTreeSet<&str> = quoted(cell).collect();
        assert!(!of_row.is_empty(), "{held}: no attack, and no reason for none");
        let unknown: Vec<&&str> = of_row.difference(&known).collect();
        assert!(unknown.is_empty(), "{held}: there is no attack {unknown:?}");
        named.extend(of_row);
    }
    let unnamed: Vec<&&str> = known.difference(&named).collect();
    assert!(unnamed.is_empty(), "no limit names {unnamed:?}");
}

#[test]
fn the_table_of_results_has_a_row_for_each_attack() {
    let Some(python) = python() else { return };
    let document = read("docs/design/attacks.md");
    let rows: Vec<&str> = rows(&document, RESULTS_HEADER)
        .iter()
        .flat_map(|(first, _)| quoted(first))
        .collect();
    assert_eq!(rows, attacks(&python));
}
