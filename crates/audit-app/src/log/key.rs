//! A key that signs for the log: stored in the database, or in a program's hands.

use super::program::{self, SigningError, SigningProgram};
use crate::error::{AppError, Result};
use crate::secrets::ServiceSecret;
use audit_ledger::{
    Anchor, Checkpoint, KeyName, SignedAnchor, SignedCheckpoint, SignedStream, SignedTenantMap, SigningKey,
    TenantMapHead, VerifierKey,
};
use audit_secrets::KeyRing;
use audit_store::StoreError;
use std::error::Error;
use std::sync::Arc;

/// A key of the log.
#[derive(Debug)]
pub(super) enum LogKey {
    Stored(SigningKey),
    /// A program has it. Without the program, it verifies.
    Elsewhere(VerifierKey, Option<Arc<dyn SigningProgram>>),
}

/// What a process has for the keys of the log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyAccess<'a> {
    pub(crate) encryption: &'a KeyRing,
    pub(crate) program: Option<&'a Arc<dyn SigningProgram>>,
    pub(crate) program_before: Option<&'a Arc<dyn SigningProgram>>,
}

/// The key of the log is not the one that it should be.
#[derive(Debug, thiserror::Error)]
pub enum LogKeyError {
    /// A use case failed.
    #[error(transparent)]
    App(#[from] AppError),
    /// The key has not signed what this server remembers.
    #[error(
        "the log's signing key in the database is not the one that this server has signed with, nor one that has followed it: it \
         was replaced"
    )]
    Replaced,
    /// There is a program, and the key is in the database.
    #[error(
        "it is in the database, and --log-key-command has another one: that is for a new deployment, or after `audit-server log \
         rotate-key` with the same options"
    )]
    Stored,
    /// The program has another key.
    #[error("--log-public-key is not the signing key of this database")]
    OtherProgram,
    /// The key before the present one is not in the database, and its program is missing or another one.
    #[error(
        "the key before the signing key still signs and is not in the database: it needs --log-key-command-before and its key, until \
         `audit-server log rotate-key --retire`"
    )]
    ProgramBefore,
    /// A program has the key that is to be rotated, and is missing or another one.
    #[error(
        "the signing key is not in the database: it is rotated with the program that has it, --log-key-command-before"
    )]
    Elsewhere,
    /// The last rotation is not finished.
    #[error("the key before this one still signs: `audit-server log rotate-key --retire` ends that")]
    Unfinished,
    /// No rotation is to be finished.
    #[error("no key is to be retired: the last rotation is finished")]
    Finished,
}

impl From<StoreError> for LogKeyError {
    fn from(error: StoreError) -> Self {
        Self::App(error.into())
    }
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

    /// Signs the text of the note of a stream.
    pub(super) fn sign_stream(&self, text: &str) -> Result<SignedStream> {
        let signed = match self {
            Self::Stored(key) => key.sign_stream(text).map_err(AppError::internal)?,
            Self::Elsewhere(key, program) => {
                let signature = signature_of(program.as_ref(), text)?;
                key.attach_stream(text, &signature).map_err(other_key)?
            }
        };
        Ok(signed)
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
