//! `outcome`, `actor.on_behalf_of` and `targets`: stored, hidden with what they belong to, proved and redacted.

use audit_domain::{ContentHash, EventPart, LogName, PartProofs};
use audit_tests::{Client, DatabaseKind, Organization, Stream, event_with, on_both_databases};
use serde_json::{Value, json};

/// An event by a person who acts for another one, on two documents.
fn full() -> Value {
    event_with(json!({
        "actor": {"name": "Jane", "on_behalf_of": {"id": "actor-2", "type": "user", "name": "Ann"}},
        "targets": [{"id": "doc-1", "type": "doc", "name": "Plan"}, {"id": "doc-2", "type": "doc", "name": "Budget"}],
        "outcome": "denied",
    }))
}

/// A viewer from whom a new tier hides these fields.
fn viewer_without(organization: &Organization, hidden: &[&str]) -> Client {
    let tier = json!({"name": "some", "hidden_fields": hidden});
    organization
        .master()
        .post("/viewer-tiers")
        .json(tier)
        .send()
        .expect_status(201);
    organization.viewer("tenant-1", "some")
}

on_both_databases! {
    the_target_is_the_first_of_the_targets,
    a_target_that_is_not_the_first_is_refused,
    a_repeat_that_also_names_the_target_is_no_conflict,
    a_tier_hides_the_twins_of_what_it_hides,
    a_viewer_verifies_what_it_sees_of_them,
    a_rule_for_a_field_redacts_its_twins,
    what_is_claimed_is_redacted_in_the_same_way,
    outcomes_are_filtered_like_every_facet,
    every_target_is_filtered_by,
    a_target_that_a_tier_hides_is_not_filtered_by,
}

fn the_target_is_the_first_of_the_targets(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let read = project.event(&project.store(full()));
    assert_eq!(read["targets"], full()["targets"]);
    assert_eq!(read["target"], read["targets"][0]);
    let found = |id: &str| project.find_ids(&[("target_id", id)]).len();
    assert_eq!((found("doc-1"), found("doc-2"), found("doc-3")), (1, 1, 0));
    let without = project.event(&project.store(event_with(json!({"targets": []}))));
    assert_eq!((without.get("target"), without.get("targets")), (None, None));
}

fn a_target_that_is_not_the_first_is_refused(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let [one, other] = ["1", "2"].map(|id| json!({"id": id, "type": "doc"}));
    let post = |change: Value| project.post("/events").json(event_with(change)).send();
    post(json!({"target": other, "targets": [one, other]})).expect_invalid(&["targets[0]"]);
    post(json!({"target": one, "targets": [one, other]})).expect_status(201);
    post(json!({"targets": vec![one.clone(); 16]})).expect_status(201);
    post(json!({"targets": vec![one; 17]})).expect_invalid(&["targets"]);
    assert_eq!(project.count(), 2);
}

fn a_repeat_that_also_names_the_target_is_no_conflict(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let target = json!({"id": "doc-1", "type": "doc"});
    let store = |change: Value| {
        let mut event = event_with(change);
        event["idempotency_key"] = json!("k");
        project.store(event)
    };
    let first = store(json!({"targets": [target]}));
    assert_eq!(store(json!({"target": target, "targets": [target]})), first);
    let mut other = event_with(json!({"targets": [target], "outcome": "failure"}));
    other["idempotency_key"] = json!("k");
    let response = project.post("/events").json(other).send();
    response.expect_error(409, "conflict");
}

fn a_tier_hides_the_twins_of_what_it_hides(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    organization.project().store(full());
    let [minimal]: [Value; 1] = organization
        .viewer("tenant-1", "minimal")
        .find(&[])
        .try_into()
        .expect("one event");
    assert_eq!(
        minimal["actor"]["on_behalf_of"],
        json!({"id": "actor-2", "type": "user"})
    );
    assert_eq!(
        minimal["targets"],
        json!([{"id": "doc-1", "type": "doc"}, {"id": "doc-2", "type": "doc"}])
    );
    let viewer = viewer_without(&organization, &["target", "outcome", "actor.on_behalf_of"]);
    let [seen]: [Value; 1] = viewer.find(&[]).try_into().expect("one event");
    for member in ["target", "targets", "outcome"] {
        assert_eq!(seen.get(member), None, "{member}");
    }
    assert_eq!(
        seen["actor"],
        json!({"id": "actor-1", "type": "user", "name": "Jane"})
    );
    assert_eq!(viewer.find(&[("outcome", "denied")]), Vec::<Value>::new());
    assert_eq!(viewer.find(&[("not_outcome", "success")]), Vec::<Value>::new());
}

