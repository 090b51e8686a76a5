//! `POST /streams/claim`: the claimed events and their representation afterwards.

use super::{ids_of, moment};
use audit_tests::{
    DatabaseKind, Organization, Stream, address, claim_token, content_hash, door_opened, event, event_with,
    merge, now_plus, on_both_databases,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The daily limit of the free plan on the shared servers.
const FREE_EVENTS_MAX: usize = 10;

/// Events with values that are hard to preserve exactly.
fn events() -> Vec<Value> {
    vec![
        event(),
        event_with(json!({"occurred_at": "2026-01-15T10:30:00.5+01:00", "idempotency_key": "k"})),
        event_with(json!({"actor": {"name": "Zoë \"quoted\" \\ / \u{1}\u{7f}\u{2028} 👩‍👩‍👧"}})),
        event_with(json!({"metadata": {"\u{fb33}": 1, "\u{1f600}": 2, "é": 3, "": 5, "A": 6, "\r": 8}})),
        event_with(
            json!({"metadata": {"n": [0, -1, 1.5, 1e21, 1e-7, 0.1, 5e-324, 1.797_693_134_862_315_7e308]}}),
        ),
        event_with(json!({"metadata": {"integral": 1.0, "big": 1e20, "zero": -0.0}})),
        event_with(
            json!({"actor": {"email": "jane@example.com"}, "metadata": {"jane@example.com": "4111 1111 1111 1111"}}),
        ),
        event_with(json!({
            "target": {"id": "jane@example.com", "type": "user", "name": "Jane"},
            "context": {"ip_address": "203.0.113.9", "user_agent": "u", "location": "l", "session_id": "s"},
            "changes": [{"field": "x", "before": null, "after": {"b": [], "a": {}}}],
        })),
    ]
}

on_both_databases! {
    what_is_claimed_reads_like_what_is_sent_to_the_project,
    ids_times_and_order_are_kept,
    the_hash_can_be_recomputed,
    what_is_claimed_is_found_by_filters_and_search,
    what_is_claimed_stands_in_place_between_other_events,
    a_token_is_claimed_once,
    a_claim_names_a_token,
    an_unknown_token_is_not_found,
    a_claim_raises_no_alert_and_counts_for_none,
    a_claim_uses_no_daily_limit,
}

fn what_is_claimed_reads_like_what_is_sent_to_the_project(database: DatabaseKind) {
    let (sent, claimed) = (Organization::fresh(database), Organization::fresh(database));
    let stream = Stream::fresh(database);
    let mut events = events();
    events.push(event_with(
        json!({"metadata": {"large": [u64::MAX, i64::MIN, 9_007_199_254_740_993_u64]}}),
    ));
    let expected = sent.project().post("/events").json(json!(events)).send();
    let response = stream.send(json!(events)).expect_status(201);
    assert_eq!(response["redacted_count"], expected["redacted_count"]);
    assert_eq!(stream.move_to(&claimed.master()), events.len() as u64);
    let pairs = expected.ids().into_iter().zip(response.ids());
    for ((of_project, of_stream), original) in pairs.zip(events) {
        let own = json!({
            "id": null,
            "received_at": null,
            "claimed_at": null,
            "content_hash": null,
            "content_salt": null,
            "occurred_at": original["occurred_at"],
        });
        let expected = merge(sent.project().event(&of_project), own.clone());
        let read = merge(claimed.project().event(&of_stream), own);
        assert_eq!(read.to_string(), expected.to_string());
    }
}

fn ids_times_and_order_are_kept(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    let stream = Stream::fresh(database);
    let earlier = "2026-01-15T10:30:00.250Z";
    let before = now_plus(0);
    let mut ids = stream.store_all(vec![event(); 3]);
    let past = stream.store(event_with(json!({"occurred_at": earlier})));
    ids.extend(stream.store_all(vec![event(); 2]));
    let after = now_plus(0);
    assert_eq!(stream.move_to(&organization.master()), 6);
    let claimed = now_plus(0);
    let found = project.find(&[]);
    // Newest first. The event that occurred before all others is last.
    let expected: Vec<String> = ids.iter().rev().chain([&past]).cloned().collect();
    assert_eq!(ids_of(&found), expected);
    for event in &found {
        let received = event["received_at"].as_str().expect("a time");
        assert!(
            (moment(&before)..=moment(&after)).contains(&moment(received)),
            "{before} {received} {after}"
        );
        let claimed_at = event["claimed_at"].as_str().expect("a time");
        assert!(
            (moment(received)..=moment(&claimed)).contains(&moment(claimed_at)),
            "{received} {claimed_at} {claimed}"
        );
        let occurred = if event["id"] == json!(past) {
            earlier
        } else {
            received
        };
        assert_eq!(event["occurred_at"], json!(occurred));
    }
    assert_eq!(project.pages(&[("limit", "1")]).concat(), found);
}

fn the_hash_can_be_recomputed(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    organization.create_rule(json!({"type": "pattern", "name": "z", "pattern": "(?i)zoë"}));
    organization.create_rule(json!({"type": "field_redact", "name": "c", "fields": ["context.location"]}));
    let stream = Stream::fresh(database);
    let ids = stream.store_all(events());
    stream.move_to(&organization.master());
    let log = format!("{}/live", organization.project_id);
    for id in &ids {
        let stored = organization.project().event(id);
        assert_eq!(
            stored["content_hash"],
            json!(content_hash(&stored, &log)),
            "{stored}"
        );
    }
    for listed in organization.project().find(&[]) {
        assert_eq!(
            listed["content_hash"],
            json!(content_hash(&listed, &log)),
            "{listed}"
        );
    }
}

fn what_is_claimed_is_found_by_filters_and_search(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    project.store(event());
    let stream = Stream::fresh(database);
    let ids = stream.store_all(vec![
        event_with(json!({
            "action": "zeppelin.landed", "category": "system", "tenant_id": "tenant-2",
            "actor": {"id": "a-2", "type": "service", "name": "Ground Crew"},
            "target": {"id": "t-2", "type": "zeppelin", "name": "Hindenburg"},
            "occurred_at": "2026-01-15T10:30:00Z",
        })),
        event_with(json!({"actor": {"id": "jane@example.com"}, "tenant_id": "tenant-3"})),
    ]);
    stream.move_to(&organization.master());
    let filters = [
        ("tenant_id", "tenant-2"),
        ("actor_id", "a-2"),
        ("actor_type", "service"),
        ("action", "zeppelin.landed"),
        ("action", "zepp*"),
        ("category", "system"),
        ("target_id", "t-2"),
        ("target_type", "zeppelin"),
        ("end_date", "2026-01-15T10:30:00Z"),
        ("search", "hindenburg"),
        ("search", "crew zepp*"),
    ];
    for filter in filters {
        assert_eq!(project.find_ids(&[filter]), ids[..1], "{filter:?}");
    }
    let by_original = project.find_ids(&[("actor_id", "jane@example.com")]);
    assert_eq!(
        by_original,
        ids[1..],
        "the original identifier finds the redacted event"
    );
    let viewer = organization.viewer("tenant-2", "full");
    assert_eq!(viewer.find_ids(&[]), ids[..1]);
}

fn what_is_claimed_stands_in_place_between_other_events(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    let stream = Stream::fresh(database);
    let mut expected = Vec::new();
    for number in 0..3 {
        // Distinct times: within one millisecond the random part of the ids determines the order.
        let at = |part: &str| event_with(json!({"occurred_at": format!("2026-01-15T10:3{number}:{part}Z")}));
        expected.push(project.store(at("00")));
        expected.push(stream.store(at("30")));
    }
    expected.reverse();
    stream.move_to(&organization.master());
    assert_eq!(project.find_ids(&[]), expected);
    assert_eq!(ids_of(&project.pages(&[("limit", "1")]).concat()), expected);
    let later = project.store(event());
    assert_eq!(project.find_ids(&[("limit", "1")]), [later]);
}

fn a_token_is_claimed_once(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let stream = Stream::fresh(database);
    stream.store(event_with(json!({"idempotency_key": "k"})));
    assert_eq!(stream.move_to(&organization.master()), 1);
    for claimant in [organization.master(), Organization::fresh(database).master()] {
        stream
            .claim(&claimant)
            .send()
            .expect_error(410, "stream_already_claimed");
    }
    for body in [
        event(),
        event_with(json!({"idempotency_key": "k"})),
        json!([event()]),
    ] {
        stream.send(body).expect_error(410, "stream_already_claimed");
    }
    assert_eq!(stream.state(), ("claimed".to_owned(), 1));
    assert_eq!(organization.project().count(), 1);
}

fn a_claim_names_a_token(database: DatabaseKind) {
    let master = Organization::fresh(database).master();
    let claim = |body: Value| master.post("/streams/claim").json(body).send();
    let missing = claim(json!({})).expect_invalid(&["claim_token"]);
    assert_eq!(missing.message_on("claim_token"), "Required");
    let not_v4 = "67e55044-10b1-126f-9247-bb680e5fe0c8";
    for token in [
        json!(5),
        json!(null),
        json!(""),
        json!("nonsense"),
        json!(not_v4),
        json!([claim_token()]),
    ] {
        claim(json!({"claim_token": token})).expect_invalid(&["claim_token"]);
    }
    let unknown = claim(json!({"claim_token": claim_token(), "more": 1})).expect_invalid(&["more"]);
    assert_eq!(unknown.message_on("more"), "Unrecognized field");
    for body in ["{", "[]", "\"x\""] {
        let response = master.post("/streams/claim").raw_json(body).send();
        response.expect_error(400, "validation_error");
    }
}

fn an_unknown_token_is_not_found(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let stream = Stream::fresh(database);
    stream
        .claim(&organization.master())
        .send()
        .expect_error(404, "stream_not_found");
    // The failed claim does not reserve the token.
    stream.store(event());
    let shouted = stream.with_token(&stream.token.to_uppercase());
    assert_eq!(shouted.move_to(&organization.master()), 1);
}

fn a_claim_raises_no_alert_and_counts_for_none(database: DatabaseKind) {
    let organization = Organization::fresh(database);
    let project = organization.project();
    organization.create_alert_rule(audit_tests::alert_rule(
        json!({"threshold": 3, "window_seconds": 3600}),
    ));
    let stream = Stream::fresh(database);
    stream.store_all(vec![door_opened("actor-1"); 10]);
    stream.move_to(&organization.master());
    assert_eq!(project.all_alerts().len(), 0);
    project.store_all(vec![door_opened("actor-1"); 2]);
    assert_eq!(project.all_alerts().len(), 0, "claimed events do not count");
    let last = project.store(door_opened("actor-1"));
    let alert = project.only_alert();
    assert_eq!(alert["event_count"], 3);
    assert_eq!(alert["sample_event_ids"][0], json!(last));
}

fn a_claim_uses_no_daily_limit(database: DatabaseKind) {
    let Some(server) = audit_tests::Server::shared_on_stopped_clock(database) else {
        return;
    };
    let organization = Organization::create(server, "free");
    let project = organization.project();
    let claim = || {
        let stream = Stream::of(&server.client().with_address(&address()));
        let ids = stream.store_all(vec![event(); FREE_EVENTS_MAX + 1]);
        assert_eq!(stream.move_to(&organization.master()), ids.len() as u64);
        ids
    };
    let mut claimed: BTreeSet<String> = claim().into_iter().collect();
    let sent = project.store_all(vec![event(); FREE_EVENTS_MAX]);
    project
        .post("/events")
        .json(event())
        .send()
        .expect_error(429, "daily_event_limit_reached");
    claimed.extend(claim());
    project
        .post("/events")
        .json(event())
        .send()
        .expect_error(429, "daily_event_limit_reached");
    claimed.extend(sent);
    let found: BTreeSet<String> = project.find_ids(&[]).into_iter().collect();
    assert_eq!(found, claimed);
}
