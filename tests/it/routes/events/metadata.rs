//! Filters by members of the metadata that the project names.

use audit_tests::{Client, DatabaseKind, Organization, event_with, on_both_databases};
use serde_json::{Value, json};

const PATHS: [&str; 5] = [
    "metadata.lines.sku",
    "metadata.on",
    "metadata.order.id",
    "metadata.plan",
    "metadata.tags",
];
const ROUTES: [&str; 4] = ["/events", "/events/feed", "/events/summary", "/events/export"];

/// Changes the paths of the project. Returns the project.
fn set_paths(organization: &Organization, paths: &[&str]) -> Value {
    let path = format!("/projects/{}", organization.project_id);
    let change = json!({"metadata_filter_paths": paths});
    let response = organization.master().patch(&path).json(change).send();
    response.expect_status(200)["project"].clone()
}

/// An organization that filters by [`PATHS`]. The targets of its four events are their numbers.
fn organization_with_events(database: DatabaseKind) -> Organization {
    let organization = Organization::fresh(database);
    set_paths(&organization, &PATHS);
    let metadata = [
        json!({"plan": "pro", "order": {"id": 7}, "tags": ["a", "b"]}),
        json!({"plan": "free", "order": {"id": "7"}, "on": true}),
        json!({"plan": "pro", "lines": [{"sku": "x"}, {"sku": "y"}], "on": "true", "other": "z"}),
    ];
    let mut events: Vec<Value> = metadata
        .into_iter()
        .map(|metadata| json!({"metadata": metadata}))
        .collect();
    events.push(json!({}));
    let numbered = events.into_iter().enumerate().map(|(number, event)| {
        let target = json!({"target": {"id": number.to_string(), "type": "number"}});
        audit_tests::merge(event_with(event), target)
    });
    organization.project().store_all(numbered.collect());
    organization
}

fn numbers(events: &[Value]) -> Vec<String> {
    let number = |event: &Value| event["target"]["id"].as_str().expect("a number").to_owned();
    let mut numbers: Vec<String> = events.iter().map(number).collect();
    numbers.sort();
    numbers
}

/// The numbers of the events that the list, the feed and the export find and the summary counts, which must agree.
fn found(client: &Client, filter: &[(&str, &str)]) -> Vec<String> {
    let filter = [filter, &[("tenant_id", "tenant-1")]].concat();
    let listed = numbers(&client.find(&filter));
    let page = client.get("/events/feed").queries(&filter).send();
    assert_eq!(
        numbers(&page.expect_status(200).list("events")),
        listed,
        "{filter:?}"
    );
    let exported = client.get("/events/export").queries(&filter).send_raw();
    let lines = String::from_utf8(exported.bytes).expect("an export in UTF-8");
    let lines: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON lines"))
        .collect();
    assert_eq!(numbers(&lines), listed, "{filter:?}");
    let summary = client.get("/events/summary").queries(&filter).send();
    assert_eq!(summary.expect_status(200)["total"], listed.len(), "{filter:?}");
    listed
}

on_both_databases! {
    members_that_the_project_names_are_filtered_by_everywhere,
    a_member_that_the_project_does_not_name_is_refused,
    a_cursor_belongs_to_its_conditions_on_metadata,
    what_a_tier_hides_of_the_metadata_is_not_filtered_by,
    the_paths_are_shown_where_the_project_is,
    every_fault_of_the_paths_is_named,
}

fn members_that_the_project_names_are_filtered_by_everywhere(database: DatabaseKind) {
    let project = organization_with_events(database).project();
    for (filter, expected) in [
        (&[("metadata.plan", "pro")][..], &["0", "2"][..]),
        (&[("metadata.plan", "PRO")], &[]),
        (
            &[("metadata.plan", "pro"), ("metadata.plan", "free")],
            &["0", "1", "2"],
        ),
        (&[("not_metadata.plan", "pro")], &["1", "3"]),
        (
            &[("not_metadata.plan", "pro"), ("not_metadata.plan", "free")],
            &["3"],
        ),
        (&[("metadata.order.id", "7")], &["0", "1"]),
        (&[("metadata.order.id", "7"), ("metadata.plan", "pro")], &["0"]),
        (&[("metadata.on", "true")], &["1", "2"]),
        (&[("metadata.tags", "b")], &["0"]),
        (&[("not_metadata.tags", "b")], &["1", "2", "3"]),
        (&[("metadata.lines.sku", "y")], &["2"]),
        (
            &[("metadata.plan", "pro"), ("not_metadata.lines.sku", "x")],
            &["0"],
        ),
        (&[("metadata.plan", "pro"), ("not_metadata.plan", "pro")], &[]),
        (&[("metadata.plan", "pro"), ("target_id", "2")], &["2"]),
    ] {
        assert_eq!(found(&project, filter), expected, "{filter:?}");
    }
}

fn a_member_that_the_project_does_not_name_is_refused(database: DatabaseKind) {
    let organization = organization_with_events(database);
    let project = organization.project();
    let viewer = organization.viewer("tenant-1", "full");
    for route in ROUTES {
        for name in ["metadata.other", "not_metadata.other", "metadata.order"] {
            let refused = project.get(route).query(name, "z").send().expect_invalid(&[name]);
            assert!(refused.message_on(name).contains("metadata.order.id"), "{route}");
            let refused = viewer.get(route).query(name, "z").send().expect_invalid(&[name]);
            let message = refused.message_on(name);
            assert!(!PATHS.iter().any(|path| message.contains(path)), "{message}");
        }
        for name in [
            "metadata",
            "metadata.",
            "metadata.*",
            "not_metadata.a..b",
            "metadata_plan",
        ] {
            project.get(route).query(name, "z").send().expect_invalid(&[name]);
        }
        let name = "metadata.plan";
        let values: Vec<(&str, &str)> = vec![(name, "pro"); 17];
        project.get(route).queries(&values).send().expect_invalid(&[name]);
        project.get(route).query(name, "").send().expect_invalid(&[name]);
    }
    set_paths(&organization, &[]);
    let refused = project.get("/events").query("metadata.plan", "pro").send();
    let refused = refused.expect_invalid(&["metadata.plan"]);
    assert!(
        refused
            .message_on("metadata.plan")
            .contains("metadata_filter_paths")
    );
}

