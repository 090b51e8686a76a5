//! The feed by long poll.

use super::{end_of, everything, ids, page, wait_for_waiting};
use audit_tests::{
    Database, DatabaseKind, Deadline, Organization, Server, event, event_with, on_both_databases,
};
use serde_json::{Value, json};
use std::thread;
use std::time::{Duration, Instant};

/// Bounds a poll that must not wait. Less than the minute that such a poll asks for, far more than a response takes.
const AT_ONCE_SECONDS: u64 = 45;
/// Half of the interval in which a waiting poll checks for itself: one that ends sooner was woken.
const WAKE_MS_MAX: u64 = 2_000;
/// On a busy machine a woken poll may be late, but not each of so many. A poll that is never woken is late each time.
const WAKES_MAX: usize = 20;

on_both_databases! {
    events_come_in_the_order_of_their_commits_whenever_they_occurred,
    a_feed_without_events_has_a_cursor_to_go_on_from,
    the_feed_can_begin_at_its_end,
    the_cursor_goes_on_where_the_page_ended,
    an_event_looks_as_it_does_anywhere_else,
    a_poll_ends_with_the_next_event,
    a_poll_without_news_ends_when_its_time_is_over,
    a_poll_for_other_events_sleeps_on,
    what_another_node_stores_ends_a_poll,
    filters_choose_what_comes_and_the_cursor_passes_the_rest,
    a_filter_that_finds_nothing_gets_through_a_long_log,
    a_cursor_is_bound_to_its_feed,
    what_the_feed_does_not_take_is_refused,
    a_cursor_from_a_state_that_was_lost_is_refused,
}

fn events_come_in_the_order_of_their_commits_whenever_they_occurred(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let at = |time: &str| project.store(event_with(json!({"occurred_at": time})));
    let stored = [
        at("2026-01-15T10:30:00Z"),
        at("2020-01-15T10:30:00Z"),
        at("2026-01-15T10:30:01Z"),
        at("2001-01-15T10:30:00Z"),
    ];
    assert_eq!(ids(&everything(&project, &[]).0), stored);
    assert_eq!(ids(&everything(&project, &[("limit", "1")]).0), stored);
    assert_eq!(ids(&everything(&project, &[("limit", "3")]).0), stored);
}

fn a_feed_without_events_has_a_cursor_to_go_on_from(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let empty = page(&project, &[]);
    assert_eq!(empty["events"], json!([]));
    assert_eq!(empty["has_more"], false);
    let id = project.store(event());
    let next = page(&project, &[("after", &empty.text("cursor"))]);
    assert_eq!(ids(&next.list("events")), [id]);
    let last = page(&project, &[("after", &next.text("cursor"))]);
    assert_eq!(last["events"], json!([]));
    assert_eq!(
        last["cursor"], next["cursor"],
        "the cursor stays where it is until an event is stored"
    );
}

fn the_feed_can_begin_at_its_end(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    for client in [project.clone(), organization.viewer("tenant-1", "full")] {
        project.store(event());
        let end = page(&client, &[("after", "latest")]);
        assert_eq!(end["events"], json!([]));
        assert_eq!(end["has_more"], false);
        let id = project.store(event());
        let next = page(&client, &[("after", &end.text("cursor"))]);
        assert_eq!(ids(&next.list("events")), [id]);
    }
}

fn the_cursor_goes_on_where_the_page_ended(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let stored: Vec<String> = project.store_all(vec![event(); 60]);
    let first = page(&project, &[]);
    assert_eq!(
        ids(&first.list("events")),
        stored[..50],
        "the default page size is 50"
    );
    assert_eq!(first["has_more"], true);
    let cursor = first.text("cursor");
    for _ in 0..2 {
        let second = page(&project, &[("after", &cursor), ("limit", "10")]);
        assert_eq!(
            ids(&second.list("events")),
            stored[50..],
            "a cursor can be used again"
        );
        assert_eq!(second["has_more"], false);
    }
    let whole = page(&project, &[("limit", "200")]);
    assert_eq!(ids(&whole.list("events")), stored);
}

fn an_event_looks_as_it_does_anywhere_else(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let full = json!({
        "actor": {"email": "jane@example.com", "name": "Jane"},
        "target": {"id": "t", "type": "document", "name": "Plan"},
        "context": {"ip_address": "192.0.2.1"},
        "metadata": {"card": "4111 1111 1111 1111", "n": 1.5},
        "changes": [{"field": "a", "before": null, "after": [1]}],
        "idempotency_key": "once",
    });
    project.store(event_with(full));
    let (events, _) = everything(&project, &[]);
    assert_eq!(events, project.find(&[]));
    assert_eq!(events[0]["redacted"], true);
}

