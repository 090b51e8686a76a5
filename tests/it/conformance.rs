//! `docs/design/conformance.md` against the source: the tests that it names exist, and every row names one or says why not.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Guards against a table that was truncated.
const ROWS_MIN: usize = 600;
/// Marks a row that no test covers.
const NOT_SHOWN: &str = "—";
/// The last section, which lists those rows.
const NOT_SHOWN_HEADING: &str = "## Not shown by a test";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn document() -> String {
    fs::read_to_string(root().join("docs/design/conformance.md")).expect("read the table")
}

/// The number of each row and its evidence: the first cell and the last one.
fn rows(document: &str) -> Vec<(&str, &str)> {
    let rows = document.lines().filter_map(|line| {
        let cells: Vec<&str> = line.strip_prefix('|')?.strip_suffix('|')?.split('|').collect();
        Some((cells.first()?.trim(), cells.last()?.trim()))
    });
    rows.filter(|(number, _)| !matches!(*number, "#" | "---"))
        .collect()
}

/// The texts between backticks.
pub(crate) fn named_tests(shown_by: &str) -> impl Iterator<Item = &str> {
    shown_by.split('`').skip(1).step_by(2)
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    entries
        .map(|entry| entry.expect("list a directory").path())
        .collect()
}

fn stem(path: &Path) -> &str {
    path.file_stem()
        .and_then(|stem| stem.to_str())
        .expect("a name in UTF-8")
}

/// The tests of the workspace, as they are called in the table.
pub(crate) fn tests_of_the_workspace() -> BTreeSet<String> {
    let mut tests = BTreeSet::new();
    collect_tests(&root().join("tests/it"), "", &mut tests);
    let packages = ["crates", "bins", "tools"].map(|kind| entries(&root().join(kind)));
    for package in packages.concat() {
        let name = stem(&package);
        collect_tests(&package.join("src"), &format!("{name}: "), &mut tests);
        collect_tests(&package.join("tests/it"), &format!("{name}: it::"), &mut tests);
    }
    tests
}

/// Adds the tests of every file below a directory, which may be missing; `path` is that of the directory's module.
fn collect_tests(directory: &Path, path: &str, tests: &mut BTreeSet<String>) {
    if !directory.is_dir() {
        return;
    }
    for entry in entries(directory) {
        let name = stem(&entry);
        if entry.is_dir() {
            collect_tests(&entry, &format!("{path}{name}::"), tests);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            let module = match name {
                "main" | "lib" | "mod" => path.to_owned(),
                _ => format!("{path}{name}::"),
            };
            let source = fs::read_to_string(&entry).expect("read a source file");
            tests.extend(tests_in(&source).iter().map(|test| format!("{module}{test}")));
        }
    }
}

/// The functions with the attribute, and those that `on_both_databases!` turns into two tests. A test in a module
/// within the file has that module's name before its own.
fn tests_in(source: &str) -> Vec<String> {
    let (mut module, mut is_list, mut is_test) = (String::new(), false, false);
    let mut tests = Vec::new();
    for line in source.lines() {
        let text = line.trim();
        if line.starts_with('}') {
            (module, is_list) = (String::new(), false);
        } else if is_list {
            let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
            tests.extend(names.map(|name| format!("{module}{name}")));
        } else if let Some(name) = line.strip_prefix("mod ").and_then(|rest| rest.strip_suffix(" {")) {
            module = format!("{name}::");
        } else if text == "on_both_databases! {" {
            is_list = true;
        } else if text == "#[test]" {
            is_test = true;
        } else if let Some(signature) = text.strip_prefix("fn ") {
            let name = signature.split('(').next().unwrap_or_default();
            tests.extend(is_test.then(|| format!("{module}{name}")));
            is_test = false;
        }
    }
    tests
}

#[test]
fn every_named_test_exists() {
    let tests = tests_of_the_workspace();
    let document = document();
    let rows = rows(&document).into_iter();
    let named: BTreeSet<&str> = rows.flat_map(|(_, shown_by)| named_tests(shown_by)).collect();
    let missing: Vec<&&str> = named.iter().filter(|name| !tests.contains(**name)).collect();
    assert!(
        missing.is_empty(),
        "named in the table, but missing: {missing:#?}"
    );
}

#[test]
fn every_row_names_a_test_or_is_listed_as_not_shown() {
    let document = document();
    let rows = rows(&document);
    assert!(rows.len() >= ROWS_MIN, "only {} rows", rows.len());
    let numbers: BTreeSet<&str> = rows.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers.len(), rows.len(), "row numbers are unique");
    let nameless: Vec<_> = rows
        .into_iter()
        .filter(|(_, shown_by)| named_tests(shown_by).next().is_none())
        .collect();
    let sections = document.split_once(NOT_SHOWN_HEADING);
    let items = sections.expect("the last section").1.lines();
    let listed: Vec<_> = items
        .filter_map(|line| Some((line.strip_prefix("- ")?.split_once(": ")?.0, NOT_SHOWN)))
        .collect();
    assert_eq!(
        nameless, listed,
        "rows without a test, and those of the last section"
    );
}
