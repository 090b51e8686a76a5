//! The catalogue of actions.

use audit_tests::{Client, DatabaseKind, Organization, event_with, on_both_databases};
use serde_json::{Value, json};

on_both_databases! {
    actions_are_listed_with_the_labels_that_they_have,
    pages_of_actions_have_each_once_and_in_order,
    a_label_is_set_replaced_and_deleted,
    a_reader_gets_the_labels_of_its_language,
    a_viewer_gets_the_labels_of_the_actions_that_its_tier_names,
    a_project_has_labels_of_its_own,
    every_fault_of_a_label_is_named,
    a_project_has_labels_of_1000_actions,
    labels_change_no_event,
}

fn label() -> Value {
    json!({"icon": "shield", "languages": {
        "de": {"label": "Rolle geändert", "template": "{actor} hat {target} die Rolle {after.role} gegeben"},
        "en": {"label": "Role changed", "template": null},
    }})
}

fn named(text: &str) -> Value {
    json!({"icon": null, "languages": {"en": {"label": text, "template": null}}})
}

fn put(organization: &Organization, action: &str, label: &Value) -> Value {
    let request = organization
        .master()
        .put(&format!("/actions/{action}"))
        .json(label.clone());
    request.send().expect_status(200)["label"].clone()
}

fn store(client: &Client, action: &str) {
    client.store(event_with(json!({"action": action})));
}

/// Those of the tests: the service records its changes as events with actions of its own.
fn actions(client: &Client) -> Vec<Value> {
    let listed = client.get("/actions?limit=100").send().expect_status(200)["actions"].clone();
    let listed = listed.as_array().expect("a list").clone().into_iter();
    listed
        .filter(|action| !action["action"].as_str().expect("a text").starts_with("audit."))
        .collect()
}

fn labels(client: &Client, language: &str) -> Value {
    client
        .get(&format!("/actions/labels?language={language}"))
        .send()
        .expect_status(200)["labels"]
        .clone()
}

fn actions_are_listed_with_the_labels_that_they_have(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    assert_eq!(actions(&project), Vec::<Value>::new());
    store(&project, "user.role.updated");
    store(&project, "user.role.updated");
    store(&project, "auth.failed");
    store(&organization.test(), "only.tested");
    put(&organization, "user.role.updated", &label());
    put(&organization, "not.seen", &named("Not seen"));
    let listed = [
        json!({"action": "auth.failed", "seen": true, "label": null}),
        json!({"action": "not.seen", "seen": false, "label": named("Not seen")}),
        json!({"action": "user.role.updated", "seen": true, "label": label()}),
    ];
    assert_eq!(actions(&project), listed);
    assert_eq!(actions(&organization.master()), listed);
    let tested: Vec<Value> = actions(&organization.test())
        .iter()
        .map(|listed| listed["seen"].clone())
        .collect();
    assert_eq!(tested, [false, true, false]);
}

