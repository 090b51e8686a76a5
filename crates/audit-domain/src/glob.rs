//! Globs over actions.

use std::fmt;
use std::str::FromStr;

/// A pattern over actions in which `*` matches any run of characters, dots included, and everything else is literal.
/// An action is matched whole.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActionGlob(String);

/// The text cannot be a pattern over actions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "must have 1 to {} characters out of a-z, 0-9, underscore, dot and *",
    ActionGlob::CHARS_MAX
)]
pub struct ActionGlobError;

impl ActionGlob {
    /// The longest pattern, in characters.
    pub const CHARS_MAX: usize = 200;

    /// The text of the pattern.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the pattern matches the whole of `action`. Takes time linear in its length for each `*`.
    pub fn matches(&self, action: &str) -> bool {
        let Some((first, rest)) = self.0.split_once('*') else {
            return self.0 == action;
        };
        let Some(mut remaining) = action.strip_prefix(first) else {
            return false;
        };
        let mut pieces = rest.split('*');
        let last = pieces.next_back().unwrap_or_default();
        for piece in pieces {
            match remaining.find(piece) {
                Some(at) => remaining = &remaining[at + piece.len()..],
                None => return false,
            }
        }
        remaining.ends_with(last)
    }
}

impl FromStr for ActionGlob {
    type Err = ActionGlobError;

    fn from_str(text: &str) -> Result<Self, ActionGlobError> {
        let in_alphabet = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'.' | b'*');
        if text.is_empty() || text.len() > Self::CHARS_MAX || !text.bytes().all(in_alphabet) {
            return Err(ActionGlobError);
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for ActionGlob {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, word for word: slow and obviously right.
    fn matches_naively(pattern: &[u8], action: &[u8]) -> bool {
        match pattern.split_first() {
            None => action.is_empty(),
            Some((b'*', rest)) => (0..=action.len()).any(|skip| matches_naively(rest, &action[skip..])),
            Some((literal, rest)) => action
                .split_first()
                .is_some_and(|(first, tail)| first == literal && matches_naively(rest, tail)),
        }
    }

    #[test]
    fn patterns_of_the_interface_match_what_they_say() {
        let glob = |text: &str| text.parse::<ActionGlob>().unwrap();
        assert!(glob("auth.failed*").matches("auth.failed"));
        assert!(glob("auth.failed*").matches("auth.failed.password"));
        assert!(glob("*.deleted").matches("user.account.deleted"));
        assert!(!glob("*.deleted").matches("user.deleted.twice"));
        assert!(!glob("user.created").matches("user.created2"));
    }

    #[test]
    fn patterns_have_an_alphabet_and_a_length() {
        assert!("a".repeat(200).parse::<ActionGlob>().is_ok());
        for text in ["", "A*", "a-b", "a b", &"a".repeat(201)] {
            assert!(text.parse::<ActionGlob>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(pattern in "[ab.*]{1,8}", action in "[ab.]{0,10}") {
            let glob: ActionGlob = pattern.parse().unwrap();
            prop_assert_eq!(glob.matches(&action), matches_naively(pattern.as_bytes(), action.as_bytes()));
        }
    }
}
