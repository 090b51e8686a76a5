//! Conditions on what a row is filed under.

/// One condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// Filed under one of these tokens; never empty.
    AnyOf(Vec<String>),
    /// Filed under a token that begins like one of these; never empty.
    BeginsLike(Vec<String>),
}

impl Term {
    /// Filed under this token.
    #[must_use]
    pub fn is(token: String) -> Self {
        Self::AnyOf(vec![token])
    }

    /// The tokens, or what they begin like.
    pub(crate) fn texts(&self) -> &[String] {
        match self {
            Self::AnyOf(texts) | Self::BeginsLike(texts) => texts,
        }
    }

    /// Whether it holds for a row that is filed under these tokens, separated by spaces.
    #[must_use]
    pub fn is_fulfilled_by(&self, filed_under: &str) -> bool {
        let mut filed_under = filed_under.split(' ').filter(|token| !token.is_empty());
        match self {
            Self::AnyOf(tokens) => filed_under.any(|token| tokens.iter().any(|wanted| wanted == token)),
            Self::BeginsLike(beginnings) => filed_under.any(|token| {
                beginnings
                    .iter()
                    .any(|beginning| token.starts_with(beginning.as_str()))
            }),
        }
    }
}
