//! How many rows of counts a request writes: a bound by its events, whatever the number of rules.

use audit_tests::{Database, DatabaseKind, Organization, Server, alert_rule, event_with, on_both_databases};
use serde_json::{Value, json};

const RULES: usize = 100;
const GROUPINGS: [&str; 5] = ["actor_id", "tenant_id", "ip_address", "session_id", "target_id"];

on_both_databases! {
    a_request_writes_at_most_five_rows_of_counts_for_each_event_however_it_is_sent,
}

/// An event of groups that no other event is in.
fn alone(number: usize) -> Value {
    event_with(json!({
        "action": "door.opened", "tenant_id": format!("tenant-{number}"), "actor": {"id": format!("actor-{number}")},
        "target": {"id": format!("target-{number}"), "type": "door"},
        "context": {
            "ip_address": format!("10.{}.{}.{}", number >> 16, (number >> 8) & 255, number & 255),
            "session_id": format!("session-{number}"),
        },
    }))
}

/// Every second rule counts distinct values.
fn create_rules(organization: &Organization) {
    for number in 0..RULES {
        let group_by = GROUPINGS[number % GROUPINGS.len()];
        let distinct = match group_by {
            "actor_id" => "session_id",
            _ => "actor_id",
        };
        let distinct = (number % 2 == 0).then_some(distinct);
        let rule = json!({"threshold": 500, "group_by": group_by, "count_distinct": distinct});
        organization.create_alert_rule(alert_rule(rule));
    }
}

fn a_request_writes_at_most_five_rows_of_counts_for_each_event_however_it_is_sent(kind: DatabaseKind) {
    let database = Database::create(kind);
    let server = Server::start(&database, &[]);
    let organization = Organization::create(&server, "enterprise");
    create_rules(&organization);
    let project = organization.project();
    let send = |content_type: &str, body: String, events: usize| {
        let before = database.count("alert_groups");
        let request = project
            .post("/events")
            .header("content-type", content_type)
            .raw(body);
        assert_eq!(request.send().expect_status(201).ids().len(), events);
        let rows = usize::try_from(database.count("alert_groups") - before).expect("no row went away");
        assert_eq!(
            rows,
            GROUPINGS.len() * events,
            "{events} events as {content_type}"
        );
    };
    send("application/json", alone(0).to_string(), 1);
    send(
        "application/json",
        Value::from((1..101).map(alone).collect::<Vec<_>>()).to_string(),
        100,
    );
    let lines: Vec<String> = (101..1_101).map(|number| alone(number).to_string()).collect();
    send("application/x-ndjson", lines.join("\n"), 1_000);
    // The same groups again, in any number of events, have the rows that they have.
    let before = database.count("alert_groups");
    project.store_all(vec![alone(7); 100]);
    assert_eq!(database.count("alert_groups"), before);
    assert_eq!(project.all_alerts().len(), 0);
}