/// A separate server, because its count of waiting polls is the signal that a poll waits.
struct Node {
    server: Server,
    organization: Organization,
}

impl Node {
    fn fresh(kind: DatabaseKind) -> Self {
        let server = Server::start(&Database::create(kind), &[]);
        let organization = Organization::create(&server, "enterprise");
        Self { server, organization }
    }
}

/// Polls for at most a minute and calls `meanwhile` once the poll waits. Returns the events and the time from the end
/// of that call to the response.
fn poll_while(node: &Node, parameters: &[(&str, &str)], meanwhile: impl FnOnce()) -> (Vec<Value>, Duration) {
    let client = node.organization.project();
    let asked = [parameters, &[("wait", "60")]].concat();
    thread::scope(|scope| {
        let poll = scope.spawn(move || {
            let response = page(&client, &asked);
            (response.list("events"), Instant::now())
        });
        wait_for_waiting(&node.server, 1);
        meanwhile();
        let happened = Instant::now();
        let (events, answered) = poll.join().expect("the poll is answered");
        (events, answered.saturating_duration_since(happened))
    })
}

/// Each poll returns exactly what `store` stores, and `store` wakes it.
fn assert_polls_wake(node: &Node, store: impl Fn() -> String) {
    let mut cursor = end_of(&node.organization.project());
    let mut delays = Vec::new();
    while delays.len() < WAKES_MAX {
        let mut id = String::new();
        let (events, delay) = poll_while(node, &[("after", &cursor)], || id = store());
        assert_eq!(ids(&events), [id]);
        if delay < Duration::from_millis(WAKE_MS_MAX) {
            return;
        }
        delays.push(delay);
        cursor = end_of(&node.organization.project());
    }
    panic!("no poll was woken: {delays:?}");
}

fn a_poll_ends_with_the_next_event(database: DatabaseKind) {
    let node = Node::fresh(database);
    let project = node.organization.project();
    project.store(event());
    assert_polls_wake(&node, || project.store(event()));
    let started = Instant::now();
    let response = page(&project, &[("wait", "60")]);
    assert!(
        response.list("events").len() >= 2,
        "stored events are returned at once"
    );
    let waited = started.elapsed();
    assert!(waited < Duration::from_secs(AT_ONCE_SECONDS), "{waited:?}");
}

fn a_poll_without_news_ends_when_its_time_is_over(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let started = Instant::now();
    let response = page(&project, &[("wait", "2")]);
    assert_eq!(response["events"], json!([]));
    assert_eq!(response["has_more"], false);
    let waited = started.elapsed();
    assert!(waited >= Duration::from_secs(2), "{waited:?}");
    assert!(waited < Duration::from_secs(2 + AT_ONCE_SECONDS), "{waited:?}");
}

fn a_poll_for_other_events_sleeps_on(database: DatabaseKind) {
    let node = Node::fresh(database);
    let project = node.organization.project();
    let test = node.organization.test();
    let other_actor = event_with(json!({"actor": {"id": "actor-2"}}));
    let mut wanted = String::new();
    let (events, _) = poll_while(&node, &[("actor_id", "actor-2")], || {
        project.store_all(vec![event(); 3]);
        test.store(other_actor.clone());
        wanted = project.store(other_actor.clone());
    });
    assert_eq!(ids(&events), [wanted]);
}

fn what_another_node_stores_ends_a_poll(kind: DatabaseKind) {
    let database = Database::create(kind);
    let other = Server::start(&database, &[]);
    let server = Server::start(&database, &[]);
    let organization = Organization::create(&server, "enterprise");
    let elsewhere = organization.on(&other).project();
    let node = Node { server, organization };
    let cursor = end_of(&node.organization.project());
    assert_polls_wake(&node, || elsewhere.store(event()));
    let here = page(&node.organization.project(), &[("after", &cursor)]);
    let there = page(&elsewhere, &[("after", &cursor)]);
    assert!(!here.list("events").is_empty());
    assert_eq!(
        there.list("events"),
        here.list("events"),
        "a cursor is valid on every node"
    );
}

