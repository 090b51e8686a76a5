//! What is in the spool reaches the service, whatever happened to the process.

use crate::service::Service;
use audit_client::{ActorType, Category, Client, Error, NewEvent, Overflow, RetryPolicy, Spool, Stats};
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const MAX: Duration = Duration::from_secs(120);
/// A port on which nothing listens.
const UNREACHABLE: &str = "http://127.0.0.1:9";

fn event(number: u64) -> NewEvent {
    let event = NewEvent::builder(
        "invoice.updated",
        Category::Mutation,
        "acme",
        ("u1", ActorType::User),
    );
    event.metadata("n", number).build().expect("a valid event")
}

fn client(base_url: &str, spool: Spool) -> Client {
    let retry = RetryPolicy {
        backoff: Duration::from_millis(1),
        ..RetryPolicy::default()
    };
    let builder = Client::builder(base_url).api_key("pk_test").retry(retry);
    builder.spool(spool).build().expect("a client")
}

/// A spool with events that a client could not send.
fn filled(path: &Path, numbers: std::ops::Range<u64>) {
    let client = client(UNREACHABLE, Spool::new(path));
    for number in numbers {
        assert!(client.record(event(number)).expect("recorded"));
    }
    assert!(!client.close(MAX), "nothing can be sent");
}

/// Sends what is in the spool, and returns the counts.
fn send(service: &Service, path: &Path) -> Stats {
    let client = client(&service.base_url, Spool::new(path));
    assert!(client.flush(MAX));
    assert!(client.close(MAX));
    client.stats()
}

#[test]
fn the_next_client_sends_what_the_last_one_left() {
    let (service, directory) = (Service::start(), tempfile::tempdir().expect("a directory"));
    filled(directory.path(), 0..250);
    let stats = send(&service, directory.path());
    assert_eq!((stats.recorded, stats.stored, stats.pending), (250, 250, 0));
    assert_eq!(service.numbers(), Vec::from_iter(0..250));
    assert_eq!(send(&service, directory.path()).recorded, 0, "the spool is empty");
}

#[test]
fn an_incomplete_and_a_damaged_line_cost_no_other_event() {
    let (service, directory) = (Service::start(), tempfile::tempdir().expect("a directory"));
    filled(directory.path(), 0..5);
    let segment = directory.path().join("0/0000000000000001.events");
    let text = std::fs::read_to_string(&segment).expect("a segment");
    std::fs::write(&segment, text.replacen(r#""n":2"#, r#""n":7"#, 1)).expect("written");
    let mut file = OpenOptions::new().append(true).open(&segment).expect("a segment");
    file.write_all(b"01234567 {\"action\":\"invo").expect("written");
    filled(directory.path(), 5..8);
    send(&service, directory.path());
    assert_eq!(service.numbers(), [0, 1, 3, 4, 5, 6, 7]);
}

#[test]
fn a_position_that_is_lost_or_wrong_repeats_events_with_the_same_keys() {
    let (service, directory) = (Service::start(), tempfile::tempdir().expect("a directory"));
    filled(directory.path(), 0..3);
    let position = directory.path().join("0/position");
    let segment = directory.path().join("0/0000000000000001.events");
    let text = std::fs::read(&segment).expect("a segment");
    for wrong in [&b"1 7\n"[..], b"1 99999999\n", b"9 0\n", b"\xff", b""] {
        std::fs::write(&segment, &text).expect("written");
        std::fs::write(&position, wrong).expect("written");
        assert_eq!(send(&service, directory.path()).stored, 3, "{wrong:?}");
        assert_eq!(service.numbers(), [0, 1, 2]);
    }
}

#[test]
fn clients_share_a_spool_and_take_over_what_others_left() {
    let (service, directory) = (Service::start(), tempfile::tempdir().expect("a directory"));
    let first = client(UNREACHABLE, Spool::new(directory.path()));
    let second = client(UNREACHABLE, Spool::new(directory.path()));
    first.record(event(1)).expect("recorded");
    second.record(event(2)).expect("recorded");
    assert!(!first.close(MAX) && !second.close(MAX));
    assert_eq!(send(&service, directory.path()).stored, 2);
    assert_eq!(service.numbers(), [1, 2]);
}

#[test]
fn a_full_spool_refuses_events_and_counts_them() {
    let directory = tempfile::tempdir().expect("a directory");
    let client = client(UNREACHABLE, Spool::new(directory.path()).bytes_max(500));
    let mut number = 0;
    while client
        .record_or(event(number), Overflow::DropNewest)
        .expect("recorded")
    {
        number += 1;
    }
    assert!((1..4).contains(&number), "{number} events in 500 bytes");
    let error = client
        .record_or(event(number), Overflow::Error)
        .expect_err("full");
    assert!(
        matches!(error, Error::QueueFull { pending } if pending == number),
        "{error}"
    );
    assert_eq!(client.stats().dropped, 2);
}

#[cfg(unix)]
#[test]
fn other_users_cannot_read_the_spool() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("spool");
    filled(&path, 0..1);
    let mode = |path: &Path| std::fs::metadata(path).expect("metadata").permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o700);
    assert_eq!(mode(&path.join("0")), 0o700);
    assert_eq!(mode(&path.join("0/0000000000000001.events")), 0o600);
}

