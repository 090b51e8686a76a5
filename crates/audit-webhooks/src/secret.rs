//! The secret that signs a webhook's messages.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::fmt;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// The secret of a webhook: 32 random bytes, shared with its receiver.
///
/// Its text is `whsec_` and standard base64 with padding (Standard Webhooks, section "Signature scheme"). `Debug` hides it, and its
/// memory is zeroed when it is dropped.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct WebhookSecret([u8; Self::BYTES]);

/// The text is not a webhook's secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be whsec_ and {} bytes in base64", WebhookSecret::BYTES)]
pub struct SecretError;

impl WebhookSecret {
    /// Length in bytes: that of SHA-256. The specification allows 24 to 64.
    pub const BYTES: usize = 32;
    /// Before the base64.
    pub const PREFIX: &'static str = "whsec_";

    /// The secret with these bytes. Use random bytes for a new one.
    pub const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// The key bytes. Seal and store them; never show or log them.
    pub const fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }

    /// The text, shown once when the secret is created.
    pub fn to_text(&self) -> String {
        format!("{}{}", Self::PREFIX, STANDARD.encode(self.0))
    }

    /// Parses the output of [`Self::to_text`].
    ///
    /// # Errors
    /// [`SecretError`] for any other text.
    pub fn parse(text: &str) -> Result<Self, SecretError> {
        let encoded = text.strip_prefix(Self::PREFIX).ok_or(SecretError)?;
        let bytes = STANDARD.decode(encoded).map_err(|_| SecretError)?;
        bytes.try_into().map(Self).map_err(|_| SecretError)
    }

    /// The placeholder shown instead of a secret. It is the same for all secrets, so it does not reveal equality.
    pub const fn redacted() -> &'static str {
        "whsec_****************[REDACTED]"
    }
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("WebhookSecret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_secret_has_the_text_of_the_interface() {
        let secret = WebhookSecret::from_bytes([0xab; 32]);
        assert_eq!(
            secret.to_text(),
            "whsec_q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s="
        );
    }

    #[test]
    fn other_texts_are_refused_as_secrets() {
        let text = WebhookSecret::from_bytes([0xab; 32]).to_text();
        for other in [
            String::new(),
            "whsec_".into(),
            text.replace("whsec_", ""),
            text.trim_end_matches('=').into(),
            format!("{text} "),
            // The same bytes, spelled with bits that padding leaves unused.
            text.replace("6s=", "6t="),
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".into(),
            WebhookSecret::redacted().into(),
        ] {
            assert_eq!(WebhookSecret::parse(&other), Err(SecretError), "{other}");
        }
    }

    #[test]
    fn the_placeholder_reveals_nothing() {
        let secret = WebhookSecret::from_bytes([0xab; 32]);
        assert_eq!(format!("{secret:?}"), "WebhookSecret(…)");
        assert_eq!(WebhookSecret::redacted(), "whsec_****************[REDACTED]");
    }

    proptest! {
        #[test]
        fn a_secret_is_read_back(bytes in any::<[u8; 32]>()) {
            let secret = WebhookSecret::from_bytes(bytes);
            prop_assert_eq!(secret.as_bytes(), &bytes);
            prop_assert_eq!(WebhookSecret::parse(&secret.to_text()), Ok(secret));
        }
    }
}
