//! The next events of a log, by tenant: from memory where this process has just committed them, or else from the database. Of a removed
//! event the record has content hash and tenant.

use super::progress::STEP_EVENTS_MAX;
use super::{MapFailure, MappedLog};
use crate::error::AppError;
use crate::service::AuditLog;
use audit_domain::{Facet, LogName};
use audit_ledger::{Frontier, Hash, RemovalRecord, TenantLabel, TreeHead};
use audit_store::{LedgerId, LoggedEvent, RecentEvent, StoreError};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Range;

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
    /// The events of each tenant.
    pub(super) tenants: BTreeMap<TenantLabel, TenantEvents>,
}

/// The next events of a tenant.
#[derive(Default)]
pub(super) struct TenantEvents {
    /// The tenant; empty where all of them were removed.
    pub(super) tenant_id: String,
    /// Position in the log and leaf hash of each event.
    pub(super) events: Vec<(u64, Hash)>,
}

impl Batch {
    fn add(&mut self, label: TenantLabel, tenant_id: &str, leaf: Hash) {
        let event = (self.log.append(leaf), leaf);
        let tenant = self.tenants.entry(label).or_default();
        if tenant.tenant_id.is_empty() {
            tenant.tenant_id.push_str(tenant_id);
        }
        tenant.events.push(event);
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
        tree.extend(
            &recent
                .iter()
                .flatten()
                .map(|event| event.leaf)
                .collect::<Vec<_>>(),
        );
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
                true => add_recent(mapped, &mut batch, recent, end),
                false => self.add_stored(mapped, &mut batch, end)?,
            }
        }
        Ok(batch)
    }

    /// Adds the next events as they were hashed, and the removed ones among them as their records have them.
    fn add_stored(&self, mapped: &MappedLog, batch: &mut Batch, end: u64) -> Result<(), MapFailure> {
        let what = "name of a ledger";
        let name = LogName::of_origin(mapped.origin.as_str())
            .ok_or_else(|| AppError::inconsistent(StoreError::Damaged { what }))?;
        let start = batch.log.size();
        let end = end.min(start + READ_EVENTS_MAX);
        let (events, removed) = self.read_range(mapped.ledger_id, start..end)?;
        let (mut events, mut removed) = (events.iter().peekable(), removed.iter());
        for seq in start..end {
            if let Some(logged) = events.next_if(|logged| logged.seq == seq) {
                let (tenant_id, leaf) = tenant_and_leaf(logged, &name)?;
                batch.add(mapped.key.label(&tenant_id), &tenant_id, leaf);
                continue;
            }
            let record = removed.find(|(record, _)| record.seq >= seq);
            let (record, label) = record
                .filter(|(record, label)| record.seq == seq && record.slot == label.slot())
                .ok_or_else(|| AppError::inconsistent(AlteredEvent { seq }))?;
            batch.add(*label, "", record.leaf());
        }
        Ok(())
    }

    /// The events at these positions, and where some are not there, the records of removed ones with the labels of their tenants.
    fn read_range(
        &self,
        ledger_id: LedgerId,
        seqs: Range<u64>,
    ) -> Result<(Vec<LoggedEvent>, Labelled), MapFailure> {
        let limit = (seqs.end - seqs.start) as usize;
        self.store.query(|reader| {
            let mut events = reader.logged_events(ledger_id, seqs.start, limit)?;
            events.retain(|logged| logged.seq < seqs.end);
            if events.len() == limit {
                return Ok((events, Vec::new()));
            }
            // After the events: a record is stored before its event goes.
            let records = reader.removed_rows(ledger_id, seqs.clone())?;
            let slots: Vec<u64> = records.iter().map(|record| record.slot).collect();
            let labels: HashMap<u64, TenantLabel> = reader.removed_labels(ledger_id, &slots)?;
            let labelled = records
                .into_iter()
                .filter_map(|record| labels.get(&record.slot).map(|label| (record, *label)));
            Ok((events, labelled.collect()))
        })
    }
}

/// Records of removed events, each with the label of its tenant.
type Labelled = Vec<(RemovalRecord, TenantLabel)>;

/// Adds events that [`AuditLog::verified_recent`] has returned.
fn add_recent(mapped: &MappedLog, batch: &mut Batch, recent: &mut VecDeque<RecentEvent>, end: u64) {
    while batch.log.size() < end
        && batch.tenants.len() < STEP_TENANTS_MIN
        && let Some(event) = recent.pop_front()
    {
        batch.add(mapped.key.label(&event.tenant_id), &event.tenant_id, event.leaf);
    }
}

/// The tenant and the leaf hash of an event by its text.
fn tenant_and_leaf<'a>(logged: &'a LoggedEvent, log: &LogName) -> Result<(Cow<'a, str>, Hash), MapFailure> {
    let event = &logged.event;
    if event.computed_hash(log) != Some(event.content_hash) {
        return Err(AppError::inconsistent(AlteredEvent { seq: logged.seq }).into());
    }
    let mut facets = event.facets().map_err(AppError::inconsistent)?;
    Ok((facets.take(Facet::TenantId), Hash::of_event(&event.content_hash)))
}
