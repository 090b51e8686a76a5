//! Runs on an embedded database, with a receiver that is told what to respond.

use super::batch::NOTE_SET_ASIDE_MAX;
use super::run::deliver;
use super::*;
use crate::accounts::NewOrganization;
use crate::ingest::{EventsForm, SentEvents};
use crate::log::{SignerMemory, SigningProgram};
use crate::secrets::of_destination;
use crate::service::AuditLog;
use crate::settings::Settings;
use audit_destinations::{BatchId, Encoded, Kind, Verdict};
use audit_domain::{Clock, Entropy, Environment, Plan, ProjectId};
use audit_ledger::{SignedStream, StreamChain, StreamNote, VerifierKey};
use audit_store::{
    DatabaseUrl, DestinationRow, DestinationRunRow, DueRun, LedgerId, SetAsideRow, Store, StoreError,
    StoreOptions,
};
use audit_webhooks::AddressPolicy;
use diesel::connection::SimpleConnection;
use diesel::{Connection, SqliteConnection};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

mod removed;

const ID: &str = "dst_1";

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

/// What the receiver does with a batch that it has got.
type Reaction = Box<dyn FnOnce(&Batch) -> Verdict + Send>;

/// A receiver that takes everything, unless it has another reaction.
#[derive(Default)]
struct Receiver {
    reactions: Mutex<VecDeque<Reaction>>,
    /// The batches, each with the configuration by which it was sent.
    got: Mutex<Vec<(String, Batch)>>,
    /// Whether each was limited to public addresses.
    public: Mutex<Vec<bool>>,
}

impl Receiver {
    fn reacts(&self, reaction: impl FnOnce(&Batch) -> Verdict + Send + 'static) {
        self.reactions.lock().push_back(Box::new(reaction));
    }

    /// The batches since the last call.
    fn take(&self) -> Vec<Batch> {
        let got = std::mem::take(&mut *self.got.lock());
        got.into_iter().map(|(_, batch)| batch).collect()
    }
}

impl Transport for Receiver {
    fn send(&self, config: &Config, batch: &Batch, _: Timestamp) -> Result<Attempt, TooManyLookups> {
        self.got.lock().push((config.to_stored(), batch.clone()));
        self.public.lock().push(config.is_on_public_addresses());
        let reaction = self.reactions.lock().pop_front();
        Ok(Attempt {
            verdict: reaction.map_or(Verdict::Delivered, |reaction| reaction(batch)),
            status: Some(200),
            request: "POST https://splunk.test/…".to_owned(),
            response: "what it says".to_owned(),
        })
    }
}

struct Fixture {
    service: Arc<AuditLog>,
    clock: Arc<Moving>,
    project_id: ProjectId,
    ledger_id: LedgerId,
    receiver: Arc<Receiver>,
    folder: tempfile::TempDir,
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

fn open(folder: &Path, clock: &Arc<Moving>, settings: Settings) -> Arc<AuditLog> {
    let clock: Arc<dyn Clock> = Arc::<Moving>::clone(clock);
    let url = DatabaseUrl::Sqlite(folder.join("audit.db"));
    let key = audit_ledger::HeadKey::new(&[7; 32]);
    let store = Store::open(&url, StoreOptions::default(), &key, &clock).unwrap();
    let settings = Settings {
        signer: Some(Arc::new(SignerMemory::open(&folder.join("signer")).unwrap())),
        ..settings
    };
    AuditLog::open(store, clock, Arc::new(Counting), settings).unwrap()
}

/// A configuration with this token, as it is stored.
fn sealed(service: &AuditLog, project_id: ProjectId, token: &str) -> Vec<u8> {
    sealed_for(service, project_id, "https://splunk.test", token)
}

fn sealed_for(service: &AuditLog, project_id: ProjectId, url: &str, token: &str) -> Vec<u8> {
    let (settings, credentials) = (json!({"url": url}), json!({"token": token}));
    let config = Config::parse(Kind::SplunkHec, &settings, &credentials, AddressPolicy::Public).unwrap();
    let place = of_destination(ID, &project_id.to_string());
    service
        .settings
        .encryption
        .seal(config.to_stored().as_bytes(), &place, [1; 12])
}

impl Fixture {
    fn new() -> Self {
        Self::with(false, json!({}))
    }

