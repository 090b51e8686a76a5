//! The output of the hash behaviour.

use std::fmt;
use zeroize::{Zeroize, ZeroizeOnDrop};

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// Prefix of the unkeyed hash form.
pub(crate) const SHA256_PREFIX: &str = "sha256:";
/// Prefix of the keyed hash form.
pub(crate) const HMAC_PREFIX: &str = "hmac-sha256:";
/// Follow either prefix.
pub(crate) const DIGEST_HEX_CHARS: usize = 64;

/// The key of the keyed hash form. Without a key, a reader of `sha256:…` can recover a short value by hashing every
/// candidate: a social security number has only a billion. Its memory is zeroed when it is dropped.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct HashKey(Vec<u8>);

impl HashKey {
    /// Takes the key's bytes. Every length is valid; use 32 random bytes.
    pub fn new(key: Vec<u8>) -> Self {
        HashKey(key)
    }
}

impl fmt::Debug for HashKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("HashKey(..)")
    }
}

/// `sha256:` and 64 hex digits.
pub(crate) fn unkeyed(text: &[u8]) -> String {
    form(SHA256_PREFIX, &Sha256::digest(text))
}

/// `hmac-sha256:` and 64 hex digits.
pub(crate) fn keyed(key: &HashKey, text: &[u8]) -> String {
    // HMAC accepts keys of any length, so this cannot fail. The unkeyed form would still hide the text.
    match Hmac::<Sha256>::new_from_slice(&key.0) {
        Ok(mac) => form(HMAC_PREFIX, &mac.chain_update(text).finalize().into_bytes()),
        Err(_) => unkeyed(text),
    }
}

fn form(prefix: &str, digest: &[u8]) -> String {
    let mut digits = [0; DIGEST_HEX_CHARS];
    let digits = base16ct::lower::encode_str(digest, &mut digits).expect("a SHA-256 digest has 32 bytes");
    let mut out = String::with_capacity(prefix.len() + digits.len());
    out.push_str(prefix);
    out.push_str(digits);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unkeyed_form_is_plain_sha256() {
        assert_eq!(
            unkeyed(b"abc"),
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn the_keyed_form_agrees_with_rfc_4231() {
        let key = HashKey::new(b"Jefe".to_vec());
        assert_eq!(
            keyed(&key, b"what do ya want for nothing?"),
            "hmac-sha256:5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }

    #[test]
    fn debug_output_does_not_show_the_key() {
        assert_eq!(format!("{:?}", HashKey::new(b"secret".to_vec())), "HashKey(..)");
    }
}
