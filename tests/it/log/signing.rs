//! Checkpoints that are signed without a request, and logs that do not continue their checkpoint.

use super::{Case, RESTORE_HEAD, delete, stop, store_events};
use audit_tests::{
    Client, Database, DatabaseKind, Deadline, Organization, Server, command_line_on, event_with,
    on_both_databases,
};
use serde_json::json;

on_both_databases! {
    every_log_is_signed_without_a_request,
    a_log_that_a_killed_server_left_unsigned_is_signed_by_the_next_one,
    a_server_signs_its_last_commits_before_it_stops,
    a_log_that_is_shorter_than_its_checkpoint_is_an_alarm_and_others_are_signed,
    a_size_is_not_signed_with_two_roots,
}

/// Ledgers with events whose checkpoint does not cover them.
const UNSIGNED: &str = "ledgers LEFT JOIN log_checkpoints ON ledger_id = ledgers.id
    WHERE ledgers.size > coalesce(log_checkpoints.size, 0)";

/// The metric of logs that do not continue their checkpoint.
const INCONSISTENT: &str = "audit_logs_inconsistent";

pub(super) fn wait_until_signed(database: &Database) {
    Deadline::seconds(60).poll("checkpoints of all logs", || {
        (database.count(UNSIGNED) == 0).then_some(())
    });
}

fn checkpoint(client: &Client) -> String {
    let response = client.get("/log/checkpoint").send_raw();
    assert_eq!(response.status, 200, "{response:?}");
    String::from_utf8(response.bytes).expect("a note in UTF-8")
}

fn every_log_is_signed_without_a_request(kind: DatabaseKind) {
    let database = Database::create(kind);
    let server = Server::start(&database, &[]);
    let organization = Organization::create(&server, "enterprise");
    let others = ["one", "two"].map(|name| {
        let project = organization.create_project(name);
        organization.with_credential(&organization.create_key_of(&project, "live"))
    });
    for round in 1..=3 {
        for client in [&organization.project(), &others[0], &others[1]] {
            store_events(client, round);
        }
        wait_until_signed(&database);
    }
    assert_eq!(database.count("log_checkpoints WHERE size = 6"), 3);
}

fn a_log_that_a_killed_server_left_unsigned_is_signed_by_the_next_one(kind: DatabaseKind) {
    let database = Database::create(kind);
    let server = Server::start(&database, &[]);
    let organization = Organization::create(&server, "enterprise");
    store_events(&organization.project(), 3);
    server.kill();
    // As if it had been killed before it signed.
    database.execute("DELETE FROM log_checkpoints");
    let server = Server::start(&database, &[]);
    wait_until_signed(&database);
    stop(server);
}

fn a_server_signs_its_last_commits_before_it_stops(kind: DatabaseKind) {
    let database = Database::create(kind);
    for _ in 0..3 {
        let server = Server::start(&database, &[]);
        let organization = Organization::create(&server, "enterprise");
        organization.project().store(event_with(json!({})));
        stop(server);
        assert_eq!(database.count(UNSIGNED), 0);
    }
}

fn a_log_that_is_shorter_than_its_checkpoint_is_an_alarm_and_others_are_signed(kind: DatabaseKind) {
    let case = Case::fresh(kind);
    case.database
        .execute("CREATE TABLE saved_heads AS SELECT * FROM ledgers");
    let (server, project) = case.start();
    store_events(&project, 20);
    stop(server);
    case.tamper(&delete(kind, "seq >= 300")).tamper(RESTORE_HEAD);
    let (server, project) = case.start();
    server.wait_for_metric(INCONSISTENT, 1);
    // The last signed checkpoint is still served. What is left of the log can be proved by it.
    let last = checkpoint(&project);
    assert!(last.contains("\n320\n"), "{last}");
    let proof = |id: &str| project.get(&format!("/events/{id}/proof")).send();
    proof(&case.ids[0]).expect_status(200);
    // Events are stored for a while, and other logs are signed.
    let other = Organization::create(&server, "enterprise");
    for _ in 0..3 {
        project.store(event_with(json!({})));
        other.project().store(event_with(json!({})));
        let signed = format!(
            "ledgers JOIN log_checkpoints ON ledger_id = ledgers.id AND log_checkpoints.size = ledgers.size
             WHERE project_id = '{}' AND ledgers.size > 0",
            other.project_id
        );
        Deadline::seconds(60).poll("a checkpoint of the other log", || {
            (case.database.count(&signed) == 1).then_some(())
        });
    }
    // The log becomes as long as its checkpoint, and longer, but does not continue it.
    let new = store_events(&project, 20);
    proof(&new[19]).expect_error(500, "log_inconsistent");
    assert_eq!(checkpoint(&project), last);
    assert_eq!(server.metric(INCONSISTENT), 1);
    server.wait_for_log("does not continue its checkpoint");
    let errors = server.stderr();
    assert_eq!(
        errors.matches("does not continue its checkpoint").count(),
        1,
        "{errors}"
    );
    stop(server);
    // The way out.
    command_line_on(&case.database, &["log", "new-name"]).success();
    let (server, project) = case.start();
    wait_until_signed(&case.database);
    let proof = project.get(&format!("/events/{}/proof", new[19])).send();
    proof.expect_status(200);
    assert_eq!(server.metric(INCONSISTENT), 0);
    let log = stop(server);
    assert!(!log.contains("does not continue"), "{log}");
}

/// The database loses a signed event together with its checkpoint, and another event takes its position: the database alone
/// has no contradiction, but the server has signed another root.
fn a_size_is_not_signed_with_two_roots(kind: DatabaseKind) {
    let database = Database::create(kind);
    let server = Server::start(&database, &[]);
    let organization = Organization::create(&server, "enterprise");
    let project = organization.project();
    let head = format!(
        "project_id = '{}' AND environment = 'live'",
        organization.project_id
    );
    store_events(&project, 5);
    let before = checkpoint(&project);
    database.execute(&format!(
        "CREATE TABLE saved_heads AS SELECT * FROM ledgers WHERE {head}"
    ));
    database.execute("CREATE TABLE saved_checkpoints AS SELECT * FROM log_checkpoints");
    project.store(event_with(json!({})));
    let lost = checkpoint(&project);
    assert!(lost.contains("\n6\n"), "{lost}");
    let ledger = format!("ledger_id = (SELECT id FROM ledgers WHERE {head})");
    database.execute(&format!(
        "BEGIN;
         {};
         {};
         DELETE FROM log_checkpoints;
         INSERT INTO log_checkpoints SELECT * FROM saved_checkpoints;
         COMMIT",
        delete(kind, "seq >= 5").replace("LEDGER", &ledger),
        RESTORE_HEAD.replace("HEAD", &head)
    ));
    assert_ne!(before, lost);
    assert_eq!(checkpoint(&project), lost, "the server has signed it");
    let sixth = project.store(event_with(json!({})));
    assert_eq!(checkpoint(&project), lost, "another root of this size was signed");
    let proof = |id: &str| project.get(&format!("/events/{id}/proof")).send();
    proof(&sixth).expect_error(500, "log_inconsistent");
    assert_eq!(server.metric(INCONSISTENT), 1);
    // Nor is a later one that does not continue it.
    let seventh = project.store(event_with(json!({})));
    proof(&seventh).expect_error(500, "log_inconsistent");
    assert_eq!(checkpoint(&project), lost);
}
