//! The service's own events: every change has exactly one, with the right actor, and no event has a secret.

mod atomicity;
mod forging;
mod notes;
mod projects;
mod routes;
mod sources;
mod switching;

use audit_tests::{
    Client, Clock, Database, DatabaseKind, Organization, Receiver, Reply, Server, door_opened, event,
    event_with, merge, on_both_databases, webhook_environment,
};
use serde_json::{Value, json};
use std::sync::OnceLock;

/// The tenant of the service's own events.
const TENANT: &str = "audit-server";
/// The address of the clients of these tests, as their proxy shows it.
const ADDRESS: &str = "203.0.113.7";

/// Settings with which a server audits itself.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("AUDIT_SELF_AUDIT", "on"),
    ("AUDIT_TRUSTED_PROXIES", "127.0.0.1"),
    ("AUDIT_DAILY_LIMIT_FREE", "2"),
    ("RUST_LOG", "warn"),
];

/// The server of all tests here that neither stop nor configure one.
fn server(kind: DatabaseKind) -> &'static Server {
    static SERVERS: [OnceLock<Server>; 2] = [OnceLock::new(), OnceLock::new()];
    let index = match kind {
        DatabaseKind::Sqlite => 0,
        DatabaseKind::Postgres => 1,
    };
    SERVERS[index].get_or_init(|| {
        let environment = [ENVIRONMENT, &webhook_environment()].concat();
        Server::start(&Database::create(kind), &environment)
    })
}

fn organization(kind: DatabaseKind) -> Organization {
    Organization::create(server(kind), "enterprise")
}

/// The service's own events that this client sees, oldest first.
fn own_events(client: &Client) -> Vec<Value> {
    let mut events = client
        .pages_of("/events", "events", &[("tenant_id", TENANT), ("limit", "200")])
        .concat();
    events.reverse();
    events
}

/// Those of one action.
fn own_events_of(client: &Client, action: &str) -> Vec<Value> {
    let mut events = own_events(client);
    events.retain(|event| event["action"] == action);
    events
}

fn id_of_key(client: &Client, path: &str, member: &str, key: &str) -> Value {
    let keys = client.get(path).send().expect_status(200).list(member);
    let found = keys.iter().find(|listed| listed["prefix"] == key[..12]);
    found.unwrap_or_else(|| panic!("{key} in {keys:?}")).clone()
}

/// The actor of what is done with the master key of an organization.
fn master_actor(organization: &Organization) -> Value {
    let key = id_of_key(
        &organization.master(),
        "/master-keys",
        "master_keys",
        &organization.master_key,
    );
    json!({"id": key["id"], "type": "api_key", "name": "master"})
}

/// The actor of what is done with its project key.
fn project_actor(organization: &Organization) -> Value {
    let key = id_of_key(
        &organization.project(),
        "/keys",
        "keys",
        &organization.project_key,
    );
    json!({"id": key["id"], "type": "api_key", "name": "default"})
}

on_both_databases! {
    what_changes_nothing_has_no_event,
    commands_of_the_operator_are_events,
    own_events_use_up_no_daily_limit,
    own_events_raise_alerts,
    a_viewer_of_the_tenant_of_own_events_sees_them_and_no_other_viewer_does,
    an_export_by_a_viewer_names_its_token,
    an_export_names_the_tenants_of_its_request,
    a_webhook_that_its_receiver_disables_is_an_event,
    redaction_rules_hide_names_in_own_events_and_nothing_else,
}

