//! `kill -9`: a stream is claimed entirely or not at all, and loses no acknowledged event.

use super::{UNLIMITED, ids_of};
use audit_tests::{
    Client, Database, DatabaseKind, Deadline, Organization, Server, Stream, event, event_with,
    on_both_databases,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

const WRITERS: usize = 4;
const EVENTS: usize = 300;
/// The number of unrelated requests acknowledged between the claim and the kill, per round.
const RESPONSES_BEFORE_KILL: [usize; 5] = [0, 1, 3, 7, 15];

/// Blocks a claim on SQLite: the trigger runs an endless query when the claim deletes the first event.
const ENDLESS_CLAIM: &str = "CREATE TRIGGER pause BEFORE DELETE ON stream_events WHEN OLD.number = 0 BEGIN
    SELECT count(*) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n);
    END";

fn of_tenant(tenant: &str, count: usize) -> Vec<Value> {
    vec![event_with(json!({"tenant_id": tenant})); count]
}

fn stored_ids(client: &Client, tenant: &str) -> BTreeSet<String> {
    let pages = client.pages(&[("tenant_id", tenant), ("limit", "200")]);
    pages.iter().flat_map(|page| ids_of(page)).collect()
}

fn wait_for_responses(answered: &Receiver<()>, count: usize) {
    let deadline = Deadline::seconds(60);
    for _ in 0..count {
        let left = deadline.left().expect("the writers receive responses in time");
        answered
            .recv_timeout(left)
            .expect("the writers receive responses in time");
    }
}

/// Posts unrelated events until the server is killed.
fn write_until_gone(project: &Client, answered: &Sender<()>) {
    while let Ok(response) = project.post("/events").json(event()).try_send() {
        response.expect_status(201);
        answered.send(()).expect("the receiver outlives the writer");
    }
}

/// Sends to a stream until the server is killed. Returns the acknowledged ids and how many events got no response.
fn send_until_gone(stream: &Stream, answered: &Sender<()>) -> (Vec<String>, usize) {
    let mut acknowledged = Vec::new();
    for number in 0.. {
        let count = if number % 2 == 0 { 5 } else { 1 };
        let Ok(response) = stream.post().json(Value::Array(vec![event(); count])).try_send() else {
            return (acknowledged, count);
        };
        acknowledged.extend(response.expect_status(201).ids());
        answered.send(()).expect("the receiver outlives the writers");
    }
    (acknowledged, 0)
}

/// Kills the server during a claim. Returns the `event_count` of the response to the claim, if there is one.
fn kill_during_claim(
    server: Server,
    stream: &Stream,
    organization: &Organization,
    responses: usize,
) -> Option<u64> {
    let (sender, answered) = mpsc::channel();
    thread::scope(|scope| {
        let project = organization.project().with_own_connections();
        scope.spawn(move || write_until_gone(&project, &sender));
        wait_for_responses(&answered, 1);
        let request = stream.claim(&organization.master().with_own_connections());
        let claim = scope.spawn(move || request.try_send().ok());
        wait_for_responses(&answered, responses);
        server.kill();
        let response = claim.join().expect("the claiming thread panicked")?;
        response.expect_status(200)["event_count"].as_u64()
    })
}

on_both_databases! {
    kill_9_leaves_a_stream_claimed_wholly_or_not_at_all,
    kill_9_in_the_middle_of_a_claim_leaves_the_stream_as_it_was,
    kill_9_loses_nothing_that_a_stream_has_acknowledged,
}

fn kill_9_leaves_a_stream_claimed_wholly_or_not_at_all(database: DatabaseKind) {
    let database = Database::create(database);
    let mut server = Server::start(&database, UNLIMITED);
    let created = Organization::create(&server, "enterprise");
    for (round, responses) in RESPONSES_BEFORE_KILL.into_iter().enumerate() {
        let (tenant, organization) = (format!("claimed-{round}"), created.on(&server));
        let stream = Stream::of(&server.client());
        let batches = (0..EVENTS / 100).flat_map(|_| stream.store_all(of_tenant(&tenant, 100)));
        let sent: BTreeSet<String> = batches.collect();
        let response = kill_during_claim(server, &stream, &organization, responses);
        server = Server::start(&database, UNLIMITED);
        let (stream, organization) = (stream.held_by(&server.client()), created.on(&server));
        let project = organization.project();
        let (status, count) = stream.state();
        assert_eq!(count, EVENTS as u64);
        if status == "active" {
            assert_eq!(response, None, "an acknowledged claim is durable");
            assert_eq!(stored_ids(&project, &tenant).len(), 0, "no event has moved");
            assert_eq!(stream.move_to(&organization.master()), EVENTS as u64);
        } else {
            assert_eq!(status, "claimed");
            assert!(
                response.is_none_or(|count| count == EVENTS as u64),
                "{response:?}"
            );
        }
        assert_eq!(stored_ids(&project, &tenant), sent);
        stream
            .claim(&organization.master())
            .send()
            .expect_error(410, "stream_already_claimed");
    }
}

