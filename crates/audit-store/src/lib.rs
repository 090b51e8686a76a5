//! Storage of the audit log, on embedded SQLite or on PostgreSQL.
//!
//! ```
//! # use audit_domain::{Clock, OrganizationId, Plan, Timestamp};
//! # use std::sync::Arc;
//! use audit_store::{DatabaseUrl, Deployment, Organization, Store, StoreError, StoreOptions};
//!
//! let folder = tempfile::tempdir()?;
//! let url = DatabaseUrl::Sqlite(folder.path().join("audit.db"));
//! let clock: Arc<dyn Clock> = Arc::new(Timestamp::from_seconds(43_200));
//! let key = audit_ledger::HeadKey::new(&[7; 32]);
//! let store = Store::open(&url, StoreOptions::default(), &key, &clock)?;
//! let id = OrganizationId::from_random([1; 16]);
//! let organization = Organization { id, name: "acme".to_owned(), plan: Plan::Free, created_at: clock.now() };
//! store.configure(Deployment, move |configurator| configurator.insert_organization(&organization))?;
//! assert_eq!(store.read(|reader| reader.organization(id))?.unwrap().name, "acme");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A setter of the configuration is available only to `configure`, which draws another version of it; this does not compile:
//!
//! ```compile_fail,E0599
//! # use audit_domain::{KeyId, Timestamp};
//! # use audit_store::{Store, StoreError};
//! fn revoke(store: &Store, id: KeyId, now: Timestamp) -> Result<(), StoreError> {
//!     store.write(move |writer| writer.revoke_key(id, now)) // error: no method `revoke_key`
//! }
//! ```
//!
//! Nor does a setter of a project in a change of another owner, which would leave the project's version as it is:
//!
//! ```compile_fail,E0599
//! # use audit_domain::{KeyId, OrganizationId, Timestamp};
//! # use audit_store::{Store, StoreError};
//! fn revoke(store: &Store, owner: OrganizationId, id: KeyId, now: Timestamp) -> Result<bool, StoreError> {
//!     store.configure(owner, move |configurator| configurator.revoke_key(id, now)) // error: no method `revoke_key`
//! }
//! ```
//!
//! This does:
//!
//! ```
//! # use audit_domain::{KeyId, ProjectId, Timestamp};
//! # use audit_store::{Store, StoreError};
//! fn revoke(store: &Store, owner: ProjectId, id: KeyId, now: Timestamp) -> Result<bool, StoreError> {
//!     store.configure(owner, move |configurator| configurator.revoke_key(id, now))
//! }
//! ```
//!
//! Nor does a write during a read compile:
//!
//! ```compile_fail,E0599
//! # use audit_domain::{KeyId, Timestamp};
//! # use audit_store::{Store, StoreError};
//! fn used(store: &Store, id: KeyId, now: Timestamp) -> Result<(), StoreError> {
//!     store.read(|reader| reader.set_keys_last_used(&[])) // error: no method `set_keys_last_used`
//! }
//! ```
//!
//! Invariants:
//! - A successful write is committed: on SQLite it is synced to disk, on PostgreSQL as the server is configured.
//! - `seq` numbers the events of a ledger in commit order without a gap. Ids increase strictly with it, and times of receipt
//!   never decrease, except for claimed events.
//! - Events that were prepared with an older configuration are never stored.
//! - Reads never wait for a writer, and see everything that was acknowledged before they began.
//!
//! `database.rs` is the seam between the databases. What both share is at the top: the planner and the write path (`append`,
//! `queue`, `writer`), the tree (`tree`), queries (`events`, `search`), and the tables by subject. `sqlite/` and `postgres/`
//! have the code of one database each, and do not use each other (`tests/it/structure.rs`).

