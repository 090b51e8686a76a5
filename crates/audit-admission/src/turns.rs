//! A semaphore with fair turns.
//!
//! A holder of a permit belongs to a *member* of a *group*, such as a credential of an organization. A permit that becomes free
//! goes to the waiting group that holds the fewest, and within the group to the member that holds the fewest; equals take turns.
//! This is max-min fairness: an owner alone gets what it asks for, and several get the same, whatever each of them asks for.
//!
//! Work in progress is not interrupted. So that some permits stay free, an owner may hold at most a multiple of the number of
//! free ones. This is the dynamic threshold of Choudhury and Hahne ("Dynamic queue length thresholds for shared-memory packet
//! switches", IEEE/ACM Transactions on Networking 6(2), 1998).

use parking_lot::Mutex;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::timeout;

/// What an owner of permits is identified by.
pub trait Owner: Clone + Ord + Hash {}
impl<T: Clone + Ord + Hash> Owner for T {}

/// The bounds of a [`Turns`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnsOptions {
    /// How many may hold a permit at once, of all owners together; at least 1 counts.
    pub permits: usize,
    /// A group may hold at most this many times the number of free permits.
    pub group_share: usize,
    /// A member may hold at most this many times the number of free permits.
    pub member_share: usize,
    /// How many may wait in a group.
    pub group_waiting_max: usize,
    /// How many may wait for a member.
    pub member_waiting_max: usize,
    /// How long one waits at most.
    pub wait_max: Duration,
}

/// No permit: too many of this owner wait, or none became free in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy;

impl fmt::Display for Busy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("too many requests of this owner are waiting")
    }
}

impl std::error::Error for Busy {}

/// A semaphore with fair turns between groups, and between the members of a group.
pub struct Turns<G: Owner, M: Owner> {
    options: TurnsOptions,
    state: Mutex<State<G, M>>,
}

/// A permit, held until it is dropped.
pub struct Turn<G: Owner, M: Owner> {
    turns: Arc<Turns<G, M>>,
    group: G,
    member: M,
}

struct State<G, M> {
    free: usize,
    waiting: usize,
    /// Increases with each permit that is given or given back and each waiter. Identifies waiters, and orders equals.
    tick: u64,
    groups: Owners<G, Owners<M, VecDeque<Waiter>>>,
}

struct Waiter {
    id: u64,
    granted: oneshot::Sender<()>,
}

/// Owners that hold or wait, and for each of them what is below it.
struct Owners<K, V> {
    entries: HashMap<K, Entry<V>>,
    /// The waiting ones in the order in which they get permits: by what they hold, then by when they last held one.
    turns: BTreeSet<(usize, u64, K)>,
}

struct Entry<V> {
    held: usize,
    waiting: usize,
    /// When it last got a permit or gave one back, or when it appeared.
    served: u64,
    below: V,
}

impl<K, V> Default for Owners<K, V> {
    fn default() -> Self {
        Self {
            entries: HashMap::new(),
            turns: BTreeSet::new(),
        }
    }
}

impl<K: Owner, V: Default> Owners<K, V> {
    fn held(&self, key: &K) -> usize {
        self.entries.get(key).map_or(0, |entry| entry.held)
    }

    fn waiting(&self, key: &K) -> usize {
        self.entries.get(key).map_or(0, |entry| entry.waiting)
    }

    /// Changes an owner, keeps its place in the order right, and forgets it when it neither holds nor waits.
    fn change<T>(&mut self, key: &K, tick: u64, change: impl FnOnce(&mut Entry<V>) -> T) -> T {
        let entry = self.entries.entry(key.clone()).or_insert_with(|| Entry {
            held: 0,
            waiting: 0,
            served: tick,
            below: V::default(),
        });
        let before = (entry.held, entry.served, entry.waiting > 0);
        let outcome = change(entry);
        let after = (entry.held, entry.served, entry.waiting > 0);
        let is_idle = entry.held == 0 && entry.waiting == 0;
        if before != after {
            if before.2 {
                self.turns.remove(&(before.0, before.1, key.clone()));
            }
            if after.2 {
                self.turns.insert((after.0, after.1, key.clone()));
            }
        }
        if is_idle {
            self.entries.remove(key);
        }
        outcome
    }
}

