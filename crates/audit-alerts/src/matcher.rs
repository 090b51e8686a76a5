//! Finds the patterns that match an action without trying each pattern.

mod literals;

use audit_domain::ActionGlob;
use literals::{Direction, Literal, LiteralTable};

/// Compiled patterns. A pattern is identified by its index in the input.
///
/// A pattern has a literal prefix (`auth.failed*`, `user.created`), a literal suffix (`*.deleted`), only infixes
/// (`*.role.*`), or no literal at all. Prefixes are sorted, and so are reversed suffixes: one binary search finds every
/// prefix (or suffix) of the action. One pass over the action finds the infixes. Only patterns with further literals are
/// then compared in full.
#[derive(Clone, Debug)]
pub struct Matcher {
    prefixes: LiteralTable,
    suffixes: LiteralTable,
    infixes: LiteralTable,
    /// Patterns that consist of stars only.
    match_all: Vec<u32>,
}

/// A pattern that one of its literals leads to.
#[derive(Clone, Debug)]
struct Candidate {
    pattern: u32,
    test: Test,
}

/// The check that remains once the literal is found.
#[derive(Clone, Debug)]
enum Test {
    Always,
    /// The literal must be the whole action.
    Whole,
    Glob(ActionGlob),
}

impl Candidate {
    fn matches(&self, literal_bytes: usize, action: &str) -> bool {
        match &self.test {
            Test::Always => true,
            Test::Whole => action.len() == literal_bytes,
            Test::Glob(glob) => glob.matches(action),
        }
    }
}

/// The literal that leads to a pattern.
enum Key<'a> {
    Prefix(&'a str),
    Suffix(&'a str),
    Infix(&'a str),
    None,
}

impl<'a> Key<'a> {
    /// The longer of prefix and suffix, because it gives fewer candidates.
    fn of(glob: &'a ActionGlob) -> (Self, Test) {
        let text = glob.as_str();
        let (Some((prefix, _)), Some((_, suffix))) = (text.split_once('*'), text.rsplit_once('*')) else {
            return (Self::Prefix(text), Test::Whole);
        };
        let literals = || text.split('*').filter(|literal| !literal.is_empty());
        let key = if prefix.len().max(suffix.len()) == 0 {
            literals()
                .max_by_key(|literal| literal.len())
                .map_or(Self::None, Self::Infix)
        } else if prefix.len() >= suffix.len() {
            Self::Prefix(prefix)
        } else {
            Self::Suffix(suffix)
        };
        let test = match literals().count() {
            0 | 1 => Test::Always,
            _ => Test::Glob(glob.clone()),
        };
        (key, test)
    }
}

impl Matcher {
    /// Compiles patterns.
    pub fn new<'a>(patterns: impl IntoIterator<Item = &'a ActionGlob>) -> Self {
        let (mut prefixes, mut suffixes, mut infixes) = (Vec::new(), Vec::new(), Vec::new());
        let mut match_all = Vec::new();
        for (pattern, glob) in (0..).zip(patterns) {
            let (key, test) = Key::of(glob);
            let candidate = Candidate { pattern, test };
            match key {
                Key::Prefix(literal) => prefixes.push((literal, candidate)),
                Key::Suffix(literal) => suffixes.push((literal, candidate)),
                Key::Infix(literal) => infixes.push((literal, candidate)),
                Key::None => match_all.push(pattern),
            }
        }
        Self {
            prefixes: LiteralTable::new(Direction::Forwards, prefixes),
            suffixes: LiteralTable::new(Direction::Backwards, suffixes),
            infixes: LiteralTable::new(Direction::Forwards, infixes),
            match_all,
        }
    }

    /// The patterns that match the whole of `action`, in ascending order. Allocates only if there are any, or if the
    /// action contains an infix.
    pub fn matching(&self, action: &str) -> impl Iterator<Item = usize> + use<> {
        let mut found = self.match_all.clone();
        let mut test = |literal: &Literal| {
            let matches = literal
                .candidates
                .iter()
                .filter(|candidate| candidate.matches(literal.bytes.len(), action));
            found.extend(matches.map(|candidate| candidate.pattern));
        };
        self.prefixes.each_prefix_of(action.as_bytes(), &mut test);
        self.suffixes.each_suffix_of(action.as_bytes(), &mut test);
        self.infixes.each_infix_of(action.as_bytes(), &mut test);
        found.sort_unstable();
        found.into_iter().map(|pattern| pattern as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matcher(patterns: &[&str]) -> Matcher {
        let globs: Vec<ActionGlob> = patterns.iter().map(|text| text.parse().unwrap()).collect();
        Matcher::new(&globs)
    }

    #[test]
    fn each_kind_of_pattern_is_found_in_order() {
        let patterns = [
            "*",
            "user.role.updated",
            "*.updated",
            "user.*",
            "*.role.*",
            "user.*.updated",
            "*r*r*",
            "us*ro*up*",
            "user.role",
            "*.deleted",
            "**",
            "u*",
            "*d",
            "user.role.updated*",
            "*user.role.updated",
            "*e*",
            "a*a",
        ];
        let found: Vec<usize> = matcher(&patterns).matching("user.role.updated").collect();
        assert_eq!(found, [0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15]);
    }

    #[test]
    fn a_prefix_and_a_suffix_do_not_overlap() {
        assert_eq!(matcher(&["a.b*b.c"]).matching("a.b.c").count(), 0);
        assert_eq!(matcher(&["a.b*.b.c"]).matching("a.b.b.c").count(), 1);
    }

    #[test]
    fn an_empty_matcher_and_an_empty_action_match_nothing() {
        assert_eq!(matcher(&[]).matching("user.created").count(), 0);
        assert_eq!(matcher(&["user.created"]).matching("").count(), 0);
    }

    #[test]
    fn the_longest_patterns_and_actions_match() {
        let longest = "a".repeat(ActionGlob::CHARS_MAX);
        let patterns = [
            longest.clone(),
            format!("{}*", &longest[1..]),
            format!("*{}", &longest[1..]),
        ];
        let matcher = matcher(&patterns.each_ref().map(String::as_str));
        assert_eq!(matcher.matching(&longest).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(matcher.matching(&"a".repeat(300)).collect::<Vec<_>>(), [1, 2]);
    }
}
