//! Digests over events: the public content hash, and the private one that tells a repeat from a conflict.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use siphasher::sip128::SipHasher24;
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

/// A SHA-256 digest over something else than an event. Written as a [`ContentHash`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sha256Digest(ContentHash);

impl Sha256Digest {
    /// The 32 bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }

    /// From the bytes of [`Self::as_bytes`].
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(ContentHash::from_bytes(bytes))
    }
}

impl fmt::Display for Sha256Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl FromStr for Sha256Digest {
    type Err = ContentHashError;

    fn from_str(text: &str) -> Result<Self, ContentHashError> {
        text.parse().map(Self)
    }
}

/// A key for [`SentDigest`], so that the digest cannot be used to guess what redaction removed. Its memory is zeroed when it is
/// dropped.
#[derive(Clone)]
pub struct DigestKey {
    key: Zeroizing<[u8; Self::BYTES]>,
    name: [u8; SentDigest::KEY_NAME_BYTES],
}

impl DigestKey {
    const BYTES: usize = 16;

    /// Derived from any number of secret bytes.
    pub fn new(secret: impl AsRef<[u8]>) -> Self {
        let secret = secret.as_ref();
        Self {
            key: Zeroizing::new(derived(secret, b"key of digests of requests")),
            name: derived(secret, b"name of the digest key"),
        }
    }
}

/// The first bytes of HMAC-SHA256 over the purpose of a key.
fn derived<const N: usize>(secret: &[u8], purpose: &[u8]) -> [u8; N] {
    // HMAC takes keys of every length, so the error cannot happen; an empty key is then as good as any.
    let mac =
        <Hmac<Sha256> as KeyInit>::new_from_slice(secret).unwrap_or_else(|_| Hmac::new(&Default::default()));
    let code: [u8; 32] = mac.chain_update(purpose).finalize().into_bytes().into();
    std::array::from_fn(|index| code[index])
}

impl fmt::Debug for DigestKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("DigestKey(…)")
    }
}

/// A digest of an event as it was sent, before redaction: four bytes that name the key, sixteen of digest. With a key it is
/// SipHash-2-4-128 (Aumasson, Bernstein 2012): without the key nobody finds two events with one digest, nor
/// tests guesses. Without a key it is SHA-256, truncated.
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
        let mut bytes = [0; Self::BYTES];
        let (name, digest) = bytes.split_at_mut(Self::KEY_NAME_BYTES);
        match key {
            Some(key) => {
                name.copy_from_slice(&key.name);
                let hash = SipHasher24::new_with_key(&key.key).hash(canonical.as_bytes());
                digest.copy_from_slice(&hash.as_bytes());
            }
            None => {
                let hash = audit_sha256::digest(&[canonical.as_bytes()]);
                digest.copy_from_slice(&hash[..Self::BYTES - Self::KEY_NAME_BYTES]);
            }
        }
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
    use sha2::Digest;

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

    /// The first vectors of the reference implementation, `vectors_sip128` in `vectors.h` of SipHash. The bytes are stored, so
    /// they must be the same on every machine.
    #[test]
    fn a_digest_with_a_key_is_that_of_the_reference_implementation() {
        let key = DigestKey {
            key: Zeroizing::new(std::array::from_fn(|byte| byte as u8)),
            name: [1, 2, 3, 4],
        };
        let digest = |text: &str| {
            let bytes = SentDigest::of(text, Some(&key)).0;
            bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()
        };
        assert_eq!(digest(""), "01020304a3817f04ba25a8e66df67214c7550293");
        assert_eq!(digest("\0"), "01020304da87c1d86b99af44347659119b22fc45");
    }
}
