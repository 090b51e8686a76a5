//! A database server that is replaced by its standby, becomes read-only, hangs, or ends sessions.

use audit_tests::{
    Client, Cluster, Database, DatabaseKind, Deadline, Organization, Response, Server, event, event_with,
};
use serde_json::json;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Longer than libpq needs to give up hosts, and a node to replace sessions that hang.
const RECOVERY_SECONDS_MAX: u64 = 120;

fn ready(server: &Server) -> u16 {
    server.client().request("GET", "/readyz").send().status()
}

fn send_keyed(client: &Client, key: &str) -> Response {
    client
        .post("/events")
        .json(event_with(json!({"idempotency_key": key})))
        .send()
}

/// Repeats a request with its idempotency key until it is stored.
fn store_in_the_end(client: &Client, key: &str) {
    let stored = || (send_keyed(client, key).status() == 201).then_some(());
    Deadline::seconds(RECOVERY_SECONDS_MAX).poll("an event is stored", stored);
}

#[test]
fn a_node_follows_the_primary_to_a_promoted_standby() {
    let Some(primary) = Cluster::start() else { return };
    let standby = primary.standby();
    // The standby comes first, as the address of a name that the failover has not reached yet.
    let database = Database::at(Cluster::url_of(&[&standby, &primary], "postgres"));
    let server = Server::start(&database, &[]);
    let organization = Organization::create(&server, "enterprise");
    let project = organization.project();
    let first = project.store(event());
    assert_eq!(ready(&server), 200);

    primary.kill();
    // The standby would serve reads. A node that cannot write is not ready.
    Deadline::seconds(30).poll("the node is not ready", || (ready(&server) == 503).then_some(()));
    send_keyed(&project, "second").expect_error(503, "unavailable");
    standby.promote();
    store_in_the_end(&project, "second");
    let deadline = Deadline::seconds(RECOVERY_SECONDS_MAX);
    deadline.poll("readiness", || (ready(&server) == 200).then_some(()));
    deadline.poll("reads", || {
        (project.get("/events").send().status() == 200).then_some(())
    });
    let stored = project.find_ids(&[]);
    assert!(stored.len() == 2 && stored.contains(&first), "{stored:?}");
    server.command_line(&["log", "verify"]).success();
}

#[test]
fn a_server_that_became_read_only_is_left() {
    let Some(cluster) = Cluster::start() else { return };
    let database = Database::at(cluster.url("postgres"));
    let server = Server::start(&database, &[]);
    let organization = Organization::create(&server, "enterprise");
    let project = organization.project();
    project.store(event());
    // The connections stay open, as they do through a proxy.
    cluster.configure("default_transaction_read_only", "on");
    send_keyed(&project, "second").expect_error(503, "unavailable");
    let created = organization.master().post("/projects").json(json!({"name": "p"}));
    created.send().expect_error(503, "unavailable");
    Deadline::seconds(30).poll("the node is not ready", || (ready(&server) == 503).then_some(()));
    server.wait_for_log("a writer opens another connection");
    cluster.configure("default_transaction_read_only", "off");
    store_in_the_end(&project, "second");
    Deadline::seconds(30).poll("the node is ready", || (ready(&server) == 200).then_some(()));
}

/// A frozen server keeps its connections open and sends nothing, so no error ever comes.
#[test]
fn a_server_that_hangs_is_reported_and_left() {
    let Some(primary) = Cluster::start() else { return };
    let standby = primary.standby();
    let database = Database::at(Cluster::url_of(&[&primary, &standby], "postgres"));
    let server = Server::start(&database, &[("AUDIT_WRITE_TIMEOUT_SECONDS", "1")]);
    let organization = Organization::create(&server, "enterprise");
    let project = organization.project();
    project.store(event());
    assert_eq!(ready(&server), 200);

    primary.freeze();
    let response = send_keyed(&project, "second").expect_error(503, "unavailable");
    assert!(response.header("retry-after").is_some(), "{response:?}");
    let message = response.body()["error"]["message"].as_str().expect("a message");
    assert!(message.contains("outcome is unknown"), "{message}");
    Deadline::seconds(30).poll("the node is not ready", || (ready(&server) == 503).then_some(()));

    standby.promote();
    store_in_the_end(&project, "second");
    let deadline = Deadline::seconds(RECOVERY_SECONDS_MAX);
    deadline.poll("readiness", || (ready(&server) == 200).then_some(()));
    // Some reading sessions still hang.
    let stored = deadline.poll("reads", || {
        let (send, receive) = mpsc::channel();
        let client = project.with_own_connections();
        thread::spawn(move || send.send(client.get("/events").send()).is_ok());
        let response = receive.recv_timeout(Duration::from_secs(3)).ok()?;
        (response.status() == 200).then(|| response.list("events"))
    });
    assert_eq!(stored.len(), 2);
}

/// As a restart of the database, a failover or an administrator does.
#[test]
fn a_read_whose_session_was_ended_is_repeated_on_another_one() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let database = Database::create(DatabaseKind::Postgres);
    let server = Server::start(&database, &[]);
    let project = Organization::create(&server, "enterprise").project();
    let id = project.store(event());
    for _ in 0..5 {
        // The sessions have just been tested, so they are not tested again when they are lent.
        assert_eq!(project.find_ids(&[]), [id.as_str()]);
        database.end_sessions();
        for path in ["/events", "/keys", "/events/feed", &format!("/events/{id}")] {
            project.get(path).send().expect_status(200);
        }
    }
}
