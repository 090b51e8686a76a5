//! Query terms.

/// A condition on the tokens of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// The row has one of these tokens. Not empty.
    AnyOf(Vec<String>),
    /// The row has a token with one of these prefixes. Not empty.
    Prefix(Vec<String>),
    /// As [`Self::Prefix`], with a limit of reads: where more than [`crate::PREFIX_BLOCKS_MAX`] dictionary blocks of a segment can have such
    /// tokens, they are not read, and each row of the segment with a token of `otherwise` matches.
    BoundedPrefix {
        /// The prefixes. Not empty.
        prefixes: Vec<String>,
        /// Tokens of which each row with one of the prefixes has one, so that no match is missed.
        otherwise: Vec<String>,
    },
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
            Self::Prefix(prefixes) | Self::BoundedPrefix { prefixes, .. } => (prefixes, true),
        };
        texts.iter().map(move |text| Lookup {
            text: text.as_bytes(),
            is_prefix,
        })
    }

    /// Whether a row with these tokens, separated by spaces, matches; by the prefixes alone.
    #[must_use]
    pub fn matches(&self, filed_under: &str) -> bool {
        let mut filed_under = filed_under.split(' ').filter(|token| !token.is_empty());
        match self {
            Self::AnyOf(tokens) => filed_under.any(|token| tokens.iter().any(|wanted| wanted == token)),
            Self::Prefix(prefixes) | Self::BoundedPrefix { prefixes, .. } => {
                filed_under.any(|token| prefixes.iter().any(|head| token.starts_with(head.as_str())))
            }
        }
    }
}

/// A token, or a prefix of tokens, to look up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lookup<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) is_prefix: bool,
}

impl Lookup<'_> {
    /// Whether `token` has the prefix, or is the token.
    pub(crate) fn finds(&self, token: &[u8]) -> bool {
        match self.is_prefix {
            true => token.starts_with(self.text),
            false => token == self.text,
        }
    }

    /// Whether every token that it finds is less than `token`.
    pub(crate) fn ends_before(&self, token: &[u8]) -> bool {
        token > self.text && !(self.is_prefix && token.starts_with(self.text))
    }
}
