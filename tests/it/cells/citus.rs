//! Cells that Citus places on its servers and moves.

use super::Cells;
use super::moving::{assert_each_is_once, follow, store_while};
use audit_tests::{Citus, Deadline, event, event_with};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ops::Deref;

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
    assert_eq!(follow(&organization, None).0.len(), 602);
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

#[test]
fn a_project_moves_to_a_cell_on_citus_and_back() {
    let Some(deployment) = Deployment::create() else {
        return;
    };
    let organization = deployment.organization_in("home");
    let mut ids = BTreeSet::new();
    for cell in ["near", "home", "near"] {
        ids.insert(organization.project().store(event()));
        deployment.move_to(&organization, cell);
        ids.insert(organization.project().store(event()));
    }
    let found = organization.project().find_ids(&[]);
    assert_eq!(BTreeSet::from_iter(found), ids);
    deployment.verify(ids.len());
}