fn what_changes_nothing_has_no_event(database: DatabaseKind) {
    let organization = organization(database);
    let (master, project) = (organization.master(), organization.project());
    let rule = organization.create_rule(json!({"type": "pattern", "name": "x", "pattern": "x"}));
    let alert_rule = organization.create_alert_rule(audit_tests::alert_rule(json!({})));
    let webhook = organization.create_webhook("https://127.0.0.1:1/hook");
    let alert = organization.raise_alert();
    master.move_alert(&alert, "resolved");
    let key = organization.create_key("live");
    organization.revoke_key(&key);
    let key = id_of_key(&master, "/keys", "keys", &key);
    let path =
        |resource: &str, object: &Value| format!("{resource}/{}", object["id"].as_str().expect("an id"));
    let unknown = "00000000-0000-4000-8000-000000000000";
    let before = own_events(&master);
    assert_eq!(before.len(), 3 + 3 + 1 + 2, "{before:?}");

    // The same again.
    master.delete(&path("/keys", &key)).send().expect_status(200);
    master.move_alert(&alert, "resolved");
    let unchanged = json!({"name": "x", "enabled": true});
    master
        .put(&path("/redaction/rules", &rule))
        .json(unchanged)
        .send()
        .expect_status(200);
    master
        .put("/redaction/rules/builtin_email")
        .json(json!({"enabled": true}))
        .send()
        .expect_status(200);
    master
        .patch(&path("/alerts/rules", &alert_rule))
        .json(json!({"threshold": 1}))
        .send()
        .expect_status(200);
    master
        .patch("/alerts/rules/auth_brute_force")
        .json(json!({"enabled": true}))
        .send()
        .expect_status(200);
    master
        .patch(&path("/alerts/webhooks", &webhook))
        .json(json!({"enabled": true}))
        .send()
        .expect_status(200);
    master
        .patch("/viewer-tiers/full")
        .json(json!({}))
        .send()
        .expect_status(200);
    // A reading of a rule on trial.
    project
        .post("/redaction/test")
        .json(json!({"event": {"a": "b"}}))
        .send()
        .expect_status(200);
    // Refusals.
    for (request, status) in [
        (project.post("/projects").json(json!({"name": "x"})), 403),
        (master.post("/projects").json(json!({"name": ""})), 400),
        (
            master
                .post("/keys")
                .json(json!({"project_id": unknown, "type": "project", "name": "x"})),
            404,
        ),
        (master.delete(&format!("/keys/{unknown}")), 404),
        (
            master.post(&format!("{}/rotate?overlap=60", path("/keys", &key))),
            409,
        ),
        (master.delete(&format!("/master-keys/{unknown}")), 404),
        (master.delete("/redaction/rules/builtin_email"), 403),
        (master.delete(&format!("/redaction/rules/{unknown}")), 404),
        (master.delete("/alerts/rules/auth_brute_force"), 403),
        (master.delete(&format!("/alerts/rules/{unknown}")), 404),
        (master.post("/viewer-tiers").json(json!({"name": "full"})), 409),
        (master.delete("/viewer-tiers/unknown"), 404),
        (
            master
                .post("/alerts/webhooks")
                .json(json!({"url": "http://example.com"})),
            400,
        ),
        (
            master
                .patch(&path("/alerts", &alert))
                .json(json!({"status": "acknowledged"})),
            409,
        ),
        (
            master
                .post("/streams/claim")
                .json(json!({"claim_token": unknown})),
            404,
        ),
        (
            project
                .post("/viewer-tokens")
                .json(json!({"tenant_id": "acme", "tier": "unknown"})),
            400,
        ),
        (project.get("/events/export").query("limit", "1"), 400),
    ] {
        let response = request.send();
        assert_eq!(response.status(), status, "{:?}", response.body());
    }
    // The last master key cannot be revoked.
    let master_id = master_actor(&organization)["id"].clone();
    let path = format!("/master-keys/{}", master_id.as_str().expect("an id"));
    master.delete(&path).send().expect_error(403, "forbidden");
    assert_eq!(own_events(&master), before);
}

