//! Query terms.

use crate::cursor::Lookup;

/// A condition on the tokens of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// The row has one of these tokens. Not empty.
    AnyOf(Vec<String>),
    /// The row has a token with one of these prefixes. Not empty.
    Prefix(Vec<String>),
}

impl Term {
    /// The row has this token.
    #[must_use]
    pub fn is(token: String) -> Self {
        Self::AnyOf(vec![token])
    }

    /// The look-ups in the dictionary: each token or prefix, and whether it is a prefix.
    pub(crate) fn lookups(&self) -> impl Iterator<Item = Lookup<'_>> {
        let (texts, is_prefix) = match self {
            Self::AnyOf(tokens) => (tokens, false),
            Self::Prefix(prefixes) => (prefixes, true),
        };
        texts.iter().map(move |text| Lookup {
            text: text.as_bytes(),
            is_prefix,
        })
    }

    /// Whether a row with these tokens, separated by spaces, matches.
    #[must_use]
    pub fn matches(&self, filed_under: &str) -> bool {
        let mut filed_under = filed_under.split(' ').filter(|token| !token.is_empty());
        match self {
            Self::AnyOf(tokens) => filed_under.any(|token| tokens.iter().any(|wanted| wanted == token)),
            Self::Prefix(prefixes) => {
                filed_under.any(|token| prefixes.iter().any(|head| token.starts_with(head.as_str())))
            }
        }
    }
}
