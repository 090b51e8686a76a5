//! Filters of the idempotency keys of earlier months.
//!
//! A new key is looked up in each earlier month of the window, and nearly every key is in none of them. Months never go back along
//! a log, so the keys of the months before that of its newest event never change. A process holds a Bloom filter of them for the ledgers that
//! send many keys, and looks up only those that the filter may have. A thread reads the keys (`loading.rs`).
//!
//! **Soundness.** A filter belongs to one history of its ledger, which [`Past`] identifies. The statement that stores events
//! compares it with the stored events (`append/insert.rs`), and stores nothing if they have another history: one that was restored from a
//! backup, or is of a server that lost commits. So whatever a process still has in memory, a key is never missed.

mod loading;

pub(crate) use loading::{KeyReader, Requests};

use crate::append::idempotency::KeyHash;
use crate::append::key_probe::{BLOCK_BYTES, Probe};
use crate::ids::LedgerId;
use crate::ledgers::head::{Head, LedgerMonth};
use audit_domain::{IdempotencyWindow, Month};
use parking_lot::Mutex;
use quick_cache::unsync::Cache;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Memory of the filters of a process. The keys of a ledger whose filter would be larger are looked up.
const FILTERS_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Keys of a block, on average: a byte for each. With eight bits for a key, 1 new key in 40 is looked up in vain.
const BLOCK_KEYS: u64 = BLOCK_BYTES as u64;
/// Keys that PostgreSQL reads for a filter at the price of a look-up, about. The keys of a ledger are read when its
/// commits have looked up as many as their price: until then, they may never be needed.
const KEYS_READ_PER_LOOK_UP: u64 = 8;
/// Ledgers whose look-ups are counted, at most.
const COUNTED_LEDGERS_MAX: usize = 4_000;
/// Statements in succession that stored nothing, after which a filter is dropped: it may be of another history.
const REFUSALS_MAX: u32 = 3;

/// The months of the window before the newest one of a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EarlierMonths {
    /// The first month of the window.
    pub(crate) first_month: Month,
    /// The number of events before the newest month.
    pub(crate) seq_end: i64,
    /// How many of them are in the window.
    events: u64,
}

impl EarlierMonths {
    /// Those of a ledger that enters, or is in, `month`; none if it has no earlier events in the window.
    pub(crate) fn of(head: &Head, window: IdempotencyWindow, month: Month) -> Option<Self> {
        let seq_end = head.first_seq_since(month).unwrap_or(head.size);
        Self::of_months(&head.months, window.first_month(month), seq_end)
    }

    fn of_months(months: &[LedgerMonth], first_month: Month, seq_end: i64) -> Option<Self> {
        let first = months.iter().find(|one| one.month >= first_month)?;
        let first_seq = first.first_seq;
        (first_seq < seq_end).then(|| Self {
            first_month,
            seq_end,
            events: seq_end.abs_diff(first_seq),
        })
    }

    /// The size of a filter of their keys.
    fn filter_bytes(&self) -> u64 {
        self.events
            .div_ceil(BLOCK_KEYS)
            .saturating_mul(BLOCK_BYTES as u64)
    }
}

/// The history of a ledger up to the last event before its newest month.
///
/// The hash covers random bytes that are drawn for each request, and the events of a request are stored by one commit at most,
/// which follows one head. So a ledger that has this event at this position has the same events before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Past {
    /// The number of events.
    pub(crate) seq_end: i64,
    /// The month of the last one.
    pub(crate) month: Month,
    /// Its content hash.
    pub(crate) content_hash: Vec<u8>,
}

/// The keys of the events of one history in the months from one on.
#[derive(Debug)]
pub(crate) struct KeyFilter {
    pub(crate) past: Past,
    first_month: Month,
    blocks: Box<[u8]>,
    /// See [`REFUSALS_MAX`].
    refusals: AtomicU32,
}

impl KeyFilter {
    /// One without keys.
    fn new(past: Past, months: &EarlierMonths) -> Self {
        Self {
            past,
            first_month: months.first_month,
            blocks: vec![0; months.filter_bytes() as usize].into_boxed_slice(),
            refusals: AtomicU32::new(0),
        }
    }

    fn insert(&mut self, ledger_id: LedgerId, hash: &KeyHash) {
        let (blocks, []) = self.blocks.as_chunks_mut::<BLOCK_BYTES>() else {
            return;
        };
        let probe = Probe::of(ledger_id, hash);
        if let Some(block) = blocks.get_mut(probe.block_in(blocks.len())) {
            probe.insert_into(block);
        }
    }