fn commands_of_the_operator_are_events(database: DatabaseKind) {
    let organization = organization(database);
    let (server, project_id) = (server(database), organization.project_id.as_str());
    let before = own_events(&organization.master());
    let created: Vec<&Value> = before.iter().map(|event| &event["action"]).collect();
    assert_eq!(
        created,
        [
            "audit.project.created",
            "audit.master_key.created",
            "audit.api_key.created"
        ]
    );
    let created = server
        .command_line(&["key", "create", "--project", project_id, "--name", "k", "--json"])
        .json();
    let key_id = created["id"].as_str().expect("an id");
    server.command_line(&["key", "rotate", key_id]).success();
    for _ in 0..2 {
        server.command_line(&["key", "revoke", key_id]).success();
    }
    let organization_id = organization.organization_id.as_str();
    let created = server
        .command_line(&[
            "master-key",
            "create",
            "--organization",
            organization_id,
            "--json",
        ])
        .json();
    let master_key_id = created["id"].as_str().expect("an id");
    server
        .command_line(&["master-key", "rotate", master_key_id])
        .success();
    server
        .command_line(&["master-key", "revoke", master_key_id])
        .success();
    for _ in 0..2 {
        organization.set_plan(server, "pro");
    }
    let events = own_events(&organization.master()).split_off(before.len());
    let of = |event: &Value| {
        assert_eq!(
            event["actor"],
            json!({"id": "operator", "type": "system", "name": "command line"})
        );
        assert!(event.get("context").is_none(), "{event}");
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        (text(&event["action"]), text(&event["target"]["id"]))
    };
    let found: Vec<_> = events.iter().map(of).collect();
    let expected = [
        ("audit.api_key.created", key_id),
        ("audit.api_key.rotated", key_id),
        ("audit.api_key.revoked", key_id),
        ("audit.master_key.created", master_key_id),
        ("audit.master_key.rotated", master_key_id),
        ("audit.master_key.revoked", master_key_id),
        ("audit.plan.updated", organization_id),
    ];
    assert_eq!(
        found,
        expected.map(|(action, id)| (action.to_owned(), id.to_owned()))
    );
    let plan = &events.last().expect("an event")["changes"][0];
    assert_eq!(
        *plan,
        json!({"field": "plan", "before": "enterprise", "after": "pro"})
    );
    // A new project begins with its own creation.
    let created = server
        .command_line(&[
            "project",
            "create",
            "--organization",
            organization_id,
            "--name",
            "p",
            "--json",
        ])
        .json();
    let other = organization
        .master()
        .with_header("x-project-id", created["project_id"].as_str().expect("an id"));
    let events = own_events(&other);
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!(events[0]["action"], "audit.project.created");
}

fn own_events_use_up_no_daily_limit(database: DatabaseKind) {
    let Some(clock) = Clock::at("2026-03-10T12:00:00Z") else {
        return;
    };
    let server = Server::start_at(&Database::create(database), ENVIRONMENT, &clock);
    let organization = Organization::create(&server, "free");
    for _ in 0..2 {
        organization.create_key("live");
        organization.project().store(event());
    }
    organization
        .project()
        .post("/events")
        .json(event())
        .send()
        .expect_error(429, "daily_event_limit_reached");
    organization.create_key("live");
    assert_eq!(
        own_events_of(&organization.master(), "audit.api_key.created").len(),
        1 + 3
    );
}

fn own_events_raise_alerts(database: DatabaseKind) {
    let organization = organization(database);
    for _ in 0..3 {
        organization.create_key("live");
    }
    let alert = organization.project().only_alert();
    assert_eq!(alert["rule_id"], "rapid_api_key_creation");
    assert_eq!(alert["group_key"], master_actor(&organization)["id"]);
}

fn a_viewer_of_the_tenant_of_own_events_sees_them_and_no_other_viewer_does(database: DatabaseKind) {
    let organization = organization(database);
    let of_tenant = organization.viewer(TENANT, "full");
    let of_customer = organization.viewer("acme", "full");
    let seen = own_events(&of_tenant);
    assert_eq!(seen.len(), 3 + 2, "{seen:?}");
    assert_eq!(of_customer.find_ids(&[]), Vec::<String>::new());
}

fn an_export_by_a_viewer_names_its_token(database: DatabaseKind) {
    let organization = organization(database);
    let viewer = organization.viewer("acme", "full").with_address(ADDRESS);
    let exported = viewer.get("/events/export").send_raw();
    assert_eq!(exported.status, 200);
    let tokens = own_events_of(&organization.master(), "audit.viewer_token.created");
    let exports = own_events_of(&organization.master(), "audit.events.exported");
    assert_eq!((tokens.len(), exports.len()), (1, 1));
    let export = &exports[0];
    assert_eq!(
        export["actor"],
        json!({"id": "acme", "type": "user", "name": "viewer token"})
    );
    assert_eq!(export["context"]["session_id"], tokens[0]["metadata"]["token_id"]);
    assert_eq!(export["context"]["ip_address"], ADDRESS);
}

