//! Data that a tier hides can be neither read nor probed for.

use audit_tests::{Client, DatabaseKind, Organization, event, event_with, on_both_databases};
use serde_json::{Value, json};

/// An event with something in every field.
fn full_event() -> Value {
    event_with(json!({
        "actor": {"name": "Nameword", "email": "emailword"},
        "target": {"id": "target-1", "type": "doc", "name": "Titleword"},
        "context": {"location": "Berlin"},
        "metadata": {"shown": {"x": 1}, "secret": {"x": 2}},
        "changes": [{"field": "plan", "before": "secretword", "after": "b"}],
    }))
}

/// An organization with one full event of each category.
fn organization_with_events(database: DatabaseKind) -> Organization {
    let organization = Organization::fresh(database);
    let categories = ["auth", "access", "mutation", "admin", "security", "system"];
    let with = |category: &str| audit_tests::merge(full_event(), json!({"category": category}));
    organization.project().store_all(categories.map(with).to_vec());
    organization
}

/// The JSON pointers of `event` at which there is something.
fn present<'a>(event: &Value, pointers: &[&'a str]) -> Vec<&'a str> {
    pointers
        .iter()
        .copied()
        .filter(|pointer| event.pointer(pointer).is_some())
        .collect()
}

fn count(client: &Client, parameters: &[(&str, &str)]) -> usize {
    client.find(parameters).len()
}

const POINTERS: &[&str] = &[
    "/context",
    "/metadata",
    "/actor/email",
    "/changes",
    "/actor/name",
    "/target/name",
];

on_both_databases! {
    every_project_starts_with_three_tiers,
    full_shows_everything,
    standard_hides_context_metadata_and_e_mail,
    minimal_hides_names_changes_and_sensitive_categories,
    filters_and_search_find_nothing_in_what_is_hidden,
    hidden_identifiers_cannot_be_filtered_for,
    no_search_finds_what_is_hidden_wherever_it_looks,
    a_tier_of_ones_own_hides_nested_fields_and_shows_listed_actions,
    a_changed_tier_holds_from_the_next_request_on,
    a_viewer_reads_one_event_as_its_tier_shows_it,
    a_tier_switches_other_ways_of_reading_off,
    deleting_a_tier_ends_the_access_of_its_tokens,
    every_fault_of_a_tier_is_named,
}

fn every_project_starts_with_three_tiers(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let tiers = organization
        .master()
        .get("/viewer-tiers")
        .send()
        .expect_status(200)
        .list("viewer_tiers");
    let tier = |name: &str| {
        tiers
            .iter()
            .find(|tier| tier["name"] == name)
            .expect("a built-in tier")
            .clone()
    };
    assert_eq!(tiers.len(), 3);
    for tier in &tiers {
        let path = format!("/viewer-tiers/{}", tier["name"].as_str().expect("a name"));
        assert_eq!(organization.master().one(&path, "viewer_tier"), *tier);
    }
    assert_eq!(tier("full")["categories"], json!(null));
    assert_eq!(tier("full")["hidden_fields"], json!([]));
    let hidden = |name: &str| {
        let mut fields: Vec<String> =
            serde_json::from_value(tier(name)["hidden_fields"].clone()).expect("strings");
        fields.sort();
        fields
    };
    assert_eq!(hidden("standard"), ["actor.email", "context", "metadata"]);
    let minimal = [
        "actor.email",
        "actor.name",
        "changes",
        "context",
        "metadata",
        "target.name",
    ];
    assert_eq!(hidden("minimal"), minimal);
    let mut categories: Vec<String> =
        serde_json::from_value(tier("minimal")["categories"].clone()).expect("strings");
    categories.sort();
    assert_eq!(categories, ["access", "auth", "mutation"]);
}

fn full_shows_everything(database: DatabaseKind) {
    let organization = organization_with_events(database);
    let seen = organization.viewer("tenant-1", "full").find(&[]);
    assert_eq!(seen, organization.project().find(&[]));
    assert_eq!(present(&seen[0], POINTERS), POINTERS);
}

fn standard_hides_context_metadata_and_e_mail(database: DatabaseKind) {
    let organization = organization_with_events(database);
    let seen = organization.viewer("tenant-1", "standard").find(&[]);
    assert_eq!(seen.len(), 6);
    for event in seen {
        assert_eq!(
            present(&event, POINTERS),
            ["/changes", "/actor/name", "/target/name"]
        );
    }
}

