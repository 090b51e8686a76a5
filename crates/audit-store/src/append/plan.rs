//! The plan of one commit: the outcome of every event, and the rows to write. Pure: each database supplies the stored state
//! and writes the plan.

use super::alert_groups::{AlertGroups, Counts, RaisedAlert};
use super::idempotency::{Idempotency, KnownEvent, KnownKey, KnownKeys};
use super::months::months_of;
use super::request::{AppendOutcome, AppendRequest, Appended, AppendedEvents, Destination, NewEvent, Origin};
use crate::deliveries::rows::DeliveryRow;
use crate::error::StoreError;
use crate::ids::LedgerId;
use crate::ledgers::head::{Head, HeadId, LedgerMonth};
use crate::row_code::{CodedRow, RowCode, RowCodes};
use audit_alerts::CountedEvent;
use audit_domain::{
    Comparison, Environment, EventId, IdempotencyWindow, LifecycleEvent, Month, Stamp, Timestamp,
};
use audit_ledger::{Growth, Hash};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Deliveries that the commit of a request writes with its alerts, at most: those of a few alerts are there at once, and those of
/// many alerts to many webhooks delay no other request. The dispatcher writes the others.
pub(crate) const REQUEST_DELIVERIES_MAX: usize = 64;

/// Why a ledger is not appended to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefusedHead {
    /// The service did not write its head.
    Forged,
    /// It has fewer events than were acknowledged when it could not be signed.
    CutOff,
}

/// The stored state that the requests of a commit depend on.
#[derive(Debug, Default)]
pub(crate) struct Before {
    /// The heads of the ledgers that are appended to.
    pub(crate) heads: HashMap<LedgerId, Head>,
    /// The ledgers that are not appended to.
    pub(crate) refused: BTreeMap<LedgerId, RefusedHead>,
    /// The idempotency keys of the requests that are stored already, each with its newest event. The planner ignores those
    /// outside of the window.
    pub(crate) keys: KnownKeys,
    /// The states of the groups that count the events.
    pub(crate) alert_groups: AlertGroups,
}

/// One row to write.
#[derive(Debug)]
pub(crate) struct NewRow {
    pub(crate) ledger_id: LedgerId,
    pub(crate) seq: i64,
    /// The month in which it is stored.
    pub(crate) month: Month,
    pub(crate) event: Arc<NewEvent>,
    /// The greatest id before it, where the record's own is not greater.
    pub(crate) after_id: Option<EventId>,
    /// By the clock of the node that accepted it.
    pub(crate) arrived_at: Timestamp,
}

/// The end of a ledger while a request is added to it.
struct LedgerEnd {
    ledger_id: LedgerId,
    next_seq: i64,
    /// The month of the commit.
    month: Month,
    /// The latest id and time of receipt.
    last: Option<Stamp>,
    /// The position of the newest lifecycle event.
    lifecycle: Option<i64>,
}

/// The growth of a ledger by one commit.
#[derive(Debug)]
pub(crate) struct LedgerGrowth {
    /// That of the tree, if it can be continued.
    pub(crate) tree: Option<Growth>,
    /// The latest id and time of receipt.
    pub(crate) last: Stamp,
}

/// Everything to write, and the outcomes to report after the commit.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) rows: Vec<NewRow>,
    pub(crate) outcomes: Vec<AppendOutcome>,
    /// The heads of the ledgers before the commit.
    pub(crate) heads_before: HashMap<LedgerId, HeadId>,
    /// The state after the commit.
    pub(crate) after: Before,
    /// The ledgers that grow.
    pub(crate) growths: BTreeMap<LedgerId, LedgerGrowth>,
    /// The months that ledgers enter.
    pub(crate) entered: Vec<(LedgerId, LedgerMonth)>,
    /// The month of the commit, by ledger.
    months: HashMap<LedgerId, Month>,
    window: IdempotencyWindow,
    /// The counts of alert rules.
    pub(crate) counts: Counts,
    /// The raised alerts.
    pub(crate) alerts: Vec<RaisedAlert>,
    /// The deliveries of those alerts that have few.
    pub(crate) deliveries: Vec<DeliveryRow>,
}

/// Decides the outcome of every event of every request, in their order.
pub(crate) fn plan(requests: Vec<AppendRequest>, mut before: Before, window: IdempotencyWindow) -> Plan {
    let heads_before = before.heads.iter();
    let months = months_of(&requests, &before.heads);
    let events = requests.iter().map(|request| request.events.len()).sum();
    let mut plan = Plan {
        rows: Vec::with_capacity(events),
        outcomes: Vec::with_capacity(requests.len()),
        heads_before: heads_before
            .map(|(ledger_id, head)| (*ledger_id, head.id()))
            .collect(),
        counts: Counts::new(std::mem::take(&mut before.alert_groups)),
        after: before,
        growths: BTreeMap::new(),
        entered: Vec::new(),
        months,
        window,
        alerts: Vec::new(),
        deliveries: Vec::new(),
    };
    for request in requests {
        let outcome = plan.add(request);
        plan.outcomes.push(outcome);
    }
    plan
}

