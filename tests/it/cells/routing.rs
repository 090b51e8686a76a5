//! Requests run in the cell of their project.

use super::Cells;
use audit_tests::process::Exit;
use audit_tests::{
    Database, DatabaseKind, Deadline, Organization, Server, Stream, claim_token, command_line_on, event,
    start_command_line, webhook_environment,
};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::collections::BTreeSet;

#[test]
fn a_project_has_its_events_in_its_cell_and_nowhere_else() {
    let Some(deployment) = Cells::create() else {
        return;
    };
    for (index, cell) in ["home", "near", "far"].into_iter().enumerate() {
        let before = deployment.rows("events");
        let organization = deployment.organization_in(cell);
        // The server that has not seen the organization yet looks its cell up.
        let elsewhere = organization.on(&deployment.servers[1]);
        let ids = BTreeSet::from([
            organization.project().store(event()),
            elsewhere.project().store(event()),
        ]);
        let found = elsewhere.project().find_ids(&[]);
        assert_eq!(BTreeSet::from_iter(found), ids, "{cell}");
        let viewer = elsewhere.viewer("tenant-1", "full");
        assert_eq!(
            viewer.find(&[]).len(),
            organization.viewer("tenant-1", "full").find(&[]).len()
        );
        // A master key names the project, or has only one.
        assert_eq!(elsewhere.master().find_ids(&[]).len(), 2, "{cell}");
        let named = elsewhere
            .master()
            .with_header("X-Project-Id", &organization.project_id);
        named.store(event());
        assert_eq!(named.find_ids(&[]).len(), 3, "{cell}");
        let after = deployment.rows("events");
        let mut expected = before;
        expected[index] += 3;
        assert_eq!(after, expected, "{cell}");
    }
}

#[test]
fn a_project_and_a_key_are_changed_in_their_cell_and_in_the_lists() {
    let Some(deployment) = Cells::create() else {
        return;
    };
    for cell in ["home", "near", "far"] {
        let organization = deployment.organization_in(cell);
        // The server that has not seen the organization yet.
        let master = organization.on(&deployment.servers[1]).master();
        let path = format!("/projects/{}", organization.project_id);
        let renamed = master.patch(&path).json(json!({"name": cell})).send();
        let renamed = renamed.expect_status(200)["project"].clone();
        assert_eq!(renamed["name"], *cell);
        let listed = organization.master().get("/projects").send().list("projects");
        assert_eq!(listed, [renamed], "{cell}");
        let key = &organization.master().get("/keys").send().list("keys")[0];
        let path = format!("/keys/{}", key["id"].as_str().expect("an id"));
        let limits = json!({"name": cell, "networks": ["192.0.2.0/24"]});
        let changed = master.patch(&path).json(limits).send().expect_status(200);
        assert_eq!(changed["key"]["name"], *cell);
        let refused = organization.project().get("/events").send();
        refused.expect_error(403, "forbidden");
    }
}

#[test]
fn readers_of_a_portal_learn_where_to_sign_in_wherever_its_project_is() {
    let Some(deployment) = Cells::create() else {
        return;
    };
    for cell in ["home", "near", "far"] {
        let organization = deployment.organization_in(cell);
        // The server that has not seen the organization yet.
        let elsewhere = organization.on(&deployment.servers[1]);
        let path = format!("/portal/{}/sign-in", organization.project_id);
        let read = || elsewhere.anonymous().get(&path).send();
        read().expect_error(404, "not_found");
        let url = format!("https://{cell}.example.com/");
        let change = organization.master().patch("/portal");
        change.json(json!({"sign_in_url": url})).send().expect_status(200);
        assert_eq!(read().expect_status(200)["sign_in_url"], url, "{cell}");
    }
}

