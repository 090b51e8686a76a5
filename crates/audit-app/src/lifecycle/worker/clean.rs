//! What follows the rows of a removal: alerts, events that were set aside, the names of tenants, the index, and the space. And the
//! records of a removal that was cancelled. Each step can be repeated.

use super::taken::{Outcome, Taken};
use crate::error::{AppError, Result};
use crate::service::AuditLog;
use audit_domain::{DEFAULT_DAYS, EventFilter, EventOrder, Facet, Month, PageLimit, ReceivedBefore};
use audit_ledger::MapPart;
use audit_store::{CellId, EventQuery, LedgerId, Reader, RemovalState, StoredTenantLog, Writer};
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Instant;

/// The most rows of one step.
const STEP_ROWS_MAX: i64 = 500;
/// The most rows of records of one step.
const STEP_TILES_MAX: i64 = 64;
/// The tiles of which the tenants are looked for in one step.
const READ_TILES_MAX: usize = 4;
/// The most months of a removal: 100 years.
const MONTHS_MAX: i32 = 1_200;

/// Goes on until nothing is left, the index is behind, or the turn of the removal is over.
pub(super) fn clean(taken: &mut Taken<'_>) -> Result<Outcome> {
    let ledger_id = taken.row.ledger_id;
    let lifecycle = taken.service.lifecycle(taken.scope)?;
    let mut removals = lifecycle.fold.removals();
    let removal = removals.find(|(seq, ..)| Some(*seq) == taken.row.event_seq);
    let (_, _, removal) = removal.ok_or_else(|| taken.other_row())?;
    // An alert may show what a hold keeps.
    let is_held = lifecycle.fold.holds().next().is_some();
    if let Some(before) = removal
        .received_before
        .get(DEFAULT_DAYS)
        .copied()
        .filter(|_| !is_held)
        && !repeat(taken, move |writer| {
            Ok(writer.delete_alerts_before(ledger_id, before, STEP_ROWS_MAX)?)
        })?
    {
        return Ok(Outcome::Later);
    }
    let seqs = taken.row.seqs.clone();
    let set_aside = move |writer: &mut Writer<'_>| -> Result<usize> {
        Ok(writer.delete_set_aside_of(ledger_id, seqs.clone(), STEP_ROWS_MAX)?)
    };
    if !repeat(taken, set_aside)? {
        return Ok(Outcome::Later);
    }
    let months = months(taken, &removal.received_before)?;
    if let Some((first, last)) = months.first().zip(months.last())
        && has_removed_rows(taken, *first, *last)?
    {
        return Ok(Outcome::Waits(None));
    }
    if !forget_tenants(taken)? {
        return Ok(Outcome::Later);
    }
    loop {
        let started = Instant::now();
        if !taken.service.store.give_back_space(&months)? {
            return taken.enter(RemovalState::Done);
        }
        if !taken.has_time() {
            return Ok(Outcome::Later);
        }
        taken.pace(started);
    }
}

impl AuditLog {
    /// Gives the space of removed events in all cells back to the system.
    ///
    /// # Errors
    /// When a database fails.
    pub fn give_back_space(self: &Arc<Self>) -> Result<()> {
        self.give_back_own_space()?;
        for cell in self.cells()?.iter().filter(|cell| cell.id != CellId::HOME) {
            self.cell(cell.id)?.give_back_own_space()?;
        }
        Ok(())
    }

    fn give_back_own_space(&self) -> Result<()> {
        let month = Month::of(self.clock.now());
        let months: BTreeSet<Month> = (0..MONTHS_MAX).map(|back| month.plus(-back)).collect();
        while self.store.give_back_space(&months)? {}
        Ok(())
    }
}

/// Deletes the records of a removal that was cancelled, and its row.
pub(super) fn discard(taken: &mut Taken<'_>) -> Result<Outcome> {
    let (ledger_id, number) = (taken.row.ledger_id, taken.row.number);
    loop {
        let deleted = taken.step(taken.row.clone(), move |writer| {
            Ok(writer.delete_records(ledger_id, number, STEP_TILES_MAX)?)
        })?;
        match deleted as i64 {
            STEP_TILES_MAX.. if taken.has_time() => {}
            STEP_TILES_MAX.. => return Ok(Outcome::Later),
            _ => return taken.drop_row(),
        }
    }
}

