//! Anonymous streams. On the shared servers each test uses its own client addresses, because limits apply per address.

mod claim;
mod claim_projects;
mod claim_redaction;
mod client_address;
mod crash;
mod expiry;
mod info;
mod ingest;
mod limits;
mod model;
mod nodes;
mod off;
mod privacy;
mod purge;
mod races;
mod resets;

use audit_tests::{Database, DatabaseKind, Response, Server};
use serde_json::Value;
use std::ops::RangeInclusive;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// With this in its environment, a server trusts the client addresses that the tests forward.
const TRUSTING: (&str, &str) = ("AUDIT_TRUSTED_PROXIES", "127.0.0.1");
/// Streams without limits.
const UNLIMITED: &[(&str, &str)] = &[
    ("AUDIT_STREAM_REQUESTS_PER_MINUTE", "0"),
    ("AUDIT_STREAM_NEW_PER_DAY", "0"),
    ("AUDIT_STREAM_EVENTS_PER_DAY", "0"),
    ("AUDIT_STREAM_EVENTS_TOTAL", "0"),
];
/// Seconds until the next UTC day.
const UNTIL_MIDNIGHT: RangeInclusive<u64> = 1..=24 * 60 * 60;

/// How many servers of a database a test starts.
fn nodes_of(kind: DatabaseKind) -> usize {
    match kind {
        DatabaseKind::Sqlite => 1,
        DatabaseKind::Postgres => 2,
    }
}

/// Starts two servers on PostgreSQL, one on SQLite.
fn nodes(database: &Database, kind: DatabaseKind, environment: &[(&str, &str)]) -> Vec<Server> {
    let start = |_| Server::start(database, environment);
    (0..nodes_of(kind)).map(start).collect()
}

/// Asserts that a limit refuses the request and that `Retry-After` is within `seconds`.
fn assert_limited(response: Response, code: &str, seconds: RangeInclusive<u64>) {
    let response = response.expect_error(429, code);
    let retry_after = response.header("retry-after").and_then(|text| text.parse().ok());
    let retry_after: u64 = retry_after.unwrap_or_else(|| panic!("no Retry-After: {response:?}"));
    assert!(
        seconds.contains(&retry_after),
        "{retry_after} s is not in {seconds:?}"
    );
}

/// The ids of these events.
fn ids_of(events: &[Value]) -> Vec<String> {
    let id = |event: &Value| event["id"].as_str().expect("an event has an id").to_owned();
    events.iter().map(id).collect()
}

/// Parses a time of a response.
fn moment(text: &str) -> OffsetDateTime {
    OffsetDateTime::parse(text, &Rfc3339).unwrap_or_else(|error| panic!("{error}: {text}"))
}
