use audit_tests::{Client, DatabaseKind, Organization, Response, event, event_with, on_both_databases};
use serde_json::{Value, json};

fn named(name: &str) -> Value {
    event_with(json!({"actor": {"name": name}}))
}

fn invalid() -> Value {
    event_with(json!({"actor": {"type": "robot"}}))
}

fn post(client: &Client, events: Vec<Value>) -> Response {
    client.post("/events").json(Value::Array(events)).send()
}

on_both_databases! {
    ids_stand_in_input_order,
    the_valid_events_of_a_batch_are_stored_and_the_others_reported,
    a_batch_without_a_valid_event_is_refused_and_names_every_fault,
    more_than_a_hundred_events_are_refused_whole,
    an_empty_array_is_refused,
    a_body_that_is_neither_object_nor_array_is_refused,
    redacted_count_adds_up_the_fields_of_all_events,
}

fn ids_stand_in_input_order(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let names: Vec<String> = (0..100).map(|index| format!("name {index}")).collect();
    let ids = project.store_all(names.iter().map(|name| named(name)).collect());
    for index in [0, 1, 50, 99] {
        assert_eq!(project.event(&ids[index])["actor"]["name"], json!(names[index]));
    }
    assert_eq!(project.count(), 100);
}

fn the_valid_events_of_a_batch_are_stored_and_the_others_reported(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let response = post(
        &project,
        vec![named("a"), invalid(), named("b"), json!("text"), named("c")],
    );
    let response = response.expect_status(201);
    let stored: Vec<Value> = response
        .ids()
        .iter()
        .map(|id| project.event(id)["actor"]["name"].clone())
        .collect();
    assert_eq!(stored, [json!("a"), json!("b"), json!("c")]);
    let errors = response.list("errors");
    assert_eq!(
        errors
            .iter()
            .map(|error| error["index"].clone())
            .collect::<Vec<_>>(),
        [json!(1), json!(3)]
    );
    for error in &errors {
        assert_eq!(error["code"], "validation_error");
        assert!(
            error["message"]
                .as_str()
                .is_some_and(|message| !message.is_empty()),
            "{error}"
        );
    }
    let field = errors[0]["details"][0]["field"]
        .as_str()
        .expect("a detail names its field");
    assert!(field.ends_with("actor.type"), "{field}");
    assert_eq!(project.count(), 3);
}

fn a_batch_without_a_valid_event_is_refused_and_names_every_fault(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let no_action = event_with(json!({"action": null}));
    let response = post(
        &project,
        vec![
            no_action,
            invalid(),
            event_with(json!({"actor": null, "category": "x"})),
        ],
    );
    let response = response.expect_invalid(&["[0].action", "[1].actor.type", "[2].actor", "[2].category"]);
    assert_eq!(response.message_on("[0].action"), "Required");
    assert_eq!(response.message_on("[2].actor"), "Required");
    assert_eq!(project.count(), 0);
}

fn more_than_a_hundred_events_are_refused_whole(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    post(&project, vec![event(); 101]).expect_error(400, "validation_error");
    assert_eq!(project.count(), 0);
}

fn an_empty_array_is_refused(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    post(&project, vec![]).expect_error(400, "validation_error");
}

fn a_body_that_is_neither_object_nor_array_is_refused(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    for body in ["5", "\"event\"", "true", "null"] {
        project
            .post("/events")
            .raw_json(body)
            .send()
            .expect_error(400, "validation_error");
    }
}

fn redacted_count_adds_up_the_fields_of_all_events(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let one = event_with(json!({"actor": {"email": "jane@example.com"}}));
    let two = event_with(
        json!({"actor": {"email": "jane@example.com", "name": "jane@example.com or j@example.com"}}),
    );
    let response = post(&project, vec![one, event(), two]).expect_status(201);
    assert_eq!(response["redacted_count"], 3);
}