fn a_cursor_belongs_to_its_conditions_on_metadata(database: DatabaseKind) {
    let project = organization_with_events(database).project();
    let page = |filter: &[(&str, &str)]| project.get("/events").query("limit", "1").queries(filter).send();
    let first = page(&[("metadata.plan", "pro")]).expect_status(200);
    let cursor = first.text("cursor");
    let next = page(&[("metadata.plan", "pro"), ("cursor", &cursor)]).expect_status(200);
    assert_eq!(
        numbers(&[first.list("events"), next.list("events")].concat()),
        ["0", "2"]
    );
    for other in [
        &[("metadata.plan", "free")][..],
        &[("not_metadata.plan", "pro")],
        &[],
    ] {
        page(&[other, &[("cursor", &cursor)]].concat()).expect_invalid(&["cursor"]);
    }
    let follow = |filter: &[(&str, &str)]| project.get("/events/feed").queries(filter).send();
    let after = follow(&[("metadata.plan", "pro")])
        .expect_status(200)
        .text("cursor");
    follow(&[("metadata.plan", "pro"), ("after", &after)]).expect_status(200);
    follow(&[("metadata.plan", "free"), ("after", &after)]).expect_invalid(&["after"]);
}

fn what_a_tier_hides_of_the_metadata_is_not_filtered_by(database: DatabaseKind) {
    let organization = organization_with_events(database);
    organization
        .create_tier(json!({"name": "no-plan", "hidden_fields": ["metadata.plan", "metadata.tags.0"]}));
    let full = organization.viewer("tenant-1", "full");
    assert_eq!(found(&full, &[("metadata.plan", "pro")]), ["0", "2"]);
    assert_eq!(found(&full, &[("not_metadata.plan", "pro")]), ["1", "3"]);
    let stranger = organization.viewer("tenant-2", "full");
    assert_eq!(stranger.find(&[("metadata.plan", "pro")]), [] as [Value; 0]);
    let standard = organization.viewer("tenant-1", "standard");
    let some = organization.viewer("tenant-1", "no-plan");
    for filter in [
        ("metadata.plan", "pro"),
        ("not_metadata.plan", "pro"),
        ("not_metadata.plan", "x"),
    ] {
        for viewer in [&standard, &some] {
            assert_eq!(found(viewer, &[filter]), [""; 0], "{filter:?}");
        }
    }
    assert_eq!(found(&standard, &[("not_metadata.on", "true")]), [""; 0]);
    assert_eq!(found(&some, &[("metadata.order.id", "7")]), ["0", "1"]);
    assert_eq!(found(&some, &[("metadata.tags", "b")]), ["0"]);
    assert_eq!(found(&some, &[("metadata.tags", "a")]), [""; 0]);
    assert_eq!(found(&some, &[("not_metadata.tags", "a")]), ["0", "1", "2", "3"]);
}

fn the_paths_are_shown_where_the_project_is(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let master = organization.master();
    let path = format!("/projects/{}", organization.project_id);
    assert_eq!(master.one(&path, "project").get("metadata_filter_paths"), None);
    let changed = set_paths(&organization, &["metadata.plan", "metadata.a", "metadata.plan"]);
    assert_eq!(
        changed["metadata_filter_paths"],
        json!(["metadata.a", "metadata.plan"])
    );
    assert_eq!(master.one(&path, "project"), changed);
    let listed = master.get("/projects").send().expect_status(200).list("projects");
    assert_eq!(listed, std::slice::from_ref(&changed));
    // What is named again, or not mentioned, is no change.
    assert_eq!(
        set_paths(&organization, &["metadata.a", "metadata.plan"]),
        changed
    );
    let renamed = master.patch(&path).json(json!({"name": "default"})).send();
    assert_eq!(renamed.expect_status(200)["project"], changed);
    assert_eq!(set_paths(&organization, &[]).get("metadata_filter_paths"), None);
}

fn every_fault_of_the_paths_is_named(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let path = format!("/projects/{}", organization.project_id);
    let send = |paths: Value| {
        let change = json!({"metadata_filter_paths": paths});
        organization.master().patch(&path).json(change).send()
    };
    let longest = format!("metadata.{}", "a".repeat(247));
    let longer = format!("{longest}a");
    for text in [
        "plan",
        "metadata",
        "metadata.",
        "metadata.*",
        "actor.id",
        "metadata.a\0",
        &longer,
    ] {
        send(json!(["metadata.a", text])).expect_invalid(&["metadata_filter_paths[1]"]);
    }
    let paths = |count: usize| {
        (0..count)
            .map(|number| format!("metadata.p{number}"))
            .collect::<Vec<_>>()
    };
    send(json!(paths(17))).expect_invalid(&["metadata_filter_paths"]);
    send(json!("metadata.a")).expect_invalid(&["metadata_filter_paths"]);
    send(json!(paths(16))).expect_status(200);
    send(json!([longest])).expect_status(200);
}