fn minimal_hides_names_changes_and_sensitive_categories(database: DatabaseKind) {
    let organization = organization_with_events(database);
    let viewer = organization.viewer("tenant-1", "minimal");
    let seen = viewer.find(&[]);
    assert_eq!(seen.len(), 3);
    for event in seen {
        assert_eq!(present(&event, POINTERS), Vec::<&str>::new());
        assert!(["auth", "access", "mutation"].contains(&event["category"].as_str().expect("a category")));
    }
    assert_eq!(
        viewer.pages(&[("limit", "1")]).len(),
        3,
        "hidden events do not show as pages"
    );
}

fn filters_and_search_find_nothing_in_what_is_hidden(database: DatabaseKind) {
    let organization = organization_with_events(database);
    let minimal = organization.viewer("tenant-1", "minimal");
    for parameters in [
        [("search", "nameword")],
        [("search", "titleword")],
        [("search", "name*")],
        [("category", "security")],
    ] {
        assert_eq!(count(&minimal, &parameters), 0, "{parameters:?}");
        assert!(
            count(&organization.viewer("tenant-1", "standard"), &parameters) > 0,
            "{parameters:?}"
        );
    }
    assert_eq!(count(&minimal, &[("search", "created")]), 3);
    assert_eq!(count(&minimal, &[("search", "created nameword")]), 0);
    assert_eq!(count(&minimal, &[("category", "auth")]), 1);
}

fn no_search_finds_what_is_hidden_wherever_it_looks(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let first = json!({"id": "firstword", "type": "doc"});
    organization.project().store(event_with(json!({
        "actor": {"id": "actorword", "email": "emailword", "on_behalf_of": {"id": "partyword", "type": "user"}},
        "target": first,
        "targets": [first, {"id": "secondword", "type": "doc"}, {"id": "thirdword", "type": "doc"}],
        "metadata": {"note": "noteword", "deep": [{"ssn": "secretword"}]},
    })));
    let words = [
        ("ids", "actorword"),
        ("ids", "partyword"),
        ("ids", "firstword"),
        ("ids", "secondword"),
        ("ids", "thirdword"),
        ("email", "emailword"),
        ("metadata", "noteword"),
        ("metadata", "secretword"),
    ];
    let cases: [(&str, &[&str]); 12] = [
        ("changes", &[]),
        ("actor.id", &["actorword", "partyword"]),
        ("actor.on_behalf_of", &["partyword"]),
        ("actor.on_behalf_of.id", &["partyword"]),
        ("actor", &["actorword", "partyword", "emailword"]),
        ("target.id", &["firstword", "secondword", "thirdword"]),
        ("targets", &["secondword", "thirdword"]),
        ("targets.*.id", &["secondword", "thirdword"]),
        // The ids behind the first are searched together.
        ("targets.1", &["secondword", "thirdword"]),
        ("actor.email", &["emailword"]),
        ("metadata", &["noteword", "secretword"]),
        ("metadata.*.*.ssn", &["secretword"]),
    ];
    for (index, (hidden, not_found)) in cases.into_iter().enumerate() {
        let name = format!("tier-{index}");
        organization.create_tier(json!({"name": name, "hidden_fields": [hidden]}));
        let viewer = organization.viewer("tenant-1", &name);
        for (scope, word) in words {
            let expected = usize::from(!not_found.contains(&word));
            for search in [word.to_owned(), format!("{word}*"), format!("\"{word}\"")] {
                // A `*` belongs to words, and an e-mail address has none.
                let expected = if scope == "email" && search.ends_with('*') {
                    0
                } else {
                    expected
                };
                let parameters = [("search", search.as_str()), ("search_in", scope)];
                assert_eq!(count(&viewer, &parameters), expected, "{hidden} hidden, {search}");
                let summary = viewer.get("/events/summary").queries(&parameters).send();
                let summary = summary.expect_status(200);
                assert_eq!(summary.body()["total"], expected, "{hidden} hidden, {search}");
            }
        }
    }
}

