//! Digests over events: the public content hash, and the private one that tells a repeat from a conflict.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use std::fmt;
use std::str::FromStr;
use zeroize::Zeroizing;

/// The hash that a stored event has in its log ([`ContentHash::of`]). Written `sha256:` and 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    /// The 32 bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// From the bytes of [`Self::as_bytes`].
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("sha256:")?;
        let mut digits = [0; 64];
        formatter.write_str(base16ct::lower::encode_str(&self.0, &mut digits)?)
    }
}

/// The text is not a content hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a content hash is sha256: and 64 lower-case hexadecimal digits")]
pub struct ContentHashError;

impl FromStr for ContentHash {
    type Err = ContentHashError;

    fn from_str(text: &str) -> Result<Self, ContentHashError> {
        let digits = text.strip_prefix("sha256:").ok_or(ContentHashError)?;
        let mut bytes = [0; 32];
        match base16ct::lower::decode(digits, &mut bytes) {
            Ok(decoded) if decoded.len() == 32 => Ok(Self(bytes)),
            _ => Err(ContentHashError),
        }
    }
}

/// A key for [`SentDigest`], so that the digest cannot be used to guess what redaction removed. Its memory is zeroed when it is
/// dropped.
#[derive(Clone)]
pub struct DigestKey {
    key: Zeroizing<Vec<u8>>,
    name: [u8; SentDigest::KEY_NAME_BYTES],
}

impl DigestKey {
    /// Any number of secret bytes.
    pub fn new(secret: impl AsRef<[u8]>) -> Self {
        let mut key = Self {
            key: Zeroizing::new(secret.as_ref().to_vec()),
            name: Default::default(),
        };
        let digest = key.authenticate(b"name of the digest key");
        key.name.copy_from_slice(&digest[..SentDigest::KEY_NAME_BYTES]);
        key
    }

    fn authenticate(&self, message: &[u8]) -> [u8; 32] {
        // HMAC takes keys of every length, so the error cannot happen; an empty key is then as good as any.
        let mac = <Hmac<Sha256> as KeyInit>::new_from_slice(&self.key)
            .unwrap_or_else(|_| Hmac::new(&Default::default()));
        mac.chain_update(message).finalize().into_bytes().into()
    }
}

impl fmt::Debug for DigestKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("DigestKey(…)")
    }
}

/// A digest of an event as it was sent, before redaction: four bytes that name the key, sixteen of digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentDigest([u8; Self::BYTES]);

/// How two events with one idempotency key compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// They were sent with the same content.
    Same,
    /// They were sent with different content.
    Different,
    /// Their digests were made with different keys, so nobody can tell any more.
    Unknown,
}

impl SentDigest {
    /// Bytes of a digest.
    pub const BYTES: usize = 20;
    const KEY_NAME_BYTES: usize = 4;

    pub(crate) fn of(canonical: &str, key: Option<&DigestKey>) -> Self {
        let (name, digest) = match key {
            Some(key) => (key.name, key.authenticate(canonical.as_bytes())),
            None => (Default::default(), Sha256::digest(canonical.as_bytes()).into()),
        };
        let mut bytes = [0; Self::BYTES];
        bytes[..Self::KEY_NAME_BYTES].copy_from_slice(&name);
        bytes[Self::KEY_NAME_BYTES..].copy_from_slice(&digest[..Self::BYTES - Self::KEY_NAME_BYTES]);
        Self(bytes)
    }

    /// Compares the content of two events with one idempotency key, as they were sent.
    pub fn compare(&self, other: &Self) -> Comparison {
        match (
            self.0 == other.0,
            self.0[..Self::KEY_NAME_BYTES] == other.0[..Self::KEY_NAME_BYTES],
        ) {
            (true, _) => Comparison::Same,
            (false, true) => Comparison::Different,
            (false, false) => Comparison::Unknown,
        }
    }

    /// The bytes of the digest.
    pub const fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }

    /// From the bytes of [`Self::as_bytes`].
    pub const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_hash_reads_like_the_interface_says() {
        assert_eq!(
            ContentHash::from_bytes(Sha256::digest("").into()).to_string(),
            "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }

    #[test]
    fn a_content_hash_has_one_text() {
        let hash = ContentHash::from_bytes([0xa7; 32]);
        let text = hash.to_string();
        assert_eq!(text.parse(), Ok(hash));
        for other in [
            &text[7..],
            &text.to_uppercase(),
            &text[..70],
            &format!("{text}0"),
            "sha256:",
            "",
        ] {
            assert_eq!(other.parse::<ContentHash>(), Err(ContentHashError), "{other}");
        }
    }

    #[test]
    fn digests_with_different_keys_prove_nothing() {
        let (a, b) = (DigestKey::new("a"), DigestKey::new("b"));
        assert_eq!(
            SentDigest::of("x", Some(&a)).compare(&SentDigest::of("x", Some(&a))),
            Comparison::Same
        );
        assert_eq!(
            SentDigest::of("x", Some(&a)).compare(&SentDigest::of("y", Some(&a))),
            Comparison::Different
        );
        assert_eq!(
            SentDigest::of("x", Some(&a)).compare(&SentDigest::of("x", Some(&b))),
            Comparison::Unknown
        );
        assert_eq!(
            SentDigest::of("x", None).compare(&SentDigest::of("x", Some(&b))),
            Comparison::Unknown
        );
        assert_eq!(
            SentDigest::of("x", None).compare(&SentDigest::of("y", None)),
            Comparison::Different
        );
    }
}
