//! Random requests to streams, compared with a simple model.

use super::TRUSTING;
use audit_tests::{
    Clock, Database, DatabaseKind, Organization, Response, Server, Stream, address, event, on_both_databases,
};
use serde_json::Value;
use std::collections::BTreeSet;

const STEPS: usize = 150;
const TOKENS: usize = 6;
const REQUESTS_PER_MINUTE: usize = 6;
const NEW_PER_DAY: usize = 2;
const EVENTS_PER_DAY: usize = 5;
const EVENTS_TOTAL: usize = 12;
const LIMITS: &[(&str, &str)] = &[
    TRUSTING,
    ("AUDIT_STREAM_REQUESTS_PER_MINUTE", "6"),
    ("AUDIT_STREAM_NEW_PER_DAY", "2"),
    ("AUDIT_STREAM_EVENTS_PER_DAY", "5"),
    ("AUDIT_STREAM_EVENTS_TOTAL", "12"),
];
const MINUTE_MILLIS: i64 = 60_000;
const DAY_MILLIS: i64 = 24 * 60 * MINUTE_MILLIS;

/// A stream in the model: its creation time, the time of each event, and whether it is claimed.
#[derive(Clone, Default)]
struct Known {
    begun_at: i64,
    sent_at: Vec<i64>,
    ids: Vec<String>,
    is_claimed: bool,
}

#[derive(Default)]
struct Model {
    now: i64,
    streams: [Option<Known>; TOKENS],
    requests_at: Vec<i64>,
    begun_at: Vec<i64>,
    moved: BTreeSet<String>,
}

impl Model {
    fn is_today(&self, time: i64) -> bool {
        time.div_euclid(DAY_MILLIS) == self.now.div_euclid(DAY_MILLIS)
    }

    /// Counts a request of the only client. Returns the error code if the request exceeds the rate limit.
    fn request(&mut self) -> Option<&'static str> {
        let within = self
            .requests_at
            .iter()
            .filter(|&&time| time > self.now - MINUTE_MILLIS)
            .count();
        if within >= REQUESTS_PER_MINUTE {
            return Some("rate_limited");
        }
        self.requests_at.push(self.now);
        None
    }

    fn status(&self, token: usize) -> Option<&'static str> {
        let stream = self.streams[token].as_ref()?;
        Some(match stream.is_claimed {
            true => "claimed",
            false if self.now >= stream.begun_at + 7 * DAY_MILLIS => "expired",
            false => "active",
        })
    }

    /// The expected error code of sending `count` events; empty for a success.
    fn send(&mut self, token: usize, count: usize) -> &'static str {
        if let Some(code) = self.request() {
            return code;
        }
        match self.status(token) {
            Some("claimed") => return "stream_already_claimed",
            Some("expired") => return "stream_expired",
            None if self.begun_at.iter().filter(|&&time| self.is_today(time)).count() >= NEW_PER_DAY => {
                return "rate_limited";
            }
            _ => {}
        }
        let known = self.streams[token].clone().unwrap_or_default();
        if known.sent_at.len() + count > EVENTS_TOTAL {
            return "stream_event_limit_reached";
        }
        if known.sent_at.iter().filter(|&&time| self.is_today(time)).count() + count > EVENTS_PER_DAY {
            return "stream_daily_limit_reached";
        }
        if self.streams[token].is_none() {
            self.begun_at.push(self.now);
        }
        let now = self.now;
        let stream = self.streams[token].get_or_insert(Known {
            begun_at: now,
            ..Known::default()
        });
        stream.sent_at.extend(vec![now; count]);
        ""
    }

    fn claim(&mut self, token: usize) -> &'static str {
        match self.status(token) {
            None => "stream_not_found",
            Some("claimed") => "stream_already_claimed",
            Some("expired") => "stream_expired",
            _ => "",
        }
    }
}

/// A Lehmer generator: the same seed gives the same numbers in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0 * 48_271 % 2_147_483_647;
        (self.0 as usize) % limit
    }
}

fn assert_code(response: &Response, expected: &str, step: &str) {
    assert_eq!(response.code(), expected, "{step}: {response:?}");
}

fn step(
    model: &mut Model,
    random: &mut Random,
    streams: &[Stream],
    organization: &Organization,
    clock: &mut Clock,
) {
    let token = random.below(TOKENS);
    let stream = &streams[token];
    match random.below(12) {
        0..6 => {
            // At most `EVENTS_PER_DAY`, so that the size of the first batch is never the reason for a refusal.
            let count = 1 + random.below(EVENTS_PER_DAY);
            let expected = model.send(token, count);
            let response = stream.send(Value::Array(vec![event(); count]));
            assert_code(&response, expected, &format!("send {count} to {token}"));
            if let (Some(known), "") = (&mut model.streams[token], expected) {
                known.ids.extend(response.ids());
            }
        }
        6 => {
            let expected = model.claim(token);
            let response = stream.claim(&organization.master()).send();
            assert_code(&response, expected, &format!("claim {token}"));
            if let (Some(known), "") = (&mut model.streams[token], expected) {
                assert_eq!(response["event_count"], known.ids.len());
                known.is_claimed = true;
                model.moved.extend(known.ids.iter().cloned());
            }
        }
        7 => {
            let expected = model.request();
            let response = stream.info();
            match (expected, &model.streams[token], model.status(token)) {
                (Some(code), ..) => assert_code(&response, code, "info"),
                (None, Some(known), Some(status)) => {
                    assert_eq!(
                        (response.text("status").as_str(), &response["event_count"]),
                        (status, &known.ids.len().into())
                    );
                }
                _ => assert_code(&response, "stream_not_found", "info"),
            }
        }
        kind => {
            let millis = match kind {
                8 => random.below(3) as i64 * 10_000,
                9 | 10 => 1 + random.below(DAY_MILLIS as usize) as i64,
                _ => DAY_MILLIS * 2,
            };
            clock.advance_millis(millis);
            model.now = clock.millis();
        }
    }
}

on_both_databases! {
    streams_do_what_the_model_says,
}

fn streams_do_what_the_model_says(database: DatabaseKind) {
    let Some(mut clock) = Clock::at("2026-03-10T23:00:00Z") else {
        return;
    };
    let server = Server::start_at(&Database::create(database), LIMITS, &clock);
    let organization = Organization::create(&server, "enterprise");
    for seed in [7, 2_026] {
        let client = server.client().with_address(&address());
        let streams = [(); TOKENS].map(|()| Stream::of(&client));
        let mut model = Model {
            now: clock.millis(),
            ..Model::default()
        };
        let mut random = Random(seed);
        let before = organization.project().count();
        for _ in 0..STEPS {
            step(&mut model, &mut random, &streams, &organization, &mut clock);
        }
        let stored = organization.project().pages(&[("limit", "200")]);
        let stored: BTreeSet<String> = stored.iter().flat_map(|page| super::ids_of(page)).collect();
        assert!(model.moved.is_subset(&stored), "seed {seed}");
        assert_eq!(stored.len() - before, model.moved.len(), "seed {seed}");
    }
}
