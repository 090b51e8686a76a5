//! What this process knows of the lifecycle events of ledgers.

use crate::error::{AppError, Result};
use audit_domain::{Lifecycle, Timestamp};
use audit_store::LedgerId;
use parking_lot::Mutex;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// The maximum number of lifecycle events of a ledger that are read.
pub(crate) const CHAIN_EVENTS_MAX: usize = 10_000;
/// How many lifecycle events a ledger may have for a plan to begin. The rest is for what keeps events: who fills the chain must not be
/// able to prevent a hold.
pub(crate) const PLANNED_EVENTS_MAX: usize = 9_800;
/// How many lifecycle events a ledger may have for requests to add another one that does not keep events.
pub(crate) const REQUESTED_EVENTS_MAX: usize = 9_000;
/// The lifecycle events of all ledgers that are cached, at most. One has about 1 KiB.
const CACHED_EVENTS_MAX: u64 = 50_000;

/// A lifecycle event, whose content hash and inclusion were verified.
#[derive(Clone, Debug)]
pub(crate) struct ChainEvent {
    pub(crate) seq: u64,
    /// When the log received it.
    pub(crate) at: Timestamp,
    pub(crate) event: Map<String, Value>,
}

impl ChainEvent {
    /// The text of a member of the event.
    pub(crate) fn member(&self, name: &str) -> &str {
        self.event.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// The id of the actor: of a key, or `operator` or `audit-server`.
    pub(crate) fn by(&self) -> &str {
        let actor = self.event.get("actor");
        actor
            .and_then(|actor| actor.get("id")?.as_str())
            .unwrap_or_default()
    }

    pub(crate) fn metadata(&self, name: &str) -> Option<&Value> {
        self.event.get("metadata")?.get(name)
    }

    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.metadata(name)?.as_u64()
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.metadata(name)?.as_str()
    }
}

/// The lifecycle events of a ledger, up to the one that its head names.
pub(crate) struct LedgerLifecycle {
    /// What they say together.
    pub(crate) fold: Lifecycle,
    /// The position of the newest one.
    pub(crate) lifecycle_seq: Option<u64>,
    /// Ascending by position.
    pub(crate) events: Vec<ChainEvent>,
}

impl LedgerLifecycle {
    /// Refuses another event where the ledger has `events_max`.
    ///
    /// # Errors
    /// [`AppError::Forbidden`].
    pub(crate) fn check_room(&self, events_max: usize) -> Result<()> {
        if self.events.len() < events_max {
            return Ok(());
        }
        let message = format!(
            "the log has {events_max} events of retention, holds and erasures, and takes no more of this kind"
        );
        Err(AppError::Forbidden(message))
    }

    /// The lifecycle event at this position.
    pub(crate) fn event(&self, seq: u64) -> Option<&ChainEvent> {
        let index = self.events.binary_search_by_key(&seq, |event| event.seq).ok()?;
        self.events.get(index)
    }
}

audit_domain::words! {
    /// What holds a removal back.
    pub enum WaitingFor {
        /// The operator has to confirm how far the next plan reaches.
        Confirmation = "confirmation",
        /// The clock was changed, or the server was stopped for long.
        Clock = "clock",
        /// The newest time stamp of an anchor is too old.
        TimeStamp = "time_stamp",
        /// The event of the plan or removal is under no signed checkpoint yet.
        Signature = "signature",
        /// The checkpoint has no quorum of witnesses yet.
        Quorum = "quorum",
        /// A destination has not taken all events of the plan.
        Destination = "destination",
        /// No archive that the log names has all events of the plan.
        Archive = "archive",
    }
}

/// What this process knows of the lifecycle of ledgers.
pub(crate) struct Lifecycles {
    pub(super) chains: Cache<LedgerId, Arc<LedgerLifecycle>, ChainLength>,
    waiting: Mutex<HashMap<Waiting, WaitingFor>>,
}

/// A ledger whose plan, or next plan, of retention waits, or an erasure of it by its number.
pub(crate) type Waiting = (LedgerId, Option<u32>);

/// Weighs a chain by its events.
#[derive(Clone, Debug)]
pub(super) struct ChainLength;

impl Weighter<LedgerId, Arc<LedgerLifecycle>> for ChainLength {
    fn weight(&self, _: &LedgerId, chain: &Arc<LedgerLifecycle>) -> u64 {
        chain.events.len() as u64 + 1
    }
}

impl Default for Lifecycles {
    fn default() -> Self {
        Self {
            chains: Cache::with_weighter(1_000, CACHED_EVENTS_MAX, ChainLength),
            waiting: Mutex::default(),
        }
    }
}

impl Lifecycles {
    /// Notes what holds back a plan or an erasure; `None` for nothing.
    pub(crate) fn note_waiting(&self, of: Waiting, waiting_for: Option<WaitingFor>) {
        let mut waiting = self.waiting.lock();
        match waiting_for {
            Some(waiting_for) => drop(waiting.insert(of, waiting_for)),
            None => drop(waiting.remove(&of)),
        }
    }

    /// What [`Self::note_waiting`] has noted last.
    pub(crate) fn waiting_for(&self, of: Waiting) -> Option<WaitingFor> {
        self.waiting.lock().get(&of).copied()
    }
}