/// Whether an owner that holds `held` may have one more.
fn is_within_share(held: usize, share: usize, free: usize) -> bool {
    held < share.max(1).saturating_mul(free)
}

impl<G: Owner, M: Owner> State<G, M> {
    fn next_tick(&mut self) -> u64 {
        self.tick += 1;
        self.tick
    }

    fn held(&self, group: &G, member: &M) -> (usize, usize) {
        let Some(entry) = self.groups.entries.get(group) else {
            return (0, 0);
        };
        (entry.held, entry.below.held(member))
    }

    fn add_held(&mut self, group: &G, member: &M) {
        let tick = self.next_tick();
        self.free -= 1;
        self.groups.change(group, tick, |entry| {
            entry.held += 1;
            entry.served = tick;
            entry.below.change(member, tick, |entry| {
                entry.held += 1;
                entry.served = tick;
            });
        });
    }

    fn remove_held(&mut self, group: &G, member: &M) {
        let tick = self.next_tick();
        self.free += 1;
        self.groups.change(group, tick, |entry| {
            entry.held -= 1;
            entry.served = tick;
            entry.below.change(member, tick, |entry| {
                entry.held -= 1;
                entry.served = tick;
            });
        });
    }

    fn add_waiter(&mut self, group: &G, member: &M, granted: oneshot::Sender<()>) -> u64 {
        let id = self.next_tick();
        self.waiting += 1;
        self.groups.change(group, id, |entry| {
            entry.waiting += 1;
            entry.below.change(member, id, |entry| {
                entry.waiting += 1;
                entry.below.push_back(Waiter { id, granted });
            });
        });
        id
    }

    /// Takes a waiter out: the given one, or the first.
    fn remove_waiter(&mut self, group: &G, member: &M, id: Option<u64>) -> Option<Waiter> {
        let tick = self.tick;
        let removed = self.groups.change(group, tick, |entry| {
            let removed = entry.below.change(member, tick, |entry| {
                let queue = &mut entry.below;
                let index = id.map_or(Some(0), |id| queue.iter().position(|waiter| waiter.id == id));
                let removed = index.and_then(|index| queue.remove(index));
                entry.waiting = queue.len();
                removed
            });
            entry.waiting -= usize::from(removed.is_some());
            removed
        });
        self.waiting -= usize::from(removed.is_some());
        removed
    }

    /// The owner that gets the next permit.
    fn next(&self, options: &TurnsOptions) -> Option<(G, M)> {
        if self.free == 0 {
            return None;
        }
        for (held, _, group) in &self.groups.turns {
            if !is_within_share(*held, options.group_share, self.free) {
                // The others hold at least as many.
                return None;
            }
            let entry = self.groups.entries.get(group)?;
            // The first member holds the fewest.
            if let Some((held, _, member)) = entry.below.turns.first()
                && is_within_share(*held, options.member_share, self.free)
            {
                return Some((group.clone(), member.clone()));
            }
        }
        None
    }

    /// Gives free permits to those who wait.
    fn give(&mut self, options: &TurnsOptions) {
        while let Some((group, member)) = self.next(options) {
            let Some(waiter) = self.remove_waiter(&group, &member, None) else {
                return;
            };
            // A waiter that has gone gets none.
            if waiter.granted.send(()).is_ok() {
                self.add_held(&group, &member);
            }
        }
    }
}

impl<G: Owner, M: Owner> Turns<G, M> {
    /// All permits are free.
    pub fn new(options: TurnsOptions) -> Arc<Self> {
        let options = TurnsOptions {
            permits: options.permits.max(1),
            ..options
        };
        let state = State {
            free: options.permits,
            waiting: 0,
            tick: 0,
            groups: Owners::default(),
        };
        Arc::new(Self {
            options,
            state: Mutex::new(state),
        })
    }

