//! Query terms.

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

    /// The tokens or prefixes.
    pub(crate) fn texts(&self) -> &[String] {
        match self {
            Self::AnyOf(texts) | Self::Prefix(texts) => texts,
        }
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
