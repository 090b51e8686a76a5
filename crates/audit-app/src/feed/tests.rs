//! Reads of a log from which a removal has taken events, on an embedded database.

use super::page::{ReadPage, Start};
use crate::accounts::NewOrganization;
use crate::authentication::Presented;
use crate::error::{AppError, Result};
use crate::ingest::{EventsForm, SentEvents};
use crate::log::SignerMemory;
use crate::log::tenants::completeness::{RemovedOfTenant, TenantCompleteness};
use crate::log::tenants::listed::TenantsRequest;
use crate::reading::ReadRequest;
use crate::self_audit::Requester;
use crate::service::{AuditLog, Scope, Selection};
use crate::settings::Settings;
use audit_auth::{Credential, EventsRead, Keys, Readers};
use audit_domain::{
    Clock, Entropy, Environment, EventFilter, EventId, Facet, LifecycleEvent, LogName, PartMask, Plan,
    ProjectId, Timestamp,
};
use audit_ledger::{
    Frontier, Hash, HeadKey, RemovalDigest, RemovalKind, RemovalRecord, TenantLabel, TenantMapKey,
};
use audit_store::{DatabaseUrl, LedgerId, RemovalRow, RemovalState, Store, StoreError, StoreOptions};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

const DAY: i64 = 24 * 3600;

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

/// What a removal takes.
#[derive(Default)]
pub(crate) struct Taken {
    pub(crate) records: Vec<RemovalRecord>,
    pub(crate) labels: BTreeMap<u64, TenantLabel>,
}

impl Taken {
    /// The events at these positions.
    pub(crate) fn of(store: &Store, ledger_id: LedgerId, key: &TenantMapKey, seqs: &[u64]) -> Self {
        let mut taken = Self::default();
        for seq in seqs {
            let found = store.query(|reader| reader.logged_events(ledger_id, *seq, 1));
            let event = found.unwrap().remove(0).event;
            let label = key.label(&event.facets().unwrap().take(Facet::TenantId));
            taken.labels.insert(label.slot(), label);
            taken.records.push(RemovalRecord {
                seq: *seq,
                mask: PartMask::ROW,
                content_hash: event.content_hash,
                slot: label.slot(),
            });
        }
        taken
    }

    fn digest(&self, log: &LogName) -> String {
        let mut digest = RemovalDigest::new(RemovalKind::Retention, log);
        for record in &self.records {
            digest.add(record, &self.labels[&record.slot]);
        }
        let digits = digest.finish().as_bytes().map(|byte| format!("{byte:02x}"));
        format!("sha256:{}", digits.concat())
    }

    /// The row of the first removal of the log, which takes them.
    fn row(&self, ledger_id: LedgerId, changed_at: Timestamp) -> RemovalRow {
        let seqs = self.records[0].seq..self.records[self.records.len() - 1].seq + 1;
        RemovalRow {
            ledger_id,
            number: 1,
            kind: RemovalKind::Retention,
            state: RemovalState::Collecting,
            event_seq: None,
            cursor_seq: seqs.start,
            seqs,
            records: self.records.len() as u64,
            changed_at,
            request: None,
        }
    }

    /// Stores the records of a plan, whose event is at `plan`.
    pub(crate) fn plan(&self, store: &Store, project_id: ProjectId, ledger_id: LedgerId, plan: u64) {
        let (records, labels) = (self.records.clone(), self.labels.clone());
        let collecting = self.row(ledger_id, Timestamp::from_seconds(1));
        let planned = RemovalRow {
            state: RemovalState::Planned,
            event_seq: Some(plan),
            ..collecting.clone()
        };
        let (lease, until) = ([1; 16], Timestamp::from_seconds(2));
        let stored = store.write_for(project_id, move |writer| {
            assert!(writer.begin_removal(&collecting, &lease, until)?);
            writer.put_records(ledger_id, 1, &records, &labels)?;
            assert!(writer.change_removal(&collecting, &planned, &lease, until)?);
            Ok::<_, StoreError>(())
        });
        stored.unwrap();
    }

