//! Cells that Citus places on its servers and moves.

use super::Cells;
use audit_tests::{Citus, Deadline, Ending, Organization, event, event_with};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ops::Deref;
use std::thread;

/// A home cell on the coordinator, and the cell `near`, which Citus has placed.
struct Deployment {
    home: Cells,
    near: String,
    /// Drops the schemas, at the end.
    citus: Citus,
}

impl Deref for Deployment {
    type Target = Cells;

    fn deref(&self) -> &Cells {
        &self.home
    }
}

impl Deployment {
    fn create() -> Option<Self> {
        let citus = Citus::find()?;
        let home = Cells::serve(citus.home(), &[]);
        let near = citus.schema("near");
        home.cells(&["create", "near", "--schema", &near]);
        Some(Self { home, near, citus })
    }
}

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
            let response = client.post("/events").json(event.clone()).send();
            match response.status() {
                201 => {
                    ids.extend(response.ids());
                    break;
                }
                503 => {
                    assert!(response.header("retry-after").is_some(), "{response:?}");
                    assert!(deadline.left().is_some(), "the cell stays away");
                }
                _ => panic!("{response:?}"),
            }
        }
        if ending.is_announced() {
            break;
        }
    }
    ids
}

/// The actors that the feed has.
fn follow(organization: &Organization) -> Vec<String> {
    let mut actors = Vec::new();
    let mut cursor: Option<String> = None;
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
            return actors;
        }
    }
}

/// Four clients store events in the project, through both servers, while `disturb` runs. Returns the ids of the events.
fn store_while(cells: &Cells, organization: &Organization, disturb: impl FnOnce()) -> BTreeSet<String> {
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
fn assert_each_is_once(organization: &Organization, ids: &BTreeSet<String>) {
    let actors = follow(organization);
    assert_eq!(actors.len(), ids.len());
    assert_eq!(BTreeSet::from_iter(&actors).len(), ids.len(), "none twice");
}

#[test]
fn a_cell_on_citus_is_used_on_the_server_that_has_it() {
    let Some(deployment) = Deployment::create() else {
        return;
    };
    let server = deployment.citus.server_of(&deployment.near);
    let listed: Value = serde_json::from_str(&deployment.cells(&["list", "--json"])).expect("JSON");
    assert_eq!(listed[0]["server"], Value::Null);
    assert_eq!(listed[1]["server"], server.to_string());
    let organization = deployment.organization_in("near");
    let project = organization.project();
    let keyed = |key: &str| event_with(json!({"idempotency_key": key}));
    let first = project.store(keyed("a"));
    assert_eq!(
        organization
            .on(&deployment.servers[1])
            .project()
            .store(keyed("a")),
        first
    );
    for first in (0..600).step_by(100) {
        let events = (first..first + 100).map(|number| keyed(&number.to_string()));
        project.store_all(events.collect());
    }
    // Otherwise a commit would wait for the coordinator and for all workers, and fail without one of them.
    assert_eq!(deployment.citus.distributed_transactions_of(&server), 0);
    let action = event()["action"].as_str().expect("an action").to_owned();
    let pages = project.pages(&[("limit", "100"), ("action", &action)]);
    assert_eq!(pages.iter().flatten().count(), 601);
    let viewer = organization.viewer("tenant-1", "full");
    viewer.find(&[]);
    organization
        .create_rule(json!({"type": "pattern", "name": "zebras", "pattern": "zebra", "behavior": "replace"}));
    let id = project.store(event_with(json!({"metadata": {"animal": "zebra"}})));
    assert_ne!(project.event(&id)["metadata"]["animal"], "zebra");
    assert_eq!(follow(&organization).len(), 602);
    deployment.verify(602);
    assert_eq!(deployment.citus.distributed_transactions_of(&server), 0);
    assert_ne!(deployment.citus.sessions_on(&server), 0);
}

#[test]
fn nodes_follow_a_cell_that_citus_moves_while_it_is_written_to() {
    let Some(deployment) = Deployment::create() else {
        return;
    };
    let organization = deployment.organization_in("near");
    let ids = store_while(&deployment, &organization, || {
        for _ in 0..2 {
            let from = deployment.citus.server_of(&deployment.near);
            let to = deployment.citus.move_schema(&deployment.near);
            Deadline::seconds(60).poll("the nodes have left the server", || {
                let sessions = [&from, &to].map(|server| deployment.citus.sessions_on(server));
                (sessions[0] == 0 && sessions[1] > 0).then_some(())
            });
        }
    });
    assert_each_is_once(&organization, &ids);
    let created = organization.create_key("live");
    organization
        .on(&deployment.servers[1])
        .with_credential(&created)
        .store(event());
    deployment.verify(ids.len() + 1);
}
