//! The cost of an export: its memory does not grow with its size, and it delays no other request.

use super::exported;
use audit_tests::process::Exit;
use audit_tests::{
    Client, Database, DatabaseKind, Deadline, Ending, Next, Organization, Server, event, event_with,
    on_both_databases,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::thread;

/// More than the socket buffers between two processes can hold.
pub(super) const MORE_THAN_SOCKETS_MEBIBYTES: usize = 24;

/// Stores about `mebibytes` MiB in large events and returns their number.
pub(super) fn store_mebibytes(client: &Client, mebibytes: usize) -> usize {
    let large = event_with(json!({"metadata": {"padding": "x".repeat(40_000)}}));
    for _ in 0..mebibytes {
        client.store_all(vec![large.clone(); 25]);
    }
    mebibytes * 25
}

on_both_databases! {
    the_memory_of_an_export_does_not_grow_with_it,
    stalled_exports_delay_no_other_request,
    what_was_there_is_exported_once_while_more_is_stored,
    a_signal_breaks_off_a_stalled_export,
}

fn the_memory_of_an_export_does_not_grow_with_it(database: DatabaseKind) {
    const MEBIBYTES: usize = 64;
    const GROWTH_BYTES_MAX: u64 = 48 << 20;
    let server = Server::start(&Database::create(database), &[]);
    let project = Organization::create(&server, "enterprise").project();
    let count = store_mebibytes(&project, MEBIBYTES);
    // The memory that storing and reading need once is allocated before the measurement.
    project.find(&[("limit", "200")]);
    for format in ["jsonl", "csv"] {
        let before = server.memory_bytes();
        let mut live = project.get("/events/export").query("format", format).open();
        let (mut lines, mut bytes, mut most) = (0, 0, before);
        let deadline = Deadline::seconds(300);
        let end = loop {
            match live.next_line(deadline) {
                Next::Line(line) => {
                    lines += 1;
                    bytes += line.len();
                    most = most.max(server.memory_bytes());
                }
                end => break end,
            }
        };
        assert_eq!(end, Next::End);
        assert_eq!(lines, count + usize::from(format == "csv"));
        assert!(bytes > MEBIBYTES * 1_000_000, "{bytes}");
        let growth = most - before;
        assert!(
            growth < GROWTH_BYTES_MAX,
            "{growth} bytes for {bytes} bytes of {format}"
        );
    }
}

fn stalled_exports_delay_no_other_request(database: DatabaseKind) {
    /// Few, because even a busy machine must respond to all of them within a minute.
    const REQUESTS: usize = 4;
    let server = Server::start(&Database::create(database), &[]);
    let project = Organization::create(&server, "enterprise").project();
    let count = store_mebibytes(&project, MORE_THAN_SOCKETS_MEBIBYTES);
    let mut stalled: Vec<_> = (0..4).map(|_| project.get("/events/export").open()).collect();
    for _ in 0..REQUESTS {
        let id = project.store(event());
        assert_eq!(project.find_ids(&[("limit", "1")]), [id]);
    }
    // The server breaks off an export that is not read for a minute. This one is whole, so the requests above did not wait
    // for it.
    let (body, end) = stalled.remove(0).rest(Deadline::seconds(120));
    assert_eq!(end, Next::End, "a stalled export continues when it is read");
    let lines = body.iter().filter(|byte| **byte == b'\n').count();
    assert!((count..=count + REQUESTS).contains(&lines), "{lines}");
}

fn what_was_there_is_exported_once_while_more_is_stored(database: DatabaseKind) {
    let server = Server::start(&Database::create(database), &[]);
    let project = Organization::create(&server, "enterprise").project();
    let mut stored = BTreeSet::new();
    for _ in 0..30 {
        stored.extend(project.store_all(vec![event(); 100]));
    }
    let ending = Ending::default();
    let events = thread::scope(|scope| {
        let end = ending.announced_on_drop();
        let writers: Vec<_> = (0..4)
            .map(|_| {
                let (client, ending) = (project.with_own_connections(), &ending);
                scope.spawn(move || {
                    while !ending.is_announced() {
                        client.store_all(vec![event(); 20]);
                    }
                })
            })
            .collect();
        let before = server.metric("audit_store_events_total");
        server.wait_for_metric("audit_store_events_total", before + 100);
        let events = exported(&project, &[]);
        assert!(writers.iter().all(|writer| !writer.is_finished()));
        drop(end);
        events
    });
    let id = |event: &Value| event["id"].as_str().expect("an id").to_owned();
    let ids: BTreeSet<String> = events.iter().map(id).collect();
    assert_eq!(ids.len(), events.len(), "no event is repeated");
    assert!(
        ids.is_superset(&stored),
        "{} missing",
        stored.difference(&ids).count()
    );
}

fn a_signal_breaks_off_a_stalled_export(database: DatabaseKind) {
    let server = Server::start(&Database::create(database), &[]);
    let project = Organization::create(&server, "enterprise").project();
    store_mebibytes(&project, MORE_THAN_SOCKETS_MEBIBYTES);
    let live = project.get("/events/export").open();
    let finished = server.stop();
    assert_eq!(finished.exit, Exit::Code(0), "{finished:?}");
    let (_, end) = live.rest(Deadline::seconds(30));
    assert_eq!(end, Next::BrokenOff, "a partial export does not look complete");
}
