//! Destinations, created, listed, changed and deleted.

use super::{URL, change, create, https, path_of, post, read};
use audit_tests::{Database, DatabaseKind, Deadline, Organization, Server, event, merge, on_both_databases};
use serde_json::{Value, json};
use std::thread;

const TOKEN: &str = "9f2c1f7e-token-of-the-collector";

fn splunk() -> Value {
    json!({
        "name": "Splunk", "kind": "splunk_hec", "paused": true,
        "settings": {"url": "https://splunk.example.com:8088", "index": "audit"}, "credentials": {"token": TOKEN},
    })
}

/// The properties of a destination that is not paused, and whose filter lets no event pass.
fn running() -> Value {
    merge(
        splunk(),
        json!({"paused": false, "filter": {"tenant_ids": ["nobody"]}}),
    )
}

on_both_databases! {
    a_created_destination_is_as_it_was_asked_for,
    destinations_are_listed_by_environment,
    a_destination_can_be_changed_in_every_field,
    settings_are_changed_with_their_credentials,
    the_signing_secret_is_shown_once,
    no_response_and_no_event_has_a_credential,
    a_pause_and_its_end_are_events,
    a_destination_that_is_resumed_tries_at_once_and_has_then_not_recovered,
    a_deleted_destination_is_gone,
    a_destination_belongs_to_one_project,
}

fn a_created_destination_is_as_it_was_asked_for(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    organization.project().store_all(vec![event(); 3]);
    let created = create(&organization, splunk());
    assert!(
        created["id"]
            .as_str()
            .is_some_and(|id| id.starts_with("dst_") && id.len() == 30),
        "{created}"
    );
    let expected = json!({
        "name": "Splunk", "kind": "splunk_hec", "environment": "live", "format": "json", "include_raw": false, "filter": {},
        "credentials": ["token"], "paused": true, "state": "paused", "position": 0, "last_success_at": null, "last_error": null,
        "next_attempt_at": null, "set_aside": 0, "previous_credentials_in_use": false, "replay": null,
    });
    for (name, value) in expected.as_object().expect("an object") {
        assert_eq!(created.get(name), Some(value), "{name}");
    }
    assert_eq!(created["settings"]["index"], "audit");
    assert_eq!(created["settings"]["sourcetype"], "audit-log", "a default");
    // It begins with its own creation, not with the events from before.
    assert!(
        created["cursor_seq"].as_i64().is_some_and(|seq| seq >= 3),
        "{created}"
    );
    assert_eq!(created.get("signing_secret"), None);
    organization.project().store(event());
    let read = read(&organization, &created);
    assert!(read["lag_events"].as_i64().is_some_and(|lag| lag >= 1), "{read}");
    assert!(read["lag_seconds"].as_i64().is_some_and(|lag| lag >= 0), "{read}");
}

fn destinations_are_listed_by_environment(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let live = create(&organization, splunk());
    let test = create(&organization, merge(splunk(), json!({"environment": "test"})));
    assert_eq!(test["environment"], "test");
    let master = organization.master();
    for (environment, expected) in [("live", &live), ("test", &test)] {
        let request = master.get("/destinations").query("environment", environment);
        let listed = request.send().expect_status(200).list("destinations");
        assert_eq!(listed.len(), 1, "{listed:?}");
        assert_eq!(listed[0]["id"], expected["id"]);
    }
    let both = master.post("/destinations").query("environment", "test");
    let both = both.json(merge(splunk(), json!({"environment": "live"}))).send();
    both.expect_invalid(&["environment"]);
    let by_query = master
        .post("/destinations")
        .query("environment", "test")
        .json(splunk())
        .send();
    assert_eq!(by_query.expect_status(201)["destination"]["environment"], "test");
}

fn a_destination_can_be_changed_in_every_field(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let destination = create(&organization, splunk());
    let filter = json!({"actions": ["auth.*"], "categories": ["auth"], "tenant_ids": ["acme"]});
    for properties in [
        json!({"name": "another"}),
        json!({"format": "ocsf"}),
        json!({"include_raw": true}),
        json!({"ocsf_classes": [{"action": "invoice.*", "class_uid": 3004, "activity_id": 99}]}),
        json!({"ocsf_classes": []}),
        json!({"filter": filter}),
    ] {
        let changed = change(&organization, &destination, properties.clone());
        for (name, value) in properties.as_object().expect("an object") {
            assert_eq!(changed[name], *value);
        }
        assert_eq!(changed["previous_credentials_in_use"], false);
    }
    let unchanged = change(&organization, &destination, json!({}));
    assert_eq!(
        (&unchanged["name"], &unchanged["filter"]),
        (&json!("another"), &filter)
    );
    let everything = change(&organization, &destination, json!({"filter": {}}));
    assert_eq!(everything["filter"], json!({}));
}

