//! Conditions: which values of a facet a filter selects.

use crate::{Network, read_address};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Which values of a facet are meant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ValuePattern {
    /// Exactly this value.
    Is(String),
    /// An action that begins like this.
    ActionPrefix(String),
    /// An address of this network.
    Within(Network),
}

/// The text is neither an action nor the beginning of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be an action such as user.created, or its beginning and a * such as user.*")]
pub struct ActionPatternError;

/// The text has a `/` and is no network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be an address such as 203.0.113.7, or a network such as 203.0.113.0/24 or 2001:db8::/32")]
pub struct AddressPatternError;

impl ValuePattern {
    /// Reads a pattern of addresses: an address or network, or any other text without `/`, which is the exact value.
    ///
    /// # Errors
    /// When the text has a `/` and is no network.
    pub fn of_address(text: &str) -> Result<Self, AddressPatternError> {
        match text.parse() {
            Ok(network) => Ok(Self::Within(network)),
            Err(_) if text.contains('/') => Err(AddressPatternError),
            Err(_) => Ok(Self::Is(text.to_owned())),
        }
    }

    /// Reads a pattern of actions: `user.created`, or `user.*` for a beginning.
    ///
    /// # Errors
    /// When the text has a character that no action has, or a `*` anywhere but at the end.
    pub fn of_action(text: &str) -> Result<Self, ActionPatternError> {
        let (literal, is_prefix) = match text.strip_suffix('*') {
            Some(prefix) => (prefix, true),
            None => (text, false),
        };
        let in_alphabet = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'.');
        if text.is_empty() || text.len() > crate::Action::CHARS_MAX || !literal.bytes().all(in_alphabet) {
            return Err(ActionPatternError);
        }
        Ok(match is_prefix {
            true => Self::ActionPrefix(literal.to_owned()),
            false => Self::Is(literal.to_owned()),
        })
    }

    /// The value, if it is exactly one.
    pub fn value(&self) -> Option<&str> {
        match self {
            Self::Is(value) => Some(value),
            Self::ActionPrefix(_) | Self::Within(_) => None,
        }
    }

    /// Whether a value has the pattern.
    pub fn matches(&self, value: &str) -> bool {
        match self {
            Self::Is(wanted) => wanted == value,
            Self::ActionPrefix(prefix) => value.starts_with(prefix.as_str()),
            Self::Within(network) => read_address(value).is_some_and(|address| network.contains(address)),
        }
    }

    /// As [`Self::of_action`] or [`Self::of_address`] reads it. Different patterns of one facet have different texts, because no action
    /// has a `*`, and no text that is a network is an exact value.
    fn to_json(&self) -> Value {
        match self {
            Self::Is(value) => json!(value),
            Self::ActionPrefix(prefix) => json!(format!("{prefix}*")),
            Self::Within(network) => json!(network.to_string()),
        }
    }
}

/// What a filter demands of a facet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// A value has one of these patterns; any value if there are none.
    pub any_of: BTreeSet<ValuePattern>,
    /// No value has one of these patterns.
    pub none_of: BTreeSet<ValuePattern>,
}

impl Condition {
    /// Patterns of either kind that a request may have, at most.
    pub const PATTERNS_MAX: usize = 16;

    /// Exactly this value.
    pub fn is(value: impl Into<String>) -> Self {
        Self::of(ValuePattern::Is(value.into()))
    }

    /// A value of this pattern.
    pub fn of(pattern: ValuePattern) -> Self {
        Self {
            any_of: BTreeSet::from([pattern]),
            none_of: BTreeSet::new(),
        }
    }

    /// Any value but this one.
    pub fn is_not(value: impl Into<String>) -> Self {
        Self {
            any_of: BTreeSet::new(),
            none_of: BTreeSet::from([ValuePattern::Is(value.into())]),
        }
    }