mod access;
mod alerts;
mod anchors;
mod append;
mod arrivals;
mod cells;
mod columns;
mod configuration;
mod copy;
mod database;
mod deliveries;
mod destinations;
mod error;
mod events;
mod head_keys;
mod ids;
mod inspection;
mod ledgers;
mod migrate;
mod options;
mod postgres;
mod purge;
mod queue;
mod readers;
mod recent;
mod removals;
mod replica;
mod row_code;
mod schema;
mod search;
mod senders;
mod shortage;
mod signal;
mod sqlite;
mod statements;
mod status;
mod store;
mod streams;
mod tenants;
mod tree;
mod unsigned;
mod waiting;
mod workers;
mod writer;
mod writers;

pub use access::{Configurator, Reader, Writer};
pub use alerts::AlertFilter;
pub use anchors::{AnchorStage, AnchorState, PublishedCheckpoint, StoredAnchor};
pub use append::request::{AppendOutcome, Appended, AppendedEvents, Destination, NewEvent, UnhashedEvent};
pub use append::senders::EventSender;
pub use cells::rows::{Cell, CellId, CellSize, NewCell, OpenClaim, Placement};
pub use configuration::{
    ConfigurationVersion, Deployment, DestinationRow, DestinationStatistics, DueRun, FoundKey, Key,
    KeyTextHash, KeyUse, Organization, Owner, PortalLogoRow, PortalRow, Project, ProjectUpdate,
    RedactionRuleRow, SecretRow, StoredSecret, StoredTier, StoredViewerSecret, WebhookRow, WebhookSecretRow,
};
pub use copy::rows::SourceLedger;
pub use copy::{CopyOptions, DatabaseCopy, FinalCopy, FoundCopy, OpenSecret};
pub use database::{DatabaseUrl, DatabaseUrlError, require_unused};
pub use deliveries::rows::{AttemptRow, DELIVERY_OF_ALERT, DELIVERY_PENDING, DeliveryRow};
pub use deliveries::{AfterAttempt, AlertLedgers, LeasedDelivery, PendingCount, ReadyWebhook};
pub use destinations::{
    ATTEMPT_DELAY_SECONDS_MAX, DestinationRunRow, MAIN_RUN, STREAM_CHECKPOINT_SECONDS, SetAsideRow,
    TIME_AHEAD_SECONDS_MAX,
};
pub use error::StoreError;
pub use events::{
    EventPage, EventQuery, EventSummary, FetchSize, FrequentValues, LoggedEvent, PAGE_BYTES_MAX,
    PAGE_CANDIDATES_MAX, SummaryBucket, SummaryQuery, SummaryRefusal, TOP_EVENTS_MAX,
};
pub use head_keys::{ChosenHeadKey, HeadKeys, StoredHeadKey};
pub use ids::{LedgerId, StreamTokenHash};
pub use inspection::{
    LedgerNames, StoredAlert, StoredLedger, StoredRemoval, StoredRow, StrayEvent, inspect, verify_index,
};
pub use ledgers::LedgerCount;
pub use migrate::{MigrationWork, PendingMigration, SchemaComparison, compare_schema};
pub use options::{QueueLimits, StoreOptions};
pub use purge::GroupKey;
pub use queue::{AnonymousStreams, Turn};
pub use recent::RecentEvent;
pub use removals::{
    ErasedRow, ErasureRequest, REMOVAL_LEASE_SECONDS_MAX, RemovalRow, RemovalState, RestoredRow, SampledAlert,
};
pub use replica::{LogEnd, ReplicaStatistics};
pub use row_code::RowCodes;
pub use search::verification::{EventPlace, IndexFinding, IndexReport};
pub use senders::{KeySenders, SentEvent, SentPage, StoredSender};
pub use sqlite::backup::{SourceSchema, check_copy, copy_snapshot};
pub use status::{DatabaseSettings, KindSettings, PostgresSettings, StorageStatus};
pub use store::{Store, StoreStatistics};
pub use streams::{NewStreamEvent, StreamClientRow, StreamEvent, StreamRow};
pub use tenants::{
    NewTenantTile, StoredTenantLog, StoredTenantMap, StoredTenantTile, TenantLog, TenantMapChange,
    TenantMapState,
};
pub use tree::{
    CheckpointRow, CosignedRow, NewCheckpoint, NewCosigned, RepairedHead, ScannedLedgers, SigningState,
};
