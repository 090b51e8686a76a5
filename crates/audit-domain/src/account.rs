//! Organizations, their plans, and the two environments of a project.

use crate::words;
use std::fmt;
use std::str::FromStr;

words! {
    /// What an organization has paid for.
    pub enum Plan {
        /// 1,000 events a day, built-in alert rules.
        Free = "free",
        /// 1,000,000 events a day, custom alert rules and webhooks.
        Pro = "pro",
        /// No daily limit.
        Enterprise = "enterprise",
    }
}

words! {
    /// Live and test data of a project never mix.
    pub enum Environment {
        /// Real events.
        Live = "live",
        /// Events of trials and test suites; they count against no limit and reach no webhook.
        Test = "test",
    }
}

/// The name of a key, rule or project: 1 to 100 characters, none of them a control character: names are shown on terminals and in lists.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(String);

/// A name is empty, too long, or holds a control character.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "must have 1 to {} characters, none of them a control character",
    Name::CHARS_MAX
)]
pub struct NameError;

impl Name {
    /// The longest name, in characters.
    pub const CHARS_MAX: usize = 100;

    /// The text of the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Name {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let chars = text.chars().count();
        if chars == 0 || chars > Self::CHARS_MAX || text.chars().any(char::is_control) {
            return Err(NameError);
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_1_to_100_characters() {
        assert!("é".repeat(100).parse::<Name>().is_ok());
        assert_eq!("é".repeat(101).parse::<Name>(), Err(NameError));
        assert_eq!("".parse::<Name>(), Err(NameError));
        for control in ["a\0b", "a\nb", "\u{1b}[2J", "\u{9b}2J", "a\u{7f}"] {
            assert_eq!(control.parse::<Name>(), Err(NameError), "{control:?}");
        }
    }
}