#[test]
fn projects_and_keys_of_an_organization_are_listed_over_all_cells() {
    let Some(deployment) = Cells::create() else {
        return;
    };
    let organization = deployment.organization_in("home");
    let mut projects = vec![organization.project_id.clone()];
    for cell in ["near", "far"] {
        deployment.cells(&["place", cell]);
        projects.push(organization.create_project(cell));
    }
    let two = organization.on(&deployment.servers[1]);
    let ids = |list: Vec<Value>, member: &str| -> Vec<String> {
        list.iter()
            .map(|item| item[member].as_str().expect("an id").to_owned())
            .collect()
    };
    assert_eq!(
        ids(two.master().get("/projects").send().list("projects"), "id"),
        projects
    );
    let keys: Vec<String> = projects
        .iter()
        .map(|project| two.create_key_of(project, "live"))
        .collect();
    let listed = organization.master().get("/keys").send().list("keys");
    assert_eq!(listed.len(), 4, "three and the first one: {listed:?}");
    for (project, key) in projects.iter().zip(&keys) {
        let client = organization.with_credential(key);
        client.store(event());
        // A key lists and revokes those of its project.
        let own = client.get("/keys").send().list("keys");
        assert!(
            own.iter().all(|listed| listed["project_id"] == **project),
            "{own:?}"
        );
        let of_project = organization
            .master()
            .get("/keys")
            .query("project_id", project)
            .send()
            .list("keys");
        assert_eq!(ids(of_project.clone(), "id"), ids(own, "id"));
        let id = of_project
            .iter()
            .find(|listed| listed["prefix"] == key[..12])
            .expect("it is listed")["id"]
            .clone();
        let path = format!("/keys/{}", id.as_str().expect("an id"));
        two.master().delete(&path).send().expect_status(200);
        client
            .post("/events")
            .json(event())
            .send()
            .expect_error(401, "key_revoked");
        two.with_credential(key)
            .get("/events")
            .send()
            .expect_error(401, "key_revoked");
    }
    // A master key with several projects names one.
    organization
        .master()
        .get("/events")
        .send()
        .expect_invalid(&["project_id"]);
}

#[test]
fn a_project_is_accessible_to_its_own_organization_only() {
    let Some(deployment) = Cells::create() else {
        return;
    };
    let (one, other) = (
        deployment.organization_in("near"),
        deployment.organization_in("near"),
    );
    let client = other.master().with_header("X-Project-Id", &one.project_id);
    client.get("/events").send().expect_error(404, "not_found");
    client
        .post("/events")
        .json(event())
        .send()
        .expect_error(404, "not_found");
    client
        .get("/redaction/rules")
        .send()
        .expect_error(404, "not_found");
    let unknown = "00000000-0000-4000-8000-000000000000";
    let client = one.master().with_header("X-Project-Id", unknown);
    client
        .get("/redaction/rules")
        .send()
        .expect_error(404, "not_found");
}

#[test]
fn a_plan_is_changed_in_all_cells_also_after_an_interruption() {
    let Some(deployment) = Cells::create() else {
        return;
    };
    let organization = deployment.organization_in("far");
    let server = &deployment.servers[0];
    organization.set_plan(server, "free");
    let webhook = json!({"url": "https://example.com/"});
    let create = || {
        organization
            .master()
            .post("/alerts/webhooks")
            .json(webhook.clone())
            .send()
    };
    create().expect_error(403, "webhooks_not_available");
    // A change that was interrupted after its first transaction is completed by any server.
    let change = format!(
        "UPDATE organizations SET plan = 'enterprise' WHERE id = '{}'",
        organization.organization_id
    );
    deployment.database.execute(&change);
    Deadline::seconds(60).poll("the plan reaches the cell", || {
        (deployment
            .database
            .count("cell_far.organizations WHERE plan = 'enterprise'")
            == 1)
            .then_some(())
    });
    create().expect_status(201);
}

