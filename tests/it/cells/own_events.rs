//! The service's own events are in the log of the project that a change concerns, whatever cell has it.

use super::Cells;
use audit_tests::{Client, Organization, command_line_on};
use serde_json::json;

/// The actions of the service's own events that a client sees, oldest first.
fn actions(client: &Client) -> Vec<String> {
    let parameters = [("tenant_id", "audit-server"), ("limit", "200")];
    let events = client.pages(&parameters).concat();
    let actions = events.iter().filter_map(|event| event["action"].as_str());
    let mut actions: Vec<String> = actions.map(str::to_owned).collect();
    actions.reverse();
    actions
}

/// Creates a key and a rule, and removes both.
fn change(organization: &Organization) {
    let master = organization.master();
    organization.revoke_key(&organization.create_key("live"));
    let rule = json!({"type": "field_redact", "name": "mail", "fields": ["metadata.mail"]});
    let created = organization.create_rule(rule);
    let path = format!("/redaction/rules/{}", created["id"].as_str().expect("an id"));
    master.delete(&path).send().expect_status(200);
}

const CHANGES: [&str; 4] = [
    "audit.api_key.created",
    "audit.api_key.revoked",
    "audit.redaction_rule.created",
    "audit.redaction_rule.deleted",
];

#[test]
fn a_change_is_an_event_in_the_cell_of_its_project() {
    let Some(deployment) = Cells::create_with(&[("AUDIT_SELF_AUDIT", "on")]) else {
        return;
    };
    for cell in ["home", "near", "far"] {
        let organization = deployment.organization_in(cell);
        let before = actions(&organization.project());
        // Through the node that has not created the organization.
        change(&organization.on(&deployment.servers[1]));
        let after = actions(&organization.project());
        assert_eq!(after[before.len()..], CHANGES, "{cell}");
    }
    command_line_on(&deployment.database, &["log", "verify"]).success();
}
