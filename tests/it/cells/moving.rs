//! A project moves between cells while it is used.

use super::{Cells, Deployment};
use audit_tests::{Deadline, Ending, Organization, Subscription, command_line_on, event, event_with};
use serde_json::json;
use std::collections::BTreeSet;
use std::thread;

/// Stores events until the end, repeating each with its key until it is stored. Returns their ids in order.
fn store_until(organization: &Organization, writer: usize, ending: &Ending) -> Vec<String> {
    let client = organization.project();
    let mut ids = Vec::new();
    for number in 0.. {
        let event = event_with(
            json!({"idempotency_key": format!("{writer}-{number}"), "actor": {"id": format!("{writer}-{number}")}}),
        );
        let deadline = Deadline::seconds(120);
        loop {
            let answer = client.post("/events").json(event.clone()).send();
            match answer.status() {
                201 => {
                    ids.extend(answer.ids());
                    break;
                }
                503 => {
                    assert!(answer.header("retry-after").is_some(), "{answer:?}");
                    assert!(deadline.left().is_some(), "the project stays paused");
                }
                _ => panic!("{answer:?}"),
            }
        }
        if ending.is_announced() {
            break;
        }
    }
    ids
}

/// The actors that the feed has after a cursor, and the last cursor.
pub(super) fn follow(organization: &Organization, after: Option<&str>) -> (Vec<String>, String) {
    let mut actors = Vec::new();
    let mut cursor = after.map(str::to_owned);
    loop {
        let mut request = organization.project().get("/events/feed");
        if let Some(cursor) = &cursor {
            request = request.query("after", cursor);
        }
        let page = request.send().expect_status(200);
        let events = page.list("events");
        actors.extend(
            events
                .iter()
                .map(|event| event["actor"]["id"].as_str().expect("an id").to_owned()),
        );
        cursor = Some(page.text("cursor"));
        if page["has_more"] == false {
            return (actors, cursor.unwrap_or_default());
        }
    }
}

/// Has four clients store events in the project, through both servers, while `disturb` runs. Returns the ids of the events.
pub(super) fn store_while(
    cells: &Cells,
    organization: &Organization,
    disturb: impl FnOnce(),
) -> BTreeSet<String> {
    let ending = Ending::default();
    thread::scope(|scope| {
        let end = ending.announced_on_drop();
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let organization = organization.on(&cells.servers[writer % 2]);
                let ending = &ending;
                scope.spawn(move || store_until(&organization, writer, ending))
            })
            .collect();
        disturb();
        drop(end);
        let writers = writers.into_iter();
        writers
            .flat_map(|writer| writer.join().expect("a writer"))
            .collect()
    })
}

/// Asserts that the feed has as many events as there are ids, each of another actor.
pub(super) fn assert_each_is_once(organization: &Organization, ids: &BTreeSet<String>) {
    let (actors, _) = follow(organization, None);
    assert_eq!(actors.len(), ids.len());
    assert_eq!(BTreeSet::from_iter(&actors).len(), ids.len(), "none twice");
}

#[test]
fn a_project_moves_while_it_is_written_to_and_loses_nothing() {
    let Some(deployment) = Deployment::create() else {
        return;
    };
    let organization = deployment.organization_in("home");
    let ids = store_while(&deployment, &organization, || {
        for cell in ["near", "far", "home", "far"] {
            deployment.move_to(&organization, cell);
        }
    });
    // Each event once, in every order of reading.
    assert_each_is_once(&organization, &ids);
    let pages = organization.project().pages(&[("limit", "100")]);
    let found: BTreeSet<String> = pages
        .iter()
        .flatten()
        .map(|event| event["id"].as_str().expect("an id").to_owned())
        .collect();
    assert_eq!(found, ids);
    // The index of the cell has rows of the first stay.
    let action = event()["action"].as_str().expect("an action").to_owned();
    let pages = organization
        .project()
        .pages(&[("limit", "100"), ("action", &action)]);
    assert_eq!(pages.iter().flatten().count(), ids.len());
    assert_eq!(deployment.rows("events"), [0, 0, ids.len() as i64]);
    deployment.verify(ids.len());
}

