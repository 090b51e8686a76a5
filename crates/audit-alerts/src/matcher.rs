//! Which of many patterns an action matches, without trying each.

mod literals;

use audit_domain::ActionGlob;
use literals::{Direction, Literal, LiteralTable};

/// Patterns compiled for matching. Patterns go by the position at which they were given.
///
/// A pattern begins with a literal (`auth.failed*`, `user.created`), ends with one (`*.deleted`), has some in its middle
/// only (`*.role.*`), or matches everything. The first two kinds are sorted by that literal, the second from its end, so
/// that one binary search finds every literal that the action begins or ends with; the third kind is found by one pass
/// over the action. Only patterns with more literals than the one they were found by are then compared in full.
#[derive(Clone, Debug)]
pub struct Matcher {
    beginnings: LiteralTable,
    ends: LiteralTable,
    middles: LiteralTable,
    /// Patterns of nothing but stars.
    everything: Vec<u32>,
}

/// A pattern that is found by one of its literals.
#[derive(Clone, Debug)]
struct Candidate {
    pattern: u32,
    test: Test,
}

/// What has to hold beside the literal's being there.
#[derive(Clone, Debug)]
enum Test {
    Nothing,
    /// The literal is all of the action.
    Whole,
    Glob(ActionGlob),
}

impl Candidate {
    fn matches(&self, literal_bytes: usize, action: &str) -> bool {
        match &self.test {
            Test::Nothing => true,
            Test::Whole => action.len() == literal_bytes,
            Test::Glob(glob) => glob.matches(action),
        }
    }
}

/// By which of its literals a pattern is found.
enum Key<'a> {
    Beginning(&'a str),
    End(&'a str),
    Middle(&'a str),
    None,
}

impl<'a> Key<'a> {
    /// Of a pattern's beginning and end the longer one: it leaves fewer candidates.
    fn of(glob: &'a ActionGlob) -> (Self, Test) {
        let text = glob.as_str();
        let (Some((beginning, _)), Some((_, end))) = (text.split_once('*'), text.rsplit_once('*')) else {
            return (Self::Beginning(text), Test::Whole);
        };
        let literals = || text.split('*').filter(|literal| !literal.is_empty());
        let key = if beginning.len().max(end.len()) == 0 {
            literals()
                .max_by_key(|literal| literal.len())
                .map_or(Self::None, Self::Middle)
        } else if beginning.len() >= end.len() {
            Self::Beginning(beginning)
        } else {
            Self::End(end)
        };
        let test = match literals().count() {
            0 | 1 => Test::Nothing,
            _ => Test::Glob(glob.clone()),
        };
        (key, test)
    }
}

impl Matcher {
    /// Compiles patterns.
    pub fn new<'a>(patterns: impl IntoIterator<Item = &'a ActionGlob>) -> Self {
        let (mut beginnings, mut ends, mut middles) = (Vec::new(), Vec::new(), Vec::new());
        let mut everything = Vec::new();
        for (pattern, glob) in (0..).zip(patterns) {
            let (key, test) = Key::of(glob);
            let candidate = Candidate { pattern, test };
            match key {
                Key::Beginning(literal) => beginnings.push((literal, candidate)),
                Key::End(literal) => ends.push((literal, candidate)),
                Key::Middle(literal) => middles.push((literal, candidate)),
                Key::None => everything.push(pattern),
            }
        }
        Self {
            beginnings: LiteralTable::new(Direction::Forwards, beginnings),
            ends: LiteralTable::new(Direction::Backwards, ends),
            middles: LiteralTable::new(Direction::Forwards, middles),
            everything,
        }
    }

    /// The patterns that match the whole of `action`, in ascending order. Allocates only if there are any, or if the
    /// action holds a literal of a pattern that begins and ends with a star.
    pub fn matching(&self, action: &str) -> impl Iterator<Item = usize> + use<> {
        let mut found = self.everything.clone();
        let mut test = |literal: &Literal| {
            let matches = literal
                .candidates
                .iter()
                .filter(|candidate| candidate.matches(literal.bytes.len(), action));
            found.extend(matches.map(|candidate| candidate.pattern));
        };
        self.beginnings.each_beginning_of(action.as_bytes(), &mut test);
        self.ends.each_end_of(action.as_bytes(), &mut test);
        self.middles.each_inside(action.as_bytes(), &mut test);
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
    fn a_beginning_and_an_end_do_not_share_characters() {
        assert_eq!(matcher(&["a.b*b.c"]).matching("a.b.c").count(), 0);
        assert_eq!(matcher(&["a.b*.b.c"]).matching("a.b.b.c").count(), 1);
    }

    #[test]
    fn nothing_matches_no_patterns() {
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
