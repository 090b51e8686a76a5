//! Administration of the rules: `/redaction/rules`.

use audit_tests::{BUILTIN_REDACTIONS, DatabaseKind, Organization, event_with, on_both_databases};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn rules(organization: &Organization) -> BTreeMap<String, Value> {
    let rules = organization
        .project()
        .get("/redaction/rules")
        .send()
        .expect_status(200)
        .list("rules");
    rules
        .into_iter()
        .map(|rule| (rule["id"].as_str().expect("an id").to_owned(), rule))
        .collect()
}

fn id_of(rule: &Value) -> &str {
    rule["id"].as_str().expect("a rule has an id")
}

on_both_databases! {
    a_project_starts_with_fifteen_built_in_rules,
    a_created_rule_is_answered_and_listed,
    every_fault_of_a_new_rule_is_named,
    a_pattern_that_cannot_be_used_is_refused,
    the_patterns_of_a_project_have_a_largest_compiled_size,
    rules_that_are_created_at_once_are_all_created,
    a_custom_rule_can_be_changed_in_every_field,
    a_built_in_rule_can_be_switched_but_not_rewritten,
    a_rule_that_does_not_exist_is_not_found,
    a_deleted_rule_stops_at_once_and_leaves_what_it_redacted,
    a_disabled_rule_rests,
}

fn a_project_starts_with_fifteen_built_in_rules(database: DatabaseKind) {
    let rules = rules(&Organization::fresh(database));
    assert_eq!(rules.len(), BUILTIN_REDACTIONS.len());
    for builtin in BUILTIN_REDACTIONS {
        let rule = &rules[&format!("builtin_{builtin}")];
        assert_eq!(rule["type"], "builtin");
        assert_eq!(rule["builtin_id"], builtin);
        assert_eq!(rule["behavior"], "replace");
        assert_eq!(
            rule["enabled"],
            json!(!["ipv4", "ipv6", "uk_nino", "br_cpf", "in_aadhaar", "in_pan"].contains(&builtin)),
            "{builtin}"
        );
        assert!(
            rule["name"].as_str().is_some_and(|name| !name.is_empty()),
            "{rule}"
        );
        assert!(
            rule.get("pattern").is_none() && rule.get("fields").is_none(),
            "{rule}"
        );
    }
}

fn a_created_rule_is_answered_and_listed(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let pattern =
        organization.create_rule(json!({"type": "pattern", "name": "ticket", "pattern": "T-[0-9]+"}));
    assert_eq!(pattern["type"], "pattern");
    assert_eq!(pattern["name"], "ticket");
    assert_eq!(pattern["pattern"], "T-[0-9]+");
    assert_eq!(pattern["behavior"], "replace");
    assert_eq!(pattern["enabled"], true);
    assert_eq!(id_of(&pattern).len(), 36, "a UUID");
    assert!(
        pattern["created_at"]
            .as_str()
            .is_some_and(|time| time.ends_with('Z')),
        "{pattern}"
    );
    let fields = json!({"type": "field_redact", "name": "f", "fields": ["metadata.a"], "behavior": "mask", "enabled": false});
    let fields = organization.create_rule(fields);
    assert_eq!(
        (&fields["behavior"], &fields["enabled"]),
        (&json!("mask"), &json!(false))
    );
    assert_eq!(fields["fields"], json!(["metadata.a"]));
    let listed = rules(&organization);
    assert_eq!(listed.len(), BUILTIN_REDACTIONS.len() + 2);
    assert_eq!(listed[id_of(&pattern)], pattern);
    assert_eq!(listed[id_of(&fields)], fields);
    for (id, rule) in listed {
        let path = format!("/redaction/rules/{id}");
        assert_eq!(organization.project().one(&path, "rule"), rule);
    }
}

