//! Every filter, alone and in pairs, against a reference implementation in a few lines of Rust.

use audit_tests::{Client, DatabaseKind, Organization, event, event_with, merge, on_both_databases};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Values of every field in such steps that all pairs of values occur.
fn events() -> Vec<Value> {
    let actions = [
        "user.created",
        "user.deleted",
        "user.role.updated",
        "username.changed",
        "auth.failed",
        "auth.failed_login",
        "auth.failures.seen",
    ];
    let categories = ["auth", "access", "mutation", "admin", "security", "system"];
    let kinds = ["user", "api_key", "service", "system"];
    let names = ["Alice Adams", "Bob Brown", "alice cooper"];
    let outcomes = ["success", "failure", "denied"];
    let numbers = 0..84_usize;
    let one = |n: usize| {
        let event = json!({
            "action": actions[n % actions.len()],
            "category": categories[n / 2 % categories.len()],
            "actor": {
                "id": format!("actor-{}", n % 5),
                "type": kinds[n / 3 % kinds.len()],
                "name": names[n / 5 % names.len()],
            },
            "tenant_id": format!("tenant-{}", n / 7 % 3),
            "occurred_at": format!("2026-01-{:02}T12:00:00.000Z", n % 10 + 10),
            "outcome": outcomes[n / 2 % outcomes.len()],
            "context": {"ip_address": format!("192.0.2.{}", n % 4), "session_id": format!("session-{}", n % 6)},
        });
        let kind = ["doc", "user"][n / 4 % 2];
        let target =
            json!({"target": {"id": format!("target-{}", n % 3), "type": kind, "name": "Annual Report"}});
        if n % 4 == 3 { event } else { merge(event, target) }
    };
    numbers.map(one).collect()
}

const FILTERS: &[(&str, &str)] = &[
    ("tenant_id", "tenant-1"),
    ("actor_id", "actor-3"),
    ("actor_type", "api_key"),
    ("action", "user.created"),
    ("action", "user.*"),
    ("action", "auth.failed*"),
    ("category", "security"),
    ("target_id", "target-2"),
    ("target_type", "doc"),
    ("ip_address", "192.0.2.1"),
    ("session_id", "session-2"),
    ("outcome", "failure"),
    ("start_date", "2026-01-13T12:00:00Z"),
    ("end_date", "2026-01-16T14:00:00+02:00"),
    ("search", "alice report"),
    ("search", "fail* bob"),
];

fn matches(event: &Value, (name, value): (&str, &str)) -> bool {
    if let Some(name) = name.strip_prefix("not_") {
        return !matches(event, (name, value));
    }
    let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str);
    match name {
        "tenant_id" => text("/tenant_id") == Some(value),
        "actor_id" => text("/actor/id") == Some(value),
        "actor_type" => text("/actor/type") == Some(value),
        "action" => match value.strip_suffix('*') {
            Some(prefix) => text("/action").is_some_and(|action| action.starts_with(prefix)),
            None => text("/action") == Some(value),
        },
        "category" => text("/category") == Some(value),
        "target_id" => text("/target/id") == Some(value),
        "target_type" => text("/target/type") == Some(value),
        "ip_address" => text("/context/ip_address") == Some(value),
        "session_id" => text("/context/session_id") == Some(value),
        "outcome" => text("/outcome") == Some(value),
        // Both bounds as UTC text in one format, which sorts by time.
        "start_date" => text("/occurred_at") >= Some("2026-01-13T12:00:00.000Z"),
        "end_date" => text("/occurred_at") <= Some("2026-01-16T12:00:00.000Z"),
        "search" => {
            let searched =
                ["/action", "/actor/name", "/target/name"].map(|pointer| text(pointer).unwrap_or_default());
            let searched = searched.join(" ").to_lowercase();
            let words: Vec<&str> = searched
                .split(|character: char| !character.is_alphanumeric())
                .collect();
            value.split(' ').all(|wanted| match wanted.strip_suffix('*') {
                Some(prefix) => words.iter().any(|word| word.starts_with(prefix)),
                None => words.contains(&wanted),
            })
        }
        _ => unreachable!("{name} is not a filter of these tests"),
    }
}

