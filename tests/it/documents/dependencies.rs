//! docs/dependencies.md names every dependency of the workspace and every tool of the tests, and no other.

use super::{read, root};
use std::collections::BTreeSet;

/// The first cells of all rows under these headings: the names in backticks.
fn documented(document: &str, headers: &[&str]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut is_wanted = false;
    for line in document.lines() {
        let Some(row) = line.strip_prefix("| ") else {
            is_wanted &= line.starts_with('|');
            continue;
        };
        let cell = row.split(" | ").next().unwrap_or_default();
        match cell.contains('`') {
            false => is_wanted = headers.contains(&cell),
            true if is_wanted => names.extend(cell.split('`').skip(1).step_by(2).map(str::to_owned)),
            true => {}
        }
    }
    names
}

/// The keys of `[workspace.dependencies]`.
fn declared(manifest: &str) -> BTreeSet<String> {
    let section = manifest
        .lines()
        .skip_while(|line| *line != "[workspace.dependencies]")
        .skip(1)
        .take_while(|line| !line.starts_with('['));
    section
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(" = "))
        .map(|(name, _)| name.to_owned())
        .collect()
}

/// The packages of a requirements file.
fn required(requirements: &str) -> impl Iterator<Item = String> {
    let names = requirements.lines().filter_map(|line| line.split_once("=="));
    names.map(|(name, _)| name.to_owned())
}

/// The Debian packages that the checks install.
fn installed(checks: &str) -> impl Iterator<Item = String> {
    let commands = checks.lines().filter_map(|line| {
        line.split_once(" install ")
            .or(line.trim().split_once("install "))
    });
    let commands = commands.filter(|(before, _)| !before.contains("apt-get") && !before.contains("pip"));
    commands.flat_map(|(_, packages)| {
        let packages = packages.split([';', '}']).next().unwrap_or_default();
        packages.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    })
}

#[test]
fn every_dependency_of_the_workspace_is_documented_and_no_other() {
    let declared = declared(&read("Cargo.toml"));
    assert!(declared.contains("serde") && declared.len() > 50, "{declared:?}");
    let documented = documented(&read("docs/dependencies.md"), &["Dependency", "Crate"]);
    assert_eq!(documented, declared);
}

#[test]
fn every_tool_of_the_tests_is_documented_and_no_other() {
    let python = [
        "tests/requirements.txt",
        "tests/requirements-schemathesis.txt",
        "tests/drills/requirements-destinations.txt",
        "clients/generated/requirements.txt",
        "deploy/requirements.txt",
    ]
    .map(read);
    let mut used: BTreeSet<String> = python.iter().flat_map(|file| required(file)).collect();
    for step in std::fs::read_dir(root().join(".ci/steps")).expect("list .ci/steps") {
        let path = step.expect("list .ci/steps").path();
        used.extend(installed(&std::fs::read_to_string(path).expect("read a step")));
    }
    assert!(
        used.contains("pymerkle") && used.contains("postgresql"),
        "{used:?}"
    );
    assert_eq!(documented(&read("docs/dependencies.md"), &["Tool"]), used);
}