#[test]
fn a_stream_is_claimed_once_by_a_project_of_another_cell() {
    let Some(deployment) = Cells::create() else {
        return;
    };
    let organization = deployment.organization_in("far");
    let stream = Stream::of(&deployment.servers[0].client()).with_token(&claim_token());
    let ids = stream.store_all(vec![event(), event(), event()]);
    assert_eq!(stream.move_to(&organization.master()), 3);
    let again = organization.on(&deployment.servers[1]);
    stream
        .claim(&again.master())
        .send()
        .expect_error(410, "stream_already_claimed");
    assert_eq!(
        BTreeSet::from_iter(organization.project().find_ids(&[])),
        BTreeSet::from_iter(ids)
    );
    assert_eq!(deployment.rows("events"), [0, 0, 3]);
    assert_eq!(deployment.rows("stream_events"), [0, 0, 0]);
    assert_eq!(deployment.rows("open_claims"), [0, 0, 0]);

    // A claim that was interrupted before or after its events were stored is completed by its repetition.
    for is_stored in [false, true] {
        let stream = Stream::of(&deployment.servers[0].client()).with_token(&claim_token());
        stream.store_all(vec![event(), event()]);
        let copy = "CREATE TABLE copied_streams AS SELECT * FROM streams; CREATE TABLE copied_events AS SELECT * FROM stream_events;";
        deployment.database.execute(copy);
        if is_stored {
            assert_eq!(stream.move_to(&organization.master()), 2);
        }
        deployment.database.execute(&format!(
            "DELETE FROM streams WHERE NOT EXISTS (SELECT FROM stream_events WHERE stream_events.token_hash = streams.token_hash) \
                 AND token_hash IN (SELECT token_hash FROM copied_events);
             INSERT INTO streams SELECT * FROM copied_streams WHERE token_hash IN (SELECT token_hash FROM copied_events)
                 ON CONFLICT DO NOTHING;
             INSERT INTO stream_events SELECT * FROM copied_events ON CONFLICT DO NOTHING;
             UPDATE streams SET claimed_at = created_at WHERE token_hash IN (SELECT token_hash FROM copied_events);
             INSERT INTO open_claims (token_hash, project_id, environment, claimed_at)
                 SELECT DISTINCT token_hash, '{}', 'live', 9000000000000000 FROM copied_events;
             DROP TABLE copied_events; DROP TABLE copied_streams",
            organization.project_id
        ));
        assert_eq!(
            stream.move_to(&organization.master()),
            2,
            "stored before: {is_stored}"
        );
        assert_eq!(deployment.rows("stream_events"), [0, 0, 0]);
    }
    assert_eq!(deployment.rows("events"), [0, 0, 7]);
}

#[test]
fn a_cell_that_cannot_be_reached_costs_only_its_own_projects() {
    let Some(deployment) = Cells::create() else {
        return;
    };
    let (near, far) = (
        deployment.organization_in("near"),
        deployment.organization_in("far"),
    );
    deployment.cells(&["place", "home"]);
    // A later version has changed its schema, so a server that starts now cannot open it.
    deployment
        .database
        .execute("INSERT INTO cell_far.__diesel_schema_migrations (version) VALUES ('99990101000000')");
    let server = Server::start(&deployment.database, &[]);
    near.on(&server).project().store(event());
    far.on(&server)
        .project()
        .post("/events")
        .json(event())
        .send()
        .expect_error(503, "unavailable");
    far.on(&server)
        .project()
        .get("/events")
        .send()
        .expect_error(503, "unavailable");
    Organization::create(&server, "enterprise")
        .project()
        .store(event());
    assert_eq!(server.client().request("GET", "/readyz").send_raw().status, 200);
    let listed = deployment.cells(&["list", "--json"]);
    let listed: Value = serde_json::from_str(&listed).expect("JSON");
    assert_eq!(listed[2]["reachable"], false, "{listed}");
    // Another server still has its connections to the cell.
    far.project().store(event());
}

#[test]
fn a_server_listens_when_it_has_opened_its_cells() {
    let Some(deployment) = Cells::create() else {
        return;
    };
    let near = deployment.organization_in("near");
    // Whoever opens a cell compares its migrations first.
    let table = "__diesel_schema_migrations";
    let lock = format!("LOCK TABLE cell_near.{table} IN ACCESS EXCLUSIVE MODE");
    let lock = deployment.database.hold_locks(&lock);
    let server = std::thread::scope(|scope| {
        let starting = scope.spawn(|| Server::start(&deployment.database, &[]));
        let waits = format!("pg_locks WHERE NOT granted AND relation = 'cell_near.{table}'::regclass");
        Deadline::seconds(60).poll("the server opens the cell", || {
            (deployment.database.count(&waits) > 0).then_some(())
        });
        assert!(!starting.is_finished(), "it listens already");
        drop(lock);
        starting.join().expect("it listens")
    });
    near.on(&server).project().store(event());
}

