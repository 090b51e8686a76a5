//! More work than the server can do: it responds with 503 and stays consistent.

use audit_tests::{
    Answer, Client, Database, DatabaseKind, Deadline, Organization, Server, allow_many_open_files,
    event_with, on_both_databases,
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

/// The id of the stored event; none if the server refused the request with a proper 503.
fn stored_or_busy(answer: Answer) -> Option<String> {
    if answer.status() == 201 {
        return Some(answer.ids().remove(0));
    }
    let answer = answer.expect_error(503, "unavailable");
    let retry_after = answer
        .header("retry-after")
        .and_then(|seconds| seconds.parse::<u64>().ok());
    assert!(
        retry_after.is_some_and(|seconds| seconds >= 1),
        "503 says when to come back: {answer:?}"
    );
    None
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
    let mut answer = String::new();
    stream
        .read_to_string(&mut answer)
        .expect("the whole answer arrives");
    assert!(
        answer.starts_with("HTTP/1.1 200 "),
        "{}",
        &answer[..answer.len().min(300)]
    );
    let body = answer.split_once("\r\n\r\n").expect("an answer has a body").1;
    assert!(
        body.contains("\"has_more\":true") && body.ends_with('}'),
        "the page is complete"
    );
}

fn assert_stored_once(client: &Client, acknowledged: &BTreeSet<String>) {
    let stored = client.pages(&[("limit", "200")]).concat();
    let ids: BTreeSet<String> = stored
        .iter()
        .map(|event| event["id"].as_str().expect("an id").to_owned())
        .collect();
    assert_eq!(ids.len(), stored.len());
    let lost: Vec<_> = acknowledged.difference(&ids).collect();
    assert!(lost.is_empty(), "acknowledged but not stored: {lost:?}");
    let unasked = ids.difference(acknowledged).count();
    assert_eq!(unasked, 0, "a request refused with 503 stored nothing");
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
    let mut before = BTreeSet::new();
    for batch in 0..4 {
        before.extend(project.store_all((0..90).map(|n| event(10_000 + batch, n)).collect()));
    }
    let readers: Vec<_> = (0..20)
        .map(|_| start_slow_reader(&server, &organization.project_key))
        .collect();
    let ids = together(&project, WRITERS, |client, writer| {
        let write = |n| stored_or_busy(client.post("/events").json(event(writer, n)).send());
        (0..WRITES_EACH).filter_map(write).collect::<Vec<_>>()
    });
    for reader in readers {
        finish_slow_reader(reader);
    }
    let acknowledged: BTreeSet<String> = ids.into_iter().flatten().chain(before).collect();
    assert!(
        acknowledged.len() > WRITERS / 10,
        "most of the work gets done: {}",
        acknowledged.len()
    );
    assert_stored_once(&project, &acknowledged);
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
    let ids = together(&project, 64, |client, writer| {
        let mut ids = Vec::new();
        for number in 0.. {
            if busy.load(Ordering::Relaxed) || deadline.left().is_none() {
                break;
            }
            match stored_or_busy(client.post("/events").json(event(writer, number)).send()) {
                Some(id) => ids.push(id),
                None => busy.store(true, Ordering::Relaxed),
            }
        }
        ids
    });
    assert!(
        busy.load(Ordering::Relaxed),
        "the queue of one job was never full"
    );
    assert_stored_once(&project, &ids.into_iter().flatten().collect());
    project.store(event(1_000, 0));
}
