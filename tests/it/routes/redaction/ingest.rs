//! The effect of rules on events at ingest.

use audit_tests::{Database, DatabaseKind, Organization, Server, event_with, on_both_databases};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

fn sha256(text: &str) -> String {
    format!("sha256:{}", base16ct::lower::encode_string(&Sha256::digest(text)))
}

/// Stores an event with these changes and reads it back.
fn stored(organization: &Organization, change: Value) -> Value {
    let project = organization.project();
    project.event(&project.store(event_with(change)))
}

on_both_databases! {
    each_built_in_kind_is_replaced_inside_its_text,
    clean_events_are_left_alone,
    every_free_text_is_scanned_at_any_depth,
    numbers_and_keys_of_free_form_objects_are_scanned,
    structure_is_never_touched,
    identifiers_become_hashes_and_are_found_by_what_they_were,
    a_redacted_event_sent_again_is_left_unchanged,
    test_keys_are_redacted_alike,
}

fn each_built_in_kind_is_replaced_inside_its_text(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let jwt = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U";
    let cases = [
        (
            "paid with 4111-1111-1111-1111 today",
            "paid with [REDACTED] today",
        ),
        ("the number 123-45-6789 here", "the number [REDACTED] here"),
        ("ask jane@example.com, please", "ask [REDACTED], please"),
        ("call (212) 555-0187 now", "call [REDACTED] now"),
        (&format!("token {jwt} sent"), "token [REDACTED] sent"),
        ("key AKIAIOSFODNN7EXAMPLE used", "key [REDACTED] used"),
    ];
    for (text, redacted) in cases {
        let event = stored(&organization, json!({"metadata": {"note": text}}));
        assert_eq!(event["metadata"]["note"], redacted);
        assert_eq!(event["redacted"], true);
    }
    let event = stored(
        &organization,
        json!({"metadata": {"note": "Authorization: Bearer 8f3kQ2mZx9Lw4TbR7nYc1VhJ"}}),
    );
    let note = event["metadata"]["note"].as_str().expect("a string");
    assert!(
        note.contains("[REDACTED]") && !note.contains("8f3kQ2mZx9Lw4TbR7nYc1VhJ"),
        "{note}"
    );
}

fn clean_events_are_left_alone(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let clean = json!({"metadata": {
        "id": "67e55044-10b1-426f-9247-bb680e5fe0c8", "at": "2026-01-15T10:30:00Z", "version": "react@18.2.0",
        "address": "203.0.113.9", "number": 42, "card": "4111-1111-1111-1112",
    }});
    let event = stored(&organization, clean.clone());
    assert_eq!(event["metadata"], clean["metadata"]);
    assert_eq!(event["redacted"], false);
}

fn every_free_text_is_scanned_at_any_depth(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let mail = "jane@example.com";
    let project = organization.project();
    let response = project
        .post("/events")
        .json(event_with(json!({
            "actor": {"name": mail, "email": mail},
            "target": {"id": "1", "type": "user", "name": mail},
            "context": {"user_agent": mail, "location": mail, "ip_address": mail},
            "metadata": {"deep": [{"er": [mail]}], "two": format!("{mail} {mail}")},
            "changes": [{"field": "email", "before": mail, "after": {"to": mail}}],
        })))
        .send()
        .expect_status(201);
    assert_eq!(response["redacted_count"], 10, "fields are counted, not matches");
    let event = project.event(&response.ids()[0]);
    assert!(!event.to_string().contains(mail), "{event}");
    assert_eq!(event["metadata"]["two"], "[REDACTED] [REDACTED]");
    assert_eq!(event["changes"][0]["after"]["to"], "[REDACTED]");
}

fn numbers_and_keys_of_free_form_objects_are_scanned(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let event = stored(
        &organization,
        json!({
            "metadata": {"jane@example.com": 1, "card": 4_111_111_111_111_111_u64, "count": 123_456_789},
        }),
    );
    assert_eq!(
        event["metadata"],
        json!({"[REDACTED]": 1, "card": "[REDACTED]", "count": 123_456_789})
    );
}

