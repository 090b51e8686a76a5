//! PostgreSQL hangs in the middle of a `COMMIT`: its outcome is unknown, and a retry with the same key settles it.

use super::{Acknowledged, assert_unknown, wait_until_ready};
use audit_tests::{Cluster, CommitProxy, Database, Deadline, Organization, Server, command_line_on};

const ENVIRONMENT: &[(&str, &str)] = &[
    ("AUDIT_WRITE_TIMEOUT_SECONDS", "1"),
    ("AUDIT_POSTGRES_WRITERS", "1"),
];

/// Holds a `COMMIT` with this, and asserts that its event is there once after a retry.
fn hold(hold: fn(&CommitProxy, &'static str), is_stored: bool) {
    let Some(cluster) = Cluster::start() else { return };
    let proxy = CommitProxy::before(&cluster);
    let direct = Database::at(cluster.url("postgres"));
    let server = Server::start(&Database::at(proxy.url("postgres")), ENVIRONMENT);
    let organization = Organization::create(&server, "enterprise");
    let project = organization.project();
    let mut acknowledged = Acknowledged::default();
    // The head of the ledger is not known, so that the event is stored in a transaction.
    hold(&proxy, "the held event");
    assert_unknown(&acknowledged.send(&project, "the held event"));
    proxy.wait_until_held();
    server.wait_for_log("a writer waits for the database for too long; another one takes its place");
    if is_stored {
        let stored = || (direct.count("events") == 1).then_some(());
        Deadline::seconds(60).poll("the held event", stored);
    } else {
        assert_eq!(direct.count("events"), 0);
    }
    acknowledged.store_in_the_end(&project, "the held event");
    acknowledged.store_in_the_end(&project, "after");
    wait_until_ready(&server, true);
    acknowledged.assert_kept(&project, &[]);
    server.kill();
    let server = Server::start(&direct, &[]);
    acknowledged.assert_kept(&organization.on(&server).project(), &[]);
    server.stop();
    command_line_on(&direct, &["log", "verify"]).success();
}

#[test]
fn a_commit_that_never_arrives_is_unknown_and_its_retry_stores_it() {
    hold(CommitProxy::hold_commit, false);
}

#[test]
fn a_commit_whose_response_never_arrives_is_unknown_and_its_retry_finds_it() {
    hold(CommitProxy::hold_response, true);
}