    /// Takes them, as the event at `removed` says.
    pub(crate) fn take(
        &self,
        store: &Store,
        project_id: ProjectId,
        ledger_id: LedgerId,
        removed: (u64, u64),
    ) {
        let seqs: Vec<u64> = self.records.iter().map(|record| record.seq).collect();
        let in_state = |state, event_seq| RemovalRow {
            state,
            event_seq: Some(event_seq),
            ..self.row(ledger_id, Timestamp::from_seconds(1))
        };
        let planned = in_state(RemovalState::Planned, removed.0);
        let removing = in_state(RemovalState::Removing, removed.1);
        let done = in_state(RemovalState::Done, removed.1);
        let (lease, until) = ([1; 16], Timestamp::from_seconds(2));
        let taken = store.write_for(project_id, move |writer| {
            assert!(writer.change_removal(&planned, &removing, &lease, until)?);
            assert!(writer.delete_events(ledger_id, &seqs)?.is_some());
            assert!(writer.change_removal(&removing, &done, &lease, until)?);
            Ok::<_, StoreError>(())
        });
        taken.unwrap();
    }
}

struct Fixture {
    service: Arc<AuditLog>,
    clock: Arc<Moving>,
    project_id: ProjectId,
    presented: Presented<Readers>,
    key: String,
    _folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(Moving(AtomicI64::new(1_768_473_000)));
        let shared: Arc<dyn Clock> = Arc::<Moving>::clone(&clock);
        let url = DatabaseUrl::Sqlite(folder.path().join("audit.db"));
        let store = Store::open(&url, StoreOptions::default(), &HeadKey::new(&[7; 32]), &shared).unwrap();
        let settings = Settings {
            self_audit: false,
            signer: Some(Arc::new(
                SignerMemory::open(&folder.path().join("signer")).unwrap(),
            )),
            ..Settings::default()
        };
        let service = AuditLog::open(store, shared, Arc::new(Counting), settings).unwrap();
        let NewOrganization {
            project, project_key, ..
        } = service
            .create_organization(&"o".parse().unwrap(), Plan::Enterprise)
            .unwrap();
        let key = project_key.as_str().to_owned();
        Self {
            presented: service.present(Credential::parse(&key).unwrap(), None, None),
            service,
            clock,
            project_id: project.id,
            key,
            _folder: folder,
        }
    }

    fn scope(&self) -> Scope {
        let access = self
            .service
            .store
            .query(|reader| self.presented.read_access(reader, Selection::default(), None));
        access.unwrap().scope
    }

    /// Stores events of a tenant, at most 100.
    fn store(&self, tenant_id: &str, count: usize) -> Vec<EventId> {
        let event = json!({"action": "a.b", "category": "auth", "tenant_id": tenant_id, "actor": {"id": "a", "type": "user"}});
        let body = Value::from(vec![event; count]).to_string();
        let sent = SentEvents::new(body.as_bytes(), EventsForm::Json);
        let stored = self
            .service
            .ingest_blocking(self.project_id, Environment::Live, &sent);
        stored.unwrap().ids
    }

    /// Appends a lifecycle event. Returns its position.
    fn append(&self, action: &str, mut metadata: Value) -> u64 {
        let scope = self.scope();
        let previous = self.service.lifecycle(&scope).unwrap().lifecycle_seq;
        metadata["previous"] = previous.into();
        let event = json!({"action": action, "category": "security", "tenant_id": "audit-server", "metadata": metadata});
        let (_, event) = LifecycleEvent::read(event.as_object().unwrap()).expect("a lifecycle event");
        let appended =
            self.service
                .append_lifecycle(&scope, &Requester::Operator, previous, event, |_, seq| Ok(seq));
        appended.unwrap()
    }

    /// Takes the events at these positions. `before_rows` runs between the plan and the removal.
    fn remove_with(&self, seqs: &[u64], before_rows: impl FnOnce()) -> Timestamp {
        let scope = self.scope();
        let (store, ledger_id) = (&self.service.store, scope.ledger_id);
        let key = self.service.tenant_map_key(&scope.log_name()).unwrap();
        let taken = Taken::of(store, ledger_id, &key, seqs);
        let before = self.clock.now().plus_seconds(1);
        let policy = self.append(
            "audit.retention.changed",
            json!({"days": 93, "categories": {}, "preset": null}),
        );
        self.clock.0.fetch_add(200 * DAY, Ordering::Relaxed);
        let row = taken.row(ledger_id, before);
        let mut metadata = json!({
            "policy": policy, "first_seq": row.seqs.start, "end_seq": row.seqs.end,
            "received_before": {"default": before.to_string()}, "events": row.records, "held": 0, "kept": 0,
            "digest": taken.digest(&LogName::new(self.project_id, Environment::Live)),
            "not_before": self.clock.now().plus_seconds(DAY).to_string(),
        });
        let plan = self.append("audit.retention.planned", metadata.clone());
        taken.plan(store, self.project_id, ledger_id, plan);
        before_rows();
        self.clock.0.fetch_add(2 * DAY, Ordering::Relaxed);
        metadata["plan"] = plan.into();
        metadata["holds"] = json!([]);
        let removed = self.append("audit.events.removed", metadata);
        taken.take(store, self.project_id, ledger_id, (plan, removed));
        before
    }

    fn remove(&self, seqs: &[u64]) -> Timestamp {
        self.remove_with(seqs, || {})
    }

    fn page(&self, start: &Start, limit: usize) -> Result<ReadPage> {
        let request = ReadRequest {
            presented: self.presented.clone(),
            selection: Selection::default(),
            filter: EventFilter::default(),
        };
        self.service.feed_page(&request, start, limit)
    }

    /// The cursor with which a reader that has this one continues.
    fn told(&self, cursor: String) -> String {
        match self.page(&Start::Cursor(cursor), 10).map(|_| ()) {
            Err(AppError::EventsRemoved { cursor }) => cursor,
            other => panic!("the reader is not told: {other:?}"),
        }
    }

    fn completeness(&self, tenant_id: &str) -> TenantCompleteness {
        let proof = self
            .presented
            .tenant_proof(Selection::default(), Some(tenant_id.to_owned()));
        proof.unwrap()
    }

    /// The leaves of events.
    fn leaves(&self) -> Vec<Hash> {
        let ledger_id = self.scope().ledger_id;
        let found = self
            .service
            .store
            .query(|reader| reader.logged_events(ledger_id, 0, 1_000));
        let leaf = |logged: &audit_store::LoggedEvent| Hash::of_event(&logged.event.content_hash);
        found.unwrap().iter().map(leaf).collect()
    }
}

