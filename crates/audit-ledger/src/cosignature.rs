//! Cosignatures of witnesses: C2SP `tlog-cosignature`, with Ed25519.

use crate::key::{KeyError, KeyId, KeyName, signature_line, split};
use crate::note::SignedNote;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use std::fmt;
use std::str::FromStr;

/// The public key of a witness. Its text is `<name>+<key id>+<base64 of 0x04 and the public key>`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WitnessKey {
    name: KeyName,
    id: KeyId,
    public_key: [u8; Self::PUBLIC_KEY_BYTES],
}

/// The private key of a witness.
pub struct WitnessSigner {
    key: WitnessKey,
    pair: Ed25519KeyPair,
}

/// A verified cosignature: the witness has seen that the log only grew up to this checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cosignature {
    /// When the witness signed, in seconds since 1970.
    pub time: u64,
    /// The signature line, with its newline.
    pub line: String,
}

impl WitnessKey {
    /// Length of a public key (RFC 8032 §5.1.5).
    pub const PUBLIC_KEY_BYTES: usize = 32;
    /// The type of timestamped Ed25519 cosignatures of checkpoints.
    const COSIGNATURE_TYPE: u8 = 4;

    fn new(name: KeyName, public_key: [u8; Self::PUBLIC_KEY_BYTES]) -> Self {
        let id = KeyId::of(&name, &Self::typed(&public_key));
        Self { name, id, public_key }
    }

    /// The name of the witness.
    pub const fn name(&self) -> &KeyName {
        &self.name
    }

    /// The public key.
    pub const fn public_key(&self) -> &[u8; Self::PUBLIC_KEY_BYTES] {
        &self.public_key
    }

    /// The valid cosignature of this witness on a note; `None` if there is none. Signatures of others are ignored.
    ///
    /// The signature of the log is not verified: see [`crate::SignedCheckpoint::open`].
    pub fn find(&self, note: &str) -> Option<Cosignature> {
        let note = SignedNote::parse(note).ok()?;
        let mut own = note.signatures_of(&self.name, self.id);
        own.find_map(|bytes| {
            let (time, signature) = bytes.split_first_chunk::<8>()?;
            let time = u64::from_be_bytes(*time);
            let key = UnparsedPublicKey::new(&ED25519, &self.public_key);
            key.verify(message(time, note.text()).as_bytes(), signature)
                .ok()?;
            Some(Cosignature {
                time,
                line: self.line(time, signature),
            })
        })
    }

    fn line(&self, time: u64, signature: &[u8]) -> String {
        let timestamped = [time.to_be_bytes().as_slice(), signature].concat();
        signature_line(&self.name, self.id, &timestamped)
    }

    fn typed(public_key: &[u8; Self::PUBLIC_KEY_BYTES]) -> Vec<u8> {
        [&[Self::COSIGNATURE_TYPE], public_key.as_slice()].concat()
    }
}

impl fmt::Display for WitnessKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = STANDARD.encode(Self::typed(&self.public_key));
        write!(formatter, "{}+{}+{key}", self.name, self.id)
    }
}

impl FromStr for WitnessKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let (name, id, typed) = split(text)?;
        let (kind, public_key) = typed.split_first().ok_or(KeyError::Text)?;
        if *kind != Self::COSIGNATURE_TYPE {
            return Err(KeyError::NotOfWitness(*kind));
        }
        let public_key = public_key.try_into().map_err(|_| KeyError::Text)?;
        let key = Self::new(name, public_key);
        match key.id.to_string() == id {
            true => Ok(key),
            false => Err(KeyError::Id),
        }
    }
}

impl WitnessSigner {
    /// Derives the key pair from a random seed (RFC 8032). A seed serves one name only: the signed text does not contain the
    /// name.
    ///
    /// # Errors
    /// [`KeyError::Seed`] if the cryptographic library refuses the seed.
    pub fn from_seed(name: KeyName, seed: &[u8; 32]) -> Result<Self, KeyError> {
        let pair = Ed25519KeyPair::from_seed_unchecked(seed).map_err(|_| KeyError::Seed)?;
        let public_key = pair.public_key().as_ref().try_into();
        let key = WitnessKey::new(name, public_key.map_err(|_| KeyError::Seed)?);
        Ok(Self { key, pair })
    }

    /// The public key that verifies its cosignatures.
    pub const fn key(&self) -> &WitnessKey {
        &self.key
    }

    /// The cosignature of a checkpoint's text. Private to the crate: [`crate::Witnessed`] decides what a witness signs.
    pub(crate) fn cosign(&self, text: &str, time: u64) -> Cosignature {
        let signature = self.pair.sign(message(time, text).as_bytes());
        Cosignature {
            time,
            line: self.key.line(time, signature.as_ref()),
        }
    }
}

impl fmt::Debug for WitnessSigner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "WitnessSigner({})", self.key)
    }
}

/// The text that a witness signs.
fn message(time: u64, text: &str) -> String {
    format!("cosignature/v1\ntime {time}\n{text}")
}
