//! The table of attacks in `docs/ledger.md`: each row names its tests, and these exist.

use super::read;
use crate::conformance::{named_tests, tests_of_the_workspace};

const HEADER: &str =
    "| Who, with what access | What they can do | Who notices | When | With what | Tests (`tests/it`) |";
/// Guards against a table that was truncated.
const ROWS_MIN: usize = 20;

/// What an attacker can do, and the cell with the tests.
fn rows(document: &str) -> Vec<(&str, &str)> {
    let mut lines = document.lines().skip_while(|line| *line != HEADER);
    assert!(lines.next().is_some(), "there is no line {HEADER}");
    lines
        .skip(1)
        .map_while(|line| line.strip_prefix('|')?.strip_suffix('|'))
        .map(|row| match row.split('|').collect::<Vec<&str>>().as_slice() {
            [_, attack, _, _, _, tests] => (attack.trim(), tests.trim()),
            other => panic!("not six cells: {other:?}"),
        })
        .collect()
}

#[test]
fn every_attack_names_tests_that_exist() {
    let (document, tests) = (read("docs/ledger.md"), tests_of_the_workspace());
    let rows = rows(&document);
    assert!(rows.len() >= ROWS_MIN, "only {} rows", rows.len());
    for (attack, shown_by) in rows {
        let named: Vec<&str> = named_tests(shown_by).collect();
        assert!(!named.is_empty(), "no test shows: {attack}");
        let missing: Vec<&&str> = named.iter().filter(|name| !tests.contains(**name)).collect();
        assert!(missing.is_empty(), "{attack}: there is no {missing:?}");
    }
}
