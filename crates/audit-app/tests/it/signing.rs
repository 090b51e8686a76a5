//! The cost of signing, in statements, and two processes that sign the same logs. On embedded SQLite: the statements on
//! PostgreSQL are the same, except that one stores all checkpoints of a transaction.

use audit_app::{AuditLog, EventsForm, NewOrganization, SentEvents, Settings, SignerMemory};
use audit_domain::{Clock, Entropy, Environment, Plan, ProjectId, Timestamp};
use audit_store::{DatabaseUrl, Store, StoreOptions};
use diesel::connection::{
    Instrumentation, InstrumentationEvent, SimpleConnection, set_default_instrumentation,
};
use diesel::{Connection, SqliteConnection};
use parking_lot::{Mutex, MutexGuard};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Distinct bytes, made from a counter.
struct Counting;

impl Entropy for Counting {
    fn fill(&self, bytes: &mut [u8]) {
        static COUNT: AtomicU64 = AtomicU64::new(1);
        let count = COUNT.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        for (byte, source) in bytes.iter_mut().zip(count.iter().rev().cycle()) {
            *byte = *source;
        }
    }
}

/// The statements of all connections of this process.
static STATEMENTS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Runs once, after heads and checkpoints were read and before they are compared.
static AFTER_STATES: Mutex<Option<Box<dyn FnOnce() + Send>>> = Mutex::new(None);

fn is_of_states(statement: &str) -> bool {
    statement.starts_with("SELECT `ledgers`") && statement.contains("`log_checkpoints`")
}

struct Recording;

impl Instrumentation for Recording {
    fn on_connection_event(&mut self, event: InstrumentationEvent<'_>) {
        match event {
            InstrumentationEvent::StartQuery { query, .. } => STATEMENTS.lock().push(query.to_string()),
            InstrumentationEvent::FinishQuery { query, .. } if is_of_states(&query.to_string()) => {
                let meanwhile = AFTER_STATES.lock().take();
                meanwhile.into_iter().for_each(|meanwhile| meanwhile());
            }
            _ => {}
        }
    }
}

/// The statements since the last call.
pub(crate) fn take_statements() -> Vec<String> {
    std::mem::take(&mut *STATEMENTS.lock())
}

/// Those that read or write checkpoints or the tree.
fn statements() -> Vec<String> {
    let of_the_log = [
        "log_checkpoints",
        "log_tiles",
        "SELECT `events`.`entry`, `events`.`content_hash` FROM",
    ];
    let mut statements = take_statements();
    statements.retain(|statement| of_the_log.iter().any(|part| statement.contains(part)));
    statements
}

/// Records statements. The record is of the process, so one test at a time has it.
pub(crate) fn record() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock();
    set_default_instrumentation(|| Some(Box::new(Recording))).expect("statements are recorded");
    turn
}

/// Opens the service. Each process on the database has a state file of its own.
pub(crate) fn open(folder: &Path) -> Arc<AuditLog> {
    open_as(folder, "one")
}

pub(crate) fn open_as(folder: &Path, process: &str) -> Arc<AuditLog> {
    open_with(folder, process, Settings::default())
}

pub(crate) fn open_with(folder: &Path, process: &str, settings: Settings) -> Arc<AuditLog> {
    let clock: Arc<dyn Clock> = Arc::new(Timestamp::from_seconds(1_768_473_000));
    let url = DatabaseUrl::Sqlite(folder.join("audit.db"));
    let store = Store::open(
        &url,
        StoreOptions::default(),
        &audit_ledger::HeadKey::new(&[7; 32]),
        &clock,
    )
    .expect("the store opens");
    let signer = SignerMemory::open(&folder.join(process)).expect("the state file opens");
    let settings = Settings {
        signer: Some(Arc::new(signer)),
        // The tests count events.
        self_audit: false,
        ..settings
    };
    AuditLog::open(store, clock, Arc::new(Counting), settings).expect("the service opens")
}

fn create(service: &Arc<AuditLog>) -> ProjectId {
    create_with_key(service).0
}

