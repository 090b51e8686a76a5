//! Appending events to ledgers: what one commit of many requests does, worked out before anything is written.

mod inline;
pub(crate) mod plan;
pub(crate) mod postgres;
pub(crate) mod sqlite;
pub(crate) mod watch;

use crate::alerts::insert_alerts;
use crate::connection::AnyConnection;
use crate::deliveries::insert_deliveries;
use crate::error::Result;
use crate::ledgers::{self, KnownActions, NewHead};
use crate::log::{BegunTiles, insert_tiles};
use crate::rows::Rows;
use crate::tokens::{push_facet_tokens, push_identity_tokens};
use audit_domain::{Environment, EventId, Facets, ProjectId, Record, SentDigest};
use plan::{Before, Plan};
use sha2::{Digest, Sha256};
use std::sync::Arc;

pub use watch::{Counted, GroupCount, GroupHash, SeenEvent, Watch, Watcher};

/// The database's number for a project and environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LedgerId(pub(crate) i64);

/// Where events go, and what has to hold when they get there.
#[derive(Clone, Debug)]
pub struct Destination {
    /// The ledger of the project and environment.
    pub ledger_id: LedgerId,
    /// The project.
    pub project_id: ProjectId,
    /// Live or test.
    pub environment: Environment,
    /// The configuration that the events were checked and redacted with; when it is no longer the current one, the
    /// append is refused as stale.
    pub configuration_version: i64,
    /// The most live events the project may store on one UTC day.
    pub daily_events_max: Option<u64>,
    /// The webhooks that are told of alerts.
    pub webhook_ids: Arc<[String]>,
}

/// The identity of an idempotency key within a ledger: 128 bits of its SHA-256.
pub(crate) type KeyHash = [u8; 16];

/// An idempotency key as the store keeps it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Idempotency {
    pub(crate) hash: KeyHash,
    pub(crate) digest: SentDigest,
}

/// One event, ready to be appended: everything that costs time is done.
#[derive(Clone, Debug)]
pub struct NewEvent {
    pub(crate) record: Record,
    pub(crate) action: String,
    pub(crate) tokens: Tokens,
    pub(crate) idempotency: Option<Idempotency>,
    pub(crate) watches: Vec<Watch>,
}

/// What an event is filed under in the index.
#[derive(Clone, Debug)]
pub(crate) struct Tokens {
    /// First those of [`Self::facets`], then ledger and idempotency key, for which PostgreSQL has indexes of their own.
    text: String,
    facets_bytes: usize,
}

impl Tokens {
    /// Of an event of a ledger, with the identity of its idempotency key.
    pub(crate) fn of(ledger_id: i64, facets: &Facets<'_>, hash: Option<&[u8]>) -> Self {
        /// More than most events need.
        const TOKENS_BYTES: usize = 416;
        let mut text = String::with_capacity(TOKENS_BYTES);
        push_facet_tokens(&mut text, ledger_id, facets);
        let facets_bytes = text.len();
        text.push(' ');
        push_identity_tokens(&mut text, ledger_id, hash);
        Self { text, facets_bytes }
    }

    /// All of them, as SQLite's index takes them.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// What [`Self::as_str`] is.
    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// Field values and search words, on both databases.
    pub(crate) fn facets(&self) -> &str {
        &self.text[..self.facets_bytes]
    }
}

impl NewEvent {
    /// Prepares a record for `destination`. `facets` are those of the redacted event; `idempotency` is the key with
    /// the digest of the event as it was sent.
    pub fn new(
        destination: &Destination,
        record: Record,
        facets: &Facets<'_>,
        idempotency: Option<(&str, SentDigest)>,
    ) -> Self {
        let idempotency = idempotency.map(|(key, digest)| Idempotency {
            hash: idempotency_hash(key),
            digest,
        });
        let hash = idempotency
            .as_ref()
            .map(|idempotency| idempotency.hash.as_slice());
        Self {
            tokens: Tokens::of(destination.ledger_id.0, facets, hash),
            action: facets.action.to_string(),
            record,
            idempotency,
            watches: Vec::new(),
        }
    }

    /// The same event, to be counted for these groups.
    #[must_use]
    pub fn watched(self, watches: Vec<Watch>) -> Self {
        Self { watches, ..self }
    }

