//! The backups that a server makes by itself.

use super::by_hand::restore;
use crate::log::{store_events, text_of};
use audit_tests::{
    Database, DatabaseKind, Deadline, Organization, Server, command_line_on, serve_refused,
    temporary_directory,
};
use std::collections::BTreeSet;
use std::path::Path;

fn names(directory: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(directory).expect("list the backups");
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.expect("list the backups").file_name();
    entries
        .map(|entry| name(entry).into_string().expect("a name in UTF-8"))
        .collect()
}

/// The finished backups.
fn finished(directory: &Path) -> Vec<String> {
    let is_finished = |name: &String| name.starts_with("audit-") && name.ends_with(".db");
    names(directory).into_iter().filter(is_finished).collect()
}

/// Starts a server that makes a backup every second.
fn start(database: &Database, directory: &Path, keep: &str) -> Server {
    Server::start(
        database,
        &[
            ("AUDIT_BACKUP_DIRECTORY", text_of(directory)),
            ("AUDIT_BACKUP_EVERY", "1s"),
            ("AUDIT_BACKUP_KEEP", keep),
        ],
    )
}

#[test]
fn a_server_keeps_its_last_backups_and_deletes_no_file_of_others() {
    let database = Database::create(DatabaseKind::Sqlite);
    let directory = temporary_directory("backups-");
    let foreign = [
        "audit-20200101T000000Z-ffffffffffffffff.db",
        ".audit-20200101T000000Z-ffffffffffffffff.db.partial",
        "notes.txt",
    ];
    for name in foreign {
        std::fs::write(directory.join(name), "foreign").expect("write a file");
    }
    let server = start(&database, &directory, "2");
    let organization = Organization::create(&server, "enterprise");
    store_events(&organization.project(), 100);
    let made = server.metric("audit_backups_total");
    server.wait_for_metric("audit_backups_total", made + 4);
    Deadline::seconds(60).poll("two and the foreign one are left", || {
        (finished(&directory).len() == 3).then_some(())
    });
    assert!(server.metric("audit_backup_last_timestamp_seconds") > 0);
    assert_eq!(server.metric("audit_backup_interval_seconds"), 1);
    assert_eq!(server.metric("audit_backup_failures_total"), 0);
    server.stop();
    let left = names(&directory);
    assert!(foreign.iter().all(|name| left.contains(*name)), "{left:?}");
    let last = finished(&directory).pop().expect("a backup");
    let restored = restore(&directory.join(last));
    command_line_on(&restored, &["log", "verify"]).success();
    assert_eq!(restored.count("events"), 100);
    // With a longer interval the last one is not old enough after a restart.
    let server = Server::start(
        &database,
        &[
            ("AUDIT_BACKUP_DIRECTORY", text_of(&directory)),
            ("AUDIT_BACKUP_EVERY", "24h"),
        ],
    );
    server.wait_for_metric("audit_backup_last_timestamp_seconds", 1);
    assert_eq!(server.metric("audit_backups_total"), 0);
}

#[test]
fn two_servers_share_a_directory_and_keep_their_own() {
    let directory = temporary_directory("backups-");
    let databases = [(); 2].map(|()| Database::create(DatabaseKind::Sqlite));
    let servers = databases
        .each_ref()
        .map(|database| start(database, &directory, "1"));
    for server in &servers {
        server.wait_for_metric("audit_backups_total", 3);
    }
    for server in servers {
        server.stop();
    }
    let ids: BTreeSet<String> = finished(&directory)
        .iter()
        .map(|name| name.rsplit('-').next().expect("an id").to_owned())
        .collect();
    assert_eq!(ids.len(), 2, "{ids:?}");
}

#[test]
fn a_failed_backup_is_counted_and_tried_again_and_a_killed_one_is_removed() {
    let database = Database::create(DatabaseKind::Sqlite);
    let directory = temporary_directory("backups-");
    let server = start(&database, &directory, "2");
    let organization = Organization::create(&server, "enterprise");
    store_events(&organization.project(), 1_000);
    server.wait_for_metric("audit_backups_total", 1);
    let away = directory.with_extension("away");
    std::fs::rename(&directory, &away).expect("rename the directory");
    server.wait_for_metric("audit_backup_failures_total", 1);
    server.wait_for_log("no backup was made");
    std::fs::rename(&away, &directory).expect("rename the directory");
    let made = server.metric("audit_backups_total");
    server.wait_for_metric("audit_backups_total", made + 1);
    let partial = || {
        names(&directory)
            .into_iter()
            .find(|name| name.ends_with(".partial"))
    };
    let left = Deadline::seconds(60).poll("a backup is being written", || {
        let begun = partial()?;
        server.freeze();
        let is_unfinished = partial().as_ref() == Some(&begun);
        if !is_unfinished {
            server.thaw();
        }
        is_unfinished.then_some(begun)
    });
    server.kill();
    for name in finished(&directory) {
        command_line_on(&restore(&directory.join(name)), &["log", "verify"]).success();
    }
    let server = start(&database, &directory, "2");
    server.wait_for_metric("audit_backups_total", 1);
    assert!(!names(&directory).contains(&left));
}

#[test]
fn a_schedule_that_cannot_work_is_refused_at_start() {
    let database = Database::create(DatabaseKind::Sqlite);
    let missing = serve_refused(&database, &[("AUDIT_BACKUP_DIRECTORY", "/nonexistent")]);
    assert!(missing.contains("/nonexistent is not a directory"), "{missing}");
    let directory = temporary_directory("backups-");
    let directory = ("AUDIT_BACKUP_DIRECTORY", text_of(&directory));
    for (name, value) in [
        ("AUDIT_BACKUP_EVERY", "0s"),
        ("AUDIT_BACKUP_EVERY", "1d"),
        ("AUDIT_BACKUP_KEEP", "0"),
    ] {
        let refusal = serve_refused(&database, &[directory, (name, value)]);
        assert!(refusal.contains("--backup-"), "{refusal}");
    }
}
