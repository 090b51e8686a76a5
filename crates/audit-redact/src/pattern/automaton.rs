//! A lazy DFA that counts its steps.

use std::collections::{HashMap, HashSet};
use std::fmt;

use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::NFA;
use regex_automata::{Anchored, Input, MatchKind};

use super::fuel::{Exhausted, Fuel};

/// Bytes of the computed states of one automaton, per search that runs at once. Beyond this it drops them and starts over.
const CACHE_BYTES_MAX: usize = 256 * 1024;

/// Why a search ended without a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The automaton cannot decide: a Unicode word boundary beside a character that is not ASCII.
    Undecided,
    /// The fuel is used up.
    Exhausted,
}

impl From<Exhausted> for Stop {
    fn from(_: Exhausted) -> Self {
        Stop::Exhausted
    }
}

/// An automaton without the states that its searches compute.
pub(super) struct Automaton {
    dfa: DFA,
}

/// The computed states of one automaton.
pub(super) struct Memory {
    cache: Cache,
    /// The bytes of the computed states. Computing a transition visits the NFA states of its two ends, and a state takes
    /// at least one byte for each of them.
    state_bytes: HashMap<LazyStateID, u64>,
    /// Most bytes of one state, for those that were kept while the cache was cleared.
    state_bytes_max: u64,
    free_steps: u64,
    /// Its bytes as the engine has counted them.
    pub(super) counted_bytes: usize,
    /// Computed transitions of match states. The cache does not show these.
    known: HashSet<(LazyStateID, u8)>,
}

impl Automaton {
    /// `None` if the automaton cannot be built, which no pattern that compiles to an NFA causes.
    pub(super) fn new(nfa: NFA, kind: MatchKind) -> Option<Automaton> {
        let config = DFA::config()
            .match_kind(kind)
            .unicode_word_boundary(true)
            .cache_capacity(CACHE_BYTES_MAX)
            .skip_cache_capacity_check(true);
        let dfa = DFA::builder().configure(config).build_from_nfa(nfa).ok()?;
        Some(Automaton { dfa })
    }

    pub(super) fn nfa(&self) -> &NFA {
        self.dfa.get_nfa()
    }

    /// The memory of a search, with no states. Computing states takes `free_steps` before documents pay for it.
    pub(super) fn memory(&self, free_steps: u64) -> Memory {
        Memory {
            cache: self.dfa.create_cache(),
            state_bytes: HashMap::new(),
            state_bytes_max: 1,
            free_steps,
            counted_bytes: 0,
            known: HashSet::new(),
        }
    }

    /// The end of the leftmost match that begins at `at` or later.
    pub(super) fn match_end(
        &self,
        memory: &mut Memory,
        text: &str,
        at: usize,
        fuel: &mut Fuel,
    ) -> Result<Option<usize>, Stop> {
        let input = Input::new(text).range(at..);
        let mut end = None;
        let mut state = self.start(memory, fuel, |dfa, cache| {
            dfa.start_state_forward(cache, &input).ok()
        })?;
        for (offset, byte) in text.as_bytes().iter().enumerate().skip(at) {
            state = self.next(memory, state, *byte, fuel)?;
            // A match is seen one byte after its end.
            if state.is_match() {
                end = Some(offset);
            } else if state.is_dead() {
                return Ok(end);
            }
        }
        let state = self.compute(memory, state, fuel, |dfa, cache| {
            dfa.next_eoi_state(cache, state).ok()
        })?;
        Ok(if state.is_match() { Some(text.len()) } else { end })
    }

    /// The start of the longest match that ends at `end` and begins at `at` or later. The automaton is of the reversed
    /// pattern.
    pub(super) fn match_start(
        &self,
        memory: &mut Memory,
        text: &str,
        at: usize,
        end: usize,
        fuel: &mut Fuel,
    ) -> Result<Option<usize>, Stop> {
        let input = Input::new(text).range(at..end).anchored(Anchored::Yes);
        let mut start = None;
        let mut state = self.start(memory, fuel, |dfa, cache| {
            dfa.start_state_reverse(cache, &input).ok()
        })?;
        for (offset, byte) in text.as_bytes()[at..end].iter().enumerate().rev() {
            state = self.next(memory, state, *byte, fuel)?;
            if state.is_match() {
                start = Some(at + offset + 1);
            } else if state.is_dead() {
                return Ok(start);
            }
        }
        let state = match at.checked_sub(1).and_then(|before| text.as_bytes().get(before)) {
            Some(byte) => self.next(memory, state, *byte, fuel)?,
            None => self.compute(memory, state, fuel, |dfa, cache| {
                dfa.next_eoi_state(cache, state).ok()
            })?,
        };
        Ok(if state.is_match() { Some(at) } else { start })
    }

