//! The verifiable log: proofs and detection of tampering.

mod alerts;
pub(crate) mod anchors;
mod attacks;
mod auditing;
mod careful;
pub(crate) mod cosigning;
mod elsewhere;
mod evidence;
mod heads;
mod keys;
mod lost;
mod nodes;
mod proofs;
mod receipts;
mod refused;
mod rotation;
mod rows;
mod signer;
mod signing;
mod tampering;
mod tenants;
mod third_parties;
mod tiles;
mod witness;

use audit_domain::{ContentHash, EventId, LogName};
use audit_ledger::Hash;
use audit_tests::process::Exit;
use audit_tests::{
    Client, Database, DatabaseKind, Finished, Organization, Server, command_line, command_line_on,
    event_with, temporary_directory,
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The variable that names the state directory.
pub(crate) const STATE_DIRECTORY: &str = "AUDIT_STATE_DIR";

/// The number of events in the logs that are tampered with: one full tile and 44 events in a partial one.
pub(crate) const EVENTS: usize = 300;

/// Stores distinct events and returns their ids in log order.
pub(crate) fn store_events(client: &Client, count: usize) -> Vec<String> {
    let numbers: Vec<usize> = (0..count).collect();
    let batches = numbers.chunks(100).map(|numbers| {
        let event = |number: &usize| event_with(json!({"metadata": {"number": number}}));
        client.store_all(numbers.iter().map(event).collect())
    });
    batches.flatten().collect()
}

/// Runs `log audit` on the live log of one project.
pub(crate) fn audit(url: &str, key: &str, state: &Path, more: &[&str]) -> Finished {
    let arguments = [
        "log",
        "audit",
        "--url",
        url,
        "--key",
        key,
        "--state",
        text_of(state),
    ];
    command_line(&[&arguments, more].concat())
}

/// Runs `log verify` on all logs of a database.
pub(crate) fn verify(database: &Database) -> Finished {
    command_line_on(database, &["log", "verify"])
}

/// A database with a signed and audited log, and no running server.
pub(crate) struct Case {
    pub(crate) database: Database,
    pub(crate) organization: Organization,
    /// Event ids by position in the log.
    pub(crate) ids: Vec<String>,
    /// Events by position in the log.
    pub(crate) events: Vec<Value>,
    /// The state file of an auditor.
    pub(crate) state: PathBuf,
    /// The state directory of the servers, which is not in reach of an attacker with the database.
    pub(crate) memory: PathBuf,
}

impl Case {
    /// Creates a new case.
    fn make(kind: DatabaseKind) -> Self {
        let database = Database::create(kind);
        let memory = temporary_directory("memory-");
        let server = Server::start(&database, &[(STATE_DIRECTORY, text_of(&memory))]);
        let organization = Organization::create(&server, "enterprise");
        let project = organization.project();
        let ids = store_events(&project, EVENTS);
        let mut events: Vec<Value> = project.pages(&[("limit", "200")]).concat();
        events.sort_by_key(|event| ids.iter().position(|id| event["id"] == **id));
        let state = temporary_directory("audit-").join("state");
        audit(server.base_url(), &organization.project_key, &state, &[]).success();
        stop(server);
        Self {
            database,
            organization,
            ids,
            events,
            state,
            memory,
        }
    }

    /// A case whose log has no events, and was never audited.
    pub(crate) fn empty(kind: DatabaseKind) -> Self {
        let (database, memory) = (Database::create(kind), temporary_directory("memory-"));
        let server = Server::start(&database, &[(STATE_DIRECTORY, text_of(&memory))]);
        let organization = Organization::create(&server, "enterprise");
        stop(server);
        Self {
            database,
            organization,
            ids: Vec::new(),
            events: Vec::new(),
            state: temporary_directory("audit-").join("state"),
            memory,
        }
    }

    /// Copies the case that all tests share.
    pub(crate) fn fresh(kind: DatabaseKind) -> Self {
        static CASES: [OnceLock<Case>; 2] = [OnceLock::new(), OnceLock::new()];
        let case = CASES[usize::from(kind == DatabaseKind::Postgres)].get_or_init(|| Self::make(kind));
        case.copy()
    }

    /// Copies the case, like a backup.
    pub(crate) fn copy(&self) -> Self {
        let state = temporary_directory("audit-").join("state");
        std::fs::copy(&self.state, &state).expect("copy the state of an audit");
        Self {
            database: self.database.copy(),
            organization: self.organization.clone(),
            ids: self.ids.clone(),
            events: self.events.clone(),
            state,
            memory: copy_of(&self.memory),
        }
    }

    /// The servers lose what they have signed: the attacker has their files as well.
    pub(crate) fn forget(&self) -> &Self {
        std::fs::remove_dir_all(&self.memory).expect("remove the state directory");
        self
    }

    /// The attacker has the head key as well, and writes a code for the head. Nothing may contradict the events any more.
    pub(crate) fn seal(&self) -> &Self {
        command_line_on(&self.database, &["log", "repair", "--accept-unsigned"]).success();
        self
    }

    /// Starts a server on the database.
    pub(crate) fn start(&self) -> (Server, Client) {
        let server = Server::start(&self.database, &[(STATE_DIRECTORY, text_of(&self.memory))]);
        let project = self.organization.on(&server).project();
        (server, project)
    }

    /// Runs SQL on the database. `LEDGER` stands for the condition that a row belongs to this log.
    pub(crate) fn tamper(&self, sql: &str) -> &Self {
        let ledger = format!(
            "ledger_id = (SELECT id FROM ledgers WHERE project_id = '{}' AND environment = 'live')",
            self.organization.project_id
        );
        let head = format!(
            "project_id = '{}' AND environment = 'live'",
            self.organization.project_id
        );
        self.database
            .execute(&sql.replace("LEDGER", &ledger).replace("HEAD", &head));
        self
    }

    /// The findings of `log verify` for this log. Asserts that there is one, and that no other log has any.
    pub(crate) fn findings(&self) -> Vec<Value> {
        let finished = command_line_on(&self.database, &["log", "verify", "--json"]);
        assert_eq!(finished.exit, Exit::Code(1), "{finished:?}");
        let report: Value = serde_json::from_str(&finished.stdout).expect("a report");
        assert_eq!(report["ok"], json!(false), "{report}");
        let mut found = Vec::new();
        for ledger in report["ledgers"].as_array().expect("ledgers") {
            let findings = ledger["findings"].as_array().expect("findings").clone();
            let is_own =
                ledger["project_id"] == *self.organization.project_id && ledger["environment"] == "live";
            assert!(is_own || findings.is_empty(), "{ledger}");
            found.extend(findings);
        }
        assert!(!found.is_empty(), "{report}");
        found
    }

    /// Asserts that the first finding of `log verify` names this event and this problem.
    pub(crate) fn expect_named(&self, seq: usize, problem: &str) {
        let findings = self.findings();
        let first = &findings[0];
        let named = (first["seq"].as_u64(), first["last_seq"].as_u64());
        assert_eq!(named, (Some(seq as u64), Some(seq as u64)), "{findings:?}");
        assert!(
            first["problem"]
                .as_str()
                .is_some_and(|text| text.contains(problem)),
            "{findings:?}"
        );
        let printed = verify(&self.database);
        assert_eq!(printed.exit, Exit::Code(1), "{printed:?}");
        let last = printed.stdout.lines().last().unwrap_or_default().to_owned();
        assert!(
            last.starts_with("INCONSISTENT: ") && last.contains(&format!("event {seq}")),
            "{printed:?}"
        );
    }

    /// Like `expect_named`, and asserts that the finding contains the id of the event.
    pub(crate) fn expect_named_by_id(&self, seq: usize, problem: &str) {
        self.expect_named(seq, problem);
        assert_eq!(self.findings()[0]["id"], *self.ids[seq]);
    }

    /// Asserts that `log verify` has no findings.
    pub(crate) fn expect_sound(&self) {
        let finished = verify(&self.database);
        assert_eq!(finished.exit, Exit::Code(0), "{finished:?}");
    }

    /// Runs `log audit` with the auditor's state against a server on this database.
    pub(crate) fn audit(&self, more: &[&str]) -> Finished {
        let (server, _) = self.start();
        audit(
            server.base_url(),
            &self.organization.project_key,
            &self.state,
            more,
        )
    }

    /// Asserts that `log audit` reports this problem.
    pub(crate) fn expect_caught(&self, what: &str) {
        assert_wrong(&self.audit(&[]), what);
    }

    /// The leaf hashes of the log.
    pub(crate) fn leaves(&self) -> Vec<Hash> {
        let log = live_log(&self.organization);
        self.events.iter().map(|event| leaf_of(&log, event)).collect()
    }

    /// An SQL literal of the content hash that an event has in this log.
    pub(crate) fn hash_literal(&self, event: &Value) -> String {
        let hash = hash_of(&live_log(&self.organization), event);
        self.database.blob(hash.as_bytes())
    }
}

/// A copy of the state directory of stopped servers.
pub(crate) fn copy_of(memory: &Path) -> PathBuf {
    let copy = temporary_directory("memory-");
    for entry in std::fs::read_dir(memory).expect("list the state directory") {
        let path = entry.expect("list the state directory").path();
        let name = path.file_name().expect("a file has a name");
        std::fs::copy(&path, copy.join(name)).expect("copy the state of the servers");
    }
    copy
}

/// The text of a path.
pub(crate) fn text_of(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

pub(crate) fn assert_wrong(finished: &Finished, what: &str) {
    assert_eq!(finished.exit, Exit::Code(1), "{finished:?}");
    assert!(
        finished.stdout.starts_with("INCONSISTENT: ") && finished.stdout.contains(what),
        "{what:?} in {finished:?}"
    );
}

/// Stops a server. Returns its log, which is then whole.
pub(crate) fn stop(server: Server) -> String {
    let finished = server.stop();
    assert_eq!(finished.exit, Exit::Code(0), "{finished:?}");
    finished.stderr
}

/// The canonical form of an event as a full read returns it, computed by an independent implementation.
pub(crate) fn canonical(event: &Value) -> String {
    let mut hashed = event.clone();
    let members = hashed.as_object_mut().expect("an event is an object");
    for added in ["content_hash", "content_salt", "redacted"] {
        members.remove(added);
    }
    serde_json_canonicalizer::to_string(&hashed).expect("JSON has a canonical form")
}

/// The log of an organization's project.
pub(crate) fn live_log(organization: &Organization) -> LogName {
    LogName::parse(&organization.project_id, "live").expect("the name of a log")
}

/// The content hash of an event of a log, with the salt that a full read returned.
pub(crate) fn hash_of(log: &LogName, event: &Value) -> ContentHash {
    let salt = event["content_salt"].as_str().and_then(|salt| salt.parse().ok());
    ContentHash::of(&canonical(event), &salt.expect("a salt"), log).expect("an event")
}

/// The leaf hash of an event of a log as a full read returns it.
pub(crate) fn leaf_of(log: &LogName, event: &Value) -> Hash {
    Hash::of_event(&hash_of(log, event))
}

/// The bytes of an id, as stored in its column.
pub(crate) fn id_bytes(id: &str) -> [u8; 16] {
    id.parse::<EventId>().expect("an event's id").to_bytes()
}

/// SQL that puts the head back that the table `saved_heads` has: the database is of an older state.
pub(crate) const RESTORE_HEAD: &str =
    "UPDATE ledgers SET (size, last_event_id, last_received_at, frontier, lifecycle_seq, head_code) =
        (SELECT size, last_event_id, last_received_at, frontier, lifecycle_seq, head_code FROM saved_heads WHERE saved_heads.id = ledgers.id)
     WHERE HEAD";

/// An SQL literal of text.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// SQL that deletes events and all rows that refer to them.
pub(crate) fn delete(kind: DatabaseKind, condition: &str) -> String {
    match kind {
        DatabaseKind::Postgres => format!("DELETE FROM events WHERE LEDGER AND {condition}"),
        DatabaseKind::Sqlite => {
            let entries = format!("entry IN (SELECT entry FROM events WHERE LEDGER AND {condition})");
            format!("DELETE FROM event_times WHERE {entries}; DELETE FROM events WHERE {entries}")
        }
    }
}
