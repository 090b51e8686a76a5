//! The check of all removals of a log, which `log verify` and auditors share.

use super::gone::{Gone, GoneEvents, GoneRecord};
use super::{RemovalDigest, RemovalKind, RemovalRecord};
use crate::{Hash, TenantLabel};
use audit_domain::{
    HeldFields, Hold, Lifecycle, LifecycleError, LifecycleEvent, LogName, Restored, RetentionPlan,
    Sha256Digest, Timestamp, before_of,
};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// How long rows may be there after their removal, in seconds: seven days.
const REMOVING_SECONDS_MAX: i64 = 7 * 86_400;
/// How many of the rows that are there and have a record are compared with policy and holds: some 200 bytes each.
const COMPARED_ROWS_MAX: usize = 1_000_000;

/// Checks that each removal in a log was allowed, and took what it says. It is fed with the log in ascending order.
pub struct RemovalCheck {
    log: LogName,
    now: Timestamp,
    lifecycle: Lifecycle,
    /// By the position of the event that authorises them.
    records: BTreeMap<u64, Collected>,
    gone: Gone,
    /// The event of the last record, and the removal that it is of.
    last_record: Option<(u64, u64)>,
    /// The first event of which each erasure has taken parts, as the events say.
    erased: BTreeMap<u64, u64>,
    rows: Vec<RowThere>,
    pub(super) rows_max: usize,
    uncompared: u64,
    /// Those that are not compared, by the event that authorises them and whether nothing of their removal is left to do.
    beyond: BTreeMap<(u64, bool), u64>,
    problems: Vec<RemovalProblem>,
}

/// What a check has found.
#[derive(Clone, Debug)]
pub struct RemovalReport {
    /// What is wrong, none if nothing is.
    pub problems: Vec<RemovalProblem>,
    /// The chain up to the last event.
    pub lifecycle: Lifecycle,
    /// Events that retention removed.
    pub retention: u64,
    /// Events that erasures removed as a whole.
    pub erased: u64,
    /// Events of which erasures removed parts.
    pub erased_parts: u64,
    /// Events that have a record, are there, and were too many to be compared with policy and holds.
    pub uncompared: u64,
}

/// What is wrong with a removal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RemovalProblem {
    /// An event of the chain was not allowed.
    #[error(transparent)]
    Chain(#[from] LifecycleError),
    /// An event of the chain lacks a member.
    #[error("the lifecycle event at {seq} cannot be read")]
    Unreadable {
        /// Its position.
        seq: u64,
    },
    /// A record names an event that does not remove anything, not yet, or nothing behind itself.
    #[error("no removal in the log covers event {seq}: its record names the event at {authority}")]
    UnknownAuthority {
        /// Position of the event that has the record.
        seq: u64,
        /// The position that the record names.
        authority: u64,
    },
    /// The records are others than those that the removal commits to.
    #[error("the records of the removal at {removal} do not have its digest")]
    Digest {
        /// Position of the plan, removal or erasure.
        removal: u64,
    },
    /// What a removal took is there again, or is still there.
    #[error("{events} events that the removal at {removal} took are there again, or still")]
    NotRemoved {
        /// Position of the removal or erasure.
        removal: u64,
        /// How many.
        events: u64,
    },
    /// Rows that were put back for a hold in force are not there. They were not put back either where that was interrupted.
    #[error(
        "{events} events that the restore at {restore} put back for the hold {hold} are missing: run it again if it was interrupted"
    )]
    NotRestored {
        /// Position of the restore.
        restore: u64,
        /// How many are missing at least.
        events: u64,
        /// The hold.
        hold: String,
    },
    /// A hold covers an event that is removed.
    #[error("the removal at {removal} removed event {seq} while the hold {hold} was in force")]
    Held {
        /// Position of the plan, removal or erasure.
        removal: u64,
        /// The first such event.
        seq: u64,
        /// The hold.
        hold: String,
    },
    /// A removal takes a lifecycle event, or a part of it. These stay.
    #[error("the removal at {removal} takes the lifecycle event at {seq}, or a part of it")]
    OfLifecycle {
        /// Position of the plan, removal or erasure.
        removal: u64,
        /// Position of the event.
        seq: u64,
    },
    /// The policy keeps an event that is removed.
    #[error("the removal at {removal} removed event {seq}, which the policy keeps for longer")]
    TooYoung {
        /// Position of the plan or removal.
        removal: u64,
        /// The first such event.
        seq: u64,
    },
}