/// A project that holds [`events`], and the sent events by id.
fn project_with_events(database: DatabaseKind) -> (Client, BTreeMap<String, Value>) {
    let project = Organization::fresh(database).project();
    let events = events();
    let ids = project.store_all(events.clone());
    (project, ids.into_iter().zip(events).collect())
}

fn expected(stored: &BTreeMap<String, Value>, filters: &[(&str, &str)]) -> Vec<String> {
    let mut found: Vec<_> = stored
        .iter()
        .filter(|(_, event)| filters.iter().all(|&filter| matches(event, filter)))
        .collect();
    found.sort_by_key(|&(id, event)| std::cmp::Reverse((event["occurred_at"].to_string(), id)));
    found.into_iter().map(|(id, _)| id.clone()).collect()
}

on_both_databases! {
    each_filter_finds_what_it_says_and_nothing_else,
    each_pair_of_filters_finds_what_both_say,
    values_are_excluded_and_several_of_one_field_are_alternatives,
    a_parameter_is_repeated_up_to_its_limit_and_only_where_it_can_be,
    filters_compare_whole_values_and_case,
    an_action_prefix_does_not_stray_into_its_neighbours,
    a_star_is_a_wildcard_only_at_the_end,
    both_ends_of_a_span_of_time_belong_to_it,
}

fn each_filter_finds_what_it_says_and_nothing_else(database: DatabaseKind) {
    let (project, stored) = project_with_events(database);
    for &filter in FILTERS {
        let expected = expected(&stored, &[filter]);
        assert!(
            !expected.is_empty() && expected.len() < stored.len(),
            "{filter:?} tells events apart"
        );
        assert_eq!(
            project.find_ids(&[filter, ("limit", "200")]),
            expected,
            "{filter:?}"
        );
    }
}

fn each_pair_of_filters_finds_what_both_say(database: DatabaseKind) {
    let (project, stored) = project_with_events(database);
    let mut nonempty = 0;
    for (index, &one) in FILTERS.iter().enumerate() {
        for &other in FILTERS[index + 1..].iter().filter(|other| other.0 != one.0) {
            let expected = expected(&stored, &[one, other]);
            nonempty += usize::from(!expected.is_empty());
            assert_eq!(
                project.find_ids(&[one, other, ("limit", "200")]),
                expected,
                "{one:?} and {other:?}"
            );
        }
    }
    assert!(
        nonempty > 50,
        "only {nonempty} pairs find anything: the events are too much alike"
    );
}

fn values_are_excluded_and_several_of_one_field_are_alternatives(database: DatabaseKind) {
    let (project, stored) = project_with_events(database);
    let of_fields = || {
        FILTERS
            .iter()
            .filter(|(name, _)| !name.contains("date") && *name != "search")
    };
    for &(name, value) in of_fields() {
        let exclusion = format!("not_{name}");
        for &(other, wanted) in of_fields() {
            let (query, expected): (_, Vec<String>) = match other == name {
                // One of both values.
                true => {
                    let query = [(name, value), (name, wanted)];
                    let either = |event: &Value| query.iter().any(|one| matches(event, *one));
                    let all = expected(&stored, &[]).into_iter();
                    (query, all.filter(|id| either(&stored[id])).collect())
                }
                false => {
                    let query = [(exclusion.as_str(), value), (other, wanted)];
                    (query, expected(&stored, &query))
                }
            };
            let found = project.find_ids(&[query[0], query[1], ("limit", "200")]);
            assert_eq!(found, expected, "{query:?}");
        }
        // What the service has recorded itself is not excluded.
        let own = project.find_ids(&[("tenant_id", "audit-server")]);
        let query = [
            (exclusion.as_str(), value),
            ("not_tenant_id", "audit-server"),
            ("limit", "200"),
        ];
        let found = project.find_ids(&query);
        assert_eq!(
            found,
            expected(&stored, &query[..1]),
            "{exclusion}, own events: {own:?}"
        );
    }
    let nothing = project.find_ids(&[("actor_id", "actor-3"), ("not_actor_id", "actor-3")]);
    assert!(nothing.is_empty(), "{nothing:?}");
}

