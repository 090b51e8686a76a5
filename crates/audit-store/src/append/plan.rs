//! What one commit writes. Pure: the databases supply what is there, and write what comes out.

use super::watch::{Counts, Remembered, SeenEvent, Watch};
use super::{
    AppendOutcome, AppendRequest, Appended, AppendedEvents, Destination, Idempotency, KeyHash, LedgerId,
    Origin, Tokens,
};
use crate::alerts::AlertRow;
use crate::deliveries::DeliveryRow;
use crate::error::StoreError;
use crate::index::sqlite::tail::Left;
use crate::ledgers::{KnownActions, NewHead};
use audit_domain::{Comparison, Environment, EventId, Record, SentDigest, Stamp, Timestamp};
use audit_ledger::{Frontier, Growth, Hash};
use std::collections::{BTreeMap, HashMap};

/// The end of a ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// How many events it holds.
    pub(crate) size: i64,
    /// The latest id and time of receipt.
    pub(crate) last: Option<Stamp>,
    /// The right edge of the tree over them; none where it was tampered with and cannot be continued.
    pub(crate) frontier: Option<Frontier>,
    /// A UTC day, in days since 1970-01-01.
    pub(crate) day: i64,
    /// How many events were sent to the ledger on that day, if it is a live one.
    pub(crate) day_events: u64,
}

impl Head {
    /// Counts anew, unless what was counted last is this day, or the next one, by another node's clock.
    pub(crate) fn begin_day(&mut self, day: i64) {
        if self.day != day && self.day != day + 1 {
            (self.day, self.day_events) = (day, 0);
        }
    }
}

/// An event with a key that is stored already.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownKey {
    pub(crate) id: EventId,
    pub(crate) digest: SentDigest,
}

/// What is in the database, as far as the requests of a commit depend on it.
#[derive(Debug, Default)]
pub(crate) struct Before {
    /// The current version of the configuration.
    pub(crate) configuration_version: i64,
    /// The heads of the ledgers that are appended to.
    pub(crate) heads: HashMap<LedgerId, Head>,
    /// The idempotency keys of the requests that are taken.
    pub(crate) keys: HashMap<(LedgerId, KeyHash), KnownKey>,
    /// What the groups that events are counted for remember.
    pub(crate) remembered: Remembered,
}

/// One row to write.
#[derive(Debug)]
pub(crate) struct NewRow {
    pub(crate) ledger_id: LedgerId,
    pub(crate) seq: i64,
    pub(crate) record: Record,
    pub(crate) action: String,
    pub(crate) tokens: Tokens,
    pub(crate) idempotency: Option<Idempotency>,
    pub(crate) watches: Vec<Watch>,
    /// The id that the ledger had reached, where the record's own does not follow it.
    pub(crate) after_id: Option<EventId>,
    /// By the clock of the node that it was sent to.
    pub(crate) arrived_at: Timestamp,
}

/// Everything to write, and the answers to give once it is committed.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) rows: Vec<NewRow>,
    pub(crate) outcomes: Vec<AppendOutcome>,
    /// How many events the ledgers held before the commit.
    pub(crate) sizes_before: HashMap<LedgerId, i64>,
    /// The state after the commit.
    pub(crate) after: Before,
    /// The ledgers that grow, each with its tree, if that can be continued.
    pub(crate) growths: BTreeMap<LedgerId, Option<Growth>>,
    /// What groups counted.
    pub(crate) counts: Counts,
    /// The alerts that were raised.
    pub(crate) alerts: Vec<(LedgerId, AlertRow)>,
    /// What is to be delivered of them.
    pub(crate) deliveries: Vec<DeliveryRow>,
    /// Where the rows wait to be indexed, once they are written.
    pub(crate) left: Option<Left>,
}

/// Decides what becomes of every event of every request, in their order.
pub(crate) fn plan(requests: Vec<AppendRequest>, mut before: Before) -> Plan {
    let heads_before = before.heads.iter();
    let mut plan = Plan {
        rows: Vec::new(),
        outcomes: Vec::with_capacity(requests.len()),
        sizes_before: heads_before
            .map(|(ledger_id, head)| (*ledger_id, head.size))
            .collect(),
        counts: Counts::new(std::mem::take(&mut before.remembered)),
        after: before,
        growths: BTreeMap::new(),
        alerts: Vec::new(),
        deliveries: Vec::new(),
        left: None,
    };
    for request in requests {
        let outcome = plan.add(request);
        plan.outcomes.push(outcome);
    }
    plan
}

impl Plan {
    /// Whether nothing is to be written but the rows and the heads of their ledgers.
    pub(crate) fn is_rows_only(&self, heads: &[NewHead], actions: &KnownActions) -> bool {
        self.counts.are_unchanged()
            && self.alerts.is_empty()
            && self.deliveries.is_empty()
            && heads.iter().all(|head| head.tiles.is_empty())
            && self
                .rows
                .iter()
                .all(|row| actions.contains(row.ledger_id, &row.action))
    }

