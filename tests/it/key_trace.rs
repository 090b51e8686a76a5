//! `audit-server key trace`: which events a leaked key sent, and from where.

use audit_tests::{
    Database, DatabaseKind, Organization, Server, address, command_line_on, event, event_with,
    on_both_databases, run_documented,
};
use serde_json::{Value, json};

on_both_databases! {
    a_trace_has_every_event_of_the_key_and_no_other,
    addresses_are_stored_only_where_the_operator_wants_them,
    what_a_leaked_key_did_is_found_as_the_document_says,
}

const KEYS: (&str, &str) = ("/keys", "keys");
const MASTER_KEYS: (&str, &str) = ("/master-keys", "master_keys");
const PROXIES: (&str, &str) = ("AUDIT_TRUSTED_PROXIES", "127.0.0.1");

/// The id of the key with this text, in the list that this route has as a member.
fn id_of(organization: &Organization, (path, member): (&str, &str), key: &str) -> String {
    let keys = organization
        .master()
        .get(path)
        .send()
        .expect_status(200)
        .list(member);
    let found = keys.iter().find(|listed| listed["prefix"] == key[..12]);
    let found = found.unwrap_or_else(|| panic!("{key} in {keys:?}"));
    found["id"].as_str().expect("an id").to_owned()
}

/// The lines of a trace as JSON.
fn traced(database: &Database, id: &str, options: &[&str]) -> Vec<Value> {
    let arguments = [&["key", "trace", id, "--json"], options].concat();
    let output = command_line_on(database, &arguments).success();
    output
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line of JSON"))
        .collect()
}

fn ids(lines: &[Value]) -> Vec<&str> {
    lines
        .iter()
        .map(|line| line["id"].as_str().expect("an id"))
        .collect()
}

fn a_trace_has_every_event_of_the_key_and_no_other(kind: DatabaseKind) {
    let database = Database::create(kind);
    let server = Server::start(&database, &[PROXIES]);
    let organization = Organization::create(&server, "enterprise");
    let leaked = organization.create_key("live");
    let leaked_id = id_of(&organization, KEYS, &leaked);
    let (home, thief) = (address(), address());
    let from = |address: &str| {
        let client = organization.with_credential(&leaked);
        client.with_header("x-forwarded-for", address)
    };
    let first = from(&home).store(event_with(json!({"action": "user.created"})));
    organization.project().store(event());
    let batch = json!([event(), event(), {"action": "not valid"}]);
    let batch = from(&thief)
        .post("/events")
        .json(batch)
        .send()
        .expect_status(201)
        .ids();
    let repeated = event_with(json!({"idempotency_key": "once"}));
    let own = organization.project().store(repeated.clone());
    assert_eq!(from(&thief).store(repeated), own, "a repeat stores nothing");
    let with_master = organization
        .master()
        .post("/events")
        .json(event())
        .query("environment", "live");
    let with_master = with_master.send().expect_status(201).ids();

    let lines = traced(&database, &leaked_id, &[]);
    assert_eq!(ids(&lines), [&first, &batch[0], &batch[1]]);
    assert_eq!(lines[0]["client"], json!(home));
    assert_eq!(lines[0]["action"], "user.created");
    assert_eq!(lines[0]["project_id"], json!(organization.project_id));
    assert_eq!(lines[0]["environment"], "live");
    assert_eq!(lines[1]["client"], json!(thief));
    let master_id = id_of(&organization, MASTER_KEYS, &organization.master_key);
    assert_eq!(ids(&traced(&database, &master_id, &[])), with_master);

    // The times are inclusive bounds of the receipt.
    let received_at = lines[1]["received_at"].as_str().expect("a time");
    let later = traced(&database, &leaked_id, &["--from", received_at]);
    assert_eq!(ids(&later), batch);
    let earlier = traced(&database, &leaked_id, &["--to", "2020-01-01T00:00:00Z"]);
    assert_eq!(earlier, Vec::<Value>::new());

    // No reader of events sees who sent them.
    let read = organization
        .project()
        .get(&format!("/events/{first}"))
        .send()
        .expect_status(200);
    assert!(!read.body().to_string().contains(&leaked_id), "{}", read.body());
}

fn addresses_are_stored_only_where_the_operator_wants_them(kind: DatabaseKind) {
    let database = Database::create(kind);
    let off = ("AUDIT_SENDER_ADDRESSES", "off");
    let server = Server::start(&database, &[PROXIES, off]);
    let organization = Organization::create(&server, "enterprise");
    let thief = address();
    let client = organization.project().with_header("x-forwarded-for", &thief);
    let sent = client.store(event());
    let id = id_of(&organization, KEYS, &organization.project_key);
    let lines = traced(&database, &id, &[]);
    assert_eq!(ids(&lines), [&sent]);
    assert_eq!(lines[0]["client"], Value::Null);
    assert_eq!(database.count("ledger_senders WHERE address IS NOT NULL"), 0);
}

/// The steps of the document, from the leak to the list of what has to be looked at.
fn what_a_leaked_key_did_is_found_as_the_document_says(kind: DatabaseKind) {
    let database = Database::create(kind);
    let server = Server::start(&database, &[PROXIES]);
    let organization = Organization::create(&server, "enterprise");
    let leaked = organization.create_key("live");
    let id = id_of(&organization, KEYS, &leaked);
    let thief = address();
    let client = organization.with_credential(&leaked);
    let sent = client.with_header("x-forwarded-for", &thief).store(event());
    let variables = [("KEY_ID", id.as_str()), ("AUDIT_DATABASE_URL", database.url())];
    let printed = run_documented("docs/operations.md", "When a key leaked", 0, &variables, &[]);
    assert!(printed.contains(&sent) && printed.contains(&thief), "{printed}");
    client
        .post("/events")
        .json(event())
        .send()
        .expect_error(401, "key_revoked");
    assert!(printed.contains(&format!("{thief}: 1 events")), "{printed}");
}
