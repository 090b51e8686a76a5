//! Summaries count what the pages of a query have, for every filter and every reader.

use audit_tests::{Client, DatabaseKind, Organization, event, event_with, on_both_databases};
use serde_json::{Value, json};
use std::collections::BTreeMap;

on_both_databases! {
    a_summary_counts_the_pages_of_its_query,
    frequent_values_of_many_events_are_counted,
    buckets_begin_at_whole_spans_and_have_no_gap,
    buckets_are_those_of_the_time_zone,
    a_date_alone_is_a_day_of_the_time_zone,
    a_viewer_counts_what_it_sees,
    hidden_fields_have_no_counts,
    a_summary_of_nothing_is_empty,
    too_many_buckets_are_refused_by_the_name_of_the_interval,
    what_is_no_interval_or_split_is_refused,
    test_events_and_other_projects_are_not_counted,
}

/// 300 events over eight days, many of them within one hour.
fn events() -> Vec<Value> {
    let categories = ["auth", "access", "mutation", "admin", "security", "system"];
    let actions = [
        "user.created",
        "user.role.updated",
        "auth.failed",
        "auth.failed_login",
    ];
    let (names, kinds) = (["Alice Adams", "Bob Brown"], ["doc", "user"]);
    let one = |n: usize| {
        let mut event = json!({
            "action": actions[n % 4],
            "category": categories[n * n % 6],
            "actor": {"id": format!("actor-{}", n % 37), "type": "user", "name": names[n % 2]},
            "tenant_id": format!("tenant-{}", n % 3),
            "occurred_at": format!("2026-01-{:02}T12:{:02}:{:02}.000Z", n / 40 + 10, n % 7, n % 60),
        });
        if n % 4 != 3 {
            event["target"] = json!({"id": format!("target-{}", n % 5), "type": kinds[n % 2]});
        }
        event
    };
    (0..300).map(one).collect()
}

fn summary(client: &Client, parameters: &[(&str, &str)]) -> Value {
    let response = client.get("/events/summary").queries(parameters).send();
    response.expect_status(200).body().clone()
}

fn text<'a>(event: &'a Value, pointer: &str) -> Option<&'a str> {
    event.pointer(pointer).and_then(Value::as_str)
}

/// The number of events by what `of` says of them.
fn numbers<'a>(events: &'a [Value], of: impl Fn(&'a Value) -> Option<&'a str>) -> BTreeMap<String, u64> {
    let mut numbers = BTreeMap::new();
    for value in events.iter().filter_map(of) {
        *numbers.entry(value.to_owned()).or_default() += 1;
    }
    numbers
}

/// Compares the summary of a query with its pages.
fn compare(client: &Client, parameters: &[(&str, &str)]) {
    let events = client.pages(&[parameters, &[("limit", "200")]].concat()).concat();
    let days = [parameters, &[("interval", "day"), ("split", "category")]].concat();
    let summary = summary(client, &days);
    assert_eq!(summary["total"], events.len(), "{parameters:?}");
    let by_day = |event| text(event, "/occurred_at").map(|time: &str| &time[..10]);
    let expected = numbers(&events, by_day);
    let buckets = summary["buckets"].as_array().expect("buckets");
    for bucket in buckets {
        let day = &text(bucket, "/start").expect("a start")[..10];
        assert_eq!(
            bucket["count"],
            expected.get(day).copied().unwrap_or(0),
            "{day} of {parameters:?}"
        );
        let of_day: Vec<Value> = events
            .iter()
            .filter(|event| by_day(event) == Some(day))
            .cloned()
            .collect();
        let categories = numbers(&of_day, |event| text(event, "/category"));
        assert_eq!(bucket["categories"], json!(categories), "{day} of {parameters:?}");
    }
    let counted: u64 = buckets.iter().filter_map(|bucket| bucket["count"].as_u64()).sum();
    assert_eq!(summary["total"], counted, "{parameters:?}");
    let top = &summary["top"];
    assert_eq!(top["looked_at"], events.len());
    let fields = [
        ("actor_id", "/actor/id"),
        ("action", "/action"),
        ("category", "/category"),
        ("target_type", "/target/type"),
        ("tenant_id", "/tenant_id"),
    ];
    for (field, pointer) in fields {
        let expected = numbers(&events, |event| text(event, pointer));
        let found = top[field].as_array().expect("a list of values");
        for counted in found {
            let value = text(counted, "/value").expect("a value");
            assert_eq!(counted["count"], expected[value], "{value} of {parameters:?}");
        }
        // Values of the same number are in any order.
        let mut most: Vec<u64> = expected.into_values().collect();
        most.sort_unstable_by_key(|count| std::cmp::Reverse(*count));
        most.truncate(10);
        let found: Vec<u64> = found
            .iter()
            .filter_map(|counted| counted["count"].as_u64())
            .collect();
        assert_eq!(found, most, "{field} of {parameters:?}");
    }
}

