//! Each limit of streams, tested at the limit and one past it, on clocks that stand still.

use super::{TRUSTING, UNLIMITED, UNTIL_MIDNIGHT, assert_limited};
use audit_tests::{
    Client, Clock, Database, DatabaseKind, Organization, Server, Stream, address, assert_settings_refused,
    claim_token, event, event_with, on_both_databases,
};
use serde_json::{Value, json};

/// When no limit of a minute or a day begins again.
const NOON: &str = "2026-03-10T12:00:00Z";
/// The default limits, which the shared servers use.
const REQUESTS_PER_MINUTE: usize = 30;
const NEW_PER_DAY: usize = 10;
const EVENTS_PER_DAY: usize = 100;
const EVENTS_TOTAL: usize = 500;
const MINUTE: std::ops::RangeInclusive<u64> = 1..=60;

/// A client with an address of its own.
fn somebody(server: &Server) -> Client {
    server.client().with_address(&address())
}

fn batch(count: usize) -> Value {
    Value::Array(vec![event(); count])
}

fn keyed(key: usize) -> Value {
    event_with(json!({"idempotency_key": format!("key-{key}")}))
}

on_both_databases! {
    thirty_requests_a_minute,
    what_is_refused_for_another_reason_is_a_request_too,
    each_address_has_its_own_requests,
    ten_new_streams_a_day,
    a_hundred_events_a_day,
    five_hundred_events_in_all,
    repeats_are_answered_at_the_limits_and_use_nothing,
    each_limit_can_be_configured,
    zero_means_no_limit,
    a_first_batch_that_is_refused_begins_no_stream,
    limits_hold_across_kill_9,
}

fn thirty_requests_a_minute(database: DatabaseKind) {
    let Some(server) = Server::shared_on_stopped_clock(database) else {
        return;
    };
    let client = somebody(server);
    let stream = Stream::of(&client);
    stream.info().expect_error(404, "stream_not_found");
    for number in 1..REQUESTS_PER_MINUTE {
        match number % 3 {
            0 => stream.send(batch(2)).expect_status(201),
            1 => stream.send(event()).expect_status(201),
            _ => stream.info().expect_status(200),
        };
    }
    let count = stream.held_by(&somebody(server)).state().1;
    for _ in 0..3 {
        assert_limited(stream.info(), "rate_limited", MINUTE);
        assert_limited(stream.send(event()), "rate_limited", MINUTE);
        assert_limited(Stream::of(&client).send(event()), "rate_limited", MINUTE);
    }
    assert_eq!(
        stream.held_by(&somebody(server)).state().1,
        count,
        "the count of events is unchanged"
    );
    // The limits do not apply to a master key.
    let master = Organization::create(server, "enterprise").master();
    assert_eq!(stream.move_to(&master), count);
}

fn what_is_refused_for_another_reason_is_a_request_too(database: DatabaseKind) {
    let Some(server) = Server::shared_on_stopped_clock(database) else {
        return;
    };
    let stream = Stream::of(&somebody(server));
    stream.store_all(vec![event(); 100]);
    for _ in 1..REQUESTS_PER_MINUTE {
        assert_limited(stream.send(event()), "stream_daily_limit_reached", UNTIL_MIDNIGHT);
    }
    assert_limited(stream.send(event()), "rate_limited", MINUTE);
}

fn each_address_has_its_own_requests(database: DatabaseKind) {
    let Some(server) = Server::shared_on_stopped_clock(database) else {
        return;
    };
    let (one, other) = (somebody(server), somebody(server));
    let stream = Stream::of(&one);
    for _ in 0..REQUESTS_PER_MINUTE {
        stream.info().expect_error(404, "stream_not_found");
    }
    assert_limited(stream.send(event()), "rate_limited", MINUTE);
    stream.held_by(&other).store(event());
    assert_limited(stream.info(), "rate_limited", MINUTE);
    stream.held_by(&other).info().expect_status(200);
}

