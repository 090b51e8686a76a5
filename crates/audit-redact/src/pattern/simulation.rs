//! A search that follows all states of a pattern at once and counts each visit.
//!
//! It decides what the automaton cannot: Unicode word boundaries beside characters that are not ASCII. It is slower, so
//! it runs only there.

use regex_automata::nfa::thompson::{NFA, State};
use regex_automata::util::primitives::StateID;

use super::fuel::{Exhausted, Fuel};
use crate::scan::Span;

/// A state of the pattern and the offset at which its match would begin.
type Thread = (StateID, usize);

/// Threads in order of priority, at most one for each state.
struct Threads {
    list: Vec<Thread>,
    /// By state: the round in which it was added last.
    added: Vec<usize>,
    round: usize,
}

impl Threads {
    fn new(nfa: &NFA) -> Threads {
        Threads {
            list: Vec::new(),
            added: vec![0; nfa.states().len()],
            round: 1,
        }
    }

    fn clear(&mut self) {
        self.list.clear();
        self.round += 1;
    }
}

/// The leftmost match that begins at `at` or later.
pub(super) fn find(nfa: &NFA, text: &str, at: usize, fuel: &mut Fuel) -> Result<Option<Span>, Exhausted> {
    let (mut current, mut next) = (Threads::new(nfa), Threads::new(nfa));
    fuel.take(nfa.states().len() as u64)?;
    let mut stack = Vec::new();
    let mut found = None;
    for offset in at..=text.len() {
        if found.is_none() && text.is_char_boundary(offset) {
            stack.push(nfa.start_anchored());
            add(nfa, text, offset, offset, &mut stack, &mut current, fuel)?;
        }
        if current.list.is_empty() && found.is_some() {
            break;
        }
        fuel.take(1)?;
        for index in 0..current.list.len() {
            let (state, start) = current.list[index];
            fuel.take(1)?;
            if matches!(nfa.state(state), State::Match { .. }) {
                // Threads behind this one have a lower priority.
                found = Some(Span::new(start, offset));
                break;
            }
            let byte = text.as_bytes().get(offset);
            if let Some(after) = byte.and_then(|byte| after_byte(nfa.state(state), *byte)) {
                stack.push(after);
                add(nfa, text, offset + 1, start, &mut stack, &mut next, fuel)?;
            }
        }
        std::mem::swap(&mut current, &mut next);
        next.clear();
    }
    Ok(found)
}

fn after_byte(state: &State, byte: u8) -> Option<StateID> {
    match state {
        State::ByteRange { trans } => trans.matches_byte(byte).then_some(trans.next),
        State::Sparse(transitions) => transitions.matches_byte(byte),
        State::Dense(transitions) => transitions.matches_byte(byte),
        _ => None,
    }
}

/// Adds the states that the states on the stack reach without a byte, in order of priority.
fn add(
    nfa: &NFA,
    text: &str,
    offset: usize,
    start: usize,
    stack: &mut Vec<StateID>,
    threads: &mut Threads,
    fuel: &mut Fuel,
) -> Result<(), Exhausted> {
    while let Some(id) = stack.pop() {
        fuel.take(1)?;
        if std::mem::replace(&mut threads.added[id.as_usize()], threads.round) == threads.round {
            continue;
        }
        match nfa.state(id) {
            State::Union { alternates } => {
                fuel.take(alternates.len() as u64)?;
                stack.extend(alternates.iter().rev());
            }
            State::BinaryUnion { alt1, alt2 } => stack.extend([*alt2, *alt1]),
            State::Capture { next, .. } => stack.push(*next),
            State::Look { look, next } => {
                if nfa.look_matcher().matches(*look, text.as_bytes(), offset) {
                    stack.push(*next);
                }
            }
            State::Fail => {}
            _ => threads.list.push((id, start)),
        }
    }
    Ok(())
}
