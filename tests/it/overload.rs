//! More work than the server can do: it responds with 503 and stays consistent.

use audit_tests::{
    Client, Database, DatabaseKind, Deadline, Organization, Server, allow_many_open_files, event_with,
    on_both_databases,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

const WRITERS: usize = 1_000;
const WRITES_EACH: usize = 3;
/// A thousand default stacks would be two gigabytes of address space.
const STACK_BYTES: usize = 512 << 10;

fn event(writer: usize, number: usize) -> Value {
    event_with(
        json!({"idempotency_key": format!("{writer}-{number}"), "metadata": {"padding": "x".repeat(500)}}),
    )
}

/// What the service said about an event.
enum Outcome {
    /// Under this id.
    Stored(String),
    Refused,
    /// The commit did not end in time, so the event with this idempotency key may be stored or not.
    Unknown(String),
}

/// Stores an event, or is refused with a proper 503.
fn store(client: &Client, event: Value) -> Outcome {
    let key = event["idempotency_key"].as_str().expect("a key").to_owned();
    let response = client.post("/events").json(event).send();
    if response.status() == 201 {
        return Outcome::Stored(response.ids().remove(0));
    }
    let response = response.expect_error(503, "unavailable");
    let retry_after = response
        .header("retry-after")
        .and_then(|seconds| seconds.parse::<u64>().ok());
    assert!(
        retry_after.is_some_and(|seconds| seconds >= 1),
        "503 says when to come back: {response:?}"
    );
    let message = response.body()["error"]["message"].as_str().expect("a message");
    match message.contains("outcome is unknown") {
        true => Outcome::Unknown(key),
        false => Outcome::Refused,
    }
}

/// Starts `count` threads together, each with its own connections, and returns their results.
fn together<T: Send>(client: &Client, count: usize, work: impl Fn(&Client, usize) -> T + Sync) -> Vec<T> {
    let barrier = Barrier::new(count);
    let (barrier, work) = (&barrier, &work);
    thread::scope(|scope| {
        let start = |writer: usize| {
            let client = client.with_own_connections();
            let run = move || {
                barrier.wait();
                work(&client, writer)
            };
            thread::Builder::new()
                .stack_size(STACK_BYTES)
                .spawn_scoped(scope, run)
                .expect("start a thread")
        };
        let threads: Vec<_> = (0..count).map(start).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("a writer ends without a fault"))
            .collect()
    })
}

/// Requests a large page and does not read the response yet.
fn start_slow_reader(server: &Server, key: &str) -> TcpStream {
    let address = server.base_url().trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).expect("connect");
    let request = format!(
        "GET /api/v1/events?limit=200 HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).expect("send a request");
    stream
}

fn finish_slow_reader(mut stream: TcpStream) {
    let mut response = String::new();
    stream
        .read_to_string(&mut response)
        .expect("the whole answer arrives");
    assert!(
        response.starts_with("HTTP/1.1 200 "),
        "{}",
        &response[..response.len().min(300)]
    );
    let body = response.split_once("\r\n\r\n").expect("an answer has a body").1;
    assert!(
        body.contains("\"has_more\":true") && body.ends_with('}'),
        "the page is complete"
    );
}

/// What the writers of a test were told.
#[derive(Default)]
struct Told {
    /// The ids of stored events.
    acknowledged: BTreeSet<String>,
    /// The idempotency keys of events that may be stored.
    unknown: BTreeSet<String>,
}

impl Told {
    fn note(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Stored(id) => drop(self.acknowledged.insert(id)),
            Outcome::Unknown(key) => drop(self.unknown.insert(key)),
            Outcome::Refused => {}
        }
    }

    fn assert_stored_once(&self, client: &Client) {
        let stored = client.pages(&[("limit", "200")]).concat();
        let text = |event: &Value, member: &str| event[member].as_str().expect("a text").to_owned();
        let ids: BTreeSet<String> = stored.iter().map(|event| text(event, "id")).collect();
        assert_eq!(ids.len(), stored.len());
        let lost: Vec<_> = self.acknowledged.difference(&ids).collect();
        assert!(lost.is_empty(), "acknowledged but not stored: {lost:?}");
        for event in stored {
            let is_known = self.acknowledged.contains(&text(&event, "id"))
                || self.unknown.contains(&text(&event, "idempotency_key"));
            assert!(is_known, "a request refused with 503 stored {event}");
        }
    }
}

on_both_databases! {
    a_thousand_writers_and_slow_readers_see_only_201_and_503,
    a_full_write_queue_answers_503,
}

fn a_thousand_writers_and_slow_readers_see_only_201_and_503(database: DatabaseKind) {
    allow_many_open_files();
    let server = Server::start(&Database::create(database), &[]);
    let organization = Organization::create(&server, "enterprise");
    let project = organization.project();
    let mut told = Told::default();
    for batch in 0..4 {
        let events = (0..90).map(|number| event(10_000 + batch, number));
        told.acknowledged.extend(project.store_all(events.collect()));
    }
    let before = told.acknowledged.len();
    let readers: Vec<_> = (0..20)
        .map(|_| start_slow_reader(&server, &organization.project_key))
        .collect();
    let outcomes = together(&project, WRITERS, |client, writer| {
        let write = |number| store(client, event(writer, number));
        (0..WRITES_EACH).map(write).collect::<Vec<_>>()
    });
    for reader in readers {
        finish_slow_reader(reader);
    }
    outcomes
        .into_iter()
        .flatten()
        .for_each(|outcome| told.note(outcome));
    let written = told.acknowledged.len() - before;
    assert!(written > WRITERS / 10, "work gets done: {written}");
    told.assert_stored_once(&project);
    assert!(
        !server.stderr().contains("database is locked"),
        "{}",
        server.stderr()
    );
}

fn a_full_write_queue_answers_503(database: DatabaseKind) {
    let server = Server::start(
        &Database::create(database),
        &[("AUDIT_WRITE_QUEUE_JOBS_MAX", "1")],
    );
    let project = Organization::create(&server, "enterprise").project();
    let busy = AtomicBool::new(false);
    let deadline = Deadline::seconds(30);
    let outcomes = together(&project, 64, |client, writer| {
        let mut outcomes = Vec::new();
        for number in 0.. {
            if busy.load(Ordering::Relaxed) || deadline.left().is_none() {
                break;
            }
            let outcome = store(client, event(writer, number));
            if matches!(outcome, Outcome::Refused) {
                busy.store(true, Ordering::Relaxed);
            }
            outcomes.push(outcome);
        }
        outcomes
    });
    assert!(
        busy.load(Ordering::Relaxed),
        "the queue of one job was never full"
    );
    let mut told = Told::default();
    outcomes
        .into_iter()
        .flatten()
        .for_each(|outcome| told.note(outcome));
    told.assert_stored_once(&project);
    project.store(event(1_000, 0));
}
