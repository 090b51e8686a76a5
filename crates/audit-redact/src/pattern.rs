//! Custom patterns.

mod automaton;
mod fuel;
mod simulation;
mod states;

use std::sync::Arc;

use regex_automata::MatchKind;
use regex_automata::nfa::thompson::{NFA, WhichCaptures};
use regex_syntax::hir::Hir;

use crate::scan::Span;
use automaton::{Automaton, Memory, Stop};
pub(crate) use fuel::{Exhausted, Fuel};
pub use fuel::{PATTERN_STEPS_PER_BYTE, PATTERN_STEPS_PER_DOCUMENT};
pub use states::STATES_KEPT_BYTES_MAX;
use states::{Borrowed, States};

/// Most bytes of one compiled pattern. Bounds the memory of a rule.
pub const PATTERN_COMPILED_BYTES_MAX: usize = 1024 * 1024;

/// Most bytes of a compiled pattern that was stored when the limit was higher, in either direction of reading.
const STORED_PATTERN_COMPILED_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Most hits of one pattern in one string. Beyond this limit the rest of the string counts as one hit, which hides too
/// much rather than too little.
const HITS_MAX: usize = 256;

/// A valid regular expression: it compiles, its size is bounded and it never matches the empty string.
#[derive(Debug, Clone)]
pub struct Pattern {
    compiled: Arc<Compiled>,
}

/// Two automata: a match ends where the first one says, and begins where the reverse one says that reads back from there.
#[derive(Debug)]
struct Compiled {
    text: String,
    hir: Hir,
    forward: Automaton,
    reverse: Automaton,
}

/// Why a pattern was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PatternError {
    /// The syntax is invalid or not supported.
    #[error("pattern does not compile: {0}")]
    Syntax(String),
    /// It has more characters than [`Pattern::CHARS_MAX`].
    #[error("pattern is longer than {} characters", Pattern::CHARS_MAX)]
    TooLong,
    /// The pattern would match between any two characters of any text.
    #[error("pattern matches the empty string")]
    MatchesEmpty,
    /// The compiled pattern exceeds [`PATTERN_COMPILED_BYTES_MAX`], usually because of large repetitions.
    #[error("pattern compiles to more than {PATTERN_COMPILED_BYTES_MAX} bytes")]
    TooBig,
}

/// What a pattern found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// A match.
    Match(Span),
    /// The rest of a text that was not searched to its end, because of [`HITS_MAX`] or for lack of fuel.
    Rest(Span),
}

impl Pattern {
    /// Most characters in a pattern.
    pub const CHARS_MAX: usize = 1_000;

    /// Parses a pattern in the syntax of the `regex` crate. It has neither back-references nor look-around, so that a
    /// search takes time linear in the text for every pattern.
    pub fn parse(pattern: &str) -> Result<Pattern, PatternError> {
        Pattern::with_bytes_max(pattern, PATTERN_COMPILED_BYTES_MAX)
    }

    /// Parses a pattern that was accepted before, perhaps under a higher limit of its compiled size.
    ///
    /// # Errors
    /// As [`Pattern::parse`].
    pub fn parse_stored(pattern: &str) -> Result<Pattern, PatternError> {
        Pattern::with_bytes_max(pattern, STORED_PATTERN_COMPILED_BYTES_MAX)
    }

    /// Checks everything but the compiled size, for which [`Pattern::parse`] takes milliseconds.
    ///
    /// # Errors
    /// As [`Pattern::parse`], except for [`PatternError::TooBig`].
    pub fn check(pattern: &str) -> Result<(), PatternError> {
        Pattern::syntax(pattern).map(drop)
    }

    fn syntax(pattern: &str) -> Result<Hir, PatternError> {
        if pattern.chars().count() > Pattern::CHARS_MAX {
            return Err(PatternError::TooLong);
        }
        let hir = regex_syntax::parse(pattern).map_err(|error| PatternError::Syntax(error.to_string()))?;
        // A search in an empty text would not reveal this: `\b` does not match there, and elsewhere it matches without
        // covering a character.
        if hir.properties().minimum_len().is_none_or(|length| length == 0) {
            return Err(PatternError::MatchesEmpty);
        }
        Ok(hir)
    }