    fn with(self_audit: bool, filter: Value) -> Self {
        Self::of(None, self_audit, filter)
    }

    /// With a destination that this tenant has created.
    fn of(tenant: Option<&str>, self_audit: bool, filter: Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(Moving(AtomicI64::new(1_768_473_000)));
        let settings = Settings {
            self_audit,
            ..Settings::default()
        };
        let service = open(folder.path(), &clock, settings);
        let NewOrganization { project, .. } = service
            .create_organization(&"o".parse().unwrap(), Plan::Enterprise)
            .unwrap();
        let target = service.target_for_project(project.id, Environment::Live).unwrap();
        let fixture = Self {
            service,
            clock,
            project_id: project.id,
            ledger_id: target.destination.ledger_id,
            receiver: Arc::default(),
            folder,
        };
        fixture.create(filter, tenant);
        fixture
    }

    /// The same with another process, which has this program for the key of the log.
    fn restarted(self, signing_program: Option<Arc<dyn SigningProgram>>) -> Self {
        let Self {
            service,
            clock,
            project_id,
            ledger_id,
            receiver,
            folder,
        } = self;
        service.close();
        drop(service);
        let settings = Settings {
            self_audit: false,
            signing_program,
            ..Settings::default()
        };
        Self {
            service: open(folder.path(), &clock, settings),
            clock,
            project_id,
            ledger_id,
            receiver,
            folder,
        }
    }

    fn create(&self, filter: Value, tenant: Option<&str>) {
        let now = self.clock.now().as_micros();
        let destination = DestinationRow {
            id: ID.to_owned(),
            project_id: self.project_id.to_string(),
            environment: "live".to_owned(),
            name: "SIEM".to_owned(),
            kind: "splunk_hec".to_owned(),
            format: "json".to_owned(),
            include_raw: false,
            ocsf_classes: "[]".to_owned(),
            filter: filter.to_string(),
            config: sealed(&self.service, self.project_id, "first-token"),
            previous_config: None,
            paused: false,
            created_at: now,
            created_by_tenant: tenant.map(str::to_owned),
        };
        let ledger_id = self.ledger_id;
        self.service
            .store
            .configure(self.project_id, move |configurator| {
                let size = configurator.ledger_size(ledger_id)?;
                configurator.insert_destination(&destination, &new_run(0, ledger_id, size, now))
            })
            .unwrap();
    }

    fn store(&self, actions: &[&str]) {
        let event = |action: &&str| json!({"action": action, "category": "auth", "tenant_id": "t", "actor": {"id": "a", "type": "user"}});
        let body = Value::from(actions.iter().map(event).collect::<Vec<_>>()).to_string();
        let sent = SentEvents::new(body.as_bytes(), EventsForm::Json);
        let stored = self
            .service
            .ingest_blocking(self.project_id, Environment::Live, &sent);
        assert_eq!(stored.unwrap().ids.len(), actions.len());
    }

    fn pass(&self, seconds: i64) {
        self.clock.0.fetch_add(seconds, Ordering::Relaxed);
    }

    fn due(&self) -> Vec<DueRun> {
        let now = self.clock.now();
        let due = self
            .service
            .store
            .query(|reader| reader.due_destination_runs(now, 10));
        due.unwrap()
    }

    /// Delivers what is due.
    fn deliver(&self) {
        for due in self.due() {
            deliver(&self.service, self.receiver.as_ref(), &due).unwrap();
        }
    }

    fn runs(&self) -> Vec<DestinationRunRow> {
        self.service
            .store
            .read(|reader| reader.destination_runs(ID))
            .unwrap()
    }

    fn run(&self) -> DestinationRunRow {
        self.runs().remove(0)
    }

    /// Changes the run as the node that has leased it does.
    fn update(&self, change: impl FnOnce(&mut DestinationRunRow)) {
        let (now, lease) = (self.clock.now(), [8; 16]);
        let mut run = self.run();
        change(&mut run);
        let updated = self.service.store.write(move |writer| {
            let leased = writer.lease_destination_run(ID, 0, now, now, &lease)?;
            Ok::<_, StoreError>(leased && writer.update_destination_run(&lease, &run)?)
        });
        assert!(updated.unwrap());
    }

    fn destination(&self) -> DestinationRow {
        let project_id = self.project_id;
        let found = self
            .service
            .store
            .read(|reader| reader.destination(project_id, ID));
        found.unwrap().expect("the destination")
    }

