//! Keys of signed notes: C2SP `signed-note`, sections "Signatures" and "Ed25519 signatures".

use crate::note::{NoteError, SIGNATURE_START, SignedNote};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use sha2::{Digest, Sha256};
use std::fmt;
use std::str::FromStr;

/// The name of a signer, written before its signature. By convention a URL without its scheme, such as
/// `audit.example.com/log`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KeyName(String);

/// Selects a key of one name: the first four bytes of SHA-256 over name, newline, 0x01 and public key. It is neither secret
/// nor a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyId([u8; 4]);

/// The public key that verifies signatures. Its text is `<name>+<key id in hexadecimal>+<base64 of 0x01 and the public
/// key>`, the format of Go's `golang.org/x/mod/sumdb/note`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VerifierKey {
    name: KeyName,
    id: KeyId,
    public_key: [u8; Self::PUBLIC_KEY_BYTES],
}

/// The private key that signs checkpoints.
pub struct SigningKey {
    verifier: VerifierKey,
    pair: Ed25519KeyPair,
}

/// A key or key name is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The name is empty, too long, or has a separator character.
    #[error(
        "the name of a key has 1 to {} bytes without spaces, plus signs and control characters",
        KeyName::BYTES_MAX
    )]
    Name,
    /// The text does not have the three parts of a key in their exact encoding.
    #[error("must be a key such as example.com/log+1a2b3c4d+A… (name, key id, base64)")]
    Text,
    /// The key is not an Ed25519 key.
    #[error("the key is for signatures of type {0}; only type 1 (Ed25519) is supported")]
    Type(u8),
    /// The key is not one that witnesses cosign with.
    #[error("the key is for signatures of type {0}; a witness has one of type 4 (Ed25519 cosignatures)")]
    NotOfWitness(u8),
    /// The key id does not match the name and the public key: one of the three was mistyped.
    #[error("the key id does not match the name and public key")]
    Id,
    /// The cryptographic library refused the seed.
    #[error("cannot derive a key pair from the seed")]
    Seed,
}

impl KeyName {
    /// Most bytes in a name.
    pub const BYTES_MAX: usize = 255;

    /// Parses a name.
    ///
    /// # Errors
    /// [`KeyError::Name`] if it is empty, too long, or has a space, a plus sign or a control character.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        if text.len() > Self::BYTES_MAX || !Self::is_well_formed(text) {
            return Err(KeyError::Name);
        }
        Ok(Self(text.to_owned()))
    }

    /// Whether the specification allows the name. It sets no limit on the length, and signatures by unknown keys must be
    /// accepted.
    pub(crate) fn is_well_formed(text: &str) -> bool {
        let forbidden = |c: char| c.is_whitespace() || c == '+' || c < ' ';
        !text.is_empty() && !text.contains(forbidden)
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl KeyId {
    /// The bytes before a signature.
    pub const fn as_bytes(&self) -> &[u8; 4] {
        &self.0
    }

    pub(crate) const fn from_bytes(bytes: [u8; 4]) -> Self {
        Self(bytes)
    }

    pub(crate) fn of(name: &KeyName, typed_key: &[u8]) -> Self {
        let hasher = Sha256::new().chain_update(name.as_str()).chain_update(b"\n");
        let digest: [u8; 32] = hasher.chain_update(typed_key).finalize().into();
        Self([digest[0], digest[1], digest[2], digest[3]])
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:08x}", u32::from_be_bytes(self.0))
    }
}

impl VerifierKey {
    /// Length of a public key (RFC 8032 §5.1.5).
    pub const PUBLIC_KEY_BYTES: usize = 32;
    /// The type of Ed25519 signatures over the text of a note.
    const ED25519_TYPE: u8 = 1;

    /// The key with this name and public key.
    pub fn new(name: KeyName, public_key: [u8; Self::PUBLIC_KEY_BYTES]) -> Self {
        let id = KeyId::of(&name, &Self::typed(&public_key));
        Self { name, id, public_key }
    }

    /// The name of the signer.
    pub const fn name(&self) -> &KeyName {
        &self.name
    }

    /// The key id.
    pub const fn id(&self) -> KeyId {
        self.id
    }

    /// The public key.
    pub const fn public_key(&self) -> &[u8; Self::PUBLIC_KEY_BYTES] {
        &self.public_key
    }

    /// The signature lines of this key on a note. Nothing is verified.
    pub(crate) fn lines_on(&self, note: &str) -> Result<String, NoteError> {
        let note = SignedNote::parse(note)?;
        let line = |signature: &[u8]| signature_line(&self.name, self.id, signature);
        Ok(note.signatures_of(&self.name, self.id).map(line).collect())
    }

    /// Whether the signature over the text is valid.
    pub(crate) fn is_signature(&self, text: &str, signature: &[u8]) -> bool {
        let key = UnparsedPublicKey::new(&ED25519, &self.public_key);
        key.verify(text.as_bytes(), signature).is_ok()
    }

    fn typed(public_key: &[u8; Self::PUBLIC_KEY_BYTES]) -> Vec<u8> {
        [&[Self::ED25519_TYPE], public_key.as_slice()].concat()
    }
}

impl fmt::Display for VerifierKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = STANDARD.encode(Self::typed(&self.public_key));
        write!(formatter, "{}+{}+{key}", self.name, self.id)
    }
}

impl FromStr for VerifierKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let (name, id, typed) = split(text)?;
        let (kind, public_key) = typed.split_first().ok_or(KeyError::Text)?;
        if *kind != Self::ED25519_TYPE {
            return Err(KeyError::Type(*kind));
        }
        let public_key = public_key.try_into().map_err(|_| KeyError::Text)?;
        let key = Self::new(name, public_key);
        if key.id.to_string() != id {
            return Err(KeyError::Id);
        }
        Ok(key)
    }
}

