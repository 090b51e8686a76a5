//! API keys: their text, its checksum, and the hash under which they are stored.

use crate::CredentialError;
use audit_domain::Environment;
use sha2::{Digest, Sha256};
use std::fmt;
use subtle::ConstantTimeEq;

const BASE62_DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The scope of a key, given by its prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// `mk_`: the whole organization, administrative writes included.
    Master,
    /// `pk_live_` or `pk_test_`: one environment of one project.
    Project(Environment),
}

impl KeyKind {
    /// Every kind of key.
    pub const ALL: [Self; 3] = [
        Self::Master,
        Self::Project(Environment::Live),
        Self::Project(Environment::Test),
    ];

    /// The prefix of a key of this kind.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Master => "mk_",
            Self::Project(Environment::Live) => "pk_live_",
            Self::Project(Environment::Test) => "pk_test_",
        }
    }
}

/// The full text of a key: [`KeyKind::prefix`], 33 random and 6 checksum characters, all of these base62.
///
/// The checksum is the CRC-32 (IEEE 802.3) of everything before it, in the format of GitHub's tokens. It distinguishes a
/// mistyped key from a revoked one without a database lookup, and secret scanners match only real keys:
/// `(mk|pk_live|pk_test)_[0-9A-Za-z]{39}`.
///
/// The text is a secret: `Debug` shows only the public [`prefix`](Self::prefix), and there is no `Display`.
#[derive(Clone)]
pub struct KeyText {
    kind: KeyKind,
    text: String,
    /// Computed once: a request looks its key up several times.
    hash: KeyHash,
}

impl KeyText {
    /// Number of random bytes in a key. The prefix of a master key shows at most 54 of these 192 bits, so more than 128 stay
    /// secret.
    pub const RANDOM_BYTES: usize = 24;
    /// Length of the prefix that is shown after creation.
    pub const PREFIX_CHARS: usize = 12;

    const RANDOM_CHARS: usize = 33;
    const CHECKSUM_CHARS: usize = 6;

    /// A new key of this kind from random bytes. Equal bytes give equal keys.
    pub fn generate(kind: KeyKind, random: [u8; Self::RANDOM_BYTES]) -> Self {
        let mut text = String::from(kind.prefix());
        text.extend(base62::<_, { Self::RANDOM_CHARS }>(random));
        text.extend(Self::checksum(&text));
        Self::new(kind, text)
    }

    fn new(kind: KeyKind, text: String) -> Self {
        let hash = KeyHash(Sha256::digest(&text).into());
        Self { kind, text, hash }
    }

    /// Parses a key and verifies its checksum. To find out whether the key exists, look up its [`hash`](Self::hash).
    ///
    /// # Errors
    /// [`CredentialError::UnknownForm`] if the text begins with neither `mk_` nor `pk_`;
    /// [`CredentialError::MistypedKey`] if it does, but is not a key.
    pub fn parse(text: &str) -> Result<Self, CredentialError> {
        if !Self::is_meant_by(text) {
            return Err(CredentialError::UnknownForm);
        }
        for kind in KeyKind::ALL {
            if let Some(rest) = text.strip_prefix(kind.prefix()) {
                let is_base62 = rest.bytes().all(|byte| byte.is_ascii_alphanumeric());
                if !is_base62 || rest.len() != Self::RANDOM_CHARS + Self::CHECKSUM_CHARS {
                    return Err(CredentialError::MistypedKey);
                }
                let (covered, checksum) = text.split_at(text.len() - Self::CHECKSUM_CHARS);
                if !Self::checksum(covered).into_iter().eq(checksum.chars()) {
                    return Err(CredentialError::MistypedKey);
                }
                return Ok(Self::new(kind, text.to_owned()));
            }
        }
        Err(CredentialError::MistypedKey)
    }

    /// Whether the text has the prefix of a key, well-formed or not.
    pub(crate) fn is_meant_by(text: &str) -> bool {
        text.starts_with("mk_") || text.starts_with("pk_")
    }

    /// The scope of the key.
    pub const fn kind(&self) -> KeyKind {
        self.kind
    }

