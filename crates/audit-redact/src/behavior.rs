//! What a rule does with its hits.

use std::fmt;
use std::str::FromStr;

/// What a rule does with the text that it hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Behavior {
    /// The text becomes `[REDACTED]`.
    #[default]
    Replace,
    /// The text becomes its SHA-256, or its HMAC-SHA-256 if a hash key is configured. Equal values stay comparable.
    Hash,
    /// Stars replace all but a few characters, for example `****-****-****-1234`.
    Mask,
}

impl Behavior {
    /// Every behaviour, the strictest first.
    pub const ALL: &[Behavior] = &[Behavior::Replace, Behavior::Hash, Behavior::Mask];

    /// The name of this behaviour in a rule.
    pub fn as_str(self) -> &'static str {
        match self {
            Behavior::Replace => "replace",
            Behavior::Hash => "hash",
            Behavior::Mask => "mask",
        }
    }

    /// The behaviour that reveals less: replace before hash before mask.
    pub(crate) fn stricter(self, other: Behavior) -> Behavior {
        match (self, other) {
            (Behavior::Replace, _) | (_, Behavior::Replace) => Behavior::Replace,
            (Behavior::Hash, _) | (_, Behavior::Hash) => Behavior::Hash,
            (Behavior::Mask, Behavior::Mask) => Behavior::Mask,
        }
    }
}

impl fmt::Display for Behavior {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The error for an unknown behaviour name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown behavior: expected one of replace, hash, mask")]
pub struct BehaviorError;

impl FromStr for Behavior {
    type Err = BehaviorError;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        Behavior::ALL
            .iter()
            .copied()
            .find(|behavior| behavior.as_str() == word)
            .ok_or(BehaviorError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_behavior_parses_from_its_own_name() {
        for behavior in Behavior::ALL {
            assert_eq!(behavior.to_string().parse(), Ok(*behavior));
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_allowed_ones() {
        let error = "Replace".parse::<Behavior>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown behavior: expected one of replace, hash, mask"
        );
    }

    #[test]
    fn replace_is_stricter_than_hash_and_hash_than_mask() {
        assert_eq!(Behavior::Mask.stricter(Behavior::Hash), Behavior::Hash);
        assert_eq!(Behavior::Hash.stricter(Behavior::Replace), Behavior::Replace);
        assert_eq!(Behavior::Mask.stricter(Behavior::Mask), Behavior::Mask);
    }
}