fn ten_new_streams_a_day(database: DatabaseKind) {
    let Some(server) = Server::shared_on_stopped_clock(database) else {
        return;
    };
    let client = somebody(server);
    let streams = [(); NEW_PER_DAY].map(|()| Stream::of(&client));
    for stream in &streams {
        stream.store(event());
    }
    let one_more = Stream::of(&client);
    assert_limited(one_more.send(event()), "rate_limited", UNTIL_MIDNIGHT);
    one_more.info().expect_error(404, "stream_not_found");
    streams[0].store(event());
    assert_limited(one_more.send(event()), "rate_limited", UNTIL_MIDNIGHT);
    one_more.held_by(&somebody(server)).store(event());
    one_more.store(event());
}

fn a_hundred_events_a_day(database: DatabaseKind) {
    let Some(server) = Server::shared_on_stopped_clock(database) else {
        return;
    };
    let stream = Stream::of(&somebody(server));
    stream.store_all(vec![event(); EVENTS_PER_DAY - 1]);
    assert_limited(
        stream.send(batch(2)),
        "stream_daily_limit_reached",
        UNTIL_MIDNIGHT,
    );
    assert_eq!(stream.state().1, EVENTS_PER_DAY as u64 - 1, "refused whole");
    stream.store(event());
    assert_limited(stream.send(event()), "stream_daily_limit_reached", UNTIL_MIDNIGHT);
    let elsewhere = stream.held_by(&somebody(server));
    assert_limited(
        elsewhere.send(event()),
        "stream_daily_limit_reached",
        UNTIL_MIDNIGHT,
    );
    assert_eq!(
        stream.move_to(&Organization::create(server, "enterprise").master()),
        EVENTS_PER_DAY as u64
    );
}

fn five_hundred_events_in_all(database: DatabaseKind) {
    let environment = [("AUDIT_STREAM_EVENTS_PER_DAY", "0")];
    let server = Server::start(&Database::create(database), &environment);
    let organization = Organization::create(&server, "enterprise");
    let stream = Stream::of(&server.client());
    for _ in 0..EVENTS_TOTAL / 100 - 1 {
        stream.send(batch(100)).expect_status(201);
    }
    stream.send(batch(99)).expect_status(201);
    let refuse = |body: Value| {
        let response = stream.send(body).expect_error(429, "stream_event_limit_reached");
        assert_eq!(response.header("retry-after"), None, "waiting does not help");
    };
    refuse(batch(2));
    assert_eq!(stream.state().1, EVENTS_TOTAL as u64 - 1, "refused whole");
    stream.store(event());
    refuse(event());
    assert_eq!(stream.move_to(&organization.master()), EVENTS_TOTAL as u64);
    assert_eq!(organization.project().count(), EVENTS_TOTAL);
}

fn repeats_are_answered_at_the_limits_and_use_nothing(database: DatabaseKind) {
    let Some(server) = Server::shared_on_stopped_clock(database) else {
        return;
    };
    let stream = Stream::of(&somebody(server));
    let ids = stream.store_all((0..EVENTS_PER_DAY - 1).map(keyed).collect());
    assert_eq!(stream.store_all((0..50).map(keyed).collect()), ids[..50]);
    // Twelve repeats, an invalid event, a conflict and one new event.
    let mut events: Vec<Value> = (0..12).map(keyed).collect();
    events.extend([
        json!({}),
        event_with(json!({"idempotency_key": "key-0", "actor": {"name": "x"}})),
        event(),
    ]);
    assert_eq!(
        stream.send(Value::Array(events)).expect_status(201).ids().len(),
        13
    );
    assert_eq!(stream.state().1, EVENTS_PER_DAY as u64);
    assert_eq!(stream.store(keyed(7)), ids[7]);
    assert_limited(
        stream.send(json!([keyed(7), event()])),
        "stream_daily_limit_reached",
        UNTIL_MIDNIGHT,
    );
    let conflict = event_with(json!({"idempotency_key": "key-0", "actor": {"name": "x"}}));
    stream.send(conflict).expect_error(409, "conflict");
    assert_eq!(stream.state().1, EVENTS_PER_DAY as u64);
}