    /// The secret. Show it once, on creation; never log it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The first 12 characters, by which users recognise a key. Not secret.
    pub fn prefix(&self) -> &str {
        &self.text[..Self::PREFIX_CHARS]
    }

    /// The hash under which the key is stored and looked up.
    pub const fn hash(&self) -> KeyHash {
        self.hash
    }

    fn checksum(covered: &str) -> [char; Self::CHECKSUM_CHARS] {
        base62(crc32fast::hash(covered.as_bytes()).to_be_bytes())
    }
}

impl fmt::Debug for KeyText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("KeyText")
            .field("prefix", &self.prefix())
            .finish_non_exhaustive()
    }
}

/// The SHA-256 of a key's text. A fast unkeyed hash is sufficient, because the text has more than 128 random bits.
///
/// Hashes are compared in constant time, and `Debug` shows nothing.
#[derive(Clone, Copy)]
pub struct KeyHash([u8; 32]);

impl KeyHash {
    /// Length of a hash in bytes.
    pub const BYTES: usize = 32;

    /// The hash with these bytes, as stored.
    pub const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// The bytes to store.
    pub const fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }
}

impl PartialEq for KeyHash {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for KeyHash {}

impl fmt::Debug for KeyHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("KeyHash").finish_non_exhaustive()
    }
}