fn every_fault_of_a_new_rule_is_named(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let post = |body: Value| organization.master().post("/redaction/rules").json(body).send();
    let response = post(json!({})).expect_error(400, "validation_error");
    assert_eq!(
        (response.message_on("type"), response.message_on("name")),
        ("Required", "Required")
    );
    let response = post(json!({"type": "pattern", "name": "x"})).expect_invalid(&["pattern"]);
    assert_eq!(response.message_on("pattern"), "Required");
    let response = post(json!({"type": "field_redact", "name": "x"})).expect_invalid(&["fields"]);
    assert_eq!(response.message_on("fields"), "Required");
    post(json!({"type": "builtin", "name": "x"})).expect_invalid(&["type"]);
    let valid = json!({"type": "pattern", "name": "x", "pattern": "x"});
    let with = |change: Value| audit_tests::merge(valid.clone(), change);
    post(with(json!({"name": ""}))).expect_invalid(&["name"]);
    post(with(json!({"name": "x".repeat(101)}))).expect_invalid(&["name"]);
    post(with(json!({"behavior": "hide", "enabled": "yes"}))).expect_invalid(&["behavior", "enabled"]);
    post(with(json!({"colour": "red"}))).expect_invalid(&["colour"]);
    let response = post(json!({"type": "field_redact", "name": "x", "fields": []}))
        .expect_error(400, "validation_error");
    assert!(
        response.fields().iter().all(|field| field.starts_with("fields")),
        "{response:?}"
    );
    assert_eq!(rules(&organization).len(), BUILTIN_REDACTIONS.len());
}

fn a_pattern_that_cannot_be_used_is_refused(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let rule =
        organization.create_rule(json!({"type": "pattern", "name": "x", "pattern": "x".repeat(1_000)}));
    let path = format!("/redaction/rules/{}", id_of(&rule));
    let too_long = "x".repeat(1_001);
    for pattern in [
        "(",
        "[z-a]",
        "a*",
        "",
        "x|",
        "^",
        r"\b",
        too_long.as_str(),
        r"(\w{1000}){1000}",
        r"(a)\1",
        "(?=a)b",
    ] {
        let body = json!({"type": "pattern", "name": "x", "pattern": pattern});
        organization
            .master()
            .post("/redaction/rules")
            .json(body)
            .send()
            .expect_invalid(&["pattern"]);
        let change = json!({"pattern": pattern});
        organization
            .master()
            .put(&path)
            .json(change)
            .send()
            .expect_invalid(&["pattern"]);
    }
    assert_eq!(rules(&organization)[id_of(&rule)], rule);
}

fn the_patterns_of_a_project_have_a_largest_compiled_size(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    // About 1 MB each, both directions together.
    let large =
        |number: usize| json!({"type": "pattern", "name": "large", "pattern": format!(r"\w{{20}}Z{number}")});
    let create = |rule: Value| organization.master().post("/redaction/rules").json(rule).send();
    let (accepted, refused) = (0..100)
        .map(|number| (number, create(large(number))))
        .find(|(_, response)| response.status() != 201)
        .expect("not all are accepted");
    assert!((10..17).contains(&accepted), "{accepted}");
    refused.expect_invalid(&["pattern"]);
    // Small ones still fit, and a rule that is switched off takes nothing until it is switched on.
    create(json!({"type": "pattern", "name": "small", "pattern": "zebra"})).expect_status(201);
    let mut disabled = large(accepted);
    disabled["enabled"] = json!(false);
    let rule = create(disabled).expect_status(201)["rule"].clone();
    let path = format!("/redaction/rules/{}", id_of(&rule));
    let switched_on = organization.master().put(&path).json(json!({"enabled": true}));
    switched_on.send().expect_invalid(&["enabled"]);
    let id = organization
        .project()
        .store(event_with(json!({"metadata": {"animal": "zebra"}})));
    assert_eq!(
        organization.project().event(&id)["metadata"]["animal"],
        "[REDACTED]"
    );
}

fn rules_that_are_created_at_once_are_all_created(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    std::thread::scope(|scope| {
        for number in 0..8 {
            let pattern = format!("T{number}-[0-9]+");
            let organization = &organization;
            scope.spawn(move || {
                organization.create_rule(json!({"type": "pattern", "name": "ticket", "pattern": pattern}))
            });
        }
    });
    assert_eq!(rules(&organization).len(), BUILTIN_REDACTIONS.len() + 8);
}

