//! Sequences of what a server, its restarts and an attacker with write access to the database do to one log, made at random. What
//! `docs/design/signing.md` claims holds after every step: an event that the signer has seen is in the log, or verification finds that it is
//! not; nothing is signed that does not continue what was signed; and nothing is appended to a log that is smaller than it was when it
//! could not be signed.
//!
//! `PROPTEST_CASES` sets the number of sequences.

use crate::signing::{open_as, sent};
use audit_app::{AuditLog, Remembered, RepairOptions, Selection, SignerMemory, VerifyOptions};
use audit_auth::{Credential, EventsRead, Keys};
use audit_domain::{ContentHash, Environment, ProjectId};
use audit_ledger::{Follower, Frontier, Hash, HeadKey, Origin};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Text};
use proptest::prelude::*;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// Sequences of a run, unless the environment says another number.
const SEQUENCES: u32 = 40;
/// The name of the state file.
const PROCESS: &str = "one";

#[derive(Clone, Copy, Debug)]
enum Step {
    /// A request with some events, from one to more than a tile.
    Append(usize),
    /// The round of each second.
    Sign,
    /// The scan for logs with unsigned events.
    Scan,
    Restart,
    /// The attacker keeps a copy of the log's rows.
    Save,
    /// The attacker puts a copy back, with the checkpoint that was published then, or without.
    Restore(usize, bool),
    /// The attacker changes the content hashes of the latest events.
    ChangeHashes(usize),
    /// The attacker puts the right content hashes back.
    MendHashes,
    PlantTile,
    ChangeTiles,
    RemoveTiles,
    RemoveCheckpoint,
    /// `log repair`.
    Repair,
    /// An auditor elsewhere asks for the checkpoint, and for the proof that it continues the one that it has.
    Audit,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        5 => (1..6_usize).prop_map(Step::Append),
        1 => (200..300_usize).prop_map(Step::Append),
        5 => Just(Step::Sign),
        1 => Just(Step::Scan),
        2 => Just(Step::Restart),
        3 => Just(Step::Save),
        4 => (0..4_usize, any::<bool>()).prop_map(|(copy, is_whole)| Step::Restore(copy, is_whole)),
        2 => (1..4_usize).prop_map(Step::ChangeHashes),
        2 => Just(Step::MendHashes),
        1 => Just(Step::PlantTile),
        1 => Just(Step::ChangeTiles),
        1 => Just(Step::RemoveTiles),
        1 => Just(Step::RemoveCheckpoint),
        1 => Just(Step::Repair),
        3 => Just(Step::Audit),
    ]
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    entry: i64,
    #[diesel(sql_type = Binary)]
    content_hash: Vec<u8>,
}

#[derive(QueryableByName)]
struct Number {
    #[diesel(sql_type = BigInt)]
    number: i64,
}

#[derive(QueryableByName)]
struct Joined {
    #[diesel(sql_type = Text)]
    text: String,
}

/// The content hashes of a log as it was appended.
type Content = Vec<Hash>;

struct Log {
    folder: tempfile::TempDir,
    service: Option<Arc<AuditLog>>,
    project: ProjectId,
    ledger: i64,
    database: SqliteConnection,
    /// What the database has, apart from changed hashes.
    content: Content,
    copies: Vec<Content>,
    /// What the signer has seen: each continues those before it, or the signer saw two histories.
    seen: Vec<Content>,
    signed: Content,
    /// The key of a client, and what an auditor has accepted.
    credential: Credential,
    auditor: Option<Follower>,
    audited: Content,
    /// The right content hashes, by the row.
    hashes: HashMap<i64, Vec<u8>>,
}

/// The tables with rows of a log, and the condition that a row is one.
const TABLES: [(&str, &str); 5] = [
    ("events", "entry >> 40 = LEDGER"),
    ("event_times", "entry >> 40 = LEDGER"),
    ("unordered_events", "entry >> 40 = LEDGER"),
    ("event_keys", "first_entry >> 40 = LEDGER"),
    ("log_tiles", "ledger_id = LEDGER"),
];
const HEAD: &str = "size, last_event_id, last_received_at, frontier, lifecycle_seq, head_code";

