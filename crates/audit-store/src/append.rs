//! Appending events to ledgers: one commit for many requests, planned before anything is written.

pub(crate) mod alert_groups;
pub(crate) mod inline;
pub(crate) mod key_probe;
mod months;
pub(crate) mod plan;
pub(crate) mod senders;

use crate::append::alert_groups::AlertGroups;
use crate::configuration::ConfigurationVersion;
use crate::database::{WriteTransactions, write_transaction};
use crate::error::{Result, StoreError};
use crate::ledgers::{self, HeadRow, NewHead, read_before};
use crate::queue::{Queue, WaitingAppend};
use crate::search::tokens::Tokens;
use crate::tree::{self, TreeSession};
use audit_alerts::{GroupHash, Watch};
use audit_domain::{
    ContentSalt, Environment, EventId, Facet, Facets, HashedRecord, IdempotencyWindow, LogName,
    OrganizationId, ProjectId, Record, SentDigest, Timestamp,
};
use plan::{Before, Head, KnownKey, LedgerMonth, Plan};
use senders::EventSender;
use sha2::{Digest, Sha256};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The database's number for a project and environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LedgerId(pub i64);

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
    /// The webhooks that alerts are delivered to.
    pub webhook_ids: Arc<[String]>,
}

/// The identity of an idempotency key within a ledger: the first 128 bits of its SHA-256.
pub(crate) type KeyHash = [u8; 16];

/// A stored idempotency key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Idempotency {
    pub(crate) hash: KeyHash,
    pub(crate) digest: SentDigest,
}

impl Idempotency {
    /// Of a key and the digest of the event as it was sent.
    pub(crate) fn of((key, digest): (&str, SentDigest)) -> Self {
        let hash = hash_of_key(key);
        Self { hash, digest }
    }
}

/// The identity of an idempotency key.
pub(crate) fn hash_of_key(key: &str) -> KeyHash {
    let sha256: [u8; 32] = Sha256::digest(key.as_bytes()).into();
    let mut hash = KeyHash::default();
    hash.copy_from_slice(&sha256[..16]);
    hash
}

/// One event, ready to be appended: all expensive work is done.
#[derive(Clone, Debug)]
pub struct NewEvent {
    pub(crate) record: HashedRecord,
    pub(crate) action: String,
    pub(crate) tokens: Tokens,
    pub(crate) idempotency: Option<Idempotency>,
    pub(crate) watches: Vec<Watch>,
    pub(crate) sender: Option<EventSender>,
}

impl NewEvent {
    /// Prepares a record for `destination`, to which its content hash binds it. `content_salt` is random. `facets` are those
    /// of the redacted event; `idempotency` is the key with the digest of the event as it was sent.
    pub fn new(
        destination: &Destination,
        record: Record,
        content_salt: ContentSalt,
        facets: &Facets<'_>,
        idempotency: Option<(&str, SentDigest)>,
    ) -> Self {
        let idempotency = idempotency.map(Idempotency::of);
        let log = LogName::new(destination.project_id, destination.environment);
        let hash = idempotency
            .as_ref()
            .map(|idempotency| idempotency.hash.as_slice());
        Self {
            tokens: Tokens::of(destination.ledger_id.0, facets, hash),
            action: facets.get(Facet::Action).unwrap_or_default().to_owned(),
            record: record.hashed(content_salt, &log),
            idempotency,
            watches: Vec::new(),
            sender: None,
        }
    }

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
    pub(crate) events: Vec<NewEvent>,
    pub(crate) origin: Origin,
}

impl AppendRequest {
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

/// Stored idempotency keys, by ledger and hash.
pub(crate) type KnownKeys = HashMap<(LedgerId, KeyHash), KnownKey>;

/// The steps of an append that differ between the databases, in their order within a transaction.
pub(crate) trait AppendSession: WriteTransactions + TreeSession {
    /// The window in which an idempotency key is known.
    fn idempotency_window(&self) -> IdempotencyWindow;

    /// The heads of ledgers, locked until the end of the transaction. They are locked in the order of their ids, so that two
    /// nodes that need the same heads cannot deadlock.
    fn lock_heads(&mut self, ledgers: &BTreeSet<LedgerId>) -> Result<Vec<(i64, HeadRow, Vec<LedgerMonth>)>>;