    fn with_bytes_max(pattern: &str, bytes_max: usize) -> Result<Pattern, PatternError> {
        let hir = Pattern::syntax(pattern)?;
        let automaton = |is_reverse: bool, kind: MatchKind| {
            let nfa = compile(std::slice::from_ref(&hir), is_reverse, bytes_max)?;
            Automaton::new(nfa, kind).ok_or(PatternError::TooBig)
        };
        Ok(Pattern {
            compiled: Arc::new(Compiled {
                text: pattern.to_owned(),
                forward: automaton(false, MatchKind::LeftmostFirst)?,
                reverse: automaton(true, MatchKind::All)?,
                hir,
            }),
        })
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.compiled.text
    }

    /// Calls `hit` with every hit, in order. `memories` are those of the two automata.
    fn each_hit(
        &self,
        memories: (Borrowed<'_>, Borrowed<'_>),
        text: &str,
        fuel: &mut Fuel,
        mut hit: impl FnMut(Found),
    ) {
        let mut search = Search {
            compiled: &self.compiled,
            text,
            memories: Some(memories),
        };
        let mut at = 0;
        for count in 0..=HITS_MAX {
            let rest = match search.next(at, fuel) {
                Ok(Some(span)) if count < HITS_MAX => {
                    at = span.end;
                    hit(Found::Match(span));
                    continue;
                }
                Ok(Some(span)) => span.start,
                Ok(None) => return,
                Err(Exhausted) => at,
            };
            return hit(Found::Rest(Span::new(rest, text.len())));
        }
    }
}

fn compile(patterns: &[Hir], is_reverse: bool, bytes_max: usize) -> Result<NFA, PatternError> {
    let config = NFA::config()
        .reverse(is_reverse)
        .which_captures(WhichCaptures::None)
        .nfa_size_limit(Some(bytes_max));
    NFA::compiler()
        .configure(config)
        .build_many_from_hir(patterns)
        .map_err(|error| match error.size_limit() {
            Some(_) => PatternError::TooBig,
            None => PatternError::Syntax(error.to_string()),
        })
}

/// The search for all matches of a pattern in a text.
struct Search<'a> {
    compiled: &'a Compiled,
    text: &'a str,
    /// None once the automata could not decide on this text.
    memories: Option<(Borrowed<'a>, Borrowed<'a>)>,
}

impl Search<'_> {
    /// The first match that begins at `at` or later.
    fn next(&mut self, at: usize, fuel: &mut Fuel) -> Result<Option<Span>, Exhausted> {
        let Search {
            compiled,
            text,
            memories,
        } = self;
        if let Some((forward, reverse)) = memories {
            let ended = compiled.forward.match_end(forward, text, at, fuel);
            let found = ended.and_then(|end| {
                let Some(end) = end else { return Ok(None) };
                let start = compiled.reverse.match_start(reverse, text, at, end, fuel)?;
                // Both automata are of the same pattern, so there is a start.
                Ok(Some(Span::new(start.unwrap_or(at), end)))
            });
            match found {
                Ok(found) => return Ok(found),
                Err(Stop::Exhausted) => return Err(Exhausted),
                Err(Stop::Undecided) => *memories = None,
            }
        }
        simulation::find(compiled.forward.nfa(), text, at, fuel)
    }
}

/// All patterns of an engine. One automaton reads a clean string once for any number of patterns.
#[derive(Debug, Clone)]
pub(crate) struct PatternSet {
    patterns: Vec<Pattern>,
    /// At most two: of the patterns with a Unicode word boundary, which an automaton cannot decide on every text, and of
    /// the others.
    unions: Vec<Union>,
    /// The patterns in no union.
    alone: Vec<usize>,
    /// Of the two automata of each pattern, then of the unions.
    states: Arc<States>,
}

/// The union of some patterns.
#[derive(Debug, Clone)]
struct Union {
    automaton: Arc<Automaton>,
    patterns: Vec<usize>,
}

