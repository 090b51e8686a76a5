//! A disk that fails to sync. What a failed sync left on the disk is unknown, and another sync that succeeds does not change that.

use super::{Acknowledged, assert_unknown, wait_until_ready};
use audit_tests::{
    Database, DatabaseKind, FaultyDisk, Organization, Server, command_line_on, temporary_directory,
};

/// The cause and what to do, as the log has them.
const CAUSE: &str = "disk I/O error; the disk or its file system fails: read the system's log";
const REOPENED: &str = "a writer opens another connection";

/// A server on a disk without faults so far, with one stored event.
fn start(disk: &FaultyDisk, database: &Database) -> (Server, Organization, Acknowledged) {
    let server = Server::start_under(database, &[], &disk.prefix());
    let organization = Organization::create(&server, "enterprise");
    let mut acknowledged = Acknowledged::default();
    acknowledged.store(&organization.project(), "before");
    (server, organization, acknowledged)
}

#[test]
fn a_commit_whose_sync_fails_is_not_acknowledged_and_the_writer_reads_everything_again() {
    let Some(disk) = FaultyDisk::create() else { return };
    let database = Database::create(DatabaseKind::Sqlite);
    let (server, organization, mut acknowledged) = start(&disk, &database);
    let project = organization.project();
    disk.fail();
    assert_unknown(&acknowledged.send(&project, "failed"));
    assert!(disk.faults() > 0);
    server.wait_for_log(CAUSE);
    server.wait_for_log(REOPENED);
    wait_until_ready(&server, false);
    let created = organization.master().post("/projects");
    let created = created.json(serde_json::json!({"name": "p"})).send();
    assert_unknown(&created);
    assert_eq!(
        project.find_ids(&[]).len(),
        1,
        "reads work, and find what is stored"
    );
    disk.heal();
    wait_until_ready(&server, true);
    acknowledged.store(&project, "after");
    acknowledged.store(&project, "failed");
    acknowledged.assert_kept(&project, &[]);
    server.stop();
    command_line_on(&database, &["log", "verify"]).success();
}

#[test]
fn after_a_failed_sync_and_a_kill_a_retry_finds_whether_the_event_is_stored() {
    let Some(disk) = FaultyDisk::create() else { return };
    let database = Database::create(DatabaseKind::Sqlite);
    let (server, organization, mut acknowledged) = start(&disk, &database);
    disk.fail();
    assert_unknown(&acknowledged.send(&organization.project(), "failed"));
    server.kill();
    disk.heal();
    let server = Server::start_under(&database, &[], &disk.prefix());
    let project = organization.on(&server).project();
    acknowledged.assert_kept(&project, &["failed"]);
    acknowledged.store(&project, "failed");
    acknowledged.store(&project, "after");
    acknowledged.assert_kept(&project, &[]);
    server.stop();
    command_line_on(&database, &["log", "verify"]).success();
}

/// The kernel reports a failed sync once and forgets the data, so the next start may not trust what it reads from the
/// write-ahead log: it writes it to the database file again.
#[test]
fn a_start_writes_what_the_write_ahead_log_has_to_the_database_again() {
    let Some(disk) = FaultyDisk::create() else { return };
    let database = Database::create(DatabaseKind::Sqlite);
    let (server, organization, mut acknowledged) = start(&disk, &database);
    disk.fail();
    assert_unknown(&acknowledged.send(&organization.project(), "failed"));
    server.kill();
    // The disk still fails: the server says that what it serves is not on the disk.
    let server = Server::start_under(&database, &[], &disk.prefix());
    server.wait_for_log("cannot move the write-ahead log into the database");
    drop(server);
    disk.heal();
    let server = Server::start_under(&database, &[], &disk.prefix());
    let found = organization.on(&server).project().count();
    // The file alone, without the write-ahead log.
    let file = Database::in_directory(temporary_directory("file-"));
    let path = |database: &Database| database.url().strip_prefix("sqlite:").expect("a path").to_owned();
    std::fs::copy(path(&database), path(&file)).expect("copy the database file");
    assert_eq!(file.count("events"), i64::try_from(found).expect("a few events"));
    acknowledged.assert_kept(&organization.on(&server).project(), &["failed"]);
}
