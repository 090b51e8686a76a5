//! `db check` says what a start would do to the schema, and does nothing itself.

use audit_tests::process::Exit;
use audit_tests::{Database, DatabaseKind, Finished, Server, command_line_on, on_both_databases};
use serde_json::{Value, json};

on_both_databases! {
    a_current_database_needs_no_migration,
    pending_migrations_are_listed_and_not_applied,
    a_later_version_s_database_is_named_as_serve_refuses_it,
}

fn check(database: &Database, expected: u8) -> Value {
    let Finished { exit, stdout, stderr } = command_line_on(database, &["db", "check", "--json"]);
    assert_eq!(exit, Exit::Code(expected.into()), "{stdout}{stderr}");
    serde_json::from_str(&stdout).expect("JSON")
}

/// A database with the schema of this version, without a server.
fn migrated(kind: DatabaseKind) -> Database {
    let database = Database::create(kind);
    Server::start(&database, &[]).stop().success();
    database
}

fn a_current_database_needs_no_migration(kind: DatabaseKind) {
    let database = Database::create(kind);
    let _server = Server::start(&database, &[]);
    let checked = check(&database, 0);
    assert_eq!(checked["state"], "current", "{checked}");
    assert_eq!(checked["cells"][0]["pending"], json!([]));
    assert!(
        checked["cells"][0]["bytes"].as_u64().expect("a size") > 100_000,
        "{checked}"
    );
    let printed = command_line_on(&database, &["db", "check"]).success();
    assert!(
        printed.contains("starts without changing the schema"),
        "{printed}"
    );
}

fn pending_migrations_are_listed_and_not_applied(kind: DatabaseKind) {
    let database = migrated(kind);
    database.execute("DELETE FROM __diesel_schema_migrations");
    let checked = check(&database, 3);
    assert_eq!(checked["state"], "pending", "{checked}");
    let pending = checked["cells"][0]["pending"].as_array().expect("a list");
    assert_eq!(pending[0]["name"], "2026-11-22-000001_initial", "{checked}");
    assert_eq!(database.count("__diesel_schema_migrations"), 0);
}

fn a_later_version_s_database_is_named_as_serve_refuses_it(kind: DatabaseKind) {
    let database = migrated(kind);
    database.execute("INSERT INTO __diesel_schema_migrations (version) VALUES ('99990101000000')");
    let checked = check(&database, 1);
    assert_eq!(
        (&checked["state"], &checked["cells"][0]["newer"]),
        (&json!("newer"), &json!(["99990101000000"]))
    );
    let refusal = command_line_on(&database, &["serve", "--listen", "127.0.0.1:0"]).refusal();
    assert!(refusal.contains("99990101000000"), "{refusal}");
}

#[test]
fn a_database_that_does_not_exist_is_inconclusive() {
    let database = Database::create(DatabaseKind::Sqlite);
    let missing = Database::at(format!("{}-missing", database.url()));
    let finished = command_line_on(&missing, &["db", "check"]);
    assert_eq!(finished.exit, Exit::Code(2), "{}", finished.stderr);
    assert!(
        finished.stderr.contains("there is no such database"),
        "{}",
        finished.stderr
    );
}

/// Nobody has started a server there yet.
#[test]
fn an_empty_database_of_postgresql_has_all_migrations_pending() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let database = Database::create(DatabaseKind::Postgres);
    let checked = check(&database, 3);
    assert_eq!(checked["cells"][0]["schema"], Value::Null, "{checked}");
    assert!(database.tables().is_empty());
}