fn ids(read: &ReadPage) -> Vec<EventId> {
    let id = |json: &str| {
        let event: Value = serde_json::from_str(json).unwrap();
        event["id"].as_str().unwrap().parse::<EventId>().unwrap()
    };
    let events = read.page.events.iter();
    events.map(|event| id(event.json.get())).collect()
}

#[test]
fn a_reader_of_the_feed_is_told_once_of_events_that_were_removed_behind_its_cursor() {
    let fixture = Fixture::new();
    let stored = fixture.store("t", 6);
    let before = fixture.page(&Start::Beginning, 2).unwrap();
    assert_eq!((before.page.events.len(), before.page.removed_before), (2, None));
    let mut of_the_plan = None;
    fixture.remove_with(&[1, 2, 3], || {
        of_the_plan = Some(fixture.page(&Start::Beginning, 1).unwrap().page.cursor);
    });
    let cursor = fixture.told(before.page.cursor);
    let after = fixture.page(&Start::Cursor(cursor), 2).unwrap();
    assert_eq!(ids(&after), stored[4..]);
    assert!(after.page.removed_before.is_some());
    assert!(fixture.page(&Start::Cursor(after.page.cursor), 2).is_ok());
    // A cursor from the time of the plan does not count the removal as known.
    fixture.told(of_the_plan.unwrap());
    assert_eq!(ids(&fixture.page(&Start::Beginning, 1).unwrap()), stored[..1]);
}

#[test]
fn a_cursor_behind_all_removed_events_goes_on() {
    let fixture = Fixture::new();
    fixture.store("t", 6);
    let cursor = fixture.page(&Start::Beginning, 5).unwrap().page.cursor;
    fixture.remove(&[0, 1, 4]);
    assert!(fixture.page(&Start::Cursor(cursor), 1).is_ok());
}

