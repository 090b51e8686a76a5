//! The operator's encryption key.

use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use ring::aead::{AES_256_GCM, LessSafeKey, UnboundKey};
use ring::hmac;
use std::fmt;
use std::str::FromStr;
use zeroize::Zeroizing;

/// A key that seals secrets: 32 random bytes. `Debug` shows its id only, and its memory is zeroed when it is dropped.
#[derive(Clone)]
pub struct EncryptionKey {
    /// On the heap, so that moving the key leaves no copy of them.
    bytes: Zeroizing<Vec<u8>>,
    id: KeyId,
}

/// Names an [`EncryptionKey`] without telling anything of it. Each sealed secret has the id of its key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId([u8; Self::BYTES]);

/// The text is not an encryption key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be {} random bytes, written in base64 or as {} hexadecimal digits", EncryptionKey::BYTES, EncryptionKey::BYTES * 2)]
pub struct EncryptionKeyError;

impl EncryptionKey {
    /// Length in bytes.
    pub const BYTES: usize = 32;

    fn new(bytes: Zeroizing<Vec<u8>>) -> Result<Self, EncryptionKeyError> {
        if bytes.len() != Self::BYTES {
            return Err(EncryptionKeyError);
        }
        let mut key = Self {
            bytes,
            id: KeyId([0; KeyId::BYTES]),
        };
        let mac_key = hmac::Key::new(hmac::HMAC_SHA256, &key.bytes);
        let mac = hmac::sign(&mac_key, b"audit encryption key id");
        key.id.0.copy_from_slice(&mac.as_ref()[..KeyId::BYTES]);
        Ok(key)
    }

    /// Its id: the first bytes of an HMAC-SHA256 with the key.
    pub const fn id(&self) -> KeyId {
        self.id
    }

    /// For one operation: `ring` does not zero the expanded key.
    pub(crate) fn aead(&self) -> LessSafeKey {
        let key = UnboundKey::new(&AES_256_GCM, &self.bytes);
        LessSafeKey::new(key.expect("the length of the key was checked"))
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
        Self::new(Zeroizing::new(bytes))
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
        write!(formatter, "EncryptionKey({})", self.id)
    }
}

impl KeyId {
    /// Length in bytes.
    pub const BYTES: usize = 8;

    /// The id with these bytes.
    pub const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }
}

/// 16 hexadecimal digits.
impl fmt::Display for KeyId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", u64::from_be_bytes(self.0))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "KeyId({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEX: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

    fn id(text: &str) -> KeyId {
        text.parse::<EncryptionKey>().expect(text).id()
    }

    #[test]
    fn a_key_is_parsed_from_hex_and_base64() {
        for same in [
            HEX.to_uppercase().as_str(),
            "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
            "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
        ] {
            assert_eq!(id(same), id(HEX), "{same}");
        }
        for same in [
            "+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/s=",
            "-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_s",
        ] {
            assert_eq!(id(same), id(&"fb".repeat(32)), "{same}");
        }
        assert_ne!(id(HEX), id(&"fb".repeat(32)));
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
    fn debug_shows_the_id_alone() {
        let key: EncryptionKey = HEX.parse().unwrap();
        assert_eq!(format!("{key:?}"), format!("EncryptionKey({})", key.id()));
        assert!(!format!("{key:?}").contains("0001"));
    }
}
