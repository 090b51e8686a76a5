//! The stored forms of a secret.
//!
//! ```text
//! plain         secret (32 bytes)
//! 0  plain      secret (32 bytes)
//! 1  unnamed    nonce (12 bytes), ciphertext (32 bytes), authentication tag (16 bytes)
//! 3  sealed     id of the key (8 bytes), nonce (12 bytes), ciphertext (32 bytes), authentication tag (16 bytes)
//! ```
//!
//! Each form has a length of its own. The cipher is AES-256-GCM (NIST SP 800-38D). The associated data of a sealed secret are a
//! context, the id of the key and the place. Those of an unnamed one, which is only read, are the first column of the primary key.
//! A form that begins with 2 is the public key of a signing program, which is not secret.

use crate::{EncryptionKey, KeyId, Place, Secret};
use ring::aead::{Aad, Nonce};
use zeroize::Zeroizing;

/// Length of the nonce in bytes. A nonce is not secret, but must not repeat under one key; random nonces do not.
pub const NONCE_BYTES: usize = 12;

const TAG_BYTES: usize = 16;
const PLAIN: u8 = 0;
const UNNAMED: u8 = 1;
const SEALED: u8 = 3;
const CONTEXT: &[u8] = b"audit sealed secret 3\n";

/// How a secret is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// In plain text.
    Plain,
    /// Sealed by an earlier release, which did not store the id of the key.
    Unnamed,
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
    /// None of the configured keys has sealed it for this place.
    #[error("cannot be decrypted with the configured encryption keys")]
    NotTheseKeys,
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
    Plain(&'a [u8; Secret::BYTES]),
    Unnamed(&'a [u8]),
    Sealed(KeyId, &'a [u8]),
}

impl<'a> Stored<'a> {
    pub(crate) fn read(stored: &'a [u8]) -> Result<Self, OpenError> {
        const BOX_BYTES: usize = NONCE_BYTES + Secret::BYTES + TAG_BYTES;
        if let Ok(plain) = stored.try_into() {
            return Ok(Self::Plain(plain));
        }
        let (form, content) = stored.split_first().ok_or(OpenError::Damaged)?;
        match (*form, content.len()) {
            (PLAIN, Secret::BYTES) => content
                .try_into()
                .map(Self::Plain)
                .map_err(|_| OpenError::Damaged),
            (UNNAMED, BOX_BYTES) => Ok(Self::Unnamed(content)),
            (SEALED, _) => match content.split_first_chunk() {
                Some((id, content)) if content.len() == BOX_BYTES => {
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
            Self::Unnamed(_) => Form::Unnamed,
            Self::Sealed(id, _) => Form::Sealed(*id),
        }
    }
}

/// The plain form of a secret that has a byte before it.
pub(crate) fn plain(secret: &Secret) -> Vec<u8> {
    [&[PLAIN][..], secret.as_bytes()].concat()
}

/// Seals a secret for its place.
pub(crate) fn seal(secret: &Secret, key: &EncryptionKey, place: &Place, nonce: [u8; NONCE_BYTES]) -> Vec<u8> {
    // Encrypted in place; the capacity suffices for the tag, so that no copy of the secret is left behind.
    let mut sealed = Vec::with_capacity(Secret::BYTES + TAG_BYTES);
    sealed.extend_from_slice(secret.as_bytes());
    let aad = Aad::from(associated_data(key.id(), place));
    key.aead()
        .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad, &mut sealed)
        .expect("32 bytes and a place are far below the limits of AES-GCM");
    [&[SEALED][..], key.id().as_bytes(), &nonce, &sealed].concat()
}

/// Opens what [`seal`] made for this place.
pub(crate) fn open(content: &[u8], key: &EncryptionKey, place: &Place) -> Option<Secret> {
    decrypt(content, key, &associated_data(key.id(), place))
}

/// Opens the form without the id of a key.
pub(crate) fn open_unnamed(content: &[u8], key: &EncryptionKey, place: &Place) -> Option<Secret> {
    decrypt(content, key, place.first_of_row())
}

fn associated_data(id: KeyId, place: &Place) -> Vec<u8> {
    [CONTEXT, id.as_bytes(), &place.encode()].concat()
}

fn decrypt(content: &[u8], key: &EncryptionKey, associated_data: &[u8]) -> Option<Secret> {
    let (nonce, sealed) = content.split_first_chunk::<NONCE_BYTES>()?;
    let mut sealed = Zeroizing::new(sealed.to_vec());
    let nonce = Nonce::assume_unique_for_key(*nonce);
    let opened = key
        .aead()
        .open_in_place(nonce, Aad::from(associated_data), &mut sealed);
    Secret::from_slice(opened.ok()?)
}
