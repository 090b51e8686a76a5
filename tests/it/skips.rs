//! No test is skipped unnoticed: the CI requires every prerequisite whose lack skips tests, and ignored tests are listed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Tests that another test runs in a process of its own.
const IGNORED: [&str; 1] = ["crates/audit-webhooks/tests/it/environment.rs"];

/// What the CI does not require. Citus is no package of Debian; its tests run where somebody has a cluster.
const NOT_IN_CI: [&str; 1] = [concat!("AUDIT_TEST_", "REQUIRE_CITUS")];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The Rust sources of the workspace: path from the root, and text.
fn sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut directories: Vec<PathBuf> = ["bins", "crates", "tools", "tests"]
        .map(|name| root().join(name))
        .into();
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(&directory).expect("list a directory") {
            let path = entry.expect("list a directory").path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).expect("read a source file");
                let path = path.strip_prefix(root()).expect("a path below the root");
                found.push((path.display().to_string(), text));
            }
        }
    }
    assert!(found.len() > 200, "only {} files were found", found.len());
    found
}

/// The variables of the text that make a test fail where it would be skipped.
fn requirements(text: &str) -> BTreeSet<String> {
    let prefix = concat!("AUDIT_TEST_", "REQUIRE_");
    let names = text.split(prefix).skip(1).map(|rest| {
        let end = rest
            .find(|letter: char| !letter.is_ascii_uppercase())
            .unwrap_or(rest.len());
        format!("{prefix}{}", &rest[..end])
    });
    names.filter(|name| name != prefix).collect()
}

#[test]
fn the_ci_requires_every_prerequisite_that_can_skip_a_test() {
    let known: BTreeSet<String> = sources()
        .iter()
        .flat_map(|(_, text)| requirements(text))
        .collect();
    assert!(known.len() >= 5, "{known:?}");
    let script = std::fs::read_to_string(root().join(".ci/steps/tests")).expect("read .ci/steps/tests");
    let mut exported: BTreeSet<String> = script
        .lines()
        .filter_map(|line| line.strip_prefix("export "))
        .flat_map(str::split_whitespace)
        .filter_map(|assignment| assignment.strip_suffix("=1"))
        .flat_map(requirements)
        .collect();
    exported.extend(NOT_IN_CI.map(str::to_owned));
    assert_eq!(
        exported, known,
        "exported by .ci/steps/tests, and read by the tests"
    );
}

#[test]
fn ignored_tests_are_listed() {
    let attribute = concat!("#[ig", "nore");
    let files: BTreeSet<String> = sources()
        .into_iter()
        .filter(|(_, text)| text.contains(attribute))
        .map(|(path, _)| path)
        .collect();
    assert_eq!(files, IGNORED.map(str::to_owned).into());
}