fn a_viewer_verifies_what_it_sees_of_them(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let id = organization.project().store(full());
    let viewer = viewer_without(&organization, &["target.name"]);
    let proof = viewer
        .get(&format!("/events/{id}/proof"))
        .send()
        .expect_status(200);
    let [seen]: [Value; 1] = viewer.find(&[]).try_into().expect("one event");
    let parts = PartProofs::from_json(&proof["parts"]).expect("proofs of all parts");
    assert_eq!(parts.hidden().collect::<Vec<_>>(), [EventPart::TargetName]);
    let origin = format!("audit.example.com/{}/live", organization.project_id);
    let log = LogName::of_origin(&origin).expect("the name of a log");
    let hash_with = |pointer: &str, value: Option<Value>| {
        let mut seen = seen.clone();
        if let Some(value) = value {
            *seen.pointer_mut(pointer).expect("the field is visible") = value;
        }
        let seen = seen.as_object().expect("an object");
        json!(ContentHash::of_visible(seen, &parts, &log).to_string())
    };
    assert_eq!(hash_with("", None), proof["content_hash"]);
    for (pointer, value) in [
        ("/outcome", "success"),
        ("/actor/on_behalf_of/id", "actor-3"),
        ("/actor/on_behalf_of/name", "Eve"),
    ] {
        let forged = hash_with(pointer, Some(json!(value)));
        assert_ne!(forged, proof["content_hash"], "{pointer}");
    }
}

/// A rule that names the fields of the actor and the target alone.
fn create_rule(organization: &Organization) {
    let rule = json!({"type": "field_redact", "name": "names", "fields": ["actor.name", "target.name"]});
    organization.create_rule(rule);
}

fn assert_redacted(event: &Value) {
    for pointer in [
        "/actor/name",
        "/actor/on_behalf_of/name",
        "/target/name",
        "/targets/0/name",
        "/targets/1/name",
    ] {
        assert_eq!(event.pointer(pointer), Some(&json!("[REDACTED]")), "{pointer}");
    }
    let id = event["actor"]["on_behalf_of"]["id"].as_str().expect("an id");
    assert!(id.contains("sha256:"), "{event}");
    assert_eq!(event["targets"][1]["id"], event["actor"]["on_behalf_of"]["id"]);
}

fn personal() -> Value {
    let mut event = full();
    event["actor"]["on_behalf_of"]["id"] = json!("jane@example.com");
    event["targets"][1]["id"] = json!("jane@example.com");
    event
}

fn a_rule_for_a_field_redacts_its_twins(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    create_rule(&organization);
    let project = organization.project();
    assert_redacted(&project.event(&project.store(personal())));
}

fn what_is_claimed_is_redacted_in_the_same_way(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    create_rule(&organization);
    let stream = Stream::fresh(database);
    let id = stream.store(personal());
    stream.move_to(&organization.master());
    let event = organization.project().event(&id);
    assert_redacted(&event);
    assert_eq!(event["outcome"], "denied");
}

/// Events on these targets, each an id and a type. Returns their ids.
fn on_targets(project: &Client, of_events: &[&[(&str, &str)]]) -> Vec<String> {
    let targets = |targets: &[(&str, &str)]| -> Value {
        let one = |(id, kind): &(&str, &str)| json!({"id": id, "type": kind});
        targets.iter().map(one).collect()
    };
    let events = of_events
        .iter()
        .map(|one| event_with(json!({"targets": targets(one)})));
    project.store_all(events.collect())
}

