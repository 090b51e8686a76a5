//! The secrets that sign viewer tokens, and the lifetime of tokens.

use std::fmt;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// A secret that signs viewer tokens, and its name (`kid`), which a token carries in its header.
///
/// `Debug` shows only the name, and the memory of the secret is zeroed when it is dropped.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct ViewerSecret {
    kid: String,
    secret: [u8; Self::SECRET_BYTES],
}

impl ViewerSecret {
    /// Length of the secret in bytes: that of SHA-256, the minimum of RFC 7518 section 3.2.
    pub const SECRET_BYTES: usize = 32;
    /// Number of random bytes for a secret and its name.
    pub const RANDOM_BYTES: usize = 40;

    const KID_BYTES: usize = Self::RANDOM_BYTES - Self::SECRET_BYTES;

    /// A new secret, named by 16 random hexadecimal digits.
    pub fn generate(random: [u8; Self::RANDOM_BYTES]) -> Self {
        let mut kid = [0; Self::KID_BYTES];
        let mut secret = [0; Self::SECRET_BYTES];
        kid.copy_from_slice(&random[..Self::KID_BYTES]);
        secret.copy_from_slice(&random[Self::KID_BYTES..]);
        Self {
            kid: format!("{:016x}", u64::from_be_bytes(kid)),
            secret,
        }
    }

    /// A stored secret.
    pub fn from_parts(kid: impl Into<String>, secret: [u8; Self::SECRET_BYTES]) -> Self {
        Self {
            kid: kid.into(),
            secret,
        }
    }

    /// The name of the secret. Not secret.
    pub fn kid(&self) -> &str {
        &self.kid
    }

    /// The secret. Store it; never show or log it.
    pub const fn as_bytes(&self) -> &[u8; Self::SECRET_BYTES] {
        &self.secret
    }
}

impl fmt::Debug for ViewerSecret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ViewerSecret")
            .field("kid", &self.kid)
            .finish_non_exhaustive()
    }
}

/// The lifetime of a viewer token: 60 to 86,400 seconds, 3,600 by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenLifetime(i64);

/// The lifetime of a viewer token is out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be {} to {} seconds",
    TokenLifetime::SECONDS_MIN,
    TokenLifetime::SECONDS_MAX
)]
pub struct TokenLifetimeError;

impl TokenLifetime {
    /// The shortest lifetime, in seconds.
    pub const SECONDS_MIN: i64 = 60;
    /// The longest lifetime, in seconds. A secret can be deleted this long after its last signature.
    pub const SECONDS_MAX: i64 = 86_400;
    /// The default lifetime, in seconds.
    pub const SECONDS_DEFAULT: i64 = 3_600;

    /// A lifetime of this many seconds.
    ///
    /// # Errors
    /// [`TokenLifetimeError`] outside [`Self::SECONDS_MIN`] to [`Self::SECONDS_MAX`].
    pub const fn from_seconds(seconds: i64) -> Result<Self, TokenLifetimeError> {
        if seconds < Self::SECONDS_MIN || seconds > Self::SECONDS_MAX {
            return Err(TokenLifetimeError);
        }
        Ok(Self(seconds))
    }

    /// The lifetime in seconds.
    pub const fn seconds(self) -> i64 {
        self.0
    }
}

impl Default for TokenLifetime {
    fn default() -> Self {
        Self(Self::SECONDS_DEFAULT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lifetime_is_a_minute_to_a_day() {
        for seconds in [60, 61, 3_600, 86_400] {
            assert_eq!(
                TokenLifetime::from_seconds(seconds).map(TokenLifetime::seconds),
                Ok(seconds)
            );
        }
        for seconds in [i64::MIN, -60, 0, 59, 86_401, i64::MAX] {
            assert_eq!(
                TokenLifetime::from_seconds(seconds),
                Err(TokenLifetimeError),
                "{seconds}"
            );
        }
        assert_eq!(TokenLifetime::default().seconds(), 3_600);
        assert_eq!(TokenLifetimeError.to_string(), "must be 60 to 86400 seconds");
    }

    #[test]
    fn a_stored_secret_round_trips() {
        let made = ViewerSecret::generate(std::array::from_fn(|index| index as u8));
        assert_eq!(made.kid(), "0001020304050607");
        assert_eq!(made.as_bytes()[..3], [8, 9, 10]);
        let stored = ViewerSecret::from_parts(made.kid(), *made.as_bytes());
        assert_eq!((stored.kid(), stored.as_bytes()), (made.kid(), made.as_bytes()));
    }

    #[test]
    fn debug_shows_only_the_name() {
        let secret = ViewerSecret::from_parts("2026", [0xab; 32]);
        assert_eq!(format!("{secret:?}"), "ViewerSecret { kid: \"2026\", .. }");
    }
}
