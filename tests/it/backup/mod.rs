//! Backups that are made while events are stored, and what is restored from them (`docs/backup.md`).

mod by_hand;
mod postgres;
mod refusals;
mod scheduled;

use audit_tests::{Client, Database, Deadline, Organization, Server, command_line_with, event_with};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

const DOCUMENT: &str = "docs/backup.md";
const WRITERS: usize = 4;

/// Acknowledged ids by idempotency key.
type Acknowledged = BTreeMap<String, String>;

/// Runs `work` while writers store events. Returns what was acknowledged in all. `work` gets a way to see what was acknowledged so far.
fn under_load<T>(project: &Client, work: impl FnOnce(&Load) -> T) -> (T, Acknowledged) {
    let load = Load::default();
    let done = thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (client, load) = (project.with_own_connections(), &load);
            scope.spawn(move || load.write(&client, writer));
        }
        let _stop = StopOnDrop(&load.is_over);
        load.wait_for_more(20);
        work(&load)
    });
    (done, load.acknowledged())
}

/// The writers of a test.
#[derive(Default)]
struct Load {
    acknowledged: Mutex<Acknowledged>,
    is_over: AtomicBool,
}

/// Ends the writers, also where a test fails.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Load {
    fn write(&self, client: &Client, writer: usize) {
        for number in 0.. {
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            let key = format!("writer{writer}-{number}");
            let event =
                event_with(json!({"idempotency_key": key, "metadata": {"padding": "x".repeat(1_000)}}));
            let id = client.store(event);
            self.acknowledged.lock().expect("a lock").insert(key, id);
        }
    }

    fn acknowledged(&self) -> Acknowledged {
        self.acknowledged.lock().expect("a lock").clone()
    }

    /// Waits until this many more events are acknowledged: the writers are not held up.
    fn wait_for_more(&self, count: usize) {
        let before = self.acknowledged().len();
        Deadline::seconds(60).poll("events are acknowledged", || {
            (self.acknowledged().len() >= before + count).then_some(())
        });
    }
}

/// Asserts that a restored database verifies, that it has each event of `before` once, and no other than those of `all`. Its server has
/// this environment.
fn assert_restored(
    database: &Database,
    organization: &Organization,
    before: &Acknowledged,
    all: &Acknowledged,
    environment: &[(&str, &str)],
) {
    let verify = ["log", "verify", "--database-url", database.url()];
    command_line_with(&verify, environment).success();
    let server = Server::start(database, environment);
    let stored = organization
        .on(&server)
        .project()
        .pages(&[("limit", "200")])
        .concat();
    let text = |event: &serde_json::Value, member: &str| event[member].as_str().expect("a text").to_owned();
    let found: Acknowledged = stored
        .iter()
        .map(|event| (text(event, "idempotency_key"), text(event, "id")))
        .collect();
    assert_eq!(found.len(), stored.len(), "no event is there twice");
    for (key, id) in before {
        assert_eq!(
            found.get(key),
            Some(id),
            "{key} was acknowledged before the backup began"
        );
    }
    for (key, id) in &found {
        assert_eq!(all.get(key), Some(id), "{key} was sent");
    }
    // A repeat is recognised, and the log goes on.
    let project = organization.on(&server).project();
    let (key, id) = before.iter().next().expect("an event");
    let padding = "x".repeat(1_000);
    let repeat = event_with(json!({"idempotency_key": key, "metadata": {"padding": padding}}));
    assert_eq!(project.store(repeat), *id);
    project.store(event_with(json!({"idempotency_key": "after"})));
    server.stop();
    command_line_with(&verify, environment).success();
}