fn each_limit_can_be_configured(database: DatabaseKind) {
    let environment = [
        TRUSTING,
        ("AUDIT_STREAM_REQUESTS_PER_MINUTE", "12"),
        ("AUDIT_STREAM_NEW_PER_DAY", "2"),
        ("AUDIT_STREAM_EVENTS_PER_DAY", "3"),
        ("AUDIT_STREAM_EVENTS_TOTAL", "5"),
    ];
    let Some(clock) = Clock::at(NOON) else { return };
    let server = Server::start_at(&Database::create(database), &environment, &clock);
    let client = somebody(&server);
    let [one, two, three] = [(); 3].map(|()| Stream::of(&client));
    one.store_all(vec![event(); 3]);
    assert_limited(one.send(event()), "stream_daily_limit_reached", UNTIL_MIDNIGHT);
    two.store(event());
    assert_limited(three.send(event()), "rate_limited", UNTIL_MIDNIGHT);
    // Past both event limits: the request cannot succeed tomorrow either, so there is no `Retry-After`.
    let response = two.send(batch(5)).expect_error(429, "stream_event_limit_reached");
    assert_eq!(response.header("retry-after"), None);
    for _ in 5..12 {
        one.info().expect_status(200);
    }
    assert_limited(one.info(), "rate_limited", MINUTE);
}

fn zero_means_no_limit(database: DatabaseKind) {
    let server = Server::start(&Database::create(database), UNLIMITED);
    let stream = Stream::of(&server.client());
    for _ in 0..EVENTS_TOTAL / 100 + 1 {
        stream.store_all(vec![event(); 100]);
    }
    for _ in 0..NEW_PER_DAY {
        Stream::of(&server.client()).store(event());
    }
    for _ in 0..REQUESTS_PER_MINUTE {
        stream.info().expect_status(200);
    }
}

fn a_first_batch_that_is_refused_begins_no_stream(database: DatabaseKind) {
    let environment = [
        ("AUDIT_STREAM_NEW_PER_DAY", "1"),
        ("AUDIT_STREAM_EVENTS_PER_DAY", "3"),
    ];
    let server = Server::start(&Database::create(database), &environment);
    let stream = Stream::of(&server.client());
    assert_limited(
        stream.send(batch(4)),
        "stream_daily_limit_reached",
        UNTIL_MIDNIGHT,
    );
    stream.info().expect_error(404, "stream_not_found");
    Stream::of(&server.client()).store_all(vec![event(); 3]);
}

fn limits_hold_across_kill_9(database: DatabaseKind) {
    let environment = [
        ("AUDIT_STREAM_REQUESTS_PER_MINUTE", "12"),
        ("AUDIT_STREAM_NEW_PER_DAY", "3"),
        ("AUDIT_STREAM_EVENTS_PER_DAY", "7"),
        ("AUDIT_STREAM_EVENTS_TOTAL", "7"),
    ];
    let Some(clock) = Clock::at(NOON) else { return };
    let database = Database::create(database);
    let mut server = Server::start_at(&database, &environment, &clock);
    let tokens = [(); 4].map(|()| claim_token());
    let stream = |server: &Server, number: usize| Stream::of(&server.client()).with_token(&tokens[number]);
    let restart = |server: Server| {
        server.kill();
        Server::start_at(&database, &environment, &clock)
    };
    stream(&server, 0).store_all(vec![event(); 6]);
    stream(&server, 1).store(event());
    server = restart(server);
    stream(&server, 0).store(event());
    stream(&server, 2).store(event());
    server = restart(server);
    let full = stream(&server, 0);
    full.send(event()).expect_error(429, "stream_event_limit_reached");
    assert_limited(stream(&server, 3).send(event()), "rate_limited", UNTIL_MIDNIGHT);
    while full.info().status() == 200 {}
    assert_limited(full.info(), "rate_limited", MINUTE);
    server = restart(server);
    assert_limited(stream(&server, 0).info(), "rate_limited", MINUTE);
}

#[test]
fn a_wrong_limit_is_refused() {
    assert_settings_refused(&[
        ("AUDIT_STREAM_REQUESTS_PER_MINUTE", "-1"),
        ("AUDIT_STREAM_REQUESTS_PER_MINUTE", "many"),
        ("AUDIT_STREAM_NEW_PER_DAY", "-1"),
        ("AUDIT_STREAM_EVENTS_PER_DAY", "1.5"),
        ("AUDIT_STREAM_EVENTS_TOTAL", "lots"),
        ("AUDIT_TRUSTED_PROXIES", "proxy.example.com"),
        ("AUDIT_TRUSTED_PROXIES", "10.0.0.0/33"),
        ("AUDIT_TRUSTED_PROXIES", "10.0.0.0/8;127.0.0.1"),
    ]);
}
