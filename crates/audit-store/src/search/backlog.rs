//! Unindexed events in memory, each with its tokens.

use audit_index::Term;
use std::ops::Range;

/// Some events that are not indexed, each with its row in the index and its tokens.
#[derive(Debug)]
pub(crate) struct UnindexedEvents<I> {
    rows: Vec<I>,
    /// One line per event: its tokens, separated by spaces.
    tokens: String,
}

impl<I> Default for UnindexedEvents<I> {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            tokens: String::new(),
        }
    }
}

impl<I: Copy> UnindexedEvents<I> {
    /// Adds an event.
    pub(crate) fn add(&mut self, row: I, tokens: &str) {
        self.rows.push(row);
        self.tokens.push_str(tokens);
        self.tokens.push('\n');
    }

    /// The number of events.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Each event's row and tokens.
    pub(crate) fn events(&self) -> impl Iterator<Item = (I, &str)> {
        let tokens = self.tokens.split_terminator('\n');
        self.rows.iter().copied().zip(tokens)
    }

    /// The rows within `range` whose events fulfil all terms.
    pub(crate) fn matching(&self, terms: &[Term], range: &Range<I>) -> impl Iterator<Item = I>
    where
        I: PartialOrd,
    {
        self.matching_events(terms, range).map(|(row, _)| row)
    }

    /// [`Self::matching`], with the tokens of each event.
    pub(crate) fn matching_events(&self, terms: &[Term], range: &Range<I>) -> impl Iterator<Item = (I, &str)>
    where
        I: PartialOrd,
    {
        let is_wanted =
            |row: &I, tokens: &str| range.contains(row) && terms.iter().all(|term| term.matches(tokens));
        self.events().filter(move |(row, tokens)| is_wanted(row, tokens))
    }

    /// Its size in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.rows.capacity() * size_of::<I>() + self.tokens.capacity()
    }
}