    /// Calls `found` with every pattern of a union that matches anywhere, once or more.
    pub(super) fn each_matching(
        &self,
        memory: &mut Memory,
        text: &str,
        fuel: &mut Fuel,
        mut found: impl FnMut(usize),
    ) -> Result<(), Stop> {
        let mut report = |memory: &Memory, state: LazyStateID, fuel: &mut Fuel| {
            let matching = self.dfa.match_len(&memory.cache, state);
            for index in 0..matching {
                found(self.dfa.match_pattern(&memory.cache, state, index).as_usize());
            }
            fuel.take(matching as u64)
        };
        let input = Input::new(text);
        let mut state = self.start(memory, fuel, |dfa, cache| {
            dfa.start_state_forward(cache, &input).ok()
        })?;
        for byte in text.as_bytes() {
            state = self.next(memory, state, *byte, fuel)?;
            if state.is_match() {
                report(memory, state, fuel)?;
            } else if state.is_dead() {
                return Ok(());
            }
        }
        let state = self.compute(memory, state, fuel, |dfa, cache| {
            dfa.next_eoi_state(cache, state).ok()
        })?;
        if state.is_match() {
            report(memory, state, fuel)?;
        }
        Ok(())
    }

    fn start(
        &self,
        memory: &mut Memory,
        fuel: &mut Fuel,
        start: impl FnOnce(&DFA, &mut Cache) -> Option<LazyStateID>,
    ) -> Result<LazyStateID, Stop> {
        let before = Size::of(&memory.cache);
        let state = start(&self.dfa, &mut memory.cache).ok_or(Stop::Undecided)?;
        if Size::of(&memory.cache) != before {
            self.charge(memory, before, None, state, fuel)?;
        }
        Ok(state)
    }

    /// The state after `byte`: from the cache in one step, or computed.
    #[inline(always)]
    fn next(
        &self,
        memory: &mut Memory,
        state: LazyStateID,
        byte: u8,
        fuel: &mut Fuel,
    ) -> Result<LazyStateID, Stop> {
        fuel.take(1)?;
        let next = if !state.is_tagged() {
            self.dfa.next_state_untagged(&memory.cache, state, byte)
        } else if memory.known.contains(&(state, byte)) {
            self.dfa
                .next_state(&mut memory.cache, state, byte)
                .map_err(|_| Stop::Undecided)?
        } else {
            let clears = memory.cache.clear_count();
            let next = self.compute(memory, state, fuel, |dfa, cache| {
                dfa.next_state(cache, state, byte).ok()
            })?;
            // After a clear, `state` identifies another state.
            if memory.cache.clear_count() == clears {
                memory.known.insert((state, byte));
            }
            return Ok(next);
        };
        if next.is_unknown() {
            return self.compute(memory, state, fuel, |dfa, cache| {
                dfa.next_state(cache, state, byte).ok()
            });
        }
        if next.is_quit() {
            return Err(Stop::Undecided);
        }
        Ok(next)
    }

    #[cold]
    #[inline(never)]
    fn compute(
        &self,
        memory: &mut Memory,
        state: LazyStateID,
        fuel: &mut Fuel,
        next: impl FnOnce(&DFA, &mut Cache) -> Option<LazyStateID>,
    ) -> Result<LazyStateID, Stop> {
        let before = Size::of(&memory.cache);
        let next = next(&self.dfa, &mut memory.cache).ok_or(Stop::Undecided)?;
        self.charge(memory, before, Some(state), next, fuel)?;
        if next.is_quit() {
            return Err(Stop::Undecided);
        }
        Ok(next)
    }

    /// Pays for a transition that was computed when the cache had the size `before`.
    fn charge(
        &self,
        memory: &mut Memory,
        before: Size,
        from: Option<LazyStateID>,
        to: LazyStateID,
        fuel: &mut Fuel,
    ) -> Result<(), Stop> {
        let after = Size::of(&memory.cache);
        let mut steps = from.map_or(0, |state| memory.bytes_of(state));
        if after.clears != before.clears {
            // All states have new ids.
            memory.known.clear();
            memory.state_bytes.clear();
        } else if after.bytes > before.bytes {
            let row_bytes = size_of::<LazyStateID>() << self.dfa.byte_classes().stride2();
            let bytes = (after.bytes - before.bytes).saturating_sub(row_bytes) as u64;
            memory.state_bytes.insert(to, bytes);
            memory.state_bytes_max = memory.state_bytes_max.max(bytes);
        }
        steps += memory.bytes_of(to);
        match memory.free_steps.checked_sub(steps) {
            Some(left) => memory.free_steps = left,
            None => fuel.take(steps)?,
        }
        Ok(())
    }
}

impl Memory {
    pub(super) fn free_steps(&self) -> u64 {
        self.free_steps
    }

    /// The memory that it takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        /// A control byte beside each entry of a table, and the entries that it leaves free.
        const TABLE_OVERHEAD: usize = 2;
        let of_states = self.state_bytes.capacity() * size_of::<(LazyStateID, u64)>();
        let of_transitions = self.known.capacity() * size_of::<(LazyStateID, u8)>();
        size_of::<Memory>() + self.cache.memory_usage() + TABLE_OVERHEAD * (of_states + of_transitions)
    }

    fn bytes_of(&self, state: LazyStateID) -> u64 {
        self.state_bytes
            .get(&state)
            .copied()
            .unwrap_or(self.state_bytes_max)
    }
}

/// What tells whether a cache has a new state.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Size {
    bytes: usize,
    clears: usize,
}

impl Size {
    fn of(cache: &Cache) -> Size {
        Size {
            bytes: cache.memory_usage(),
            clears: cache.clear_count(),
        }
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = formatter.debug_struct("Memory");
        debug.field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Automaton {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Automaton").finish_non_exhaustive()
    }
}
