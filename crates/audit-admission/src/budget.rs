//! A budget that many owners share by dynamic thresholds.
//!
//! Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory packet switches", IEEE/ACM Transactions on
//! Networking 6 (2), 1998: an owner may hold at most [`ALPHA`] times what is free. The threshold falls while the budget
//! fills. With `n` owners that take all they get, each holds `ALPHA / (1 + n * ALPHA)` of the budget, and
//! `1 / (1 + n * ALPHA)` of it stays free for the next one. An owner that holds more than its share because others came later
//! keeps what it has and gets no more.
//!
//! An owner can have members, such as the keys of an organization. They share what their owner may hold by the same rule: a member may hold
//! at most [`ALPHA`] times what its owner may still take. So one member alone gets less than its owner, and something is left for the others.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::sync::Arc;

/// An owner may hold this many times what is free: alone two thirds of the budget, each of two owners two fifths.
const ALPHA: usize = 2;

/// A number of units (bytes, connections) that many owners share.
#[derive(Debug)]
pub struct Budget<O, M = ()> {
    shared: Arc<Shared<O, M>>,
}

#[derive(Debug)]
struct Shared<O, M> {
    units_max: usize,
    ledger: Mutex<Ledger<O, M>>,
}

/// The units that are held. Owners and members that hold none are absent, so the table is as large as the present ones need.
#[derive(Debug)]
struct Ledger<O, M> {
    held: usize,
    by_owner: HashMap<O, Share<M>>,
}

/// The units of an owner.
#[derive(Debug)]
struct Share<M> {
    held: usize,
    by_member: HashMap<M, usize>,
}

impl<M> Default for Share<M> {
    fn default() -> Self {
        Self {
            held: 0,
            by_member: HashMap::new(),
        }
    }
}

/// The units that one holder has taken for an owner. They return to the budget when it is dropped.
#[derive(Debug)]
pub struct Held<O: Eq + Hash, M: Eq + Hash = ()> {
    shared: Arc<Shared<O, M>>,
    owner: O,
    member: Option<M>,
    units: usize,
}

impl<O, M> Clone for Budget<O, M> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<O: Clone + Eq + Hash, M: Clone + Eq + Hash> Budget<O, M> {
    /// A budget of `units_max` units.
    #[must_use]
    pub fn new(units_max: usize) -> Self {
        let ledger = Ledger {
            held: 0,
            by_owner: HashMap::new(),
        };
        Self {
            shared: Arc::new(Shared {
                units_max,
                ledger: Mutex::new(ledger),
            }),
        }
    }

    /// A holder for `owner`, of no units yet.
    #[must_use]
    pub fn hold(&self, owner: O) -> Held<O, M> {
        self.hold_for(owner, None)
    }

    /// A holder for a member of `owner`, of no units yet.
    #[must_use]
    pub fn hold_for(&self, owner: O, member: Option<M>) -> Held<O, M> {
        Held {
            shared: Arc::clone(&self.shared),
            owner,
            member,
            units: 0,
        }
    }

    /// The units that all owners hold.
    #[must_use]
    pub fn held(&self) -> usize {
        self.shared.ledger.lock().held
    }
}

impl<M: Clone + Eq + Hash> Share<M> {
    fn of(&self, member: Option<&M>) -> usize {
        member
            .and_then(|member| self.by_member.get(member))
            .map_or(0, |own| *own)
    }

    fn take(&mut self, member: Option<&M>, units: usize) {
        self.held += units;
        if let Some(member) = member {
            *self.by_member.entry(member.clone()).or_default() += units;
        }
    }
}

impl<O: Clone + Eq + Hash, M: Clone + Eq + Hash> Held<O, M> {
    /// Takes `units` more. Returns false, and takes none, if the owner or its member would then hold more than its share.
    #[must_use]
    pub fn grow(&mut self, units: usize) -> bool {
        let Ledger { held, by_owner } = &mut *self.shared.ledger.lock();
        let free = self.shared.units_max.saturating_sub(*held);
        let Some(free_after) = free.checked_sub(units) else {
            return false;
        };
        let entry = by_owner.entry(self.owner.clone());
        let member = self.member.as_ref();
        let (of_owner, of_member) = match &entry {
            Entry::Occupied(share) => (share.get().held, share.get().of(member)),
            Entry::Vacant(_) => (0, 0),
        };
        let owner_max = free_after.saturating_mul(ALPHA);
        let Some(owner_free_after) = owner_max.checked_sub(of_owner.saturating_add(units)) else {
            return false;
        };
        let is_member_full = of_member.saturating_add(units) > owner_free_after.saturating_mul(ALPHA);
        if member.is_some() && is_member_full {
            return false;
        }
        if units > 0 {
            *held += units;
            entry.or_default().take(member, units);
            self.units += units;
        }
        true
    }

    /// Takes `units` more, whatever the share, for what cannot be refused any more. The budget may then be exceeded.
    pub fn take(&mut self, units: usize) {
        if units > 0 {
            let mut ledger = self.shared.ledger.lock();
            ledger.held += units;
            let share = ledger.by_owner.entry(self.owner.clone()).or_default();
            share.take(self.member.as_ref(), units);
            self.units += units;
        }
    }

    /// Whether [`Self::grow`] would grant `units`.
    #[must_use]
    pub fn has_room(&mut self, units: usize) -> bool {
        let granted = self.grow(units);
        if granted {
            self.shrink_to(self.units - units);
        }
        granted
    }
}

