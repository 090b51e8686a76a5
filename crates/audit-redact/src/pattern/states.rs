//! The states that searches have computed.
//!
//! An automaton computes its states when a text first needs them, and the next searches use them again. They are kept with
//! the engine and not with the automaton, so that their memory is bounded for all patterns of an engine together.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;

use super::automaton::{Automaton, Memory};

/// Most bytes of computed states that an engine keeps between searches. States beyond this are dropped after their search,
/// and the next search computes them again.
pub const STATES_KEPT_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Steps that an automaton may take for computing states before documents pay for it. An ordinary pattern computes its states
/// once for each thread that searches at once. A pattern whose states are not kept computes them for every text.
pub(super) const FREE_STEPS_PER_AUTOMATON: u64 = 8 * FREE_STEPS_PER_MEMORY;
/// Those of them that one memory takes at once.
pub(super) const FREE_STEPS_PER_MEMORY: u64 = 1024 * 1024;

/// The computed states of all automata of an engine.
#[derive(Debug)]
pub(super) struct States {
    automata: Vec<OfAutomaton>,
    kept_bytes: AtomicUsize,
}

#[derive(Debug)]
struct OfAutomaton {
    kept: Mutex<Vec<Memory>>,
    free_steps: AtomicU64,
}

impl States {
    pub(super) fn new(automata: usize) -> States {
        let automaton = || OfAutomaton {
            kept: Mutex::new(Vec::new()),
            free_steps: AtomicU64::new(FREE_STEPS_PER_AUTOMATON),
        };
        States {
            automata: std::iter::repeat_with(automaton).take(automata).collect(),
            kept_bytes: AtomicUsize::new(0),
        }
    }

    /// Bytes that are kept between searches, and those of running searches that were kept before.
    pub(super) fn kept_bytes(&self) -> usize {
        self.kept_bytes.load(Ordering::Relaxed)
    }

    /// The memory for one search with `automaton`, which is the one with this number.
    pub(super) fn borrow(&self, number: usize, automaton: &Automaton) -> Borrowed<'_> {
        let of_automaton = &self.automata[number];
        let kept = of_automaton.kept.lock().pop();
        let memory = kept.unwrap_or_else(|| {
            let take = |left: u64| Some(left.saturating_sub(FREE_STEPS_PER_MEMORY));
            let left = of_automaton
                .free_steps
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
                .unwrap_or_else(|left| left);
            automaton.memory(left.min(FREE_STEPS_PER_MEMORY))
        });
        Borrowed {
            states: self,
            of_automaton,
            memory: Some(memory),
        }
    }

    /// Counts a memory with its present size, if there is room for it.
    fn keep(&self, memory: &mut Memory) -> bool {
        let (before, now) = (memory.counted_bytes, memory.bytes());
        let has_room =
            self.count(|kept| Some(kept - before + now).filter(|kept| *kept <= STATES_KEPT_BYTES_MAX));
        if has_room {
            memory.counted_bytes = now;
        } else {
            self.count(|kept| Some(kept - before));
        }
        has_room
    }

    /// The bytes of each memory that is kept, measured.
    #[cfg(test)]
    pub(super) fn kept(&self) -> Vec<usize> {
        let automata = self.automata.iter();
        automata
            .flat_map(|automaton| {
                automaton
                    .kept
                    .lock()
                    .iter()
                    .map(Memory::bytes)
                    .collect::<Vec<_>>()
            })
            .collect()
    }

    fn count(&self, change: impl FnMut(usize) -> Option<usize>) -> bool {
        let changed = self
            .kept_bytes
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
        changed.is_ok()
    }
}

/// The memory of a search. It returns to the engine when it is dropped.
pub(super) struct Borrowed<'a> {
    states: &'a States,
    of_automaton: &'a OfAutomaton,
    /// None only while it is dropped.
    memory: Option<Memory>,
}

impl Deref for Borrowed<'_> {
    type Target = Memory;

    fn deref(&self) -> &Memory {
        self.memory
            .as_ref()
            .unwrap_or_else(|| unreachable!("it is taken when dropped"))
    }
}

impl DerefMut for Borrowed<'_> {
    fn deref_mut(&mut self) -> &mut Memory {
        self.memory
            .as_mut()
            .unwrap_or_else(|| unreachable!("it is taken when dropped"))
    }
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        let Some(mut memory) = self.memory.take() else {
            return;
        };
        if self.states.keep(&mut memory) {
            self.of_automaton.kept.lock().push(memory);
        } else {
            // What it did not use is for the memory that is made in its place.
            self.of_automaton
                .free_steps
                .fetch_add(memory.free_steps(), Ordering::Relaxed);
        }
    }
}