/// A project, and its key.
pub(crate) fn create_with_key(service: &Arc<AuditLog>) -> (ProjectId, String) {
    let name = "o".parse().expect("a name");
    let NewOrganization {
        project, project_key, ..
    } = service
        .create_organization(&name, Plan::Enterprise)
        .expect("an organization is created");
    (project.id, project_key.as_str().to_owned())
}

/// The events of a body in JSON.
pub(crate) fn sent(body: &[u8]) -> SentEvents<'_> {
    SentEvents::new(body, EventsForm::Json)
}

/// Stores a batch of events of as many tenants: `tenant-<number>-<index>`.
pub(crate) fn store_batch(service: &Arc<AuditLog>, project: ProjectId, number: usize, count: usize) {
    let event = |index: usize| {
        format!(
            r#"{{"action": "a.b", "category": "auth", "tenant_id": "tenant-{number}-{index}", "actor": {{"id": "a", "type": "user"}}}}"#
        )
    };
    let events: Vec<String> = (0..count).map(event).collect();
    let body = format!("[{}]", events.join(","));
    let stored = service.ingest_blocking(project, Environment::Live, &sent(body.as_bytes()));
    assert_eq!(stored.expect("the events are stored").ids.len(), count);
}

fn store(service: &Arc<AuditLog>, project: ProjectId, environment: Environment) {
    let event =
        br#"{"action": "a.b", "category": "auth", "tenant_id": "t", "actor": {"id": "a", "type": "user"}}"#;
    let stored = service
        .ingest_blocking(project, environment, &sent(event))
        .expect("the event is stored");
    assert_eq!(stored.ids.len(), 1);
}

/// A proof of an event that was signed before, while a newer checkpoint is remembered and cannot be stored.
#[test]
fn a_proof_does_not_wait_for_the_writer_with_the_signer() {
    let _turn = record();
    let folder = tempfile::tempdir().expect("a directory");
    let service = open(folder.path());
    let (project, key) = create_with_key(&service);
    let event =
        br#"{"action": "a.b", "category": "auth", "tenant_id": "t", "actor": {"id": "a", "type": "user"}}"#;
    let stored = service.ingest_blocking(project, Environment::Live, &sent(event));
    let id = stored.expect("the event is stored").ids[0];
    service.sign_checkpoints().expect("it is signed");
    store(&service, project, Environment::Live);
    let file = folder.path().join("audit.db");
    let mut other = SqliteConnection::establish(&file.to_string_lossy()).expect("the database opens");
    other.batch_execute("BEGIN IMMEDIATE").expect("the lock is taken");
    let remembered = || std::fs::read(folder.path().join("one")).expect("the state file is read");
    let before = remembered();
    let signing = std::thread::spawn({
        let service = Arc::clone(&service);
        move || service.sign_checkpoints()
    });
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while remembered() == before {
        assert!(std::time::Instant::now() < deadline, "nothing is remembered");
        std::thread::yield_now();
    }
    let credential = audit_auth::Credential::parse(&key).expect("a key");
    let presented = service.present::<audit_auth::Readers>(credential, None, None);
    let proof = presented.event_proof(audit_app::Selection::default(), id);
    assert!(!signing.is_finished(), "the checkpoint is not stored yet");
    other.batch_execute("ROLLBACK").expect("the lock is released");
    assert_eq!(proof.expect("the event is proved").seq, 0);
    signing.join().expect("no panic").expect("it is signed");
}

/// Signs the ledgers that no process has signed, as at the start of a process.
pub(crate) fn sign_unsigned(service: &Arc<AuditLog>) {
    let mut after = service.sign_unsigned(None, None).expect("ledgers are signed");
    while after.is_some() {
        after = service.sign_unsigned(after, None).expect("ledgers are signed");
    }
}

