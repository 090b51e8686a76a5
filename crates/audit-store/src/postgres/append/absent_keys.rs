//! The idempotency keys that a commit looks up while it is stored.

use crate::append::idempotency::KeyHash;
use crate::append::plan::Plan;
use crate::ids::LedgerId;
use crate::postgres::earlier_keys::{EarlierKeys, EarlierMonths, KeyFilter, Past};
use audit_domain::{IdempotencyWindow, Month};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

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

/// What a statement that stores events asks of the events that are stored already.
#[derive(Debug)]
pub(crate) struct AbsentKeys<'a> {
    /// Keys that may not be in the earlier months of the window.
    pub(crate) earlier: Keys<'a>,
    /// Keys that may not be in the month of the commit.
    pub(crate) current: Keys<'a>,
    /// Events that must be there, or else the filters are of another history.
    pub(crate) pasts: Pasts,
}

/// Keys of ledgers, and the months in which they are looked up.
#[derive(Debug)]
pub(crate) struct Keys<'a> {
    /// The ledger of each key.
    pub(crate) ledger_ids: Vec<i64>,
    pub(crate) hashes: Vec<&'a [u8]>,
    pub(crate) months: SearchedMonths,
}

/// The last events of the earlier months of ledgers ([`Past`]).
#[derive(Debug)]
pub(crate) struct Pasts {
    pub(crate) ledger_ids: Vec<i64>,
    pub(crate) seqs: Vec<i64>,
    pub(crate) content_hashes: Vec<Vec<u8>>,
    pub(crate) months: SearchedMonths,
}

/// The months in which rows are looked up.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SearchedMonths {
    /// These, which have partitions. A statement that names partitions locks no others.
    Named(BTreeSet<Month>),
    /// All from the first number to before the second.
    Range(Range<i32>),
}

impl SearchedMonths {
    const NONE: Self = Self::Range(0..0);

    /// Adds a month.
    fn add(&mut self, month: Month) {
        let number = month.number();
        match self {
            Self::Range(range) if range.start >= range.end => *self = Self::Named(BTreeSet::from([month])),
            Self::Range(range) => *range = range.start.min(number)..range.end.max(number + 1),
            Self::Named(months) => {
                months.insert(month);
                if let (Some(first), Some(last)) = (months.first(), months.last()) {
                    let (start, end) = (first.number(), last.number() + 1);
                    if end - start > NAMED_MONTHS_MAX {
                        *self = Self::Range(start..end);
                    }
                }
            }
        }
    }
}

impl<'a> Keys<'a> {
    const NONE: Self = Self {
        ledger_ids: Vec::new(),
        hashes: Vec::new(),
        months: SearchedMonths::NONE,
    };

    fn push(&mut self, ledger_id: LedgerId, hash: &'a KeyHash) {
        self.ledger_ids.push(ledger_id.0);
        self.hashes.push(hash);
    }
}

impl Pasts {
    const NONE: Self = Self {
        ledger_ids: Vec::new(),
        seqs: Vec::new(),
        content_hashes: Vec::new(),
        months: SearchedMonths::NONE,
    };

    fn push(&mut self, ledger_id: LedgerId, past: &Past) {
        self.ledger_ids.push(ledger_id.0);
        self.seqs.push(past.seq_end - 1);
        self.content_hashes.push(past.content_hash.clone());
        self.months.add(past.month);
    }
}

/// How the keys of a ledger are looked up in the months before that of the commit.
enum Earlier {
    /// It has no events there.
    Nothing,
    LookedUp {
        keys: u64,
        months: EarlierMonths,
    },
    /// Those that the filter may have are looked up.
    Filtered(Arc<KeyFilter>),
}

/// The filters that a statement relies on, and those that are missing.
#[derive(Debug, Default)]
pub(crate) struct UsedFilters {
    filters: Vec<(LedgerId, Arc<KeyFilter>)>,
    /// Ledgers whose keys are to be read.
    pub(crate) missing: Vec<LedgerId>,
}

