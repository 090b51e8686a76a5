use audit_tests::{DatabaseKind, Organization, event, event_with, on_both_databases};
use serde_json::{Value, json};

/// Upper-case Crockford base32.
const ID_ALPHABET: &str = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

fn assert_event_id(id: &str) {
    let text = id
        .strip_prefix("evt_")
        .unwrap_or_else(|| panic!("{id} does not start with evt_"));
    assert_eq!(text.len(), 26, "{id}");
    assert!(
        text.chars().all(|character| ID_ALPHABET.contains(character)),
        "{id}"
    );
}

on_both_databases! {
    an_event_is_stored_and_answered_with_its_id,
    a_master_key_stores_events_too,
    ids_sort_as_received,
    an_array_of_one_is_a_batch_of_one,
    metadata_and_the_sides_of_changes_are_free_form,
    integers_are_kept_to_the_last_digit,
    text_of_any_script_is_kept,
}

fn an_event_is_stored_and_answered_with_its_id(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let response = project.post("/events").json(event()).send().expect_status(201);
    assert_eq!(response.ids().len(), 1);
    assert_event_id(&response.ids()[0]);
    assert_eq!(response["redacted_count"], 0);
    assert!(
        response.body().get("errors").is_none(),
        "nothing was refused: {response:?}"
    );
    assert_eq!(project.find_ids(&[]), response.ids());
}

fn a_master_key_stores_events_too(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let id = organization.master().store(event());
    assert_eq!(organization.project().event(&id)["id"], json!(id));
}

fn ids_sort_as_received(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let mut ids = Vec::new();
    for round in 0..5 {
        // Ids follow the time of receipt, even if the event occurred long ago.
        ids.push(project.store(event_with(
            json!({"occurred_at": format!("201{round}-01-01T00:00:00Z")}),
        )));
        ids.extend(project.store_all(vec![event(), event(), event()]));
    }
    let mut sorted = ids.clone();
    sorted.sort();
    sorted.dedup();
    assert_eq!(ids, sorted);
}

fn an_array_of_one_is_a_batch_of_one(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let ids = project.store_all(vec![event()]);
    assert_eq!(project.find_ids(&[]), ids);
}

fn metadata_and_the_sides_of_changes_are_free_form(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let anything =
        json!({"": [], "a.b": {"c": [1, 2.5, -0.25, true, false, null, "text", {}]}, "ключ": "значение"});
    let changes = json!([
        {"field": "plan", "before": anything, "after": [anything, null]},
        {"field": "note", "before": null, "after": "text"},
        {"field": "count", "before": 1, "after": 2.5},
    ]);
    let id = project.store(event_with(json!({"metadata": anything, "changes": changes})));
    let stored = project.event(&id);
    assert_eq!(stored["changes"], changes);
    assert_eq!(stored["metadata"], anything);
}

fn integers_are_kept_to_the_last_digit(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let big = "100000000000000000000000000000000000007";
    let body = event_with(json!({"metadata": {"n": "BIG"}}))
        .to_string()
        .replace("\"BIG\"", big);
    let id = project
        .post("/events")
        .raw_json(body)
        .send()
        .expect_status(201)
        .ids()
        .remove(0);
    let raw = project.get(&format!("/events/{id}")).send_raw();
    let text = String::from_utf8(raw.bytes).expect("an answer is UTF-8");
    assert!(text.contains(&format!("\"n\":{big}")), "{text}");
}

fn text_of_any_script_is_kept(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let name = "Zoë 山田太郎 👩‍👩‍👧 \u{202e}rtl \u{fffd} \\ \" ' ; -- \t\n";
    let id = project.store(event_with(json!({"actor": {"name": name}})));
    assert_eq!(project.event(&id)["actor"]["name"], Value::from(name));
}