#[test]
fn signing_takes_statements_for_the_ledgers_that_grew_and_for_no_other() {
    let _turn = record();
    let folder = tempfile::tempdir().unwrap();
    let service = open(folder.path());
    let projects: Vec<ProjectId> = (0..150).map(|_| create(&service)).collect();
    for project in &projects {
        for environment in [Environment::Live, Environment::Test] {
            store(&service, *project, environment);
        }
    }
    service.sign_checkpoints().unwrap();
    statements();

    // Nothing grew.
    service.sign_checkpoints().unwrap();
    assert_eq!(statements(), Vec::<String>::new());

    // 3 of 300 ledgers grew: one statement reads their heads and checkpoints, one for each reads its leaves, and one for
    // each stores its checkpoint.
    for project in &projects[..3] {
        store(&service, *project, Environment::Live);
    }
    statements();
    service.sign_checkpoints().unwrap();
    let signing = statements();
    let count = |start: &str| signing.iter().filter(|text| text.starts_with(start)).count();
    let counts = [
        count("SELECT `ledgers`"),
        count("SELECT `events`"),
        count("UPDATE `log_checkpoints`"),
        signing.len(),
    ];
    assert_eq!(counts, [1, 3, 3, 7], "{signing:#?}");
    service.sign_checkpoints().unwrap();
    assert_eq!(statements(), Vec::<String>::new());

    // The scan finds nothing, by one statement for 2,000 ledgers.
    sign_unsigned(&service);
    let scan = statements();
    assert_eq!(scan.len(), 1, "{scan:#?}");
    service.close();
}

/// The logs of a round whose rows are read.
const READ_LOGS: usize = 16;

/// How many logs' rows the next round reads, and how many checkpoints it stores.
fn sign_and_count(service: &Arc<AuditLog>) -> (usize, usize) {
    statements();
    service.sign_checkpoints().expect("signing works");
    let signing = statements();
    let count = |start: &str| signing.iter().filter(|text| text.starts_with(start)).count();
    (count("SELECT `events`"), count("UPDATE `log_checkpoints`"))
}

#[test]
fn signing_many_logs_reads_the_rows_of_a_fixed_number() {
    let _turn = record();
    let folder = tempfile::tempdir().unwrap();
    let service = open(folder.path());
    let projects: Vec<ProjectId> = (0..READ_LOGS + 4).map(|_| create(&service)).collect();
    let grow_all = || {
        for (number, project) in projects.iter().enumerate() {
            // Also over the end of a tile, and by several commits.
            store_batch(&service, *project, number, 1 + 4 * number);
            store(&service, *project, Environment::Live);
        }
    };
    grow_all();
    service.sign_checkpoints().unwrap();
    for _ in 0..3 {
        grow_all();
        let (read, stored) = sign_and_count(&service);
        assert_eq!((read, stored), (READ_LOGS, projects.len()));
    }
    // Another process stores events: this one does not know how its trees continue.
    let other = open_as(folder.path(), "two");
    for project in &projects {
        store(&other, *project, Environment::Live);
    }
    grow_all();
    let (read, stored) = sign_and_count(&service);
    assert_eq!((read, stored), (projects.len(), projects.len()));
    assert_eq!((service.inconsistent_logs(), service.log_alarms()), (0, 0));
    let verified = service.verify_log(&audit_app::VerifyOptions::default(), &mut |_, _| {});
    for report in verified
        .unwrap()
        .iter()
        .filter(|report| report.environment == "live")
    {
        assert_eq!(report.signed, Some(report.events), "{report:?}");
        assert_eq!(report.findings_count, 0, "{report:?}");
    }
}

#[test]
fn an_edit_of_the_latest_rows_is_noticed_by_signing_once_it_is_the_turn_of_its_log() {
    let _turn = record();
    let folder = tempfile::tempdir().unwrap();
    let service = open(folder.path());
    let projects: Vec<ProjectId> = (0..READ_LOGS + 4).map(|_| create(&service)).collect();
    let grow_all = || {
        for project in &projects {
            store(&service, *project, Environment::Live);
        }
    };
    let path = folder.path().join("audit.db");
    let mut database = SqliteConnection::establish(&path.to_string_lossy()).unwrap();
    let mut edit = |sql: &str| database.batch_execute(sql).unwrap();
    edit("PRAGMA busy_timeout = 60000");
    // A proof from a power of two reads no leaf before it. So the sizes are 9 and above.
    for (number, project) in projects.iter().enumerate() {
        store_batch(&service, *project, number, 9);
    }
    service.sign_checkpoints().unwrap();
    edit(
        "CREATE TABLE saved AS SELECT rowid AS number, content_hash FROM events;
         UPDATE events SET content_hash = randomblob(32)",
    );
    for refused in [READ_LOGS, projects.len(), projects.len()] {
        grow_all();
        service.sign_checkpoints().unwrap();
        assert_eq!(service.inconsistent_logs(), refused);
    }
    edit(
        "UPDATE events SET content_hash = saved.content_hash FROM saved
         WHERE events.rowid = saved.number",
    );
    grow_all();
    service.sign_checkpoints().unwrap();
    assert_eq!(service.inconsistent_logs(), 0, "all of them are read");
    grow_all();
    assert_eq!(sign_and_count(&service), (READ_LOGS, projects.len()));
}