/// The ids that the list finds, in order. The feed, the export and the summary find the same.
fn found_everywhere(client: &Client, filter: &[(&str, &str)]) -> Vec<String> {
    let sorted = |events: &[Value]| {
        let mut ids: Vec<String> = events
            .iter()
            .map(|event| event["id"].as_str().expect("an id").to_owned())
            .collect();
        ids.sort();
        ids
    };
    let found = sorted(&client.find(filter));
    let feed = client
        .get("/events/feed")
        .queries(filter)
        .send()
        .expect_status(200);
    assert_eq!(sorted(&feed.list("events")), found, "{filter:?}");
    let summary = client
        .get("/events/summary")
        .queries(filter)
        .send()
        .expect_status(200);
    assert_eq!(summary["total"], found.len(), "{filter:?}");
    let export = client.get("/events/export").queries(filter).send_raw();
    let lines = String::from_utf8(export.bytes).expect("an export in UTF-8");
    assert_eq!(lines.lines().count(), found.len(), "{filter:?}");
    found
}

fn every_target_is_filtered_by(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let stored = on_targets(
        &project,
        &[
            &[
                ("user-1", "user"),
                ("team-1", "team"),
                ("jane@example.com", "user"),
            ],
            &[("team-1", "team"), ("user-2", "user")],
            &[("user-2", "user")],
            &[],
        ],
    );
    let own = ("tenant_id", "tenant-1");
    for (filter, expected) in [
        (&[("target_id", "team-1")][..], &[0, 1][..]),
        (&[("target_id", "user-2")], &[1, 2]),
        (&[("target_id", "jane@example.com")], &[0]),
        (&[("target_type", "team")], &[0, 1]),
        (&[("target_id", "user-2"), ("target_type", "team")], &[1]),
        (&[("not_target_id", "team-1"), own], &[2, 3]),
        (&[("not_target_type", "user"), own], &[3]),
        (&[("target_type", "team"), ("not_target_id", "user-2")], &[0]),
    ] {
        let mut expected: Vec<String> = expected.iter().map(|number| stored[*number].clone()).collect();
        expected.sort();
        assert_eq!(found_everywhere(&project, filter), expected, "{filter:?}");
    }
    let summary = project.get("/events/summary").query("target_type", "team").send();
    let summary = summary.expect_status(200);
    let mut types = summary["top"]["target_type"].as_array().expect("values").clone();
    types.sort_by_key(|one| one["value"].to_string());
    let of_first_targets = json!([{"value": "team", "count": 1}, {"value": "user", "count": 1}]);
    assert_eq!(json!(types), of_first_targets);
}

fn a_target_that_a_tier_hides_is_not_filtered_by(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let stored = on_targets(&organization.project(), &[&[("doc-1", "doc"), ("doc-2", "note")]]);
    let viewer = viewer_without(&organization, &["targets.*.id"]);
    assert_eq!(found_everywhere(&viewer, &[("target_id", "doc-1")]), stored);
    assert_eq!(found_everywhere(&viewer, &[("target_type", "note")]), stored);
    assert_eq!(
        found_everywhere(&viewer, &[("target_id", "doc-2")]),
        Vec::<String>::new()
    );
    // It must not learn by exclusion either.
    assert_eq!(found_everywhere(&viewer, &[("not_target_id", "doc-2")]), stored);
}

fn outcomes_are_filtered_like_every_facet(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let of = |outcome: Value| project.store(event_with(json!({"outcome": outcome})));
    let [success, failure, denied, none] =
        [json!("success"), json!("failure"), json!("denied"), Value::Null].map(of);
    let found = |filter: &[(&str, &str)]| {
        let mut ids = project.find_ids(filter);
        ids.sort();
        ids
    };
    assert_eq!(found(&[("outcome", "success")]), std::slice::from_ref(&success));
    let failed = [("outcome", "failure"), ("outcome", "denied")];
    assert_eq!(found(&failed), [failure, denied]);
    let not_failed = [("not_outcome", "failure"), ("not_outcome", "denied")];
    assert_eq!(found(&not_failed), [success, none]);
    let response = project.get("/events").query("outcome", "ok").send();
    response.expect_invalid(&["outcome"]);
}