    /// Adds all of a request or, when it is refused, nothing of it.
    fn add(&mut self, request: AppendRequest) -> AppendOutcome {
        let AppendRequest {
            destination,
            events,
            origin,
        } = request;
        let ledger_id = destination.ledger_id;
        if destination.configuration_version != self.after.configuration_version {
            return Err(StoreError::Stale);
        }
        let Some(head) = self.after.heads.get(&ledger_id) else {
            return Err(StoreError::Damaged {
                what: "reference to a ledger",
            });
        };
        let first_row = self.rows.len();
        let mut keys_added = Vec::new();
        let (mut next_seq, mut last) = (head.size, head.last);
        let mut appended = Vec::with_capacity(events.len());
        for event in events {
            if let Some(repeat) = event
                .idempotency
                .and_then(|idempotency| self.known(ledger_id, &idempotency))
            {
                appended.push(repeat);
                continue;
            }
            let mut record = event.record;
            let arrived_at = record.stamp().received_at;
            if origin == Origin::Sent {
                let stamp = record.stamp().following(last);
                if stamp != record.stamp() {
                    record.restamp(stamp);
                }
            }
            let stamp = record.stamp();
            if let Some(idempotency) = event.idempotency {
                let key = (ledger_id, idempotency.hash);
                self.after.keys.insert(
                    key,
                    KnownKey {
                        id: stamp.id,
                        digest: idempotency.digest,
                    },
                );
                keys_added.push(key);
            }
            appended.push(Appended::Stored(stamp.id));
            self.rows.push(NewRow {
                ledger_id,
                seq: next_seq,
                record,
                action: event.action,
                tokens: event.tokens,
                idempotency: event.idempotency,
                watches: event.watches,
                after_id: last.map(|last| last.id).filter(|last| *last >= stamp.id),
                arrived_at,
            });
            next_seq += 1;
            last = Some(stamp.latest(last));
        }
        let stored = (self.rows.len() - first_row) as u64;
        if origin == Origin::Sent
            && let Err(error) = self.use_up(&destination, stored)
        {
            self.rows.truncate(first_row);
            for key in keys_added {
                self.after.keys.remove(&key);
            }
            return Err(error);
        }
        self.grow(ledger_id, first_row, last);
        self.count(&destination, first_row);
        Ok(AppendedEvents {
            events: appended,
            log_size: next_seq.unsigned_abs(),
        })
    }

    /// Takes the rows from `first_row` on into the ledger and its tree.
    fn grow(&mut self, ledger_id: LedgerId, first_row: usize, last: Option<Stamp>) {
        let rows = &self.rows[first_row..];
        let Some(head) = self.after.heads.get_mut(&ledger_id).filter(|_| !rows.is_empty()) else {
            return;
        };
        let tree = || head.frontier.clone().map(Growth::new);
        if let Some(growth) = self.growths.entry(ledger_id).or_insert_with(tree) {
            for row in rows {
                growth.append(Hash::of_event(&row.record.content_hash()));
            }
        }
        head.size += rows.len() as i64;
        head.last = last;
    }

    /// Shows the rows from `first_row` on to the groups that they are counted for.
    fn count(&mut self, destination: &Destination, first_row: usize) {
        for row in &self.rows[first_row..] {
            let event = SeenEvent {
                id: row.record.stamp().id,
                arrived_at: row.arrived_at,
                occurred_at: row.record.occurred_at(),
            };
            for alert in self.counts.observe(row.ledger_id, &row.watches, event) {
                let tell = |webhook_id| DeliveryRow::of_alert(webhook_id, row.ledger_id, &alert);
                self.deliveries.extend(destination.webhook_ids.iter().map(tell));
                self.alerts.push((row.ledger_id, alert));
            }
        }
    }

    /// Counts live events that are about to be stored, unless that would pass the limit.
    fn use_up(&mut self, destination: &Destination, stored: u64) -> Result<(), StoreError> {
        if destination.environment != Environment::Live {
            return Ok(());
        }
        let Some(head) = self.after.heads.get_mut(&destination.ledger_id) else {
            return Ok(());
        };
        let used = &mut head.day_events;
        match destination
            .daily_events_max
            .filter(|limit| stored > 0 && *used + stored > *limit)
        {
            Some(limit) => Err(StoreError::DailyLimit { limit }),
            None => {
                *used += stored;
                Ok(())
            }
        }
    }

    fn known(&self, ledger_id: LedgerId, idempotency: &Idempotency) -> Option<Appended> {
        let known = self.after.keys.get(&(ledger_id, idempotency.hash))?;
        Some(match idempotency.digest.compare(&known.digest) {
            // With another digest key nobody can tell; the sender says that it is the same event.
            Comparison::Same | Comparison::Unknown => Appended::Repeated(known.id),
            Comparison::Different => Appended::Conflicting(known.id),
        })
    }
}

#[cfg(test)]
mod tests;