#[test]
fn the_ledgers_of_a_process_that_died_are_signed_by_the_scan() {
    let _turn = record();
    let folder = tempfile::tempdir().unwrap();
    let (dead, living) = (open(folder.path()), open_as(folder.path(), "two"));
    let project = create(&living);
    store(&dead, project, Environment::Live);
    living.sign_checkpoints().unwrap();
    statements();
    let inserted = || {
        let statements = statements();
        let inserts = statements
            .iter()
            .filter(|text| text.contains("INTO `log_checkpoints`"));
        inserts.count()
    };
    // The event may still be signed by the process that stored it: the clock stands still.
    living.sign_unsigned(None, Some(5)).unwrap();
    assert_eq!(inserted(), 0);
    sign_unsigned(&living);
    assert_eq!(inserted(), 1);
    sign_unsigned(&living);
    assert_eq!(inserted(), 0);
}

#[test]
fn a_head_that_was_signed_after_an_older_one_was_read_is_no_rollback() {
    let _turn = record();
    let folder = tempfile::tempdir().unwrap();
    let service = open(folder.path());
    let project = create(&service);
    store(&service, project, Environment::Live);
    service.sign_checkpoints().unwrap();
    store(&service, project, Environment::Live);
    // Another thread, such as that of a request for a proof, signs meanwhile.
    let other = Arc::clone(&service);
    *AFTER_STATES.lock() = Some(Box::new(move || {
        store(&other, project, Environment::Live);
        other.sign_checkpoints().unwrap();
    }));
    service.sign_checkpoints().unwrap();
    assert!(AFTER_STATES.lock().is_none());
    assert_eq!((service.inconsistent_logs(), service.log_alarms()), (0, 0));
}

#[test]
fn a_first_checkpoint_that_was_signed_after_none_was_found_is_not_lost() {
    let _turn = record();
    let folder = tempfile::tempdir().unwrap();
    let service = open(folder.path());
    let project = create(&service);
    store(&service, project, Environment::Live);
    let other = Arc::clone(&service);
    *AFTER_STATES.lock() = Some(Box::new(move || sign_unsigned(&other)));
    service.sign_checkpoints().unwrap();
    assert!(AFTER_STATES.lock().is_none());
    assert_eq!((service.inconsistent_logs(), service.log_alarms()), (0, 0));
}

#[test]
fn two_processes_that_sign_at_once_publish_one_history() {
    let _turn = record();
    let folder = tempfile::tempdir().unwrap();
    let services = [open(folder.path()), open_as(folder.path(), "two")];
    let projects: Vec<ProjectId> = (0..5).map(|_| create(&services[0])).collect();
    for round in 0..20 {
        for (number, project) in projects.iter().enumerate() {
            store(&services[(number + round) % 2], *project, Environment::Live);
        }
        std::thread::scope(|scope| {
            for service in &services {
                scope.spawn(|| sign_unsigned(service));
                scope.spawn(|| service.sign_checkpoints().unwrap());
            }
        });
    }
    for service in &services {
        // A log whose checkpoint was replaced first is looked at again.
        service.sign_checkpoints().unwrap();
        assert_eq!(service.inconsistent_logs(), 0);
    }
    let verified = services[0].verify_log(&audit_app::VerifyOptions::default(), &mut |_, _| {});
    let reports = verified.unwrap();
    for report in reports.iter().filter(|report| report.environment == "live") {
        assert_eq!(
            (report.events, report.signed, report.findings_count),
            (20, Some(20), 0),
            "{report:?}"
        );
    }
}
