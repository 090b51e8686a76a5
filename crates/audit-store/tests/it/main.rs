//! The public interface of the store, on embedded SQLite; where the databases differ in locks, on both. `audit-tests` tests
//! both databases over HTTP.

mod alert_deliveries;
mod anchors;
mod appending;
mod backlog;
mod concurrent_changes;
mod configuring;
mod deliveries;
mod destinations;
mod distribution;
mod erasing;
mod files;
mod finding;
mod groups;
mod ids;
mod index_file;
mod index_verification;
mod many_ledgers;
mod months;
mod numbered;
mod reading;
mod rebuilding;
mod removals;
mod removed;
mod replicas;
mod schemas;
mod signing;
mod structure;
mod summaries;
mod wide_prefixes;

use audit_domain::{
    Clock, ContentSalt, Environment, Event, EventFilter, EventId, EventOrder, OrganizationId, PageLimit,
    Plan, ProjectId, Record, Stamp, Timestamp,
};
use audit_ledger::HeadKey;
use audit_store::{
    Appended, DatabaseUrl, Deployment, Destination, EventQuery, NewEvent, Organization, Project, Store,
    StoreError, StoreOptions, UnhashedEvent,
};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// 2026-01-15T10:30:00Z.
pub(crate) const NOW: Timestamp = Timestamp::from_seconds(1_768_473_000);

/// Opens the store in a folder.
pub(crate) fn open(folder: &Path) -> Store {
    open_with(folder, StoreOptions::default())
}

pub(crate) fn open_with(folder: &Path, options: StoreOptions) -> Store {
    open_url(&DatabaseUrl::Sqlite(folder.join("audit.db")), options)
}

/// Opens the store at a URL.
pub(crate) fn open_at(url: &str) -> Store {
    open_url(&url.parse().expect("a valid URL"), StoreOptions::default())
}

pub(crate) fn open_url(url: &DatabaseUrl, options: StoreOptions) -> Store {
    let clock: Arc<dyn Clock> = Arc::new(NOW);
    let key = HeadKey::new(&[7; 32]);
    Store::open(url, options, &key, &clock).expect("the store opens")
}

/// Creates a project. Returns the destination of its live events.
pub(crate) fn create_project(store: &Store, number: u8) -> Destination {
    let project_id = ProjectId::from_random([number; 16]);
    let organization_id = OrganizationId::from_random([number; 16]);
    let organization = Organization {
        id: organization_id,
        name: "o".to_owned(),
        plan: Plan::Enterprise,
        created_at: NOW,
    };
    let project = Project {
        id: project_id,
        organization_id,
        name: "p".to_owned(),
        created_at: NOW,
        archived_at: None,
        metadata_filter_paths: Vec::new(),
    };
    let inserted = store.configure(Deployment, move |configurator| {
        configurator.insert_organization(&organization)?;
        configurator.insert_project(&project, &[])
    });
    inserted.expect("the project is created");
    destination(store, project_id)
}

/// The destination of a project's live events, with the current configuration.
pub(crate) fn destination(store: &Store, project_id: ProjectId) -> Destination {
    let found = store.read(|reader| {
        let ledger_id = reader.ledgers(project_id)?[&Environment::Live];
        let configuration_version = reader.configuration_version(project_id)?;
        let project = reader.project(project_id)?.expect("the project exists");
        Ok::<_, StoreError>(Destination {
            ledger_id,
            project_id,
            organization_id: project.organization_id,
            environment: Environment::Live,
            configuration_version: configuration_version.expect("the project has a version"),
            daily_events_max: None,
            is_archived: false,
            webhook_ids: std::sync::Arc::new([]),
        })
    });
    found.expect("the project exists")
}

/// An event prepared at `received_at`.
pub(crate) fn prepare(
    destination: &Destination,
    event: &Value,
    received_at: Timestamp,
    random: u8,
) -> NewEvent {
    let event = Event::from_json(event.clone(), NOW).expect("a valid event");
    let record = Record::new(
        &event,
        false,
        Stamp {
            id: EventId::new(received_at, [random; 10]),
            received_at,
        },
    );
    let key = event
        .idempotency_key
        .as_deref()
        .map(|key| (key, event.to_text().digest(None)));
    let salt = ContentSalt::from_bytes([random; 16]);
    let event = UnhashedEvent::new(destination, record, salt, &event.facets(), key);
    NewEvent::all_hashed(vec![event], destination).remove(0)
}

/// Appends the events of one request. Returns their outcomes.
pub(crate) fn append(store: &Store, destination: &Destination, events: Vec<NewEvent>) -> Vec<Appended> {
    store
        .append_blocking(destination.clone(), events)
        .expect("the events are stored")
        .events
}

/// The number of events of a ledger that a filter finds, 200 at most.
pub(crate) fn count(store: &Store, to: &Destination, filter: EventFilter) -> usize {
    let query = EventQuery {
        ledger_id: to.ledger_id,
        filter,
        tier: None,
        order: EventOrder::Descending,
        after: None,
        limit: PageLimit::new(200).expect("a valid limit"),
    };
    store
        .read(|reader| reader.events(&query))
        .expect("the events are read")
        .events
        .len()
}
