//! Who sent events: a key, from an address.
//!
//! An event's row has the number of its sender, 8 bytes, and each ledger has a row for each of its senders. The number is computed
//! from key and address, so a writer needs no look-up. The code of the event's row covers it ([`crate::row_code`]), and the content
//! hash does not: it is for the operator, who traces what a leaked key has sent, and no reader of events sees it.

use super::LedgerId;
use super::plan::Plan;
use crate::schema::ledger_senders;
use audit_domain::KeyId;
use diesel::prelude::*;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::Arc;

/// Senders that a process caches, at most. Beyond that some are written again, which has no effect.
const KNOWN_SENDERS_MAX: usize = 100_000;

/// The number of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SenderId(pub(crate) i64);

impl SenderId {
    /// Of a key and a canonical address; `None` where it is not known.
    pub(crate) fn of(key_id: KeyId, address: Option<IpAddr>) -> Self {
        let hash = Sha256::new().chain_update(key_id.as_uuid());
        let hash = match address {
            Some(IpAddr::V4(address)) => hash.chain_update(address.octets()),
            Some(IpAddr::V6(address)) => hash.chain_update(address.octets()),
            None => hash,
        };
        let digest: [u8; 32] = hash.finalize().into();
        let mut first = [0; 8];
        first.copy_from_slice(&digest[..8]);
        Self(i64::from_be_bytes(first))
    }
}

/// A key that events are sent with, and the address of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventSender {
    id: SenderId,
    key_id: KeyId,
    address: Option<IpAddr>,
}

impl EventSender {
    /// Of a key and an address; `None` where it is not known.
    pub fn new(key_id: KeyId, address: Option<IpAddr>) -> Self {
        let address = address.map(|address| address.to_canonical());
        Self {
            id: SenderId::of(key_id, address),
            key_id,
            address,
        }
    }

    pub(crate) const fn id(&self) -> SenderId {
        self.id
    }
}

/// The row of a sender.
#[derive(Debug, Insertable)]
#[diesel(table_name = ledger_senders, treat_none_as_default_value = false)]
pub(crate) struct SenderRow {
    ledger_id: i64,
    sender: i64,
    key_id: String,
    address: Option<String>,
    first_seq: i64,
}

type Senders = HashSet<(LedgerId, SenderId)>;

/// Cached stored senders, which the writers of a process share, so that each is written once.
#[derive(Debug, Default)]
pub(crate) struct StoredSenders(Mutex<Senders>);

/// A writer's view of the stored senders.
#[derive(Debug, Default)]
pub(crate) struct KnownSenders {
    known: Arc<StoredSenders>,
    /// Those that the present commit stores.
    pending: Vec<(LedgerId, SenderId)>,
}

impl KnownSenders {
    /// The senders that other writers cache too.
    pub(crate) fn shared(known: &Arc<StoredSenders>) -> Self {
        Self {
            known: Arc::clone(known),
            pending: Vec::new(),
        }
    }

    /// Whether all senders of a plan are known to be stored.
    pub(crate) fn has_all(&self, plan: &Plan) -> bool {
        let known = self.known.0.lock();
        plan.rows.iter().all(|row| {
            row.sender
                .is_none_or(|sender| known.contains(&(row.ledger_id, sender.id)))
        })
    }

    /// The rows of the plan's senders that are not known to be stored. They count as stored once the commit has ended.
    pub(crate) fn begin_new(&mut self, plan: &Plan) -> Vec<SenderRow> {
        self.pending.clear();
        let known = self.known.0.lock();
        let mut rows = Vec::new();
        // Consecutive events have the same sender, and few senders are new.
        let mut last = None;
        for row in &plan.rows {
            let Some(sender) = row.sender else { continue };
            let key = (row.ledger_id, sender.id);
            if last == Some(key) {
                continue;
            }
            last = Some(key);
            if known.contains(&key) || self.pending.contains(&key) {
                continue;
            }
            self.pending.push(key);
            rows.push(SenderRow {
                ledger_id: row.ledger_id.0,
                sender: sender.id.0,
                key_id: sender.key_id.to_string(),
                address: sender.address.map(|address| address.to_string()),
                first_seq: row.seq,
            });
        }
        rows
    }

    /// Drops the senders of a transaction that was rolled back.
    pub(crate) fn rolled_back(&mut self) {
        self.pending.clear();
    }

    /// Caches the senders of a transaction that was committed.
    pub(crate) fn committed(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let mut known = self.known.0.lock();
        for sender in self.pending.drain(..) {
            if known.len() >= KNOWN_SENDERS_MAX {
                // Every second one, in the random order of the set, so that most of those in use stay cached.
                let mut number = 0_usize;
                known.retain(|_| {
                    number += 1;
                    number.is_multiple_of(2)
                });
            }
            known.insert(sender);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(key: u8, address: Option<&str>) -> SenderId {
        let address = address.map(|address| address.parse().unwrap());
        EventSender::new(KeyId::from_random([key; 16]), address).id()
    }

    #[test]
    fn a_sender_is_a_key_and_an_address() {
        let one = id(1, Some("192.0.2.7"));
        assert_eq!(one, id(1, Some("::ffff:192.0.2.7")), "the same address");
        for other in [id(2, Some("192.0.2.7")), id(1, Some("192.0.2.8")), id(1, None)] {
            assert_ne!(one, other);
        }
    }

    #[test]
    fn the_cache_of_senders_is_bounded() {
        let mut senders = KnownSenders::default();
        for number in 0..=KNOWN_SENDERS_MAX as i64 {
            senders.pending.push((LedgerId(1), SenderId(number)));
        }
        senders.committed();
        assert_eq!(senders.known.0.lock().len(), KNOWN_SENDERS_MAX / 2 + 1);
    }
}
