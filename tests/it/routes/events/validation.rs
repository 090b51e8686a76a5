use audit_tests::{Client, DatabaseKind, Organization, Response, event, event_with, on_both_databases};
use serde_json::{Value, json};

fn post(client: &Client, event: Value) -> Response {
    client.post("/events").json(event).send()
}

/// The change to a valid event, and the only field that the response may name.
fn single_faults() -> Vec<(Value, &'static str)> {
    let mut faults: Vec<(Value, &str)> = vec![
        (json!({"category": "other"}), "category"),
        (json!({"category": "Auth"}), "category"),
        (json!({"category": 5}), "category"),
        (json!({"actor": "me"}), "actor"),
        (json!({"actor": []}), "actor"),
        (json!({"actor": {"type": "robot"}}), "actor.type"),
        (json!({"actor": {"type": 1}}), "actor.type"),
        (json!({"actor": {"id": 5}}), "actor.id"),
        (json!({"actor": {"name": {}}}), "actor.name"),
        (json!({"actor": {"email": ["a@example.com"]}}), "actor.email"),
        (json!({"tenant_id": 7}), "tenant_id"),
        (json!({"target": "doc"}), "target"),
        (json!({"target": {"type": "doc"}}), "target.id"),
        (json!({"target": {"id": "doc-1"}}), "target.type"),
        (
            json!({"target": {"id": "doc-1", "type": "doc", "name": 1}}),
            "target.name",
        ),
        (json!({"targets": {}}), "targets"),
        (json!({"targets": [{"id": "doc-1"}]}), "targets[0].type"),
        (json!({"outcome": "ok"}), "outcome"),
        (
            json!({"actor": {"on_behalf_of": "actor-2"}}),
            "actor.on_behalf_of",
        ),
        (
            json!({"actor": {"on_behalf_of": {"id": "actor-2", "type": "person"}}}),
            "actor.on_behalf_of.type",
        ),
        (json!({"context": []}), "context"),
        (json!({"context": {"ip_address": 5}}), "context.ip_address"),
        (json!({"context": {"user_agent": true}}), "context.user_agent"),
        (json!({"context": {"location": {}}}), "context.location"),
        (json!({"context": {"session_id": 1.5}}), "context.session_id"),
        (json!({"metadata": ["x"]}), "metadata"),
        (json!({"metadata": "x"}), "metadata"),
        (json!({"changes": {}}), "changes"),
        (json!({"idempotency_key": 5}), "idempotency_key"),
        (json!({"occurred_at": 1_700_000_000}), "occurred_at"),
    ];
    let actions = [
        "user",
        "user.",
        ".created",
        "user..created",
        "User.created",
        "user.Created",
        "1user.x",
        "user.1x",
        "_u.x",
    ];
    faults.extend(actions.map(|action| (json!({"action": action}), "action")));
    let actions = [
        "user.created ",
        "user.created\n",
        "user-x.created",
        "üser.created",
        "",
        "user.*",
    ];
    faults.extend(actions.map(|action| (json!({"action": action}), "action")));
    faults
}

on_both_databases! {
    a_missing_field_is_required,
    each_fault_is_named_by_its_field_and_stores_nothing,
    every_failing_field_is_listed,
    unknown_fields_are_refused_at_every_documented_level,
    a_change_without_a_field_name_is_refused,
    the_documented_forms_are_accepted,
    a_query_names_every_wrong_parameter,
}

fn a_missing_field_is_required(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let response = post(&project, json!({})).expect_invalid(&["action", "category", "actor", "tenant_id"]);
    for field in ["action", "category", "actor", "tenant_id"] {
        assert_eq!(response.message_on(field), "Required");
    }
    let response = post(&project, event_with(json!({"actor": {"id": null, "type": null}})));
    let response = response.expect_invalid(&["actor.id", "actor.type"]);
    assert_eq!(response.message_on("actor.id"), "Required");
    assert_eq!(response.message_on("actor.type"), "Required");
    let response =
        post(&project, event_with(json!({"target": {}}))).expect_invalid(&["target.id", "target.type"]);
    assert_eq!(response.message_on("target.id"), "Required");
}