/// Otherwise whoever may change a destination could have its credentials sent to a host of his own.
fn settings_are_changed_with_their_credentials(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let destination = create(&organization, splunk());
    let settings = json!({"url": "https://attacker.example.com:8088"});
    let request = organization.master().patch(&path_of(&destination));
    let refused = request.json(json!({"settings": settings})).send();
    refused.expect_invalid(&["credentials"]);
    assert_eq!(
        read(&organization, &destination)["settings"],
        destination["settings"]
    );

    let rotated = change(
        &organization,
        &destination,
        json!({"credentials": {"token": "another"}}),
    );
    assert_eq!(rotated["previous_credentials_in_use"], true);
    assert_eq!(rotated["settings"], destination["settings"]);
    let body = json!({"settings": settings, "credentials": {"token": "another"}});
    let moved = change(&organization, &destination, body);
    assert_eq!(
        moved["settings"]["url"],
        "https://attacker.example.com:8088/services/collector/event"
    );
    assert_eq!(
        moved["previous_credentials_in_use"], false,
        "the former receiver gets nothing more"
    );
}

fn the_signing_secret_is_shown_once(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let created = create(&organization, https(URL));
    let secret = created["signing_secret"].as_str().expect("a secret");
    assert!(secret.starts_with("whsec_") && secret.len() == 50, "{secret}");
    assert_eq!(created["credentials"], json!(["signing_secret"]));
    let shown = read(&organization, &created);
    assert_eq!(shown.get("signing_secret"), None);
    assert!(!shown.to_string().contains(&secret[6..20]), "{shown}");
    assert_eq!(
        change(&organization, &created, json!({"name": "b"})).get("signing_secret"),
        None
    );
    let rotated = change(&organization, &created, json!({"credentials": {}}));
    assert_ne!(rotated["signing_secret"], created["signing_secret"]);
    assert!(rotated["signing_secret"].is_string(), "{rotated}");
    let own = merge(https(URL), json!({"credentials": {"signing_secret": secret}}));
    assert_eq!(
        create(&organization, own).get("signing_secret"),
        None,
        "the client knows it"
    );
}

fn own_server(database: DatabaseKind) -> Server {
    Server::start(&Database::create(database), &[("AUDIT_SELF_AUDIT", "on")])
}

fn own_events(organization: &Organization) -> Vec<Value> {
    let parameters = [
        ("tenant_id", "audit-server"),
        ("action", "audit.destination.*"),
        ("order", "asc"),
    ];
    organization.master().find(&parameters)
}

