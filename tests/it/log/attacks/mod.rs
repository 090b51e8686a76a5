//! The tables of attacks in `docs/design/tampering.md`: every edit of `edits.rs`, on both databases, by attackers with different access,
//! while the server is stopped and while it runs, without and with events that are stored afterwards; and what `log verify`, `log audit`,
//! a witness and a client say.
//!
//! All edits of one situation are made on one deployment, each on a log of its own. So one start, one growth and one `log verify` serve
//! all of them, and each edit is shown to harm no other log.
//!
//! `AUDIT_TEST_ATTACKS=full` makes all edits in all situations; otherwise a part of the edits is made, in one of them.
//! `AUDIT_UPDATE_SNAPSHOT=1`, with all of them, writes the tables.

mod document;
mod edit;
mod edits;
mod index;
mod observers;
mod table;

use super::{Case, STATE_DIRECTORY, text_of};
use audit_tests::process::Exit;
use audit_tests::{
    Client, Database, DatabaseKind, Deadline, Organization, Server, command_line_with, event_with,
    temporary_directory,
};
use document::is_full;
use edit::{Attacked, Edit};
use edits::edits;
use observers::{Observation, auditor_state, is_intact};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use table::{Row, Table};

/// The number of events of each log: a full tile, and eight events in a partial one.
const EVENTS: usize = 264;
/// The event of most edits, in the full tile.
const TILED: usize = 17;
/// An event in the partial tile.
const PARTIAL: usize = 260;
/// An event with an idempotency key.
const KEYED: usize = 51;
/// An event of which no observer reads the proof.
const UNREAD: usize = 20;
/// One edit of so many is made by default.
const PART: usize = 3;
/// Events that are stored after an edit.
const GROWTH: usize = 60;

/// What an attacker has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    /// Write access to the database.
    Database,
    /// The files of the server as well, without the head key. The attacker removes what the server remembers of its signatures, and the
    /// checkpoints of the edited logs.
    Files,
    /// All of that and the head key. The attacker has the heads and tiles written again, from what the database has after the edit.
    HeadKey,
}

/// Who makes an edit, when, and what happens afterwards.
#[derive(Clone, Copy, Debug)]
struct Situation {
    access: Access,
    is_running: bool,
    is_growing: bool,
}

const fn situation(access: Access, is_running: bool, is_growing: bool) -> Situation {
    Situation {
        access,
        is_running,
        is_growing,
    }
}

/// Of those who have write access to the database alone.
const OF_DATABASE: Table = Table {
    edit: "Edit",
    situations: [
        situation(Access::Database, false, false),
        situation(Access::Database, false, true),
        situation(Access::Database, true, false),
        situation(Access::Database, true, true),
    ],
    // Who edits while the server runs and goes on has met all that notices an edit.
    always: &[3],
};

/// Of those who have the files of the server. It is stopped, because a running one remembers.
const OF_HOST: Table = Table {
    edit: "Edit, with the files of the server",
    situations: [
        situation(Access::Files, false, false),
        situation(Access::Files, false, true),
        situation(Access::HeadKey, false, false),
        situation(Access::HeadKey, false, true),
    ],
    // Who has more can do more.
    always: &[3],
};

/// A log under attack.
struct Target {
    case: Case,
    /// The checkpoint that everybody outside has.
    note: String,
    /// One that the log had before.
    older_note: String,
}

/// A deployment with a log for each edit, and one that nobody edits.
struct Deployment {
    database: Database,
    memory: PathBuf,
    /// The key of its log.
    key: String,
    targets: Vec<Target>,
}

fn text(client: &Client, path: &str) -> String {
    let raw = client.get(path).send_raw();
    assert_eq!(raw.status, 200, "{path}: {raw:?}");
    String::from_utf8(raw.bytes).expect("UTF-8")
}

/// The event at a position: the first five raise an alert, some have idempotency keys, every third is one of the tenant `acme`.
fn event_at(number: usize) -> Value {
    let mut event = event_with(json!({"metadata": {"number": number}}));
    if number < 5 {
        event["action"] = json!("auth.failed.password");
    }
    if number < 5 || number.is_multiple_of(3) {
        event["tenant_id"] = json!("acme");
    }
    if number % 50 == 1 {
        event["idempotency_key"] = json!(format!("key-{number}"));
    }
    event
}

