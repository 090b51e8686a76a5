//! `fuzz/README.md`: its table has every parser of the sources, with its fuzz target or the reason for none.

use super::{quoted, read, root};
use std::collections::BTreeSet;
use std::path::Path;

const HEADER: &str = "| File | Fuzzed by, or why not |";
/// Functions that turn text or bytes into a value have these names.
const PARSERS: [&str; 7] = [
    "fn parse(",
    "fn parse_",
    "fn decode(",
    "fn from_str(",
    "fn from_pem(",
    "fn from_base64(",
    "fn from_json(",
];

/// The cells of the table: files, and what fuzzes them.
fn rows(document: &str) -> Vec<(&str, &str)> {
    let lines = document.lines().skip_while(|line| *line != HEADER).skip(2);
    lines
        .map_while(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "))
        .collect()
}

/// The source files below a folder that have a parser, as `package/src/…`.
fn parsers_below(folder: &Path, path: &str, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the repository") {
        let entry = entry.expect("an entry of a folder").path();
        let name = entry
            .file_name()
            .and_then(|name| name.to_str())
            .expect("a name in UTF-8");
        let path = format!("{path}{name}");
        if entry.is_dir() && name != "tests" {
            parsers_below(&entry, &format!("{path}/"), found);
        } else if name.ends_with(".rs") && name != "tests.rs" {
            let source = std::fs::read_to_string(&entry).expect("a source file");
            let code = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
            if PARSERS.iter().any(|parser| code.contains(parser)) {
                found.insert(path);
            }
        }
    }
}

fn parsers() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut packages = vec![root().join("bins/audit-server")];
    for entry in std::fs::read_dir(root().join("crates")).expect("the crates") {
        packages.push(entry.expect("a crate").path());
    }
    for package in packages {
        let name = package
            .file_name()
            .and_then(|name| name.to_str())
            .expect("a name in UTF-8");
        parsers_below(&package.join("src"), &format!("{name}/src/"), &mut found);
    }
    found
}

#[test]
fn every_parser_has_a_fuzz_target_or_a_reason_for_none() {
    let document = read("fuzz/README.md");
    let listed: BTreeSet<String> = rows(&document)
        .iter()
        .flat_map(|(files, _)| quoted(files).map(str::to_owned))
        .collect();
    let parsers = parsers();
    assert!(parsers.len() > 50, "{parsers:?}");
    let missing: Vec<&String> = parsers.difference(&listed).collect();
    assert!(missing.is_empty(), "fuzz/README.md has no row of {missing:#?}");
    let exists = |path: &&String| {
        ["crates", "bins"]
            .iter()
            .any(|kind| root().join(kind).join(path).is_file())
    };
    let gone: Vec<&String> = listed.iter().filter(|path| !exists(path)).collect();
    assert!(gone.is_empty(), "there is no {gone:?}");
}

#[test]
fn every_fuzz_target_is_explained_and_fuzzes_a_parser_or_a_writer() {
    let (document, manifest) = (read("fuzz/README.md"), read("fuzz/Cargo.toml"));
    let targets = manifest
        .lines()
        .filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
    let targets: BTreeSet<&str> = targets.filter(|name| *name != "audit-fuzz").collect();
    assert!(targets.len() > 15, "{targets:?}");
    let (explained, _) = document
        .split_once("\n## Parsers\n")
        .expect("the section of the parsers");
    let explained: BTreeSet<&str> = quoted(explained).collect();
    for target in &targets {
        assert!(explained.contains(target), "{target} is not explained");
    }
    for (files, reason) in rows(&document) {
        assert!(reason.len() > 3, "{files}");
        let known = quoted(reason).filter(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '_'));
        let is_tool = |name: &&str| ["rustls", "httpdate"].contains(name);
        let unknown: Vec<&str> = known
            .filter(|name| !targets.contains(name) && !is_tool(name))
            .collect();
        assert!(unknown.is_empty(), "{files}: there is no target {unknown:?}");
    }
}
