//! Secrets at rest: plain, or sealed with AES-256-GCM (NIST SP 800-38D) if the operator has configured a key.
//!
//! The first byte of a stored secret is its form:
//!
//! ```text
//! 0  plain   secret (32 bytes)
//! 1  sealed  nonce (12 bytes), ciphertext (32 bytes), authentication tag (16 bytes)
//! ```
//!
//! The associated data is the webhook's id, so that a sealed secret copied into the row of another webhook does not open.
//! Sealing protects the secrets in a copy of the database. It does not protect against an attacker with write access, who can
//! replace a sealed secret by a plain one: plain secrets always open. Where that matters, ask [`is_sealed`] first.
//!
//! ```
//! use audit_webhooks::{EncryptionKey, OpenError, WebhookSecret, sealing};
//!
//! let key: EncryptionKey = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f".parse()?;
//! let secret = WebhookSecret::from_bytes([7; 32]);
//! let stored = sealing::seal(&secret, Some(&key), b"wh_1", [9; 12]);
//! assert_eq!(sealing::open(&stored, Some(&key), b"wh_1"), Ok(secret));
//! assert_eq!(sealing::open(&stored, Some(&key), b"wh_2"), Err(OpenError::NotThisKey));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::WebhookSecret;
use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::hmac;
use std::fmt;
use std::str::FromStr;

/// Length of the nonce in bytes. A nonce is not secret, but must not repeat under one key; random nonces do not.
pub const NONCE_BYTES: usize = 12;

const TAG_BYTES: usize = 16;
const PLAIN: u8 = 0;
const SEALED: u8 = 1;

/// The operator's key that seals the secrets of webhooks. `Debug` hides it.
#[derive(Clone)]
pub struct EncryptionKey {
    sealing: LessSafeKey,
    derivation: hmac::Key,
}

/// The text is not an encryption key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be {} random bytes, written in base64 or as {} hexadecimal digits", EncryptionKey::BYTES, EncryptionKey::BYTES * 2)]
pub struct EncryptionKeyError;

/// A stored secret does not open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// The secret is sealed, and no key is configured.
    #[error("the secret is encrypted and no encryption key is configured")]
    NeedsKey,
    /// The secret was sealed with another key or for another row, or was changed since.
    #[error("the secret cannot be decrypted with the configured encryption key")]
    NotThisKey,
    /// The form or length is unknown.
    #[error("the stored secret is damaged")]
    Damaged,
}

impl EncryptionKey {
    /// Length in bytes.
    pub const BYTES: usize = 32;

    /// A key for another purpose: HMAC-SHA256 with this key over the purpose.
    pub fn derive(&self, purpose: &[u8]) -> [u8; 32] {
        let digest = hmac::sign(&self.derivation, purpose);
        let mut derived = [0; 32];
        derived.copy_from_slice(digest.as_ref());
        derived
    }
}

impl FromStr for EncryptionKey {
    type Err = EncryptionKeyError;

    /// Reads 64 hexadecimal digits, or base64 of either alphabet, with padding or without.
    fn from_str(text: &str) -> Result<Self, EncryptionKeyError> {
        // The formats are unambiguous: 64 hexadecimal digits are valid base64, but of 48 bytes.
        let bytes = match text.len() == 2 * Self::BYTES {
            true => base16ct::mixed::decode_vec(text).ok(),
            false => None,
        };
        let bytes = bytes.or_else(|| from_base64(text)).ok_or(EncryptionKeyError)?;
        let key = UnboundKey::new(&AES_256_GCM, &bytes).map_err(|_| EncryptionKeyError)?;
        Ok(Self {
            sealing: LessSafeKey::new(key),
            derivation: hmac::Key::new(hmac::HMAC_SHA256, &bytes),
        })
    }
}

fn from_base64(text: &str) -> Option<Vec<u8>> {
    let lenient = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    [&STANDARD, &URL_SAFE]
        .into_iter()
        .find_map(|alphabet| GeneralPurpose::new(alphabet, lenient).decode(text).ok())
}

impl fmt::Debug for EncryptionKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("EncryptionKey(…)")
    }
}

/// The stored form of `secret`: sealed if there is a `key`, plain otherwise.
///
/// `associated_data` is the bytes of the webhook's id; [`open`] needs the same. `nonce` is random bytes; a plain secret does
/// not use it.
pub fn seal(
    secret: &WebhookSecret,
    key: Option<&EncryptionKey>,
    associated_data: &[u8],
    nonce: [u8; NONCE_BYTES],
) -> Vec<u8> {
    let Some(key) = key else {
        return [&[PLAIN][..], secret.as_bytes()].concat();
    };
    let mut sealed = secret.as_bytes().to_vec();
    key.sealing
        .seal_in_place_append_tag(
            Nonce::assume_unique_for_key(nonce),
            Aad::from(associated_data),
            &mut sealed,
        )
        .expect("32 bytes and an id are far below the limits of AES-GCM");
    [&[SEALED][..], &nonce, &sealed].concat()
}

/// Whether a stored secret is sealed.
pub const fn is_sealed(stored: &[u8]) -> bool {
    matches!(stored.first(), Some(&SEALED))
}

/// The secret in `stored`. A plain secret opens with and without a key, so that a key can be introduced at any time.
///
/// # Errors
/// [`OpenError`]. No part of a secret that fails authentication is returned.
pub fn open(
    stored: &[u8],
    key: Option<&EncryptionKey>,
    associated_data: &[u8],
) -> Result<WebhookSecret, OpenError> {
    match stored.split_first() {
        Some((&PLAIN, plain)) => secret_of(plain),
        Some((&SEALED, sealed)) => unseal(sealed, key, associated_data),
        _ => Err(OpenError::Damaged),
    }
}