// Variables with which this test starts itself as the process that is killed.
const WRITER_URL: &str = "TEST_WRITER_URL";
const WRITER_SPOOL: &str = "TEST_WRITER_SPOOL";
const WRITER_FROM: &str = "TEST_WRITER_FROM";

#[test]
#[expect(clippy::disallowed_methods, reason = "a test reads its environment")]
fn a_killed_process_loses_no_recorded_event_and_stores_none_twice() {
    if let Ok(url) = std::env::var(WRITER_URL) {
        let path = std::env::var(WRITER_SPOOL).expect("a path");
        let from = std::env::var(WRITER_FROM).expect("a number");
        write_for_ever(&url, Path::new(&path), from.parse().expect("a number"));
    }
    let (service, directory) = (Service::start(), tempfile::tempdir().expect("a directory"));
    let mut acknowledged = Vec::new();
    for cycle in 0..10 {
        let from = cycle * 1_000_000;
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "--nocapture"])
            .arg("spool::a_killed_process_loses_no_recorded_event_and_stores_none_twice")
            .env(WRITER_URL, &service.base_url)
            .env(WRITER_SPOOL, directory.path())
            .env(WRITER_FROM, from.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the writer starts");
        let mut lines = BufReader::new(child.stdout.take().expect("standard output")).lines();
        // The kill comes at another point of the work each time.
        let count = 5 + usize::try_from(cycle).expect("a small number") * 7;
        let mut numbers = Vec::new();
        while numbers.len() < count {
            let line = lines.next().expect("the writer runs").expect("a line");
            numbers.extend(
                line.strip_prefix("recorded ")
                    .map(|text| text.parse::<u64>().expect("a number")),
            );
        }
        child.kill().expect("killed");
        child.wait().expect("ended");
        let complete = lines
            .map_while(Result::ok)
            .filter_map(|line| line.strip_prefix("recorded ")?.parse::<u64>().ok());
        numbers.extend(complete);
        acknowledged.extend(numbers);
    }
    send(&service, directory.path());
    let stored = service.numbers();
    assert!(
        stored.is_sorted_by(|one, other| one < other),
        "an event is stored twice"
    );
    let missing: Vec<&u64> = acknowledged
        .iter()
        .filter(|number| stored.binary_search(number).is_err())
        .collect();
    assert_eq!(missing, [&0; 0], "of {}", acknowledged.len());
}

/// Records events and says of each that it is recorded.
fn write_for_ever(url: &str, path: &Path, from: u64) -> ! {
    let client = client(url, Spool::new(path));
    let mut number = from;
    loop {
        client.record(event(number)).expect("recorded");
        // One write for a line, so that a kill leaves no half of a number that could be read as another.
        std::io::stdout()
            .write_all(format!("recorded {number}\n").as_bytes())
            .expect("written");
        number += 1;
    }
}