fn pages_of_actions_have_each_once_and_in_order(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    for number in 0..5 {
        store(&project, &format!("seen.a{number}"));
        put(&organization, &format!("seen.b{number}"), &named("b"));
    }
    put(&organization, "seen.a3", &named("a"));
    let (mut found, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = project
            .get(&format!("/actions?limit=3{cursor}"))
            .send()
            .expect_status(200);
        let actions = page["actions"].as_array().expect("a list").clone();
        assert_eq!(
            page["has_more"],
            json!(actions.len() == 3 && !page["cursor"].is_null())
        );
        found.extend(
            actions
                .iter()
                .map(|listed| listed["action"].as_str().expect("a text").to_owned()),
        );
        match page["cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    found.retain(|action| action.starts_with("seen."));
    let expected =
        ["a0", "a1", "a2", "a3", "a4", "b0", "b1", "b2", "b3", "b4"].map(|name| format!("seen.{name}"));
    assert_eq!(found, expected);
    let refused = project.get("/actions?limit=101").send().expect_status(400);
    refused.expect_invalid(&["limit"]);
}

fn a_label_is_set_replaced_and_deleted(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let master = organization.master();
    assert_eq!(put(&organization, "user.created", &label()), label());
    assert_eq!(put(&organization, "user.created", &label()), label());
    assert_eq!(put(&organization, "user.created", &named("New")), named("New"));
    assert_eq!(actions(&master)[0]["label"], named("New"));
    master.delete("/actions/user.created").send().expect_status(200);
    assert_eq!(actions(&master), Vec::<Value>::new());
    for path in ["/actions/user.created", "/actions/Nonsense"] {
        master.delete(path).send().expect_error(404, "not_found");
    }
    let nonsense = master.put("/actions/Nonsense").json(named("x"));
    nonsense.send().expect_error(404, "not_found");
}

fn a_reader_gets_the_labels_of_its_language(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    put(&organization, "user.role.updated", &label());
    put(&organization, "auth.failed", &named("Failed login"));
    let of_german = json!({"languages": {"de": {"label": "Nur auf Deutsch"}}});
    put(&organization, "only.german", &of_german);
    let failed = json!({"action": "auth.failed", "icon": null, "label": "Failed login", "template": null});
    let german = json!({"action": "only.german", "icon": null, "label": "Nur auf Deutsch", "template": null});
    let role = |text: &str, template: Value| json!({"action": "user.role.updated", "icon": "shield", "label": text, "template": template});
    let template = json!("{actor} hat {target} die Rolle {after.role} gegeben");
    assert_eq!(
        labels(&project, "de-AT"),
        json!([failed, german, role("Rolle geändert", template)])
    );
    assert_eq!(
        labels(&project, "fr"),
        json!([failed, role("Role changed", Value::Null)])
    );
    project
        .get("/actions/labels")
        .send()
        .expect_invalid(&["language"]);
    project
        .get("/actions/labels?language=de_AT")
        .send()
        .expect_invalid(&["language"]);
}

fn a_viewer_gets_the_labels_of_the_actions_that_its_tier_names(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    put(&organization, "user.created", &named("User"));
    put(&organization, "auth.failed", &named("Login"));
    organization.create_tier(json!({"name": "logins", "actions": ["auth.*"], "routes": []}));
    organization.create_tier(json!({"name": "blind", "hidden_fields": ["action"]}));
    let seen = |tier: &str| {
        let viewer = organization.viewer("tenant-1", tier);
        let labels = labels(&viewer, "en");
        let labels = labels.as_array().expect("a list").clone();
        labels
            .iter()
            .map(|label| label["label"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(seen("standard"), ["Login", "User"]);
    assert_eq!(seen("logins"), ["Login"]);
    assert_eq!(seen("blind"), Vec::<Value>::new());
    let viewer = organization.viewer("tenant-1", "logins");
    viewer.get("/actions").send().expect_error(403, "forbidden");
    let set = viewer.put("/actions/auth.failed").json(named("x")).send();
    set.expect_error(403, "forbidden");
}

fn a_project_has_labels_of_its_own(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    put(&organization, "user.created", &named("First"));
    let other = organization.create_project("other");
    let master = organization.master().with_header("x-project-id", &other);
    assert_eq!(labels(&master, "en"), json!([]));
    master
        .delete("/actions/user.created")
        .send()
        .expect_error(404, "not_found");
    let stranger = Organization::fresh(database)
        .master()
        .with_header("x-project-id", &other);
    stranger
        .get("/actions/labels?language=en")
        .send()
        .expect_error(404, "not_found");
    stranger
        .put("/actions/user.created")
        .json(named("x"))
        .send()
        .expect_error(404, "not_found");
    assert_eq!(labels(&organization.project(), "en")[0]["label"], "First");
}

fn every_fault_of_a_label_is_named(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let master = organization.master();
    let refused = |body: Value| {
        master
            .put("/actions/user.created")
            .json(body)
            .send()
            .expect_status(400)
    };
    refused(json!({})).expect_invalid(&["languages"]);
    refused(json!({"icon": "<svg>", "languages": {
        "en": {"label": "a\nb", "template": "{who} and {actor.email}"}, "de": {"label": "x", "template": "{actor"},
    }}))
    .expect_invalid(&["icon", "languages.de.template", "languages.en.label", "languages.en.template"]);
    refused(json!({"languages": {"en": {"label": "x".repeat(101), "template": "x".repeat(301)}}}))
        .expect_invalid(&["languages.en.label", "languages.en.template"]);
    assert_eq!(actions(&master), Vec::<Value>::new());
}

fn a_project_has_labels_of_1000_actions(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    for number in 0..1_000 {
        put(&organization, &format!("many.a{number}"), &named("x"));
    }
    let master = organization.master();
    let one_more = master.put("/actions/many.b").json(named("x"));
    one_more.send().expect_error(403, "forbidden");
    put(&organization, "many.a7", &named("changed"));
    master.delete("/actions/many.a8").send().expect_status(200);
    put(&organization, "many.b", &named("x"));
    assert_eq!(labels(&master, "en").as_array().map(Vec::len), Some(1_000));
}

fn labels_change_no_event(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    let id = project.store(event_with(json!({"action": "user.role.updated"})));
    let before = project.event(&id);
    put(&organization, "user.role.updated", &label());
    assert_eq!(project.event(&id), before);
}
