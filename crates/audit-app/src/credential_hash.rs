//! The SHA-256 of a credential, by which caches know it.

use audit_auth::Credential;
use sha2::{Digest, Sha256};

/// The SHA-256 of the text of a credential.
pub(crate) type CredentialHash = [u8; 32];

pub(crate) fn hash_of(credential: &Credential) -> CredentialHash {
    match credential {
        Credential::Key(text) => *text.hash().as_bytes(),
        Credential::ViewerToken(token) => Sha256::digest(token.as_str()).into(),
    }
}
