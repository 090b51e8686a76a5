//! The next events of a log, by tenant: from memory where this process has just committed them, or else from the database.

use super::progress::STEP_EVENTS_MAX;
use super::{MapFailure, MappedLog};
use crate::error::AppError;
use crate::service::AuditLog;
use audit_domain::{ContentHash, Facet, LogName};
use audit_ledger::{Frontier, Hash, TreeHead};
use audit_store::{LedgerId, LoggedEvent, RecentEvent, StoreError};
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

/// The number of tenants after which a change gets no more events: the leaves of a tenant take up to 8 KiB of memory.
const STEP_TENANTS_MIN: usize = 2_000;
/// The maximum number of events of one read.
const READ_EVENTS_MAX: u64 = 500;

/// An event of the log is not the one that was signed.
#[derive(Debug, thiserror::Error)]
#[error("event {seq} is not as it was appended")]
struct AlteredEvent {
    seq: u64,
}

/// The next events of a log, by tenant.
pub(super) struct Batch {
    /// The right edge of the log's tree behind them.
    pub(super) log: Frontier,
    /// Position in the log and leaf hash of each event.
    pub(super) tenants: BTreeMap<String, Vec<(u64, Hash)>>,
}

impl Batch {
    fn add(&mut self, tenant_id: Cow<'_, str>, leaf: Hash) {
        let event = (self.log.append(leaf), leaf);
        match self.tenants.get_mut(&*tenant_id) {
            Some(events) => events.push(event),
            None => drop(self.tenants.insert(tenant_id.into_owned(), vec![event])),
        }
    }
}

impl AuditLog {
    /// The events between an edge of the log and a signed head, if this process has them in memory and they lead to the head. After
    /// a failover they may be others, which are then forgotten.
    pub(super) fn verified_recent(
        &self,
        ledger_id: LedgerId,
        edge: &Frontier,
        head: &TreeHead,
    ) -> VecDeque<RecentEvent> {
        let recent = self.store.take_recent_events(ledger_id, edge.size()..head.size);
        let mut tree = edge.clone();
        for event in recent.iter().flatten() {
            tree.append(event.leaf);
        }
        recent.filter(|_| tree.head() == *head).unwrap_or_default()
    }

    /// The next events of a log of this size.
    pub(super) fn next_events(
        &self,
        mapped: &MappedLog,
        log: Frontier,
        size: u64,
        recent: &mut VecDeque<RecentEvent>,
    ) -> Result<Batch, MapFailure> {
        let end = size.min(log.size() + STEP_EVENTS_MAX);
        let mut batch = Batch {
            log,
            tenants: BTreeMap::new(),
        };
        while batch.log.size() < end && batch.tenants.len() < STEP_TENANTS_MIN {
            // Another process may have added some of them to the map.
            recent.retain(|event| event.seq >= batch.log.size());
            match recent.front().is_some_and(|event| event.seq == batch.log.size()) {
                true => add_recent(&mut batch, recent, end),
                false => self.add_stored(mapped, &mut batch, end)?,
            }
        }
        Ok(batch)
    }

    /// Adds the next events as they were hashed.
    fn add_stored(&self, mapped: &MappedLog, batch: &mut Batch, end: u64) -> Result<(), MapFailure> {
        let what = "name of a ledger";
        let name = LogName::of_origin(mapped.origin.as_str())
            .ok_or_else(|| AppError::inconsistent(StoreError::Damaged { what }))?;
        let start = batch.log.size();
        let limit = (end - start).min(READ_EVENTS_MAX) as usize;
        let events = self
            .store
            .query(|reader| reader.logged_events(mapped.ledger_id, start, limit))?;
        if events.len() < limit {
            let seq = start + events.len() as u64;
            return Err(AppError::inconsistent(AlteredEvent { seq }).into());
        }
        for logged in &events {
            let (tenant_id, leaf) = tenant_and_leaf(logged, &name, batch.log.size())?;
            batch.add(tenant_id, leaf);
        }
        Ok(())
    }
}

/// Adds events that [`AuditLog::verified_recent`] has returned.
fn add_recent(batch: &mut Batch, recent: &mut VecDeque<RecentEvent>, end: u64) {
    while batch.log.size() < end
        && batch.tenants.len() < STEP_TENANTS_MIN
        && let Some(event) = recent.pop_front()
    {
        batch.add(event.tenant_id.into(), event.leaf);
    }
}

/// The tenant and the leaf hash of an event, which must be the one at this position, by its text.
fn tenant_and_leaf<'a>(
    logged: &'a LoggedEvent,
    log: &LogName,
    seq: u64,
) -> Result<(Cow<'a, str>, Hash), MapFailure> {
    let event = &logged.event;
    let computed = ContentHash::of(&event.canonical, &event.content_salt, log);
    if logged.seq != seq || computed != Some(event.content_hash) {
        return Err(AppError::inconsistent(AlteredEvent { seq }).into());
    }
    let mut facets = event.facets().map_err(AppError::inconsistent)?;
    Ok((facets.take(Facet::TenantId), Hash::of_event(&event.content_hash)))
}
