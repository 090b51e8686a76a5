//! The trees that the latest commits of this process led to, so that the signer need not read leaves back to prove that one
//! continues another.

use crate::ids::LedgerId;
use audit_ledger::{Frontier, TreeHead};
use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};

/// The maximum number of trees that are kept, of all ledgers: some 400 bytes each.
const TREES_MAX: usize = 16_384;

/// For each ledger the trees of consecutive commits of this process, in ascending order. Each was computed by appending the leaves
/// of a commit to the one before it, so it continues all before it. That stays true, whatever the database loses.
#[derive(Debug, Default)]
pub(crate) struct RecentTrees(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    ledgers: HashMap<LedgerId, VecDeque<Frontier>>,
    trees: usize,
}

impl RecentTrees {
    /// Adds the growth of a tree by a commit. When too many are kept, all others are dropped: they are of ledgers that are not signed, or
    /// the signer is far behind.
    pub(crate) fn add(&self, ledger_id: LedgerId, before: &Frontier, after: &Frontier) {
        let mut kept = self.0.lock();
        if kept.trees + 2 > TREES_MAX {
            *kept = Kept::default();
        }
        let Kept { ledgers, trees } = &mut *kept;
        let known = ledgers.entry(ledger_id).or_default();
        if known.back() != Some(before) {
            // Another process has committed since, or the database has lost commits.
            *trees -= known.len();
            known.clear();
            known.push_back(before.clone());
            *trees += 1;
        }
        known.push_back(after.clone());
        *trees += 1;
    }

    /// Whether commits of this process have grown the tree with the head `earlier` into `later`.
    pub(crate) fn have_grown(&self, ledger_id: LedgerId, earlier: &TreeHead, later: &Frontier) -> bool {
        let kept = self.0.lock();
        let Some(known) = kept.ledgers.get(&ledger_id) else {
            return false;
        };
        let of_size = |size: u64| {
            let index = known.binary_search_by_key(&size, Frontier::size).ok()?;
            known.get(index)
        };
        earlier.size <= later.size()
            && of_size(later.size()) == Some(later)
            && of_size(earlier.size).is_some_and(|tree| tree.head() == *earlier)
    }

    /// Drops the trees of a ledger that are smaller than `size`. The largest one alone proves nothing and is dropped, too.
    pub(crate) fn forget_smaller(&self, ledger_id: LedgerId, size: u64) {
        let mut kept = self.0.lock();
        let Kept { ledgers, trees } = &mut *kept;
        let Some(known) = ledgers.get_mut(&ledger_id) else {
            return;
        };
        let before = known.len();
        known.drain(..known.partition_point(|tree| tree.size() < size));
        if known.len() == 1 {
            known.clear();
        }
        *trees -= before - known.len();
        if known.is_empty() {
            ledgers.remove(&ledger_id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use audit_ledger::Hash;

    const LEDGER: LedgerId = LedgerId(7);

    /// Trees of these sizes, each continuing those before it. `salt` tells histories apart.
    fn trees(salt: u8, sizes: impl IntoIterator<Item = u64>) -> Vec<Frontier> {
        let mut tree = Frontier::new();
        let of_size = |size| {
            while tree.size() < size {
                tree.append(Hash::of_leaf(&[salt]));
            }
            tree.clone()
        };
        sizes.into_iter().map(of_size).collect()
    }

    fn with(ledger_id: LedgerId, trees: &[Frontier]) -> RecentTrees {
        let recent = RecentTrees::default();
        add(&recent, ledger_id, trees);
        recent
    }

    fn add(recent: &RecentTrees, ledger_id: LedgerId, trees: &[Frontier]) {
        for pair in trees.windows(2) {
            recent.add(ledger_id, &pair[0], &pair[1]);
        }
    }

    /// The number of trees, which must be the counted one.
    fn count(recent: &RecentTrees) -> usize {
        let kept = recent.0.lock();
        assert_eq!(
            kept.trees,
            kept.ledgers.values().map(VecDeque::len).sum::<usize>()
        );
        kept.trees
    }

    #[test]
    fn a_tree_continues_every_tree_before_it_and_no_other() {
        let known = trees(1, [0, 3, 4, 300]);
        let recent = with(LEDGER, &known);
        for (number, earlier) in known.iter().enumerate() {
            for later in &known[number..] {
                assert!(recent.have_grown(LEDGER, &earlier.head(), later));
            }
            for later in &known[..number] {
                assert!(
                    !recent.have_grown(LEDGER, &earlier.head(), later),
                    "it is smaller"
                );
            }
            assert!(!recent.have_grown(LedgerId(8), &earlier.head(), &known[3]));
        }
        let other = trees(2, [3, 4, 300]);
        assert!(!recent.have_grown(LEDGER, &other[0].head(), &known[3]));
        assert!(!recent.have_grown(LEDGER, &known[1].head(), &other[2]));
        assert!(!recent.have_grown(LEDGER, &known[1].head(), &trees(1, [200])[0]));
        assert!(!recent.have_grown(LEDGER, &trees(1, [2])[0].head(), &known[3]));
    }

    #[test]
    fn trees_before_a_commit_that_is_not_known_prove_nothing() {
        let known = trees(1, [1, 2, 3, 4]);
        let recent = with(LEDGER, &known[..2]);
        // Another process has grown the tree from 2 to 3.
        add(&recent, LEDGER, &known[2..]);
        assert!(recent.have_grown(LEDGER, &known[2].head(), &known[3]));
        assert!(!recent.have_grown(LEDGER, &known[1].head(), &known[3]));
        assert_eq!(count(&recent), 2);
    }

    #[test]
    fn a_history_that_takes_the_place_of_a_lost_one_does_not_continue_it() {
        let lost = trees(1, [5, 6, 7]);
        let recent = with(LEDGER, &lost);
        let mut other = lost[0].clone();
        other.append(Hash::of_leaf(&[2]));
        other.append(Hash::of_leaf(&[2]));
        recent.add(LEDGER, &lost[0], &other);
        assert!(recent.have_grown(LEDGER, &lost[0].head(), &other));
        assert!(!recent.have_grown(LEDGER, &lost[1].head(), &other));
        assert!(!recent.have_grown(LEDGER, &lost[2].head(), &other));
        assert_eq!(count(&recent), 2);
    }

    #[test]
    fn trees_before_a_signed_one_are_dropped() {
        let known = trees(1, [1, 2, 3, 4]);
        let recent = with(LEDGER, &known);
        recent.forget_smaller(LEDGER, 3);
        assert_eq!(count(&recent), 2);
        assert!(recent.have_grown(LEDGER, &known[2].head(), &known[3]));
        assert!(!recent.have_grown(LEDGER, &known[1].head(), &known[3]));
        recent.forget_smaller(LEDGER, 4);
        assert_eq!(count(&recent), 0);
        assert!(recent.0.lock().ledgers.is_empty());
        recent.forget_smaller(LEDGER, 5);
    }

    #[test]
    fn the_number_of_trees_is_bounded() {
        let recent = RecentTrees::default();
        let known = trees(1, [1, 2, 3]);
        for number in 0..TREES_MAX as i64 {
            add(&recent, LedgerId(number), &known);
            assert!(count_at_most(&recent), "ledger {number}");
            assert!(recent.have_grown(LedgerId(number), &known[1].head(), &known[2]));
        }
        count(&recent);
    }

    fn count_at_most(recent: &RecentTrees) -> bool {
        recent.0.lock().trees <= TREES_MAX
    }
}
