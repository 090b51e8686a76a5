//! A full disk. Nothing that was acknowledged is lost, reads continue, and writing continues once there is space again.

use super::{Acknowledged, assert_refused, wait_until_ready};
use audit_tests::{
    Client, Cluster, Database, DatabaseKind, Organization, Server, SmallDisk, command_line_on,
};
use serde_json::json;

const FULL: &str = "free disk space where the database is; writing then continues without a restart";

/// Sends events until one is refused. Returns how many were acknowledged.
fn send_until_refused(project: &Client, acknowledged: &mut Acknowledged) -> usize {
    let mut numbers = 0..100_000;
    let refused = numbers.find(|number| {
        let response = acknowledged.send(project, &format!("event-{number}"));
        response.status() != 201
    });
    refused.expect("the disk is full in the end")
}

#[test]
fn on_sqlite_a_full_disk_refuses_writes_and_loses_nothing() {
    let Some(disk) = SmallDisk::mount(16) else { return };
    let database = Database::in_directory(disk.path().to_owned());
    let server = Server::start(&database, &[]);
    let organization = Organization::create(&server, "enterprise");
    let mut acknowledged = Acknowledged::default();
    let project = organization.project();
    acknowledged.store(&project, "before");
    disk.fill();
    let refused = send_until_refused(&project, &mut acknowledged);
    server.wait_for_log(FULL);
    wait_until_ready(&server, false);
    let created = organization.master().post("/projects").json(json!({"name": "p"}));
    assert_refused(&created.send());
    let id = acknowledged.0["before"].clone();
    assert_eq!(project.event(&id)["id"], *id, "reads continue");
    // A process that starts on the full disk serves what is there.
    server.kill();
    let server = Server::start(&database, &[]);
    let project = organization.on(&server).project();
    acknowledged.assert_kept(&project, &[]);
    disk.free();
    acknowledged.store_in_the_end(&project, &format!("event-{refused}"));
    wait_until_ready(&server, true);
    acknowledged.store_in_the_end(&project, "after");
    acknowledged.assert_kept(&project, &[]);
    server.kill();
    let server = Server::start(&database, &[]);
    acknowledged.assert_kept(&organization.on(&server).project(), &[]);
    server.stop();
    command_line_on(&database, &["log", "verify"]).success();
}

/// The disk of the tables is full; that of PostgreSQL's own log is not.
#[test]
fn on_postgres_a_full_disk_refuses_writes_and_loses_nothing() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let (Some(cluster), Some(disk)) = (Cluster::start(), SmallDisk::mount(64)) else {
        return;
    };
    cluster.create_on_disk("small", disk.path());
    let database = Database::at(cluster.url("small"));
    let server = Server::start(&database, &[]);
    let organization = Organization::create(&server, "enterprise");
    let mut acknowledged = Acknowledged::default();
    let project = organization.project();
    acknowledged.store(&project, "before");
    disk.fill();
    let refused = send_until_refused(&project, &mut acknowledged);
    server.wait_for_log(FULL);
    wait_until_ready(&server, false);
    acknowledged.assert_kept(&project, &[]);
    server.kill();
    disk.free();
    let server = Server::start(&database, &[]);
    let project = organization.on(&server).project();
    acknowledged.store_in_the_end(&project, &format!("event-{refused}"));
    wait_until_ready(&server, true);
    acknowledged.assert_kept(&project, &[]);
    server.stop();
    command_line_on(&database, &["log", "verify"]).success();
}