/// The big-endian `number` in base 62, padded with leading zeros. `CHARS` must suffice for every number of that length;
/// otherwise the highest digits are lost.
fn base62<const BYTES: usize, const CHARS: usize>(mut number: [u8; BYTES]) -> [char; CHARS] {
    let mut digits = ['0'; CHARS];
    for digit in digits.iter_mut().rev() {
        let mut remainder = 0_u16;
        for byte in &mut number {
            let dividend = remainder << 8 | u16::from(*byte);
            // Both casts are lossless: the remainder is below 62, so the dividend is below 62 * 256.
            *byte = (dividend / 62) as u8;
            remainder = dividend % 62;
        }
        *digit = char::from(BASE62_DIGITS[usize::from(remainder)]);
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_key() -> impl Strategy<Value = KeyText> {
        (0..KeyKind::ALL.len(), any::<[u8; KeyText::RANDOM_BYTES]>())
            .prop_map(|(kind, random)| KeyText::generate(KeyKind::ALL[kind], random))
    }

    #[test]
    fn keys_agree_with_recorded_examples() {
        // Computed with an independent implementation (Python's binascii.crc32 and integer division).
        let keys = [
            (
                KeyKind::Master,
                [0; 24],
                "mk_0000000000000000000000000000000000WQCTz",
            ),
            (
                KeyKind::Project(Environment::Live),
                [0xff; 24],
                "pk_live_2lFA6LboL2xx0ldQH2K1TdSrwuqMMiME320BGUw",
            ),
            (
                KeyKind::Project(Environment::Test),
                std::array::from_fn(|index| index as u8),
                "pk_test_000A7dl5PEW67zZCpFU9uKaHnGgOvQKAR10PYXt",
            ),
        ];
        for (kind, random, expected) in keys {
            assert_eq!(KeyText::generate(kind, random).as_str(), expected);
        }
    }

    #[test]
    fn the_prefix_is_the_first_12_characters() {
        let key = KeyText::generate(KeyKind::Project(Environment::Live), [0xff; 24]);
        assert_eq!(key.prefix().len(), 12);
        assert!(key.as_str().starts_with(key.prefix()));
    }

    #[test]
    fn a_key_is_stored_as_the_sha_256_of_its_text() {
        let key = KeyText::generate(KeyKind::Master, [0; 24]);
        assert_eq!(
            base16ct::lower::encode_string(key.hash().as_bytes()),
            "bdc64e525e15aeaf6dd95f0f6dec1f494cd8181a9ef7fede1c1de5a1d614b178"
        );
    }

    #[test]
    fn hashes_are_equal_only_in_every_bit() {
        let hash = KeyText::generate(KeyKind::Master, [1; 24]).hash();
        assert_eq!(KeyHash::from_bytes(*hash.as_bytes()), hash);
        for bit in 0..256 {
            let mut bytes = *hash.as_bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(KeyHash::from_bytes(bytes), hash, "bit {bit}");
        }
    }

    #[test]
    fn debug_shows_neither_key_nor_hash() {
        let key = KeyText::generate(KeyKind::Master, [5; 24]);
        assert_eq!(
            format!("{key:?}"),
            format!("KeyText {{ prefix: {:?}, .. }}", key.prefix())
        );
        assert_eq!(format!("{:?}", key.hash()), "KeyHash(..)");
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "m", "MK_", "sk_live_abc", " mk_abc", "vt_a.b.c", "Bearer mk_"] {
            assert_eq!(
                KeyText::parse(text).unwrap_err(),
                CredentialError::UnknownForm,
                "{text}"
            );
        }
        let key = KeyText::generate(KeyKind::Master, [9; 24]);
        let random_chars = &key.as_str()[3..];
        let texts = [
            "mk_".to_owned(),
            "pk_".to_owned(),
            format!("pk_{random_chars}"),
            format!("pk_live_{random_chars}"),
            format!("pk_prod_{random_chars}"),
            format!("mk_{}", "é".repeat(20)),
            format!("mk_{}é", "0".repeat(37)),
            format!("mk_{}", "0".repeat(39)),
            format!("{}0", key.as_str()),
            format!("{} ", key.as_str()),
            format!("{}\n", key.as_str()),
        ];
        for text in texts {
            assert_eq!(
                KeyText::parse(&text).unwrap_err(),
                CredentialError::MistypedKey,
                "{text}"
            );
        }
    }

    proptest! {
        #[test]
        fn a_generated_key_is_read_back(kind in 0..KeyKind::ALL.len(), random in any::<[u8; 24]>()) {
            let key = KeyText::generate(KeyKind::ALL[kind], random);
            let parsed = KeyText::parse(key.as_str()).unwrap();
            prop_assert_eq!(parsed.as_str(), key.as_str());
            prop_assert_eq!(parsed.kind(), KeyKind::ALL[kind]);
            prop_assert_eq!(parsed.hash(), key.hash());
            prop_assert_eq!(key.as_str().len(), key.kind().prefix().len() + 39);
        }

        #[test]
        fn other_randomness_makes_another_key(a in any::<[u8; 24]>(), b in any::<[u8; 24]>()) {
            let (first, second) = (KeyText::generate(KeyKind::Master, a), KeyText::generate(KeyKind::Master, b));
            prop_assert_eq!(a == b, first.as_str() == second.as_str());
            prop_assert_eq!(a == b, first.hash() == second.hash());
        }

        #[test]
        fn one_changed_character_is_noticed(key in any_key(), at in any::<prop::sample::Index>(), with in "[ -~]") {
            let at = at.index(key.as_str().len());
            let mut text = key.as_str().to_owned();
            text.replace_range(at..=at, &with);
            prop_assert_eq!(KeyText::parse(&text).is_ok(), text == key.as_str());
        }

        #[test]
        fn one_dropped_character_is_noticed(key in any_key(), at in any::<prop::sample::Index>()) {
            let mut text = key.as_str().to_owned();
            text.remove(at.index(text.len()));
            prop_assert!(KeyText::parse(&text).is_err());
        }

        #[test]
        fn one_doubled_character_is_noticed(key in any_key(), at in any::<prop::sample::Index>()) {
            let mut text = key.as_str().to_owned();
            let at = at.index(text.len());
            text.insert_str(at, &key.as_str()[at..=at]);
            prop_assert!(KeyText::parse(&text).is_err());
        }

        #[test]
        fn two_swapped_characters_are_noticed(
            key in any_key(),
            one in any::<prop::sample::Index>(),
            other in any::<prop::sample::Index>(),
        ) {
            let mut bytes = key.as_str().as_bytes().to_vec();
            let (one, other) = (one.index(bytes.len()), other.index(bytes.len()));
            bytes.swap(one, other);
            let text = String::from_utf8(bytes).unwrap();
            prop_assert_eq!(KeyText::parse(&text).is_ok(), text == key.as_str());
        }

        #[test]
        fn any_text_is_parsed_without_panic(text in "(mk_|pk_live_|pk_test_)?\\PC{0,60}") {
            prop_assert!(KeyText::parse(&text).is_err());
        }
    }
}