#[test]
fn sigterm_ends_a_server_that_waits_for_its_cells() {
    let Some(deployment) = Cells::create() else {
        return;
    };
    let table = "__diesel_schema_migrations";
    let lock = format!("LOCK TABLE cell_near.{table} IN ACCESS EXCLUSIVE MODE");
    let _lock = deployment.database.hold_locks(&lock);
    let url = deployment.database.url();
    let serve = ["serve", "--listen", "127.0.0.1:0", "--database-url", url];
    let mut starting = start_command_line(&serve, &webhook_environment());
    let waits = format!("pg_locks WHERE NOT granted AND relation = 'cell_near.{table}'::regclass");
    Deadline::seconds(60).poll("the server opens the cell", || {
        (deployment.database.count(&waits) > 0).then_some(())
    });
    starting.signal(Signal::TERM);
    // Not by the signal, which process 1 of a container would not have felt.
    assert_eq!(starting.wait(Deadline::seconds(60)), Exit::Code(0));
    let log = starting.stderr.text();
    assert!(log.contains("stopped before it listened"), "{log}");
    assert!(!starting.stdout.text().contains("listening"));
}

#[test]
fn logs_of_all_cells_are_verified() {
    let Some(deployment) = Cells::create() else {
        return;
    };
    for cell in ["home", "near", "far"] {
        deployment
            .organization_in(cell)
            .project()
            .store_all(vec![event(), event()]);
    }
    let verified = command_line_on(&deployment.database, &["log", "verify"]).success();
    assert!(verified.contains("6 events match the log"), "{verified}");
    let index = command_line_on(&deployment.database, &["index", "verify", "--json"]).json();
    assert_eq!(
        (&index["ok"], &index["events"]),
        (&json!(true), &json!(6)),
        "{index}"
    );
    deployment
        .database
        .execute("DELETE FROM cell_far.event_backlog; DELETE FROM cell_far.index_segments");
    let index = command_line_on(&deployment.database, &["index", "verify"]);
    assert_eq!(index.exit, Exit::Code(1), "{index:?}");
    assert!(index.stdout.contains("cell far"), "{index:?}");
    let change = "UPDATE cell_far.events SET body = replace(body, 'actor-1', 'actor-2') WHERE seq = 1";
    deployment.database.execute(change);
    let refused = command_line_on(&deployment.database, &["log", "verify"]);
    assert!(refused.stdout.contains("INCONSISTENT"), "{refused:?}");
}

#[test]
fn cells_are_listed_and_mistakes_are_refused() {
    let Some(deployment) = Cells::create() else {
        return;
    };
    deployment.organization_in("near").project().store(event());
    let listed: Value = serde_json::from_str(&deployment.cells(&["list", "--json"])).expect("JSON");
    let names: Vec<_> = listed
        .as_array()
        .expect("a list")
        .iter()
        .map(|cell| &cell["name"])
        .collect();
    assert_eq!(names, ["home", "near", "far"]);
    assert_eq!(
        (&listed[1]["events"], &listed[1]["projects"]),
        (&json!(1), &json!(1)),
        "{listed}"
    );
    assert_eq!(listed[1]["takes_projects"], true);
    for (arguments, reason) in [
        (&["create", "near"][..], "there is a cell of this name"),
        (&["create", "again", "--schema", "cell_near"], "is a cell already"),
        (
            &["create", "public", "--schema", "public"],
            "data of another deployment",
        ),
        (&["create", "Upper"], "--schema"),
        (&["place", "nowhere"], "cell not found"),
    ] {
        let arguments = [&["db", "cells"], arguments].concat();
        let refusal = command_line_on(&deployment.database, &arguments).refusal();
        assert!(refusal.contains(reason), "{arguments:?}: {refusal}");
    }
    let sqlite = Database::create(DatabaseKind::Sqlite);
    for arguments in [&["db", "cells", "list"][..], &["db", "cells", "create", "a"]] {
        let refusal = command_line_on(&sqlite, arguments).refusal();
        assert!(refusal.contains("SQLite has no cells"), "{refusal}");
    }
}

#[test]
fn the_schema_of_every_cell_is_compared() {
    let Some(deployment) = Cells::create() else {
        return;
    };
    let check = || command_line_on(&deployment.database, &["db", "check", "--json"]);
    let current = check().json();
    let names: Vec<_> = current["cells"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|cell| &cell["cell"])
        .collect();
    assert_eq!(names, ["home", "near", "far"]);
    deployment
        .database
        .execute("INSERT INTO cell_far.__diesel_schema_migrations (version) VALUES ('99990101000000')");
    let newer = check();
    assert_eq!(newer.exit, Exit::Code(1), "{}", newer.stdout);
    let newer: Value = serde_json::from_str(&newer.stdout).expect("JSON");
    assert_eq!(newer["cells"][2]["newer"], json!(["99990101000000"]), "{newer}");
}
