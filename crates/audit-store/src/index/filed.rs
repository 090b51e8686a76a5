//! Events with what they are filed under.

use audit_index::Term;
use std::ops::Range;

/// Some events, each with its row in the index and what it is filed under.
#[derive(Debug)]
pub(crate) struct Filed<I> {
    rows: Vec<I>,
    /// A line for each.
    tokens: String,
}

impl<I> Default for Filed<I> {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            tokens: String::new(),
        }
    }
}

impl<I: Copy> Filed<I> {
    /// Adds an event.
    pub(crate) fn add(&mut self, row: I, tokens: &str) {
        self.rows.push(row);
        self.tokens.push_str(tokens);
        self.tokens.push('\n');
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Each event's row with what it is filed under.
    pub(crate) fn events(&self) -> impl Iterator<Item = (I, &str)> {
        let tokens = self.tokens.split_terminator('\n');
        self.rows.iter().copied().zip(tokens)
    }

    /// The rows within `range` whose events fulfil all conditions.
    pub(crate) fn matching(&self, terms: &[Term], range: &Range<I>) -> impl Iterator<Item = I>
    where
        I: PartialOrd,
    {
        let is_wanted = |row: &I, tokens: &str| {
            range.contains(row) && terms.iter().all(|term| term.matches(tokens))
        };
        let events = self.events().filter(move |(row, tokens)| is_wanted(row, tokens));
        events.map(|(row, _)| row)
    }

    /// What it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.rows.capacity() * size_of::<I>() + self.tokens.capacity()
    }
}