impl Target {
    fn create(deployment: (&Database, &PathBuf), organization: &Organization, number: usize) -> Self {
        let (database, memory) = deployment;
        let mut organization = organization.clone();
        organization.project_id = organization.create_project(&format!("log {number}"));
        organization.project_key = organization.create_key("live");
        let project = organization.project();
        let mut ids = Vec::new();
        let mut older_note = String::new();
        let all: Vec<usize> = (0..EVENTS).collect();
        for numbers in all.chunks(100) {
            ids.extend(project.store_all(numbers.iter().copied().map(event_at).collect()));
            if older_note.is_empty() {
                older_note = text(&project, "/log/checkpoint");
            }
        }
        let mut events = project.pages(&[("limit", "200")]).concat();
        events.sort_by_key(|event| ids.iter().position(|id| event["id"] == **id));
        // The map of tenants is computed when it is first asked for.
        project.get("/log/tenants").send().expect_status(200);
        let note = text(&project, "/log/checkpoint");
        let case = Case {
            database: database.clone(),
            organization,
            ids,
            events,
            state: temporary_directory("audit-").join("state"),
            memory: memory.clone(),
        };
        Self {
            case,
            note,
            older_note,
        }
    }

    /// The same log in a copy of the deployment.
    fn on(&self, database: &Database, memory: &Path) -> Self {
        let case = Case {
            database: database.clone(),
            organization: self.case.organization.clone(),
            ids: self.case.ids.clone(),
            events: self.case.events.clone(),
            state: temporary_directory("audit-").join("state"),
            memory: memory.to_path_buf(),
        };
        Self {
            case,
            note: self.note.clone(),
            older_note: self.older_note.clone(),
        }
    }

    fn client(&self, server: &Server) -> Client {
        self.case.organization.on(server).project()
    }
}

impl Deployment {
    fn create(kind: DatabaseKind, logs: usize) -> Self {
        let database = Database::create(kind);
        let memory = temporary_directory("memory-");
        let server = Server::start(&database, &[(STATE_DIRECTORY, text_of(&memory))]);
        let organization = Organization::create(&server, "enterprise");
        let targets = (0..logs).map(|number| Target::create((&database, &memory), &organization, number));
        let targets: Vec<Target> = targets.collect();
        let key = text(&organization.project(), "/log/key").trim_end().to_owned();
        super::stop(server);
        assert_eq!(database.count("alerts"), logs as i64, "each log has an alert");
        Self {
            database,
            memory,
            key,
            targets,
        }
    }

    /// The deployment that the tests of all edits copy. They create it with the same number of logs.
    fn shared(kind: DatabaseKind, logs: usize) -> &'static Self {
        static DEPLOYMENTS: [OnceLock<Deployment>; 2] = [OnceLock::new(), OnceLock::new()];
        DEPLOYMENTS[usize::from(kind == DatabaseKind::Postgres)].get_or_init(|| Self::create(kind, logs))
    }

    fn copy(&self) -> Self {
        let database = self.database.copy();
        let memory = super::copy_of(&self.memory);
        let targets = self.targets.iter().map(|target| target.on(&database, &memory));
        Self {
            targets: targets.collect(),
            key: self.key.clone(),
            database,
            memory,
        }
    }

    fn start(&self) -> Server {
        Server::start(&self.database, &[(STATE_DIRECTORY, text_of(&self.memory))])
    }

    /// Does what an attacker with this access does after the edits of these logs.
    fn cover_up(&self, access: Access, edited: &[bool]) {
        if access == Access::Database {
            return;
        }
        for (target, is_edited) in self.targets.iter().zip(edited) {
            if *is_edited {
                target.case.tamper("DELETE FROM log_checkpoints WHERE LEDGER");
            }
        }
        std::fs::remove_dir_all(&self.memory).expect("remove the state directory");
        std::fs::create_dir(&self.memory).expect("create the state directory");
        if access == Access::HeadKey {
            let arguments = [
                "log",
                "repair",
                "--accept-unsigned",
                "--database-url",
                self.database.url(),
            ];
            let finished = command_line_with(&arguments, &[(STATE_DIRECTORY, text_of(&self.memory))]);
            // Of all edits, some leave a log that cannot be repaired.
            let is_expected = match is_full() {
                true => finished.exit == Exit::Code(1),
                false => [Exit::Code(0), Exit::Code(1)].contains(&finished.exit),
            };
            assert!(is_expected, "{finished:?}");
        }
    }

    /// The projects with findings of `log verify`, which must have come to a result.
    fn verify(&self) -> HashSet<String> {
        let arguments = ["log", "verify", "--json", "--database-url", self.database.url()];
        let finished = command_line_with(&arguments, &[(STATE_DIRECTORY, text_of(&self.memory))]);
        assert_eq!(finished.exit, Exit::Code(1), "{finished:?}");
        let report: Value = serde_json::from_str(&finished.stdout).expect("a report");
        let ledgers = report["ledgers"].as_array().expect("ledgers");
        let found = ledgers.iter().filter(|ledger| ledger["findings"] != json!([]));
        found
            .map(|ledger| ledger["project_id"].as_str().expect("an id").to_owned())
            .collect()
    }
}