fn unseal(
    sealed: &[u8],
    key: Option<&EncryptionKey>,
    associated_data: &[u8],
) -> Result<WebhookSecret, OpenError> {
    let (nonce, sealed) = sealed
        .split_first_chunk::<NONCE_BYTES>()
        .filter(|(_, sealed)| sealed.len() == WebhookSecret::BYTES + TAG_BYTES)
        .ok_or(OpenError::Damaged)?;
    let key = key.ok_or(OpenError::NeedsKey)?;
    let mut sealed = sealed.to_vec();
    let plain = key
        .sealing
        .open_in_place(
            Nonce::assume_unique_for_key(*nonce),
            Aad::from(associated_data),
            &mut sealed,
        )
        .map_err(|_| OpenError::NotThisKey)?;
    secret_of(plain)
}

fn secret_of(bytes: &[u8]) -> Result<WebhookSecret, OpenError> {
    bytes
        .try_into()
        .map(WebhookSecret::from_bytes)
        .map_err(|_| OpenError::Damaged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HEX: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

    fn key(text: &str) -> EncryptionKey {
        text.parse().unwrap()
    }

    #[test]
    fn a_key_is_parsed_from_hex_and_base64() {
        let secret = WebhookSecret::from_bytes([5; 32]);
        let stored = seal(&secret, Some(&key(HEX)), b"row", [1; 12]);
        for same in [
            HEX.to_uppercase().as_str(),
            "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
            "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
        ] {
            assert_eq!(
                open(&stored, Some(&key(same)), b"row"),
                Ok(secret.clone()),
                "{same}"
            );
        }
        let stored = seal(&secret, Some(&key(&"fb".repeat(32))), b"row", [1; 12]);
        for same in [
            "+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/s=",
            "-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_s",
        ] {
            assert_eq!(
                open(&stored, Some(&key(same)), b"row"),
                Ok(secret.clone()),
                "{same}"
            );
        }
    }

    #[test]
    fn other_texts_are_refused_as_keys() {
        for text in [
            "",
            "secret",
            &HEX[2..],
            &format!("{HEX}00"),
            &HEX.replace('0', "g"),
            &format!("{HEX}\n"),
            "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHg==",
            // Neither alphabet has both.
            "+_v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/s=",
            &"é".repeat(32),
        ] {
            assert_eq!(
                text.parse::<EncryptionKey>().map(|_| ()),
                Err(EncryptionKeyError),
                "{text}"
            );
        }
        assert_eq!(
            EncryptionKeyError.to_string(),
            "must be 32 random bytes, written in base64 or as 64 hexadecimal digits"
        );
    }

    #[test]
    fn a_plain_secret_opens_with_and_without_a_key() {
        let secret = WebhookSecret::from_bytes([5; 32]);
        let stored = seal(&secret, None, b"row", [0; 12]);
        assert_eq!(stored, [&[0][..], &[5; 32]].concat());
        assert_eq!(open(&stored, None, b"row"), Ok(secret.clone()));
        assert_eq!(open(&stored, Some(&key(HEX)), b"other row"), Ok(secret));
    }

    #[test]
    fn a_sealed_secret_needs_its_key_and_its_row() {
        let secret = WebhookSecret::from_bytes([5; 32]);
        let stored = seal(&secret, Some(&key(HEX)), b"row", [1; 12]);
        assert_eq!(stored.len(), 61);
        assert!(!stored.windows(4).any(|window| window == [5; 4]));
        assert_eq!(open(&stored, None, b"row"), Err(OpenError::NeedsKey));
        let other = key(&"ab".repeat(32));
        assert_eq!(open(&stored, Some(&other), b"row"), Err(OpenError::NotThisKey));
        assert_eq!(
            open(&stored, Some(&key(HEX)), b"other"),
            Err(OpenError::NotThisKey)
        );
    }

    #[test]
    fn unknown_forms_and_lengths_are_damage() {
        let (sealed, plain) = ([&[1][..], &[0; 60]].concat(), [&[0][..], &[0; 32]].concat());
        for stored in [
            &[][..],
            &[2; 33],
            &plain[..32],
            &[&plain[..], &[0]].concat(),
            &sealed[..60],
            &[&sealed[..], &[0]].concat(),
            &[1],
            &[0],
        ] {
            for key in [None, Some(&key(HEX))] {
                assert_eq!(open(stored, key, b"row"), Err(OpenError::Damaged), "{stored:?}");
            }
        }
    }

    #[test]
    fn debug_hides_the_key() {
        assert_eq!(format!("{:?}", key(HEX)), "EncryptionKey(…)");
    }

    proptest! {
        #[test]
        fn what_is_sealed_opens_and_no_bit_of_it_can_be_changed(
            bytes in any::<[u8; 32]>(), row in any::<[u8; 16]>(), nonce in any::<[u8; 12]>(), bit in 8usize..61 * 8,
        ) {
            let (secret, key) = (WebhookSecret::from_bytes(bytes), key(HEX));
            let mut stored = seal(&secret, Some(&key), &row, nonce);
            prop_assert_eq!(open(&stored, Some(&key), &row), Ok(secret));
            stored[bit / 8] ^= 1 << (bit % 8);
            prop_assert_eq!(open(&stored, Some(&key), &row), Err(OpenError::NotThisKey));
        }

        #[test]
        fn no_bytes_make_opening_panic(stored in prop::collection::vec(any::<u8>(), 0..80)) {
            prop_assert!(open(&stored, Some(&key(HEX)), b"row").is_err() || stored[0] == 0);
        }
    }
}