#[test]
fn a_project_whose_log_is_not_the_signed_one_stays_where_it_is() {
    let Some(deployment) = Deployment::create() else {
        return;
    };
    let organization = deployment.organization_in("home");
    organization.project().store_all(vec![event(); 3]);
    let project = &organization.project_id;
    // A move makes tiles anew, so the new cell would not show it.
    deployment.database.execute(&format!(
        "INSERT INTO log_tiles (ledger_id, level, tile_index, hashes)
         SELECT id, 0, 1, decode(repeat('00', 8192), 'hex') FROM ledgers WHERE environment = 'live' AND project_id = '{project}'"
    ));
    let refusal = command_line_on(&deployment.database, &["db", "cells", "move", project, "near"]).refusal();
    assert!(
        refusal.contains(&format!("the log {project}/live is inconsistent")),
        "{refusal}"
    );
    assert_eq!(deployment.rows("events"), [3, 0, 0]);
    deployment
        .database
        .execute("DELETE FROM log_tiles WHERE tile_index = 1");
    deployment.move_to(&organization, "near");
    assert_eq!(deployment.rows("events"), [0, 3, 0]);
}

#[test]
fn cursors_tokens_keys_and_rules_stay_valid() {
    let Some(deployment) = Deployment::create() else {
        return;
    };
    let organization = deployment.organization_in("near");
    let client = organization.project();
    let store = |from: usize, to: usize| {
        let events = (from..to).map(|number| event_with(json!({"actor": {"id": format!("actor {number}")}})));
        client.store_all(events.collect());
    };
    store(0, 5);
    let page = client
        .get("/events")
        .query("limit", "2")
        .send()
        .expect_status(200);
    let (before, feed) = follow(&organization, None);
    assert_eq!(before.len(), 5);
    let viewer = organization.viewer("tenant-1", "full");
    let seen = viewer.find(&[]).len();
    let portal = json!({"name": "Acme"});
    organization
        .master()
        .patch("/portal")
        .json(portal)
        .send()
        .expect_status(200);
    organization
        .create_rule(json!({"type": "pattern", "name": "zebras", "pattern": "zebra", "behavior": "replace"}));
    let revoked = organization.create_key("live");
    let keys = organization.master().get("/keys").send().list("keys");
    let id = keys
        .iter()
        .find(|key| key["prefix"] == revoked[..12])
        .expect("it is listed")["id"]
        .clone();
    let path = format!("/keys/{}", id.as_str().expect("an id"));
    organization.master().delete(&path).send().expect_status(200);
    let key = client.get("/log/checkpoint").send_raw();
    assert_eq!(key.status, 200);

    deployment.move_to(&organization, "far");
    // In the log of the cell it left, and in that of the one it came to.
    let next = client
        .get("/events")
        .query("limit", "2")
        .query("cursor", &page.text("cursor"))
        .send()
        .expect_status(200);
    assert_eq!(next.list("events").len(), 2);
    store(5, 7);
    assert_eq!(follow(&organization, Some(&feed)).0, ["actor 5", "actor 6"]);
    assert!(viewer.find(&[]).len() >= seen);
    assert_eq!(
        viewer.get("/portal").send().expect_status(200)["portal"]["name"],
        "Acme"
    );
    let id = client.store(event_with(json!({"metadata": {"animal": "zebra"}})));
    assert_ne!(client.event(&id)["metadata"]["animal"], "zebra");
    let refused = organization.with_credential(&revoked);
    refused.get("/events").send().expect_error(401, "key_revoked");
    let created = organization.create_key("live");
    organization
        .on(&deployment.servers[1])
        .with_credential(&created)
        .store(event());
    let listed = organization.master().get("/keys").send().list("keys");
    let prefixes: BTreeSet<_> = listed.iter().map(|key| key["prefix"].as_str()).collect();
    assert_eq!(prefixes.len(), 3, "each is listed once: {listed:?}");
    assert_eq!(listed.len(), 3);
}

#[test]
fn deliveries_of_a_moved_project_arrive() {
    let Some(deployment) = Deployment::create() else {
        return;
    };
    deployment.cells(&["place", "home"]);
    let subscription = Subscription::on(&deployment.servers[0]);
    subscription.organization.raise_alert();
    subscription.wait_for(1);
    // The second delivery waits for its retry while the project moves.
    subscription.reply([audit_tests::Reply::Status(500), audit_tests::Reply::Status(200)]);
    subscription
        .organization
        .project()
        .store(audit_tests::door_opened("another"));
    deployment.move_to(&subscription.organization, "near");
    subscription.wait_for(2);
    let alerts = subscription
        .organization
        .master()
        .get("/alerts")
        .send()
        .list("alerts");
    assert!(!alerts.is_empty());
    assert_eq!(deployment.rows("webhooks"), [0, 1, 0]);
}
