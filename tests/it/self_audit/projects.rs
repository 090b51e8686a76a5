//! What is done with a project is recorded in its own log, also while it is archived.

use super::{master_actor, organization, own_events};
use audit_tests::{DatabaseKind, event, on_both_databases};
use serde_json::{Value, json};

on_both_databases! {
    archiving_and_unarchiving_are_events_of_their_own,
    paths_of_metadata_filters_are_changes_of_the_project,
    labels_of_actions_are_recorded_with_what_they_were,
    where_readers_of_the_portal_sign_in_is_a_change_of_it,
}

fn archiving_and_unarchiving_are_events_of_their_own(database: DatabaseKind) {
    let organization = organization(database);
    let (master, project) = (organization.master(), organization.project());
    let path = format!("/projects/{}", organization.project_id);
    let change = |change: Value| {
        master.patch(&path).json(change).send().expect_status(200);
    };
    let before = own_events(&project).len();
    change(json!({"archived": true}));
    change(json!({"archived": true}));
    // An archived project takes the events of the service, and no others.
    organization.create_key("live");
    let refused = project.post("/events").json(event()).send();
    refused.expect_error(403, "project_archived");
    change(json!({"archived": false, "name": "shop"}));
    let events = own_events(&project).split_off(before);
    let actions: Vec<&str> = events
        .iter()
        .map(|event| event["action"].as_str().expect("an action"))
        .collect();
    assert_eq!(
        actions,
        [
            "audit.project.archived",
            "audit.api_key.created",
            "audit.project.updated",
            "audit.project.unarchived"
        ]
    );
    for (index, name) in [(0, "default"), (2, "shop"), (3, "shop")] {
        let target = json!({"id": organization.project_id, "type": "project", "name": name});
        assert_eq!(events[index]["target"], target);
        assert_eq!(events[index]["actor"], master_actor(&organization));
        assert_eq!(events[index]["category"], "admin");
    }
    project.store(event());
}

fn paths_of_metadata_filters_are_changes_of_the_project(database: DatabaseKind) {
    let organization = organization(database);
    let (master, project) = (organization.master(), organization.project());
    let path = format!("/projects/{}", organization.project_id);
    let before = own_events(&project).len();
    for paths in [
        json!(["metadata.plan", "metadata.a"]),
        json!(["metadata.a", "metadata.plan"]),
        json!([]),
    ] {
        let body = json!({"metadata_filter_paths": paths});
        master.patch(&path).json(body).send().expect_status(200);
    }
    let events = own_events(&project).split_off(before);
    let changes: Vec<&Value> = events.iter().map(|event| &event["changes"]).collect();
    let paths = json!(["metadata.a", "metadata.plan"]);
    let change = |before: &Value, after: &Value| json!([{"field": "metadata_filter_paths", "before": before, "after": after}]);
    // What is named again is no change.
    assert_eq!(
        changes,
        [&change(&json!([]), &paths), &change(&paths, &json!([]))]
    );
}

fn labels_of_actions_are_recorded_with_what_they_were(database: DatabaseKind) {
    let organization = organization(database);
    let master = organization.master();
    let before = own_events(&organization.project()).len();
    let put = |label: Value| {
        master
            .put("/actions/user.created")
            .json(label)
            .send()
            .expect_status(200);
    };
    let old = json!({"en": {"label": "Old", "template": "{actor}"}});
    let new = json!({"en": {"label": "New"}});
    put(json!({"icon": "user", "languages": old}));
    put(json!({"icon": "user", "languages": old}));
    put(json!({"languages": new}));
    master.delete("/actions/user.created").send().expect_status(200);
    let events = own_events(&organization.project()).split_off(before);
    let recorded: Vec<Value> = events
        .iter()
        .map(|event| json!([event["action"], event["changes"]]))
        .collect();
    let icon = |member: &str| json!({"field": "icon", member: "user"});
    assert_eq!(
        recorded,
        [
            json!([
                "audit.action_label.created",
                [icon("after"), json!({"field": "languages", "after": old})]
            ]),
            json!([
                "audit.action_label.updated",
                [
                    icon("before"),
                    json!({"field": "languages", "before": old, "after": new})
                ]
            ]),
            json!([
                "audit.action_label.deleted",
                [json!({"field": "languages", "before": new})]
            ]),
        ]
    );
    assert!(
        events
            .iter()
            .all(|event| event["target"] == json!({"id": "user.created", "type": "action_label"}))
    );
}

fn where_readers_of_the_portal_sign_in_is_a_change_of_it(database: DatabaseKind) {
    let organization = organization(database);
    let (master, project) = (organization.master(), organization.project());
    let before = own_events(&project).len();
    let url = json!("https://app.example.com/sign-in");
    for url in [&url, &url, &Value::Null] {
        let change = master.patch("/portal").json(json!({"sign_in_url": url}));
        change.send().expect_status(200);
    }
    let events = own_events(&project).split_off(before);
    let changes: Vec<&Value> = events.iter().map(|event| &event["changes"]).collect();
    // What was not set has no value.
    let set = json!([{"field": "sign_in_url", "after": url}]);
    let removed = json!([{"field": "sign_in_url", "before": url}]);
    assert_eq!(changes, [&set, &removed]);
}
