//! Counting events while they are stored: the seam to whoever counts them.
//!
//! The application says which events are to be counted for which group. The store keeps what each group's count
//! remembers, as bytes that it does not read, and shows the count every event that it stores, in the order of the
//! ledger and in the same transaction. What the count raises is stored with the events.

use super::AppendRequest;
use super::LedgerId;
use super::plan::Plan;
use crate::alerts::AlertRow;
use crate::connection::AnyConnection;
use crate::error::Result;
use crate::schema::alert_groups;
use crate::statements::{FindGroups, PutGroups};
use audit_domain::{EventId, Timestamp};
use diesel::prelude::*;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

/// Names a group within a ledger: 128 bits of a SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupHash([u8; 16]);

impl GroupHash {
    /// The name of the group that these texts describe.
    pub fn of(parts: &[&str]) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            // With the lengths, so that no two lists of texts run together.
            hasher.update((part.len() as u64).to_be_bytes());
            hasher.update(part.as_bytes());
        }
        let digest: [u8; 32] = hasher.finalize().into();
        let mut hash = [0; 16];
        hash.copy_from_slice(&digest[..16]);
        Self(hash)
    }

    /// The bytes.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// What a stored event is, as far as a count needs it.
#[derive(Clone, Copy, Debug)]
pub struct SeenEvent {
    /// Its final id.
    pub id: EventId,
    /// When it arrived, by the clock of the node it arrived at. (The ledger's own times never go back, so a node whose
    /// clock is ahead, or was, would push them on for all others.)
    pub arrived_at: Timestamp,
    /// When it happened.
    pub occurred_at: Timestamp,
}

/// What an event did to a count.
#[derive(Debug)]
pub enum Counted {
    /// Nothing that has to be remembered.
    Unchanged,
    /// It counts.
    Changed,
    /// It counts, and there is an alert.
    Raised(Box<AlertRow>),
}

/// The count of one group under one rule, in memory for one commit.
pub trait GroupCount: fmt::Debug {
    /// Shows it an event.
    fn observe(&mut self, event: SeenEvent) -> Counted;
    /// What to remember.
    fn encode(&self) -> Vec<u8>;
    /// From when on that says nothing any more.
    fn expires_at(&self) -> Timestamp;
}

/// Takes a group's count up where it was left. The application implements it, with alert rules.
pub trait Watcher: fmt::Debug + Send + Sync {
    /// The count as it was remembered, or a new one. Bytes that it did not write count as none: an event is worth more
    /// than the count that it would be refused for.
    fn resume(&self, remembered: Option<&[u8]>) -> Box<dyn GroupCount>;
}

/// A group that an event is counted for.
#[derive(Clone, Debug)]
pub struct Watch {
    /// Which group.
    pub group: GroupHash,
    /// Who counts it.
    pub watcher: Arc<dyn Watcher>,
}

/// What groups remember, for the groups of a commit that remember anything.
pub(crate) type Remembered = HashMap<(LedgerId, GroupHash), Vec<u8>>;

/// What a commit's events do to the groups that they are counted for.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    remembered: Remembered,
    counts: HashMap<(LedgerId, GroupHash), (Box<dyn GroupCount>, bool)>,
}

impl Counts {
    pub(crate) fn new(remembered: Remembered) -> Self {
        Self {
            remembered,
            ..Self::default()
        }
    }

    /// Shows an event to its groups; the alerts that it raises.
    pub(crate) fn observe(
        &mut self,
        ledger_id: LedgerId,
        watches: &[Watch],
        event: SeenEvent,
    ) -> Vec<AlertRow> {
        let mut raised = Vec::new();
        for watch in watches {
            let key = (ledger_id, watch.group);
            let (count, is_changed) = self.counts.entry(key).or_insert_with(|| {
                let remembered = self.remembered.get(&key).map(Vec::as_slice);
                (watch.watcher.resume(remembered), false)
            });
            match count.observe(event) {
                Counted::Unchanged => {}
                Counted::Changed => *is_changed = true,
                Counted::Raised(alert) => {
                    *is_changed = true;
                    raised.push(*alert);
                }
            }
        }
        raised
    }

