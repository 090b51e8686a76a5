//! `log key` and `log new-name`: the signing key of the log and its name.

use super::signing::wait_until_signed;
use super::{Case, STATE_DIRECTORY, assert_wrong, audit, stop, store_events, text_of};
use audit_tests::process::Exit;
use audit_tests::{
    Database, DatabaseKind, Organization, Server, command_line_on, command_line_with, on_both_databases,
    serve_refused, temporary_directory,
};

const ENCRYPTION_KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const OTHER_KEY: &str = "ff0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

on_both_databases! {
    the_key_is_the_one_that_the_server_shows,
    an_encrypted_key_is_opened_by_its_key_alone,
    a_restored_backup_goes_on_under_a_new_name,
    a_log_without_a_checkpoint_fails_verification_also_after_a_new_name,
}

fn the_key_is_the_one_that_the_server_shows(database: DatabaseKind) {
    let server = Server::shared(database);
    let organization = Organization::fresh(database);
    let shown = organization.project().get("/log/key").send_raw();
    let printed = server.command_line(&["log", "key"]).success();
    assert_eq!(
        String::from_utf8(shown.bytes).expect("UTF-8"),
        format!("{printed}\n")
    );
    // The format of Go's note.NewVerifier: name, key id, and 33 bytes in base64.
    let parts: Vec<&str> = printed.splitn(3, '+').collect();
    assert!(
        parts.len() == 3 && parts[1].len() == 8 && parts[2].len() == 44,
        "{printed}"
    );
}

fn an_encrypted_key_is_opened_by_its_key_alone(database: DatabaseKind) {
    let database = Database::create(database);
    let server = Server::start(&database, &[("AUDIT_ENCRYPTION_KEY", ENCRYPTION_KEY)]);
    let organization = Organization::create(&server, "enterprise");
    store_events(&organization.project(), 2);
    let shown = organization.project().get("/log/key").send_raw();
    stop(server);
    let run = |command: &str, key: &str| {
        let arguments = ["log", command, "--database-url", database.url()];
        command_line_with(&arguments, &[("AUDIT_ENCRYPTION_KEY", key)])
    };
    let key = run("key", ENCRYPTION_KEY).success();
    assert_eq!(String::from_utf8(shown.bytes).expect("UTF-8"), format!("{key}\n"));
    run("verify", ENCRYPTION_KEY).success();
    for finished in [
        run("key", OTHER_KEY),
        command_line_on(&database, &["log", "key"]),
        run("verify", OTHER_KEY),
    ] {
        assert_eq!(finished.exit, Exit::Code(2), "undecidable: {finished:?}");
        finished.refusal();
    }
    let refused = serve_refused(&database, &[("AUDIT_ENCRYPTION_KEY", OTHER_KEY)]);
    assert!(
        refused.contains("AUDIT_ENCRYPTION_KEY does not match"),
        "{refused}"
    );
    // With a pinned public key, verification needs no secret.
    command_line_on(&database, &["log", "verify", "--verifier-key", &key]).success();
}

fn a_restored_backup_goes_on_under_a_new_name(database: DatabaseKind) {
    let case = Case::fresh(database);
    let backup = case.copy();
    let (server, project) = case.start();
    store_events(&project, 20);
    audit(
        server.base_url(),
        &case.organization.project_key,
        &case.state,
        &[],
    )
    .success();
    stop(server);

    let old = command_line_on(&backup.database, &["log", "key"]).success();
    let new = command_line_on(&backup.database, &["log", "new-name"]).success();
    assert_ne!(new, old);
    assert_eq!(
        new.rsplit('+').next(),
        old.rsplit('+').next(),
        "the public key is the same"
    );
    assert_eq!(command_line_on(&backup.database, &["log", "key"]).success(), new);

    let (server, project) = backup.start();
    let key = &case.organization.project_key;
    // Auditors of the old log detect that it has ended. A new auditor sees a different log.
    let before = std::fs::read_to_string(&case.state).expect("the state");
    assert_wrong(&audit(server.base_url(), key, &case.state, &[]), "");
    assert_eq!(std::fs::read_to_string(&case.state).expect("the state"), before);
    let state = temporary_directory("audit-").join("state");
    assert!(
        audit(server.base_url(), key, &state, &["--verifier-key", &new])
            .success()
            .contains("300 events")
    );
    store_events(&project, 5);
    assert!(
        audit(server.base_url(), key, &state, &[])
            .success()
            .contains("305 events, 5 of them new")
    );
    // A server that runs would sign under the old name.
    let refused = command_line_on(&backup.database, &["log", "new-name"]).refusal();
    assert!(refused.contains("running servers"), "{refused}");
    assert_eq!(command_line_on(&backup.database, &["log", "key"]).success(), new);
    stop(server);
    backup.expect_sound();
}

fn a_log_without_a_checkpoint_fails_verification_also_after_a_new_name(database: DatabaseKind) {
    let case = Case::fresh(database);
    let verify = |memory: &str| {
        let arguments = [
            "log",
            "verify",
            "--max-unsigned",
            "0s",
            "--database-url",
            case.database.url(),
        ];
        command_line_with(&arguments, &[(STATE_DIRECTORY, memory)])
    };
    let (own, other) = (text_of(&case.memory), temporary_directory("memory-"));
    let assert_unsigned = |memory: &str| {
        let found = verify(memory);
        assert_eq!(found.exit, Exit::Code(1), "{found:?}");
        assert!(found.stdout.contains("no log has a checkpoint"), "{found:?}");
        let last = found.stdout.lines().last().unwrap_or_default();
        assert!(
            last.starts_with("INCONSISTENT: ") && last.ends_with("not signed in time"),
            "{found:?}"
        );
    };
    command_line_on(&case.database, &["log", "new-name"]).success();
    assert_unsigned(own);
    let (server, _) = case.start();
    wait_until_signed(&case.database);
    stop(server);
    let signed = verify(own);
    assert_eq!(signed.exit, Exit::Code(0), "{signed:?}");
    assert!(!signed.stdout.contains("new-name"), "{signed:?}");
    // Whoever deletes the checkpoints leaves the same rows as the new name did.
    case.database.execute("DELETE FROM log_checkpoints");
    assert_unsigned(own);
    assert_unsigned(text_of(&other));
}
