//! Limits that reset over time, exact to the millisecond. The tests control the clock.

use super::{TRUSTING, assert_limited};
use audit_tests::{
    Clock, Database, DatabaseKind, Organization, Server, Stream, address, event, on_both_databases,
};
use serde_json::Value;

/// 1.75 seconds before midnight.
const EVENING: &str = "2026-03-10T23:59:58.250Z";
const LAST_MILLISECOND: &str = "2026-03-10T23:59:59.999Z";
const MIDNIGHT: &str = "2026-03-11T00:00:00Z";

/// A server with its own clock.
struct Timed {
    clock: Clock,
    database: Database,
    server: Server,
    environment: Vec<(&'static str, &'static str)>,
    /// The client address of all requests.
    address: String,
}

impl Timed {
    fn start(kind: DatabaseKind, moment: &str, limits: &[(&'static str, &'static str)]) -> Option<Self> {
        let clock = Clock::at(moment)?;
        let database = Database::create(kind);
        let environment = [&[TRUSTING], limits].concat();
        Some(Self {
            server: Server::start_at(&database, &environment, &clock),
            environment,
            database,
            clock,
            address: address(),
        })
    }

    fn restart(self) -> Self {
        drop(self.server);
        Self {
            server: Server::start_at(&self.database, &self.environment, &self.clock),
            ..self
        }
    }

    fn stream(&self) -> Stream {
        Stream::of(&self.server.client().with_address(&self.address))
    }
}

on_both_databases! {
    the_window_of_requests_slides,
    the_window_slides_on_after_a_restart,
    a_stream_takes_events_again_on_the_next_day,
    an_address_begins_streams_again_on_the_next_day,
    a_project_takes_events_again_on_the_next_day,
}

fn the_window_of_requests_slides(database: DatabaseKind) {
    let limit = [("AUDIT_STREAM_REQUESTS_PER_MINUTE", "3")];
    let Some(mut timed) = Timed::start(database, "2026-03-10T12:00:00Z", &limit) else {
        return;
    };
    let stream = timed.stream();
    let ask = |expected: u16| stream.info().expect_status(expected);
    let refuse = |seconds: u64| assert_limited(stream.info(), "rate_limited", seconds..=seconds);
    ask(404);
    timed.clock.set("2026-03-10T12:00:20.500Z");
    ask(404);
    timed.clock.set("2026-03-10T12:00:40Z");
    ask(404);
    refuse(20);
    timed.clock.set("2026-03-10T12:00:59.001Z");
    refuse(1);
    timed.clock.set("2026-03-10T12:00:59.999Z");
    refuse(1);
    // The first request was a minute ago. Refused requests do not count.
    timed.clock.set("2026-03-10T12:01:00Z");
    ask(404);
    refuse(21);
    timed.clock.set("2026-03-10T12:01:20.499Z");
    refuse(1);
    timed.clock.set("2026-03-10T12:01:20.500Z");
    ask(404);
    refuse(20);
    timed.clock.set("2026-03-10T12:05:00Z");
    (0..3).for_each(|_| drop(ask(404)));
    refuse(60);
}

fn the_window_slides_on_after_a_restart(database: DatabaseKind) {
    let limit = [("AUDIT_STREAM_REQUESTS_PER_MINUTE", "3")];
    let Some(mut timed) = Timed::start(database, LAST_MILLISECOND, &limit) else {
        return;
    };
    let stream = timed.stream();
    stream.store(event());
    stream.store(event());
    // Neither the restart nor midnight starts a new window.
    timed.clock.set("2026-03-11T00:00:30Z");
    timed = timed.restart();
    let stream = timed.stream().with_token(&stream.token);
    stream.store(event());
    assert_limited(stream.info(), "rate_limited", 30..=30);
    timed.clock.set("2026-03-11T00:00:59.998Z");
    assert_limited(stream.info(), "rate_limited", 1..=1);
    timed.clock.set("2026-03-11T00:00:59.999Z");
    stream.store(event());
    stream.store(event());
    assert_limited(stream.info(), "rate_limited", 31..=31);
}

fn a_stream_takes_events_again_on_the_next_day(database: DatabaseKind) {
    let limits = [
        ("AUDIT_STREAM_EVENTS_PER_DAY", "3"),
        ("AUDIT_STREAM_EVENTS_TOTAL", "7"),
    ];
    let Some(mut timed) = Timed::start(database, EVENING, &limits) else {
        return;
    };
    let stream = timed.stream();
    let batch = |count: usize| stream.send(Value::Array(vec![event(); count]));
    batch(3).expect_status(201);
    assert_limited(batch(1), "stream_daily_limit_reached", 2..=2);
    timed.clock.set(LAST_MILLISECOND);
    assert_limited(batch(1), "stream_daily_limit_reached", 1..=1);
    timed.clock.set(MIDNIGHT);
    assert_limited(batch(4), "stream_daily_limit_reached", 86_400..=86_400);
    batch(3).expect_status(201);
    assert_limited(batch(1), "stream_daily_limit_reached", 86_400..=86_400);
    timed.clock.set("2026-03-13T12:00:00Z");
    batch(2).expect_error(429, "stream_event_limit_reached");
    batch(1).expect_status(201);
    batch(1).expect_error(429, "stream_event_limit_reached");
    assert_eq!(stream.state(), ("active".to_owned(), 7));
}

fn an_address_begins_streams_again_on_the_next_day(database: DatabaseKind) {
    let limits = [("AUDIT_STREAM_NEW_PER_DAY", "2")];
    let Some(mut timed) = Timed::start(database, EVENING, &limits) else {
        return;
    };
    let client = timed.server.client().with_address(&timed.address);
    let begin = || Stream::of(&client).send(event());
    begin().expect_status(201);
    begin().expect_status(201);
    assert_limited(begin(), "rate_limited", 2..=2);
    timed.clock.set(LAST_MILLISECOND);
    assert_limited(begin(), "rate_limited", 1..=1);
    timed.clock.set(MIDNIGHT);
    begin().expect_status(201);
    begin().expect_status(201);
    assert_limited(begin(), "rate_limited", 86_400..=86_400);
}

fn a_project_takes_events_again_on_the_next_day(database: DatabaseKind) {
    let Some(mut timed) = Timed::start(database, EVENING, &[("AUDIT_DAILY_LIMIT_FREE", "2")]) else {
        return;
    };
    let project = Organization::create(&timed.server, "free").project();
    let refuse = |seconds: u64| {
        let response = project.post("/events").json(event()).send();
        assert_limited(response, "daily_event_limit_reached", seconds..=seconds);
    };
    project.store_all(vec![event(); 2]);
    refuse(2);
    timed.clock.set(LAST_MILLISECOND);
    refuse(1);
    timed.clock.set(MIDNIGHT);
    project.store_all(vec![event(); 2]);
    refuse(86_400);
}