impl<O: Eq + Hash, M: Eq + Hash> Held<O, M> {
    /// Returns units until at most `units` are held.
    pub fn shrink_to(&mut self, units: usize) {
        let returned = self.units.saturating_sub(units);
        if returned == 0 {
            return;
        }
        let mut ledger = self.shared.ledger.lock();
        ledger.held -= returned;
        if let Some(share) = ledger.by_owner.get_mut(&self.owner) {
            share.held -= returned;
            if let Some(member) = &self.member
                && let Some(own) = share.by_member.get_mut(member)
            {
                *own -= returned;
                if *own == 0 {
                    share.by_member.remove(member);
                }
            }
            if share.held == 0 {
                ledger.by_owner.remove(&self.owner);
            }
        }
        self.units -= returned;
    }

    /// The units that this holder has.
    #[must_use]
    pub const fn units(&self) -> usize {
        self.units
    }
}

impl<O: Eq + Hash, M: Eq + Hash> Drop for Held<O, M> {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Budget = super::Budget<u32>;

    /// Takes one unit at a time until refused.
    fn fill<M: Clone + Eq + Hash>(held: &mut Held<u32, M>) {
        while held.grow(1) {}
    }

    #[test]
    fn a_member_leaves_something_to_the_others_of_its_owner_and_to_other_owners() {
        let budget = super::Budget::<u32, &str>::new(49_000);
        let mut greedy: Vec<_> = (0..100).map(|_| budget.hold_for(1, Some("viewer"))).collect();
        greedy.iter_mut().for_each(fill);
        assert_eq!(budget.held(), 28_000, "four sevenths");
        let mut other = budget.hold_for(1, Some("key"));
        fill(&mut other);
        assert_eq!(other.units(), 4_000, "and four sevenths of a seventh");
        assert!(budget.hold_for(2, Some("key")).grow(5_000));
        drop((greedy, other));
        assert_eq!(budget.held(), 0);
        assert!(budget.shared.ledger.lock().by_owner.is_empty());
    }

    #[test]
    fn alone_an_owner_takes_two_thirds_and_two_owners_two_fifths_each() {
        let budget = Budget::new(1_500);
        let mut first = budget.hold(1);
        fill(&mut first);
        assert_eq!(first.units(), 1_000);
        first.shrink_to(0);
        let mut second = budget.hold(2);
        while first.grow(1) | second.grow(1) {}
        assert_eq!((first.units(), second.units()), (600, 600));
    }

    #[test]
    fn an_owner_has_one_share_however_many_holders_it_has() {
        let budget = Budget::new(1_500);
        let mut holders: Vec<_> = (0..100).map(|_| budget.hold(1)).collect();
        holders.iter_mut().for_each(fill);
        assert_eq!(budget.held(), 1_000);
        assert!(budget.hold(2).grow(300));
    }

    #[test]
    fn whatever_others_hold_something_is_left_for_the_next_owner() {
        const UNITS: usize = 10_000;
        for owners in [1, 2, 5, 20] {
            let budget = Budget::new(UNITS);
            let mut holders: Vec<_> = (0..owners).map(|owner| budget.hold(owner)).collect();
            while holders.iter_mut().fold(false, |grew, held| held.grow(1) | grew) {}
            let mut next = budget.hold(owners);
            fill(&mut next);
            let free = UNITS / (1 + owners as usize * ALPHA);
            assert!(
                next.units() >= free * ALPHA / (1 + ALPHA),
                "{owners}: {}",
                next.units()
            );
        }
    }

    #[test]
    fn a_refused_holder_keeps_what_it_has_and_an_owner_that_holds_nothing_takes_no_memory() {
        let budget = Budget::new(9);
        let mut held = budget.hold(1);
        assert!(held.grow(6) && !held.grow(1) && !held.grow(usize::MAX));
        assert_eq!((held.units(), budget.held()), (6, 6));
        assert!(
            !budget.hold(2).grow(3),
            "it would hold more than twice what is then free"
        );
        assert!(budget.hold(2).grow(2));
        drop(held);
        assert_eq!(budget.held(), 0);
        assert!(budget.shared.ledger.lock().by_owner.is_empty());
    }

    #[test]
    fn what_cannot_be_refused_counts_beyond_the_share() {
        let budget = Budget::new(9);
        let mut held = budget.hold(1);
        assert!(held.has_room(6) && !held.has_room(7));
        assert_eq!(budget.held(), 0);
        held.take(20);
        assert!(!held.grow(1) && !budget.hold(2).grow(1));
        held.shrink_to(1);
        assert_eq!((held.units(), budget.held()), (1, 1));
        assert!(budget.hold(2).grow(1));
    }

    proptest! {
        #[test]
        fn the_sums_are_right_and_never_exceed_the_budget(
            steps in prop::collection::vec((0_usize..8, 0_usize..400, any::<bool>()), 1..200)
        ) {
            let budget = Budget::new(1_000);
            let mut holders: Vec<_> = (0..8).map(|number| budget.hold(number % 3)).collect();
            for (number, units, grows) in steps {
                if grows {
                    let _is_granted = holders[number].grow(units);
                } else {
                    holders[number].shrink_to(units);
                }
                let sum: usize = holders.iter().map(Held::units).sum();
                prop_assert_eq!(sum, budget.held());
                prop_assert!(sum < 1_000, "an owner never takes all");
            }
        }
    }
}