/// Most bytes of the compiled union of all patterns.
const UNION_COMPILED_BYTES_MAX: usize = 4 * 1024 * 1024;

impl Union {
    fn new(patterns: &[Pattern], members: &[usize]) -> Option<Union> {
        let hirs: Vec<Hir> = members
            .iter()
            .map(|index| patterns[*index].compiled.hir.clone())
            .collect();
        let nfa = compile(&hirs, false, UNION_COMPILED_BYTES_MAX).ok()?;
        Some(Union {
            automaton: Arc::new(Automaton::new(nfa, MatchKind::All)?),
            patterns: members.to_vec(),
        })
    }

    /// Marks the patterns that may have a match in a text.
    fn mark(&self, memory: &mut Memory, text: &str, fuel: &mut Fuel, marked: &mut Marked) {
        let searched = self
            .automaton
            .each_matching(memory, text, fuel, |index| marked.add(self.patterns[index]));
        if searched.is_err() {
            for index in &self.patterns {
                marked.add(*index);
            }
        }
    }
}

/// A set of patterns, by index. Empty, it allocates nothing.
#[derive(Default)]
struct Marked(Vec<u64>);

impl Marked {
    fn add(&mut self, index: usize) {
        let word = index / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (index % 64);
    }

    fn contains(&self, index: usize) -> bool {
        self.0
            .get(index / 64)
            .is_some_and(|word| word & (1 << (index % 64)) != 0)
    }
}

impl PatternSet {
    pub(crate) fn new(patterns: Vec<Pattern>) -> Self {
        let has_word_boundary = |pattern: &Pattern| {
            let looks = pattern.compiled.hir.properties().look_set();
            looks.contains_word_unicode()
        };
        let (bounded, others): (Vec<usize>, Vec<usize>) =
            (0..patterns.len()).partition(|index| has_word_boundary(&patterns[*index]));
        let (mut unions, mut alone) = (Vec::new(), Vec::new());
        for members in [others, bounded] {
            // For one pattern the union is the pattern itself.
            let union = (members.len() > 1)
                .then(|| Union::new(&patterns, &members))
                .flatten();
            match union {
                Some(union) => unions.push(union),
                None => alone.extend(members),
            }
        }
        PatternSet {
            states: Arc::new(States::new(2 * patterns.len() + unions.len())),
            patterns,
            unions,
            alone,
        }
    }

    /// Calls `hit` with every hit of every pattern and the pattern's index.
    pub(crate) fn each_hit(&self, text: &str, fuel: &mut Fuel, mut hit: impl FnMut(usize, Found)) {
        let mut marked = Marked::default();
        for index in &self.alone {
            marked.add(*index);
        }
        for (index, union) in self.unions.iter().enumerate() {
            let number = 2 * self.patterns.len() + index;
            let mut memory = self.states.borrow(number, &union.automaton);
            union.mark(&mut memory, text, fuel, &mut marked);
        }
        for (index, pattern) in self.patterns.iter().enumerate() {
            if marked.contains(index) {
                let Compiled { forward, reverse, .. } = &*pattern.compiled;
                let forward = self.states.borrow(2 * index, forward);
                let reverse = self.states.borrow(2 * index + 1, reverse);
                pattern.each_hit((forward, reverse), text, fuel, |found| hit(index, found));
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// The memory of the states that searches have computed and that are kept, in bytes.
    pub(crate) fn states_bytes(&self) -> usize {
        self.states.kept_bytes()
    }

    /// The memory of the automata, in bytes, without what searches compute.
    pub(crate) fn compiled_bytes(&self) -> usize {
        let of_patterns = self.patterns.iter().flat_map(|pattern| {
            let Compiled { forward, reverse, .. } = &*pattern.compiled;
            [forward, reverse]
        });
        let of_unions = self.unions.iter().map(|union| &*union.automaton);
        let automata = of_patterns.chain(of_unions);
        automata.map(|automaton| automaton.nfa().memory_usage()).sum()
    }
}

#[cfg(test)]
mod tests;
