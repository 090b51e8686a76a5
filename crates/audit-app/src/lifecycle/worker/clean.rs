//! What follows the rows of a removal: alerts, events that were set aside, the names of tenants, the index, and the space. And the
//! records of a removal that was cancelled. Each step can be repeated.

use super::taken::{Outcome, Taken};
use crate::error::{AppError, Result};
use crate::service::AuditLog;
use audit_domain::{DEFAULT_DAYS, EventFilter, EventOrder, Facet, Month, PageLimit, Timestamp};
use audit_ledger::{MapPart, RemovalKind, RemovalRecord};
use audit_store::{
    CellId, EventQuery, LedgerId, Reader, RemovalState, SampledAlert, StoredTenantLog, Writer,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashSet};
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
    let is_erasure = taken.row.kind == RemovalKind::Erasure;
    let months = match is_erasure {
        true => Some((erased_months(taken)?, BTreeSet::new())),
        false => clean_alerts(taken)?,
    };
    let Some((months, restored)) = months else {
        return Ok(Outcome::Later);
    };
    let seqs = taken.row.seqs.clone();
    let set_aside = move |writer: &mut Writer<'_>| -> Result<usize> {
        Ok(writer.delete_set_aside_of(ledger_id, seqs.clone(), STEP_ROWS_MAX)?)
    };
    if !repeat(taken, set_aside)? {
        return Ok(Outcome::Later);
    }
    if let Some((first, last)) = months.first().zip(months.last())
        && has_removed_rows(taken, *first, *last)?
    {
        return Ok(Outcome::Waits(None));
    }
    let is_begun = taken.row.cursor_seq > taken.row.seqs.start;
    let has_looked = (!is_erasure || is_begun || forget_group_keys(taken)?) && forget(taken)?;
    if !has_looked {
        return Ok(Outcome::Later);
    }
    // All rows were written before.
    let written = Some(taken.row.changed_at);
    let is_given_back = give_back_space(taken, &months, written.filter(|_| is_erasure))?
        && (restored.is_empty() || give_back_space(taken, &restored, written)?);
    match is_given_back {
        true => taken.enter(RemovalState::Done),
        false => Ok(Outcome::Later),
    }
}

/// Gives the space of months back; with `erased` also that of months that have lost few rows. Returns whether it was done before the
/// end of the turn.
fn give_back_space(
    taken: &mut Taken<'_>,
    months: &BTreeSet<Month>,
    erased: Option<Timestamp>,
) -> Result<bool> {
    loop {
        let started = Instant::now();
        if !taken.service.store.give_back_space(months, erased)? {
            return Ok(true);
        }
        if !taken.has_time() {
            return Ok(false);
        }
        taken.pace(started);
    }
}

