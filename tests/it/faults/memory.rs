//! A process that the kernel kills, because its control group is out of memory.

use super::{Acknowledged, assert_refused, body};
use audit_tests::{
    Client, Database, DatabaseKind, Deadline, MemoryGroup, Organization, Server, command_line_on,
    on_both_databases,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::thread;

const WRITERS: usize = 8;
const BATCH: usize = 100;

on_both_databases! {
    a_server_that_is_killed_for_want_of_memory_keeps_what_it_acknowledged,
}

fn batch(keys: &[String]) -> Value {
    let event = |key: &String| {
        let mut event = body(key);
        event["metadata"] = json!({"padding": "y".repeat(8_000)});
        event
    };
    keys.iter().map(event).collect()
}

/// Sends batches until the server is gone. Returns the acknowledged events, and the keys of the batch without a response.
fn write(client: &Client, writer: usize) -> (BTreeMap<String, String>, Vec<String>) {
    let mut acknowledged = BTreeMap::new();
    for request in 0.. {
        let keys: Vec<String> = (0..BATCH).map(|n| format!("{writer}-{request}-{n}")).collect();
        let Ok(response) = client.post("/events").json(batch(&keys)).try_send() else {
            return (acknowledged, keys);
        };
        match response.status() {
            201 => acknowledged.extend(keys.into_iter().zip(response.ids())),
            _ => assert_refused(&response),
        }
    }
    unreachable!("the server is killed in the end")
}

fn a_server_that_is_killed_for_want_of_memory_keeps_what_it_acknowledged(kind: DatabaseKind) {
    let Some(group) = MemoryGroup::create() else {
        return;
    };
    let database = Database::create(kind);
    let server = Server::start_under(&database, &[], &group.prefix());
    let organization = Organization::create(&server, "enterprise");
    let project = organization.project();
    let mut acknowledged = Acknowledged::default();
    acknowledged.store(&project, "before");
    group.allow_more(1 << 20);
    let unanswered: Vec<String> = thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let client = project.with_own_connections();
                scope.spawn(move || write(&client, writer))
            })
            .collect();
        let outcomes = writers
            .into_iter()
            .map(|writer| writer.join().expect("a writer ends"));
        outcomes
            .flat_map(|(stored, unanswered)| {
                acknowledged.0.extend(stored);
                unanswered
            })
            .collect()
    });
    assert_eq!(group.kills(), 1);
    drop(server.wait(Deadline::seconds(60)));
    group.allow_all();
    let server = Server::start_under(&database, &[], &group.prefix());
    let project = organization.on(&server).project();
    let unanswered: Vec<&str> = unanswered.iter().map(String::as_str).collect();
    acknowledged.assert_kept(&project, &unanswered);
    acknowledged.store(&project, "after");
    server.stop();
    command_line_on(&database, &["log", "verify"]).success();
}
