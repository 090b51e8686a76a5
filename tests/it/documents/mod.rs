//! Documents against the running server: everything that they list exists, and every example matches the server's
//! response.

mod attacks;
mod dependencies;
mod deployment;
mod examples;
mod limits;
mod measured_attacks;
mod operations;
mod parsers;
mod recipes;
mod routes;
mod shape;

use std::path::{Path, PathBuf};

/// The texts between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The sources below a folder, in one text.
fn sources(folder: &Path, text: &mut String) {
    for entry in std::fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("an entry of a folder").path();
        if path.is_dir() && !path.ends_with("target") {
            sources(&path, text);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&std::fs::read_to_string(&path).expect("a source file"));
        }
    }
}

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A document of the repository.
fn read(path: &str) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_source_file_that_the_architecture_names_exists() {
    let document = read("docs/architecture.md");
    let is_path = |text: &&str| {
        ["audit-", "bins/", "tests/"]
            .iter()
            .any(|start| text.starts_with(start))
    };
    let named = quoted(&document).filter(|text| is_path(text) && text.ends_with(".rs"));
    let named: Vec<&str> = named.collect();
    assert!(named.len() > 10, "{named:?}");
    for file in named {
        let folder = match file.starts_with("audit-") {
            true => root().join("crates"),
            false => root(),
        };
        assert!(folder.join(file).is_file(), "{file}");
    }
}