fn filters_choose_what_comes_and_the_cursor_passes_the_rest(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    let variants = [
        json!({}),
        json!({"tenant_id": "tenant-2"}),
        json!({"actor": {"id": "actor-2", "type": "service"}}),
        json!({"action": "auth.failed", "category": "auth"}),
        json!({"target": {"id": "plan", "type": "document"}}),
        json!({"actor": {"id": "jane@example.com"}}),
    ];
    let stored = project.store_all(variants.into_iter().map(event_with).collect());
    let cases: [(&str, &str, &[usize]); 8] = [
        ("tenant_id", "tenant-2", &[1]),
        ("actor_id", "actor-2", &[2]),
        ("actor_type", "service", &[2]),
        ("action", "auth.*", &[3]),
        ("category", "mutation", &[0, 1, 2, 4, 5]),
        ("target_id", "plan", &[4]),
        ("target_type", "document", &[4]),
        // Redaction has replaced it by a hash.
        ("actor_id", "jane@example.com", &[5]),
    ];
    for (name, value, expected) in cases {
        let expected: Vec<&String> = expected.iter().map(|index| &stored[*index]).collect();
        let (events, cursor) = everything(&project, &[(name, value), ("limit", "1")]);
        assert_eq!(
            ids(&events).iter().collect::<Vec<_>>(),
            expected,
            "{name}={value}"
        );
        let after = page(&project, &[(name, value), ("after", &cursor)]);
        assert_eq!(after["events"], json!([]), "{name}={value}");
    }
}

fn a_filter_that_finds_nothing_gets_through_a_long_log(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    for _ in 0..60 {
        project.store_all(vec![event(); 100]);
    }
    let wanted = project.store(event_with(json!({"actor": {"id": "actor-2"}})));
    let first = page(&project, &[("actor_id", "actor-2"), ("wait", "30")]);
    assert_eq!(
        first["events"],
        json!([]),
        "one response reads a bounded number of rows, not the whole log"
    );
    assert_eq!(first["has_more"], true);
    let (events, _) = everything(&project, &[("actor_id", "actor-2")]);
    assert_eq!(ids(&events), [wanted]);
}

fn a_cursor_is_bound_to_its_feed(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    project.store_all(vec![event(); 5]);
    let cursor = page(&project, &[("limit", "2")]).text("cursor");
    let of_list = project.get("/events").query("limit", "2").send().text("cursor");
    let test = organization.test();
    let other = Organization::fresh(database).project();
    let viewer = organization.viewer("tenant-1", "full");
    let mut wrong = vec![
        (
            project.get("/events/feed").query("actor_id", "actor-1"),
            cursor.clone(),
        ),
        (test.get("/events/feed"), cursor.clone()),
        (other.get("/events/feed"), cursor.clone()),
        (viewer.get("/events/feed"), cursor.clone()),
        (project.get("/events/feed"), of_list),
    ];
    let changed = [
        cursor[1..].to_owned(),
        format!("{cursor}A"),
        String::new(),
        "é".to_owned(),
    ];
    wrong.extend(changed.map(|cursor| (project.get("/events/feed"), cursor)));
    for (request, cursor) in wrong {
        request.query("after", &cursor).send().expect_invalid(&["after"]);
    }
    let request = project.get("/events").query("cursor", &cursor).send();
    request.expect_invalid(&["cursor"]);
    let by_master = organization
        .master()
        .get("/events/feed")
        .query("after", &cursor)
        .send();
    assert_eq!(
        by_master.expect_status(200).list("events").len(),
        3,
        "keys see the same feed"
    );
}

fn what_the_feed_does_not_take_is_refused(database: DatabaseKind) {
    let project = Organization::fresh(database).project();
    for (name, value) in [
        ("wait", "61"),
        ("wait", "-1"),
        ("wait", "1.5"),
        ("limit", "0"),
        ("limit", "201"),
        ("action", "*.x"),
        ("cursor", "x"),
        ("search", "created"),
        ("start_date", "2026-01-15T10:30:00Z"),
        ("end_date", "2026-01-15T10:30:00Z"),
    ] {
        let response = project.get("/events/feed").query(name, value).send();
        response.expect_invalid(&[name]);
    }
    let response = project
        .get("/events/feed")
        .queries(&[("wait", "x"), ("limit", "x"), ("x", "")])
        .send();
    response.expect_invalid(&["wait", "limit", "x"]);
    project
        .post("/events/feed")
        .send()
        .expect_error(405, "method_not_allowed");
}

fn a_cursor_from_a_state_that_was_lost_is_refused(kind: DatabaseKind) {
    let database = Database::create(kind);
    let server = Server::start(&database, &[]);
    let project = Organization::create(&server, "enterprise").project();
    project.store_all(vec![event(); 3]);
    let cursor = end_of(&project);
    // As if an earlier backup had been restored.
    database.execute("DELETE FROM events WHERE seq > 0; UPDATE ledgers SET size = 1 WHERE size > 0");
    let response = project.get("/events/feed").query("after", &cursor).send();
    let response = response.expect_invalid(&["after"]);
    assert!(response.message_on("after").contains("ahead"), "{response:?}");
    let poll = Deadline::seconds(AT_ONCE_SECONDS);
    poll.poll("the feed from its beginning", || {
        (everything(&project, &[]).0.len() == 1).then_some(())
    });
}