fn kill_9_in_the_middle_of_a_claim_leaves_the_stream_as_it_was(kind: DatabaseKind) {
    let database = Database::create(kind);
    let server = Server::start(&database, UNLIMITED);
    let created = Organization::create(&server, "enterprise");
    let stream = Stream::of(&server.client());
    let sent: BTreeSet<String> = stream.store_all(of_tenant("claimed", 50)).into_iter().collect();
    let held = match kind {
        DatabaseKind::Sqlite => {
            database.execute(ENDLESS_CLAIM);
            None
        }
        DatabaseKind::Postgres => {
            database.pause_statements("BEFORE DELETE ON stream_events");
            Some(database.hold_pauses())
        }
    };
    thread::scope(|scope| {
        let request = stream.claim(&created.master());
        let claim = scope.spawn(move || request.try_send().is_ok());
        Deadline::seconds(60).poll("the claim to write", || match kind {
            DatabaseKind::Sqlite => database.is_being_written().then_some(()),
            DatabaseKind::Postgres => (database.paused() > 0).then_some(()),
        });
        server.kill();
        assert!(
            !claim.join().expect("the claiming thread panicked"),
            "the claim has no response"
        );
    });
    drop(held);
    database.execute(match kind {
        DatabaseKind::Sqlite => "DROP TRIGGER pause",
        DatabaseKind::Postgres => "DROP TRIGGER pause ON stream_events",
    });
    let server = Server::start(&database, UNLIMITED);
    let (stream, organization) = (stream.held_by(&server.client()), created.on(&server));
    assert_eq!(stream.state(), ("active".to_owned(), sent.len() as u64));
    assert_eq!(organization.project().count(), 0);
    stream.store(event());
    assert_eq!(stream.move_to(&organization.master()), sent.len() as u64 + 1);
    assert_eq!(
        stored_ids(&organization.project(), "claimed")
            .intersection(&sent)
            .count(),
        sent.len()
    );
}

fn kill_9_loses_nothing_that_a_stream_has_acknowledged(database: DatabaseKind) {
    let database = Database::create(database);
    let server = Server::start(&database, UNLIMITED);
    let created = Organization::create(&server, "enterprise");
    let stream = Stream::of(&server.client());
    stream.store(event_with(json!({"tenant_id": "other"})));
    let (sender, answered) = mpsc::channel();
    let outcomes = thread::scope(|scope| {
        let start = |_| {
            let (stream, sender) = (stream.held_by(&server.client()), sender.clone());
            scope.spawn(move || send_until_gone(&stream, &sender))
        };
        let writers: Vec<_> = (0..WRITERS).map(start).collect();
        wait_for_responses(&answered, 30);
        server.kill();
        writers
            .into_iter()
            .map(|writer| writer.join().expect("a writer thread panicked"))
            .collect::<Vec<_>>()
    });
    let server = Server::start(&database, UNLIMITED);
    let (stream, organization) = (stream.held_by(&server.client()), created.on(&server));
    let count = stream.state().1;
    assert_eq!(stream.move_to(&organization.master()), count);
    let unanswered: usize = outcomes.iter().map(|(_, count)| count).sum();
    let acknowledged: BTreeSet<String> = outcomes.into_iter().flat_map(|(ids, _)| ids).collect();
    let stored = stored_ids(&organization.project(), "tenant-1");
    assert!(acknowledged.is_subset(&stored), "an acknowledged event is lost");
    assert!(
        stored.len() - acknowledged.len() <= unanswered,
        "more events are stored than were sent"
    );
}
