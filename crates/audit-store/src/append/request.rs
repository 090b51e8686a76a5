//! What is appended, and what comes of it.

use super::idempotency::{Idempotency, KeyHash};
use super::senders::EventSender;
use crate::configuration::owner::ConfigurationVersion;
use crate::error::Result;
use crate::ids::LedgerId;
use crate::search::tokens::Tokens;
use audit_alerts::Watch;
use audit_domain::{
    ContentSalt, Environment, EventId, Facet, Facets, HashedRecord, LogName, OrganizationId, ProjectId,
    Record, SentDigest, Timestamp,
};
use std::sync::Arc;

/// Where events are appended, and the configuration they were prepared with.
#[derive(Clone, Debug)]
pub struct Destination {
    /// The ledger of the project and environment.
    pub ledger_id: LedgerId,
    /// The project.
    pub project_id: ProjectId,
    /// The organization of the project. Organizations take turns in the write queue.
    pub organization_id: OrganizationId,
    /// Live or test.
    pub environment: Environment,
    /// The version of the project's configuration that the events were checked and redacted with. The append is refused
    /// as stale when it is not the current one.
    pub configuration_version: ConfigurationVersion,
    /// The most live events the project may store on one UTC day.
    pub daily_events_max: Option<u64>,
    /// Whether the project is archived, and stores only the service's own events.
    pub is_archived: bool,
    /// The webhooks that alerts are delivered to.
    pub webhook_ids: Arc<[String]>,
}

/// One event, ready to be appended: all expensive work is done.
#[derive(Clone, Debug)]
pub struct NewEvent<R = HashedRecord> {
    pub(crate) record: R,
    pub(crate) action: String,
    pub(crate) tokens: Tokens,
    pub(crate) idempotency: Option<Idempotency>,
    pub(crate) watches: Vec<Watch>,
    pub(crate) sender: Option<EventSender>,
}

/// A [`NewEvent`] without its content hash. The events of a batch are hashed together: see [`NewEvent::all_hashed`].
pub type UnhashedEvent = NewEvent<(Record, ContentSalt)>;

impl UnhashedEvent {
    /// Prepares a record for `destination`. `content_salt` is random. `facets` are those of the redacted event; `idempotency` is the
    /// key with the digest of the event as it was sent.
    pub fn new(
        destination: &Destination,
        record: Record,
        content_salt: ContentSalt,
        facets: &Facets<'_>,
        idempotency: Option<(&str, SentDigest)>,
    ) -> Self {
        let tenant_id = facets.get(Facet::TenantId).unwrap_or_default();
        let idempotency = idempotency.map(|key| Idempotency::of(tenant_id, key));
        let hash = idempotency
            .as_ref()
            .map(|idempotency| idempotency.hash.as_slice());
        Self {
            tokens: Tokens::of(destination.ledger_id.0, facets, hash),
            action: facets.get(Facet::Action).unwrap_or_default().to_owned(),
            record: (record, content_salt),
            idempotency,
            watches: Vec::new(),
            sender: None,
        }
    }
}

impl<R> NewEvent<R> {
    /// The same event, sent with a key; `None` where no key was presented.
    #[must_use]
    pub fn sent_by(self, sender: Option<EventSender>) -> Self {
        Self { sender, ..self }
    }

    /// The same event, to be counted by these groups of alert rules.
    #[must_use]
    pub fn watched(self, watches: Vec<Watch>) -> Self {
        Self { watches, ..self }
    }

    /// The same event with another record.
    fn map_record<S>(self, map: impl FnOnce(R) -> S) -> NewEvent<S> {
        NewEvent {
            record: map(self.record),
            action: self.action,
            tokens: self.tokens,
            idempotency: self.idempotency,
            watches: self.watches,
            sender: self.sender,
        }
    }
}

impl NewEvent {
    /// The events with the content hashes that bind them to `destination`, in their order.
    pub fn all_hashed(events: Vec<UnhashedEvent>, destination: &Destination) -> Vec<Self> {
        let log = LogName::new(destination.project_id, destination.environment);
        let hashes = Record::hashes(events.iter().map(|event| (&event.record.0, event.record.1)), &log);
        let events = events.into_iter().zip(hashes);
        events
            .map(|(event, hash)| event.map_record(|(record, salt)| record.with_hash(salt, hash)))
            .collect()
    }

    /// Its approximate size in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.record.canonical().len() + self.tokens.as_str().len() + self.action.len() + 768
    }
}

/// The outcome for one event of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appended {
    /// Stored, under this id.
    Stored(EventId),
    /// An event with this idempotency key and content exists, under this id.
    Repeated(EventId),
    /// An event with this idempotency key and other content exists, under this id.
    Conflicting(EventId),
}

/// The source of a request's events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A client: they count towards the daily limit, and their stamps follow those before them.
    Sent,
    /// The service itself: they count towards no limit.
    Service,
    /// The claim of a stream at this time: they keep their stamps and count towards no limit.
    Claimed(Timestamp),
}

/// The events of one request.
#[derive(Clone, Debug)]
pub(crate) struct AppendRequest {
    pub(crate) destination: Destination,
    /// Shared, so that a request whose commit may have to be repeated is not copied.
    pub(crate) events: Vec<Arc<NewEvent>>,
    pub(crate) origin: Origin,
}

impl AppendRequest {
    pub(crate) fn new(destination: Destination, events: Vec<NewEvent>, origin: Origin) -> Self {
        Self {
            destination,
            events: events.into_iter().map(Arc::new).collect(),
            origin,
        }
    }

    /// The id that its first event was stamped with.
    pub(crate) fn first_id(&self) -> Option<EventId> {
        self.events.first().map(|event| event.record.stamp().id)
    }

    /// The latest time at which one of its events was received, or claimed, or of an id.
    pub(crate) fn latest_time(&self) -> Option<Timestamp> {
        let stamps = self.events.iter().map(|event| event.record.stamp());
        let received = stamps.map(|stamp| stamp.received_at.max(stamp.id.time()));
        let claimed = match self.origin {
            Origin::Sent | Origin::Service => None,
            Origin::Claimed(at) => Some(at),
        };
        received.chain(claimed).max()
    }

    /// The identities of the idempotency keys of its events.
    pub(crate) fn key_hashes(&self) -> impl Iterator<Item = &KeyHash> {
        let keys = self.events.iter().filter_map(|event| event.idempotency.as_ref());
        keys.map(|key| &key.hash)
    }
}

/// The outcomes for the events of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppendedEvents {
    /// In their order.
    pub events: Vec<Appended>,
    /// The size of a tree that has all of them.
    pub log_size: u64,
}

/// The outcome of one request.
pub type AppendOutcome = Result<AppendedEvents>;
