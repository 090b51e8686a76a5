//! The migrations of the two databases come in pairs and make the same tables.

use audit_tests::{Database, DatabaseKind, Server};
use std::collections::BTreeMap;

/// Events lie in SQLite in the order of the log, with a narrow B-tree beside them for the order of queries, a list of those
/// whose ids are out of order, one of the keys of each commit, and one of what is not in the index yet, which is a file of
/// its own; in PostgreSQL they are one table with B-trees, and the index is in tables beside it. `docs/architecture.md` says
/// what each costs.
const STORED_DIFFERENTLY: [&str; 8] = [
    "events",
    "event_times",
    "unordered_events",
    "event_keys",
    "event_tail",
    "index_segments",
    "index_blocks",
    "indexed",
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
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../migrations");
    let names = |kind: &str| {
        let entries = std::fs::read_dir(format!("{root}/{kind}")).expect("list the migrations");
        let mut names: Vec<_> = entries
            .map(|entry| entry.expect("list the migrations").file_name())
            .collect();
        names.sort();
        names
    };
    assert!(!names("sqlite").is_empty());
    assert_eq!(names("sqlite"), names("postgres"));
}
