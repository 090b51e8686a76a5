//! No client can send an event that looks like one of the service's own.

use super::{TENANT, organization, own_events};
use audit_tests::{DatabaseKind, Stream, address, command_line_with, event_with, on_both_databases};
use serde_json::{Value, json};

on_both_databases! {
    the_combination_of_tenant_and_action_is_refused,
    either_alone_is_accepted,
    a_stream_cannot_bring_one_in,
    an_import_cannot_bring_one_in,
}

fn forged() -> Value {
    event_with(json!({"tenant_id": TENANT, "action": "audit.api_key.revoked"}))
}

fn the_combination_of_tenant_and_action_is_refused(database: DatabaseKind) {
    let organization = organization(database);
    let before = own_events(&organization.master());
    for client in [organization.project(), organization.master(), organization.test()] {
        client
            .post("/events")
            .json(forged())
            .send()
            .expect_invalid(&["action"]);
        let batch = json!([event_with(json!({})), forged()]);
        let response = client.post("/events").json(batch).send().expect_status(201);
        assert_eq!(response.ids().len(), 1);
        assert_eq!(response["errors"][0]["index"], 1);
    }
    let alike = json!({"tenant_id": "Audit Server", "action": "audit.api_key.revoked"});
    let alike = organization.project().post("/events").json(event_with(alike));
    alike.send().expect_invalid(&["action"]);
    // The test key that was created.
    assert_eq!(own_events(&organization.master()).len(), before.len() + 1);
}

fn either_alone_is_accepted(database: DatabaseKind) {
    let organization = organization(database);
    let project = organization.project();
    project.store(event_with(json!({"tenant_id": TENANT, "action": "user.created"})));
    for tenant in ["acme", "audit", "audit-servers"] {
        project.store(event_with(
            json!({"tenant_id": tenant, "action": "audit.api_key.revoked"}),
        ));
    }
}

fn a_stream_cannot_bring_one_in(database: DatabaseKind) {
    let organization = organization(database);
    let stream = Stream::of(&organization.anonymous().with_address(&address()));
    stream.send(forged()).expect_invalid(&["action"]);
}

fn an_import_cannot_bring_one_in(database: DatabaseKind) {
    let organization = organization(database);
    let server = super::server(database);
    let file = audit_tests::temporary_directory("import-").join("events.jsonl");
    std::fs::write(&file, forged().to_string()).expect("write a file");
    let arguments = [
        "import",
        file.to_str().expect("a path in UTF-8"),
        "--project",
        &organization.project_id,
        "--database-url",
        server.database_url(),
    ];
    let refusal = command_line_with(&arguments, &[]);
    let output = format!("{}\n{}", refusal.stdout, refusal.stderr);
    assert!(output.contains("the service's own events"), "{output}");
    assert_eq!(own_events(&organization.master()).len(), 3);
}