    fn change(&self, change: impl FnOnce(&mut DestinationRow)) {
        let before = self.destination();
        let mut after = before.clone();
        change(&mut after);
        self.service
            .store
            .configure(self.project_id, move |configurator| {
                configurator.update_destination(&before, &after)
            })
            .unwrap();
    }

    /// The actions of the last events of the log.
    fn last_actions(&self, count: u64) -> Vec<String> {
        let ledger_id = self.ledger_id;
        let events = self.service.store.query(|reader| {
            let size = reader.ledger_size(ledger_id)?;
            reader.logged_events(ledger_id, size - count, 10)
        });
        let action = |canonical: &str| {
            serde_json::from_str::<Value>(canonical).unwrap()["action"]
                .as_str()
                .map(str::to_owned)
        };
        events
            .unwrap()
            .iter()
            .filter_map(|logged| action(&logged.event.canonical))
            .collect()
    }
}

fn new_run(number: i64, ledger_id: LedgerId, cursor: u64, now: i64) -> DestinationRunRow {
    DestinationRunRow {
        destination_id: ID.to_owned(),
        number,
        ledger_id: ledger_id.0,
        cursor_seq: cursor.cast_signed(),
        end_seq: None,
        position: 0,
        chain: StreamChain::START.as_bytes().to_vec(),
        planned: None,
        batch_max: 8,
        state: "active".to_owned(),
        attempts: 0,
        next_attempt_at: now,
        leased_until: 0,
        lease: None,
        set_aside_in_a_row: 0,
        checkpoint_at: now,
        checkpoint_position: 0,
        last_success_at: None,
        last_error: None,
        delivered: 0,
    }
}

fn records(batches: &[Batch]) -> Vec<Value> {
    let records = batches.iter().flat_map(|batch| &batch.records);
    records
        .map(|record| serde_json::from_str(&record.text).unwrap())
        .collect()
}

fn positions(records: &[Value]) -> Vec<u64> {
    records
        .iter()
        .filter_map(|record| record["stream"]["position"].as_u64())
        .collect()
}

fn actions(records: &[Value]) -> Vec<&str> {
    records
        .iter()
        .filter_map(|record| record["action"].as_str())
        .collect()
}

fn parts(batch: &Batch) -> (&BatchId, &[Encoded]) {
    (&batch.id, &batch.records)
}

/// The chain over records, and the notes of the checkpoints among them.
fn chain_and_notes(records: &[Value], key: &VerifierKey) -> (StreamChain, Vec<StreamNote>) {
    let (mut chain, mut notes) = (StreamChain::START, Vec::new());
    for record in records {
        let hash = match (record["note"].as_str(), record["content_hash"].as_str()) {
            (Some(note), _) => {
                let signed = SignedStream::open(note, std::slice::from_ref(key)).unwrap();
                let stated = StreamNote::parse(signed.text()).unwrap();
                assert_eq!(stated.chain, chain);
                notes.push(stated);
                Sha256::digest(note).into()
            }
            (None, hash) => *hash
                .unwrap()
                .parse::<audit_domain::ContentHash>()
                .unwrap()
                .as_bytes(),
        };
        chain = chain.after(record["stream"]["position"].as_u64().unwrap(), &hash);
    }
    (chain, notes)
}

/// Whatever filter is stored.
#[test]
fn a_destination_of_a_tenant_gets_its_events_alone_and_is_limited_to_public_addresses() {
    for (tenant, filter, records, public) in [
        (None, json!({}), 1, [false].as_slice()),
        (Some("t"), json!({}), 1, &[true]),
        (Some("t"), json!({"tenant_ids": ["other"]}), 1, &[true]),
        (Some("other"), json!({}), 0, &[]),
        (Some("other"), json!({"tenant_ids": ["t"]}), 0, &[]),
    ] {
        let fixture = Fixture::of(tenant, false, filter.clone());
        fixture.store(&["user.created"]);
        fixture.deliver();
        let batches = fixture.receiver.take();
        let delivered: usize = batches.iter().map(|batch| batch.records.len()).sum();
        assert_eq!(delivered, records, "{tenant:?} {filter}");
        assert_eq!(*fixture.receiver.public.lock(), public, "{tenant:?} {filter}");
    }
}

#[test]
fn a_batch_that_was_sent_and_not_committed_goes_again_with_the_same_bytes() {
    let fixture = Fixture::new();
    fixture.store(&["a.one", "a.two", "a.three"]);
    fixture
        .receiver
        .reacts(|_| panic!("the process ends after it has sent"));
    let due = fixture.due();
    let died = catch_unwind(AssertUnwindSafe(|| {
        deliver(&fixture.service, fixture.receiver.as_ref(), &due[0])
    }));
    assert!(died.is_err() && fixture.run().planned.is_some());
    // Meanwhile everything changes of which a new batch would be made.
    fixture.store(&["a.four"]);
    fixture.change(|row| {
        row.filter = json!({"actions": ["a.four"]}).to_string();
        row.format = "ocsf".to_owned();
    });
    assert_eq!(
        fixture.due(),
        [],
        "the lease is that of the process which has ended"
    );
    fixture.pass(61);
    fixture.deliver();
    let got = fixture.receiver.take();
    assert_eq!(parts(&got[0]), parts(&got[1]));
    assert_eq!(positions(&records(&got[..2])), [1, 2, 3, 1, 2, 3]);
    assert_eq!(
        (got.len(), got[2].id.first_position, got[2].records.len()),
        (3, 4, 1)
    );
    let run = fixture.run();
    assert_eq!(
        (run.position, run.delivered, run.planned, run.lease),
        (4, 4, None, None)
    );
}

#[test]
fn a_checkpoint_record_is_planned_as_well_and_goes_again_with_the_same_bytes() {
    let fixture = Fixture::new();
    fixture.store(&["a.one"]);
    fixture.deliver();
    let event = records(&fixture.receiver.take());
    fixture.pass(300);
    fixture.receiver.reacts(|_| Verdict::Retry { after: None });
    fixture.deliver();
    // The log has another checkpoint now.
    fixture.store(&["a.two"]);
    fixture.service.sign_checkpoints().unwrap();
    fixture.pass(1);
    fixture.deliver();
    let got = fixture.receiver.take();
    assert_eq!(parts(&got[0]), parts(&got[1]));
    let sizes: Vec<usize> = got.iter().map(|batch| batch.records.len()).collect();
    assert_eq!(sizes, [1, 1, 1], "the event that follows has a batch of its own");
    let covered = records(&got[..1]);
    assert_eq!(
        (&covered[0]["through_position"], &covered[0]["through_seq"]),
        (&json!(1), &event[0]["stream"]["seq"])
    );
}

#[test]
fn another_receiver_gets_no_batch_that_was_planned_for_the_former_one() {
    let fixture = Fixture::new();
    fixture.store(&["a.secret", "a.one"]);
    fixture.receiver.reacts(|_| Verdict::Retry { after: None });
    fixture.deliver();
    let config = sealed_for(
        &fixture.service,
        fixture.project_id,
        "https://other.test",
        "other-token",
    );
    fixture.change(|row| {
        row.filter = json!({"actions": ["a.one"]}).to_string();
        row.config = config;
    });
    fixture.pass(1);
    fixture.deliver();
    let got = fixture.receiver.take();
    assert_eq!(actions(&records(&got[..1])), ["a.secret", "a.one"]);
    assert_eq!(actions(&records(&got[1..])), ["a.one"]);
}

#[test]
fn no_position_is_used_twice_after_a_batch_that_was_taken_in_part_and_refused() {
    let fixture = Fixture::new();
    fixture.store(&["a.zero"]);
    fixture.deliver();
    fixture.store(&["a.one", "a.two", "a.three", "a.four"]);
    // A checkpoint becomes due between the two attempts.
    let clock = Arc::clone(&fixture.clock);
    fixture.receiver.reacts(move |_| {
        clock.0.fetch_add(300, Ordering::Relaxed);
        Verdict::Refused
    });
    fixture.deliver();
    let all = records(&fixture.receiver.take());
    let at = |position: u64| {
        let of = |record: &&Value| record["stream"]["position"] == position;
        all.iter()
            .filter(of)
            .map(|record| &record["id"])
            .collect::<Vec<_>>()
    };
    for position in 2..=5 {
        let ids = at(position);
        assert_eq!((ids.len(), ids[0]), (2, ids[1]), "{position}");
    }
    assert_eq!(at(6).len(), 1);
    assert!(all.last().unwrap()["note"].is_string());
}

#[test]
fn a_receiver_that_refuses_checkpoints_gets_one_every_five_minutes() {
    let fixture = Fixture::new();
    fixture.store(&["a.zero"]);
    fixture.deliver();
    for position in 2..=NOTE_SET_ASIDE_MAX as i64 + 1 {
        let row = SetAsideRow {
            destination_id: ID.to_owned(),
            run: 0,
            position,
            seq: position,
            event_id: vec![1; 16],
            content_hash: vec![2; 32],
            at: 0,
            reason: String::new(),
        };
        let stored = fixture
            .service
            .store
            .write(move |writer| writer.insert_set_aside(&row));
        stored.unwrap();
    }
    let position = NOTE_SET_ASIDE_MAX as i64 + 2;
    fixture.update(move |run| (run.position, run.batch_max) = (position, 1));
    fixture.pass(300);
    fixture.receiver.take();
    fixture.receiver.reacts(|_| Verdict::Refused);
    fixture.deliver();
    fixture.store(&["a.one", "a.two"]);
    fixture.deliver();
    let got = fixture.receiver.take();
    let all = records(&got);
    assert_eq!(positions(&all), [503, 503, 504]);
    assert_eq!(
        (all[0]["note"].is_string(), actions(&all)),
        (true, vec!["a.one", "a.two"])
    );
    // What the note has no room for is in the next one, at once.
    fixture.pass(300);
    fixture.deliver();
    let key = fixture.service.log_key().unwrap();
    let all = records(&fixture.receiver.take());
    let named = all.iter().map(|record| {
        let signed = SignedStream::open(record["note"].as_str().unwrap(), std::slice::from_ref(&key));
        StreamNote::parse(signed.unwrap().text()).unwrap().set_aside.len()
    });
    assert_eq!(named.collect::<Vec<_>>(), [NOTE_SET_ASIDE_MAX, 0]);
    assert_eq!(fixture.run().checkpoint_position, fixture.run().position);
}

#[test]
fn a_run_stops_where_the_log_has_lost_events() {
    let fixture = Fixture::with(true, json!({"actions": ["a.*"]}));
    fixture.store(&["a.one", "a.two", "a.three"]);
    let file = fixture.folder.path().join("audit.db");
    let mut database = SqliteConnection::establish(&file.to_string_lossy()).unwrap();
    database
        .batch_execute("PRAGMA busy_timeout = 60000; DELETE FROM events WHERE body LIKE '%a.two%'")
        .unwrap();
    fixture.deliver();
    fixture.deliver();
    assert_eq!(actions(&records(&fixture.receiver.take())), ["a.one"]);
    let run = fixture.run();
    assert_eq!((run.state.as_str(), run.position), ("parked", 1));
    assert!(
        run.last_error
            .unwrap()
            .contains("events are missing from the log")
    );
    assert_eq!(fixture.last_actions(1), ["audit.destination.parked"]);
}

#[test]
fn an_error_of_the_service_is_shown_and_repeated_under_the_backoff() {
    let fixture = Fixture::new();
    fixture.store(&["a.one"]);
    fixture.change(|row| row.filter = "damaged".to_owned());
    let due = fixture.due();
    assert!(deliver(&fixture.service, fixture.receiver.as_ref(), &due[0]).is_err());
    let run = fixture.run();
    assert_eq!(
        (run.state.as_str(), run.attempts, run.lease),
        ("delayed", 1, None)
    );
    assert!(run.last_error.unwrap().contains("not sent: "));
    assert_eq!(fixture.due(), [], "it waits");
    fixture.change(|row| row.filter = "{}".to_owned());
    fixture.pass(1);
    fixture.deliver();
    assert_eq!(
        (fixture.run().position, fixture.run().state.as_str()),
        (1, "active")
    );
}

#[test]
fn events_go_on_while_the_log_cannot_be_signed() {
    let fixture = Fixture::new().restarted(Some(Arc::new(Away)));
    fixture.store(&["a.one"]);
    fixture.deliver();
    fixture.pass(300);
    fixture.deliver();
    fixture.store(&["a.two"]);
    fixture.deliver();
    let got = records(&fixture.receiver.take());
    assert_eq!((actions(&got), got.len()), (vec!["a.one", "a.two"], 2));
    assert_eq!(fixture.run().state, "active");
}

#[test]
fn a_change_during_an_attempt_is_tried_at_once() {
    let fixture = Fixture::with(true, json!({"actions": ["a.*"]}));
    fixture.store(&["a.one"]);
    let config = sealed(&fixture.service, fixture.project_id, "second-token");
    let (service, project_id) = (Arc::clone(&fixture.service), fixture.project_id);
    fixture.receiver.reacts(move |_| {
        let changed = service.store.configure(project_id, move |configurator| {
            let before = configurator.destination(project_id, ID)?.unwrap();
            let after = DestinationRow {
                config,
                ..before.clone()
            };
            configurator.update_destination(&before, &after)
        });
        changed.unwrap();
        Verdict::Credentials
    });
    fixture.deliver();
    assert_eq!(fixture.run().state, "active");
    fixture.deliver();
    let got = std::mem::take(&mut *fixture.receiver.got.lock());
    assert!(got.len() == 2 && got[1].0.contains("second-token"));
    assert_eq!(fixture.last_actions(1), ["a.one"], "nothing is to be told");
}

#[test]
fn the_outcome_of_a_node_whose_lease_is_over_changes_nothing() {
    let fixture = Fixture::new();
    fixture.store(&["a.one"]);
    let (service, clock) = (Arc::clone(&fixture.service), Arc::clone(&fixture.clock));
    fixture.receiver.reacts(move |_| {
        clock.0.fetch_add(61, Ordering::Relaxed);
        let now = clock.now();
        let leased = service
            .store
            .write(move |writer| writer.lease_destination_run(ID, 0, now, now.plus_seconds(60), &[9; 16]));
        assert!(leased.unwrap());
        Verdict::Delivered
    });
    // Credentials that are new, and work.
    fixture.change(|row| row.previous_config = Some(b"before".to_vec()));
    fixture.deliver();
    let run = fixture.run();
    assert_eq!(
        (run.position, run.lease.as_deref()),
        (0, Some([9; 16].as_slice()))
    );
    // The destination is written first, as by a deletion.
    assert_eq!(fixture.destination().previous_config, None);
    assert!(run.planned.is_some());
    fixture.pass(61);
    fixture.deliver();
    let got = fixture.receiver.take();
    assert_eq!(parts(&got[0]), parts(&got[1]));
    assert_eq!(fixture.run().position, 1);
}

#[test]
fn a_refused_event_is_found_by_halving_and_set_aside_at_its_position() {
    let fixture = Fixture::with(false, json!({"actions": ["a.*"]}));
    fixture.store(&["a.one", "b.other", "a.two", "a.poison", "a.three", "a.four"]);
    let is_poisoned = |batch: &Batch| {
        batch
            .records
            .iter()
            .any(|record| record.text.contains("a.poison"))
    };
    for _ in 0..20 {
        fixture.receiver.reacts(move |batch| match is_poisoned(batch) {
            true => Verdict::Refused,
            false => Verdict::Delivered,
        });
    }
    fixture.deliver();
    let key = fixture.service.log_key().unwrap();
    let got = fixture.receiver.take();
    let delivered: Vec<Batch> = got.into_iter().filter(|batch| !is_poisoned(batch)).collect();
    let delivered = records(&delivered);
    assert_eq!(actions(&delivered), ["a.one", "a.two", "a.three", "a.four"]);
    assert_eq!(positions(&delivered), [1, 2, 4, 5]);
    let rows = fixture
        .service
        .store
        .read(|reader| reader.set_aside(ID, None, 10))
        .unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(
        (rows[0].position, rows[0].seq, rows[0].reason.as_str()),
        (3, 3, "what it says")
    );
    let run = fixture.run();
    assert_eq!(
        (
            run.position,
            run.delivered,
            run.set_aside_in_a_row,
            run.cursor_seq
        ),
        (5, 4, 0, 6)
    );
    // The next checkpoint names it, so that a receiver can compute the chain.
    fixture.pass(300);
    fixture.deliver();
    let checkpoint = records(&fixture.receiver.take()).remove(0);
    let signed = SignedStream::open(checkpoint["note"].as_str().unwrap(), &[key]).unwrap();
    let stated = StreamNote::parse(signed.text()).unwrap();
    let hash: [u8; 32] = rows[0].content_hash.as_slice().try_into().unwrap();
    assert_eq!(
        (stated.position, stated.set_aside, stated.next_seq),
        (5, vec![(3, hash)], 6)
    );
}

#[test]
fn records_have_positions_without_gaps_and_checkpoints_state_their_chain() {
    let fixture = Fixture::with(false, json!({"actions": ["a.*"]}));
    let mut all = Vec::new();
    for _ in 0..3 {
        fixture.store(&["a.one", "b.two", "a.three", "b.four"]);
        fixture.deliver();
        fixture.pass(300);
        fixture.deliver();
        all.extend(records(&fixture.receiver.take()));
    }
    assert_eq!(positions(&all), (1..=9).collect::<Vec<_>>());
    let key = fixture.service.log_key().unwrap();
    let (chain, notes) = chain_and_notes(&all, &key);
    assert_eq!(fixture.run().chain, chain.as_bytes());
    let covered: Vec<_> = notes.iter().map(|note| (note.position, note.next_seq)).collect();
    assert_eq!(covered, [(2, 4), (5, 8), (8, 12)]);
    assert!(
        notes[0].origin.starts_with(key.name().as_str())
            && notes[0].origin.ends_with("/live/destinations/dst_1/0")
    );
    assert_eq!(
        fixture.due(),
        [],
        "nothing is left, and nothing needs another checkpoint"
    );
}

#[test]
fn a_checkpoint_is_signed_by_the_present_key_of_the_log() {
    let fixture = Fixture::new();
    fixture.store(&["a.one"]);
    fixture.pass(300);
    fixture.deliver();
    let before = fixture.service.log_key().unwrap();
    let first = records(&fixture.receiver.take());
    fixture.service.rotate_log_key(None).unwrap();
    // A server reads the key when it starts.
    let fixture = fixture.restarted(None);
    fixture.store(&["a.two"]);
    fixture.pass(300);
    fixture.deliver();
    let after = fixture.service.log_key().unwrap();
    assert_ne!(before.id(), after.id());
    let second = records(&fixture.receiver.take());
    for (records, key, other) in [(&first, &before, &after), (&second, &after, &before)] {
        let note = records
            .iter()
            .find_map(|record| record["note"].as_str())
            .expect("a checkpoint");
        assert!(SignedStream::open(note, std::slice::from_ref(key)).is_ok());
        assert!(SignedStream::open(note, std::slice::from_ref(other)).is_err());
    }
}

#[test]
fn credentials_that_are_refused_are_followed_by_those_before_until_they_work() {
    let fixture = Fixture::with(true, json!({"actions": ["a.*"]}));
    let config = sealed(&fixture.service, fixture.project_id, "second-token");
    fixture.change(|row| row.previous_config = Some(std::mem::replace(&mut row.config, config)));
    for action in ["a.one", "a.two"] {
        fixture.store(&[action]);
        fixture.receiver.reacts(|_| Verdict::Credentials);
        fixture.deliver();
        let got = std::mem::take(&mut *fixture.receiver.got.lock());
        assert!(got[0].0.contains("second-token") && got[1].0.contains("first-token"));
        assert_eq!(parts(&got[0].1), parts(&got[1].1));
    }
    let run = fixture.run();
    assert_eq!((run.position, run.state.as_str()), (2, "active"));
    assert!(run.last_error.unwrap().contains(r#""refused_credentials":true"#));
    let told = ["a.one", "audit.destination.refused_credentials", "a.two"];
    assert_eq!(fixture.last_actions(3), told, "once");
    assert!(fixture.destination().previous_config.is_some());
    fixture.store(&["a.three"]);
    fixture.deliver();
    assert!(fixture.destination().previous_config.is_none());
    assert_eq!(fixture.receiver.take().len(), 1);
}

#[test]
fn what_the_previous_credentials_meet_decides_nothing_for_the_present_ones() {
    let fixture = Fixture::new();
    let config = sealed(&fixture.service, fixture.project_id, "second-token");
    fixture.change(|row| row.previous_config = Some(std::mem::replace(&mut row.config, config)));
    fixture.store(&["a.one"]);
    for verdict in [Verdict::Credentials, Verdict::Refused] {
        fixture.receiver.reacts(move |_| verdict);
    }
    fixture.deliver();
    let run = fixture.run();
    assert_eq!((run.position, run.state.as_str()), (0, "credentials"));
}

#[test]
fn a_failure_is_shown_until_the_receiver_takes_the_batch() {
    let fixture = Fixture::new();
    fixture.store(&["a.one"]);
    fixture.receiver.reacts(|_| Verdict::Retry { after: None });
    fixture.deliver();
    let run = fixture.run();
    let error: Value = serde_json::from_str(&run.last_error.unwrap()).unwrap();
    let at = fixture.clock.now().to_string();
    let expected = json!({
        "at": at, "status": 200, "request": "POST https://splunk.test/…", "response": "what it says",
        "refused_credentials": false,
    });
    assert_eq!(
        (error, run.state.as_str(), run.attempts),
        (expected, "delayed", 1)
    );
    assert_eq!(fixture.due(), [], "it waits");
    fixture.pass(1);
    fixture.deliver();
    let run = fixture.run();
    assert_eq!(
        (run.last_error, run.state.as_str(), run.attempts),
        (None, "active", 0)
    );
}

#[test]
fn the_operator_is_told_once_that_a_destination_is_late_and_once_that_it_has_recovered() {
    // Without the service's own events, which would follow.
    let fixture = Fixture::with(true, json!({"actions": ["a.*"]}));
    fixture.store(&["a.one"]);
    for seconds in [0, 1, 299, 300, 300] {
        fixture.pass(seconds);
        fixture.receiver.reacts(|_| Verdict::Retry { after: None });
        fixture.deliver();
    }
    assert_eq!(fixture.receiver.take().len(), 5);
    assert_eq!(fixture.last_actions(2), ["a.one", "audit.destination.delayed"]);
    fixture.pass(300);
    fixture.deliver();
    assert_eq!(
        fixture.last_actions(3),
        [
            "a.one",
            "audit.destination.delayed",
            "audit.destination.recovered"
        ]
    );
    let statistics = fixture.service.destination_statistics();
    assert_eq!((statistics.delivered, statistics.set_aside), (1, 0));
}

#[test]
fn a_destination_has_recovered_when_no_event_that_is_left_passes_its_filter() {
    let fixture = Fixture::with(true, json!({"actions": ["a.*"]}));
    // A full batch, one event more, and one that is left.
    fixture.store(&["a.one"; 9]);
    fixture.store(&["b.two"]);
    fixture.pass(301);
    fixture.deliver();
    let sizes: Vec<usize> = fixture
        .receiver
        .take()
        .iter()
        .map(|batch| batch.records.len())
        .collect();
    assert_eq!(sizes, [8, 1, 1], "a checkpoint is the second one");
    let told = [
        "b.two",
        "audit.destination.delayed",
        "audit.destination.recovered",
    ];
    assert_eq!(fixture.last_actions(3), told);
    assert_eq!(fixture.run().state, "active");
}

#[test]
fn a_replay_ends_with_a_checkpoint_and_is_deleted() {
    let fixture = Fixture::new();
    fixture.store(&["a.one", "a.two", "a.three"]);
    fixture.deliver();
    fixture.receiver.take();
    let (now, ledger_id) = (fixture.clock.now().as_micros(), fixture.ledger_id);
    let replay = DestinationRunRow {
        end_seq: Some(2),
        ..new_run(7, ledger_id, 0, now)
    };
    fixture
        .service
        .store
        .configure(fixture.project_id, move |configurator| {
            configurator.insert_destination_run(&replay)
        })
        .unwrap();
    fixture.deliver();
    let got = records(&fixture.receiver.take());
    assert_eq!(actions(&got), ["a.one", "a.two"]);
    assert_eq!(
        (positions(&got), &got[0]["stream"]["replay"]),
        (vec![1, 2, 3], &json!(true))
    );
    assert_eq!(got[2]["through_position"], 2);
    assert_eq!(fixture.runs().len(), 1);
}

#[test]
fn a_paused_destination_gets_nothing_more() {
    let fixture = Fixture::new();
    fixture.store(&["a.one"]);
    let due = fixture.due();
    fixture.change(|row| row.paused = true);
    deliver(&fixture.service, fixture.receiver.as_ref(), &due[0]).unwrap();
    assert!(fixture.receiver.take().is_empty() && fixture.due().is_empty());
    fixture.change(|row| row.paused = false);
    fixture.deliver();
    assert_eq!(fixture.receiver.take().len(), 1);
}
