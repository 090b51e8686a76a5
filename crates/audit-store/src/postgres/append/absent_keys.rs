//! The idempotency keys that a commit looks up while it is stored.

use crate::append::LedgerId;
use crate::append::plan::{LedgerMonth, Plan};
use audit_domain::{IdempotencyWindow, Month};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// Commits that look up their keys before they are stored, after a key was found to be stored already.
const LOOKED_UP_COMMITS: u32 = 1_000;
/// Months whose partitions a statement names, at most. Each set of months is a statement of its own, which a session keeps.
const NAMED_MONTHS_MAX: i32 = 3;

/// Whether a commit that expects its heads looks up its keys before it is stored. The unique index refuses a key that exists,
/// so a look-up is wasted as long as repeats are rare. A refused commit was written for nothing.
#[derive(Debug, Default)]
pub(crate) struct KeyLookups {
    commits_left: u32,
}

impl KeyLookups {
    /// Notes how many keys of a commit were stored already.
    pub(crate) fn found(&mut self, keys: usize) {
        if keys > 0 {
            self.commits_left = LOOKED_UP_COMMITS;
        }
    }

    /// Whether the next commit looks up its keys.
    pub(crate) fn next(&mut self) -> bool {
        let is_next = self.commits_left > 0;
        self.commits_left = self.commits_left.saturating_sub(1);
        is_next
    }
}

/// Keys of ledgers that must not be stored yet in some months.
#[derive(Debug)]
pub(crate) struct AbsentKeys<'a> {
    /// The ledger of each key.
    pub(crate) ledger_ids: Vec<i64>,
    pub(crate) hashes: Vec<&'a [u8]>,
    pub(crate) months: SearchedMonths,
}

/// The months in which keys are looked up.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SearchedMonths {
    /// These, which have partitions. A statement that names partitions locks no others.
    Named(BTreeSet<Month>),
    /// All from the first number to before the second.
    Range(Range<i32>),
}

impl<'a> AbsentKeys<'a> {
    /// No key. The unique index refuses those of the month of the commit.
    pub(crate) const NONE: Self = Self {
        ledger_ids: Vec::new(),
        hashes: Vec::new(),
        months: SearchedMonths::Range(0..0),
    };

    /// The keys of a plan: in the earlier months of the window in which its ledger has events, and if `is_whole_window`, in the
    /// month of the commit as well. A key of a ledger that has events in none of them is left out.
    pub(crate) fn of(plan: &'a Plan, window: IdempotencyWindow, is_whole_window: bool) -> Self {
        let mut absent = Self::NONE;
        let mut searched: BTreeSet<Month> = BTreeSet::new();
        let mut ledgers: HashMap<LedgerId, bool> = HashMap::new();
        for row in &plan.rows {
            let Some(key) = &row.idempotency else { continue };
            let is_searched = *ledgers.entry(row.ledger_id).or_insert_with(|| {
                let end = if is_whole_window {
                    row.month.plus(1)
                } else {
                    row.month
                };
                let range = window.first_month(row.month)..end;
                let head = plan.after.heads.get(&row.ledger_id);
                let months: &[LedgerMonth] = head.map_or(&[], |head| &head.months);
                let in_range: Vec<Month> = months
                    .iter()
                    .map(|one| one.month)
                    .filter(|one| range.contains(one))
                    .collect();
                searched.extend(&in_range);
                !in_range.is_empty()
            });
            if is_searched {
                absent.ledger_ids.push(row.ledger_id.0);
                absent.hashes.push(key.hash.as_slice());
            }
        }
        if let (Some(first), Some(last)) = (searched.first(), searched.last()) {
            let (start, end) = (first.number(), last.number() + 1);
            absent.months = match end - start <= NAMED_MONTHS_MAX {
                true => SearchedMonths::Named(searched),
                false => SearchedMonths::Range(start..end),
            };
        }
        absent
    }

    /// Whether the statement names partitions, which somebody may have removed.
    pub(crate) fn names_partitions(&self) -> bool {
        matches!(self.months, SearchedMonths::Named(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_looked_up_for_the_next_commits_after_a_repeat() {
        let mut lookups = KeyLookups::default();
        lookups.found(0);
        assert!(!lookups.next());
        lookups.found(1);
        assert!((0..LOOKED_UP_COMMITS).all(|_| lookups.next()));
        assert!(!lookups.next());
    }
}