fn each_fault_is_named_by_its_field_and_stores_nothing(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    for (change, field) in single_faults() {
        let response = post(&project, event_with(change.clone()));
        assert_eq!(
            response.fields().into_iter().collect::<Vec<_>>(),
            [field],
            "{change}: {response:?}"
        );
        response.expect_error(400, "validation_error");
    }
    assert_eq!(project.count(), 0);
}

fn every_failing_field_is_listed(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let faulty = json!({
        "action": "Nonsense",
        "category": "other",
        "actor": {"type": "robot", "name": 5},
        "target": {"id": 1},
        "context": {"ip_address": 5, "colour": "red"},
        "colour": "red",
        "occurred_at": "yesterday",
    });
    post(&project, faulty).expect_invalid(&[
        "action",
        "category",
        "actor.id",
        "actor.type",
        "actor.name",
        "tenant_id",
        "target.id",
        "target.type",
        "context.ip_address",
        "context.colour",
        "colour",
        "occurred_at",
    ]);
}

fn unknown_fields_are_refused_at_every_documented_level(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let cases = [
        (json!({"colour": "red"}), "colour"),
        (json!({"id": "evt_00000000000000000000000000"}), "id"),
        (json!({"actor": {"colour": "red"}}), "actor.colour"),
        (
            json!({"target": {"id": "1", "type": "doc", "colour": "red"}}),
            "target.colour",
        ),
        (json!({"context": {"colour": "red"}}), "context.colour"),
    ];
    for (change, field) in cases {
        let response = post(&project, event_with(change)).expect_invalid(&[field]);
        assert_eq!(response.message_on(field), "Unrecognized field");
    }
    let changes = json!({"changes": [{"field": "plan", "before": 1, "after": 2, "colour": "red"}]});
    let response = post(&project, event_with(changes)).expect_error(400, "validation_error");
    let field = response
        .fields()
        .into_iter()
        .next()
        .expect("the field is named")
        .to_owned();
    assert!(
        field.starts_with("changes") && field.ends_with("colour"),
        "{field}"
    );
    assert_eq!(response.message_on(&field), "Unrecognized field");
    assert_eq!(project.count(), 0);
}

fn a_change_without_a_field_name_is_refused(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    for change in [
        json!({"before": 1, "after": 2}),
        json!({"field": 5}),
        json!("plan"),
    ] {
        let response =
            post(&project, event_with(json!({"changes": [change]}))).expect_error(400, "validation_error");
        assert!(
            response.fields().iter().all(|field| field.starts_with("changes")),
            "{response:?}"
        );
    }
}

fn the_documented_forms_are_accepted(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    for action in ["a.b", "a1_.b_2.c3", "user.role.updated", "x_.y_"] {
        project.store(event_with(json!({"action": action})));
    }
    for category in ["auth", "access", "mutation", "admin", "security", "system"] {
        project.store(event_with(json!({"category": category})));
    }
    for kind in ["user", "api_key", "service", "system"] {
        project.store(event_with(json!({"actor": {"type": kind}})));
    }
    for empty in [
        json!({"context": {}}),
        json!({"metadata": {}}),
        json!({"changes": []}),
    ] {
        project.store(event_with(empty));
    }
    assert_eq!(project.count(), 4 + 6 + 4 + 3);
}

fn a_query_names_every_wrong_parameter(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    project.store(event());
    let cases = [
        ("actor_type", "robot"),
        ("category", "other"),
        ("start_date", "yesterday"),
        ("end_date", "2026-13-01T00:00:00Z"),
        ("limit", "0"),
        ("limit", "201"),
        ("limit", "-1"),
        ("limit", "1.5"),
        ("limit", "ten"),
        ("limit", "99999999999999999999"),
        ("cursor", "nonsense"),
        ("colour", "red"),
        ("offset", "10"),
    ];
    for (name, value) in cases {
        project
            .get("/events")
            .query(name, value)
            .send()
            .expect_invalid(&[name]);
    }
    let all = [("category", "other"), ("limit", "0"), ("colour", "red")];
    project
        .get("/events")
        .queries(&all)
        .send()
        .expect_invalid(&["category", "limit", "colour"]);
}
