//! Runs rounds of the thread on an embedded database, with a clock that the test moves.

mod archive;
mod chain;
mod clock;
mod erasure;

use super::due::{Due, due};
use super::taken::is_allowed;
use super::thread::RemovalThread;
use crate::accounts::NewOrganization;
use crate::ingest::{EventsForm, SentEvents};
use crate::lifecycle::WaitingFor;
use crate::log::{SignerMemory, SigningProgram};
use crate::self_audit::Requester;
use crate::service::{AuditLog, Scope};
use crate::settings::Settings;
use audit_domain::{
    CancelReason, Clock, Entropy, Environment, Hold, LifecycleEvent, Plan, RetentionPlan, RetentionPolicy,
    Sha256Digest, Timestamp,
};
use audit_ledger::VerifierKey;
use audit_store::{DatabaseUrl, RemovalRow, RemovalState, Store, StoreOptions};
use diesel::connection::SimpleConnection;
use diesel::{Connection, SqliteConnection};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

const DAY: i64 = 86_400;
const HOUR: i64 = 3_600;
/// More than a tile.
const OLD: usize = 300;
const NEW: usize = 5;

/// A clock that the test moves.
struct Moving(AtomicI64);

impl Clock for Moving {
    fn now(&self) -> Timestamp {
        Timestamp::from_seconds(self.0.load(Ordering::Relaxed))
    }
}

struct Counting;

impl Entropy for Counting {
    fn fill(&self, bytes: &mut [u8]) {
        static COUNT: AtomicU64 = AtomicU64::new(1);
        let count = COUNT.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        let source = count.iter().rev().cycle();
        bytes.iter_mut().zip(source).for_each(|(to, from)| *to = *from);
    }
}

/// A signing program whose device is away.
#[derive(Debug)]
struct Away;

impl SigningProgram for Away {
    fn public_key(&self) -> &[u8; VerifierKey::PUBLIC_KEY_BYTES] {
        &[7; VerifierKey::PUBLIC_KEY_BYTES]
    }

    fn sign(&self, _: &[u8]) -> Result<Vec<u8>, String> {
        Err("away".to_owned())
    }
}

/// A log with events of 200 days ago, and of now.
struct Fixture {
    folder: tempfile::TempDir,
    clock: Arc<Moving>,
    service: Arc<AuditLog>,
    scope: Scope,
}

fn open(
    folder: &Path,
    clock: &Arc<Moving>,
    signing_program: Option<Arc<dyn SigningProgram>>,
) -> Arc<AuditLog> {
    let clock: Arc<dyn Clock> = Arc::<Moving>::clone(clock);
    let url = DatabaseUrl::Sqlite(folder.join("audit.db"));
    let key = audit_ledger::HeadKey::new(&[7; 32]);
    let store = Store::open(&url, StoreOptions::default(), &key, &clock).unwrap();
    let settings = Settings {
        signer: Some(Arc::new(SignerMemory::open(&folder.join("signer")).unwrap())),
        signing_program,
        self_audit: false,
        removal_grace_seconds: HOUR,
        ..Settings::default()
    };
    AuditLog::open(store, clock, Arc::new(Counting), settings).unwrap()
}

impl Fixture {
    fn new() -> Self {
        Self::with(None)
    }

    fn with(signing_program: Option<Arc<dyn SigningProgram>>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(Moving(AtomicI64::new(1_768_473_000)));
        let service = open(folder.path(), &clock, signing_program);
        let NewOrganization { project, .. } = service
            .create_organization(&"o".parse().unwrap(), Plan::Enterprise)
            .unwrap();
        let fixture = Self {
            scope: service.scope_of(project.id, Environment::Live).unwrap(),
            folder,
            clock,
            service,
        };
        fixture.store(OLD);
        fixture.pass(200 * DAY);
        fixture.store(NEW);
        fixture
    }

    fn store(&self, count: usize) {
        let event = json!({"action": "user.created", "category": "auth", "tenant_id": "t", "actor": {"id": "a", "type": "user"}});
        for count in std::iter::repeat_n(100, count / 100)
            .chain([count % 100])
            .filter(|count| *count > 0)
        {
            self.send(vec![event.clone(); count]);
        }
    }

    fn send(&self, events: Vec<Value>) {
        let count = events.len();
        let body = Value::from(events).to_string();
        let sent = SentEvents::new(body.as_bytes(), EventsForm::Json);
        let project_id = self.scope.project.project.id;
        let stored = self.service.ingest_blocking(project_id, Environment::Live, &sent);
        assert_eq!(stored.unwrap().ids.len(), count);
    }

    fn pass(&self, seconds: i64) {
        self.clock.0.fetch_add(seconds, Ordering::Relaxed);
    }

    fn add(&self, event: LifecycleEvent) {
        let expected = self.service.lifecycle(&self.scope).unwrap().fold.last_seq();
        self.service
            .append_lifecycle(&self.scope, &Requester::Operator, expected, event, |_, _| Ok(()))
            .unwrap();
    }