#[test]
fn an_id_that_a_removal_may_have_taken_is_another_error_than_an_unknown_one() {
    let fixture = Fixture::new();
    let stored = fixture.store("t", 2);
    let before = fixture.remove(&[0]);
    let newer = fixture.store("t", 1)[0];
    let read = |id| fixture.presented.event(Selection::default(), id).map(|_| ());
    let receipt = |id| {
        fixture
            .presented
            .event_receipt(Selection::default(), id)
            .map(|_| ())
    };
    for outcome in [read(stored[0]), receipt(stored[0])] {
        assert!(matches!(outcome, Err(AppError::EventRemoved { before: at }) if at == before));
    }
    read(stored[1]).unwrap();
    assert!(matches!(
        read(newer.successor()),
        Err(AppError::NotFound("event"))
    ));
}

/// The root of the log of a tenant, from the leaves of the events that are there.
fn root_with(removed: &RemovedOfTenant, present: &[Hash]) -> Hash {
    let mut encoded = vec![1];
    encoded.extend(removed.prefix.to_be_bytes());
    encoded.extend(removed.frontier.iter().flat_map(|hash| *hash.as_bytes()));
    let mut tree = Frontier::decode(&encoded).unwrap();
    let (mut present, mut leaves) = (present.iter(), removed.leaves.iter().peekable());
    loop {
        let index = tree.size();
        match leaves.next_if(|(at, _)| *at == index) {
            Some((_, leaf)) => drop(tree.append(*leaf)),
            None => match present.next() {
                Some(leaf) => drop(tree.append(*leaf)),
                None => return tree.root(),
            },
        }
    }
}

#[test]
fn the_log_of_a_tenant_is_computed_from_its_events_and_what_was_removed() {
    let fixture = Fixture::new();
    for _ in 0..3 {
        fixture.store("acme", 100);
    }
    fixture.store("gone", 1);
    let before = fixture.completeness("acme");
    assert!(before.removed.is_none());
    let head = before.proof.claimed_head().unwrap();
    let all = fixture.leaves();
    let seqs: Vec<u64> = (0..10).chain([20, 21, 270, 300]).collect();
    fixture.remove(&seqs);
    let is_there = |(seq, _): &(usize, &Hash)| !seqs.contains(&(*seq as u64));
    let present: Vec<Hash> = all[..300]
        .iter()
        .enumerate()
        .filter(is_there)
        .map(|(_, leaf)| *leaf)
        .collect();
    let ledger_id = fixture.scope().ledger_id;
    for _ in 0..2 {
        let after = fixture.completeness("acme");
        assert_eq!(after.proof.claimed_head(), Some(head));
        let removed = after.removed.unwrap();
        assert_eq!((removed.events, removed.prefix), (13, 10));
        assert_eq!(
            removed.leaves.iter().map(|(index, _)| *index).collect::<Vec<_>>(),
            [20, 21, 270]
        );
        assert_eq!(root_with(&removed, &present), head.root);
        // The same map is computed from events and records.
        let deleted = fixture
            .service
            .store
            .write(move |writer| writer.delete_tenant_map(ledger_id));
        deleted.unwrap();
    }
    let gone = fixture.completeness("gone").removed.unwrap();
    assert_eq!((gone.events, gone.prefix, gone.leaves.len()), (1, 1, 0));
}

#[test]
fn a_tenant_whose_events_were_all_removed_is_not_listed() {
    let fixture = Fixture::new();
    fixture.store("acme", 1);
    fixture.store("gone", 1);
    fixture.remove(&[1]);
    fixture.completeness("acme");
    // Its name is not computed again from its records.
    let ledger_id = fixture.scope().ledger_id;
    let deleted = fixture
        .service
        .store
        .write(move |writer| writer.delete_tenant_map(ledger_id));
    deleted.unwrap();
    let credential = Credential::parse(&fixture.key).unwrap();
    let holder = fixture
        .service
        .present::<Keys<EventsRead>>(credential, None, None)
        .authenticate()
        .unwrap();
    let request = TenantsRequest {
        cursor: None,
        limit: 10,
    };
    let listed = fixture
        .service
        .tenants(&holder, Selection::default(), &request)
        .unwrap();
    let mut names: Vec<&str> = listed.tenants.iter().map(|tenant| tenant.id.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["acme", "audit-server"]);
    fixture.store("gone", 1);
    let listed = fixture
        .service
        .tenants(&holder, Selection::default(), &request)
        .unwrap();
    let gone = listed.tenants.iter().find(|tenant| tenant.id == "gone").unwrap();
    assert_eq!(gone.events, 2);
}
