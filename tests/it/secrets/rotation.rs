//! The encryption key is rotated and introduced while servers run.

use super::{
    Deployment, KEY, NEW, NO_HEAD_KEY_FILE, OLD, PREVIOUS, WITH_BOTH, WITH_NEW, WITH_OLD, on_both, rewrap,
    run, start, states, status, stop, verify,
};
use crate::log::audit;
use audit_tests::{
    Database, DatabaseKind, Deadline, on_both_databases, serve_refused, start_command_line,
    temporary_directory,
};
use rustix::process::Signal;

on_both_databases! {
    the_encryption_key_is_rotated_while_a_server_runs,
    a_rewrap_that_was_killed_is_continued,
    a_key_is_introduced_node_by_node,
    a_wrong_key_is_one_clear_line,
}

fn the_encryption_key_is_rotated_while_a_server_runs(kind: DatabaseKind) {
    let database = on_both(kind);
    let auditor = temporary_directory("auditor-").join("state");
    let server = start(&database, WITH_OLD);
    let mut deployment = Deployment::on(&server);
    let project_key = deployment.organization().project_key.clone();
    audit(server.base_url(), &project_key, &auditor, &[]).success();
    stop(server);

    let server = start(&database, WITH_BOTH);
    deployment = deployment.moved_to(&server);
    deployment.assert_works();
    let (before, is_complete) = status(&database, WITH_BOTH);
    assert!(!is_complete, "{before}");
    let done = rewrap(&database, WITH_BOTH);
    let count = before["secrets"].as_array().expect("a list").len();
    assert_eq!(
        (&done["rewrapped"], &done["failed"], &done["sealed"]),
        (&count.into(), &0.into(), &0.into())
    );
    let (after, is_complete) = status(&database, WITH_BOTH);
    assert!(is_complete, "{after}");
    assert_eq!(
        (&after["keys"][1]["is_current"], &after["keys"][1]["secrets"]),
        (&false.into(), &0.into())
    );
    let again = rewrap(&database, WITH_BOTH);
    assert_eq!(
        (&again["rewrapped"], &again["unchanged"]),
        (&0.into(), &count.into())
    );
    deployment.assert_works();
    audit(server.base_url(), &project_key, &auditor, &[]).success();
    stop(server);

    // The old key can be dropped, and opens nothing any more.
    let refused = serve_refused(&database, WITH_OLD);
    assert!(
        refused.contains("AUDIT_ENCRYPTION_KEY does not match"),
        "{refused}"
    );
    assert_eq!(refused.lines().count(), 1, "{refused}");
    let server = start(&database, WITH_NEW);
    deployment = deployment.moved_to(&server);
    deployment.assert_works();
    audit(server.base_url(), &project_key, &auditor, &[]).success();
    stop(server);
    verify(&database, WITH_NEW);
}

/// Blocks the update of a viewer secret, after secrets of the service were changed.
fn block(database: &Database) {
    match database.kind() {
        // It counts the rows of a query that never ends.
        DatabaseKind::Sqlite => database.execute(
            "CREATE TRIGGER pause AFTER UPDATE ON viewer_secrets BEGIN
                SELECT count(*) FROM (WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n);
            END",
        ),
        DatabaseKind::Postgres => database.pause_statements("AFTER UPDATE ON viewer_secrets"),
    }
}

fn a_rewrap_that_was_killed_is_continued(kind: DatabaseKind) {
    let database = on_both(kind);
    let server = start(&database, WITH_OLD);
    let mut deployment = Deployment::on(&server);
    stop(server);
    block(&database);
    let pauses = (kind == DatabaseKind::Postgres).then(|| database.hold_pauses());
    let arguments = ["secrets", "rewrap", "--database-url", database.url()];
    let mut process = start_command_line(&arguments, WITH_BOTH);
    let old = states(&status(&database, WITH_BOTH).0)
        .into_values()
        .map(|(_, id)| id);
    let of_service = old.count() - 3;
    // The secrets of the service are done, and the first of the others, of a viewer and a webhook, hangs.
    Deadline::seconds(60).poll("the first changes", || {
        let (found, _) = status(&database, WITH_BOTH);
        (found["keys"][0]["secrets"] == of_service).then_some(())
    });
    process.signal(Signal::KILL);
    process.wait(Deadline::seconds(60));
    drop(pauses);
    match kind {
        DatabaseKind::Sqlite => database.execute("DROP TRIGGER pause"),
        DatabaseKind::Postgres => database.execute("DROP TRIGGER pause ON viewer_secrets"),
    }
    let (found, is_complete) = status(&database, WITH_BOTH);
    assert!(!is_complete, "{found}");
    assert_eq!(
        (&found["keys"][0]["secrets"], &found["keys"][1]["secrets"]),
        (&of_service.into(), &3.into())
    );
    // Servers work with what it has left.
    let server = start(&database, WITH_BOTH);
    deployment = deployment.moved_to(&server);
    deployment.assert_works();
    let done = rewrap(&database, WITH_BOTH);
    assert_eq!(
        (&done["rewrapped"], &done["unchanged"]),
        (&3.into(), &of_service.into())
    );
    stop(server);
    let server = start(&database, WITH_NEW);
    deployment.moved_to(&server).assert_works();
    stop(server);
    verify(&database, WITH_NEW);
}

fn a_key_is_introduced_node_by_node(kind: DatabaseKind) {
    let database = on_both(kind);
    let server = start(&database, &[]);
    let mut deployment = Deployment::on(&server);
    stop(server);
    let accepting = [(KEY, OLD), ("AUDIT_ACCEPT_PLAIN_SECRETS", "true")];
    let server = start(&database, &accepting);
    deployment = deployment.moved_to(&server);
    deployment.assert_works();
    assert!(!status(&database, &[(KEY, OLD)]).1);
    // Those that the server has stored since are encrypted already.
    let sealed = run(
        &database,
        &["secrets", "rewrap", "--seal-plain", "--json"],
        &[(KEY, OLD)],
    )
    .json();
    assert_eq!((&sealed["sealed"], &sealed["unchanged"]), (&6.into(), &1.into()));
    deployment.assert_works();
    stop(server);
    let server = start(&database, &[(KEY, OLD)]);
    deployment.moved_to(&server).assert_works();
    stop(server);
    assert!(serve_refused(&database, &[]).contains("AUDIT_ENCRYPTION_KEY does not match"));
}

fn a_wrong_key_is_one_clear_line(kind: DatabaseKind) {
    let database = on_both(kind);
    let server = start(&database, WITH_OLD);
    Deployment::on(&server);
    stop(server);
    let refused = |keys: &[(&str, &str)], why: &str| {
        let lines = [
            serve_refused(&database, keys),
            run(&database, &["org", "list"], keys).refusal(),
            run(&database, &["secrets", "rewrap"], keys).refusal(),
        ];
        for line in lines {
            assert!(line.contains(why), "{line}");
            assert_eq!(line.lines().count(), 1, "{line}");
            assert!(!line.contains(NEW) && !line.contains(OLD), "{line}");
        }
    };
    refused(WITH_NEW, "AUDIT_ENCRYPTION_KEY does not match the database");
    let twice = [(KEY, OLD), (PREVIOUS, OLD), NO_HEAD_KEY_FILE];
    refused(&twice, "is given twice");
    refused(
        &[(PREVIOUS, OLD), NO_HEAD_KEY_FILE],
        "--encryption-keys-previous needs --encryption-key",
    );
    // What it says names no key, and needs none.
    let (found, is_complete) = status(&database, WITH_NEW);
    assert!(!is_complete && found["secrets"][0]["opens"] == false, "{found}");
}
