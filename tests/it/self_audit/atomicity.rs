//! A change and its event exist together or not at all.

use super::{ENVIRONMENT, organization, own_events, own_events_of};
use audit_tests::{
    Client, Database, DatabaseKind, Deadline, Organization, Server, event_with, on_both_databases,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::sync::mpsc;
use std::thread;

/// Concurrent clients.
const CLIENTS: usize = 6;
/// Changes before the server is killed, in each round.
const CHANGES_BEFORE_KILL: [usize; 3] = [3, 11, 24];

/// As the service names a stream.
pub(crate) fn sha256(token: &str) -> String {
    let hash = Sha256::digest(token.as_bytes());
    let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

on_both_databases! {
    concurrent_changes_have_an_event_each,
    of_concurrent_revocations_one_is_an_event,
    of_concurrent_acknowledgements_one_is_an_event,
    a_kill_leaves_no_change_without_its_event,
}

fn targets(events: &[Value]) -> BTreeSet<String> {
    let ids = events
        .iter()
        .map(|event| event["target"]["id"].as_str().expect("an id"));
    ids.map(str::to_owned).collect()
}

fn ids_of_keys(client: &Client) -> BTreeSet<String> {
    let keys = client.get("/keys").send().expect_status(200).list("keys");
    let ids = keys
        .iter()
        .map(|key| key["id"].as_str().expect("an id").to_owned());
    ids.collect()
}

fn create_key(master: &Client, project_id: &str) -> Result<(), ureq::Error> {
    let body = json!({"project_id": project_id, "type": "project", "name": "k"});
    let response = master.post("/keys").json(body).try_send()?;
    response.expect_status(201);
    Ok(())
}

/// Changes of rules and keys, and events, all at once: the changes make each other stale.
fn concurrent_changes_have_an_event_each(database: DatabaseKind) {
    let organization = organization(database);
    let (master, project) = (organization.master(), organization.project());
    thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (master, project) = (master.with_own_connections(), project.with_own_connections());
            let organization = &organization;
            scope.spawn(move || {
                for change in 0..4 {
                    create_key(&master, &organization.project_id).expect("a response");
                    let rule = json!({"type": "field_redact", "name": format!("{client} {change}"), "fields": ["metadata.x"]});
                    // A change of rules that others changed meanwhile may be refused as busy, and then has no event.
                    let status = master.post("/redaction/rules").json(rule).send().status();
                    assert!(matches!(status, 201 | 503), "{status}");
                    // So may an event be, while the rules change all the time.
                    let event = event_with(json!({"actor": {"id": format!("{client}")}}));
                    let status = project.post("/events").json(event).send().status();
                    assert!(matches!(status, 201 | 503), "{status}");
                }
            });
        }
    });
    let created = own_events_of(&master, "audit.api_key.created");
    assert_eq!(created.len(), 1 + 4 * CLIENTS);
    assert_eq!(targets(&created), ids_of_keys(&master));
    let rules = master
        .get("/redaction/rules")
        .send()
        .expect_status(200)
        .list("rules");
    let custom = rules.iter().filter(|rule| rule["type"] != "builtin");
    let custom: BTreeSet<String> = custom
        .map(|rule| rule["id"].as_str().expect("an id").to_owned())
        .collect();
    let created = own_events_of(&master, "audit.redaction_rule.created");
    assert_eq!((created.len(), targets(&created)), (custom.len(), custom));
}

fn of_concurrent_revocations_one_is_an_event(database: DatabaseKind) {
    let organization = organization(database);
    let master = organization.master();
    create_key(&master, &organization.project_id).expect("a response");
    let created = own_events_of(&master, "audit.api_key.created")
        .pop()
        .expect("an event");
    let path = format!("/keys/{}", created["target"]["id"].as_str().expect("an id"));
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            let (master, path) = (master.with_own_connections(), &path);
            scope.spawn(move || master.delete(path).send().expect_status(200));
        }
    });
    assert_eq!(own_events_of(&master, "audit.api_key.revoked").len(), 1);
}

fn of_concurrent_acknowledgements_one_is_an_event(database: DatabaseKind) {
    let organization = organization(database);
    let (master, project) = (organization.master(), organization.project());
    organization.create_alert_rule(audit_tests::alert_rule(json!({})));
    for _ in 0..3 {
        let alert = organization.raise_alert();
        thread::scope(|scope| {
            for _ in 0..CLIENTS {
                let (project, alert) = (project.with_own_connections(), &alert);
                scope.spawn(move || project.move_alert(alert, "acknowledged"));
            }
        });
    }
    assert_eq!(own_events_of(&master, "audit.alert.updated").len(), 3);
}

fn a_kill_leaves_no_change_without_its_event(database: DatabaseKind) {
    let database = Database::create(database);
    let mut server = Server::start(&database, ENVIRONMENT);
    let mut organization = Organization::create(&server, "enterprise");
    for changes in CHANGES_BEFORE_KILL {
        change_until_killed(server, &organization, changes);
        server = Server::start(&database, ENVIRONMENT);
        organization = organization.on(&server);
        let master = organization.master();
        let created = own_events_of(&master, "audit.api_key.created");
        assert!(created.len() > changes);
        assert_eq!(
            (created.len(), targets(&created)),
            (targets(&created).len(), ids_of_keys(&master))
        );
    }
    let verified = server.command_line(&["log", "verify"]);
    verified.success();
    assert!(own_events(&organization.master()).len() > CHANGES_BEFORE_KILL.iter().sum());
}

fn change_until_killed(server: Server, organization: &Organization, changes: usize) {
    let master = organization.on(&server).master();
    let (sender, changed) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            let (master, sender) = (master.with_own_connections(), sender.clone());
            scope.spawn(move || {
                while create_key(&master, &organization.project_id).is_ok() {
                    sender.send(()).expect("the receiver outlives the clients");
                }
            });
        }
        let deadline = Deadline::seconds(60);
        for _ in 0..changes {
            let left = deadline.left().expect("responses in time");
            changed.recv_timeout(left).expect("responses in time");
        }
        server.kill();
    });
}
