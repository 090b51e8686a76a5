//! Backups and restores that are refused, and leave nothing behind.

use super::by_hand::restore;
use crate::log::{store_events, text_of};
use audit_tests::{
    Database, DatabaseKind, Organization, Server, SmallDisk, command_line, command_line_on, serve_refused,
    temporary_directory,
};
use std::path::{Path, PathBuf};

/// A database with a running server, and a backup of it.
fn backed_up() -> (Database, Server, PathBuf) {
    let database = Database::create(DatabaseKind::Sqlite);
    let server = Server::start(&database, &[]);
    store_events(&Organization::create(&server, "enterprise").project(), 300);
    let backup = temporary_directory("backups-").join("backup.db");
    server.command_line(&["backup", text_of(&backup)]).success();
    (database, server, backup)
}

/// The refusal to restore a file. Asserts that nothing is left at the target.
fn restore_refused(file: &Path) -> String {
    let target = Database::in_directory(temporary_directory("restored-"));
    let refusal = command_line_on(&target, &["restore", text_of(file)]).refusal();
    assert!(target.files().is_empty(), "nothing is left");
    refusal
}

#[test]
fn no_existing_file_is_overwritten() {
    let (database, server, backup) = backed_up();
    let before = std::fs::read(&backup).expect("a backup");
    let refusal = server.command_line(&["backup", text_of(&backup)]).refusal();
    assert!(refusal.contains("no existing file is overwritten"), "{refusal}");
    assert_eq!(std::fs::read(&backup).expect("a backup"), before);
    // Also not the database of the running server, or a part of an earlier one.
    let refusal = server.command_line(&["restore", text_of(&backup)]).refusal();
    assert!(refusal.contains("audit.db exists"), "{refusal}");
    server.stop();
    command_line_on(&database, &["log", "verify"]).success();
    let directory = temporary_directory("restored-");
    std::fs::write(directory.join("audit.db-wal"), "an earlier one").expect("write a file");
    let target = Database::in_directory(directory);
    let refusal = command_line_on(&target, &["restore", text_of(&backup)]).refusal();
    assert!(refusal.contains("audit.db-wal exists"), "{refusal}");
    assert_eq!(target.files().len(), 1);
}

#[test]
fn a_target_that_cannot_be_written_is_refused() {
    let (_database, server, backup) = backed_up();
    let target = backup.with_file_name("missing").join("backup.db");
    let refusal = server.command_line(&["backup", text_of(&target)]).refusal();
    assert!(
        refusal.contains("cannot write") && refusal.contains("missing"),
        "{refusal}"
    );
    let missing = temporary_directory("none-").join("audit.db");
    let url = format!("sqlite:{}", missing.display());
    let refusal = command_line(&["backup", text_of(&target), "--database-url", &url]).refusal();
    assert!(refusal.contains("cannot read"), "{refusal}");
}

#[test]
fn a_disk_without_space_is_not_filled() {
    let Some(disk) = SmallDisk::mount(1) else { return };
    let (_database, server, backup) = backed_up();
    disk.fill();
    let target = disk.path().join("backup.db");
    let refusal = server.command_line(&["backup", text_of(&target)]).refusal();
    assert!(refusal.contains("bytes free"), "{refusal}");
    let names: Vec<_> = std::fs::read_dir(disk.path())
        .expect("list the disk")
        .map(|entry| entry.expect("list the disk").file_name())
        .collect();
    assert_eq!(names, ["ballast"]);
    let url = format!("sqlite:{}", target.display());
    let refusal = command_line(&["restore", text_of(&backup), "--database-url", &url]).refusal();
    assert!(refusal.contains("bytes free"), "{refusal}");
}

#[test]
fn a_damaged_backup_is_refused() {
    let (_database, _server, backup) = backed_up();
    let whole = std::fs::read(&backup).expect("a backup");
    let damaged = backup.with_file_name("damaged.db");
    let refusal_of = |bytes: &[u8]| {
        std::fs::write(&damaged, bytes).expect("write a file");
        restore_refused(&damaged)
    };
    // Half of it, a page of it overwritten, and a text in it changed.
    let refusal = refusal_of(&whole[..whole.len() / 2]);
    assert!(refusal.contains("malformed"), "{refusal}");
    let needle = b"\"action\":\"user.created\"";
    let places: Vec<usize> = (0..whole.len())
        .filter(|place| whole[*place..].starts_with(needle))
        .collect();
    let place = places[places.len() / 2];
    let mut changed = whole.clone();
    let page = place / 8_192 * 8_192;
    changed[page..page + 8_192].fill(0x5a);
    refusal_of(&changed);
    changed.clone_from(&whole);
    changed[place + 11] = b'X';
    let refusal = refusal_of(&changed);
    assert!(refusal.contains("nothing was restored"), "{refusal}");
    let refusal = refusal_of(b"no database");
    assert!(refusal.contains("not a database"), "{refusal}");
    // The whole one is accepted.
    restore(&backup);
}

#[test]
fn a_postgres_database_is_referred_to_its_own_programs() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let database = Database::create(DatabaseKind::Postgres);
    let directory = temporary_directory("backups-");
    let file = directory.join("backup.db");
    for command in ["backup", "restore"] {
        let refusal = command_line_on(&database, &[command, text_of(&file)]).refusal();
        assert!(
            refusal.contains("pg_dump") && refusal.contains("docs/backup.md"),
            "{refusal}"
        );
    }
    let refusal = serve_refused(&database, &[("AUDIT_BACKUP_DIRECTORY", text_of(&directory))]);
    assert!(refusal.contains("pg_dump"), "{refusal}");
    assert!(database.tables().is_empty(), "nothing was created");
}
