//! The migrations of the two databases come in pairs, result in the same tables, and can be reverted.

use audit_tests::{Database, DatabaseKind, Server, on_both_databases, temporary_directory};
use sha2::Digest;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Tables that differ by design. SQLite stores events in log order, with narrow tables beside them (query order,
/// unordered ids, idempotency keys, commits that are not yet indexed), and the index in a file of its own. PostgreSQL
/// stores events in one table with B-trees, and the index in tables, and has cells. `docs/design/storage.md` states the cost of each.
const STORED_DIFFERENTLY: [&str; 22] = [
    "counters",
    "events",
    "event_times",
    "unordered_events",
    "event_keys",
    "key_filter",
    "key_filter_blocks",
    "key_filter_layers",
    "key_filter_ledgers",
    "event_backlog",
    "removed_rows",
    "event_months",
    "index_groups",
    "index_segments",
    "index_blocks",
    "index_format",
    "cells",
    "placements",
    "cell_keys",
    "cell_organizations",
    "open_claims",
    "stored_claims",
];

#[test]
fn both_databases_have_the_same_tables_and_columns() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let tables = [DatabaseKind::Sqlite, DatabaseKind::Postgres].map(|kind| {
        let database = Database::create(kind);
        let _server = Server::start(&database, &[]);
        database.tables()
    });
    assert!(tables[0].len() > 5, "the catalog was read: {:?}", tables[0]);
    let shared = |tables: &BTreeMap<_, _>| {
        let names = tables
            .keys()
            .filter(|name: &&String| !STORED_DIFFERENTLY.contains(&name.as_str()));
        names.cloned().collect::<Vec<_>>()
    };
    assert_eq!(shared(&tables[0]), shared(&tables[1]), "tables");
    for name in shared(&tables[0]) {
        assert_eq!(
            tables[0][&name], tables[1][&name],
            "columns of {name} in SQLite, and in PostgreSQL"
        );
    }
}

#[test]
fn migrations_come_in_pairs_of_the_same_name() {
    assert!(!names(DatabaseKind::Sqlite).is_empty());
    assert_eq!(names(DatabaseKind::Sqlite), names(DatabaseKind::Postgres));
}

on_both_databases! {
    reverting_all_migrations_leaves_no_table,
}

fn reverting_all_migrations_leaves_no_table(kind: DatabaseKind) {
    let database = Database::create(kind);
    drop(Server::start(&database, &[]));
    for name in names(kind).iter().rev() {
        let down = directory(kind).join(name).join("down.sql");
        database.execute(&std::fs::read_to_string(down).expect("read a migration"));
    }
    // diesel's record of the applied migrations.
    assert_eq!(
        database.tables().into_keys().collect::<Vec<_>>(),
        ["__diesel_schema_migrations"]
    );
}

fn directory(kind: DatabaseKind) -> PathBuf {
    let name = match kind {
        DatabaseKind::Sqlite => "sqlite",
        DatabaseKind::Postgres => "postgres",
    };
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../migrations")
        .join(name)
}

/// The names of the migrations, sorted.
fn names(kind: DatabaseKind) -> Vec<OsString> {
    let entries = std::fs::read_dir(directory(kind)).expect("list the migrations");
    let mut names: Vec<_> = entries
        .map(|entry| entry.expect("list the migrations").file_name())
        .collect();
    names.sort();
    names
}

/// The migrations of the last release with their digests, in the format of `sha256sum`.
const RELEASED: &str = "../migrations/released.sha256";

/// What is wrong with the files below `root` that this list names.
fn edited(released: &str, root: &Path) -> Vec<String> {
    let problem = |line: &str| {
        let (digest, name) = line.split_once("  ").expect("a digest and a name");
        let file = root.join(name);
        let Ok(text) = std::fs::read(&file) else {
            return Some(format!("{name} was removed"));
        };
        let found = base16ct::lower::encode_string(&sha2::Sha256::digest(text));
        (found != digest).then(|| format!("{name} was edited"))
    };
    released.lines().filter_map(problem).collect()
}

#[test]
fn no_released_migration_was_edited_or_removed() {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join(RELEASED);
    let released = std::fs::read_to_string(&list).expect("the list of released migrations");
    assert_eq!(edited(&released, list.parent().expect("its directory")), [""; 0]);
    let changelog = Path::new(env!("CARGO_MANIFEST_DIR")).join("../CHANGELOG.md");
    let changelog = std::fs::read_to_string(changelog).expect("the changelog");
    let releases = changelog
        .lines()
        .filter(|line| line.starts_with("## ") && *line != "## Unreleased");
    assert_eq!(
        releases.count() > 0,
        !released.is_empty(),
        "a release records its migrations with migrations/freeze"
    );
}

#[test]
fn an_edited_and_a_removed_migration_are_found_in_the_list() {
    let root = temporary_directory("migrations-");
    let file = root.join("up.sql");
    std::fs::write(&file, "CREATE TABLE a (b INT);\n").expect("write a file");
    let output = std::process::Command::new("sha256sum")
        .arg("up.sql")
        .current_dir(&root)
        .output();
    let list = String::from_utf8(output.expect("run sha256sum").stdout).expect("a list");
    assert_eq!(edited(&list, &root), [""; 0]);
    std::fs::write(&file, "CREATE TABLE a (b BIGINT);\n").expect("write a file");
    assert_eq!(edited(&list, &root), ["up.sql was edited"]);
    std::fs::remove_file(&file).expect("remove it");
    assert_eq!(edited(&list, &root), ["up.sql was removed"]);
}
