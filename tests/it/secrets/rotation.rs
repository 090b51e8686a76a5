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
    a_key_of_heads_that_was_derived_survives_the_rotation,
    a_key_is_introduced_node_by_node,
    a_wrong_key_is_one_clear_line,
    secrets_of_earlier_releases_are_encrypted_anew,
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
    let of_service = old.count() - 2;
    // The secrets of the service are done, and the first of the others hangs.
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
        (&of_service.into(), &2.into())
    );
    // Servers work with what it has left.
    let server = start(&database, WITH_BOTH);
    deployment = deployment.moved_to(&server);
    deployment.assert_works();
    let done = rewrap(&database, WITH_BOTH);
    assert_eq!(
        (&done["rewrapped"], &done["unchanged"]),
        (&2.into(), &of_service.into())
    );
    stop(server);
    let server = start(&database, WITH_NEW);
    deployment.moved_to(&server).assert_works();
    stop(server);
    verify(&database, WITH_NEW);
}

fn a_key_of_heads_that_was_derived_survives_the_rotation(kind: DatabaseKind) {
    let database = on_both(kind);
    // As an earlier release began a deployment: the id of the derived key, and no key.
    stop(start(&database, WITH_OLD));
    let id = derived_head_key_id(OLD);
    let id = database.blob(&id);
    database.execute(&format!(
        "UPDATE secrets SET secret = {id} WHERE name = 'head_key_id'"
    ));
    database.execute("DELETE FROM secrets WHERE name = 'head_key'");
    database.execute("UPDATE ledgers SET head_code = NULL");
    assert_eq!(database.count("ledgers"), 2, "those of the first organization");
    run(&database, &["log", "repair"], WITH_OLD).success();
    let server = start(&database, WITH_OLD);
    let mut deployment = Deployment::on(&server);
    stop(server);
    assert_eq!(database.count("secrets WHERE name = 'head_key'"), 1);
    assert!(!rewrap(&database, WITH_BOTH).is_null());
    let server = start(&database, WITH_NEW);
    deployment = deployment.moved_to(&server);
    deployment.assert_works();
    stop(server);
    verify(&database, WITH_NEW);
}

/// The id of the key that earlier releases derived from the encryption key.
fn derived_head_key_id(key: &str) -> Vec<u8> {
    use hmac::{Hmac, KeyInit, Mac};
    let hmac = |key: &[u8], message: &[u8]| {
        let mac = Hmac::<sha2::Sha256>::new_from_slice(key).expect("any key");
        mac.chain_update(message).finalize().into_bytes().to_vec()
    };
    let key = base16ct::lower::decode_vec(key).expect("hexadecimal");
    hmac(&hmac(&key, b"audit head key"), b"audit head key id")[..8].to_vec()
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
    assert_eq!((&sealed["sealed"], &sealed["unchanged"]), (&5.into(), &1.into()));
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

/// The form in which earlier releases encrypted secrets: without the id of the key, bound to the first column of the primary key.
fn secrets_of_earlier_releases_are_encrypted_anew(kind: DatabaseKind) {
    let database = on_both(kind);
    let server = start(&database, WITH_OLD);
    let mut deployment = Deployment::on(&server);
    stop(server);
    // Made with the key OLD, the associated data `encryption_check`, the nonce of 12 bytes 2 and the secret of 32 bytes 5.
    let unnamed = base16ct::lower::decode_vec(UNNAMED_CHECK).expect("hexadecimal");
    let unnamed = database.blob(&unnamed);
    database.execute(&format!(
        "UPDATE secrets SET secret = {unnamed} WHERE name = 'encryption_check'"
    ));
    let (found, is_complete) = status(&database, WITH_OLD);
    let check = &states(&found)["secrets encryption_check"];
    assert!(
        !is_complete && check.1.is_null() && check.0 == "encrypted",
        "{found}"
    );
    let server = start(&database, WITH_OLD);
    deployment = deployment.moved_to(&server);
    deployment.assert_works();
    stop(server);
    assert_eq!(rewrap(&database, WITH_OLD)["rewrapped"], 1);
    assert!(status(&database, WITH_OLD).1);
}

const UNNAMED_CHECK: &str = "010202020202020202020202029e2d1cbebcdc345ece80a7fd367cdf1619ecaa6991517df4475bd406726e4cc75787261885b590556f7b81754e2af090";