/// Stores more events. Whether the log takes them.
fn grow(project: &Client, count: usize) -> bool {
    let mut is_stored = true;
    for _ in 0..count / 20 {
        let events = vec![event_with(json!({})); 20];
        let status = project.post("/events").json(json!(events)).send().status();
        assert!([201, 503].contains(&status), "{status}");
        is_stored &= status == 201;
    }
    is_stored
}

/// Makes all edits in one situation, and observes each.
fn observe(base: &Deployment, edits: &[Edit], situation: Situation) -> Vec<Option<Observation>> {
    let deployment = base.copy();
    let mut size = EVENTS;
    let mut server = situation.is_running.then(|| {
        let server = deployment.start();
        // So that it has everything in memory that it keeps there.
        for target in &deployment.targets {
            target.client(&server).store(event_with(json!({})));
        }
        size += 1;
        // An edit of an event that no checkpoint has yet is another attack.
        for target in &deployment.targets {
            Deadline::seconds(60).poll("the event is signed", || {
                let note = text(&target.client(&server), "/log/checkpoint");
                (note.lines().nth(1) == Some(&size.to_string())).then_some(())
            });
        }
        server
    });
    let is_applied: Vec<bool> = edits
        .iter()
        .zip(&deployment.targets)
        .map(|(edit, target)| {
            let attacked = Attacked {
                case: &target.case,
                size,
                older_note: &target.older_note,
            };
            let statements = edit.statements(&attacked);
            statements.is_some_and(|sql| {
                target.case.tamper(&sql);
                true
            })
        })
        .collect();
    deployment.cover_up(situation.access, &is_applied);
    let verified_first = (!situation.is_running && !situation.is_growing).then(|| deployment.verify());
    let server = server.take().unwrap_or_else(|| {
        let server = deployment.start();
        // Every log that can be signed is signed with the size that it has, also where a slow machine stores the next events
        // before the scan at the start comes to it.
        for target in &deployment.targets {
            let shown = target.client(&server).get("/log/checkpoint").send_raw();
            assert!([200, 500, 503].contains(&shown.status), "{shown:?}");
        }
        server
    });
    let stored = deployment
        .targets
        .iter()
        .map(|target| !situation.is_growing || grow(&target.client(&server), GROWTH));
    let stored: Vec<bool> = stored.collect();
    let seen: Vec<_> = deployment
        .targets
        .iter()
        .map(|target| observers::outside(target, &target.client(&server), &deployment.key))
        .collect();
    let verified = verified_first.unwrap_or_else(|| deployment.verify());
    let mut observed = Vec::new();
    for (index, target) in deployment.targets.iter().enumerate() {
        let (witness, client) = seen[index];
        auditor_state(target, &deployment.key);
        let is_verified = verified.contains(&target.case.organization.project_id);
        let project = target.client(&server);
        let observation = Observation {
            verify: is_verified,
            audit: observers::audit(target, &server),
            witness,
            client,
            is_refused: !stored[index],
            is_intact: is_intact(target, &project),
        };
        if index == edits.len() {
            assert_eq!(observation, Observation::sound(), "the log that nobody edits");
        } else {
            observed.push(is_applied[index].then_some(observation));
        }
    }
    drop(server);
    observed
}

/// The edits that run on a database: a part of them, another one on each, or all.
fn edits_of(kind: DatabaseKind) -> Vec<Edit> {
    let first = usize::from(kind == DatabaseKind::Postgres);
    let every = if is_full() { 1 } else { PART };
    let chosen = edits().into_iter().skip(first % every).step_by(every);
    chosen.collect()
}

/// The rows of one database, with the cells of the situations that run.
fn run(table: &Table, kind: DatabaseKind) -> Vec<Row> {
    let edits = edits_of(kind);
    let base = Deployment::shared(kind, edits.len() + 1);
    let mut rows: Vec<Row> = edits
        .iter()
        .map(|edit| Row::new(edit.name, kind, edit.excuse))
        .collect();
    for index in table.running() {
        let observed = observe(base, &edits, table.situations[index]);
        for (row, observation) in rows.iter_mut().zip(observed) {
            row.cells[index] = observation;
        }
    }
    rows.retain(|row| row.cells.iter().any(Option::is_some));
    rows
}

fn is_noticed_as_documented(table: &Table) {
    let kinds = [DatabaseKind::Sqlite, DatabaseKind::Postgres];
    let rows: Vec<Row> = std::thread::scope(|scope| {
        let kinds = kinds.iter().copied().filter(|kind| kind.is_available());
        let threads: Vec<_> = kinds.map(|kind| scope.spawn(move || run(table, kind))).collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().expect("a thread"))
            .collect()
    });
    table.expect_noticed(&rows);
    table.expect_documented(&rows);
}

#[test]
fn every_edit_is_noticed_as_documented() {
    is_noticed_as_documented(&OF_DATABASE);
}

#[test]
fn every_edit_with_the_files_of_the_server_is_noticed_as_documented() {
    is_noticed_as_documented(&OF_HOST);
}
