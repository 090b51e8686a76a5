//! The operator can switch the service's own events off and on, and that is an event.

use super::own_events;
use audit_tests::{
    Client, Database, DatabaseKind, Deadline, Organization, Server, command_line_with, on_both_databases,
};
use serde_json::Value;

const ON: &[(&str, &str)] = &[("AUDIT_SELF_AUDIT", "on")];
const OFF: &[(&str, &str)] = &[("AUDIT_SELF_AUDIT", "off")];

on_both_databases! {
    each_switch_is_one_event_in_every_project,
    a_new_database_without_own_events_has_none,
    a_command_records_what_the_server_would,
}

fn actions(client: &Client) -> Vec<String> {
    let action = |event: &Value| event["action"].as_str().expect("an action").to_owned();
    own_events(client).iter().map(action).collect()
}

/// Waits until the last event of a project is of this action: a thread of the server stores it.
fn wait_for_last(client: &Client, action: &str) {
    Deadline::seconds(60).poll(action, || (actions(client).last()? == action).then_some(()));
}

fn each_switch_is_one_event_in_every_project(database: DatabaseKind) {
    let database = Database::create(database);
    let server = Server::start(&database, ON);
    let mut organization = Organization::create_with(&server, "enterprise", ON);
    let second = organization.create_project("second");
    let mut expected = actions(
        &organization
            .master()
            .with_header("x-project-id", &organization.project_id),
    );
    let mut expected_of_second = vec!["audit.project.created".to_owned()];
    let mut server = Some(server);
    for (environment, action) in [
        (OFF, "audit.self_audit.disabled"),
        // No switch.
        (OFF, ""),
        (ON, "audit.self_audit.enabled"),
        (OFF, "audit.self_audit.disabled"),
    ] {
        server.take().expect("a server").stop().success();
        let next = Server::start(&database, environment);
        organization = organization.on(&next);
        server = Some(next);
        let (first, other) = (
            organization
                .master()
                .with_header("x-project-id", &organization.project_id),
            organization.master().with_header("x-project-id", &second),
        );
        if !action.is_empty() {
            expected.push(action.to_owned());
            expected_of_second.push(action.to_owned());
            wait_for_last(&first, action);
            wait_for_last(&other, action);
        }
        organization.create_key("live");
        if environment == ON {
            expected.push("audit.api_key.created".to_owned());
        }
        assert_eq!(actions(&first), expected);
        assert_eq!(actions(&other), expected_of_second);
    }
    let last = own_events(&organization.master().with_header("x-project-id", &second)).pop();
    assert_eq!(last.expect("an event")["actor"]["id"], "operator");
}

fn a_new_database_without_own_events_has_none(database: DatabaseKind) {
    let database = Database::create(database);
    let server = Server::start(&database, OFF);
    let organization = Organization::create(&server, "enterprise");
    organization.create_key("live");
    server.stop().success();
    let server = Server::start(&database, OFF);
    let organization = organization.on(&server);
    assert_eq!(organization.project().count(), 0);
    // A value that is neither.
    let arguments = ["org", "create", "--name", "x", "--self-audit", "maybe"];
    let refusal = command_line_with(&arguments, &[]).refusal();
    assert!(refusal.contains("must be on or off"), "{refusal}");
}

/// The environment of a command does not decide for a database that a server uses.
fn a_command_records_what_the_server_would(database: DatabaseKind) {
    let database = Database::create(database);
    let server = Server::start(&database, ON);
    let organization = Organization::create_with(&server, "enterprise", OFF);
    let create = [
        "key",
        "create",
        "--project",
        &organization.project_id,
        "--name",
        "k",
        "--database-url",
        database.url(),
    ];
    command_line_with(&create, OFF).success();
    assert_eq!(actions(&organization.project()).len(), 3 + 1);
}
