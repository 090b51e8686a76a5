use audit_tests::{Client, DatabaseKind, Organization, event_with, on_both_databases};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const EVENTS: usize = 23;

/// A project with [`EVENTS`] events, several at each moment.
fn project_with_events(database: DatabaseKind) -> Client {
    let project = Organization::fresh(database).project();
    project.store_all((0..EVENTS).map(numbered).collect());
    project
}

fn numbered(n: usize) -> Value {
    event_with(json!({
        "occurred_at": format!("2026-01-15T10:30:{:02}Z", n % 4),
        "actor": {"id": format!("actor-{}", n % 2), "name": format!("Person {}", n % 3)},
    }))
}

fn ids(pages: &[Vec<Value>]) -> Vec<String> {
    pages
        .iter()
        .flatten()
        .map(|event| event["id"].as_str().expect("an id").to_owned())
        .collect()
}

/// The first page of `limit` events, and its cursor.
fn first_page(client: &Client, parameters: &[(&str, &str)]) -> (Vec<Value>, String) {
    let response = client
        .get("/events")
        .queries(parameters)
        .send()
        .expect_status(200);
    (response.list("events"), response.text("cursor"))
}

/// `text` with the character at `position` replaced by another one.
fn with_other_character(text: &str, position: usize) -> String {
    let other = |character| if character == 'A' { 'B' } else { 'A' };
    text.chars()
        .enumerate()
        .map(|(index, character)| {
            if index == position {
                other(character)
            } else {
                character
            }
        })
        .collect()
}

on_both_databases! {
    the_pages_together_are_everything_exactly_once_in_order,
    pages_of_a_filtered_query_stay_filtered,
    events_that_arrive_meanwhile_move_nothing,
    pages_are_read_oldest_first_as_well,
    the_page_size_may_change_on_the_way,
    a_cursor_is_bound_to_its_filters,
    a_changed_cursor_is_refused,
    a_cursor_of_another_project_shows_nothing_of_it,
}

fn the_pages_together_are_everything_exactly_once_in_order(database: DatabaseKind) {
    let project = project_with_events(database);
    let all = project.find_ids(&[("limit", "200")]);
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), EVENTS);
    for limit in ["1", "2", "3", "7", "22", "23", "24", "200"] {
        let pages = project.pages(&[("limit", limit)]);
        assert_eq!(ids(&pages), all, "limit {limit}");
        let size: usize = limit.parse().expect("a number");
        assert!(
            pages[..pages.len() - 1].iter().all(|page| page.len() == size),
            "only the last page is shorter"
        );
        assert_eq!(
            pages.len(),
            EVENTS.div_ceil(size),
            "no empty page at the end, limit {limit}"
        );
    }
}

fn pages_of_a_filtered_query_stay_filtered(database: DatabaseKind) {
    let project = project_with_events(database);
    let queries: [&[(&str, &str)]; 5] = [
        &[("actor_id", "actor-1")],
        &[("search", "person 2")],
        &[("search", "pers*"), ("actor_id", "actor-0")],
        &[("action", "user.*"), ("start_date", "2026-01-15T10:30:01Z")],
        &[("end_date", "2026-01-15T10:30:01Z"), ("category", "mutation")],
    ];
    for query in queries {
        let all = project.find_ids(&[query, &[("limit", "200")]].concat());
        assert!(all.len() > 4, "{query:?}");
        assert_eq!(
            ids(&project.pages(&[query, &[("limit", "2")]].concat())),
            all,
            "{query:?}"
        );
    }
}

fn events_that_arrive_meanwhile_move_nothing(database: DatabaseKind) {
    let project = project_with_events(database);
    let existing: Vec<String> = project.find_ids(&[("limit", "200")]);
    let (mut events, mut cursor) = first_page(&project, &[("limit", "3")]);
    let mut seen = Vec::new();
    loop {
        seen.append(&mut events);
        // Before, at, between and after the moments of the others.
        project.store_all((0..5).map(numbered).collect());
        project.store(event_with(json!({"occurred_at": "2026-01-15T10:30:01.5Z"})));
        project.store(event_with(json!({"occurred_at": "2026-01-16T10:30:00Z"})));
        let response = project
            .get("/events")
            .query("limit", "3")
            .query("cursor", &cursor)
            .send()
            .expect_status(200);
        events = response.list("events");
        match response["cursor"].as_str() {
            Some(next) => next.clone_into(&mut cursor),
            None => break,
        }
    }
    seen.append(&mut events);
    let seen = ids(&[seen]);
    assert_eq!(
        seen.iter().collect::<BTreeSet<_>>().len(),
        seen.len(),
        "nothing is repeated"
    );
    let of_the_first_moment: Vec<_> = seen.into_iter().filter(|id| existing.contains(id)).collect();
    assert_eq!(of_the_first_moment, existing, "nothing is skipped");
}

