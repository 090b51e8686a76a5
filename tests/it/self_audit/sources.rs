//! Use cases change the configuration through `AuditLog::change`, which records the change.

use std::path::{Path, PathBuf};

/// The changes that are no event of a project: the copy of a plan for a cell, whose change the home cell has recorded, and rows that are put
/// back, of which `audit.events.restored` is in the log before.
const EXCEPTIONS: [&str; 2] = ["cells/services.rs", "restore.rs"];
/// Where `AuditLog::change` is.
const RECORDER: &str = "self_audit/changes.rs";

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("list a folder") {
        let path = entry.expect("an entry of a folder").path();
        match path.is_dir() {
            true => sources(&path, found),
            false => found.push(path),
        }
    }
}

/// A change of the configuration of a project or an organization that calls the store itself would not be recorded. What
/// belongs to the deployment concerns no project.
#[test]
fn no_use_case_changes_a_project_without_the_recorder() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/audit-app/src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut callers = Vec::new();
    for file in files {
        let name = file.strip_prefix(&root).expect("a file below the root");
        if name.ends_with("tests.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&file).expect("read a source file");
        let text: String = text.split_whitespace().collect();
        let mut calls = text.match_indices(".configure(").map(|(at, _)| &text[at..]);
        if calls.any(|call| !call.starts_with(".configure(Deployment,")) {
            callers.push(name.to_str().expect("a path in UTF-8").to_owned());
        }
    }
    callers.sort();
    let mut expected: Vec<&str> = EXCEPTIONS.into_iter().chain([RECORDER]).collect();
    expected.sort_unstable();
    assert_eq!(callers, expected);
}