    /// The idempotency keys of `requests` that are stored already within the window, each with its newest event. Some outside of
    /// the window may be among them.
    fn find_keys(&mut self, requests: &[AppendRequest], heads: &HashMap<LedgerId, Head>)
    -> Result<KnownKeys>;

    /// The stored states of groups of alert rules.
    fn find_alert_groups(&mut self, groups: &BTreeSet<(LedgerId, GroupHash)>) -> Result<AlertGroups>;

    /// Writes the rows of a plan, their actions, the months that their ledgers enter, and the heads of their ledgers.
    fn write_events(&mut self, plan: &Plan, heads: &[NewHead]) -> Result<()>;

    /// Writes the states of groups, alerts and deliveries of a plan.
    fn write_alerts(&mut self, plan: &Plan) -> Result<()>;
}

/// Plans requests and writes the plan, within a transaction, after [`read_before`].
pub(crate) fn append<S: AppendSession>(
    session: &mut S,
    requests: Vec<AppendRequest>,
    mut before: Before,
) -> Result<Plan> {
    before.keys = session.find_keys(&requests, &before.heads)?;
    before.alert_groups = session.find_alert_groups(&alert_groups::of_requests(&requests))?;
    let mut plan = plan::plan(requests, before, session.idempotency_window());
    if plan.rows.is_empty() {
        return Ok(plan);
    }
    let heads = ledgers::grow(session, &mut plan)?;
    session.write_events(&plan, &heads)?;
    write_tiles_and_alerts(session, &plan, &heads)?;
    Ok(plan)
}

/// Writes the tiles, alerts and deliveries of a plan. The heads of its ledgers are locked.
pub(crate) fn write_tiles_and_alerts<S: AppendSession>(
    session: &mut S,
    plan: &Plan,
    heads: &[NewHead],
) -> Result<()> {
    for head in heads {
        for tile in &head.tiles {
            tree::store_tile(session, head.ledger_id, tile)?;
        }
    }
    session.write_alerts(plan)
}

/// A commit that failed.
pub(crate) struct FailedCommit {
    pub(crate) error: StoreError,
    /// Whether it was rolled back for certain and the requests are still there, so that they can be committed again.
    pub(crate) can_repeat: bool,
}

impl FailedCommit {
    /// A failure after which the requests are still there.
    pub(crate) const fn of_copied_requests(error: StoreError) -> Self {
        let is_unknown = matches!(error, StoreError::OutcomeUnknown(_));
        Self {
            error,
            can_repeat: !is_unknown,
        }
    }

    /// A failure that is not repeated.
    pub(crate) const fn final_error(error: StoreError) -> Self {
        Self {
            error,
            can_repeat: false,
        }
    }
}

/// Appends waiting requests to these ledgers in one transaction. Requests that arrive for the same ledgers until their heads
/// are locked join. With `is_copied` the planner gets copies of the requests, so that they can be committed again when this
/// commit is rolled back.
pub(crate) fn commit_waiting<S: AppendSession>(
    session: &mut S,
    waiting: &mut Vec<WaitingAppend>,
    ledgers: &BTreeSet<LedgerId>,
    queue: &Queue,
    day: i64,
    is_copied: bool,
) -> Result<Plan, FailedCommit> {
    let outcome = write_transaction(session, |session| {
        let before = read_before(session, ledgers, day)?;
        queue.join(waiting, |ledger_id| before.heads.contains_key(&ledger_id));
        append(session, requests_of(waiting, is_copied), before)
    });
    outcome.map_err(match is_copied {
        true => FailedCommit::of_copied_requests,
        false => FailedCommit::final_error,
    })
}

/// The ledgers of waiting requests.
pub(crate) fn ledgers_of(waiting: &[WaitingAppend]) -> BTreeSet<LedgerId> {
    waiting.iter().map(WaitingAppend::ledger_id).collect()
}

/// The requests, for the planner, in the order of their arrival. In another order, requests would need new stamps, and
/// with them new hashes.
pub(crate) fn requests_of(waiting: &mut [WaitingAppend], is_copied: bool) -> Vec<AppendRequest> {
    waiting.sort_by_key(|waiting| waiting.request.first_id());
    waiting
        .iter_mut()
        .map(|waiting| waiting.hand_over(is_copied))
        .collect()
}
