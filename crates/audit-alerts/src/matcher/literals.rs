//! Finds all literals that are prefixes (or suffixes) of a text by one binary search.

use super::Candidate;
use audit_domain::ActionGlob;

/// The direction in which a text is read.
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

/// Sorted literals, each with a link to its longest proper prefix in the table.
///
/// Why one search is enough: let P be the greatest literal that is not greater than the text. A literal L that is a prefix
/// of the text is not greater than P, and everything between L and the text starts with L, including P. So the prefixes of
/// the text are P (if it is one) and the chain of links from P.
#[derive(Clone, Debug)]
pub(super) struct LiteralTable {
    /// Ascending and distinct; each literal is reversed for [`Direction::Backwards`].
    literals: Vec<Literal>,
    /// For each first byte, the index of its first literal; the last entry is the number of literals.
    starts: Vec<u32>,
    /// The first two bytes of the literals. Rules out most texts before the search.
    first_bytes: FirstBytes,
}

#[derive(Clone, Debug)]
pub(super) struct Literal {
    pub(super) bytes: Box<[u8]>,
    /// The longest other literal that is a prefix of this one.
    prefix: Option<u32>,
    /// The patterns that this literal leads to.
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
        // The literals that are prefixes of the current one, the longest last.
        let mut prefixes: Vec<u32> = Vec::new();
        for (bytes, candidate) in entries {
            if let Some(last) = literals.last_mut().filter(|last| last.bytes == bytes) {
                last.candidates.push(candidate);
                continue;
            }
            while prefixes
                .last()
                .is_some_and(|index| !bytes.starts_with(&literals[*index as usize].bytes))
            {
                prefixes.pop();
            }
            let prefix = prefixes.last().copied();
            prefixes.push(literals.len() as u32);
            literals.push(Literal {
                bytes,
                prefix,
                candidates: vec![candidate],
            });
        }
        let starts = (0..=256)
            .map(|byte| literals.partition_point(|literal| u16::from(literal.bytes[0]) < byte) as u32)
            .collect();
        let mut first_bytes = FirstBytes::default();
        for literal in &literals {
            first_bytes.add(&literal.bytes);
        }
        Self {
            literals,
            starts,
            first_bytes,
        }
    }

    /// Calls `found` with every literal that is a prefix of `text`. For [`Direction::Forwards`].
    pub(super) fn each_prefix_of(&self, text: &[u8], found: &mut impl FnMut(&Literal)) {
        self.chain(text)
            .for_each(|index| found(&self.literals[index as usize]));
    }

    /// Calls `found` with every literal that is a suffix of `text`. For [`Direction::Backwards`].
    pub(super) fn each_suffix_of(&self, text: &[u8], found: &mut impl FnMut(&Literal)) {
        if self.literals.is_empty() {
            return;
        }
        // No literal is longer than the longest pattern, so only that many bytes have to be reversed.
        let mut buffer = [0; ActionGlob::CHARS_MAX];
        let len = text.len().min(buffer.len());
        for (to, from) in buffer.iter_mut().zip(text.iter().rev()) {
            *to = *from;
        }
        self.each_prefix_of(&buffer[..len], found);
    }

    /// Calls `found` once with every literal that `text` contains. For [`Direction::Forwards`].
    pub(super) fn each_infix_of(&self, text: &[u8], found: &mut impl FnMut(&Literal)) {
        if self.literals.is_empty() {
            return;
        }
        let mut seen = Vec::new();
        let suffixes = (0..text.len()).map(|start| &text[start..]);
        for suffix in suffixes.filter(|suffix| self.first_bytes.may_match(suffix)) {
            for index in self.chain(suffix) {
                if seen.is_empty() {
                    seen = vec![false; self.literals.len()];
                }
                // A literal that was found before was found with all its prefixes. Without this, `*e*x*` would be tried
                // for every letter of `eeee…`.
                if std::mem::replace(&mut seen[index as usize], true) {
                    break;
                }
                found(&self.literals[index as usize]);
            }
        }
    }

    /// The indexes of all literals that are prefixes of `text`, the longest first.
    fn chain(&self, text: &[u8]) -> impl Iterator<Item = u32> {
        std::iter::successors(self.greatest_up_to(text), |index| {
            self.literals[*index as usize].prefix
        })
        .filter(|index| text.starts_with(&self.literals[*index as usize].bytes))
    }

    /// The greatest literal not greater than `text`, among those that begin with the same byte.
    fn greatest_up_to(&self, text: &[u8]) -> Option<u32> {
        if !self.first_bytes.may_match(text) {
            return None;
        }
        let first = usize::from(*text.first()?);
        let (from, to) = (self.starts[first] as usize, self.starts[first + 1] as usize);
        let not_greater = self.literals[from..to].partition_point(|literal| *literal.bytes <= *text);
        (not_greater > 0).then(|| (from + not_greater - 1) as u32)
    }
}

/// A filter over pairs of bytes, by their lower six bits: the first byte selects the word, the second byte the bit. Letters
/// differ in their lower six bits.
#[derive(Clone, Debug)]
struct FirstBytes([u64; 64]);

impl Default for FirstBytes {
    fn default() -> Self {
        Self([0; 64])
    }
}

impl FirstBytes {
    fn add(&mut self, literal: &[u8]) {
        match *literal {
            [] => {}
            [first] => self.0[usize::from(first & 63)] = u64::MAX,
            [first, second, ..] => self.0[usize::from(first & 63)] |= 1 << (second & 63),
        }
    }

    fn may_match(&self, text: &[u8]) -> bool {
        match *text {
            [] => false,
            [first] => self.0[usize::from(first & 63)] == u64::MAX,
            [first, second, ..] => self.0[usize::from(first & 63)] >> (second & 63) & 1 == 1,
        }
    }
}