fn a_summary_counts_the_pages_of_its_query(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let queries: [&[(&str, &str)]; 13] = [
        &[],
        &[("tenant_id", "tenant-1")],
        &[("actor_id", "actor-3")],
        &[("actor_type", "api_key")],
        &[("action", "user.created")],
        &[("action", "user.*"), ("category", "auth")],
        &[("action", "auth.failed*"), ("target_type", "doc")],
        &[("action", "u*"), ("tenant_id", "tenant-2")],
        &[("category", "security")],
        &[("target_id", "target-2")],
        &[("start_date", "2026-01-11T12:03:00Z"), ("end_date", "2026-01-15")],
        &[("search", "alice fail*")],
        &[("search", "nobody")],
    ];
    // Some events are in the index, and the latest ones perhaps not yet.
    for events in events().chunks(100) {
        project.store_all(events.to_vec());
        for parameters in queries {
            compare(&project, parameters);
        }
    }
}

/// More events than are read to count their values.
fn frequent_values_of_many_events_are_counted(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    for _ in 0..8 {
        for events in events().chunks(100) {
            project.store_all(events.to_vec());
        }
    }
    for parameters in [&[][..], &[("category", "auth")], &[("start_date", "2026-01-12")]] {
        compare(&project, parameters);
    }
}

fn starts(summary: &Value) -> Vec<&str> {
    let buckets = summary["buckets"].as_array().expect("buckets");
    buckets
        .iter()
        .filter_map(|bucket| text(bucket, "/start"))
        .collect()
}

fn buckets_begin_at_whole_spans_and_have_no_gap(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    for time in [
        "2026-01-14T23:59:59.999Z",
        "2026-01-31T10:30:00Z",
        "2026-03-01T00:00:00Z",
    ] {
        project.store(event_with(json!({"occurred_at": time})));
    }
    let of = |interval: &str| summary(&project, &[("interval", interval)]);
    let months = of("month");
    assert_eq!(
        starts(&months),
        [
            "2026-01-01T00:00:00.000Z",
            "2026-02-01T00:00:00.000Z",
            "2026-03-01T00:00:00.000Z"
        ]
    );
    let counts: Vec<&Value> = months["buckets"]
        .as_array()
        .expect("buckets")
        .iter()
        .map(|bucket| &bucket["count"])
        .collect();
    assert_eq!(counts, [2, 0, 1]);
    assert!(
        months["buckets"][0].get("categories").is_none(),
        "it was not split"
    );
    let weeks = of("week");
    assert_eq!(
        (starts(&weeks).len(), starts(&weeks)[0]),
        (7, "2026-01-12T00:00:00.000Z"),
        "a Monday"
    );
    let days = summary(&project, &[]);
    assert_eq!((&days["interval"], starts(&days).len()), (&json!("day"), 47));
    // Both dates: also where there is no event.
    let hours = summary(
        &project,
        &[
            ("start_date", "2026-01-14T20:30:00Z"),
            ("end_date", "2026-01-15T00:30:00Z"),
            ("interval", "hour"),
        ],
    );
    assert_eq!(
        (starts(&hours).len(), starts(&hours)[0]),
        (5, "2026-01-14T20:00:00.000Z")
    );
    assert_eq!(hours["total"], 1);
}

