//! `/holds`: legal holds, placed, listed and released.

use audit_tests::{DatabaseKind, Organization, Response, on_both_databases};
use serde_json::{Value, json};

on_both_databases! {
    a_hold_is_placed_listed_and_released,
    a_hold_is_found_in_stored_forms,
    a_hold_that_asks_for_a_second_key_needs_one,
    a_hold_that_cannot_be_is_refused,
    each_environment_has_holds_of_its_own,
    holds_in_force_are_limited,
}

/// The maximum number of holds in force of a log.
const HOLDS_MAX: usize = 100;

fn place(organization: &Organization, hold: Value) -> Response {
    organization.master().post("/holds").json(hold).send()
}

fn placed(organization: &Organization, hold: Value) -> Value {
    place(organization, hold).expect_status(201)["hold"].clone()
}

fn release(client: &audit_tests::Client, hold: &Value, reason: &str) -> Response {
    let path = format!("/holds/{}/release", hold["id"].as_str().expect("an id"));
    client.post(&path).json(json!({"reason": reason})).send()
}

fn listed(organization: &Organization, parameters: &[(&str, &str)]) -> Vec<Value> {
    let request = organization.master().get("/holds").queries(parameters);
    request.send().expect_status(200).list("holds")
}

fn a_hold_is_placed_listed_and_released(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let all = placed(&organization, json!({"reason": "everything"}));
    let new = json!({
        "reason": "Case 7", "tenant_id": "acme", "from": "2026-01-01T00:00:00Z", "to": "2026-02-01T00:00:00Z",
    });
    let hold = placed(&organization, new);
    let expected = json!({
        "reason": "Case 7", "tenant_id": ["acme"], "actor_id": [], "target_id": [], "from": "2026-01-01T00:00:00.000Z",
        "to": "2026-02-01T00:00:00.000Z", "second_key": false, "released_at": null, "released_by": null, "release_reason": null,
    });
    for (name, value) in expected.as_object().expect("an object") {
        assert_eq!(hold.get(name), Some(value), "{name}");
    }
    assert_eq!(listed(&organization, &[]), [all.clone(), hold.clone()]);
    let released = release(&organization.master(), &hold, "closed").expect_status(200);
    let released = released["hold"].clone();
    assert_eq!(released["release_reason"], "closed");
    assert_eq!(released["released_by"], hold["placed_by"]);
    assert!(released["released_at"].is_string(), "{released}");
    assert_eq!(listed(&organization, &[]), std::slice::from_ref(&all));
    assert_eq!(listed(&organization, &[("released", "true")]), [all, released]);
    release(&organization.master(), &hold, "again").expect_error(409, "conflict");
    let parameters = [
        ("tenant_id", "audit-server"),
        ("action", "audit.hold.*"),
        ("order", "asc"),
    ];
    let events = organization.master().find(&parameters);
    let [_, placing, releasing] = events.as_slice() else {
        panic!("{events:?}");
    };
    assert_eq!(placing["metadata"]["hold"], hold["id"]);
    assert_eq!(placing["metadata"]["reason"], "Case 7");
    let tenant = json!({"field": "tenant_id", "after": ["acme"]});
    let changes = placing["changes"].as_array().expect("changes");
    assert!(changes.contains(&tenant), "{changes:?}");
    assert_eq!(releasing["metadata"]["hold"], hold["id"]);
    assert_eq!(releasing["metadata"]["placed"], hold["seq"]);
    assert_eq!(releasing["metadata"]["previous"], hold["seq"]);
    assert_eq!(releasing["metadata"]["reason"], "closed");
}

fn a_hold_is_found_in_stored_forms(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let email = "jane@example.com";
    let hold = placed(
        &organization,
        json!({"reason": "a case", "actor_id": email, "target_id": email}),
    );
    for name in ["actor_id", "target_id"] {
        let forms = hold[name].as_array().expect("forms");
        assert!(forms.len() > 1 && forms[0] == email, "{name}: {forms:?}");
    }
    // Of such an event, redaction stores one of these forms.
    let event = audit_tests::event_with(json!({"actor": {"id": email, "type": "user"}}));
    let id = organization.project().store(event);
    let stored = organization.project().event(&id)["actor"]["id"].clone();
    let forms = hold["actor_id"].as_array().expect("forms");
    assert!(forms.contains(&stored), "{stored} in {forms:?}");
}

fn a_hold_that_asks_for_a_second_key_needs_one(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let master_key = |name: &str| {
        let request = organization
            .master()
            .post("/master-keys")
            .json(json!({"name": name}));
        let key = request.send().expect_status(201).text("key");
        let client = organization.with_credential(&key);
        client.with_header("x-project-id", &organization.project_id)
    };
    let second = master_key("second");
    let hold = placed(&organization, json!({"reason": "a case", "second_key": true}));
    assert_eq!(hold["second_key"], true);
    let refused = release(&organization.master(), &hold, "closed").expect_error(403, "forbidden");
    assert_eq!(
        refused.body()["error"]["message"],
        "the hold asks for another key than the one that placed it"
    );
    // With one key another one can be created.
    let refused = release(&master_key("third"), &hold, "closed").expect_error(403, "forbidden");
    assert_eq!(
        refused.body()["error"]["message"],
        "the hold asks for a key that is older than the hold, or a day old"
    );
    let released = release(&second, &hold, "closed").expect_status(200);
    assert_ne!(released["hold"]["released_by"], hold["placed_by"]);
}

fn a_hold_that_cannot_be_is_refused(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    for (hold, field) in [
        (json!({}), "reason"),
        (json!({"reason": ""}), "reason"),
        (json!({"reason": "x".repeat(501)}), "reason"),
        (json!({"reason": "x", "tenant_id": ""}), "tenant_id"),
        (json!({"reason": "x", "actor_id": "a".repeat(257)}), "actor_id"),
        (json!({"reason": "x", "from": "yesterday"}), "from"),
        (json!({"reason": "x", "second_key": "yes"}), "second_key"),
        (json!({"reason": "x", "action": "user.*"}), "action"),
        (
            json!({"reason": "x", "from": "2026-01-01T00:00:00Z", "to": "2026-01-01T00:00:00Z"}),
            "to",
        ),
    ] {
        place(&organization, hold).expect_invalid(&[field]);
    }
    placed(&organization, json!({"reason": "x".repeat(500)}));
    let unknown = json!({"id": "hld_01KF15PHN8E1V6GK2Q6JQ5N9Y1"});
    release(&organization.master(), &unknown, "x").expect_error(404, "not_found");
    release(&organization.master(), &json!({"id": "nonsense"}), "x").expect_error(404, "not_found");
}

fn each_environment_has_holds_of_its_own(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let request = organization.master().post("/holds").query("environment", "test");
    let hold = request
        .json(json!({"reason": "a case"}))
        .send()
        .expect_status(201);
    assert!(listed(&organization, &[]).is_empty());
    assert_eq!(
        listed(&organization, &[("environment", "test")]),
        [hold["hold"].clone()]
    );
    release(&organization.master(), &hold["hold"], "x").expect_error(404, "not_found");
}

fn holds_in_force_are_limited(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let mut last = Value::Null;
    for number in 0..HOLDS_MAX {
        last = placed(&organization, json!({"reason": format!("case {number}")}));
    }
    let one_more = || place(&organization, json!({"reason": "one more"}));
    let refused = one_more().expect_error(403, "forbidden");
    assert_eq!(
        refused.body()["error"]["message"],
        "a log has at most 100 holds in force"
    );
    release(&organization.master(), &last, "closed").expect_status(200);
    one_more().expect_status(201);
}
