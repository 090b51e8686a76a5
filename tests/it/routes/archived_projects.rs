//! Archived projects: they take no events, and everything else stays possible.

use audit_tests::{
    Client, Database, DatabaseKind, Organization, Response, Server, Stream, event, event_with, merge,
    on_both_databases,
};
use serde_json::{Value, json};
use std::sync::mpsc;

on_both_databases! {
    an_archived_project_takes_no_events_by_any_way,
    everything_but_storing_events_stays_possible,
    the_list_has_archived_projects_on_demand,
    archiving_twice_changes_nothing_and_unarchiving_undoes_it,
    every_fault_of_a_change_is_named,
    a_batch_is_stored_or_refused_whole_while_the_project_is_archived,
}

const ARCHIVED: (u16, &str) = (403, "project_archived");

/// Changes the project `default`. Returns it.
fn change(organization: &Organization, change: Value) -> Value {
    let path = format!("/projects/{}", organization.project_id);
    let response = organization.master().patch(&path).json(change).send();
    response.expect_status(200)["project"].clone()
}

fn archive(organization: &Organization, is_archived: bool) -> Value {
    change(organization, json!({"archived": is_archived}))
}

fn lines(client: &Client, body: String) -> Response {
    let request = client
        .post("/events")
        .header("content-type", "application/x-ndjson");
    request.raw(body).send()
}

fn an_archived_project_takes_no_events_by_any_way(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let (master, project, test) = (organization.master(), organization.project(), organization.test());
    let keyed = event_with(json!({"idempotency_key": "k"}));
    let stored = project.store(keyed.clone());
    let stream = Stream::fresh(database);
    stream.store_all(vec![event(), event()]);
    let repeated = Stream::fresh(database);
    repeated.store(keyed.clone());
    archive(&organization, true);
    for client in [&project, &test, &master] {
        let refused = client.post("/events").json(event()).send();
        let refused = refused.expect_error(ARCHIVED.0, ARCHIVED.1);
        let message = refused["error"]["message"].as_str().expect("a message");
        assert!(message.contains(&organization.project_id), "{message}");
        let batch = client.post("/events").json(json!([event(), event()])).send();
        batch.expect_error(ARCHIVED.0, ARCHIVED.1);
        lines(client, format!("{}\n{}", event(), event())).expect_error(ARCHIVED.0, ARCHIVED.1);
    }
    // A part of the batch is stored already: all of it is refused.
    let batch = project.post("/events").json(json!([keyed, event()])).send();
    batch.expect_error(ARCHIVED.0, ARCHIVED.1);
    for environment in ["live", "test"] {
        for stream in [&stream, &repeated] {
            let claim = stream.claim(&master).query("environment", environment);
            claim.send().expect_error(ARCHIVED.0, ARCHIVED.1);
        }
    }
    assert_eq!(stream.state(), ("active".to_owned(), 2));
    assert_eq!(repeated.state(), ("active".to_owned(), 1));
    assert_eq!((project.count(), test.count()), (1, 0));
    // A client whose response was lost learns that its event is stored.
    let repeat = project.post("/events").json(keyed).send().expect_status(201);
    assert_eq!(repeat.ids(), [stored]);
    // What is no event is still named as such.
    let invalid = project
        .post("/events")
        .json(merge(event(), json!({"category": "x"})));
    invalid.send().expect_invalid(&["category"]);
    archive(&organization, false);
    assert_eq!((stream.move_to(&master), repeated.move_to(&master)), (2, 0));
    project.store(event());
    assert_eq!(project.count(), 4);
}

fn everything_but_storing_events_stays_possible(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let (master, project) = (organization.master(), organization.project());
    let receipt = project.post("/events").header("prefer", "receipt");
    let id = receipt.json(event()).send().expect_status(201).ids().remove(0);
    archive(&organization, true);
    assert_eq!(project.find_ids(&[]), std::slice::from_ref(&id));
    assert_eq!(project.event(&id)["id"], json!(id));
    assert_eq!(project.get("/events/export").send_raw().status, 200);
    assert_eq!(project.get(&format!("/events/{id}/proof")).send_raw().status, 200);
    let page = project.get("/events/feed").send().expect_status(200);
    assert_eq!(page.list("events").len(), 1);
    let viewer = organization.viewer("tenant-1", "full");
    assert_eq!(viewer.find_ids(&[]), [id]);
    let key = organization.with_credential(&organization.create_key("live"));
    assert_eq!(key.count(), 1);
    key.post("/events")
        .json(event())
        .send()
        .expect_error(ARCHIVED.0, ARCHIVED.1);
    organization.create_rule(json!({"type": "pattern", "name": "zebra", "pattern": "zebra"}));
    organization.create_tier(json!({"name": "support"}));
    let rule = json!({"threshold": 9});
    let rule = master.patch("/alerts/rules/auth_brute_force").json(rule).send();
    rule.expect_status(200);
    let renamed = change(&organization, json!({"name": "old"}));
    assert_eq!(
        (&renamed["name"], renamed["archived_at"].is_string()),
        (&json!("old"), true)
    );
    organization.revoke_key(&organization.project_key);
    project.get("/events").send().expect_error(401, "key_revoked");
}