fn hidden_identifiers_cannot_be_filtered_for(database: DatabaseKind) {
    let organization = organization_with_events(database);
    let cases = [
        ("actor.id", "actor_id", "actor-1"),
        ("actor.type", "actor_type", "user"),
        ("target.id", "target_id", "target-1"),
        ("target.type", "target_type", "doc"),
        ("target", "target_id", "target-1"),
        ("actor", "actor_id", "actor-1"),
        ("category", "category", "auth"),
        ("action", "action", "user.created"),
        ("actor", "search", "nameword"),
        ("target", "search", "titleword"),
        ("action", "search", "created"),
        ("action", "action", "user.*"),
    ];
    for (index, (hidden, filter, value)) in cases.into_iter().enumerate() {
        let name = format!("tier-{index}");
        organization.create_tier(json!({"name": name, "hidden_fields": [hidden]}));
        let viewer = organization.viewer("tenant-1", &name);
        let pointer = format!("/{}", hidden.replace('.', "/"));
        assert!(
            viewer
                .find(&[])
                .iter()
                .all(|event| event.pointer(&pointer).is_none()),
            "{hidden}"
        );
        assert_eq!(
            count(&viewer, &[(filter, value)]),
            0,
            "{hidden} hidden, {filter}={value}"
        );
        assert!(
            count(&organization.viewer("tenant-1", "full"), &[(filter, value)]) > 0,
            "{filter}={value}"
        );
    }
}

fn a_tier_of_ones_own_hides_nested_fields_and_shows_listed_actions(database: DatabaseKind) {
    let organization = organization_with_events(database);
    organization
        .project()
        .store(event_with(json!({"action": "user.deleted", "category": "auth"})));
    organization.project().store(event_with(
        json!({"action": "invoice.deleted", "category": "system"}),
    ));
    let tier = json!({
        "name": "support", "categories": ["auth", "system"], "actions": ["*.deleted", "user.cre*"],
        "hidden_fields": ["metadata.secret", "changes.*.before"],
    });
    organization.create_tier(tier);
    let seen = organization.viewer("tenant-1", "support").find(&[]);
    assert_eq!(seen.len(), 4, "{seen:?}");
    assert_eq!(seen[0]["action"], "invoice.deleted");
    let full = seen
        .iter()
        .find(|event| event["category"] == "auth" && event.get("changes").is_some());
    let full = full.expect("the full event of the category auth");
    assert_eq!(full["metadata"], json!({"shown": {"x": 1}}));
    assert_eq!(full["changes"], json!([{"field": "plan", "after": "b"}]));
    organization.create_tier(json!({"name": "nothing", "actions": []}));
    assert_eq!(count(&organization.viewer("tenant-1", "nothing"), &[]), 0);
}

fn a_viewer_reads_one_event_as_its_tier_shows_it(database: DatabaseKind) {
    let organization = organization_with_events(database);
    let foreign = organization
        .project()
        .store(event_with(json!({"tenant_id": "tenant-2"})));
    for tier in ["full", "standard", "minimal"] {
        let viewer = organization.viewer("tenant-1", tier);
        let seen = viewer.find(&[]);
        for event in organization.project().find(&[("tenant_id", "tenant-1")]) {
            let id = event["id"].as_str().expect("an id");
            let response = viewer.get(&format!("/events/{id}")).send();
            match seen.iter().find(|seen| seen["id"] == event["id"]) {
                Some(listed) => assert_eq!(&response.expect_status(200)["event"], listed),
                None => drop(response.expect_error(404, "not_found")),
            }
        }
        let response = viewer.get(&format!("/events/{foreign}")).send();
        response.expect_error(404, "not_found");
    }
}

fn a_tier_switches_other_ways_of_reading_off(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let receipt = organization.project().post("/events").header("prefer", "receipt");
    let id = receipt.json(event()).send().expect_status(201).ids().remove(0);
    let routes = [
        ("event", format!("/events/{id}")),
        ("summary", "/events/summary".to_owned()),
        ("feed", "/events/feed".to_owned()),
        ("export", "/events/export".to_owned()),
        ("proofs", format!("/events/{id}/proof")),
        ("proofs", format!("/events/{id}/receipt")),
        ("proofs", "/log/completeness".to_owned()),
    ];
    organization.create_tier(json!({"name": "all"}));
    let viewer = organization.viewer("tenant-1", "all");
    let assert_reads = |allowed: &[&str]| {
        assert_eq!(count(&viewer, &[]), 1, "the list is never switched off");
        assert_eq!(count(&viewer, &[("id", &id)]), 1, "it also finds one event");
        for (name, path) in &routes {
            let status = viewer.get(path).send_raw().status;
            let expected = if allowed.contains(name) { 200 } else { 403 };
            assert_eq!(status, expected, "{path} with {allowed:?}");
        }
    };
    assert_reads(&["event", "summary", "feed", "export", "proofs"]);
    let change = |routes: Value| {
        let patch = organization
            .master()
            .patch("/viewer-tiers/all")
            .json(json!({"routes": routes}));
        assert_eq!(patch.send().expect_status(200)["viewer_tier"]["routes"], routes);
    };
    for allowed in [
        &["event"][..],
        &["feed", "proofs"],
        &["summary"],
        &["export"],
        &[],
    ] {
        change(json!(allowed));
        assert_reads(allowed);
    }
    change(Value::Null);
    assert_reads(&["event", "summary", "feed", "export", "proofs"]);
    let unknown = json!({"name": "other", "routes": ["keys"]});
    let refused = organization.master().post("/viewer-tiers").json(unknown).send();
    refused.expect_invalid(&["routes[0]"]);
}

