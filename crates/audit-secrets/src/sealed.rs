//! The stored forms of a secret.
//!
//! ```text
//! 0  plain      secret
//! 3  sealed     id of the key (8 bytes), nonce (12 bytes), ciphertext (as long as the secret), authentication tag (16 bytes)
//! ```
//!
//! The cipher is AES-256-GCM (NIST SP 800-38D). The associated data of a sealed secret are a context, the id of the key and the
//! place. A form that begins with 2 is the public key of a signing program, which is not secret.

use crate::{EncryptionKey, KeyId, Place};
use ring::aead::{Aad, Nonce};
use zeroize::Zeroizing;

/// Length of the nonce in bytes. A nonce is not secret, but must not repeat under one key; random nonces do not.
pub const NONCE_BYTES: usize = 12;

const TAG_BYTES: usize = 16;
const PLAIN: u8 = 0;
const SEALED: u8 = 3;
const CONTEXT: &[u8] = b"audit sealed secret 3\n";

/// How a secret is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// In plain text.
    Plain,
    /// Sealed with the key of this id.
    Sealed(KeyId),
}

/// A stored secret does not open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// It is sealed, and no key is configured.
    #[error("is encrypted, and no encryption key is configured")]
    NeedsKey,
    /// It is sealed with a key that is not configured.
    #[error("is encrypted with the encryption key {0}, which is not configured")]
    UnknownKey(KeyId),
    /// It was sealed for another place, or was changed since.
    #[error("is encrypted with the encryption key {0}, and was changed or belongs to another place")]
    Refused(KeyId),
    /// It is in plain text, and there is an encryption key.
    #[error(
        "is not encrypted, and there is an encryption key: if the database had none before, `audit-server secrets rewrap \
         --seal-plain` encrypts it; otherwise somebody has put it there"
    )]
    Plain,
    /// The form or length is unknown.
    #[error("is damaged")]
    Damaged,
}

/// A stored secret, by its form.
pub(crate) enum Stored<'a> {
    Plain(&'a [u8]),
    Sealed(KeyId, &'a [u8]),
}

impl<'a> Stored<'a> {
    pub(crate) fn read(stored: &'a [u8]) -> Result<Self, OpenError> {
        let (form, content) = stored.split_first().ok_or(OpenError::Damaged)?;
        match *form {
            PLAIN => Ok(Self::Plain(content)),
            SEALED => match content.split_first_chunk() {
                Some((id, content)) if content.len() >= NONCE_BYTES + TAG_BYTES => {
                    Ok(Self::Sealed(KeyId::from_bytes(*id), content))
                }
                _ => Err(OpenError::Damaged),
            },
            _ => Err(OpenError::Damaged),
        }
    }

    pub(crate) const fn form(&self) -> Form {
        match self {
            Self::Plain(_) => Form::Plain,
            Self::Sealed(id, _) => Form::Sealed(*id),
        }
    }
}

/// The plain form of a secret.
pub(crate) fn plain(secret: &[u8]) -> Vec<u8> {
    [&[PLAIN], secret].concat()
}

/// Seals a secret for its place.
pub(crate) fn seal(secret: &[u8], key: &EncryptionKey, place: &Place, nonce: [u8; NONCE_BYTES]) -> Vec<u8> {
    // Encrypted in place; the capacity suffices for the tag, so that no copy of the secret is left behind.
    let mut sealed = Vec::with_capacity(secret.len() + TAG_BYTES);
    sealed.extend_from_slice(secret);
    let aad = Aad::from(associated_data(key.id(), place));
    key.aead()
        .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad, &mut sealed)
        .expect("a secret and a place are far below the limits of AES-GCM");
    [&[SEALED][..], key.id().as_bytes(), &nonce, &sealed].concat()
}

/// Opens what [`seal`] made for this place.
pub(crate) fn open(content: &[u8], key: &EncryptionKey, place: &Place) -> Option<Zeroizing<Vec<u8>>> {
    let (nonce, sealed) = content.split_first_chunk::<NONCE_BYTES>()?;
    let mut opened = Zeroizing::new(sealed.to_vec());
    let nonce = Nonce::assume_unique_for_key(*nonce);
    let aad = Aad::from(associated_data(key.id(), place));
    let length = key.aead().open_in_place(nonce, aad, &mut opened).ok()?.len();
    opened.truncate(length);
    Some(opened)
}

fn associated_data(id: KeyId, place: &Place) -> Vec<u8> {
    [CONTEXT, id.as_bytes(), &place.encode()].concat()
}