    /// About how many bytes it holds in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.record.canonical().len() + self.tokens.as_str().len() + self.action.len() + 256
    }
}

/// The identity of an idempotency key.
pub(crate) fn idempotency_hash(key: &str) -> KeyHash {
    let digest: [u8; 32] = Sha256::digest(key.as_bytes()).into();
    let mut hash = KeyHash::default();
    hash.copy_from_slice(&digest[..16]);
    hash
}

/// What became of one event of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appended {
    /// Stored, under this id.
    Stored(EventId),
    /// An event with this idempotency key and content is there already, under this id.
    Repeated(EventId),
    /// An event with this idempotency key and other content is there already, under this id.
    Conflicting(EventId),
}

/// How events come to a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// They were sent: they use up the daily limit, and their stamps follow those before them.
    Sent,
    /// They were claimed: they keep the stamps that their senders know, and were counted where they come from.
    Claimed,
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

    /// The identities of the idempotency keys of its events.
    pub(crate) fn key_hashes(&self) -> impl Iterator<Item = KeyHash> {
        let keys = self.events.iter().filter_map(|event| event.idempotency);
        keys.map(|key| key.hash)
    }
}

/// What a writer knows without asking the database, and can read there at any time.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// On SQLite. Without them every key is looked for.
    pub(crate) keys: Option<sqlite::SeenKeys>,
    /// On PostgreSQL.
    pub(crate) lookups: postgres::KeyLookups,
    pub(crate) actions: KnownActions,
    pub(crate) begun: Arc<BegunTiles>,
}

impl Known {
    /// What one knows who goes on writing, beside others.
    pub(crate) fn of_writer(begun: Arc<BegunTiles>) -> Self {
        Self {
            keys: Some(sqlite::SeenKeys::default()),
            begun,
            ..Self::default()
        }
    }

    /// Takes note of what was committed.
    pub(crate) fn committed(&mut self, rows: &[plan::NewRow]) {
        self.actions.committed();
        if let Some(keys) = &mut self.keys {
            keys.committed(rows);
        }
    }
}

/// Decides what becomes of requests and writes it, within a transaction, after [`ledgers::read_before`].
pub(crate) fn append(
    rows: &mut Rows<'_>,
    requests: Vec<AppendRequest>,
    mut before: Before,
    known: &mut Known,
) -> Result<Plan> {
    let (connection, index_cache) = (&mut *rows.connection, rows.index_cache);
    before.keys = match connection {
        AnyConnection::Sqlite(sqlite) => {
            sqlite::find_keys(sqlite, &requests, &before.heads, known.keys.as_mut(), index_cache)?
        }
        AnyConnection::Postgres(postgres) => {
            let keys = postgres::find_keys(postgres, &requests)?;
            known.lookups.found(keys.len());
            keys
        }
    };
    before.remembered = watch::read_remembered(connection, &requests)?;
    let mut plan = plan::plan(requests, before);
    if plan.rows.is_empty() {
        return Ok(plan);
    }
    let heads = ledgers::grow(connection, &mut plan, &known.begun)?;
    match connection {
        AnyConnection::Sqlite(sqlite) => {
            plan.left = Some(sqlite::write(
                sqlite,
                &plan,
                &heads,
                &mut known.actions,
                index_cache,
            )?);
        }
        AnyConnection::Postgres(postgres) => {
            postgres::write(postgres, &plan, &heads, Vec::new(), &mut known.actions)?;
        }
    }
    write_beside(connection, &plan, &heads)?;
    Ok(plan)
}

/// Writes what events have done beside being stored, once the heads of their ledgers are locked.
fn write_beside(connection: &mut AnyConnection, plan: &Plan, heads: &[NewHead]) -> Result<()> {
    for head in heads {
        insert_tiles(connection, head.ledger_id, &head.tiles)?;
    }
    watch::write_remembered(connection, plan)?;
    insert_alerts(connection, &plan.alerts)?;
    insert_deliveries(connection, &plan.deliveries)
}

/// What became of the events of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppendedEvents {
    /// In their order.
    pub events: Vec<Appended>,
    /// The size of a tree that has all of them.
    pub log_size: u64,
}

/// What became of the events of one request.
pub type AppendOutcome = Result<AppendedEvents>;
