//! A disk that reports data as synced which it does not have. No program notices before the power fails. Then the log is shorter,
//! which the service notices if its state directory is on another disk, and auditors always.

use super::{Acknowledged, wait_until_ready};
use crate::log::{assert_wrong, audit};
use audit_tests::{
    Client, Database, DatabaseKind, FaultyDisk, Finished, Organization, Server, temporary_directory,
};
use std::path::{Path, PathBuf};

const INCONSISTENT: &str = "audit_logs_inconsistent";

fn sign(client: &Client) {
    let checkpoint = client.get("/log/checkpoint").send_raw();
    assert_eq!(checkpoint.status, 200, "{checkpoint:?}");
}

/// A log whose latest events were acknowledged, signed and audited, and then lost by a power failure.
struct PowerFailure {
    organization: Organization,
    /// What the disk has after it.
    database: Database,
    /// The state directory of the server, on another disk.
    state: PathBuf,
    /// The state of the auditor.
    audit: PathBuf,
    acknowledged_before: Acknowledged,
}

impl PowerFailure {
    fn new() -> Option<Self> {
        let disk = FaultyDisk::create()?;
        let database = Database::create(DatabaseKind::Sqlite);
        let state = temporary_directory("state-");
        let environment = [("AUDIT_STATE_DIR", text(&state))];
        let server = Server::start_under(&database, &environment, &disk.prefix());
        let organization = Organization::create(&server, "enterprise");
        let project = organization.project();
        let mut before = Acknowledged::default();
        before.store(&project, "synced");
        sign(&project);
        server.stop();
        // What the disk has. From now on it takes nothing more.
        let synced = database.copy();
        disk.lie();
        let server = Server::start_under(&database, &environment, &disk.prefix());
        let project = organization.on(&server).project();
        let mut lied = Acknowledged::default();
        (0..5).for_each(|number| lied.store(&project, &format!("lied-{number}")));
        assert!(disk.faults() > 0, "the disk lied");
        sign(&project);
        let audit = temporary_directory("audit-").join("state");
        audited(&server, &organization, &audit).success();
        server.kill();
        Some(Self {
            organization,
            database: synced,
            state,
            audit,
            acknowledged_before: before,
        })
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

fn audited(server: &Server, organization: &Organization, state: &Path) -> Finished {
    audit(server.base_url(), &organization.project_key, state, &[])
}

#[test]
fn a_log_that_got_shorter_than_its_state_directory_knows_is_reported_at_the_start() {
    let Some(lost) = PowerFailure::new() else { return };
    let environment = [("AUDIT_STATE_DIR", text(&lost.state))];
    let server = Server::start(&lost.database, &environment);
    let project = lost.organization.on(&server).project();
    server.wait_for_log("does not continue its checkpoint and is not signed");
    server.wait_for_metric(INCONSISTENT, 1);
    let ready = server.client().request("GET", "/readyz").send();
    assert_eq!(ready.expect_status(200)["logs_inconsistent"], 1);
    lost.acknowledged_before.assert_kept(&project, &[]);
    let id = &lost.acknowledged_before.0["synced"];
    let proof = project.get(&format!("/events/{id}/proof")).send();
    proof.expect_error(500, "log_inconsistent");
}

#[test]
fn a_log_that_got_shorter_together_with_its_state_is_found_by_an_auditor_alone() {
    let Some(lost) = PowerFailure::new() else { return };
    let state = temporary_directory("state-");
    let server = Server::start(&lost.database, &[("AUDIT_STATE_DIR", text(&state))]);
    let project = lost.organization.on(&server).project();
    wait_until_ready(&server, true);
    lost.acknowledged_before.assert_kept(&project, &[]);
    sign(&project);
    assert_eq!(server.metric(INCONSISTENT), 0, "the service cannot know");
    let found = audited(&server, &lost.organization, &lost.audit);
    assert_wrong(&found, "truncated or rolled back");
}