/// The starts of the buckets and their counts.
fn counts(summary: &Value) -> Vec<(&str, u64)> {
    let counts = summary["buckets"].as_array().expect("buckets").iter();
    let counts = counts.map(|bucket| bucket["count"].as_u64().expect("a count"));
    starts(summary).into_iter().zip(counts).collect()
}

fn buckets_are_those_of_the_time_zone(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    // In Berlin clocks are put back on 26 October 2025 at 01:00 UTC, and forward on 30 March at 01:00 UTC.
    for time in [
        "2025-03-29T22:59:59.999Z",
        "2025-03-29T23:00:00Z",
        "2025-03-30T21:59:59.999Z",
        "2025-03-30T22:00:00Z",
        "2025-10-25T22:00:00Z",
        "2025-10-26T00:30:00Z",
        "2025-10-26T01:30:00Z",
        "2025-10-26T22:59:59.999Z",
    ] {
        project.store(event_with(json!({"occurred_at": time})));
    }
    let of = |interval: &str, start: &str, end: &str| {
        let parameters = [
            ("time_zone", "Europe/Berlin"),
            ("interval", interval),
            ("start_date", start),
            ("end_date", end),
        ];
        summary(&project, &parameters)
    };
    let days = of("day", "2025-03-29", "2025-03-31");
    let expected = [
        ("2025-03-28T23:00:00.000Z", 1),
        ("2025-03-29T23:00:00.000Z", 2),
        ("2025-03-30T22:00:00.000Z", 1),
    ];
    assert_eq!(counts(&days), expected, "a day of 23 hours");
    let days = of("day", "2025-10-26", "2025-10-27");
    let expected = [("2025-10-25T22:00:00.000Z", 4), ("2025-10-26T23:00:00.000Z", 0)];
    assert_eq!(counts(&days), expected, "a day of 25 hours");
    let hours = of("hour", "2025-10-26", "2025-10-26");
    assert_eq!(counts(&hours).len(), 25);
    assert_eq!(
        counts(&hours)[2..4],
        [("2025-10-26T00:00:00.000Z", 1), ("2025-10-26T01:00:00.000Z", 1)],
        "02:00 is shown twice"
    );
    let months = of("month", "2025-03-01", "2025-04-30");
    assert_eq!(
        starts(&months),
        ["2025-02-28T23:00:00.000Z", "2025-03-31T22:00:00.000Z"]
    );
    let whole = summary(&project, &[("time_zone", "europe/berlin"), ("interval", "day")]);
    assert_eq!(
        (&whole["total"], starts(&whole)[0]),
        (&json!(8), "2025-03-28T23:00:00.000Z")
    );
}

fn a_date_alone_is_a_day_of_the_time_zone(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    for time in [
        "2025-10-18T01:00:00Z",
        "2025-10-18T06:59:59.999Z",
        "2025-10-18T07:00:00Z",
        "2025-10-19T06:59:59.999Z",
        "2025-10-19T07:00:00Z",
    ] {
        project.store(event_with(json!({"occurred_at": time})));
    }
    let total = |zone: &str| {
        let parameters = [
            ("time_zone", zone),
            ("start_date", "2025-10-18"),
            ("end_date", "2025-10-18"),
        ];
        summary(&project, &parameters)["total"].clone()
    };
    assert_eq!((total("America/Los_Angeles"), total("UTC")), (json!(2), json!(3)));
    let day = [
        ("time_zone", "America/Los_Angeles"),
        ("start_date", "2025-10-18"),
        ("end_date", "2025-10-18"),
        ("format", "jsonl"),
    ];
    let export = project.get("/events/export").queries(&day).send_raw();
    let times = String::from_utf8(export.bytes).expect("UTF-8");
    let has = |time: &str| times.contains(&format!("\"occurred_at\":\"{time}\""));
    assert!(
        has("2025-10-18T07:00:00.000Z") && has("2025-10-19T06:59:59.999Z"),
        "{times}"
    );
    assert!(
        !has("2025-10-18T06:59:59.999Z") && !has("2025-10-19T07:00:00.000Z"),
        "{times}"
    );
}

