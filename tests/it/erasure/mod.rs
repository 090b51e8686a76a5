//! Erasure of persons: what an erasure takes, what it keeps, and what every verifier says of it.

mod crash;
mod edits;
mod erased;
mod left;
mod requests;
mod traces;
mod verifiers;

pub(crate) use crash::{hold_back, let_go};

use crate::log::{STATE_DIRECTORY, copy_of, text_of};
use audit_tests::{
    Clock, Database, DatabaseKind, Deadline, Organization, Response, Server, command_line_on,
    temporary_directory, webhook_environment,
};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Longer than the grace of the servers here.
pub(crate) const GRACE_MILLIS: i64 = 3_601_000;
/// Bounds a hang: an erasure needs some rounds of a worker, which looks at least once a minute.
const ERASURE_SECONDS: u64 = 600;

/// A deployment whose clock the test moves.
struct Scene {
    clock: Clock,
    database: Database,
    memory: PathBuf,
    organization: Organization,
}

impl Scene {
    /// With a server. `None` without libfaketime.
    fn create(kind: DatabaseKind) -> Option<(Self, Server)> {
        let clock = Clock::at("2026-03-10T12:00:00Z")?;
        let (database, memory) = (Database::create(kind), temporary_directory("memory-"));
        let server = start(&database, &memory, &clock);
        let organization = Organization::create(&server, "enterprise");
        let scene = Self {
            clock,
            database,
            memory,
            organization,
        };
        Some((scene, server))
    }

    /// A copy. No server may run on it.
    fn copy(&self) -> Self {
        Self {
            clock: Clock::at(&self.clock.plus(0)).expect("the scene has a clock"),
            database: self.database.copy(),
            memory: copy_of(&self.memory),
            organization: self.organization.clone(),
        }
    }

    fn start(&mut self) -> Server {
        let server = start(&self.database, &self.memory, &self.clock);
        self.organization = self.organization.on(&server);
        server
    }

    /// The condition that a row is of the live log.
    fn live(&self) -> String {
        let project = &self.organization.project_id;
        format!(
            "ledger_id = (SELECT id FROM ledgers WHERE project_id = '{project}' AND environment = 'live')"
        )
    }

    /// The number of events of which parts were erased.
    fn erased_rows(&self) -> i64 {
        // Others have a salt of 16 bytes.
        self.database.count(&format!(
            "events WHERE {} AND length(content_salt) > 16",
            self.live()
        ))
    }

    /// What `log verify` says of the live log.
    fn verified(&self) -> Value {
        let report = command_line_on(&self.database, &["log", "verify", "--json"]).json();
        let ledgers = report["ledgers"].as_array().expect("ledgers");
        let own = ledgers.iter().find(|ledger| {
            ledger["project_id"] == *self.organization.project_id && ledger["environment"] == "live"
        });
        own.expect("the live log").clone()
    }
}

fn start(database: &Database, memory: &std::path::Path, clock: &Clock) -> Server {
    let own = [
        (STATE_DIRECTORY, text_of(memory)),
        ("AUDIT_REMOVAL_GRACE", "1h"),
        ("RUST_LOG", "debug"),
    ];
    Server::start_at(database, &[&own[..], &webhook_environment()].concat(), clock)
}

/// A request to erase what these identifiers find.
pub(crate) fn request_of(identifiers: Value, extent: &str) -> Value {
    json!({"identifiers": identifiers, "extent": extent, "basis": "gdpr_17", "ticket": "DSR-118"})
}

fn post(organization: &Organization, path: &str, body: Value) -> Response {
    organization.master().post(path).json(body).send()
}

fn path_of(erasure: &Value) -> String {
    format!("/erasures/{}", erasure["id"].as_str().expect("an id"))
}

fn read(organization: &Organization, erasure: &Value) -> Value {
    organization.master().one(&path_of(erasure), "erasure")
}

/// Requests an erasure.
fn requested(organization: &Organization, request: Value) -> Value {
    post(organization, "/erasures", request).expect_status(201)["erasure"].clone()
}

/// Requests an erasure, and waits until the log was searched.
pub(crate) fn listed(organization: &Organization, request: Value) -> Value {
    let erasure = requested(organization, request);
    searched(organization, &erasure)
}

/// Waits until the log was searched for an erasure.
fn searched(organization: &Organization, erasure: &Value) -> Value {
    Deadline::seconds(ERASURE_SECONDS).poll("the list of an erasure", || {
        Some(read(organization, erasure)).filter(|erasure| erasure["state"] != "listing")
    })
}

/// Confirms the list that an erasure has here.
pub(crate) fn confirm(organization: &Organization, erasure: &Value) -> Response {
    let path = format!("{}/confirm", path_of(erasure));
    post(organization, &path, json!({"digest": erasure["digest"]}))
}

/// Waits until an erasure is done.
pub(crate) fn done(organization: &Organization, erasure: &Value) -> Value {
    Deadline::seconds(ERASURE_SECONDS).poll("the end of an erasure", || {
        Some(read(organization, erasure)).filter(|erasure| erasure["state"] == "done")
    })
}

/// Waits until there is no such erasure any more: it was cancelled, and its list is deleted.
fn wait_until_gone(organization: &Organization, erasure: &Value) {
    Deadline::seconds(ERASURE_SECONDS).poll("the end of a cancelled erasure", || {
        let response = organization.master().get(&path_of(erasure)).send();
        (response.status() == 404).then_some(())
    });
}

/// What an erasure takes.
fn events_of(organization: &Organization, erasure: &Value) -> Vec<Value> {
    let path = format!("{}/events", path_of(erasure));
    organization
        .master()
        .pages_of(&path, "events", &[("limit", "2")])
        .concat()
}

/// The service's own events of one action, oldest first.
fn recorded(organization: &Organization, action: &str) -> Vec<Value> {
    organization.master().find(&[
        ("tenant_id", "audit-server"),
        ("action", action),
        ("order", "asc"),
    ])
}