    /// How many permits are held.
    pub fn held(&self) -> usize {
        self.options.permits - self.state.lock().free
    }

    /// How many wait for a permit.
    pub fn waiting(&self) -> usize {
        self.state.lock().waiting
    }

    /// Waits for a permit, outside of any lock. Whoever drops the future gives up its place.
    ///
    /// # Errors
    /// [`Busy`] at once if as many wait for this member, or in this group, as may; otherwise after the longest wait.
    pub async fn take(self: &Arc<Self>, group: G, member: M) -> Result<Turn<G, M>, Busy> {
        let options = &self.options;
        let mut waiting = {
            let mut state = self.state.lock();
            let (group_held, member_held) = state.held(&group, &member);
            // A new request does not overtake waiters of its own group.
            let is_first = state.groups.waiting(&group) == 0;
            if is_first
                && is_within_share(group_held, options.group_share, state.free)
                && is_within_share(member_held, options.member_share, state.free)
            {
                state.add_held(&group, &member);
                drop(state);
                return Ok(self.turn(group, member));
            }
            let member_waiting = state
                .groups
                .entries
                .get(&group)
                .map_or(0, |entry| entry.below.waiting(&member));
            if state.groups.waiting(&group) >= options.group_waiting_max
                || member_waiting >= options.member_waiting_max
            {
                return Err(Busy);
            }
            let (granted, grant) = oneshot::channel();
            let id = state.add_waiter(&group, &member, granted);
            // The first of a group may be over its share where this member is not.
            state.give(options);
            Waiting {
                turns: self,
                group,
                member,
                id,
                grant: Some(grant),
            }
        };
        waiting.granted().await
    }

    fn turn(self: &Arc<Self>, group: G, member: M) -> Turn<G, M> {
        Turn {
            turns: Arc::clone(self),
            group,
            member,
        }
    }
}

/// A place in the queue. Dropped, it is given up, with the permit if that was granted meanwhile.
struct Waiting<'a, G: Owner, M: Owner> {
    turns: &'a Arc<Turns<G, M>>,
    group: G,
    member: M,
    id: u64,
    /// None after the permit was taken.
    grant: Option<oneshot::Receiver<()>>,
}

impl<G: Owner, M: Owner> Waiting<'_, G, M> {
    async fn granted(&mut self) -> Result<Turn<G, M>, Busy> {
        let Some(grant) = &mut self.grant else {
            return Err(Busy);
        };
        match timeout(self.turns.options.wait_max, grant).await {
            Ok(Ok(())) => {
                self.grant = None;
                Ok(self.turns.turn(self.group.clone(), self.member.clone()))
            }
            _ => Err(Busy),
        }
    }
}

impl<G: Owner, M: Owner> Drop for Waiting<'_, G, M> {
    fn drop(&mut self) {
        let Some(mut grant) = self.grant.take() else {
            return;
        };
        let mut state = self.turns.state.lock();
        grant.close();
        if grant.try_recv().is_ok() {
            state.remove_held(&self.group, &self.member);
            state.give(&self.turns.options);
        } else {
            state.remove_waiter(&self.group, &self.member, Some(self.id));
        }
    }
}

impl<G: Owner, M: Owner> Drop for Turn<G, M> {
    fn drop(&mut self) {
        let mut state = self.turns.state.lock();
        state.remove_held(&self.group, &self.member);
        state.give(&self.turns.options);
    }
}

impl<G: Owner, M: Owner> fmt::Debug for Turns<G, M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = formatter.debug_struct("Turns");
        text.field("options", &self.options).field("held", &self.held());
        text.field("waiting", &self.waiting()).finish()
    }
}

impl<G: Owner, M: Owner> fmt::Debug for Turn<G, M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Turn").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
