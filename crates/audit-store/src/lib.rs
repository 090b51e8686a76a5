//! Storage of the audit log, on embedded SQLite or on PostgreSQL.
//!
//! ```
//! # use audit_domain::{Clock, OrganizationId, Plan, Timestamp};
//! # use std::sync::Arc;
//! use audit_store::{DatabaseUrl, Organization, Store, StoreError, StoreOptions};
//!
//! struct Noon;
//! impl Clock for Noon {
//!     fn now(&self) -> Timestamp {
//!         Timestamp::from_seconds(43_200)
//!     }
//! }
//!
//! let folder = tempfile::tempdir()?;
//! let url = DatabaseUrl::Sqlite(folder.path().join("audit.db"));
//! let clock: Arc<dyn Clock> = Arc::new(Noon);
//! let store = Store::open(&url, StoreOptions::default(), &clock)?;
//! let id = OrganizationId::from_random([1; 16]);
//! let organization = Organization { id, name: "acme".to_owned(), plan: Plan::Free, created_at: clock.now() };
//! store.configure(move |rows| rows.insert_organization(&organization))?;
//! assert_eq!(store.read(|rows| rows.organization(id))?.unwrap().name, "acme");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Invariants:
//! - An answer to a write means that it is committed, and synchronised to disk as far as the database promises it.
//! - `seq` counts the events of a ledger in commit order without a gap; ids increase strictly with it, and times of
//!   receipt never decrease, but for claimed events.
//! - What was prepared with keys, rules or limits that have changed since is never stored.
//! - Reads never wait for a writer and see everything that was acknowledged before they began.
//!
//! Queries that both databases understand are written once, over [`AnyConnection`]. What differs: `append/sqlite.rs` and
//! `append/postgres.rs` (batches, locks), `query/sqlite.rs` and `query/postgres.rs` (candidates), `index/sqlite.rs` and
//! `index/postgres.rs` (where the index is kept, and its tail), two lines in `connection.rs` (how a transaction begins),
//! `ledgers.rs` (locking a row), and `event_ids.rs`, which only SQLite needs. What runs for every commit is written out in `statements.rs`.

mod accounts;
mod alert_rules;
mod alerts;
mod append;
mod arrivals;
mod configuration;
mod connection;
mod deliveries;
mod entry;
mod error;
mod event_ids;
mod evidence;
mod heads;
mod index;
mod inspection;
mod key_filter;
mod ledgers;
mod log;
mod migrate;
mod purge;
mod query;
mod queue;
mod redaction_rules;
mod rows;
mod schema;
mod signal;
mod statements;
mod store;
mod streams;
mod tokens;
mod viewers;
mod wal;
mod webhooks;
mod writer;

pub use accounts::{Key, KeyTextHash, Organization, Project};
pub use alert_rules::AlertRuleRow;
pub use alerts::{AlertFilter, AlertRow};
pub use append::{
    AppendOutcome, Appended, AppendedEvents, Counted, Destination, GroupCount, GroupHash, LedgerId, NewEvent,
    SeenEvent, Watch, Watcher,
};
pub use connection::{AnyConnection, DatabaseUrl, DatabaseUrlError};
pub use deliveries::{
    AfterAttempt, AttemptRow, DELIVERY_OF_ALERT, DELIVERY_PENDING, DeliveryRow, LeasedDelivery, PendingCount,
    ReadyWebhook,
};
pub use error::StoreError;
pub use inspection::{StoredLedger, StoredRow, StrayEvent};
pub use log::CheckpointRow;
pub use purge::GroupPlace;
pub use query::{EventPage, EventQuery, LoggedEvent};
pub use queue::QueueLimits;
pub use redaction_rules::RedactionRuleRow;
pub use rows::Rows;
pub use store::{Store, StoreOptions, StoreStatistics};
pub use streams::{NewStreamEvent, StreamClientRow, StreamEvent, StreamRow, StreamTokenHash};
pub use viewers::{StoredTier, StoredViewerSecret};
pub use webhooks::{WebhookRow, WebhookSecretRow};
