//! `kill -9` loses no counted event and counts no event twice.

use super::{assert_counted_once, event_counts};
use audit_tests::{
    Client, Database, DatabaseKind, Deadline, Organization, Server, alert_rule, door_opened, event_with,
    merge, on_both_databases,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::mpsc::{self, Sender};
use std::thread;

const WRITERS: usize = 8;
const THRESHOLD: usize = 7;
/// The number of requests acknowledged before the kill, per round.
const RESPONSES_BEFORE_KILL: [usize; 3] = [10, 60, 35];

fn failed() -> Value {
    event_with(json!({"action": "auth.failed", "category": "auth"}))
}

/// Kills the server and starts another one on the same database.
fn restart(server: Server, database: &Database) -> Server {
    server.kill();
    Server::start(database, &[])
}

fn body(keys: &[String]) -> Value {
    let event = |key: &String| merge(door_opened("actor-1"), json!({"idempotency_key": key}));
    Value::Array(keys.iter().map(event).collect())
}

/// Posts batches of one and of ten until the server is killed. Returns the keys of the request without a response.
fn write_until_gone(client: &Client, writer: &str, answered: &Sender<()>) -> Vec<String> {
    let mut number = 0;
    loop {
        let size = if number % 2 == 0 { 10 } else { 1 };
        let keys: Vec<String> = (0..size).map(|n| format!("{writer}-{number}-{n}")).collect();
        let Ok(response) = client.post("/events").json(body(&keys)).try_send() else {
            return keys;
        };
        response.expect_status(201);
        answered.send(()).expect("the receiver outlives the writers");
        number += 1;
    }
}

/// Kills the server while writers store events of one group. Returns the requests without a response.
fn kill_under_load(server: Server, organization: &Organization, round: usize) -> Vec<Vec<String>> {
    let project = organization.on(&server).project();
    let (sender, answered) = mpsc::channel();
    thread::scope(|scope| {
        let start = |writer: usize| {
            let (client, sender) = (project.with_own_connections(), sender.clone());
            scope.spawn(move || write_until_gone(&client, &format!("{round}-{writer}"), &sender))
        };
        let writers: Vec<_> = (0..WRITERS).map(start).collect();
        let deadline = Deadline::seconds(60);
        for _ in 0..RESPONSES_BEFORE_KILL[round] {
            let left = deadline.left().expect("the writers receive responses in time");
            answered
                .recv_timeout(left)
                .expect("the writers receive responses in time");
        }
        server.kill();
        writers
            .into_iter()
            .map(|writer| writer.join().expect("a writer thread panicked"))
            .collect()
    })
}

on_both_databases! {
    what_was_counted_before_kill_9_counts_after_it,
    kill_9_under_load_leaves_an_alert_for_each_threshold_and_no_other,
}

fn what_was_counted_before_kill_9_counts_after_it(database: DatabaseKind) {
    let database = Database::create(database);
    let mut server = Server::start(&database, &[]);
    let organization = Organization::create(&server, "enterprise");
    let project = organization.project();
    project.store_all(vec![failed(); 3]);
    project.store(failed());
    server = restart(server, &database);
    let project = organization.on(&server).project();
    assert_eq!(project.all_alerts().len(), 0);
    project.store(failed());
    assert_eq!(event_counts(&project), [5]);
    let alert = project.only_alert();
    server = restart(server, &database);
    let project = organization.on(&server).project();
    assert_eq!(project.only_alert(), alert);
    project.store_all(vec![failed(); 10]);
    assert_eq!(project.only_alert(), alert, "the cooldown continues");
    let acknowledged = project.move_alert(&alert, "acknowledged");
    let rule = organization.on(&server).create_alert_rule(alert_rule(json!({})));
    server = restart(server, &database);
    let organization = organization.on(&server);
    assert_eq!(organization.project().only_alert(), acknowledged);
    assert_eq!(organization.raise_alert()["rule_id"], rule["id"]);
}

fn kill_9_under_load_leaves_an_alert_for_each_threshold_and_no_other(database: DatabaseKind) {
    let database = Database::create(database);
    let mut server = Server::start(&database, &[]);
    let organization = Organization::create(&server, "enterprise");
    organization.create_alert_rule(alert_rule(
        json!({"threshold": THRESHOLD, "window_seconds": 3_600}),
    ));
    for round in 0..RESPONSES_BEFORE_KILL.len() {
        let unanswered = kill_under_load(server, &organization, round);
        server = Server::start(&database, &[]);
        let project = organization.on(&server).project();
        for keys in &unanswered {
            let response = project.post("/events").json(body(keys)).send();
            response.expect_status(201);
        }
        let events = project.pages(&[("limit", "200")]).concat();
        let stored: BTreeSet<String> = events
            .iter()
            .map(|event| event["id"].as_str().expect("an id").to_owned())
            .collect();
        let alerts = project.all_alerts();
        assert_eq!(
            alerts.len(),
            stored.len() / THRESHOLD,
            "alerts of {} events",
            stored.len()
        );
        assert_counted_once(&alerts, THRESHOLD, &stored);
    }
}