/// The records of one removal. Its kind is known when its event is read, which is later in the log than its records.
struct Collected {
    first: u64,
    last: u64,
    events: u64,
    /// Of them whole rows.
    rows: u64,
    retention: RemovalDigest,
    erasure: RemovalDigest,
}

/// An event that has a record, and of which nothing is gone.
struct RowThere {
    seq: u64,
    authority: u64,
    is_done: bool,
    fields: Option<Fields>,
}

struct Fields {
    tenant_id: String,
    actor_id: String,
    target_id: Vec<String>,
    category: String,
    logged_at: Timestamp,
}

/// What the event says that authorises records.
struct Authority<'a> {
    kind: RemovalKind,
    digest: Sha256Digest,
    events: u64,
    /// Of them whole rows.
    rows: u64,
    /// Position of the plan, and the plan itself where it is one of retention.
    plan: (u64, Option<&'a RetentionPlan>),
    /// When the removal was logged. `None` of a plan.
    removed_at: Option<Timestamp>,
}

/// Rows were put back.
struct Restore<'a> {
    at: u64,
    restored: &'a Restored,
    hold: &'a Hold,
    /// Where the hold was released; `None` while it is in force.
    released: Option<u64>,
}

impl Restore<'_> {
    /// Whether it puts back what a removal took. What an erasure took never comes back.
    fn is_of(&self, removal: u64, found: &Authority<'_>) -> bool {
        self.at > removal && found.kind == RemovalKind::Retention
    }

    /// Whether it has put a row back. The text of a row that is not the one of the log is found elsewhere.
    fn has(&self, row: &RowThere, found: &Authority<'_>) -> bool {
        let covers = |fields: &Fields| self.hold.covers(&fields.as_held());
        self.is_of(row.authority, found)
            && self.restored.seqs.contains(&row.seq)
            && row.fields.as_ref().is_none_or(covers)
    }
}

impl RemovalCheck {
    /// A check of a log from its first event on.
    pub fn new(log: LogName, now: Timestamp) -> Self {
        Self {
            log,
            now,
            lifecycle: Lifecycle::default(),
            records: BTreeMap::new(),
            gone: Gone::default(),
            last_record: None,
            erased: BTreeMap::new(),
            rows: Vec::new(),
            rows_max: COMPARED_ROWS_MAX,
            uncompared: 0,
            beyond: BTreeMap::new(),
            problems: Vec::new(),
        }
    }

    /// Adds a record. Records ascend by position; those of an event come before the event. `authority` is the position of the plan,
    /// removal or erasure, which must be one of the events that are checked. `is_there`: the event still has what the record says is gone.
    /// `is_done`: nothing of the removal is left to do, as far as the caller knows.
    pub fn record(
        &mut self,
        authority: u64,
        record: &RemovalRecord,
        label: &TenantLabel,
        is_there: bool,
        is_done: bool,
    ) {
        let log = self.log;
        let collected = self.records.entry(authority).or_insert_with(|| Collected {
            first: record.seq,
            last: record.seq,
            events: 0,
            rows: 0,
            retention: RemovalDigest::new(RemovalKind::Retention, &log),
            erasure: RemovalDigest::new(RemovalKind::Erasure, &log),
        });
        collected.events += 1;
        collected.rows += u64::from(record.mask.is_row());
        collected.last = record.seq;
        self.last_record = Some((record.seq, authority));
        collected.retention.add(record, label);
        collected.erasure.add(record, label);
        if label.slot() != record.slot {
            self.problems.push(RemovalProblem::Digest { removal: authority });
        }
        match (is_there, record.mask.is_row()) {
            (true, _) if self.rows.len() < self.rows_max => self.rows.push(RowThere {
                seq: record.seq,
                authority,
                is_done,
                fields: None,
            }),
            (true, _) => {
                self.uncompared += 1;
                *self.beyond.entry((authority, is_done)).or_default() += 1;
            }
            (false, is_row) => self.gone.add(record.seq, GoneRecord { authority, is_row }),
        }
    }

