//! A database that has lost its latest changes of the configuration while nodes run on it, as by a failover to a replica that
//! lags, or by a restored backup.

use audit_tests::{Database, DatabaseKind, Organization, Server, event, event_with, on_both_databases};
use serde_json::json;

on_both_databases! {
    after_a_lost_change_a_node_stores_events_at_once_and_refuses_a_revoked_key,
    after_a_lost_change_a_new_rule_redacts_on_a_node_that_had_cached_the_lost_one,
    a_lost_key_is_refused,
}

/// Two nodes on one database, and an organization on each of them.
struct Nodes {
    database: Database,
    _servers: [Server; 2],
    one: Organization,
    two: Organization,
}

fn nodes(kind: DatabaseKind) -> Nodes {
    let database = Database::create(kind);
    let servers = [Server::start(&database, &[]), Server::start(&database, &[])];
    let one = Organization::create(&servers[0], "enterprise");
    let two = one.on(&servers[1]);
    Nodes {
        database,
        _servers: servers,
        one,
        two,
    }
}

/// Copies the configuration.
fn remember(database: &Database) {
    database.execute(
        "CREATE TABLE remembered_rules AS SELECT * FROM redaction_rules;
        CREATE TABLE remembered_keys AS SELECT id FROM api_keys;
        CREATE TABLE remembered_versions AS SELECT id, configuration_version AS version FROM ledgers",
    );
}

/// Replaces the configuration by the copy.
fn lose_changes(database: &Database) {
    database.execute(
        "DELETE FROM redaction_rules;
        INSERT INTO redaction_rules SELECT * FROM remembered_rules;
        DELETE FROM api_keys WHERE id NOT IN (SELECT id FROM remembered_keys);
        UPDATE ledgers SET configuration_version =
            (SELECT version FROM remembered_versions WHERE remembered_versions.id = ledgers.id)",
    );
}

fn rule(word: &str) -> serde_json::Value {
    json!({"type": "pattern", "name": word, "pattern": word})
}

fn named(name: &str) -> serde_json::Value {
    event_with(json!({"actor": {"name": name}}))
}

fn after_a_lost_change_a_node_stores_events_at_once_and_refuses_a_revoked_key(kind: DatabaseKind) {
    let Nodes {
        database, one, two, ..
    } = &nodes(kind);
    let key = one.create_key("live");
    let client = one.with_credential(&key);
    client.store(event());
    remember(database);
    one.create_rule(rule("zebra"));
    let id = client.store(named("zebra"));
    assert_eq!(client.event(&id)["actor"]["name"], "[REDACTED]");
    lose_changes(database);
    let id = client.store(named("zebra"));
    assert_eq!(client.event(&id)["actor"]["name"], "zebra", "the rule is lost");
    two.revoke_key(&key);
    let ingest = client.post("/events").json(event()).send();
    ingest.expect_error(401, "key_revoked");
    client.get("/events").send().expect_error(401, "key_revoked");
}

fn after_a_lost_change_a_new_rule_redacts_on_a_node_that_had_cached_the_lost_one(kind: DatabaseKind) {
    let Nodes {
        database, one, two, ..
    } = &nodes(kind);
    let client = one.project();
    client.store(event());
    remember(database);
    one.create_rule(rule("giraffe"));
    client.store(event());
    lose_changes(database);
    two.create_rule(rule("zebra"));
    let id = client.store(named("zebra"));
    assert_eq!(client.event(&id)["actor"]["name"], "[REDACTED]");
}

fn a_lost_key_is_refused(kind: DatabaseKind) {
    let Nodes { database, one, .. } = &nodes(kind);
    one.project().store(event());
    remember(database);
    let client = one.with_credential(&one.create_key("live"));
    client.store(event());
    lose_changes(database);
    let ingest = client.post("/events").json(event()).send();
    ingest.expect_error(401, "invalid_api_key");
    client.get("/events").send().expect_error(401, "invalid_api_key");
    one.project().store(event());
}