impl Log {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let service = start(folder.path());
        let (project, key) = crate::signing::create_with_key(&service);
        let path = folder.path().join("audit.db");
        let mut database = SqliteConnection::establish(&path.to_string_lossy()).expect("the database");
        database
            .batch_execute("PRAGMA busy_timeout = 60000")
            .expect("a connection");
        let ledger = diesel::sql_query(format!(
            "SELECT id AS number FROM ledgers WHERE project_id = '{project}' AND environment = 'live'"
        ));
        let ledger = ledger
            .get_result::<Number>(&mut database)
            .expect("a ledger")
            .number;
        let service = Some(service);
        Self {
            folder,
            service,
            project,
            ledger,
            database,
            content: Vec::new(),
            copies: Vec::new(),
            seen: Vec::new(),
            signed: Vec::new(),
            credential: Credential::parse(&key).expect("a credential"),
            auditor: None,
            audited: Vec::new(),
            hashes: HashMap::new(),
        }
    }

    fn service(&self) -> &Arc<AuditLog> {
        self.service.as_ref().expect("it runs")
    }

    fn edit(&mut self, sql: &str) {
        let sql = sql.replace("LEDGER", &self.ledger.to_string());
        self.database.batch_execute(&sql).expect("an edit");
    }

    /// The columns of a table that are stored.
    fn columns(&mut self, table: &str) -> String {
        let columns = format!("SELECT group_concat(name) AS text FROM pragma_table_info('{table}')");
        let columns = diesel::sql_query(columns).get_result::<Joined>(&mut self.database);
        columns.expect("columns").text
    }

    /// The stored rows, in their order.
    fn rows(&mut self) -> Vec<Row> {
        let rows = format!(
            "SELECT entry, content_hash FROM events WHERE entry >> 40 = {} ORDER BY entry",
            self.ledger
        );
        diesel::sql_query(rows).load(&mut self.database).expect("rows")
    }

    fn memory(&self) -> Remembered {
        let known = SignerMemory::read(&self.folder.path().join(PROCESS)).expect("a state file");
        let name = format!("/{}/live", self.project);
        let known = known.unwrap_or_default();
        let of_log = known.into_iter().find(|(origin, _)| origin.ends_with(&name));
        of_log.map(|(_, known)| known).unwrap_or_default()
    }

    fn run(&mut self, step: Step) {
        match step {
            Step::Append(count) => self.append(count),
            Step::Sign => self.service().sign_checkpoints().expect("signing works"),
            Step::Scan => crate::signing::sign_unsigned(self.service()),
            Step::Restart => {
                let service = self.service.take().expect("it runs");
                service.close();
                drop(service);
                self.service = Some(start(self.folder.path()));
            }
            Step::Save => {
                let copy = self.copies.len();
                for (table, condition) in TABLES {
                    let columns = self.columns(table);
                    self.edit(&format!(
                        "CREATE TABLE copy_{copy}_{table} AS SELECT {columns} FROM {table} WHERE {condition}"
                    ));
                }
                self.edit(&format!(
                    "CREATE TABLE copy_{copy}_heads AS SELECT {HEAD} FROM ledgers WHERE id = LEDGER;
                     CREATE TABLE copy_{copy}_checkpoints AS SELECT * FROM log_checkpoints WHERE ledger_id = LEDGER"
                ));
                self.copies.push(self.content.clone());
            }
            Step::Restore(copy, is_whole) => self.restore(copy, is_whole),
            Step::ChangeHashes(count) => self.edit(&format!(
                "UPDATE events SET content_hash = randomblob(32) WHERE entry IN
                     (SELECT entry FROM events WHERE entry >> 40 = LEDGER ORDER BY entry DESC LIMIT {count})"
            )),
            Step::MendHashes => self.mend(),
            Step::PlantTile => self.edit(&format!(
                "INSERT OR IGNORE INTO log_tiles (ledger_id, level, tile_index, hashes)
                     VALUES (LEDGER, 0, {}, randomblob(8192))",
                self.content.len() / 256
            )),
            Step::ChangeTiles => {
                self.edit("UPDATE log_tiles SET hashes = randomblob(8192) WHERE ledger_id = LEDGER");
            }
            Step::RemoveTiles => self.edit("DELETE FROM log_tiles WHERE ledger_id = LEDGER"),
            Step::RemoveCheckpoint => self.edit("DELETE FROM log_checkpoints WHERE ledger_id = LEDGER"),
            Step::Repair => {
                let known = SignerMemory::read(&self.folder.path().join(PROCESS)).expect("a state file");
                let options = RepairOptions {
                    known: known.unwrap_or_default(),
                    head_key: Some(HeadKey::new(&[7; 32])),
                    ..RepairOptions::default()
                };
                // The clock of the test stands still, and a repair is recorded by its time.
                self.edit("DELETE FROM log_repairs");
                self.service().repair_log(&options).expect("a repair");
            }
            Step::Audit => self.audit(),
        }
    }

    /// Where the service shows a checkpoint with a proof, it continues what the auditor has, and is of what was appended. A service that
    /// cannot show one responds with an error, which the auditor reports.
    fn audit(&mut self) {
        let service = Arc::clone(self.service());
        let presented = service.present::<Keys<EventsRead>>(self.credential.clone(), None, None);
        let reader = presented.authenticate().expect("a valid key");
        let Ok(shown) = service.log_checkpoint(&reader, Selection::default(), false) else {
            return;
        };
        let origin = Origin::parse(shown.note.lines().next().expect("a line")).expect("a name");
        let key = service.log_key().expect("a key");
        let new = || Follower::new(origin, vec![key]);
        let mut auditor = self.auditor.take().unwrap_or_else(new);
        let offered = auditor
            .check(&shown.note)
            .expect("it has no fewer events, and no others");
        let (from, to) = (auditor.size(), offered.head().size);
        let proof = service.log_consistency(&reader, Selection::default(), from, to);
        if let Ok(proof) = proof {
            auditor
                .advance(&shown.note, &proof)
                .expect("it continues what the auditor has");
            let size = usize::try_from(to).expect("a small log");
            // Signed now, or before rows were put back: whether they are there is checked after each step.
            let known = self.content.get(..size).map(<[Hash]>::to_vec);
            let mut known = known.into_iter().chain(self.seen.iter().cloned());
            let is_shown = |content: &Content| tree_of(content).head() == *offered.head();
            let content = known.find(is_shown).expect("what is shown was appended");
            assert!(content.starts_with(&self.audited), "it has all that was audited");
            self.audited = content;
        }
        self.auditor = Some(auditor);
    }

    fn append(&mut self, count: usize) {
        let event = r#"{"action":"a.b","category":"auth","tenant_id":"t","actor":{"id":"a","type":"user"}}"#;
        for count in [
            count.min(100),
            count.saturating_sub(100).min(100),
            count.saturating_sub(200),
        ] {
            let body = format!("[{}]", vec![event; count].join(","));
            let is_cut_off = (self.content.len() as u64) < self.memory().unsigned_size();
            let stored = (count > 0).then(|| {
                self.service()
                    .ingest_blocking(self.project, Environment::Live, &sent(body.as_bytes()))
            });
            if let Some(Ok(stored)) = stored {
                assert!(!is_cut_off, "events were appended to a log that lost some");
                assert_eq!(stored.ids.len(), count);
                let first = self.content.len();
                for row in self.rows().split_off(first) {
                    let hash: [u8; 32] = row.content_hash.as_slice().try_into().expect("a hash");
                    self.content.push(Hash::of_event(&ContentHash::from_bytes(hash)));
                    self.hashes.insert(row.entry, row.content_hash);
                }
                assert_eq!(self.content.len(), first + count);
            }
        }
    }

    fn restore(&mut self, copy: usize, is_whole: bool) {
        let Some(content) = self.copies.get(copy).cloned() else {
            return;
        };
        for (table, condition) in TABLES {
            let columns = self.columns(table);
            self.edit(&format!(
                "DELETE FROM {table} WHERE {condition};
                 INSERT INTO {table} ({columns}) SELECT {columns} FROM copy_{copy}_{table}"
            ));
        }
        self.edit(&format!(
            "UPDATE ledgers SET ({HEAD}) = (SELECT {HEAD} FROM copy_{copy}_heads) WHERE id = LEDGER"
        ));
        if is_whole {
            self.edit(&format!(
                "DELETE FROM log_checkpoints WHERE ledger_id = LEDGER;
                 INSERT INTO log_checkpoints SELECT * FROM copy_{copy}_checkpoints"
            ));
        }
        self.content = content;
        // A copy of changed hashes has changed ones. Those of another history at the same positions are others.
        self.hashes = self
            .rows()
            .into_iter()
            .map(|row| (row.entry, row.content_hash))
            .collect();
        self.mend_from_content();
    }

    /// The right content hashes of the rows, from what was appended.
    fn mend_from_content(&mut self) {
        let rows = self.rows();
        let is_right = |row: &Row, leaf: &Hash| {
            let hash: Result<[u8; 32], _> = row.content_hash.as_slice().try_into();
            hash.is_ok_and(|hash| Hash::of_event(&ContentHash::from_bytes(hash)) == *leaf)
        };
        let wrong = rows
            .iter()
            .zip(&self.content)
            .filter(|(row, leaf)| !is_right(row, leaf));
        for (row, _) in wrong {
            self.hashes.remove(&row.entry);
        }
    }

    fn mend(&mut self) {
        for row in self.rows() {
            if let Some(hash) = self
                .hashes
                .get(&row.entry)
                .filter(|hash| **hash != row.content_hash)
            {
                let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
                let entry = row.entry;
                self.edit(&format!(
                    "UPDATE events SET content_hash = X'{hex}' WHERE entry = {entry}"
                ));
            }
        }
    }

    /// What holds after every step; `before` is what the state file had before it.
    fn check(&mut self, before: &Remembered) {
        let memory = self.memory();
        if memory != *before {
            if let Some(signed) = memory.signed.as_ref().filter(|_| memory.signed != before.signed) {
                let size = usize::try_from(signed.tree.size()).expect("a small log");
                let content = self.content[..size].to_vec();
                assert_eq!(
                    tree_of(&content),
                    signed.tree,
                    "what was signed is what was appended"
                );
                assert!(
                    content.starts_with(&self.signed),
                    "what was signed continues what was signed before"
                );
                for seen in &self.seen {
                    assert!(
                        content.starts_with(seen),
                        "what was signed has all that the signer has seen"
                    );
                }
                self.signed.clone_from(&content);
                self.seen.push(content);
            }
            for head in &memory.unsigned {
                if !before.unsigned.contains(head) {
                    let size = usize::try_from(head.size).expect("a small log");
                    self.seen.push(self.content[..size].to_vec());
                }
            }
        }
        let rows = self.rows();
        let is_there = |content: &Content| rows.len() >= content.len() && self.content.starts_with(content);
        if !self.seen.iter().all(is_there) {
            let findings = self.findings();
            assert!(
                findings > 0,
                "an event that the signer has seen is gone, and nothing is found"
            );
        }
    }

    /// What `log verify` finds of the log on this node.
    fn findings(&self) -> u64 {
        let known = SignerMemory::read(&self.folder.path().join(PROCESS)).expect("a state file");
        let options = VerifyOptions {
            known: known.unwrap_or_default(),
            head_key: Some(HeadKey::new(&[7; 32])),
            ..VerifyOptions::default()
        };
        let reports = self
            .service()
            .verify_log(&options, &mut |_, _| {})
            .expect("a report");
        let project = self.project.to_string();
        let own = reports
            .iter()
            .filter(|report| report.project_id == project && report.environment == "live");
        own.map(|report| report.findings_count).sum()
    }
}