fn a_custom_rule_can_be_changed_in_every_field(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let rule = organization.create_rule(json!({"type": "pattern", "name": "x", "pattern": "zebra"}));
    let path = format!("/redaction/rules/{}", id_of(&rule));
    let change = json!({"name": "y", "pattern": "lion", "behavior": "mask", "enabled": false});
    let changed = organization
        .master()
        .put(&path)
        .json(change.clone())
        .send()
        .expect_status(200)["rule"]
        .clone();
    assert_eq!(changed, audit_tests::merge(rule.clone(), change));
    let unchanged = organization
        .master()
        .put(&path)
        .json(json!({}))
        .send()
        .expect_status(200);
    assert_eq!(unchanged["rule"], changed);
    assert_eq!(rules(&organization)[id_of(&rule)], changed);
    organization
        .master()
        .put(&path)
        .json(json!({"colour": 1, "behavior": 5}))
        .send()
        .expect_invalid(&["colour", "behavior"]);
}

fn a_built_in_rule_can_be_switched_but_not_rewritten(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let master = organization.master();
    let path = "/redaction/rules/builtin_email";
    let response = master
        .put(path)
        .json(json!({"behavior": "mask", "enabled": false}))
        .send()
        .expect_status(200);
    assert_eq!(response["rule"]["behavior"], "mask");
    assert_eq!(response["rule"]["enabled"], false);
    for change in [
        json!({"name": "x"}),
        json!({"pattern": "x"}),
        json!({"fields": ["metadata.x"]}),
    ] {
        let with_allowed = audit_tests::merge(change, json!({"enabled": true}));
        master
            .put(path)
            .json(with_allowed)
            .send()
            .expect_error(403, "forbidden");
    }
    master.delete(path).send().expect_error(403, "forbidden");
    assert_eq!(rules(&organization)["builtin_email"], response["rule"]);
    assert_eq!(
        rules(&Organization::fresh(database))["builtin_email"]["enabled"],
        true
    );
}

fn a_rule_that_does_not_exist_is_not_found(database: DatabaseKind) {
    let master = Organization::fresh(database).master();
    let foreign =
        Organization::fresh(database).create_rule(json!({"type": "pattern", "name": "x", "pattern": "x"}));
    for id in [
        "67e55044-10b1-426f-9247-bb680e5fe0c8",
        "builtin_unknown",
        "nonsense",
        id_of(&foreign),
    ] {
        let path = format!("/redaction/rules/{id}");
        master.get(&path).send().expect_error(404, "not_found");
        master
            .put(&path)
            .json(json!({"enabled": true}))
            .send()
            .expect_error(404, "not_found");
        master.delete(&path).send().expect_error(404, "not_found");
    }
}

fn a_deleted_rule_stops_at_once_and_leaves_what_it_redacted(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    let zebra = || event_with(json!({"metadata": {"note": "a zebra"}}));
    let rule = organization.create_rule(json!({"type": "pattern", "name": "x", "pattern": "zebra"}));
    let before = project.store(zebra());
    let path = format!("/redaction/rules/{}", id_of(&rule));
    let response = organization.master().delete(&path).send().expect_status(200);
    assert_eq!(response["deleted"], true);
    let after = project.store(zebra());
    assert_eq!(project.event(&before)["metadata"]["note"], "a [REDACTED]");
    assert_eq!(project.event(&after)["metadata"]["note"], "a zebra");
    organization
        .master()
        .delete(&path)
        .send()
        .expect_error(404, "not_found");
}

fn a_disabled_rule_rests(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    let stored =
        || project.event(&project.store(event_with(json!({"actor": {"email": "jane@example.com"}}))));
    let path = "/redaction/rules/builtin_email";
    organization
        .master()
        .put(path)
        .json(json!({"enabled": false}))
        .send()
        .expect_status(200);
    assert_eq!(
        (&stored()["actor"]["email"], &stored()["redacted"]),
        (&json!("jane@example.com"), &json!(false))
    );
    organization
        .master()
        .put(path)
        .json(json!({"enabled": true}))
        .send()
        .expect_status(200);
    assert_eq!(
        (&stored()["actor"]["email"], &stored()["redacted"]),
        (&json!("[REDACTED]"), &json!(true))
    );
}