fn structure_is_never_touched(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let change = json!({
        "tenant_id": "jane@example.com", "idempotency_key": "4111111111111111", "action": "user.created",
        "target": {"id": "1", "type": "jane@example.com"},
    });
    let event = stored(&organization, change.clone());
    assert_eq!(event["tenant_id"], change["tenant_id"]);
    assert_eq!(event["idempotency_key"], change["idempotency_key"]);
    assert_eq!(event["target"], change["target"]);
    assert_eq!(event["redacted"], false);
    assert_eq!(
        organization
            .project()
            .find(&[("tenant_id", "jane@example.com")])
            .len(),
        1
    );
}

fn identifiers_become_hashes_and_are_found_by_what_they_were(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let change = |mail: &str| {
        json!({
            "actor": {"id": mail}, "target": {"id": mail, "type": "user"}, "context": {"session_id": mail},
        })
    };
    let event = stored(&organization, change("jane@example.com"));
    let hash = sha256("jane@example.com");
    assert_eq!(event["actor"]["id"], json!(hash));
    assert_eq!(event["target"]["id"], json!(hash));
    assert_eq!(event["context"]["session_id"], json!(hash));
    stored(&organization, change("john@example.com"));
    let project = organization.project();
    let id = event["id"].as_str().expect("an id");
    for filter in [
        ("actor_id", "jane@example.com"),
        ("target_id", "jane@example.com"),
        ("actor_id", &hash),
        ("target_id", &hash),
    ] {
        assert_eq!(project.find_ids(&[filter]), [id], "{filter:?}");
    }
    // A match in part of an identifier replaces the whole by its hash; otherwise it could no longer be distinguished
    // from others.
    let event = stored(&organization, json!({"actor": {"id": "crm:jane@example.com"}}));
    assert_eq!(event["actor"]["id"], json!(sha256("crm:jane@example.com")));
    assert_eq!(project.find(&[("actor_id", "crm:jane@example.com")]).len(), 1);
}

fn a_redacted_event_sent_again_is_left_unchanged(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let event = stored(
        &organization,
        json!({
            "actor": {"email": "jane@example.com", "id": "jane@example.com"},
            "metadata": {"card": "4111 1111 1111 1111", "jane@example.com": "Bearer 8f3kQ2mZx9Lw4TbR7nYc1VhJ"},
        }),
    );
    let again = json!({"actor": event["actor"], "metadata": event["metadata"]});
    let response = organization
        .project()
        .post("/events")
        .json(event_with(again))
        .send()
        .expect_status(201);
    assert_eq!(response["redacted_count"], 0);
    let second = organization.project().event(&response.ids()[0]);
    assert_eq!(
        (&second["actor"], &second["metadata"]),
        (&event["actor"], &event["metadata"])
    );
}

fn test_keys_are_redacted_alike(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let test = organization.test();
    let id = test.store(event_with(json!({"actor": {"email": "jane@example.com"}})));
    assert_eq!(test.event(&id)["actor"]["email"], "[REDACTED]");
}

/// Whether `bytes` hold `text`.
fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn nothing_sensitive_reaches_the_database_files() {
    let database = Database::create(DatabaseKind::Sqlite);
    let server = Server::start(&database, &[]);
    let organization = Organization::create(&server, "enterprise");
    let (card, spaced, mail) = (
        "4532015112830366",
        "4532 0151 1283 0366",
        "grete.sample@example.org",
    );
    let sensitive = json!({
        "actor": {"id": mail, "email": mail, "name": format!("Grete {card}")},
        "metadata": {"card": spaced, mail: card, "marker": "control-value-kept"},
        "idempotency_key": "once",
    });
    organization.project().store(event_with(sensitive.clone()));
    organization.project().store(event_with(sensitive.clone()));
    organization
        .project()
        .find(&[("actor_id", mail), ("search", "grete.sample@example.org")]);
    let test = json!({"event": event_with(sensitive.clone())});
    organization
        .project()
        .post("/redaction/test")
        .json(test)
        .send()
        .expect_status(200);
    let refused = audit_tests::merge(event_with(sensitive), json!({"category": mail}));
    organization
        .project()
        .post("/events")
        .json(refused)
        .send()
        .expect_status(400);
    let check = || {
        let files = database.files();
        assert!(
            files.iter().any(|(_, bytes)| holds(bytes, "control-value-kept")),
            "the search finds a value that is stored"
        );
        for (path, bytes) in files {
            for text in [card, spaced, mail, "Grete.Sample@example.org", "grete.sample"] {
                assert!(!holds(&bytes, text), "{text} in {}", path.display());
            }
        }
    };
    check();
    server.stop().success();
    check();
}
