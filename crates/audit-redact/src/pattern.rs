//! Custom patterns.

use regex::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use crate::scan::Span;
use crate::work;

/// Most bytes of one compiled pattern. Bounds memory and the time per character of text.
pub const PATTERN_COMPILED_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Most hits of one pattern in one string. One search takes time linear in the text, but a search for all matches does
/// not: `.*[^A-Z]|[A-Z]` reads a long `AAAA…` to its end for every letter. Beyond this limit the rest of the string
/// counts as one hit, which hides too much rather than too little.
const HITS_MAX: usize = 256;

/// A valid regular expression: it compiles, its size is bounded and it never matches the empty string.
#[derive(Debug, Clone)]
pub struct Pattern {
    regex: Regex,
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

impl Pattern {
    /// Most characters in a pattern.
    pub const CHARS_MAX: usize = 1_000;

    /// Parses a pattern in the syntax of the `regex` crate. It has neither back-references nor look-around, so that a
    /// search takes time linear in the text for every pattern.
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
        // A search in an empty text would not reveal this: `\b` does not match there, and elsewhere it matches without
        // covering a character.
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

    /// Calls `hit` with every hit, in order.
    pub(crate) fn each_hit(&self, text: &str, mut hit: impl FnMut(Span)) {
        // Each search may read the text to its end.
        work::bytes_read(text.len());
        let matches = self.regex.find_iter(text).filter(|found| !found.is_empty());
        for (count, found) in matches.enumerate() {
            if count == HITS_MAX {
                return hit(Span::new(found.start(), text.len()));
            }
            hit(Span::new(found.start(), found.end()));
            work::bytes_read(text.len() - found.end());
        }
    }
}

/// All patterns of an engine behind one automaton, which reads a clean string once for any number of patterns.
#[derive(Debug, Clone, Default)]
pub(crate) struct PatternSet {
    patterns: Vec<Pattern>,
    /// Absent with fewer than two patterns, or if the union of all would be too large.
    prefilter: Option<RegexSet>,
}

/// Most bytes of the compiled union of all patterns.
const PREFILTER_COMPILED_BYTES_MAX: usize = 16 * 1024 * 1024;

impl PatternSet {
    pub(crate) fn new(patterns: Vec<Pattern>) -> Self {
        // For one pattern the union is the pattern itself.
        let prefilter = if patterns.len() < 2 {
            None
        } else {
            let union = RegexSetBuilder::new(patterns.iter().map(Pattern::as_str))
                .size_limit(PREFILTER_COMPILED_BYTES_MAX)
                .build();
            union.ok()
        };
        PatternSet { patterns, prefilter }
    }

    /// Calls `hit` with every hit of every pattern and the pattern's index.
    pub(crate) fn each_hit(&self, text: &str, mut hit: impl FnMut(usize, Span)) {
        match &self.prefilter {
            Some(prefilter) => {
                work::bytes_read(text.len());
                if !prefilter.is_match(text) {
                    return;
                }
                for index in prefilter.matches(text).iter() {
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
    fn a_pattern_with_a_syntax_error_is_refused() {
        let PatternError::Syntax(message) = refusal("a(b") else {
            panic!("not a syntax error")
        };
        assert!(message.contains("unclosed group"), "{message}");
    }

    #[test]
    fn a_pattern_has_at_most_a_thousand_characters() {
        assert!(Pattern::parse(&"é".repeat(Pattern::CHARS_MAX)).is_ok());
        assert_eq!(
            refusal(&"é".repeat(Pattern::CHARS_MAX + 1)),
            PatternError::TooLong
        );
    }

    #[test]
    fn a_pattern_that_matches_the_empty_text_is_refused() {
        for pattern in ["", "x*", "a|", "^$", "(?:)"] {
            assert_eq!(refusal(pattern), PatternError::MatchesEmpty, "{pattern}");
        }
    }

    #[test]
    fn a_pattern_that_compiles_beyond_the_limit_is_refused() {
        assert_eq!(refusal(r"(?:\w{50}){50}"), PatternError::TooBig);
    }

    #[test]
    fn a_pattern_that_can_match_without_a_character_is_refused() {
        for pattern in [r"\b", "^", "x*", "a|", r"(?:x?)$"] {
            assert_eq!(refusal(pattern), PatternError::MatchesEmpty, "{pattern}");
        }
    }

    #[test]
    fn beyond_the_limit_of_hits_the_rest_is_one_hit() {
        let pattern = Pattern::parse("a").unwrap();
        let text = "ab".repeat(HITS_MAX + 10);
        let mut spans = Vec::new();
        pattern.each_hit(&text, |span| spans.push(span));
        assert_eq!(spans.len(), HITS_MAX + 1);
        assert_eq!(spans[HITS_MAX], Span::new(HITS_MAX * 2, text.len()));
    }

    #[test]
    fn the_prefilter_changes_no_result() {
        let patterns: Vec<_> = ["EMP-[0-9]+", "[0-9]{3}", "x"]
            .iter()
            .map(|text| Pattern::parse(text).unwrap())
            .collect();
        let set = PatternSet::new(patterns.clone());
        for text in ["", "nothing", "EMP-123 x", "xx 999"] {
            let mut through_prefilter = Vec::new();
            set.each_hit(text, |index, span| through_prefilter.push((index, span)));
            let mut one_by_one = Vec::new();
            for (index, pattern) in patterns.iter().enumerate() {
                pattern.each_hit(text, |span| one_by_one.push((index, span)));
            }
            assert_eq!(through_prefilter, one_by_one);
        }
    }
}