    /// Adds that the event at `seq` says that the erasure at this position took parts of it. A plan takes nothing, and a removal by
    /// retention no parts.
    pub fn erased(&mut self, seq: u64, erasure: u64) {
        self.erased.entry(erasure).or_insert(seq);
    }

    /// Adds an event as a full read returns it. Needed are those of the chain, and those that have records and are there.
    pub fn event(&mut self, seq: u64, at: Timestamp, event: &Map<String, Value>) {
        if LifecycleEvent::is_lifecycle(event) {
            let of_event = self.last_record.filter(|(recorded, _)| *recorded == seq);
            let taken = of_event.map(|(_, removal)| RemovalProblem::OfLifecycle { removal, seq });
            self.problems.extend(taken);
            match LifecycleEvent::read(event) {
                Some((previous, read)) => {
                    let added = self.lifecycle.add(seq, at, read, previous);
                    self.problems.extend(added.err().map(RemovalProblem::Chain));
                }
                None => self.problems.push(RemovalProblem::Unreadable { seq }),
            }
        }
        let rows = self.rows.iter_mut().rev();
        for row in rows.take_while(|row| row.seq == seq) {
            row.fields = Fields::of(event);
        }
    }

    /// What was found.
    pub fn finish(mut self) -> RemovalReport {
        let mut problems = std::mem::take(&mut self.problems);
        for (seq, collected) in &self.records {
            let wrong = match self.authority(*seq) {
                None => Some(collected.first),
                // A removal takes nothing that came after it.
                Some(_) => (collected.last >= *seq).then_some(collected.last),
            };
            let authority = *seq;
            problems.extend(wrong.map(|seq| RemovalProblem::UnknownAuthority { seq, authority }));
        }
        for (authority, seq) in std::mem::take(&mut self.erased) {
            let event = self.lifecycle.event(authority).map(|(_, event)| event);
            if !matches!(event, Some(LifecycleEvent::Erased(_))) {
                problems.push(RemovalProblem::UnknownAuthority { seq, authority });
            }
        }
        let (mut retention, mut erased, mut erased_parts) = (0, 0, 0);
        for (records, GoneEvents { first, events }) in std::mem::take(&mut self.gone).finish() {
            match self.taken_by(&records) {
                Some((RemovalKind::Retention, _)) => retention += events,
                Some((RemovalKind::Erasure, true)) => erased += events,
                Some((RemovalKind::Erasure, false)) => erased_parts += events,
                // Those that name another event are found above.
                None if records.iter().any(|own| self.authority(own.authority).is_none()) => {}
                None => problems.push(RemovalProblem::UnknownAuthority {
                    seq: first,
                    authority: records[0].authority,
                }),
            }
        }
        problems.extend(self.digests());
        problems.extend(self.rows_there());
        RemovalReport {
            problems,
            lifecycle: self.lifecycle,
            retention,
            erased,
            erased_parts,
            uncompared: self.uncompared,
        }
    }

    /// The kind of the removal that took what is gone of an event, and whether it took the row. One that took parts explains no missing row.
    /// Other records may be of plans, which would take what is gone already.
    fn taken_by(&self, records: &[GoneRecord]) -> Option<(RemovalKind, bool)> {
        let is_row = records.iter().any(|own| own.is_row);
        let mut of_kind = records.iter().filter(|own| own.is_row == is_row);
        of_kind.find_map(|own| {
            let found = self.authority(own.authority)?;
            found.removed_at.map(|_| (found.kind, is_row))
        })
    }