impl UsedFilters {
    /// Notes whether the statement stored its events.
    pub(crate) fn note(&self, has_stored: bool, earlier_keys: &EarlierKeys) {
        for (ledger_id, filter) in &self.filters {
            match has_stored {
                true => filter.confirmed(),
                false => earlier_keys.refused(*ledger_id, filter),
            }
        }
    }
}

impl<'a> AbsentKeys<'a> {
    /// No key. The unique index refuses those of the month of the commit.
    pub(crate) const NONE: Self = Self {
        earlier: Keys::NONE,
        current: Keys::NONE,
        pasts: Pasts::NONE,
    };

    /// The keys of a plan: in the earlier months of the window in which its ledger has events, unless a filter says that they are not
    /// there, and if `is_whole_window`, in the month of the commit as well.
    pub(crate) fn of(
        plan: &'a Plan,
        window: IdempotencyWindow,
        is_whole_window: bool,
        earlier_keys: &EarlierKeys,
    ) -> (Self, UsedFilters) {
        let mut absent = Self::NONE;
        let mut ledgers: HashMap<LedgerId, Earlier> = HashMap::new();
        for row in &plan.rows {
            let (ledger_id, Some(key)) = (row.ledger_id, &row.event.idempotency) else {
                continue;
            };
            let earlier = ledgers
                .entry(ledger_id)
                .or_insert_with(|| absent.begin(plan, ledger_id, window, is_whole_window, earlier_keys));
            let is_looked_up = match earlier {
                Earlier::Nothing => false,
                Earlier::LookedUp { keys, .. } => {
                    *keys += 1;
                    true
                }
                Earlier::Filtered(filter) => filter.may_hold(ledger_id, &key.hash),
            };
            if is_looked_up {
                absent.earlier.push(ledger_id, &key.hash);
            }
            if is_whole_window {
                absent.current.push(ledger_id, &key.hash);
            }
        }
        let mut used = UsedFilters::default();
        for (ledger_id, earlier) in ledgers {
            match earlier {
                Earlier::LookedUp { keys, months }
                    if earlier_keys.note_look_ups(ledger_id, keys, &months) =>
                {
                    used.missing.push(ledger_id);
                }
                Earlier::Nothing | Earlier::LookedUp { .. } => {}
                Earlier::Filtered(filter) => used.filters.push((ledger_id, filter)),
            }
        }
        (absent, used)
    }

    /// Adds the months of a ledger.
    fn begin(
        &mut self,
        plan: &Plan,
        ledger_id: LedgerId,
        window: IdempotencyWindow,
        is_whole_window: bool,
        earlier_keys: &EarlierKeys,
    ) -> Earlier {
        let month = plan.month_of(ledger_id);
        if is_whole_window {
            self.current.months.add(month);
        }
        let Some(head) = plan.after.heads.get(&ledger_id) else {
            return Earlier::Nothing;
        };
        let Some(months) = EarlierMonths::of(head, window, month) else {
            return Earlier::Nothing;
        };
        let in_window = months.first_month..month;
        let in_window = head.months.iter().filter(|one| in_window.contains(&one.month));
        in_window.for_each(|one| self.earlier.months.add(one.month));
        match earlier_keys.get(ledger_id, &months) {
            Some(filter) => {
                self.pasts.push(ledger_id, &filter.past);
                Earlier::Filtered(filter)
            }
            None => Earlier::LookedUp { keys: 0, months },
        }
    }

    /// Whether the statement names partitions, which somebody may have removed.
    pub(crate) fn names_partitions(&self) -> bool {
        [&self.earlier.months, &self.current.months, &self.pasts.months]
            .iter()
            .any(|months| matches!(months, SearchedMonths::Named(_)))
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

    #[test]
    fn a_few_months_are_named_and_many_are_a_range() {
        let month = Month::from_number;
        let mut months = SearchedMonths::NONE;
        for number in [681, 680, 681, 682] {
            months.add(month(number));
        }
        assert_eq!(months, SearchedMonths::Named([680, 681, 682].map(month).into()));
        months.add(month(678));
        assert_eq!(months, SearchedMonths::Range(678..683));
        months.add(month(684));
        assert_eq!(months, SearchedMonths::Range(678..685));
    }
}
