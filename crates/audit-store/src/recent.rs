//! The tenants and leaf hashes of the latest events that this process has committed, so that a map of tenants grows without reading
//! them back.
//!
//! A failover may have replaced the events of these positions since: who takes them verifies that they lead to a signed root.

use crate::append::plan::NewRow;
use crate::ids::LedgerId;
use audit_ledger::Hash;
use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};
use std::ops::Range;

/// The maximum number of events that are kept, of all ledgers: some 10 MB.
const EVENTS_MAX: usize = 131_072;

/// An event that this process has committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecentEvent {
    /// Its position in the ledger.
    pub seq: u64,
    /// Its tenant.
    pub tenant_id: String,
    /// The hash of its leaf.
    pub leaf: Hash,
}

/// The latest events of the ledgers whose maps this process keeps up to date.
#[derive(Debug, Default)]
pub(crate) struct RecentEvents(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// Of each ledger, without a gap.
    ledgers: HashMap<LedgerId, VecDeque<RecentEvent>>,
    events: usize,
}

impl Kept {
    fn forget(&mut self, ledger_id: LedgerId) {
        if let Some(kept) = self.ledgers.get_mut(&ledger_id) {
            self.events -= kept.len();
            *kept = VecDeque::new();
        }
    }

    fn add(&mut self, row: &NewRow) {
        let seq = row.seq.cast_unsigned();
        let Some(kept) = self.ledgers.get(&row.ledger_id) else {
            return;
        };
        let is_next = kept.back().is_none_or(|last| last.seq + 1 == seq);
        if !is_next || self.events >= EVENTS_MAX {
            self.forget(row.ledger_id);
        }
        let (Some(kept), Some(tenant_id)) =
            (self.ledgers.get_mut(&row.ledger_id), row.event.record.tenant_id())
        else {
            return;
        };
        if self.events < EVENTS_MAX {
            self.events += 1;
            kept.push_back(RecentEvent {
                seq,
                tenant_id,
                leaf: Hash::of_event(&row.event.record.content_hash()),
            });
        }
    }
}

impl RecentEvents {
    /// Keeps the events of this ledger from now on.
    pub(crate) fn keep(&self, ledger_id: LedgerId) {
        self.0.lock().ledgers.entry(ledger_id).or_default();
    }

    /// Adds the rows of a commit, in order.
    pub(crate) fn add(&self, rows: &[NewRow]) {
        let mut kept = self.0.lock();
        if !kept.ledgers.is_empty() {
            rows.iter().for_each(|row| kept.add(row));
        }
    }

    /// Removes the events of a ledger before the end of this range, and returns those of the range; `None` unless all were kept.
    pub(crate) fn take(&self, ledger_id: LedgerId, seqs: Range<u64>) -> Option<VecDeque<RecentEvent>> {
        let mut all = self.0.lock();
        let kept = all.ledgers.get_mut(&ledger_id)?;
        let first = kept.front()?.seq;
        let end = usize::try_from(seqs.end.saturating_sub(first)).ok()?;
        let later = kept.split_off(end.min(kept.len()));
        let mut taken = std::mem::replace(kept, later);
        all.events -= taken.len();
        let is_whole = first <= seqs.start && taken.back().is_some_and(|last| last.seq + 1 == seqs.end);
        taken.retain(|event| event.seq >= seqs.start);
        is_whole.then_some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEDGER: LedgerId = LedgerId(7);

    fn with(seqs: Range<u64>) -> RecentEvents {
        let recent = RecentEvents::default();
        recent.keep(LEDGER);
        {
            let mut kept = recent.0.lock();
            let event = |seq| RecentEvent {
                seq,
                tenant_id: "acme".to_owned(),
                leaf: Hash::of_leaf(&[0]),
            };
            kept.events = seqs.clone().count();
            kept.ledgers.insert(LEDGER, seqs.map(event).collect());
        }
        recent
    }

    fn taken(recent: &RecentEvents, seqs: Range<u64>) -> Option<Vec<u64>> {
        let taken = recent.take(LEDGER, seqs)?;
        Some(taken.iter().map(|event| event.seq).collect())
    }

    #[test]
    fn a_range_is_returned_only_if_all_of_it_was_kept() {
        assert_eq!(taken(&with(10..20), 10..15), Some((10..15).collect()));
        assert_eq!(taken(&with(10..20), 12..20), Some((12..20).collect()));
        assert_eq!(taken(&with(10..20), 9..15), None);
        assert_eq!(taken(&with(10..20), 15..21), None);
        assert_eq!(taken(&with(10..20), 5..8), None);
        assert_eq!(taken(&RecentEvents::default(), 0..1), None);
    }

    #[test]
    fn what_was_taken_is_forgotten_and_what_follows_is_kept() {
        let recent = with(10..20);
        assert_eq!(taken(&recent, 10..15), Some((10..15).collect()));
        assert_eq!(recent.0.lock().events, 5);
        assert_eq!(taken(&recent, 10..15), None);
        assert_eq!(taken(&recent, 15..20), Some((15..20).collect()));
        assert_eq!(recent.0.lock().events, 0);
    }
}