    fn set_policy(&self) {
        self.add(LifecycleEvent::RetentionChanged(RetentionPolicy {
            days: Some(100),
            ..RetentionPolicy::default()
        }));
    }

    fn thread(&self) -> RemovalThread {
        RemovalThread::new(&self.service).unwrap()
    }

    fn rows(&self) -> Vec<RemovalRow> {
        let ledger_id = self.scope.ledger_id;
        self.service
            .store
            .read(|reader| reader.removals(ledger_id))
            .unwrap()
    }

    fn states(&self) -> Vec<RemovalState> {
        self.rows().into_iter().map(|row| row.state).collect()
    }

    /// The number of events that are there, without those of the chain.
    fn events(&self) -> usize {
        let ledger_id = self.scope.ledger_id;
        let found = self
            .service
            .store
            .query(|reader| reader.logged_events(ledger_id, 0, 1_000));
        let is_lifecycle = |object| LifecycleEvent::is_lifecycle(&object);
        let objects = found
            .unwrap()
            .into_iter()
            .map(|found| found.event.to_stored_object().unwrap());
        objects.filter(|object| !is_lifecycle(object.clone())).count()
    }

    fn waits_for(&self) -> Option<WaitingFor> {
        self.service.lifecycles.waiting_for((self.scope.ledger_id, None))
    }

    fn alarms(&self) -> u64 {
        self.service.removal_statistics().alarms
    }

    fn execute(&self, statement: &str) {
        let path = self.folder.path().join("audit.db");
        let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
        connection.batch_execute(statement).unwrap();
    }
}

#[test]
fn a_removal_is_planned_and_after_the_grace_takes_the_old_events_alone() {
    let fixture = Fixture::new();
    let mut thread = fixture.thread();
    thread.round().unwrap();
    assert!(fixture.rows().is_empty(), "there is no policy");
    fixture.set_policy();
    thread.round().unwrap();
    assert_eq!(fixture.states(), [RemovalState::Planned]);
    let lifecycle = fixture.service.lifecycle(&fixture.scope).unwrap();
    let (_, plan) = lifecycle.fold.open_plan().unwrap();
    assert_eq!((plan.events, plan.held, plan.kept), (OLD as u64, 0, 0));
    assert_eq!(plan.seqs, 0..OLD as u64);
    fixture.pass(HOUR - 1);
    thread.round().unwrap();
    assert_eq!(
        (fixture.states(), fixture.events()),
        (vec![RemovalState::Planned], OLD + NEW)
    );
    fixture.pass(2);
    thread.round().unwrap();
    assert_eq!(fixture.events(), NEW);
    let rows = fixture.rows();
    assert!(
        matches!(rows[0].state, RemovalState::Cleaning | RemovalState::Done),
        "{rows:?}"
    );
    assert_eq!(fixture.service.removal_statistics().removed, OLD as u64);
    assert_eq!(fixture.alarms(), 0);
}

#[test]
fn a_hold_in_the_grace_cancels_the_plan_and_keeps_its_events() {
    let fixture = Fixture::new();
    let mut thread = fixture.thread();
    fixture.set_policy();
    thread.round().unwrap();
    fixture.add(LifecycleEvent::HoldPlaced(Hold {
        hold: "hld_1".to_owned(),
        tenant_id: vec!["t".to_owned()],
        ..Hold::default()
    }));
    fixture.pass(2 * HOUR);
    thread.round().unwrap();
    assert!(fixture.rows().is_empty());
    let lifecycle = fixture.service.lifecycle(&fixture.scope).unwrap();
    let last = lifecycle.fold.events().next_back();
    let last = last.map(|(_, _, event)| event.clone());
    let is_cancelled = matches!(
        last,
        Some(LifecycleEvent::Cancelled {
            reason: CancelReason::Hold,
            ..
        })
    );
    assert!(is_cancelled, "{last:?}");
    // The next plan would take nothing, so there is none.
    for _ in 0..2 {
        fixture.pass(DAY);
        thread.round().unwrap();
        thread.round().unwrap();
    }
    assert!(fixture.rows().is_empty());
    assert_eq!(fixture.events(), OLD + NEW);
}

#[test]
fn a_changed_row_stops_the_removal() {
    let fixture = Fixture::new();
    let mut thread = fixture.thread();
    fixture.execute(
        "UPDATE events SET content_salt = zeroblob(16) WHERE entry = (SELECT min(entry) FROM events)",
    );
    fixture.set_policy();
    for _ in 0..4 {
        thread.round().unwrap();
    }
    assert!(fixture.rows().is_empty(), "{:?}", fixture.rows());
    assert_eq!(fixture.alarms(), 1);
    let lifecycle = fixture.service.lifecycle(&fixture.scope).unwrap();
    assert!(lifecycle.fold.open_plan().is_none());
}

