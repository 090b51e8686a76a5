//! `kill -9` under load loses no acknowledged event and stores none twice.

use audit_tests::{
    Client, Database, DatabaseKind, Deadline, Organization, Server, event_with, on_both_databases,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

const WRITERS: usize = 8;
/// The number of responses before the kill, for each round.
const RESPONSES_BEFORE_KILL: [usize; 4] = [5, 40, 120, 75];

/// The idempotency keys of the events of one request, in order.
type Keys = Vec<String>;

/// The results of the writers of one round after the server was killed.
#[derive(Default)]
struct Outcome {
    /// The acknowledged ids by idempotency key.
    acknowledged: BTreeMap<String, String>,
    /// Requests without a response: their events may or may not be stored.
    unanswered: Vec<Keys>,
}

fn body(keys: &Keys) -> Value {
    let event =
        |key: &String| event_with(json!({"idempotency_key": key, "metadata": {"padding": "x".repeat(200)}}));
    match keys.as_slice() {
        [key] => event(key),
        keys => Value::Array(keys.iter().map(event).collect()),
    }
}

/// Posts single events and batches until the server is gone.
fn write(client: &Client, writer: &str, answered: &Sender<()>) -> Outcome {
    let mut outcome = Outcome::default();
    for request in 0.. {
        let size = if request % 3 == 0 { 7 } else { 1 };
        let keys: Keys = (0..size).map(|n| format!("{writer}-{request}-{n}")).collect();
        let Ok(response) = client.post("/events").json(body(&keys)).try_send() else {
            outcome.unanswered.push(keys);
            return outcome;
        };
        let ids = response.expect_status(201).ids();
        assert_eq!(ids.len(), keys.len());
        outcome.acknowledged.extend(keys.into_iter().zip(ids));
        answered.send(()).expect("the receiver outlives the writers");
    }
    outcome
}

fn wait_for_responses(answered: &Receiver<()>, count: usize) {
    let deadline = Deadline::seconds(60);
    for _ in 0..count {
        let left = deadline.left().expect("the writers get responses in time");
        answered
            .recv_timeout(left)
            .expect("the writers get responses in time");
    }
}

/// One round: load, kill.
fn round(server: Server, organization: &Organization, round: usize) -> Outcome {
    let project = organization.on(&server).project();
    let (sender, answered) = mpsc::channel();
    let outcomes = thread::scope(|scope| {
        let start = |writer: usize| {
            let (client, sender) = (project.with_own_connections(), sender.clone());
            scope.spawn(move || write(&client, &format!("round{round}-writer{writer}"), &sender))
        };
        let writers: Vec<_> = (0..WRITERS).map(start).collect();
        wait_for_responses(&answered, RESPONSES_BEFORE_KILL[round]);
        server.kill();
        writers
            .into_iter()
            .map(|writer| writer.join().expect("a writer ends"))
            .collect::<Vec<_>>()
    });
    let mut whole = Outcome::default();
    for outcome in outcomes {
        whole.acknowledged.extend(outcome.acknowledged);
        whole.unanswered.extend(outcome.unanswered);
    }
    whole
}

/// The retries of a client after a crash: all requests without a response, and some of those with one.
fn retry(client: &Client, outcome: &mut Outcome) {
    for keys in std::mem::take(&mut outcome.unanswered) {
        let ids = client
            .post("/events")
            .json(body(&keys))
            .send()
            .expect_status(201)
            .ids();
        outcome.acknowledged.extend(keys.into_iter().zip(ids));
    }
    for (key, id) in outcome.acknowledged.iter().step_by(5) {
        let again = client
            .post("/events")
            .json(body(&vec![key.clone()]))
            .send()
            .expect_status(201)
            .ids();
        assert_eq!(
            again,
            std::slice::from_ref(id),
            "{key} was acknowledged with this id"
        );
    }
}

/// Every acknowledged event is there once, under its id, and nothing else is.
fn assert_exactly_once(client: &Client, acknowledged: &BTreeMap<String, String>) {
    let stored: Vec<Value> = client.pages(&[("limit", "200")]).concat();
    let text = |event: &Value, member: &str| event[member].as_str().expect("a string").to_owned();
    let by_key: BTreeMap<String, String> = stored
        .iter()
        .map(|event| (text(event, "idempotency_key"), text(event, "id")))
        .collect();
    assert_eq!(by_key.len(), stored.len(), "no idempotency key is stored twice");
    let ids: BTreeSet<&String> = by_key.values().collect();
    assert_eq!(ids.len(), stored.len(), "no id is stored twice");
    assert_eq!(&by_key, acknowledged);
}

on_both_databases! {
    kill_9_loses_no_acknowledged_event_and_stores_none_twice,
    everything_else_survives_kill_9_too,
}

fn kill_9_loses_no_acknowledged_event_and_stores_none_twice(database: DatabaseKind) {
    let database = Database::create(database);
    let mut server = Server::start(&database, &[]);
    let organization = Organization::create(&server, "enterprise");
    let mut acknowledged = BTreeMap::new();
    for number in 0..RESPONSES_BEFORE_KILL.len() {
        let mut outcome = round(server, &organization, number);
        assert!(!outcome.unanswered.is_empty(), "the kill happened under load");
        server = Server::start(&database, &[]);
        let project = organization.on(&server).project();
        retry(&project, &mut outcome);
        acknowledged.append(&mut outcome.acknowledged);
        assert_exactly_once(&project, &acknowledged);
    }
    // Search and filters still work after the crashes.
    let project = organization.on(&server).project();
    let found = project.pages(&[("search", "created"), ("actor_id", "actor-1"), ("limit", "200")]);
    assert_eq!(found.concat().len(), acknowledged.len());
}

fn everything_else_survives_kill_9_too(database: DatabaseKind) {
    let database = Database::create(database);
    let server = Server::start(&database, &[]);
    let organization = Organization::create(&server, "enterprise");
    organization.create_rule(json!({"type": "pattern", "name": "zebra", "pattern": "zebra"}));
    organization
        .master()
        .post("/viewer-tiers")
        .json(json!({"name": "support"}))
        .send()
        .expect_status(201);
    let token = organization.viewer_token("tenant-1", "support");
    let key = organization.create_key("live");
    let other = organization.create_project("other");
    server.kill();
    let server = Server::start(&database, &[]);
    let organization = organization.on(&server);
    let project = organization.with_credential(&key);
    project.store(event_with(json!({"metadata": {"note": "zebra"}})));
    let seen = organization.with_credential(&token).find(&[]);
    assert_eq!(seen[0]["metadata"]["note"], "[REDACTED]");
    organization.create_key_of(&other, "live");
}
