//! A key that signs for the log: stored in the database, or in a program's hands.

use super::program::{self, SigningError, SigningProgram};
use super::rotation::LogKeyError;
use crate::error::{AppError, Result};
use crate::secrets::ServiceSecret;
use audit_ledger::{
    Anchor, Checkpoint, KeyName, SignedAnchor, SignedCheckpoint, SignedTenantMap, SigningKey, TenantMapHead,
    VerifierKey,
};
use audit_secrets::KeyRing;
use std::error::Error;
use std::sync::Arc;

/// A key of the log.
#[derive(Debug)]
pub(super) enum LogKey {
    Stored(SigningKey),
    /// A program has it. Without the program, it verifies.
    Elsewhere(VerifierKey, Option<Arc<dyn SigningProgram>>),
}

fn other_key(error: impl Error + Send + Sync + 'static) -> SigningError {
    SigningError::OtherKey(error.into())
}

impl LogKey {
    /// The key that is stored as `secret`.
    pub(super) fn open(
        name: &KeyName,
        (secret, stored): (ServiceSecret, &[u8]),
        encryption: &KeyRing,
        program: Option<&Arc<dyn SigningProgram>>,
    ) -> Result<Self> {
        if let Some(public_key) = program::public_key(stored) {
            let verifier = VerifierKey::new(name.clone(), public_key);
            return Ok(Self::Elsewhere(verifier, program.map(Arc::clone)));
        }
        let seed = secret.open(stored, encryption)?;
        let key = SigningKey::from_seed(name.clone(), seed.as_bytes());
        Ok(Self::Stored(key.map_err(AppError::internal)?))
    }

    pub(super) const fn verifier(&self) -> &VerifierKey {
        match self {
            Self::Stored(key) => key.verifier(),
            Self::Elsewhere(key, _) => key,
        }
    }

    /// Checks that this process can sign with it. `program` is the one that the process was given for it.
    pub(super) fn check_program(
        &self,
        program: Option<&Arc<dyn SigningProgram>>,
    ) -> std::result::Result<(), LogKeyError> {
        match (self, program) {
            (Self::Stored(_), None) => Ok(()),
            (Self::Stored(_), Some(_)) => Err(LogKeyError::Stored),
            (Self::Elsewhere(..), None) => Err(AppError::from(SigningError::NoProgram).into()),
            (Self::Elsewhere(key, _), Some(program)) if key.public_key() == program.public_key() => Ok(()),
            (Self::Elsewhere(..), Some(_)) => Err(LogKeyError::OtherProgram),
        }
    }

    pub(super) fn sign(&self, checkpoint: Checkpoint) -> Result<SignedCheckpoint> {
        Ok(match self {
            Self::Stored(key) => key.sign(checkpoint),
            Self::Elsewhere(key, program) => {
                let signature = signature_of(program.as_ref(), &checkpoint.to_string())?;
                key.attach(checkpoint, &signature).map_err(other_key)?
            }
        })
    }

    /// Adds its signature to a checkpoint that another key of the log has signed.
    pub(super) fn sign_as_well(&self, signed: &SignedCheckpoint) -> Result<SignedCheckpoint> {
        Ok(match self {
            Self::Stored(key) => key.sign_as_well(signed),
            Self::Elsewhere(key, program) => {
                let signature = signature_of(program.as_ref(), &signed.checkpoint().to_string())?;
                key.attach_as_well(signed, &signature).map_err(other_key)?
            }
        })
    }

    pub(super) fn sign_anchor(&self, anchor: Anchor) -> Result<SignedAnchor> {
        Ok(match self {
            Self::Stored(key) => key.sign_anchor(anchor),
            Self::Elsewhere(key, program) => {
                let signature = signature_of(program.as_ref(), &anchor.to_string())?;
                key.attach_anchor(&anchor, &signature).map_err(other_key)?
            }
        })
    }

    pub(super) fn sign_tenant_map(&self, head: TenantMapHead) -> Result<SignedTenantMap> {
        Ok(match self {
            Self::Stored(key) => key.sign_tenant_map(head),
            Self::Elsewhere(key, program) => {
                let signature = signature_of(program.as_ref(), &head.to_string())?;
                key.attach_tenant_map(&head, &signature).map_err(other_key)?
            }
        })
    }

    /// Its signature over the statement that a new key follows an old one.
    pub(super) fn sign_rotation(&self, old: &VerifierKey, new: &VerifierKey) -> Result<Vec<u8>> {
        Ok(match self {
            Self::Stored(key) => key.sign_rotation(old, new),
            Self::Elsewhere(_, program) => {
                signature_of(program.as_ref(), &audit_ledger::KeyRotation::text(old, new))?
            }
        })
    }
}

fn signature_of(program: Option<&Arc<dyn SigningProgram>>, text: &str) -> Result<Vec<u8>, SigningError> {
    let program = program.ok_or(SigningError::NoProgram)?;
    program.sign(text.as_bytes()).map_err(SigningError::Failed)
}
