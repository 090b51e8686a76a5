//! Secrets in memory.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// A secret that is stored: 32 bytes. `Debug` hides it, and its memory is zeroed when it is dropped.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct Secret([u8; Self::BYTES]);

impl Secret {
    /// Length in bytes.
    pub const BYTES: usize = 32;

    /// The secret with these bytes.
    pub const fn new(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// The secret with these bytes, if there are as many as it has.
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Its bytes. Never show or log them.
    pub const fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(…)")
    }
}

/// The text of a secret, such as a key as it is configured. `Debug` hides it, and its memory is zeroed when it is dropped.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct SecretText(String);

impl SecretText {
    /// The text. Never show or log it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for SecretText {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl FromStr for SecretText {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SecretText(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_hides_secrets() {
        assert_eq!(format!("{:?}", Secret::new([0xab; 32])), "Secret(…)");
        let text: SecretText = "hunter2".parse().expect("any text is one");
        assert_eq!(format!("{text:?}"), "SecretText(…)");
    }

    #[test]
    fn zeroing_leaves_no_byte() {
        let mut secret = Secret::new([0xab; 32]);
        secret.zeroize();
        assert_eq!(secret.as_bytes(), &[0; 32]);
        let mut text = SecretText::from("hunter2".to_owned());
        text.zeroize();
        assert_eq!(text.as_str(), "");
    }
}