fn an_export_names_the_tenants_of_its_request(database: DatabaseKind) {
    let organization = organization(database);
    let requests: [(&[(&str, &str)], Value); 5] = [
        (&[], json!({})),
        (&[("tenant_id", "b")], json!({"tenant_id": "b"})),
        (
            &[("tenant_id", "b"), ("tenant_id", "a")],
            json!({"tenant_ids": ["a", "b"]}),
        ),
        (&[("not_tenant_id", "a")], json!({"not_tenant_ids": ["a"]})),
        (
            &[("tenant_id", "b"), ("not_tenant_id", "a"), ("not_tenant_id", "c")],
            json!({"tenant_id": "b", "not_tenant_ids": ["a", "c"]}),
        ),
    ];
    for (parameters, tenants) in requests {
        let export = organization.project().get("/events/export").queries(parameters);
        assert_eq!(export.send_raw().status, 200, "{parameters:?}");
        let events = own_events_of(&organization.master(), "audit.events.exported");
        let last = events.last().expect("the event of the export");
        let expected = merge(json!({"environment": "live"}), tenants);
        assert_eq!(last["metadata"], expected, "{parameters:?}");
    }
}

fn a_webhook_that_its_receiver_disables_is_an_event(database: DatabaseKind) {
    let organization = organization(database);
    let receiver = Receiver::start();
    receiver.reply("/gone", [Reply::Status(410)]);
    organization.create_alert_rule(audit_tests::alert_rule(json!({})));
    let webhook = organization.create_webhook(&receiver.url("/gone"));
    organization.project().store(door_opened("actor-1"));
    organization.master().wait_for_status(&webhook, "failed");
    let events = own_events_of(&organization.master(), "audit.webhook.updated");
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!(events[0]["actor"], json!({"id": TENANT, "type": "system"}));
    assert_eq!(events[0]["target"]["id"], webhook["id"]);
    assert_eq!(
        events[0]["changes"],
        json!([{"field": "enabled", "before": true, "after": false}])
    );
}

fn redaction_rules_hide_names_in_own_events_and_nothing_else(database: DatabaseKind) {
    let organization = organization(database);
    let last = || own_events(&organization.master()).pop().expect("an event");
    let fields = [
        "target.name",
        "target.id",
        "actor.id",
        "context.ip_address",
        "changes",
        "metadata",
    ];
    organization.create_rule(json!({"type": "field_redact", "name": "a rule", "fields": fields}));
    let everything =
        organization.create_rule(json!({"type": "pattern", "name": "all of it", "pattern": "\\S+"}));
    let everything = everything["id"].as_str().expect("an id");
    let created = last();
    assert_eq!(created["action"], "audit.redaction_rule.created");
    assert_eq!(
        created["redacted"], false,
        "no rule that names fields is applied: {created}"
    );
    assert_eq!(
        created["target"]["name"], "all of it",
        "its own event is not hidden"
    );
    let master = organization.master();
    let disabled = master
        .put(&format!("/redaction/rules/{everything}"))
        .json(json!({"enabled": false}));
    disabled.send().expect_status(200);
    let updated = last();
    assert_eq!(updated["action"], "audit.redaction_rule.updated");
    assert_ne!(updated["target"]["name"], "all of it");
    assert_eq!(updated["target"]["id"], json!(everything));
    assert_eq!(updated["actor"]["id"], created["actor"]["id"]);
    assert_eq!(updated["context"]["ip_address"], created["context"]["ip_address"]);
    assert_eq!(
        updated["changes"],
        json!([{"field": "enabled", "before": true, "after": false}])
    );
    let found = organization
        .master()
        .find(&[("tenant_id", TENANT), ("action", "audit.*")]);
    assert_eq!(found.len(), 3 + 3, "{found:?}");
    organization
        .project()
        .store(event_with(json!({"tenant_id": "acme"})));
    assert_eq!(organization.master().find(&[("action", "audit.*")]).len(), 3 + 3);
}