    /// Whether it has the keys of these months.
    fn is_of(&self, months: &EarlierMonths) -> bool {
        self.past.seq_end == months.seq_end && self.first_month <= months.first_month
    }

    fn bytes(&self) -> u64 {
        self.blocks.len() as u64
    }

    /// Whether the ledger may have an event with the key in these months.
    pub(crate) fn may_hold(&self, ledger_id: LedgerId, hash: &KeyHash) -> bool {
        let (blocks, _) = self.blocks.as_chunks::<BLOCK_BYTES>();
        let probe = Probe::of(ledger_id, hash);
        let block = blocks.get(probe.block_in(blocks.len()));
        probe.may_be_in(block.map(<[u8; BLOCK_BYTES]>::as_slice))
    }

    /// Notes that the history is the stored one.
    pub(crate) fn confirmed(&self) {
        self.refusals.store(0, Ordering::Relaxed);
    }
}

/// The filters of a process, by ledger.
#[derive(Debug)]
pub(crate) struct EarlierKeys(Mutex<State>);

#[derive(Debug)]
struct State {
    filters: HashMap<LedgerId, Held>,
    bytes: u64,
    /// Counts uses, so that the filter that was not used for the longest time is dropped first.
    uses: u64,
    /// How many keys were looked up because there is no filter.
    looked_up: Cache<LedgerId, u64>,
}

#[derive(Debug)]
struct Held {
    filter: Arc<KeyFilter>,
    last_use: u64,
}

impl Default for EarlierKeys {
    fn default() -> Self {
        Self(Mutex::new(State {
            filters: HashMap::new(),
            bytes: 0,
            uses: 0,
            looked_up: Cache::new(COUNTED_LEDGERS_MAX),
        }))
    }
}

impl EarlierKeys {
    /// The filter of these months of a ledger.
    pub(crate) fn get(&self, ledger_id: LedgerId, months: &EarlierMonths) -> Option<Arc<KeyFilter>> {
        let mut state = self.0.lock();
        state.uses += 1;
        let last_use = state.uses;
        let held = state.filters.get_mut(&ledger_id)?;
        if held.filter.is_of(months) {
            held.last_use = last_use;
            return Some(Arc::clone(&held.filter));
        }
        // A new month has begun.
        state.remove(ledger_id);
        None
    }

    /// Notes that a commit looks up keys of a ledger without a filter. Returns whether to read one: as many were looked up as
    /// are worth its price.
    pub(crate) fn note_look_ups(&self, ledger_id: LedgerId, keys: u64, months: &EarlierMonths) -> bool {
        if months.filter_bytes() > FILTERS_BYTES_MAX {
            return false;
        }
        let mut state = self.0.lock();
        let keys = keys.saturating_add(state.looked_up.get(&ledger_id).copied().unwrap_or(0));
        let is_due = keys.saturating_mul(KEYS_READ_PER_LOOK_UP) >= months.events;
        state.looked_up.insert(ledger_id, if is_due { 0 } else { keys });
        is_due
    }

    /// The memory of the filters.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.lock().bytes
    }

    /// Notes that a statement with this filter stored nothing.
    pub(crate) fn refused(&self, ledger_id: LedgerId, filter: &KeyFilter) {
        if filter.refusals.fetch_add(1, Ordering::Relaxed) + 1 >= REFUSALS_MAX {
            self.0.lock().remove(ledger_id);
        }
    }

    /// Adds a filter, in the room of those that were not used for the longest time.
    fn insert(&self, ledger_id: LedgerId, filter: KeyFilter) {
        let mut state = self.0.lock();
        state.remove(ledger_id);
        state.uses += 1;
        let (bytes, last_use) = (filter.bytes(), state.uses);
        while state.bytes + bytes > FILTERS_BYTES_MAX {
            let oldest = state.filters.iter().min_by_key(|(_, held)| held.last_use);
            let Some(oldest) = oldest.map(|(oldest, _)| *oldest) else {
                return;
            };
            state.remove(oldest);
        }
        state.bytes += bytes;
        let filter = Arc::new(filter);
        state.filters.insert(ledger_id, Held { filter, last_use });
    }
}