fn the_list_has_archived_projects_on_demand(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let second = organization.create_project("second");
    let master = organization.master();
    let list = |archived: Option<&str>| -> Vec<Value> {
        let request = master.get("/projects");
        let request = match archived {
            Some(archived) => request.query("archived", archived),
            None => request,
        };
        request.send().expect_status(200).list("projects")
    };
    let before = list(None);
    assert_eq!(list(Some("all")), before);
    assert_eq!(list(Some("true")), [] as [Value; 0]);
    let archived = archive(&organization, true);
    assert_eq!(
        archived,
        merge(before[0].clone(), json!({"archived_at": archived["archived_at"]}))
    );
    assert_eq!(list(None), before[1..]);
    assert_eq!(list(Some("false")), before[1..]);
    assert_eq!(list(Some("true")), std::slice::from_ref(&archived));
    assert_eq!(list(Some("all")), [archived.clone(), before[1].clone()]);
    assert_eq!(before[1]["id"], json!(second));
    let path = format!("/projects/{}", organization.project_id);
    assert_eq!(master.one(&path, "project"), archived);
    // The only project that is not archived is not meant by a request that names none.
    master.get("/events").send().expect_invalid(&["project_id"]);
}

fn archiving_twice_changes_nothing_and_unarchiving_undoes_it(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let path = format!("/projects/{}", organization.project_id);
    let before = organization.master().one(&path, "project");
    assert_eq!(archive(&organization, false), before);
    let archived = archive(&organization, true);
    assert_eq!(archive(&organization, true), archived);
    assert_eq!(change(&organization, json!({})), archived);
    assert_eq!(archive(&organization, false), before);
    organization.project().store(event());
}

fn every_fault_of_a_change_is_named(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let path = format!("/projects/{}", organization.project_id);
    let send = |client: &Client, body: Value| client.patch(&path).json(body).send();
    let master = organization.master();
    for archived in [json!("true"), json!(1), json!([])] {
        send(&master, json!({"archived": archived})).expect_invalid(&["archived"]);
    }
    let body = json!({"archived": true, "name": ""});
    send(&master, body).expect_invalid(&["name"]);
    let listed = |parameter: &str, value: &str| {
        let request = master.get("/projects").query(parameter, value);
        request.send().expect_invalid(&[parameter]);
    };
    listed("archived", "yes");
    listed("project_id", &organization.project_id);
    send(&organization.project(), json!({"archived": true})).expect_error(403, "forbidden");
    let stranger = Organization::fresh(database).master();
    send(&stranger, json!({"archived": true})).expect_error(404, "not_found");
    organization.project().store(event());
}

/// Writers send batches through two servers until one is refused.
fn a_batch_is_stored_or_refused_whole_while_the_project_is_archived(kind: DatabaseKind) {
    const WRITERS: usize = 4;
    const BATCH: usize = 7;
    let database = Database::create(kind);
    let servers = [Server::start(&database, &[]), Server::start(&database, &[])];
    let organization = Organization::create(&servers[0], "enterprise");
    let (sender, responses) = mpsc::channel();
    let write = |writer: usize, answered: mpsc::Sender<()>| {
        let client = organization
            .on(&servers[writer % 2])
            .project()
            .with_own_connections();
        let mut stored = 0;
        loop {
            let response = client.post("/events").json(json!(vec![event(); BATCH])).send();
            if response.status() != 201 {
                response.expect_error(ARCHIVED.0, ARCHIVED.1);
                return stored;
            }
            assert_eq!(response.ids().len(), BATCH);
            stored += BATCH;
            answered.send(()).expect("the receiver outlives the writers");
        }
    };
    let (stored, counted) = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                scope.spawn({
                    let (write, sender) = (&write, sender.clone());
                    move || write(writer, sender)
                })
            })
            .collect();
        drop(sender);
        for _ in 0..3 * WRITERS {
            responses.recv().expect("a batch is stored");
        }
        archive(&organization, true);
        // Nothing is stored from here on, whoever still waits for a response.
        let counted = organization.project().count();
        let stored = writers.into_iter().map(|writer| writer.join().expect("a writer"));
        (stored.sum::<usize>(), counted)
    });
    assert_eq!((stored, organization.project().count()), (counted, counted));
}