fn tree_of(content: &Content) -> Frontier {
    let mut tree = Frontier::new();
    for leaf in content {
        tree.append(*leaf);
    }
    tree
}

/// A process that begins as `serve` does.
fn start(folder: &Path) -> Arc<AuditLog> {
    let service = open_as(folder, PROCESS);
    service.load_remembered().expect("the state file is read");
    let mut after = service.check_remembered(None).expect("logs are checked");
    while after.is_some() {
        after = service.check_remembered(after).expect("logs are checked");
    }
    crate::signing::sign_unsigned(&service);
    service
}

fn config() -> ProptestConfig {
    let by_environment = ProptestConfig::default();
    // Without the variable it is the default of the library.
    let cases = match by_environment.cases {
        256 => SEQUENCES,
        cases => cases,
    };
    ProptestConfig {
        cases,
        max_shrink_iters: 200,
        failure_persistence: None,
        ..by_environment
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn no_sequence_takes_away_what_the_signer_has_seen(steps in proptest::collection::vec(step(), 4..24)) {
        // Other tests count the statements of this process.
        let _turn = crate::signing::record();
        let mut log = Log::new();
        for step in steps {
            let before = log.memory();
            log.run(step);
            log.check(&before);
        }
        log.service().close();
        crate::signing::take_statements();
    }
}

/// The database goes back, and the next event has the place of one that was signed.
#[test]
fn a_checkpoint_is_shown_with_no_proof_of_another_history() {
    let _turn = crate::signing::record();
    for is_whole in [true, false] {
        for restart in [Some(Step::Restart), None] {
            let mut log = Log::new();
            let signed = [
                Step::Append(1),
                Step::Sign,
                Step::Audit,
                Step::Save,
                Step::Append(1),
                Step::Sign,
            ];
            signed.into_iter().for_each(|step| log.run(step));
            log.run(Step::Restore(0, is_whole));
            restart.into_iter().for_each(|step| log.run(step));
            log.run(Step::Append(1));
            log.run(Step::Audit);
            log.service().close();
        }
    }
    crate::signing::take_statements();
}