impl State {
    fn remove(&mut self, ledger_id: LedgerId) {
        if let Some(held) = self.filters.remove(&ledger_id) {
            self.bytes = self.bytes.saturating_sub(held.filter.bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn months(seq_end: i64, events: u64) -> EarlierMonths {
        EarlierMonths {
            first_month: Month::from_number(680),
            seq_end,
            events,
        }
    }

    fn filter(months: &EarlierMonths) -> KeyFilter {
        let past = Past {
            seq_end: months.seq_end,
            month: Month::from_number(681),
            content_hash: vec![1; 32],
        };
        KeyFilter::new(past, months)
    }

    fn key(number: u64) -> KeyHash {
        crate::append::idempotency::hash_of_key("tenant", &number.to_string())
    }

    #[test]
    fn every_key_of_a_filter_is_found_and_few_others_are() {
        const KEYS: u64 = 40_000;
        let ledger_id = LedgerId(7);
        let mut filter = filter(&months(50_000, KEYS));
        (0..KEYS).for_each(|number| filter.insert(ledger_id, &key(number)));
        assert!((0..KEYS).all(|number| filter.may_hold(ledger_id, &key(number))));
        let found = (KEYS..2 * KEYS).filter(|number| filter.may_hold(ledger_id, &key(*number)));
        assert!((400..2_000).contains(&found.count()), "about 1 in 40");
    }

    #[test]
    fn a_filter_is_used_for_its_own_months_only() {
        let keys = EarlierKeys::default();
        let (ledger_id, of) = (LedgerId(1), months(100, 100));
        keys.insert(ledger_id, filter(&of));
        assert!(keys.get(ledger_id, &of).is_some());
        let shorter = EarlierMonths {
            first_month: of.first_month.plus(1),
            ..of
        };
        assert!(
            keys.get(ledger_id, &shorter).is_some(),
            "it has more keys than needed"
        );
        let longer = EarlierMonths {
            first_month: of.first_month.plus(-1),
            ..of
        };
        assert!(keys.get(ledger_id, &longer).is_none(), "it lacks a month");
        keys.insert(ledger_id, filter(&of));
        assert!(
            keys.get(ledger_id, &months(101, 100)).is_none(),
            "a new month has begun"
        );
        assert_eq!(keys.bytes(), 0, "it is of no use any more");
    }

    #[test]
    fn keys_are_read_once_their_look_ups_have_cost_as_much() {
        let keys = EarlierKeys::default();
        let of = months(800, 800);
        assert!(!keys.note_look_ups(LedgerId(1), 99, &of));
        assert!(!keys.note_look_ups(LedgerId(2), 99, &of));
        assert!(keys.note_look_ups(LedgerId(1), 1, &of));
        assert!(
            !keys.note_look_ups(LedgerId(1), 99, &of),
            "it counts from the beginning"
        );
        let too_large = months(i64::MAX, FILTERS_BYTES_MAX + 1);
        assert!(!keys.note_look_ups(LedgerId(3), u64::MAX, &too_large));
        let largest = months(i64::MAX, FILTERS_BYTES_MAX / BLOCK_BYTES as u64 * BLOCK_KEYS);
        assert!(keys.note_look_ups(LedgerId(4), u64::MAX, &largest));
    }

    #[test]
    fn the_filter_that_was_not_used_for_the_longest_time_makes_room() {
        let keys = EarlierKeys::default();
        let half = months(9, FILTERS_BYTES_MAX / 2 - BLOCK_KEYS);
        for ledger in [1, 2] {
            keys.insert(LedgerId(ledger), filter(&half));
        }
        assert!(keys.get(LedgerId(1), &half).is_some());
        keys.insert(LedgerId(3), filter(&half));
        let held = [1, 2, 3].map(|ledger| keys.get(LedgerId(ledger), &half).is_some());
        assert_eq!(held, [true, false, true]);
        assert!(keys.bytes() <= FILTERS_BYTES_MAX);
    }

    #[test]
    fn a_filter_is_dropped_after_some_refusals_in_succession() {
        let keys = EarlierKeys::default();
        let (ledger_id, of) = (LedgerId(1), months(100, 100));
        keys.insert(ledger_id, filter(&of));
        let held = keys.get(ledger_id, &of).unwrap();
        for _ in 1..REFUSALS_MAX {
            keys.refused(ledger_id, &held);
        }
        held.confirmed();
        for _ in 1..REFUSALS_MAX {
            keys.refused(ledger_id, &held);
            assert!(keys.get(ledger_id, &of).is_some());
        }
        keys.refused(ledger_id, &held);
        assert!(keys.get(ledger_id, &of).is_none());
    }
}