fn pages_are_read_oldest_first_as_well(database: DatabaseKind) {
    let project = project_with_events(database);
    let queries: [&[(&str, &str)]; 5] = [
        &[],
        &[("actor_id", "actor-1")],
        &[("search", "pers*"), ("not_actor_id", "actor-0")],
        &[("start_date", "2026-01-15T10:30:01Z")],
        &[("end_date", "2026-01-15T10:30:01Z"), ("category", "mutation")],
    ];
    for query in queries {
        let mut all = project.find_ids(&[query, &[("limit", "200")]].concat());
        assert_eq!(
            project.find_ids(&[query, &[("order", "desc"), ("limit", "200")]].concat()),
            all
        );
        all.reverse();
        for limit in ["1", "3", "200"] {
            let pages = project.pages(&[query, &[("order", "asc"), ("limit", limit)]].concat());
            assert_eq!(ids(&pages), all, "{query:?}, limit {limit}");
        }
    }
    let (_, cursor) = first_page(&project, &[("order", "asc"), ("limit", "3")]);
    for order in [&[][..], &[("order", "desc")]] {
        let request = project.get("/events").queries(order).query("cursor", &cursor);
        request.send().expect_invalid(&["cursor"]);
    }
    for path in ["/events/feed", "/events/export", "/events/summary"] {
        project
            .get(path)
            .query("order", "asc")
            .send()
            .expect_invalid(&["order"]);
    }
    for order in ["oldest", "ASC", ""] {
        project
            .get("/events")
            .query("order", order)
            .send()
            .expect_invalid(&["order"]);
    }
}

fn the_page_size_may_change_on_the_way(database: DatabaseKind) {
    let project = project_with_events(database);
    let all = project.find_ids(&[("limit", "200")]);
    let (_, cursor) = first_page(&project, &[("limit", "3")]);
    assert_eq!(
        project.find_ids(&[("limit", "10"), ("cursor", &cursor)]),
        all[3..13]
    );
    assert_eq!(
        project.find_ids(&[("limit", "10"), ("cursor", &cursor)]),
        all[3..13],
        "a cursor can be used again"
    );
}

fn a_cursor_is_bound_to_its_filters(database: DatabaseKind) {
    let project = project_with_events(database);
    let (_, cursor) = first_page(&project, &[("limit", "3"), ("actor_id", "actor-1")]);
    let others: [&[(&str, &str)]; 5] = [
        &[],
        &[("actor_id", "actor-0")],
        &[("tenant_id", "tenant-1")],
        &[("actor_id", "actor-1"), ("category", "mutation")],
        &[("actor_id", "actor-1"), ("search", "person")],
    ];
    for other in others {
        let request = project
            .get("/events")
            .queries(other)
            .query("limit", "3")
            .query("cursor", &cursor);
        request.send().expect_invalid(&["cursor"]);
    }
    let same = [
        ("actor_id", "actor-1"),
        ("limit", "3"),
        ("cursor", cursor.as_str()),
    ];
    assert_eq!(project.find(&same).len(), 3);
}

fn a_changed_cursor_is_refused(database: DatabaseKind) {
    let project = project_with_events(database);
    let (_, cursor) = first_page(&project, &[("limit", "3")]);
    let mut changed: Vec<String> = (0..cursor.chars().count())
        .map(|position| with_other_character(&cursor, position))
        .collect();
    changed.extend([
        format!("{cursor}A"),
        cursor[1..].to_owned(),
        cursor[..cursor.len() - 1].to_owned(),
    ]);
    changed.extend(["x".to_owned(), "0".to_owned(), "A".repeat(10_000), "é".to_owned()]);
    for cursor in changed {
        project
            .get("/events")
            .query("limit", "3")
            .query("cursor", &cursor)
            .send()
            .expect_invalid(&["cursor"]);
    }
}

fn a_cursor_of_another_project_shows_nothing_of_it(database: DatabaseKind) {
    let (_, cursor) = first_page(&project_with_events(database), &[("limit", "3")]);
    let other = Organization::fresh(database).project();
    let response = other
        .get("/events")
        .query("limit", "3")
        .query("cursor", &cursor)
        .send();
    assert!(
        response.status() == 400 || response["events"] == json!([]),
        "{response:?}"
    );
}