/// The parts of a key's text: name, key id, and the type with the public key.
pub(crate) fn split(text: &str) -> Result<(KeyName, &str, Vec<u8>), KeyError> {
    // The base64 part may contain plus signs; a name does not.
    let (name, rest) = text.split_once('+').ok_or(KeyError::Text)?;
    let (id, key) = rest.split_once('+').ok_or(KeyError::Text)?;
    let typed = STANDARD.decode(key).map_err(|_| KeyError::Text)?;
    Ok((KeyName::parse(name)?, id, typed))
}

impl SigningKey {
    /// Length of a seed (the private key of RFC 8032 §5.1.5).
    pub const SEED_BYTES: usize = 32;

    /// Derives the key pair from a random seed. One seed may serve several names; each has its own key id.
    ///
    /// # Errors
    /// [`KeyError::Seed`] if the cryptographic library refuses the seed.
    pub fn from_seed(name: KeyName, seed: &[u8; Self::SEED_BYTES]) -> Result<Self, KeyError> {
        let pair = Ed25519KeyPair::from_seed_unchecked(seed).map_err(|_| KeyError::Seed)?;
        let public_key = pair.public_key().as_ref().try_into();
        let verifier = VerifierKey::new(name, public_key.map_err(|_| KeyError::Seed)?);
        Ok(Self { verifier, pair })
    }

    /// The public key that verifies its signatures.
    pub const fn verifier(&self) -> &VerifierKey {
        &self.verifier
    }

    /// The signature line over a note's text. Private to the crate: only [`Self::sign`] and [`Self::sign_successor`] sign, and
    /// they sign only checkpoints.
    pub(crate) fn signature_line(&self, text: &str) -> String {
        signature_line(&self.verifier.name, self.verifier.id, &self.signature(text))
    }

    /// The signature over a text. Private to the crate like the line.
    pub(crate) fn signature(&self, text: &str) -> Vec<u8> {
        self.pair.sign(text.as_bytes()).as_ref().to_vec()
    }
}

/// The line of a signature on a note.
pub(crate) fn signature_line(name: &KeyName, id: KeyId, signature: &[u8]) -> String {
    let bytes = [id.as_bytes().as_slice(), signature].concat();
    format!("{SIGNATURE_START}{name} {}\n", STANDARD.encode(bytes))
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SigningKey({})", self.verifier)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The key of Go's checksum database, as published.
    const SUM_GOLANG_ORG: &str = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8";

    #[test]
    fn a_key_has_the_text_that_go_writes() {
        let key: VerifierKey = SUM_GOLANG_ORG.parse().unwrap();
        assert_eq!(key.name().as_str(), "sum.golang.org");
        assert_eq!(key.id().to_string(), "033de0ae");
        assert_eq!(key.to_string(), SUM_GOLANG_ORG);
    }

    #[test]
    fn the_seed_of_rfc_8032_gives_its_public_key() {
        let seed = *b"\x9d\x61\xb1\x9d\xef\xfd\x5a\x60\xba\x84\x4a\xf4\x92\xec\x2c\xc4\x44\x49\xc5\x69\x7b\x32\x69\x19\x70\x3b\xac\x03\x1c\xae\x7f\x60";
        let key = SigningKey::from_seed(KeyName::parse("a").unwrap(), &seed).unwrap();
        assert!(
            key.verifier()
                .public_key()
                .starts_with(b"\xd7\x5a\x98\x01\x82\xb1\x0a\xb7")
        );
        assert!(!format!("{key:?}").contains("9d"), "the seed is not shown");
    }

    #[test]
    fn a_key_has_one_encoding() {
        let of_type_2 = VerifierKey::typed(&[7; 32])
            .iter()
            .map(|_| 2)
            .collect::<Vec<u8>>();
        let of_type_2 = format!("a+00000000+{}", STANDARD.encode(of_type_2));
        let short = format!("a+00000000+{}", STANDARD.encode([1; 32]));
        for (text, error) in [
            ("", KeyError::Text),
            ("sum.golang.org", KeyError::Text),
            ("sum.golang.org+033de0ae", KeyError::Text),
            ("sum.golang.org+033de0ae+", KeyError::Text),
            (&SUM_GOLANG_ORG[1..], KeyError::Id),
            (&SUM_GOLANG_ORG.replace("033de0ae", "033DE0AE"), KeyError::Id),
            (&SUM_GOLANG_ORG.replace("033de0ae", "33de0ae"), KeyError::Id),
            (&SUM_GOLANG_ORG.replace("Ac4z", "Ac4y"), KeyError::Id),
            (&format!("{SUM_GOLANG_ORG}\n"), KeyError::Text),
            (&format!(" {SUM_GOLANG_ORG}"), KeyError::Name),
            (&SUM_GOLANG_ORG.replace("sum.golang.org", ""), KeyError::Name),
            (&of_type_2, KeyError::Type(2)),
            (&short, KeyError::Text),
        ] {
            assert_eq!(text.parse::<VerifierKey>(), Err(error), "{text:?}");
        }
    }

    #[test]
    fn a_name_has_no_spaces_and_no_plus_signs() {
        let longest = "n".repeat(KeyName::BYTES_MAX);
        for name in ["a", "example.com/log", "日志", &longest] {
            assert_eq!(KeyName::parse(name).unwrap().as_str(), name);
        }
        let too_long = format!("{longest}n");
        for name in ["", "a b", "a\u{2003}b", "a+b", "a\nb", "a\u{1}b", &too_long] {
            assert_eq!(KeyName::parse(name), Err(KeyError::Name), "{name:?}");
        }
    }
}