fn a_parameter_is_repeated_up_to_its_limit_and_only_where_it_can_be(database: DatabaseKind) {
    let (project, stored) = project_with_events(database);
    let values: Vec<String> = (0..17).map(|number| format!("actor-{number}")).collect();
    for name in ["actor_id", "not_actor_id"] {
        let mut query: Vec<(&str, &str)> = values[..16].iter().map(|value| (name, value.as_str())).collect();
        let count = if name == "actor_id" { stored.len() } else { 0 };
        let found =
            project.find_ids(&[&query[..], &[("limit", "200"), ("not_tenant_id", "audit-server")]].concat());
        assert_eq!(found.len(), count, "{name}");
        query.push((name, &values[16]));
        project
            .get("/events")
            .queries(&query)
            .send()
            .expect_invalid(&[name]);
    }
    for path in ["/events", "/events/feed", "/events/summary", "/events/export"] {
        let one = project
            .get(path)
            .query("category", "auth")
            .query("not_category", "admin");
        one.query("category", "nothing")
            .send()
            .expect_invalid(&["category"]);
    }
    for (name, value) in [("limit", "10"), ("search", "alice"), ("start_date", "2026-01-13")] {
        let twice = project.get("/events").query(name, value).query(name, value);
        twice.send().expect_invalid(&[name]);
    }
}

fn filters_compare_whole_values_and_case(database: DatabaseKind) {
    let (project, _) = project_with_events(database);
    let strangers = [
        ("tenant_id", "tenant"),
        ("tenant_id", "TENANT-1"),
        ("actor_id", "actor-"),
        ("actor_id", "actor-3 "),
        ("target_id", "target-9"),
        ("target_type", "do"),
        ("target_type", "Doc"),
        ("action", "user.creat"),
        ("actor_id", "%"),
        ("actor_id", "actor-_"),
        ("tenant_id", "*"),
        ("tenant_id", "' OR '1'='1"),
    ];
    for filter in strangers {
        assert_eq!(project.find_ids(&[filter]), Vec::<String>::new(), "{filter:?}");
    }
}

fn an_action_prefix_does_not_stray_into_its_neighbours(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let actions = [
        "user.a",
        "user.zz.z",
        "user_.a",
        "users.a",
        "user0.a",
        "useq.a",
        "user.z_",
        "usf.a",
    ];
    for action in actions {
        project.store(event_with(json!({"action": action})));
    }
    let found = |pattern: &str| {
        let mut found: Vec<String> = project
            .find(&[("action", pattern)])
            .iter()
            .map(|event| event["action"].as_str().expect("an action").to_owned())
            .collect();
        found.sort();
        found
    };
    assert_eq!(found("user.*"), ["user.a", "user.z_", "user.zz.z"]);
    assert_eq!(
        found("user*"),
        ["user.a", "user.z_", "user.zz.z", "user0.a", "user_.a", "users.a"]
    );
    assert_eq!(found("user.z*"), ["user.z_", "user.zz.z"]);
    assert_eq!(found("user.a*"), ["user.a"]);
    assert_eq!(found("user.b*"), Vec::<String>::new());
}

fn a_star_is_a_wildcard_only_at_the_end(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    project.store(event());
    for pattern in ["*.created", "us*r.created", "user.**"] {
        project
            .get("/events")
            .query("action", pattern)
            .send()
            .expect_invalid(&["action"]);
    }
}

fn both_ends_of_a_span_of_time_belong_to_it(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let at = |time: &str| project.store(event_with(json!({"occurred_at": time})));
    at("2026-01-15T10:29:59.999Z");
    let start = at("2026-01-15T10:30:00.000Z");
    let end = at("2026-01-15T10:30:01.000Z");
    at("2026-01-15T10:30:01.001Z");
    let span = [
        ("start_date", "2026-01-15T12:30:00+02:00"),
        ("end_date", "2026-01-15T10:30:01Z"),
    ];
    assert_eq!(project.find_ids(&span), [end, start.clone()]);
    let moment = [
        ("start_date", "2026-01-15T10:30:00Z"),
        ("end_date", "2026-01-15T10:30:00Z"),
    ];
    assert_eq!(project.find_ids(&moment), [start]);
}