impl Plan {
    /// The ledgers that have grown.
    pub(crate) fn extended(&self) -> impl Iterator<Item = LedgerId> {
        let heads = self.after.heads.iter();
        let has_grown = |(ledger_id, head): &(&LedgerId, &Head)| {
            let before = self.heads_before.get(ledger_id);
            before.is_none_or(|before| before.size != head.size)
        };
        heads.filter(has_grown).map(|(ledger_id, _)| *ledger_id)
    }

    /// The month in which the commit stores events of a ledger.
    pub(crate) fn month_of(&self, ledger_id: LedgerId) -> Month {
        self.months.get(&ledger_id).copied().unwrap_or(Month::MIN)
    }

    /// The codes of rows, in their order.
    pub(crate) fn row_codes<'a>(
        &self,
        codes: &RowCodes,
        rows: impl IntoIterator<Item = &'a NewRow>,
    ) -> impl Iterator<Item = RowCode> {
        codes.codes(rows, |row, message| {
            let head = self.after.heads.get(&row.ledger_id);
            let idempotency = row.event.idempotency.as_ref();
            let coded = CodedRow {
                log: head.map_or("", |head| &head.name),
                id: &row.event.record.stamp().id.to_bytes(),
                month: row.month,
                idempotency_hash: idempotency.map(|key| key.hash.as_slice()),
                sent_digest: idempotency.map(|key| key.digest.as_bytes().as_slice()),
                redacted: row.event.record.redacted(),
                sender: row.event.sender.map(|sender| sender.id().0),
            };
            coded.write(message);
        })
    }

    /// Adds all events of a request or, when it is refused, none.
    fn add(&mut self, request: AppendRequest) -> AppendOutcome {
        let ledger_id = request.destination.ledger_id;
        if let Some(refused) = self.after.refused.get(&ledger_id) {
            let ledger_id = ledger_id.0;
            return Err(match refused {
                RefusedHead::Forged => StoreError::ForgedHead { ledger_id },
                RefusedHead::CutOff => StoreError::Unsigned { ledger_id },
            });
        }
        let Some(mut head) = self.after.heads.remove(&ledger_id) else {
            // The database has lost the project.
            return Err(StoreError::Stale);
        };
        let is_current = head.configuration_version == request.destination.configuration_version;
        let outcome = match is_current {
            true => self.add_to(&mut head, request),
            false => Err(StoreError::Stale),
        };
        self.after.heads.insert(ledger_id, head);
        outcome
    }

    /// [`Self::add`], to the ledger with this head.
    fn add_to(&mut self, head: &mut Head, request: AppendRequest) -> AppendOutcome {
        let AppendRequest {
            destination,
            events,
            origin,
        } = request;
        let ledger_id = destination.ledger_id;
        let first_row = self.rows.len();
        let mut end = LedgerEnd {
            ledger_id,
            next_seq: head.size,
            month: self.month_of(ledger_id),
            last: head.last,
            lifecycle: head.lifecycle,
        };
        let mut appended = Vec::with_capacity(events.len());
        for event in events {
            let known = event.idempotency.map(|key| self.known(&end, &key));
            match known.transpose() {
                Ok(Some(Some(repeat))) => appended.push(repeat),
                Ok(_) => appended.push(Appended::Stored(self.add_row(&mut end, event, origin))),
                Err(error) => {
                    self.remove_rows(first_row);
                    return Err(error);
                }
            }
        }
        let stored = (self.rows.len() - first_row) as u64;
        if let Err(error) = check_stored(head, &destination, origin, stored) {
            self.remove_rows(first_row);
            return Err(error);
        }
        self.grow(head, &end, first_row);
        self.count(&destination, first_row);
        Ok(AppendedEvents {
            events: appended,
            log_size: end.next_seq.unsigned_abs(),
        })
    }

    /// Adds the row of an event that is not a repeat. Returns its final id.
    fn add_row(&mut self, end: &mut LedgerEnd, mut event: Arc<NewEvent>, origin: Origin) -> EventId {
        let arrived_at = event.record.stamp().received_at;
        match origin {
            Origin::Claimed(_) => {
                if let Some(last) = end.last {
                    Arc::make_mut(&mut event).record.claimed_after(last.received_at);
                }
            }
            Origin::Sent | Origin::Service => {
                let stamp = event.record.stamp().following(end.last);
                if stamp != event.record.stamp() {
                    Arc::make_mut(&mut event).record.restamp(stamp);
                }
            }
        }
        let stamp = event.record.stamp();
        let logged = Stamp {
            received_at: event.record.logged_at(),
            ..stamp
        };
        if let Some(Idempotency { hash, digest }) = event.idempotency {
            let known = KnownKey {
                event: Some(KnownEvent { id: stamp.id, digest }),
                month: end.month,
            };
            self.after.keys.insert((end.ledger_id, hash), known);
        }
        if origin == Origin::Service && LifecycleEvent::is_action(&event.action) {
            end.lifecycle = Some(end.next_seq);
        }
        self.rows.push(NewRow {
            ledger_id: end.ledger_id,
            seq: end.next_seq,
            month: end.month,
            event,
            after_id: end.last.map(|last| last.id).filter(|last| *last >= stamp.id),
            arrived_at,
        });
        end.next_seq += 1;
        end.last = Some(logged.latest(end.last));
        stamp.id
    }

    /// Removes the rows from `first_row` on, with their keys.
    fn remove_rows(&mut self, first_row: usize) {
        for row in self.rows.drain(first_row..) {
            if let Some(idempotency) = row.event.idempotency {
                self.after.keys.remove(&(row.ledger_id, idempotency.hash));
            }
        }
    }

    /// Appends the rows from `first_row` on to the head and the tree of their ledger.
    fn grow(&mut self, head: &mut Head, end: &LedgerEnd, first_row: usize) {
        let rows = &self.rows[first_row..];
        let Some(last) = end.last.filter(|_| !rows.is_empty()) else {
            return;
        };
        let unchanged = || LedgerGrowth {
            tree: head.frontier.clone().map(Growth::new),
            last,
        };
        let growth = self.growths.entry(end.ledger_id).or_insert_with(unchanged);
        if let Some(tree) = &mut growth.tree {
            let leaves = Hash::of_events(rows.iter().map(|row| row.event.record.content_hash()));
            tree.extend(&leaves);
        }
        growth.last = last;
        if head.month() != Some(end.month) {
            let entered = LedgerMonth {
                month: end.month,
                first_seq: head.size,
            };
            head.months.push(entered);
            self.entered.push((end.ledger_id, entered));
        }
        (head.size, head.last) = (end.next_seq, Some(last));
        head.lifecycle = end.lifecycle;
    }

    /// Counts the rows from `first_row` on in the groups that their watches name.
    fn count(&mut self, destination: &Destination, first_row: usize) {
        let first_delivery = self.deliveries.len();
        for row in &self.rows[first_row..] {
            let event = CountedEvent {
                id: row.event.record.stamp().id,
                arrived_at: row.arrived_at,
                occurred_at: row.event.record.occurred_at(),
            };
            for alert in self.counts.observe(row.ledger_id, &row.event.watches, event) {
                let used = self.deliveries.len() - first_delivery;
                let webhook_ids = &destination.webhook_ids;
                let undelivered_to: Arc<[String]> = if used + webhook_ids.len() <= REQUEST_DELIVERIES_MAX {
                    let deliver =
                        |id: &String| DeliveryRow::of_alert(id, row.ledger_id, alert.id, alert.fired_at);
                    self.deliveries.extend(webhook_ids.iter().map(deliver));
                    Arc::new([])
                } else {
                    Arc::clone(webhook_ids)
                };
                self.alerts.push(RaisedAlert {
                    ledger_id: row.ledger_id,
                    alert,
                    undelivered_to,
                });
            }
        }
    }

    /// The outcome of an event whose key is stored or planned already, within the window; an error where the service did not write
    /// the row of that key: whether the event is stored cannot be determined then.
    fn known(&self, end: &LedgerEnd, idempotency: &Idempotency) -> Result<Option<Appended>, StoreError> {
        let ledger_id = end.ledger_id;
        let Some(known) = self.after.keys.get(&(ledger_id, idempotency.hash)) else {
            return Ok(None);
        };
        let Some(event) = known.event else {
            return Err(StoreError::ForgedRow {
                ledger_id: ledger_id.0,
            });
        };
        if known.month < self.window.first_month(end.month) {
            return Ok(None);
        }
        Ok(Some(match idempotency.digest.compare(&event.digest) {
            // Digests of another hash key cannot be compared. The sender's key says that it is the same event.
            Comparison::Same | Comparison::Unknown => Appended::Repeated(event.id),
            Comparison::Different => Appended::Conflicting(event.id),
        }))
    }
}

/// Whether the project takes this many new events. The only place that refuses events for what the project is: every append is planned here,
/// with a configuration that is the current one. Repeats of events that are stored are no new ones; a claim of them is refused before.
fn check_stored(
    head: &mut Head,
    destination: &Destination,
    origin: Origin,
    stored: u64,
) -> Result<(), StoreError> {
    if destination.is_archived && origin != Origin::Service && stored > 0 {
        return Err(StoreError::ProjectArchived(destination.project_id));
    }
    match (origin, destination.environment) {
        (Origin::Sent, Environment::Live) => use_up(head, destination.daily_events_max, stored),
        _ => Ok(()),
    }
}

/// Counts live events towards the daily limit, unless they would exceed it.
fn use_up(head: &mut Head, daily_events_max: Option<u64>, stored: u64) -> Result<(), StoreError> {
    let used = head.day_events + stored;
    match daily_events_max.filter(|limit| stored > 0 && used > *limit) {
        Some(limit) => Err(StoreError::DailyLimit { limit }),
        None => {
            head.day_events = used;
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests;
