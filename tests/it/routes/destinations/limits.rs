//! Which destinations are refused.

use super::{URL, create, https, path_of, post, read};
use audit_tests::{Database, DatabaseKind, Organization, Server, merge, on_both_databases};
use serde_json::{Value, json};

const DESTINATIONS_MAX: usize = 20;

on_both_databases! {
    every_fault_of_a_destination_is_named,
    settings_and_credentials_are_those_of_the_kind,
    a_project_has_at_most_twenty_destinations,
    the_free_plan_has_no_destinations,
}

fn every_fault_of_a_destination_is_named(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let master = organization.master();
    post(&master, json!({})).expect_invalid(&["name", "kind", "settings"]);
    let faults = json!({
        "name": "", "kind": "kafka", "format": "xml", "include_raw": "yes", "paused": 1, "environment": "staging",
        "settings": [], "credentials": "token", "token": "x",
        "ocsf_classes": [{"action": "a.*", "class_uid": 6001, "activity_id": 1}, {"action": "a.*", "class_uid": 3005, "activity_id": 3}],
        "filter": {"actions": ["User"], "categories": [], "tenant_ids": [5], "tenant": "acme"},
    });
    let expected = [
        "name",
        "kind",
        "format",
        "include_raw",
        "paused",
        "environment",
        "ocsf_classes[0].class_uid",
        "ocsf_classes[1].activity_id",
        "settings",
        "credentials",
        "token",
        "filter.actions[0]",
        "filter.categories",
        "filter.tenant_ids[0]",
        "filter.tenant",
    ];
    post(&master, faults).expect_invalid(&expected);
    let destination = create(&organization, https(URL));
    let change = |body: Value| master.patch(&path_of(&destination)).json(body).send();
    change(json!({"kind": "s3", "name": 5})).expect_invalid(&["kind", "name"]);
    change(json!({"format": "cef"})).expect_invalid(&["format"]);
    let replay = |body: Value| {
        let request = master.post(&format!("{}/replay", path_of(&destination)));
        request.json(body).send()
    };
    replay(json!({"from_seq": 0, "from": "2026-01-01T00:00:00Z"})).expect_invalid(&["from"]);
    replay(json!({"from_seq": -1, "dry_run": "yes"})).expect_invalid(&["from_seq", "dry_run"]);
    replay(json!({"from_seq": 1_000_000})).expect_invalid(&["from_seq"]);
    let resend = |body: Value| {
        let request = master.post(&format!("{}/set-aside/resend", path_of(&destination)));
        request.json(body).send()
    };
    resend(json!({"positions": [0, null, "x"]})).expect_invalid(&[
        "positions[0]",
        "positions[1]",
        "positions[2]",
    ]);
    resend(json!({"positions": []})).expect_invalid(&["positions"]);
    resend(json!({"positions": vec![1; 11], "run": -1})).expect_invalid(&["positions", "run"]);
    resend(json!({"positions": [7]})).expect_invalid(&["positions[0]"]);
    let preview = master.get(&format!("{}/preview", path_of(&destination)));
    preview.query("format", "cef").send().expect_invalid(&["format"]);
}

fn settings_and_credentials_are_those_of_the_kind(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let of_kind = |kind: &str, settings: Value, credentials: Value| {
        let body = json!({
            "name": "x", "kind": kind, "paused": true, "settings": settings, "credentials": credentials,
        });
        post(&organization.master(), body)
    };
    of_kind("splunk_hec", json!({}), json!({})).expect_invalid(&["settings.url", "credentials.token"]);
    of_kind(
        "splunk_hec",
        json!({"url": "http://splunk.example.com"}),
        json!({"token": "t", "user": "u"}),
    )
    .expect_invalid(&["settings.url", "credentials.user"]);
    of_kind("https", json!({"url": URL, "token": "t"}), json!({})).expect_invalid(&["settings.token"]);
    of_kind(
        "s3",
        json!({"url": "https://s3.example.com/bucket", "region": "eu"}),
        json!({"access_key": "a"}),
    )
    .expect_invalid(&["credentials.secret_key"]);
    of_kind("syslog", json!({"host": "syslog.example.com"}), json!({})).expect_status(201);
    of_kind(
        "datadog",
        json!({"site": "datadoghq.eu"}),
        json!({"api_key": "k"}),
    )
    .expect_status(201);
    of_kind("otlp", json!({"url": "https://otlp.example.com"}), json!({})).expect_status(201);
    let cef = merge(https(URL), json!({"format": "cef"}));
    post(&organization.master(), cef).expect_invalid(&["format"]);
}

/// The address policy is that of webhooks.
#[test]
fn an_address_within_the_network_is_refused() {
    let server = Server::start(&Database::create(DatabaseKind::Sqlite), &[]);
    let organization = Organization::create(&server, "pro");
    for host in ["127.0.0.1", "[::1]", "10.0.0.1", "169.254.169.254"] {
        let refused = post(&organization.master(), https(&format!("https://{host}/ingest")));
        refused.expect_invalid(&["settings.url"]);
    }
    create(&organization, https(URL));
    server.stop().success();
}

fn a_project_has_at_most_twenty_destinations(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let mut last = json!(null);
    for number in 0..DESTINATIONS_MAX {
        let environment = if number % 2 == 0 { "live" } else { "test" };
        last = create(
            &organization,
            merge(https(URL), json!({"environment": environment})),
        );
    }
    let master = organization.master();
    post(&master, https(URL)).expect_error(403, "forbidden");
    master.delete(&path_of(&last)).send().expect_status(200);
    create(&organization, https(URL));
}

fn the_free_plan_has_no_destinations(database: DatabaseKind) {
    let server = Server::shared(database);
    let organization = Organization::create(server, "free");
    let master = organization.master();
    post(&master, https(URL)).expect_error(403, "forbidden");
    organization.set_plan(server, "pro");
    // Nothing is sent, because no event passes.
    let running = json!({"paused": false, "filter": {"tenant_ids": ["nobody"]}});
    let destination = create(&organization, merge(https(URL), running));
    assert_eq!(destination["state"], "active");
    organization.set_plan(server, "free");
    let shown = read(&organization, &destination);
    assert_eq!(
        (&shown["state"], &shown["paused"]),
        (&json!("paused"), &json!(false))
    );
    let path = path_of(&destination);
    for request in [
        master.post(&format!("{path}/test")),
        master.post(&format!("{path}/set-aside/resend")).json(json!({})),
    ] {
        request.send().expect_error(403, "forbidden");
    }
    // What is there can be looked at, paused and deleted.
    let change = master.patch(&path).json(json!({"paused": true})).send();
    change.expect_status(200);
    let listed = master
        .get("/destinations")
        .send()
        .expect_status(200)
        .list("destinations");
    assert_eq!(listed.len(), 1);
    master.delete(&path).send().expect_status(200);
}
