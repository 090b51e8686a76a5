//! Patterns that users write.

use regex::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use crate::scan::Span;

/// Most bytes one pattern may take compiled. Bounds both memory and the time per character of text.
pub const PATTERN_COMPILED_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Most hits of one pattern in one string. Finding *one* match takes time linear in the text, but finding
/// all of them does not: `.*[^A-Z]|[A-Z]` reads a long `AAAA…` to its end for every single letter. Past
/// this many, the rest of the string counts as one hit: too much is hidden rather than too little.
const HITS_MAX: usize = 256;

/// A regular expression that has been checked: it compiles, is of bounded size and never matches nothing.
#[derive(Debug, Clone)]
pub struct Pattern {
    regex: Regex,
}

/// Why a pattern was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PatternError {
    /// It is no regular expression of the supported syntax.
    #[error("pattern does not compile: {0}")]
    Syntax(String),
    /// It has more characters than [`Pattern::CHARS_MAX`].
    #[error("pattern is longer than {} characters", Pattern::CHARS_MAX)]
    TooLong,
    /// It would hit between any two characters of any text.
    #[error("pattern matches the empty string")]
    MatchesEmpty,
    /// It takes more than [`PATTERN_COMPILED_BYTES_MAX`] compiled, usually because of large repetitions.
    #[error("pattern compiles to more than {PATTERN_COMPILED_BYTES_MAX} bytes")]
    TooBig,
}

impl Pattern {
    /// Most characters of a pattern's text.
    pub const CHARS_MAX: usize = 1_000;

    /// Checks a pattern. The syntax is that of the `regex` crate: no back-references and no look-around, in
    /// exchange for time that is linear in the text whatever the pattern.
    pub fn parse(pattern: &str) -> Result<Pattern, PatternError> {
        if pattern.chars().count() > Pattern::CHARS_MAX {
            return Err(PatternError::TooLong);
        }
        let regex = RegexBuilder::new(pattern)
            .size_limit(PATTERN_COMPILED_BYTES_MAX)
            .build()
            .map_err(|error| match error {
                regex::Error::CompiledTooBig(_) => PatternError::TooBig,
                other => PatternError::Syntax(other.to_string()),
            })?;
        // `\b` matches nothing in an empty text, and yet it would hit without covering a character.
        let can_match_empty = regex_syntax::parse(pattern)
            .map_err(|error| PatternError::Syntax(error.to_string()))?
            .properties()
            .minimum_len()
            .is_none_or(|length| length == 0);
        if can_match_empty {
            return Err(PatternError::MatchesEmpty);
        }
        Ok(Pattern { regex })
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        self.regex.as_str()
    }

    /// Hands over every hit, in order.
    pub(crate) fn each_hit(&self, text: &str, mut hit: impl FnMut(Span)) {
        let matches = self.regex.find_iter(text).filter(|found| !found.is_empty());
        for (count, found) in matches.enumerate() {
            if count == HITS_MAX {
                return hit(Span::new(found.start(), text.len()));
            }
            hit(Span::new(found.start(), found.end()));
        }
    }
}

/// All patterns of an engine behind one automaton, so that a clean string is read once whatever their number.
#[derive(Debug, Clone, Default)]
pub(crate) struct PatternSet {
    patterns: Vec<Pattern>,
    /// Absent without patterns, and when the union of all would be too big.
    gate: Option<RegexSet>,
}

/// Most bytes the union of all patterns may take compiled.
const GATE_COMPILED_BYTES_MAX: usize = 16 * 1024 * 1024;

impl PatternSet {
    pub(crate) fn new(patterns: Vec<Pattern>) -> Self {
        // For one pattern the union is the pattern itself.
        let gate = if patterns.len() < 2 {
            None
        } else {
            let union = RegexSetBuilder::new(patterns.iter().map(Pattern::as_str))
                .size_limit(GATE_COMPILED_BYTES_MAX)
                .build();
            union.ok()
        };
        PatternSet { patterns, gate }
    }

    /// Hands over every hit of every pattern with the pattern's index.
    pub(crate) fn each_hit(&self, text: &str, mut hit: impl FnMut(usize, Span)) {
        match &self.gate {
            Some(gate) => {
                if !gate.is_match(text) {
                    return;
                }
                for index in gate.matches(text).iter() {
                    self.patterns[index].each_hit(text, |span| hit(index, span));
                }
            }
            None => {
                for (index, pattern) in self.patterns.iter().enumerate() {
                    pattern.each_hit(text, |span| hit(index, span));
                }
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(pattern: &str) -> PatternError {
        Pattern::parse(pattern).unwrap_err()
    }

    #[test]
    fn a_broken_pattern_is_refused_with_the_place() {
        let PatternError::Syntax(message) = refusal("a(b") else {
            panic!("not a syntax error")
        };
        assert!(message.contains("unclosed group"), "{message}");
    }

    #[test]
    fn a_pattern_may_have_a_thousand_characters_and_no_more() {
        assert!(Pattern::parse(&"é".repeat(Pattern::CHARS_MAX)).is_ok());
        assert_eq!(
            refusal(&"é".repeat(Pattern::CHARS_MAX + 1)),
            PatternError::TooLong
        );
    }

    #[test]
    fn a_pattern_that_matches_nothing_at_all_is_refused() {
        for pattern in ["", "x*", "a|", "^$", "(?:)"] {
            assert_eq!(refusal(pattern), PatternError::MatchesEmpty, "{pattern}");
        }
    }

    #[test]
    fn a_pattern_that_explodes_is_refused() {
        assert_eq!(refusal(r"(?:\w{50}){50}"), PatternError::TooBig);
    }

    #[test]
    fn a_pattern_that_can_hit_nothing_is_refused() {
        for pattern in [r"\b", "^", "x*", "a|", r"(?:x?)$"] {
            assert_eq!(refusal(pattern), PatternError::MatchesEmpty, "{pattern}");
        }
    }

    #[test]
    fn past_the_most_hits_the_rest_is_one_hit() {
        let pattern = Pattern::parse("a").unwrap();
        let text = "ab".repeat(HITS_MAX + 10);
        let mut spans = Vec::new();
        pattern.each_hit(&text, |span| spans.push(span));
        assert_eq!(spans.len(), HITS_MAX + 1);
        assert_eq!(spans[HITS_MAX], Span::new(HITS_MAX * 2, text.len()));
    }

    #[test]
    fn the_gate_changes_no_result() {
        let patterns: Vec<_> = ["EMP-[0-9]+", "[0-9]{3}", "x"]
            .iter()
            .map(|text| Pattern::parse(text).unwrap())
            .collect();
        let set = PatternSet::new(patterns.clone());
        for text in ["", "nothing", "EMP-123 x", "xx 999"] {
            let mut through_gate = Vec::new();
            set.each_hit(text, |index, span| through_gate.push((index, span)));
            let mut one_by_one = Vec::new();
            for (index, pattern) in patterns.iter().enumerate() {
                pattern.each_hit(text, |span| one_by_one.push((index, span)));
            }
            assert_eq!(through_gate, one_by_one);
        }
    }
}