#[test]
fn a_changed_record_stops_the_removal() {
    let fixture = Fixture::new();
    let mut thread = fixture.thread();
    fixture.set_policy();
    thread.round().unwrap();
    fixture.execute("DELETE FROM removed_events WHERE tile_index = 1");
    fixture.pass(2 * HOUR);
    for _ in 0..3 {
        thread.round().unwrap();
    }
    assert_eq!(fixture.states(), [RemovalState::Removing]);
    assert_eq!((fixture.events(), fixture.alarms()), (OLD + NEW, 1));
}

#[test]
fn a_row_that_was_set_back_does_not_lead_to_the_deletion_of_records() {
    let fixture = Fixture::new();
    let mut thread = fixture.thread();
    fixture.set_policy();
    thread.round().unwrap();
    fixture.execute("CREATE TABLE saved AS SELECT * FROM removals");
    fixture.pass(2 * HOUR);
    thread.round().unwrap();
    fixture.execute("DELETE FROM removals; INSERT INTO removals SELECT * FROM saved");
    thread.round().unwrap();
    assert_eq!(
        (fixture.states(), fixture.alarms()),
        (vec![RemovalState::Planned], 1)
    );
}

#[test]
fn a_plan_whose_row_was_deleted_stops_the_removals_of_the_log_until_it_is_cancelled() {
    let fixture = Fixture::new();
    let mut thread = fixture.thread();
    fixture.set_policy();
    thread.round().unwrap();
    fixture.execute("DELETE FROM removals");
    fixture.pass(DAY);
    thread.round().unwrap();
    assert!(fixture.rows().is_empty());
    assert_eq!((fixture.events(), fixture.alarms()), (OLD + NEW, 1));
    let lifecycle = fixture.service.lifecycle(&fixture.scope).unwrap();
    let (plan, _) = lifecycle.fold.open_plan().unwrap();
    fixture.add(LifecycleEvent::Cancelled {
        plan,
        reason: CancelReason::Requested,
    });
    thread.round().unwrap();
    assert_eq!(
        (fixture.states(), fixture.alarms()),
        (vec![RemovalState::Planned], 1)
    );
}

#[test]
fn without_a_signature_nothing_is_planned() {
    let fixture = Fixture::with(Some(Arc::new(Away)));
    let mut thread = fixture.thread();
    fixture.set_policy();
    thread.round().unwrap();
    assert!(fixture.rows().is_empty());
    assert_eq!(fixture.waits_for(), Some(WaitingFor::Signature));
}

#[test]
fn no_plan_is_logged_at_a_time_at_which_verifiers_refuse_it() {
    let fixture = Fixture::new();
    fixture.set_policy();
    let lifecycle = fixture.service.lifecycle(&fixture.scope).unwrap();
    let (fold, now) = (&lifecycle.fold, fixture.clock.now());
    let thread = fixture.thread();
    let known = (&thread.guard, &thread.months);
    let found = due(&fixture.service, &fixture.scope, fold, known, now).unwrap();
    let Due::Events(events) = found else {
        panic!("{found:?}")
    };
    let plan = LifecycleEvent::Planned(RetentionPlan {
        policy: events.policy,
        seqs: events.seqs,
        received_before: events.received_before,
        events: 1,
        held: 0,
        kept: 0,
        digest: Sha256Digest::from_bytes([1; 32]),
        not_before: now,
    });
    assert!(is_allowed(fold, &plan, now));
    assert!(!is_allowed(fold, &plan, now.plus_seconds(-1)));
}

#[test]
fn what_a_process_that_ended_has_collected_is_discarded_and_collected_again() {
    let fixture = Fixture::new();
    fixture.set_policy();
    let killed = fixture.thread();
    let lifecycle = fixture.service.lifecycle(&fixture.scope).unwrap();
    let now = fixture.clock.now();
    let found = due(
        &fixture.service,
        &fixture.scope,
        &lifecycle.fold,
        (&killed.guard, &killed.months),
        now,
    )
    .unwrap();
    let Due::Events(events) = found else {
        panic!("{found:?}")
    };
    assert!(
        killed
            .begun(&fixture.service, &fixture.scope, &events)
            .unwrap()
            .is_some()
    );
    let mut thread = fixture.thread();
    thread.round().unwrap();
    assert_eq!(
        fixture.states(),
        [RemovalState::Collecting],
        "its lease has not expired"
    );
    fixture.pass(61);
    thread.round().unwrap();
    assert!(fixture.rows().is_empty());
    thread.round().unwrap();
    assert_eq!(fixture.states(), [RemovalState::Planned]);
}

#[test]
fn a_removal_goes_on_in_another_process_and_is_authorised_once() {
    let fixture = Fixture::new();
    fixture.set_policy();
    fixture.thread().round().unwrap();
    fixture.pass(2 * HOUR);
    let (mut one, mut other) = (fixture.thread(), fixture.thread());
    one.round().unwrap();
    other.round().unwrap();
    let lifecycle = fixture.service.lifecycle(&fixture.scope).unwrap();
    assert_eq!(lifecycle.fold.removals().count(), 1);
    assert_eq!((fixture.events(), fixture.alarms()), (NEW, 0));
}
