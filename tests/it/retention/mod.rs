//! Retention and legal holds: what a removal takes, what it keeps, and what every verifier says of it.
//!
//! The events are of January and the server runs in July, so they are older than the shortest period.

mod archived;
mod categories;
mod edits;
mod holds;
mod nodes;
mod removal;
mod report;
mod restored;
mod traces;
mod verifiers;

pub(crate) use traces::places;

use crate::log::{Case, STATE_DIRECTORY, copy_of, store_events, text_of};
use audit_tests::{
    Clock, Database, DatabaseKind, Deadline, Organization, Response, Server, command_line_on, event_with,
    temporary_directory,
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Old events: a full tile and a part of the next one.
const OLD: usize = 300;
/// Events of July.
const NEW: usize = 10;
/// The shortest period with the default window of idempotency keys.
const DAYS: u32 = 93;
/// Longer than the grace of the servers here.
const GRACE_MILLIS: i64 = 3_601_000;
/// The columns of `events` on SQLite that are stored.
pub(crate) const SQLITE_COLUMNS: &str =
    "entry, position, id, content_hash, content_salt, sent_digest, redacted, sender, row_code, body";
/// A worker looks once a minute, and a removal needs some rounds.
const REMOVAL_SECONDS: u64 = 600;

/// An organization whose live log has events of January and of July.
pub(crate) struct Scene {
    pub(crate) clock: Clock,
    pub(crate) database: Database,
    memory: PathBuf,
    pub(crate) organization: Organization,
    /// The ids of the events of January.
    old: Vec<String>,
    /// The ids of the events of July.
    new: Vec<String>,
    /// The state file of an auditor who has read the events of January.
    state: PathBuf,
}

impl Scene {
    /// Stores the events that `store` makes in January, and starts a server in July. `None` without libfaketime.
    pub(crate) fn create(
        kind: DatabaseKind,
        store: impl FnOnce(&Organization) -> Vec<String>,
    ) -> Option<(Self, Server)> {
        let mut clock = Clock::at("2026-01-15T12:00:00Z")?;
        let (database, memory) = (Database::create(kind), temporary_directory("memory-"));
        let server = start(&database, &memory, &clock);
        let organization = Organization::create(&server, "enterprise");
        let old = store(&organization);
        let state = temporary_directory("audit-").join("state");
        audit(&server, &organization, &state);
        crate::log::stop(server);
        clock.set("2026-07-15T12:00:00Z");
        let server = start(&database, &memory, &clock);
        let organization = organization.on(&server);
        let new = store_events(&organization.project(), NEW);
        let scene = Self {
            clock,
            database,
            memory,
            organization,
            old,
            new,
            state,
        };
        Some((scene, server))
    }

    /// A scene after the removal of its old events, without a server.
    fn removed(kind: DatabaseKind) -> Option<Self> {
        static SCENES: [OnceLock<Option<Scene>>; 2] = [OnceLock::new(), OnceLock::new()];
        let scene = SCENES[usize::from(kind == DatabaseKind::Postgres)].get_or_init(|| {
            let (mut scene, server) = Self::create(kind, |organization| {
                let project = organization.project();
                let ids = store_events(&project, OLD);
                // The map of tenants is computed when it is first asked for.
                project.get("/log/tenants").send().expect_status(200);
                ids
            })?;
            // The row of an old event, to be put back.
            let columns = match kind {
                DatabaseKind::Sqlite => SQLITE_COLUMNS,
                DatabaseKind::Postgres => "*",
            };
            let live = scene.live();
            scene.database.execute(&format!(
                "CREATE TABLE saved_events AS SELECT {columns} FROM events WHERE {live} AND seq = 17"
            ));
            scene.remove(json!({"days": DAYS}));
            crate::log::stop(server);
            Some(scene)
        });
        scene.as_ref().map(Self::copy)
    }

    fn copy(&self) -> Self {
        let state = temporary_directory("audit-").join("state");
        std::fs::copy(&self.state, &state).expect("copy the state of an audit");
        Self {
            clock: Clock::at(&self.clock.plus(0)).expect("the scene has a clock"),
            database: self.database.copy(),
            memory: copy_of(&self.memory),
            organization: self.organization.clone(),
            old: self.old.clone(),
            new: self.new.clone(),
            state,
        }
    }

    fn start(&self) -> (Server, Organization) {
        let server = start(&self.database, &self.memory, &self.clock);
        let organization = self.organization.on(&server);
        (server, organization)
    }

    /// Sends a request about the live log with the master key.
    pub(crate) fn send(&self, method: &str, path: &str, body: Option<Value>) -> Response {
        let request = self
            .organization
            .master()
            .request(method, &format!("/api/v1{path}"));
        let request = request
            .query("project_id", &self.organization.project_id)
            .query("environment", "live");
        match body {
            Some(body) => request.json(body).send(),
            None => request.send(),
        }
    }

    fn retention(&self) -> Response {
        self.send("GET", "/retention", None).expect_status(200)
    }

    /// Sets the policy, and waits for the plan that follows.
    fn plan(&self, policy: Value) -> Value {
        self.send("PUT", "/retention", Some(policy)).expect_status(200);
        Deadline::seconds(REMOVAL_SECONDS).poll("a plan", || {
            let plan = self.retention()["plan"].clone();
            plan.is_object().then_some(plan)
        })
    }

    /// Lets the grace pass, and waits until the removal is done. Returns it.
    fn finish(&mut self) -> Value {
        self.clock.advance_millis(GRACE_MILLIS);
        Deadline::seconds(REMOVAL_SECONDS).poll("the end of the removal", || {
            let removal = self.retention()["removals"][0].clone();
            (removal["state"] == "done").then_some(removal)
        })
    }

    /// Removes what a policy removes now.
    pub(crate) fn remove(&mut self, policy: Value) -> Value {
        self.plan(policy);
        self.finish()
    }

    /// The condition that an event is of the live log.
    fn live(&self) -> String {
        let project = &self.organization.project_id;
        format!(
            "ledger_id = (SELECT id FROM ledgers WHERE project_id = '{project}' AND environment = 'live')"
        )
    }

    /// The number of rows of the live log.
    fn rows(&self) -> i64 {
        self.database.count(&format!("events WHERE {}", self.live()))
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

    /// For what is asserted of any log.
    fn case(&self) -> Case {
        Case {
            database: self.database.copy(),
            organization: self.organization.clone(),
            ids: Vec::new(),
            events: Vec::new(),
            state: self.state.clone(),
            memory: copy_of(&self.memory),
        }
    }
}

fn start(database: &Database, memory: &Path, clock: &Clock) -> Server {
    let environment = [(STATE_DIRECTORY, text_of(memory)), ("AUDIT_REMOVAL_GRACE", "1h")];
    Server::start_at(database, &environment, clock)
}

/// Runs `log audit`, which must find nothing. Returns what it prints.
fn audit(server: &Server, organization: &Organization, state: &Path) -> String {
    crate::log::audit(server.base_url(), &organization.project_key, state, &[]).success()
}

/// Events of one tenant and category.
fn events_of(tenant: &str, category: &str, count: usize) -> Vec<Value> {
    let event = |number: usize| {
        event_with(json!({"tenant_id": tenant, "category": category, "metadata": {"number": number}}))
    };
    (0..count).map(event).collect()
}
