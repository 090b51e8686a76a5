//! All literals that a text begins (or ends) with, by one binary search.

use super::Candidate;
use audit_domain::ActionGlob;

/// From where a text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Forwards,
    Backwards,
}

impl Direction {
    fn read(self, literal: &str) -> Box<[u8]> {
        let mut bytes: Box<[u8]> = literal.as_bytes().into();
        if self == Self::Backwards {
            bytes.reverse();
        }
        bytes
    }
}

/// Literals in order, each knowing the longest other one that it begins with.
///
/// Why one search is enough: let P be the greatest literal not greater than the text. A literal that the text begins
/// with is not greater than P either, and everything between it and the text begins with it, P included. So all of them
/// are P, the longest that P begins with, the longest that this one begins with, and so on.
#[derive(Clone, Debug)]
pub(super) struct LiteralTable {
    /// Ascending and without repeats; reversed when reading backwards.
    literals: Vec<Literal>,
    /// For each byte, where literals that begin with it start; a last entry for the end.
    starts: Vec<u32>,
    /// The first two bytes that literals may have. It turns most texts away before the search.
    openings: Openings,
}

#[derive(Clone, Debug)]
pub(super) struct Literal {
    pub(super) bytes: Box<[u8]>,
    /// The longest other literal that this one begins with.
    shorter: Option<u32>,
    /// The patterns that are found by it.
    pub(super) candidates: Vec<Candidate>,
}

impl LiteralTable {
    pub(super) fn new(direction: Direction, candidates: Vec<(&str, Candidate)>) -> Self {
        let mut entries: Vec<(Box<[u8]>, Candidate)> = candidates
            .into_iter()
            .map(|(literal, candidate)| (direction.read(literal), candidate))
            .collect();
        entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        let mut literals: Vec<Literal> = Vec::new();
        // Literals that the current one begins with, the longest last.
        let mut open: Vec<u32> = Vec::new();
        for (bytes, candidate) in entries {
            if let Some(last) = literals.last_mut().filter(|last| last.bytes == bytes) {
                last.candidates.push(candidate);
                continue;
            }
            while open
                .last()
                .is_some_and(|index| !bytes.starts_with(&literals[*index as usize].bytes))
            {
                open.pop();
            }
            let shorter = open.last().copied();
            open.push(literals.len() as u32);
            literals.push(Literal {
                bytes,
                shorter,
                candidates: vec![candidate],
            });
        }
        let starts = (0..=256)
            .map(|byte| literals.partition_point(|literal| u16::from(literal.bytes[0]) < byte) as u32)
            .collect();
        let mut openings = Openings::default();
        for literal in &literals {
            openings.add(&literal.bytes);
        }
        Self {
            literals,
            starts,
            openings,
        }
    }

    /// Calls `found` with every literal that `text` begins with. For a table that reads forwards.
    pub(super) fn each_beginning_of(&self, text: &[u8], found: &mut impl FnMut(&Literal)) {
        self.chain(text)
            .for_each(|index| found(&self.literals[index as usize]));
    }

    /// Calls `found` with every literal that `text` ends with. For a table that reads backwards.
    pub(super) fn each_end_of(&self, text: &[u8], found: &mut impl FnMut(&Literal)) {
        if self.literals.is_empty() {
            return;
        }
        // Nothing is longer than the longest pattern, so no more of the text needs to be turned round.
        let mut buffer = [0; ActionGlob::CHARS_MAX];
        let len = text.len().min(buffer.len());
        for (to, from) in buffer.iter_mut().zip(text.iter().rev()) {
            *to = *from;
        }
        self.each_beginning_of(&buffer[..len], found);
    }

    /// Calls `found` once with every literal that stands somewhere in `text`. For a table that reads forwards.
    pub(super) fn each_inside(&self, text: &[u8], found: &mut impl FnMut(&Literal)) {
        if self.literals.is_empty() {
            return;
        }
        let mut seen = Vec::new();
        let rests = (0..text.len()).map(|start| &text[start..]);
        for rest in rests.filter(|rest| self.openings.may_begin(rest)) {
            for index in self.chain(rest) {
                if seen.is_empty() {
                    seen = vec![false; self.literals.len()];
                }
                // What it begins with stood where it stood before. Without this, `eeee…` would have `*e*x*` tried for
                // each of its letters.
                if std::mem::replace(&mut seen[index as usize], true) {
                    break;
                }
                found(&self.literals[index as usize]);
            }
        }
    }

    /// The indices of all literals that `text` begins with, the longest first.
    fn chain(&self, text: &[u8]) -> impl Iterator<Item = u32> {
        std::iter::successors(self.greatest_up_to(text), |index| {
            self.literals[*index as usize].shorter
        })
        .filter(|index| text.starts_with(&self.literals[*index as usize].bytes))
    }

    /// The greatest literal not greater than `text`, among those that begin with the same byte.
    fn greatest_up_to(&self, text: &[u8]) -> Option<u32> {
        if !self.openings.may_begin(text) {
            return None;
        }
        let first = usize::from(*text.first()?);
        let (from, to) = (self.starts[first] as usize, self.starts[first + 1] as usize);
        let not_greater = self.literals[from..to].partition_point(|literal| *literal.bytes <= *text);
        (not_greater > 0).then(|| (from + not_greater - 1) as u32)
    }
}

/// Pairs of bytes, by their lower six bits: one bit for each second byte, in the word of the first. Those of letters
/// differ among themselves.
#[derive(Clone, Debug)]
struct Openings([u64; 64]);

impl Default for Openings {
    fn default() -> Self {
        Self([0; 64])
    }
}

impl Openings {
    fn add(&mut self, literal: &[u8]) {
        match *literal {
            [] => {}
            [first] => self.0[usize::from(first & 63)] = u64::MAX,
            [first, second, ..] => self.0[usize::from(first & 63)] |= 1 << (second & 63),
        }
    }

    fn may_begin(&self, text: &[u8]) -> bool {
        match *text {
            [] => false,
            [first] => self.0[usize::from(first & 63)] == u64::MAX,
            [first, second, ..] => self.0[usize::from(first & 63)] >> (second & 63) & 1 == 1,
        }
    }
}