    /// Whether there is nothing to be remembered.
    pub(crate) fn are_unchanged(&self) -> bool {
        self.counts.values().all(|(_, is_changed)| !is_changed)
    }

    /// What is to be remembered, in the order of the table's key.
    pub(crate) fn changed(&self) -> BTreeMap<(LedgerId, GroupHash), (Vec<u8>, Timestamp)> {
        let changed = self.counts.iter().filter(|(_, (_, is_changed))| *is_changed);
        changed
            .map(|(key, (count, _))| (*key, (count.encode(), count.expires_at())))
            .collect()
    }
}

/// Reads what the groups of `requests` remember. The heads of their ledgers are locked.
pub(crate) fn read_remembered(
    connection: &mut AnyConnection,
    requests: &[AppendRequest],
) -> Result<Remembered> {
    let mut wanted = BTreeSet::new();
    for request in requests {
        let watches = request.events.iter().flat_map(|event| &event.watches);
        wanted.extend(watches.map(|watch| (request.destination.ledger_id, watch.group)));
    }
    let mut remembered = Remembered::new();
    match connection {
        AnyConnection::Sqlite(sqlite) => {
            for (ledger_id, group) in &wanted {
                let state = alert_groups::table
                    .find((ledger_id.0, group.as_bytes().as_slice()))
                    .select(alert_groups::state)
                    .get_result::<Vec<u8>>(sqlite)
                    .optional()?;
                remembered.extend(state.map(|state| ((*ledger_id, *group), state)));
            }
        }
        // One round trip for each ledger.
        AnyConnection::Postgres(postgres) => {
            let ledgers: BTreeSet<LedgerId> = wanted.iter().map(|(ledger_id, _)| *ledger_id).collect();
            for ledger_id in ledgers {
                let groups: Vec<&[u8]> = wanted
                    .iter()
                    .filter(|(of, _)| *of == ledger_id)
                    .map(|(_, group)| group.as_bytes().as_slice())
                    .collect();
                let find = FindGroups {
                    groups,
                    ledger_id: ledger_id.0,
                };
                let rows = find.load::<(Vec<u8>, Vec<u8>)>(postgres)?;
                for (group, state) in rows {
                    if let Ok(group) = group.try_into() {
                        remembered.insert((ledger_id, GroupHash(group)), state);
                    }
                }
            }
        }
    }
    Ok(remembered)
}

/// Writes what groups remember from now on.
pub(crate) fn write_remembered(connection: &mut AnyConnection, plan: &Plan) -> Result<()> {
    let changed = plan.counts.changed();
    if changed.is_empty() {
        return Ok(());
    }
    match connection {
        AnyConnection::Sqlite(sqlite) => {
            for ((ledger_id, group), (state, expires_at)) in &changed {
                diesel::replace_into(alert_groups::table)
                    .values((
                        alert_groups::ledger_id.eq(ledger_id.0),
                        alert_groups::group_hash.eq(group.as_bytes().as_slice()),
                        alert_groups::state.eq(state),
                        alert_groups::expires_at.eq(expires_at.as_micros()),
                    ))
                    .execute(sqlite)?;
            }
        }
        AnyConnection::Postgres(postgres) => {
            let put = PutGroups {
                ledger_ids: changed.keys().map(|(ledger_id, _)| ledger_id.0).collect(),
                groups: changed
                    .keys()
                    .map(|(_, group)| group.as_bytes().as_slice())
                    .collect(),
                states: changed.values().map(|(state, _)| state.as_slice()).collect(),
                expires_at: changed
                    .values()
                    .map(|(_, expires_at)| expires_at.as_micros())
                    .collect(),
            };
            put.execute(postgres)?;
        }
    }
    Ok(())
}
