//! `index verify` compares the index with the stored events.

use audit_tests::process::Exit;
use audit_tests::{
    Database, DatabaseKind, Deadline, Organization, Server, command_line_on, event_with, on_both_databases,
};
use diesel::connection::SimpleConnection;
use diesel::{Connection, SqliteConnection};
use serde_json::{Value, json};

on_both_databases! {
    a_right_index_is_0_and_one_changed_byte_is_1,
    what_cannot_be_told_is_2,
}

/// Runs SQL on the tables of the index.
pub(crate) fn change_index(database: &Database, sql: &str) {
    match database.kind() {
        DatabaseKind::Postgres => database.execute(sql),
        DatabaseKind::Sqlite => {
            let path = database.url().strip_prefix("sqlite:").expect("a path");
            let mut index = SqliteConnection::establish(&format!("{path}-index")).expect("the index opens");
            index.batch_execute(sql).expect("the index is changed");
        }
    }
}

fn verify(database: &Database) -> (Exit, Value) {
    let finished = command_line_on(database, &["index", "verify", "--json"]);
    let report = serde_json::from_str(&finished.stdout).unwrap_or_default();
    (finished.exit, report)
}

/// A database with 300 indexed events, and no running server.
fn indexed(kind: DatabaseKind) -> Database {
    let database = Database::create(kind);
    let server = Server::start(&database, &[]);
    let organization = Organization::create(&server, "enterprise");
    let (project, other) = (
        organization.project(),
        Organization::create(&server, "enterprise").project(),
    );
    for client in [&project, &other] {
        for batch in 0..3 {
            let event =
                |number: usize| event_with(json!({"actor": {"id": format!("actor-{batch}-{number}")}}));
            client.store_all((0..50).map(event).collect());
        }
    }
    // It is right beside a running server, whatever is indexed.
    let (exit, report) = verify(&database);
    assert_eq!(exit, Exit::Code(0), "{report}");
    assert_eq!(report["events"], json!(300), "{report}");
    Deadline::seconds(60).poll("the index", || {
        let (exit, report) = verify(&database);
        assert_eq!(exit, Exit::Code(0), "{report}");
        (report["backlog"] == json!(0)).then_some(())
    });
    server.stop();
    database
}

fn a_right_index_is_0_and_one_changed_byte_is_1(kind: DatabaseKind) {
    let database = indexed(kind);
    let (exit, report) = verify(&database);
    assert_eq!(
        (exit, &report["indexed"]),
        (Exit::Code(0), &json!(300)),
        "{report}"
    );
    let changed = match kind {
        DatabaseKind::Sqlite => "CAST(x'55' || substr(bytes, 2) AS BLOB)",
        DatabaseKind::Postgres => "set_byte(bytes, 0, get_byte(bytes, 0) # 1)",
    };
    change_index(
        &database,
        &format!(
            "UPDATE index_blocks SET bytes = {changed} WHERE id = \
             (SELECT min(id) FROM index_blocks WHERE id >> 28 & 15 = 1)"
        ),
    );
    let (exit, report) = verify(&database);
    assert_eq!(exit, Exit::Code(1), "{report}");
    let problem = report["findings"][0]["problem"].as_str().expect("a finding");
    assert!(problem.contains("dictionary block 0 of segment "), "{problem}");
    let printed = command_line_on(&database, &["index", "verify"]);
    assert_eq!(printed.exit, Exit::Code(1));
    assert!(
        printed
            .stdout
            .contains("DAMAGED: the index is damaged: dictionary block 0"),
        "{printed:?}"
    );
    // The log has every event, and queries may not find them.
    command_line_on(&database, &["log", "verify", "--json"]).success();
    let both = command_line_on(&database, &["log", "verify", "--index", "--json"]);
    assert_eq!(both.exit, Exit::Code(1), "{both:?}");
    let report: Value = serde_json::from_str(&both.stdout).expect("JSON");
    assert_eq!(
        (&report["ok"], &report["index"]["ok"]),
        (&json!(true), &json!(false)),
        "{report}"
    );

    // A segment is lost: its events are named.
    let database = indexed(kind);
    change_index(
        &database,
        "DELETE FROM index_segments WHERE id = (SELECT max(id) FROM index_segments)",
    );
    let (exit, report) = verify(&database);
    assert_eq!(exit, Exit::Code(1), "{report}");
    assert!(report["findings"][0]["seq"].is_number(), "{report}");
    assert_eq!(report["findings"][0]["environment"], json!("live"), "{report}");
}

fn what_cannot_be_told_is_2(kind: DatabaseKind) {
    let empty = Database::create(kind);
    let finished = command_line_on(&empty, &["index", "verify"]);
    assert_eq!(finished.exit, Exit::Code(2), "{finished:?}");
    let database = indexed(kind);
    change_index(
        &database,
        match kind {
            DatabaseKind::Sqlite => "PRAGMA user_version = 1",
            DatabaseKind::Postgres => "UPDATE index_format SET format = 1",
        },
    );
    let finished = command_line_on(&database, &["index", "verify"]);
    assert_eq!(finished.exit, Exit::Code(2), "{finished:?}");
    assert!(finished.stderr.contains("another format"), "{finished:?}");
}
