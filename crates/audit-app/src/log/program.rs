//! A signing key that lives elsewhere: a program signs with it, and the database has its public key alone.

use audit_ledger::VerifierKey;
use std::fmt;
use std::sync::Arc;

/// The first byte of a stored key that lives elsewhere; its public key follows. The forms of `audit_secrets` are
/// others.
const ELSEWHERE: u8 = 2;

/// Signs with an Ed25519 key.
pub trait SigningProgram: Send + Sync + fmt::Debug {
    /// The public key.
    fn public_key(&self) -> &[u8; VerifierKey::PUBLIC_KEY_BYTES];

    /// The signature of a message: 64 bytes. Ends within a few seconds.
    ///
    /// # Errors
    /// The reason why there is none.
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, String>;
}

/// No checkpoint can be signed now.
#[derive(Debug, thiserror::Error)]
pub enum SigningError {
    /// The process was started without the program.
    #[error("the signing key of the log is not in the database, and there is no --log-key-command")]
    NoProgram,
    /// The program has no signature.
    #[error("--log-key-command does not sign: {0}")]
    Failed(String),
    /// The signature is not one of the key.
    #[error("--log-key-command signs with another key")]
    OtherKey(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// What the database stores of the key of a program.
pub(crate) fn stored(program: &Arc<dyn SigningProgram>) -> Vec<u8> {
    [&[ELSEWHERE], program.public_key().as_slice()].concat()
}

/// The public key of a stored key that lives elsewhere.
pub(crate) fn public_key(stored: &[u8]) -> Option<[u8; VerifierKey::PUBLIC_KEY_BYTES]> {
    match stored.split_first() {
        Some((&ELSEWHERE, key)) => key.try_into().ok(),
        _ => None,
    }
}

/// Whether a stored key is the public key of a program, which is not secret.
pub(crate) fn is_elsewhere(stored: &[u8]) -> bool {
    public_key(stored).is_some()
}