fn a_viewer_counts_what_it_sees(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    organization.project().store_all(events()[..100].to_vec());
    let tier = json!({"name": "restricted", "categories": ["auth", "admin"], "actions": ["user.*", "*_login"], "hidden_fields": ["actor.name"]});
    organization.create_tier(tier);
    for tier in ["full", "standard", "minimal", "restricted"] {
        let viewer = organization.viewer("tenant-1", tier);
        compare(&viewer, &[]);
        // The tenant of the token, whatever the request says.
        compare(&viewer, &[("tenant_id", "tenant-2")]);
        compare(&viewer, &[("search", "alice*")]);
        compare(&viewer, &[("category", "security")]);
    }
}

fn hidden_fields_have_no_counts(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    organization.project().store_all(events()[..30].to_vec());
    let tier = json!({"name": "hiding", "hidden_fields": ["actor", "category", "target.type"]});
    organization.create_tier(tier);
    let viewer = organization.viewer("tenant-1", "hiding");
    let seen = summary(&viewer, &[("split", "category"), ("interval", "day")]);
    assert_eq!(seen["total"], 10);
    assert!(seen["buckets"][0].get("categories").is_none(), "{seen}");
    let fields: Vec<&String> = seen["top"].as_object().expect("an object").keys().collect();
    assert_eq!(fields, ["action", "looked_at", "tenant_id"]);
    for hidden in [
        ("actor_id", "actor-1"),
        ("category", "auth"),
        ("target_type", "doc"),
    ] {
        let found = summary(&viewer, &[hidden]);
        assert_eq!(
            (&found["total"], &found["buckets"]),
            (&json!(0), &json!([])),
            "{hidden:?}"
        );
    }
}

fn a_summary_of_nothing_is_empty(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let nothing = summary(&project, &[]);
    assert_eq!(nothing["buckets"], json!([]));
    assert_eq!(nothing["total"], 0);
    assert_eq!(
        nothing["top"],
        json!({"looked_at": 0, "actor_id": [], "action": [], "category": [], "target_type": [], "tenant_id": []})
    );
    let reversed = summary(
        &project,
        &[("start_date", "2026-02-01"), ("end_date", "2026-01-01")],
    );
    assert_eq!(
        (&reversed["buckets"], &reversed["total"]),
        (&json!([]), &json!(0))
    );
}

fn too_many_buckets_are_refused_by_the_name_of_the_interval(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    project.store(event());
    let of = |minutes: &str| {
        let parameters = [
            ("interval", "minute"),
            ("start_date", "2026-01-15T00:00:00Z"),
            ("end_date", minutes),
        ];
        project.get("/events/summary").queries(&parameters).send()
    };
    assert_eq!(
        of("2026-01-15T16:39:59Z")
            .expect_status(200)
            .list("buckets")
            .len(),
        1_000
    );
    of("2026-01-15T16:40:00Z").expect_invalid(&["interval"]);
}

fn what_is_no_interval_or_split_is_refused(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let refused = |name: &str, value: &str| {
        project
            .get("/events/summary")
            .query(name, value)
            .send()
            .expect_invalid(&[name]);
    };
    refused("interval", "fortnight");
    refused("interval", "");
    refused("split", "action");
    refused("time_zone", "Europe/Bonn");
    refused("time_zone", "+02:00");
    refused("time_zone", "");
    refused("limit", "10");
    refused("cursor", "x");
}

fn test_events_and_other_projects_are_not_counted(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let (project, test) = (organization.project(), organization.test());
    project.store_all(vec![event(); 3]);
    test.store_all(vec![event(); 5]);
    Organization::fresh(database).project().store(event());
    let total = |client: &Client| summary(client, &[("tenant_id", "tenant-1")])["total"].clone();
    assert_eq!((total(&project), total(&test)), (json!(3), json!(5)));
    let id = &organization.project_id;
    let master = |environment| {
        summary(
            &organization.master(),
            &[
                ("project_id", id),
                ("tenant_id", "tenant-1"),
                ("environment", environment),
            ],
        )
    };
    assert_eq!(
        (&master("live")["total"], &master("test")["total"]),
        (&json!(3), &json!(5))
    );
}