    /// The plan, removal or erasure at a position.
    fn authority(&self, seq: u64) -> Option<Authority<'_>> {
        let (at, event) = self.lifecycle.event(seq)?;
        Some(match event {
            LifecycleEvent::Planned(plan) => Authority {
                kind: RemovalKind::Retention,
                digest: plan.digest,
                events: plan.events,
                rows: plan.events,
                plan: (seq, Some(plan)),
                removed_at: None,
            },
            LifecycleEvent::Removed(removal) => Authority {
                kind: RemovalKind::Retention,
                digest: removal.digest,
                events: removal.events,
                rows: removal.events,
                plan: (removal.plan, self.retention_plan(removal.plan)),
                removed_at: Some(at),
            },
            LifecycleEvent::ErasurePlanned(plan) => Authority {
                kind: RemovalKind::Erasure,
                digest: plan.digest,
                events: plan.events,
                rows: plan.rows,
                plan: (seq, None),
                removed_at: None,
            },
            LifecycleEvent::Erased(erasure) => Authority {
                kind: RemovalKind::Erasure,
                digest: erasure.digest,
                events: erasure.events,
                rows: erasure.rows,
                plan: (erasure.plan, None),
                removed_at: Some(at),
            },
            _ => return None,
        })
    }

    fn retention_plan(&self, seq: u64) -> Option<&RetentionPlan> {
        match self.lifecycle.event(seq)?.1 {
            LifecycleEvent::Planned(plan) => Some(plan),
            _ => None,
        }
    }

    /// Removals, erasures and open plans without the records that they commit to.
    fn digests(&self) -> impl Iterator<Item = RemovalProblem> {
        self.lifecycle.events().filter_map(move |(seq, ..)| {
            let found = self.authority(seq)?;
            if found.removed_at.is_none() && !self.lifecycle.is_open(seq) {
                // The records of a plan that was cancelled are deleted, those of one that was carried out name the removal.
                return None;
            }
            let is_same = match self.records.get(&seq) {
                None => (found.events, found.rows) == (0, 0),
                Some(records) => {
                    let digest = match found.kind {
                        RemovalKind::Retention => records.retention.clone(),
                        RemovalKind::Erasure => records.erasure.clone(),
                    };
                    (records.events, records.rows) == (found.events, found.rows)
                        && digest.finish() == Hash::from_bytes(*found.digest.as_bytes())
                }
            };
            (!is_same).then_some(RemovalProblem::Digest { removal: seq })
        })
    }

    /// What policy and holds keep, and what should be gone. One problem of a kind for each removal.
    fn rows_there(&self) -> Vec<RemovalProblem> {
        let mut again: BTreeMap<u64, u64> = BTreeMap::new();
        let (mut problems, mut named) = (Vec::new(), BTreeSet::new());
        let restores: Vec<Restore<'_>> = self.restores().collect();
        let of_events = self.rows.chunk_by(|one, next| one.seq == next.seq);
        for (own, row) in of_events.flat_map(|own| own.iter().map(move |row| (own, row))) {
            let Some(found) = self.authority(row.authority) else {
                continue;
            };
            let (seq, removal) = (row.seq, row.authority);
            let is_restored = restores
                .iter()
                .any(|restore| restore.has(row, &found) && !self.is_passed_over(own, row, restore));
            if self.is_over(row.is_done, &found) && !is_restored {
                *again.entry(removal).or_default() += 1;
            }
            let Some(fields) = &row.fields else { continue };
            if let Some(hold) = self.hold_of(fields, &found)
                && named.insert((removal, "hold"))
            {
                let hold = hold.hold.clone();
                problems.push(RemovalProblem::Held { removal, seq, hold });
            }
            let is_too_young = |plan: &RetentionPlan| {
                let before = before_of(&plan.received_before, &fields.category);
                before.is_none_or(|before| fields.logged_at >= before)
            };
            if found.plan.1.is_some_and(is_too_young) && named.insert((removal, "policy")) {
                problems.push(RemovalProblem::TooYoung { removal, seq });
            }
        }
        for ((removal, is_done), events) in &self.beyond {
            let found = self.authority(*removal);
            let Some(found) = found.filter(|found| self.is_over(*is_done, found)) else {
                continue;
            };
            // Which of them it has put back was not noted.
            let is_restored = restores.iter().any(|restore| restore.is_of(*removal, &found));
            if !is_restored {
                *again.entry(*removal).or_default() += events;
            }
        }
        let not_removed = |(removal, events)| RemovalProblem::NotRemoved { removal, events };
        problems.extend(again.into_iter().map(not_removed));
        problems.extend(restores.iter().filter_map(|restore| self.not_restored(restore)));
        problems
    }

    /// Whether a removal after the release of the hold should have taken a row that was put back, and has no record of it: the row was not
    /// there then. Where other holds kept events of that removal, it may have been one of these. `own` has the records of the event.
    fn is_passed_over(&self, own: &[RowThere], row: &RowThere, restore: &Restore<'_>) -> bool {
        let (Some(released), Some(fields)) = (restore.released, &row.fields) else {
            return false;
        };
        self.lifecycle.removals().any(|(at, _, removal)| {
            let before = before_of(&removal.received_before, &fields.category);
            removal.plan > released
                && removal.seqs.contains(&row.seq)
                && before.is_some_and(|before| fields.logged_at < before)
                && self
                    .retention_plan(removal.plan)
                    .is_some_and(|plan| plan.held == 0)
                && own
                    .iter()
                    .all(|own| own.authority != at && own.authority != removal.plan)
        })
    }

    /// The rows of a restore that are not there, although its hold keeps them.
    fn not_restored(&self, restore: &Restore<'_>) -> Option<RemovalProblem> {
        if restore.released.is_some() {
            return None;
        }
        let of = |authority: u64| self.authority(authority);
        let there = self.rows.chunk_by(|one, next| one.seq == next.seq);
        let there = there.filter(|own| {
            let mut own = own.iter();
            own.any(|row| of(row.authority).is_some_and(|found| restore.has(row, &found)))
        });
        // Which of them it has put back was not noted.
        let beyond = self.beyond.iter().filter(|((removal, _), _)| {
            let found = of(*removal);
            found.is_some_and(|found| restore.is_of(*removal, &found))
        });
        let there = beyond.fold(there.count() as u64, |there, (_, events)| {
            there.saturating_add(*events)
        });
        let events = restore.restored.events.saturating_sub(there);
        (events > 0).then(|| RemovalProblem::NotRestored {
            restore: restore.at,
            events,
            hold: restore.hold.hold.clone(),
        })
    }

    /// The restores for a hold that was placed before.
    fn restores(&self) -> impl Iterator<Item = Restore<'_>> {
        self.lifecycle.restored().filter_map(|(at, restored)| {
            let before = self.lifecycle.events().take_while(move |(seq, ..)| *seq < at);
            let mut holds = before.filter_map(|(seq, _, event)| match event {
                LifecycleEvent::HoldPlaced(hold) => Some((seq, hold)),
                _ => None,
            });
            let (own, hold) = holds.find(|(_, hold)| hold.hold == restored.hold)?;
            let mut releases = self.lifecycle.events().filter_map(|(seq, _, event)| match event {
                LifecycleEvent::HoldReleased { placed, .. } => Some((seq, *placed)),
                _ => None,
            });
            let released = releases.find(|(_, placed)| *placed == own);
            Some(Restore {
                at,
                restored,
                hold,
                released: released.map(|(seq, _)| seq),
            })
        })
    }

    /// Whether a removal should have taken all of its rows by now.
    fn is_over(&self, is_done: bool, found: &Authority<'_>) -> bool {
        let is_late = |at: Timestamp| is_done || at.plus_seconds(REMOVING_SECONDS_MAX) < self.now;
        found.removed_at.is_some_and(is_late)
    }

    /// The hold that was in force at the plan, is still, and covers an event.
    fn hold_of(&self, fields: &Fields, found: &Authority<'_>) -> Option<&Hold> {
        let fields = fields.as_held();
        let mut before = self
            .lifecycle
            .holds()
            .filter(|(placed, _)| *placed < found.plan.0);
        before
            .find(|(_, hold)| hold.covers(&fields))
            .map(|(_, hold)| hold)
    }
}

impl Fields {
    fn of(event: &Map<String, Value>) -> Option<Self> {
        let held = HeldFields::of(event)?;
        let category = event.get("category").and_then(Value::as_str);
        Some(Self {
            tenant_id: held.tenant_id.to_owned(),
            actor_id: held.actor_id.to_owned(),
            target_id: held.target_id.into_iter().map(str::to_owned).collect(),
            category: category.unwrap_or_default().to_owned(),
            logged_at: held.logged_at,
        })
    }

    fn as_held(&self) -> HeldFields<'_> {
        HeldFields {
            tenant_id: &self.tenant_id,
            actor_id: &self.actor_id,
            target_id: self.target_id.iter().map(String::as_str).collect(),
            logged_at: self.logged_at,
        }
    }
}