/// Deletes the alerts of a removal by retention. Returns the months of its range, and those of them with rows that were put back before:
/// how many a month has had does not tell what these left. `None` where its turn was over before.
fn clean_alerts(taken: &mut Taken<'_>) -> Result<Option<(BTreeSet<Month>, BTreeSet<Month>)>> {
    let ledger_id = taken.row.ledger_id;
    let lifecycle = taken.service.lifecycle(taken.scope)?;
    let mut removals = lifecycle.fold.removals();
    let removal = removals.find(|(seq, ..)| Some(*seq) == taken.row.event_seq);
    let (removal_seq, _, removal) = removal.ok_or_else(|| taken.other_row())?;
    // An alert may show what a hold keeps.
    let is_held = lifecycle.fold.holds().next().is_some();
    let before = removal.received_before.get(DEFAULT_DAYS).copied();
    if let Some(before) = before.filter(|_| !is_held)
        && !repeat(taken, move |writer| {
            Ok(writer.delete_alerts_before(ledger_id, before, STEP_ROWS_MAX)?)
        })?
    {
        return Ok(None);
    }
    let latest = removal.received_before.values().max();
    let latest = latest.map_or(Month::MIN, |latest| Month::of(*latest));
    let (mut all, mut restored, mut end) = (BTreeSet::new(), BTreeSet::new(), u64::MAX);
    for (month, first) in months(taken, latest)? {
        let first = first.unwrap_or(end);
        let fold = &lifecycle.fold;
        let mut before = fold
            .restored()
            .filter(|(at, own)| *at < removal_seq && fold.hold(&own.hold).is_none());
        if before.any(|(_, own)| own.seqs.start < end && first < own.seqs.end) {
            restored.insert(month);
        }
        all.insert(month);
        end = first;
    }
    Ok(Some((all, restored)))
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
        while self.store.give_back_space(&months, None)? {}
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

/// The months from the latest one back to the one that has the first position of a removal, each with the first position of it or of a later
/// month.
fn months(taken: &Taken<'_>, latest: Month) -> Result<Vec<(Month, Option<u64>)>> {
    let (ledger_id, start) = (taken.row.ledger_id, taken.row.seqs.start);
    taken.service.store.read(|reader| {
        let mut months = Vec::new();
        for back in 0..MONTHS_MAX {
            let month = latest.plus(-back);
            let first = reader.first_seq_of_month(ledger_id, month)?;
            months.push((month, first));
            if first.is_some_and(|first| first <= start) {
                break;
            }
        }
        Ok::<_, AppError>(months)
    })
}

/// The months that have the records of an erasure.
fn erased_months(taken: &Taken<'_>) -> Result<BTreeSet<Month>> {
    let mut starts = BTreeMap::new();
    for (month, first) in months(taken, Month::of(taken.service.clock.now()))? {
        // Of an empty month, the first position is that of the next one.
        starts.entry(first.unwrap_or(u64::MAX)).or_insert(month);
    }
    let (mut found, mut next) = (BTreeSet::new(), 0);
    loop {
        let records = taken.records_from(next, STEP_TILES_MAX as usize)?;
        let Some(last) = records.last() else {
            return Ok(found);
        };
        next = last.seq + 1;
        let month_of = |record: &RemovalRecord| starts.range(..=record.seq).next_back();
        found.extend(records.iter().filter_map(month_of).map(|(_, month)| *month));
    }
}

/// Whether the index still has rows whose events were removed.
fn has_removed_rows(taken: &Taken<'_>, first: Month, last: Month) -> Result<bool> {
    let months = first..last.plus(1);
    Ok(taken
        .service
        .store
        .read(|reader| reader.has_removed_rows(months.clone()))?)
}

/// Has the alerts forget the groups whose events an erasure took out of them. Returns whether it has looked at all.
fn forget_group_keys(taken: &mut Taken<'_>) -> Result<bool> {
    let (service, ledger_id) = (taken.service, taken.row.ledger_id);
    let erasure = taken.row.event_seq.ok_or_else(|| taken.other_row())?;
    let has_rows = taken.row.request.as_ref().is_some_and(|request| request.rows > 0);
    let mut after = None;
    while !taken.is_stopping() {
        let alerts = service
            .store
            .query(|reader| reader.alerts_with_samples(ledger_id, after, STEP_ROWS_MAX))?;
        let Some(last) = alerts.last() else {
            return Ok(true);
        };
        after = Some(last.id);
        let named = service.store.query(|reader| {
            let mut named = Vec::new();
            for alert in &alerts {
                if names_erased(reader, ledger_id, alert, (erasure, has_rows))? {
                    named.push(alert.id);
                }
            }
            Ok::<_, AppError>(named)
        })?;
        taken.step(taken.row.clone(), move |writer| {
            Ok(writer.forget_group_keys(ledger_id, &named)?)
        })?;
    }
    Ok(false)
}

/// Whether an alert names what an erasure took out of one of its events. One that is gone may be one that an erasure of whole rows took.
fn names_erased(
    reader: &mut Reader<'_>,
    ledger_id: LedgerId,
    alert: &SampledAlert,
    (erasure, has_rows): (u64, bool),
) -> Result<bool> {
    for id in &alert.samples {
        let Some(logged) = reader.event(ledger_id, *id)? else {
            if has_rows {
                return Ok(true);
            }
            continue;
        };
        let salt = &logged.event.content_salt;
        let is_erased = salt
            .erased()
            .is_some_and(|parts| parts.erasures().contains(&erasure));
        if is_erased && !has_text(&Value::Object(logged.event.to_stored_object()?), &alert.group_key) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a string of a value is this one.
fn has_text(value: &Value, text: &str) -> bool {
    match value {
        Value::String(own) => own == text,
        Value::Array(values) => values.iter().any(|value| has_text(value, text)),
        Value::Object(members) => members.values().any(|value| has_text(value, text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Removes the names of the tenants that have no event left, and of an erasure what receivers have said of its events. Returns whether it has
/// looked at all, before the turn is over.
fn forget(taken: &mut Taken<'_>) -> Result<bool> {
    let is_erasure = taken.row.kind == RemovalKind::Erasure;
    let (ledger_id, end) = (taken.row.ledger_id, taken.row.seqs.end);
    let mut known = HashSet::new();
    while taken.row.cursor_seq < end {
        if !taken.has_time() {
            return Ok(false);
        }
        let records = taken.records_from(taken.row.cursor_seq, READ_TILES_MAX)?;
        let slots = records
            .iter()
            .filter(|record| record.mask.is_row())
            .map(|record| record.slot);
        let slots: BTreeSet<u64> = slots.filter(|slot| known.insert(*slot)).collect();
        let gone = taken
            .service
            .store
            .query(|reader| without_events(reader, ledger_id, &slots))?;
        let next = records.last().map_or(end, |last| last.seq + 1);
        taken.step(taken.at(next), move |writer| {
            if is_erasure {
                let seqs: Vec<u64> = records.iter().map(|record| record.seq).collect();
                writer.forget_refusals(ledger_id, &seqs)?;
            }
            for log in &gone {
                // Not where the tenant has a new event.
                if writer.forget_tenant(ledger_id, log)? && is_erasure {
                    writer.forget_tenant_of_alerts(ledger_id, &log.tenant_id)?;
                }
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
