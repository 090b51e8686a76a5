//! `GET /events/export`: all results of a query in one response of any length.

mod csv;
mod lines;
mod load;
mod xlsx;

use audit_tests::{Client, event_with};
use serde_json::{Value, json};

/// The text of a whole export.
fn export(client: &Client, parameters: &[(&str, &str)]) -> String {
    let response = client.get("/events/export").queries(parameters).send_raw();
    assert_eq!(response.status, 200, "{response:?}");
    String::from_utf8(response.bytes).expect("an export in UTF-8")
}

/// The events of an export in JSON lines.
fn exported(client: &Client, parameters: &[(&str, &str)]) -> Vec<Value> {
    let text = export(client, parameters);
    assert!(
        text.is_empty() || text.ends_with('\n'),
        "each line ends in a line break"
    );
    let event = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    text.lines().map(event).collect()
}

/// Events that differ in every property that a query can filter by. Each is stored separately, so that their order is
/// known.
fn store_variety(client: &Client) {
    for changes in [
        json!({"occurred_at": "2026-01-10T00:00:00Z"}),
        json!({"tenant_id": "tenant-2", "occurred_at": "2026-01-12T00:00:00Z"}),
        json!({"actor": {"id": "actor-2", "type": "service", "name": "Night Job"}}),
        json!({"action": "auth.failed", "category": "auth", "occurred_at": "2026-01-11T00:00:00Z"}),
        json!({
            "outcome": "failure", "actor": {"on_behalf_of": {"id": "actor-3", "type": "user"}},
            "targets": [{"id": "plan", "type": "document", "name": "Plan"}, {"id": "note", "type": "document"}],
        }),
        json!({"actor": {"id": "jane@example.com", "email": "jane@example.com"}}),
        json!({
            "category": "security", "idempotency_key": "once",
            "context": {"ip_address": "192.0.2.1", "user_agent": "curl", "location": "Paris", "session_id": "s"},
            "metadata": {"list": [1, "a, b"], "quote": "\"", "exact": 9007199254740993_u64},
            "changes": [{"field": "f", "before": null, "after": {"a": 1.5}}],
        }),
    ] {
        client.store(event_with(changes));
    }
}
