//! The log after the database lost commits while servers were running: a failover to an asynchronous standby.

use super::{audit, stop, store_events, verify};
use audit_tests::process::Exit;
use audit_tests::{
    Client, Database, DatabaseKind, Deadline, Organization, Server, Stream, command_line_on, event_with,
    temporary_directory,
};
use serde_json::{Value, json};

/// Sessions whose last statement, not within a transaction, stored events.
const STORED_BY_ONE_STATEMENT: &str = "pg_stat_activity WHERE datname = current_database() AND state = 'idle'
    AND query LIKE 'WITH heads AS %'";

/// Each server has one writer, so that one request finds that the connection has ended.
const ENVIRONMENT: &[(&str, &str)] = &[("AUDIT_POSTGRES_WRITERS", "1")];

/// Two servers on one database, each with the same project.
fn two_nodes() -> (Database, [Server; 2], Organization, [Client; 2]) {
    let database = Database::create(DatabaseKind::Postgres);
    let servers = [(); 2].map(|()| Server::start(&database, ENVIRONMENT));
    let organization = Organization::create(&servers[0], "enterprise");
    let clients = servers.each_ref().map(|server| organization.on(server).project());
    (database, servers, organization, clients)
}

fn store(client: &Client, name: &str) -> String {
    client.store(event_with(json!({"action": "a.b", "metadata": {"name": name}})))
}

/// Stores events until the node knows the head of the ledger, and stores the last one by one statement.
fn store_until_known(database: &Database, client: &Client, name: &str) {
    Deadline::seconds(60).poll("an event stored by one statement", || {
        store(client, name);
        (database.count(STORED_BY_ONE_STATEMENT) != 0).then_some(())
    });
}

/// Signs the log now, so that the nodes have signed what will be lost.
fn sign(client: &Client) {
    let checkpoint = client.get("/log/checkpoint").send_raw();
    assert_eq!(checkpoint.status, 200);
}

/// Asserts that the servers refuse to sign the log, that it is signed under a new name, that these events then have proofs, and
/// that `log verify` and a new auditor accept it.
fn assert_sound_under_a_new_name(
    database: &Database,
    servers: [Server; 2],
    organization: &Organization,
    ids: &[String],
) {
    let [project, other] = servers.each_ref().map(|server| organization.on(server).project());
    for client in [&project, &other] {
        let proof = client
            .get(&format!("/events/{}/proof", ids[ids.len() - 1]))
            .send();
        proof.expect_error(500, "log_inconsistent");
    }
    servers.into_iter().for_each(|server| drop(stop(server)));
    command_line_on(database, &["log", "new-name"]).success();
    let server = Server::start(database, ENVIRONMENT);
    let project = organization.on(&server).project();
    for id in ids {
        project
            .get(&format!("/events/{id}/proof"))
            .send()
            .expect_status(200);
    }
    let state = temporary_directory("audit-").join("state");
    audit(server.base_url(), &organization.project_key, &state, &[]).success();
    let verified = verify(database);
    assert_eq!(verified.exit, Exit::Code(0), "{verified:?}");
}

/// A failover that loses one event, after which the other node stores one event: the log has the size that the first node
/// knows, and another history. Its connections survive, as behind a pooler.
#[test]
fn a_lost_event_that_another_node_has_replaced_is_noticed_by_its_id() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let (database, servers, organization, [one, two]) = two_nodes();
    store_until_known(&database, &one, "before");
    database.save();
    store(&one, "lost");
    [&one, &two].into_iter().for_each(sign);
    database.restore(&[]);
    let mut ids = vec![store(&two, "in its place"), store(&one, "after it")];
    // Further events fill a tile: its leaves are those of the stored history.
    ids.extend(store_events(&one, 300));
    assert_sound_under_a_new_name(&database, servers, &organization, &ids);
}

/// The connections end while nothing is stored. The first commit over new ones reads the head.
#[test]
fn a_connection_that_was_opened_again_uses_nothing_from_before() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let (database, [first, _second], _, [one, _]) = two_nodes();
    store_until_known(&database, &one, "before");
    database.end_sessions();
    // Transactions find that their connections have ended, and get new ones. They change no configuration.
    let stream = Stream::of(&first.client());
    for _ in 0..6 {
        Deadline::seconds(60).poll("a writer with a connection", || {
            let response = stream.send(event_with(json!({})));
            (response.status() == 201).then_some(())
        });
    }
    store_again(&one, 1);
    assert_eq!(database.count(STORED_BY_ONE_STATEMENT), 0);
}

/// The nodes have signed the history that was lost.
#[test]
fn a_log_that_lost_thousands_of_events_is_signed_and_proved() {
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let (database, servers, organization, [one, two]) = two_nodes();
    let kept = store_events(&one, 600);
    // The key of the log exists.
    sign(&one);
    database.save();
    let lost = store_events(&one, 1_500);
    for client in [&one, &two] {
        let proof = client
            .get(&format!("/events/{}/proof", lost[lost.len() - 1]))
            .send();
        proof.expect_status(200);
    }
    database.restore(&[]);
    database.end_sessions();
    for client in [&one, &two] {
        store_again(client, 1);
    }
    // Not to a size that was signed before.
    let new: Vec<String> = (0..15).flat_map(|_| store_again(&two, 93)).collect();
    let ids = [&kept[0], &kept[599], &new[0], &new[700], &new[1_394]].map(Clone::clone);
    for id in [&lost[0], &lost[1_499]] {
        let proof = one.get(&format!("/events/{id}/proof")).send();
        proof.expect_error(404, "not_found");
    }
    assert_sound_under_a_new_name(&database, servers, &organization, &ids);
}

/// Stores events by one request, which is repeated while the server finds that its connections have ended.
fn store_again(client: &Client, count: usize) -> Vec<String> {
    let events: Vec<Value> = (0..count)
        .map(|number| event_with(json!({"action": "a.b", "metadata": {"number": number}})))
        .collect();
    Deadline::seconds(60).poll("a writer with a connection", || {
        let response = client.post("/events").json(json!(events)).send();
        (response.status() == 201).then(|| response.ids())
    })
}
