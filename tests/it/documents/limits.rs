//! `docs/design/limits.md`: the constants and files that it names exist.

use super::{quoted, read, root, sources};

/// Guards against a document that was truncated.
const CONSTANTS_MIN: usize = 60;

fn is_constant(name: &str) -> bool {
    name.len() > 3
        && name
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
        && !name.starts_with("AUDIT_")
}

#[test]
fn every_constant_of_the_table_of_limits_is_in_the_code() {
    let document = read("docs/design/limits.md");
    let mut code = String::new();
    for folder in ["crates", "bins/audit-server"] {
        sources(&root().join(folder), &mut code);
    }
    let mut constants: Vec<&str> = quoted(&document).filter(|name| is_constant(name)).collect();
    constants.sort_unstable();
    constants.dedup();
    assert!(constants.len() >= CONSTANTS_MIN, "only {}", constants.len());
    let missing: Vec<&&str> = constants
        .iter()
        .filter(|name| !code.contains(&format!("const {name}:")))
        .collect();
    assert!(missing.is_empty(), "there is no {missing:?}");
}

#[test]
fn every_source_file_of_the_table_of_limits_exists() {
    let document = read("docs/design/limits.md");
    let files: Vec<&str> = quoted(&document).filter(|text| text.ends_with(".rs")).collect();
    assert!(files.len() > 10, "{files:?}");
    let exists = |path: &str| {
        let (package, rest) = path.split_once('/').unwrap_or((path, ""));
        ["crates", "bins"]
            .iter()
            .any(|kind| root().join(kind).join(package).join(rest).is_file())
    };
    let missing: Vec<&&str> = files.iter().filter(|path| !exists(path)).collect();
    assert!(missing.is_empty(), "there is no {missing:?}");
}