    /// Whether the values of a facet meet it: one of them is demanded, and none is excluded.
    pub fn matches<'a>(&self, values: impl IntoIterator<Item = &'a str>) -> bool {
        let mut is_met = self.any_of.is_empty();
        for value in values {
            let has = |pattern: &ValuePattern| pattern.matches(value);
            if self.none_of.iter().any(has) {
                return false;
            }
            is_met = is_met || self.any_of.iter().any(has);
        }
        is_met
    }

    /// With each exact value replaced by its `forms`.
    #[must_use]
    pub fn in_all_forms<I: IntoIterator<Item = String>>(self, forms: impl Fn(&str) -> I) -> Self {
        let replaced = |patterns: BTreeSet<ValuePattern>| {
            let mut all = BTreeSet::new();
            for pattern in patterns {
                match &pattern {
                    ValuePattern::Is(value) => all.extend(forms(value).into_iter().map(ValuePattern::Is)),
                    ValuePattern::ActionPrefix(_) | ValuePattern::Within(_) => _ = all.insert(pattern),
                }
            }
            all
        };
        Self {
            any_of: replaced(self.any_of),
            none_of: replaced(self.none_of),
        }
    }

    /// Equal for equal conditions and different for different ones of a facet.
    pub(crate) fn to_json(&self) -> Value {
        let all = |patterns: &BTreeSet<ValuePattern>| {
            patterns.iter().map(ValuePattern::to_json).collect::<Vec<_>>()
        };
        match self.none_of.is_empty() {
            true => json!(all(&self.any_of)),
            false => json!([all(&self.any_of), all(&self.none_of)]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_action(text: &str) -> Condition {
        Condition::of(ValuePattern::of_action(text).unwrap())
    }

    #[test]
    fn a_condition_on_the_action_is_exact_or_a_prefix() {
        let matches = |pattern: &str, action: &str| on_action(pattern).matches(Some(action));
        assert!(matches("user.*", "user.created"));
        assert!(matches("auth.failed*", "auth.failed_login.twice"));
        assert!(!matches("user.*", "user"));
        assert!(!matches("user.created", "user.created.again"));
        assert!(matches("*", "anything.goes"));
        for text in ["", "*.deleted", "user.*.x", "User.created", "a b"] {
            assert_eq!(ValuePattern::of_action(text), Err(ActionPatternError), "{text}");
        }
    }

    #[test]
    fn a_value_is_one_of_several_and_none_of_those_excluded() {
        let is = |text: &str| ValuePattern::of_action(text).unwrap();
        let condition = Condition {
            any_of: BTreeSet::from([is("user.*"), is("key.created")]),
            none_of: BTreeSet::from([is("user.viewed"), is("user.role.*")]),
        };
        let met = [
            "user.created",
            "key.created",
            "user.viewed",
            "user.role.updated",
            "key.deleted",
        ]
        .map(|action| condition.matches(Some(action)));
        assert_eq!(met, [true, true, false, false, false]);
        assert!(!condition.matches(None));
        assert!(Condition::is_not("bot").matches(None));
        assert!(!Condition::is_not("bot").matches(Some("bot")));
    }

    #[test]
    fn one_of_several_values_is_sufficient_to_meet_a_condition_and_to_be_excluded() {
        let values = ["team_3", "user_2"];
        for (wanted, is_met) in [("user_2", true), ("team_3", true), ("user_3", false)] {
            assert_eq!(Condition::is(wanted).matches(values), is_met, "{wanted}");
            assert_eq!(Condition::is_not(wanted).matches(values), !is_met, "{wanted}");
        }
    }

    #[test]
    fn a_condition_on_an_address_is_the_address_a_network_or_a_text() {
        let matches = |pattern: &str, value: &str| {
            let pattern = ValuePattern::of_address(pattern).unwrap();
            Condition::of(pattern).matches(Some(value))
        };
        assert!(matches("203.0.113.0/24", "203.0.113.7"));
        assert!(matches("203.0.113.7", "::ffff:203.0.113.7"));
        assert!(matches("2001:DB8::1", "2001:db8:0:0::1"));
        assert!(matches("[REDACTED]", "[REDACTED]"));
        assert!(matches("fe80::1%eth0", "fe80::1%eth0"));
        assert!(!matches("0.0.0.0/0", "localhost") && !matches("203.0.113.0", "203.0.113.7"));
        for text in ["203.0.113/24", "10.0.0.0/33", "a/b", "/"] {
            assert_eq!(ValuePattern::of_address(text), Err(AddressPatternError), "{text}");
        }
    }

    #[test]
    fn every_form_of_a_value_is_demanded_or_excluded() {
        let forms = |value: &str| [value.to_owned(), format!("hash of {value}")];
        let both = Condition::is("jane").in_all_forms(forms);
        assert!(both.matches(Some("hash of jane")) && both.matches(Some("jane")));
        let neither = Condition::is_not("jane").in_all_forms(forms);
        assert!(!neither.matches(Some("hash of jane")) && !neither.matches(Some("jane")));
        assert_eq!(on_action("user.*").in_all_forms(forms), on_action("user.*"));
    }
}