fn no_response_and_no_event_has_a_credential(database: DatabaseKind) {
    let server = own_server(database);
    let organization = Organization::create(&server, "pro");
    let (master, path) = (organization.master(), "/a/secret/path");
    let header = "Bearer of-the-receiver";
    let body = json!({"credentials": {"headers": {"authorization": header}}, "settings": {"headers": {"x-shown": "1"}}});
    let new = merge(https(&format!("https://siem.example.com{path}")), body);
    let created = create(&organization, new);
    let rotated = change(
        &organization,
        &created,
        json!({"credentials": {"headers": {"authorization": "Basic other"}}}),
    );
    assert_eq!(
        rotated["credentials"].as_array().map(Vec::len),
        Some(2),
        "{rotated}"
    );
    let responses = [
        master
            .get("/destinations")
            .send()
            .expect_status(200)
            .body()
            .clone(),
        master
            .get(&path_of(&created))
            .send()
            .expect_status(200)
            .body()
            .clone(),
        created,
        rotated.clone(),
    ];
    for secret in [header, "Basic other"] {
        assert!(
            responses
                .iter()
                .all(|response| !response.to_string().contains(secret)),
            "{responses:?}"
        );
    }
    master.delete(&path_of(&rotated)).send().expect_status(200);
    let events = own_events(&organization);
    let actions: Vec<&Value> = events.iter().map(|event| &event["action"]).collect();
    let expected = [
        "audit.destination.created",
        "audit.destination.credentials_rotated",
        "audit.destination.deleted",
    ];
    assert_eq!(actions, expected);
    let text = json!(events).to_string();
    for secret in [header, "Basic other", path, "whsec_"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    assert!(text.contains("siem.example.com"), "{text}");
    server.stop().success();
}

fn a_pause_and_its_end_are_events(database: DatabaseKind) {
    let server = own_server(database);
    let organization = Organization::create(&server, "pro");
    let destination = create(&organization, splunk());
    for (body, action) in [
        (json!({"paused": true}), None),
        (
            json!({"paused": false, "filter": {"tenant_ids": ["nobody"]}}),
            Some("audit.destination.resumed"),
        ),
        (json!({"paused": true}), Some("audit.destination.paused")),
        (
            json!({"credentials": {"token": "b"}}),
            Some("audit.destination.credentials_rotated"),
        ),
    ] {
        let before = own_events(&organization).len();
        let changed = change(&organization, &destination, body);
        let events = own_events(&organization);
        let last = events.last().filter(|_| events.len() > before);
        assert_eq!(
            last.map(|event| event["action"].clone()),
            action.map(|action| json!(action))
        );
        let is_paused = changed["paused"] == true;
        assert_eq!(changed["state"] == "paused", is_paused, "{changed}");
    }
    server.stop().success();
}

fn a_destination_that_is_resumed_tries_at_once_and_has_then_not_recovered(kind: DatabaseKind) {
    // In microseconds.
    const IN_2100: &str = "4102444800000000";
    let database = Database::create(kind);
    let server = Server::start(&database, &[]);
    let organization = Organization::create(&server, "pro");
    let destination = create(&organization, running());
    for (state, attempts, state_after, attempts_after) in [
        ("delayed", 7, "delayed", 7),
        ("credentials", 7, "credentials", 0),
        ("parked", 7, "active", 0),
        ("active", 0, "active", 0),
    ] {
        database.execute(&format!(
            "UPDATE destination_runs SET state = '{state}', attempts = {attempts}, next_attempt_at = {IN_2100}"
        ));
        assert_eq!(read(&organization, &destination)["state"], state);
        let resumed = change(&organization, &destination, json!({"paused": false}));
        assert_eq!(resumed["state"], state_after);
        let expected =
            format!("destination_runs WHERE attempts = {attempts_after} AND next_attempt_at < {IN_2100}");
        assert_eq!(database.count(&expected), 1, "{state}");
    }
    server.stop().success();
}

/// A delivery that has confirmed credentials writes the destination, then its run. PostgreSQL only: SQLite has one writer.
#[test]
fn a_change_locks_the_destination_before_its_runs() {
    const BLOCKED: &str = "pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
    if !DatabaseKind::Postgres.is_available() {
        return;
    }
    let database = Database::create(DatabaseKind::Postgres);
    let server = Server::start(&database, &[]);
    let organization = Organization::create(&server, "pro");
    let destination = create(&organization, running());
    database.execute("UPDATE destination_runs SET state = 'parked'");
    let held = database.hold_locks("SELECT 1 FROM destinations FOR UPDATE");
    thread::scope(|scope| {
        let body = json!({"paused": false, "name": "another"});
        let changing = scope.spawn(|| change(&organization, &destination, body));
        let deadline = Deadline::seconds(60);
        deadline.poll("the change", || (database.count(BLOCKED) > 0).then_some(()));
        // Fails if the change has locked the run.
        database.execute("SELECT 1 FROM destination_runs FOR UPDATE NOWAIT");
        drop(held);
        assert_eq!(changing.join().expect("a response")["state"], "active");
    });
    server.stop().success();
}

fn a_deleted_destination_is_gone(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let (destination, other) = (create(&organization, splunk()), create(&organization, splunk()));
    let master = organization.master();
    let deleted = master.delete(&path_of(&destination)).send().expect_status(200);
    assert_eq!(deleted["deleted"], true);
    let listed = master
        .get("/destinations")
        .send()
        .expect_status(200)
        .list("destinations");
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0]["id"], other["id"]);
    master
        .delete(&path_of(&destination))
        .send()
        .expect_error(404, "not_found");
    let set_aside = format!("{}/set-aside", path_of(&destination));
    master.get(&set_aside).send().expect_error(404, "not_found");
}

fn a_destination_belongs_to_one_project(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let destination = create(&organization, splunk());
    let other = organization.create_project("other");
    let in_other = organization.master().with_header("x-project-id", &other);
    let path = path_of(&destination);
    for client in [in_other.clone(), Organization::fresh(database).master()] {
        for request in [
            client.get(&path),
            client.patch(&path).json(json!({"name": "mine"})),
            client.delete(&path),
            client.post(&format!("{path}/test")),
            client.get(&format!("{path}/preview")),
            client.post(&format!("{path}/replay")).json(json!({})),
            client.delete(&format!("{path}/replay")),
            client.get(&format!("{path}/set-aside")),
            client.post(&format!("{path}/set-aside/resend")).json(json!({})),
        ] {
            request.send().expect_error(404, "not_found");
        }
    }
    for id in ["nonsense", "dst_", "dst_00000000000000000000000000"] {
        let request = in_other.get(&format!("/destinations/{id}"));
        request.send().expect_error(404, "not_found");
    }
    post(&organization.project(), splunk()).expect_error(403, "forbidden");
    let in_own = organization
        .master()
        .with_header("x-project-id", &organization.project_id);
    assert_eq!(
        in_own.one(&path, "destination")["name"],
        "Splunk",
        "nothing has changed"
    );
}
