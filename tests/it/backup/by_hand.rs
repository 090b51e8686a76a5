//! `audit-server backup` and `audit-server restore`.

use super::{DOCUMENT, assert_restored, under_load};
use crate::log::{STATE_DIRECTORY, store_events, text_of};
use audit_tests::{
    Database, DatabaseKind, Deadline, Organization, Server, command_line, command_line_on, command_line_with,
    run_documented, start_command_line, temporary_directory,
};
use rustix::process::Signal;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// A server that is set up as the guides say: its head key is a file beside its database.
const AS_A_USER: [(&str, &str); 1] = [("AUDIT_HEAD_KEY_FILE", "")];

/// Restores a backup to a new directory.
pub(super) fn restore(backup: &Path) -> Database {
    let database = Database::in_directory(temporary_directory("restored-").join("new"));
    let printed = command_line_on(&database, &["restore", text_of(backup)]).success();
    assert!(printed.contains("log new-name"), "{printed}");
    database
}

#[test]
fn a_backup_under_load_has_every_event_that_was_acknowledged_before_and_stops_no_writer() {
    let data = temporary_directory("data-");
    let database = Database::in_directory(data.clone());
    let server = Server::start(&database, &AS_A_USER);
    let organization = Organization::create_with(&server, "enterprise", &AS_A_USER);
    let directory = temporary_directory("backups-");
    let backup = directory.join("audit-backup.db");
    let keys = temporary_directory("keys-");
    let restored = temporary_directory("restored-").join("new");
    let variables = [
        AS_A_USER[0],
        ("DATA", text_of(&data)),
        ("BACKUPS", text_of(&directory)),
        ("KEYS", text_of(&keys)),
        ("RESTORED", text_of(&restored)),
    ];
    let (before, all) = under_load(&organization.project(), |load| {
        let before = load.acknowledged();
        let of_source = [&variables[..], &[("AUDIT_DATABASE_URL", database.url())]].concat();
        let printed = run_documented(DOCUMENT, "SQLite", 0, &of_source, &[]);
        assert!(printed.contains("are verified against the logs"), "{printed}");
        load.wait_for_more(20);
        before
    });
    let names: Vec<_> = std::fs::read_dir(&directory)
        .expect("list the backups")
        .map(|entry| entry.expect("list the backups").file_name())
        .collect();
    assert_eq!(names, ["audit-backup.db"], "nothing is left beside it");
    let mode = backup.metadata().expect("a backup").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    run_documented(DOCUMENT, "SQLite", 1, &variables, &[]);
    run_documented(DOCUMENT, "Restoring", 0, &variables, &[]);
    let printed = run_documented(DOCUMENT, "Restoring", 1, &variables, &[]);
    assert!(printed.contains("audit-server log new-name"), "{printed}");
    assert!(!printed.contains("does not have the head key"), "{printed}");
    let restored = Database::in_directory(restored.clone());
    assert_restored(&restored, &organization, &before, &all, &AS_A_USER);
    run_documented(DOCUMENT, "Restoring", 2, &variables, &[]);
    // The source goes on, and its log is what it was.
    assert!(server.stop().exit == audit_tests::process::Exit::Code(0));
    let verify = ["log", "verify", "--database-url", database.url()];
    command_line_with(&verify, &AS_A_USER).success();
}

#[test]
fn a_killed_backup_leaves_no_file_under_its_name_and_the_next_one_removes_what_it_left() {
    let database = Database::create(DatabaseKind::Sqlite);
    let server = Server::start(&database, &[]);
    store_events(&Organization::create(&server, "enterprise").project(), 1_000);
    let directory = temporary_directory("backups-");
    let (backup, partial) = (
        directory.join("audit-backup.db"),
        directory.join(".audit-backup.db.partial"),
    );
    let arguments = ["backup", text_of(&backup), "--database-url", database.url()];
    let process = Deadline::seconds(60).poll("a backup is stopped before its end", || {
        let process = start_command_line(&arguments, &[]);
        Deadline::seconds(60).poll("the backup has begun", || {
            (partial.exists() || backup.exists()).then_some(())
        });
        process.stop();
        if !backup.exists() {
            return Some(process);
        }
        // It was faster.
        drop(process);
        std::fs::remove_file(&backup).expect("remove a backup");
        None
    });
    // A second one sees that the first one is being written.
    let refusal = command_line(&arguments).refusal();
    assert!(refusal.contains("another process is writing"), "{refusal}");
    process.signal(Signal::KILL);
    Deadline::seconds(60).poll("the process is gone", || (!process.is_running()).then_some(()));
    assert!(partial.exists() && !backup.exists());
    command_line(&arguments).success();
    assert!(!partial.exists());
    command_line_on(&restore(&backup), &["log", "verify"]).success();
}

#[test]
fn a_restore_says_what_the_node_has_signed_since_and_which_key_it_lacks() {
    let database = Database::create(DatabaseKind::Sqlite);
    let memory = temporary_directory("memory-");
    let server = Server::start(&database, &[(STATE_DIRECTORY, text_of(&memory))]);
    let organization = Organization::create(&server, "enterprise");
    store_events(&organization.project(), 10);
    let backup = temporary_directory("backups-").join("backup.db");
    server.command_line(&["backup", text_of(&backup)]).success();
    store_events(&organization.project(), 10);
    server.stop();
    let database = Database::in_directory(temporary_directory("restored-"));
    let arguments = [
        "restore",
        text_of(&backup),
        "--database-url",
        database.url(),
        "--state-directory",
        text_of(&memory),
    ];
    // Where the state file is, by the name that the database has there.
    let printed = command_line_with(&arguments, &[("AUDIT_HEAD_KEY_FILE", "/nonexistent")]).success();
    assert!(printed.contains("has signed more of 1 logs"), "{printed}");
    assert!(printed.contains("does not have the head key"), "{printed}");
    assert!(printed.contains("/nonexistent"), "{printed}");
    assert!(printed.contains("10 events, root"), "{printed}");
}

#[test]
fn the_copy_of_an_inconsistent_log_gets_another_name() {
    let database = Database::create(DatabaseKind::Sqlite);
    let server = Server::start(&database, &[]);
    store_events(&Organization::create(&server, "enterprise").project(), 10);
    server.stop();
    database.execute(
        "UPDATE events SET body = replace(body, 'user.created', 'user.deleted') WHERE entry % 7 = 3",
    );
    let backup = temporary_directory("backups-").join("backup.db");
    let finished = command_line_on(&database, &["backup", text_of(&backup)]);
    assert_eq!(finished.exit, audit_tests::process::Exit::Code(1), "{finished:?}");
    assert!(finished.stdout.contains("INCONSISTENT: "), "{finished:?}");
    let copy = backup.with_extension("db.inconsistent");
    assert!(!backup.exists() && copy.exists());
    let target = Database::in_directory(temporary_directory("restored-"));
    let refusal = command_line_on(&target, &["restore", text_of(&copy)]).refusal();
    assert!(refusal.contains("nothing was restored"), "{refusal}");
    assert!(target.files().is_empty(), "nothing is left");
}