/// Repeats a step until it finds fewer rows than its limit. Returns whether it has, before the turn is over.
fn repeat(
    taken: &mut Taken<'_>,
    step: impl Fn(&mut Writer<'_>) -> Result<usize> + Clone + Send + 'static,
) -> Result<bool> {
    while taken.has_time() {
        let found = taken.step(taken.row.clone(), step.clone())?;
        if (found as i64) < STEP_ROWS_MAX {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The months that have the range of a removal.
fn months(taken: &Taken<'_>, received_before: &ReceivedBefore) -> Result<BTreeSet<Month>> {
    let latest = received_before.values().max();
    let mut month = latest.map_or(Month::MIN, |latest| Month::of(*latest));
    let (ledger_id, start) = (taken.row.ledger_id, taken.row.seqs.start);
    let mut months = BTreeSet::from([month]);
    taken.service.store.read(|reader| {
        let is_behind = |first: Option<u64>| first.is_none_or(|first| first > start);
        while months.len() < MONTHS_MAX as usize && is_behind(reader.first_seq_of_month(ledger_id, month)?) {
            month = month.plus(-1);
            months.insert(month);
        }
        Ok::<_, AppError>(())
    })?;
    Ok(months)
}

/// Whether the index still has rows whose events were removed.
fn has_removed_rows(taken: &Taken<'_>, first: Month, last: Month) -> Result<bool> {
    let months = first..last.plus(1);
    Ok(taken
        .service
        .store
        .read(|reader| reader.has_removed_rows(months.clone()))?)
}

/// Removes the names of the tenants that have no event left. Returns whether it has looked at all, before the turn is over.
fn forget_tenants(taken: &mut Taken<'_>) -> Result<bool> {
    let (ledger_id, end) = (taken.row.ledger_id, taken.row.seqs.end);
    let mut known = HashSet::new();
    while taken.row.cursor_seq < end {
        if !taken.has_time() {
            return Ok(false);
        }
        let records = taken.records_from(taken.row.cursor_seq, READ_TILES_MAX)?;
        let slots = records.iter().map(|record| record.slot);
        let slots: BTreeSet<u64> = slots.filter(|slot| known.insert(*slot)).collect();
        let gone = taken
            .service
            .store
            .query(|reader| without_events(reader, ledger_id, &slots))?;
        let next = records.last().map_or(end, |last| last.seq + 1);
        taken.step(taken.at(next), move |writer| {
            for log in &gone {
                // Not where the tenant has a new event.
                writer.forget_tenant(ledger_id, log)?;
            }
            Ok(())
        })?;
    }
    Ok(true)
}

/// The logs of the tenants at these positions of the map that have no event.
fn without_events(
    reader: &mut Reader<'_>,
    ledger_id: LedgerId,
    slots: &BTreeSet<u64>,
) -> Result<Vec<StoredTenantLog>> {
    let mut logs = reader.tenant_logs(ledger_id, MapPart::buckets_of(slots.iter().copied()))?;
    logs.retain(|log| slots.contains(&log.slot.cast_unsigned()) && !log.tenant_id.is_empty());
    let mut gone = Vec::new();
    for log in logs {
        if !has_events(reader, ledger_id, &log.tenant_id)? {
            gone.push(log);
        }
    }
    Ok(gone)
}

fn has_events(reader: &mut Reader<'_>, ledger_id: LedgerId, tenant_id: &str) -> Result<bool> {
    let mut query = EventQuery {
        ledger_id,
        filter: EventFilter::of(Facet::TenantId, tenant_id),
        tier: None,
        order: EventOrder::Descending,
        after: None,
        limit: PageLimit::DEFAULT,
    };
    loop {
        let page = reader.events(&query)?;
        if !page.events.is_empty() {
            return Ok(true);
        }
        match page.next {
            Some(next) => query.after = Some(next),
            None => return Ok(false),
        }
    }
}