fn a_changed_tier_holds_from_the_next_request_on(database: DatabaseKind) {
    let organization = organization_with_events(database);
    organization.create_tier(json!({"name": "support"}));
    let viewer = organization.viewer("tenant-1", "support");
    assert_eq!(count(&viewer, &[]), 6);
    let change = json!({"categories": ["auth"], "hidden_fields": ["metadata"]});
    let response = organization
        .master()
        .patch("/viewer-tiers/support")
        .json(change)
        .send()
        .expect_status(200);
    assert_eq!(response["viewer_tier"]["name"], "support");
    assert_eq!(response["viewer_tier"]["categories"], json!(["auth"]));
    let seen = viewer.find(&[]);
    assert_eq!(seen.len(), 1);
    assert!(seen[0].get("metadata").is_none());
    let change = json!({"categories": null});
    organization
        .master()
        .patch("/viewer-tiers/support")
        .json(change)
        .send()
        .expect_status(200);
    assert_eq!(count(&viewer, &[]), 6, "null means all categories");
}

fn deleting_a_tier_ends_the_access_of_its_tokens(database: DatabaseKind) {
    let organization = organization_with_events(database);
    organization.create_tier(json!({"name": "support"}));
    let viewer = organization.viewer("tenant-1", "support");
    assert_eq!(count(&viewer, &[]), 6);
    let response = organization
        .master()
        .delete("/viewer-tiers/support")
        .send()
        .expect_status(200);
    assert_eq!(response["deleted"], true);
    viewer.get("/events").send().expect_error(401, "invalid_token");
    let body = json!({"tenant_id": "tenant-1", "tier": "support"});
    organization
        .project()
        .post("/viewer-tokens")
        .json(body)
        .send()
        .expect_invalid(&["tier"]);
    organization
        .master()
        .delete("/viewer-tiers/support")
        .send()
        .expect_error(404, "not_found");
    organization.create_tier(json!({"name": "support"}));
    viewer.get("/events").send().expect_error(401, "invalid_token");
    assert_eq!(count(&organization.viewer("tenant-1", "support"), &[]), 6);
}

fn every_fault_of_a_tier_is_named(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let post = |body: Value| organization.master().post("/viewer-tiers").json(body).send();
    assert_eq!(
        post(json!({})).expect_invalid(&["name"]).message_on("name"),
        "Required"
    );
    post(json!({"name": ""})).expect_invalid(&["name"]);
    let field = |response: audit_tests::Response, field: &str| {
        let response = response.expect_error(400, "validation_error");
        assert!(
            response.fields().iter().all(|named| named.starts_with(field)),
            "{field}: {response:?}"
        );
    };
    field(post(json!({"name": "a", "categories": ["other"]})), "categories");
    field(post(json!({"name": "a", "categories": "auth"})), "categories");
    field(post(json!({"name": "a", "actions": [5]})), "actions");
    field(
        post(json!({"name": "a", "hidden_fields": "metadata"})),
        "hidden_fields",
    );
    field(post(json!({"name": "a", "colour": "red"})), "colour");
    post(json!({"name": "full"})).expect_error(409, "conflict");
    let get = organization.master().get("/viewer-tiers/unknown");
    get.send().expect_error(404, "not_found");
    let patch = organization
        .master()
        .patch("/viewer-tiers/unknown")
        .json(json!({"categories": ["auth"]}));
    patch.send().expect_error(404, "not_found");
    let tiers = organization
        .master()
        .get("/viewer-tiers")
        .send()
        .expect_status(200)
        .list("viewer_tiers");
    assert_eq!(tiers.len(), 3);
    organization.project().store(event());
}
