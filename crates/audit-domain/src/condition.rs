//! Conditions: which values of a facet a filter selects.

use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A value of a facet, or the beginning of an action.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ValuePattern {
    /// Exactly this value.
    Is(String),
    /// An action that begins like this.
    ActionPrefix(String),
}

/// The text is neither an action nor the beginning of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be an action such as user.created, or its beginning and a * such as user.*")]
pub struct ActionPatternError;

impl ValuePattern {
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
            Self::ActionPrefix(_) => None,
        }
    }

    /// Whether a value has the pattern.
    pub fn matches(&self, value: &str) -> bool {
        match self {
            Self::Is(wanted) => wanted == value,
            Self::ActionPrefix(prefix) => value.starts_with(prefix.as_str()),
        }
    }

    /// As [`Self::of_action`] reads it. Different patterns of one facet have different texts, because no action has a `*`.
    fn to_json(&self) -> Value {
        match self {
            Self::Is(value) => json!(value),
            Self::ActionPrefix(prefix) => json!(format!("{prefix}*")),
        }
    }
}

/// What a filter demands of a facet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// The value has one of these patterns; any value if there are none.
    pub any_of: BTreeSet<ValuePattern>,
    /// The value has none of these patterns.
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

    /// Whether a value meets it. An absent value is none of those that are excluded, and none of those that are demanded.
    pub fn matches(&self, value: Option<&str>) -> bool {
        let Some(value) = value else {
            return self.any_of.is_empty();
        };
        let has = |pattern: &ValuePattern| pattern.matches(value);
        (self.any_of.is_empty() || self.any_of.iter().any(has)) && !self.none_of.iter().any(has)
    }

    /// With each exact value replaced by its `forms`.
    #[must_use]
    pub fn in_all_forms<I: IntoIterator<Item = String>>(self, forms: impl Fn(&str) -> I) -> Self {
        let replaced = |patterns: BTreeSet<ValuePattern>| {
            let mut all = BTreeSet::new();
            for pattern in patterns {
                match &pattern {
                    ValuePattern::Is(value) => all.extend(forms(value).into_iter().map(ValuePattern::Is)),
                    ValuePattern::ActionPrefix(_) => _ = all.insert(pattern),
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
    fn every_form_of_a_value_is_demanded_or_excluded() {
        let forms = |value: &str| [value.to_owned(), format!("hash of {value}")];
        let both = Condition::is("jane").in_all_forms(forms);
        assert!(both.matches(Some("hash of jane")) && both.matches(Some("jane")));
        let neither = Condition::is_not("jane").in_all_forms(forms);
        assert!(!neither.matches(Some("hash of jane")) && !neither.matches(Some("jane")));
        assert_eq!(on_action("user.*").in_all_forms(forms), on_action("user.*"));
    }
}
