//! Rotation of the signing key, and the check of the stored key at the start of a server.

use super::key::LogKey;
use super::program::{self, SigningProgram};
use super::signer::ROTATIONS;
use crate::error::{AppError, Result};
use crate::secrets::ServiceSecret;
use crate::service::AuditLog;
use audit_ledger::{KeyRotation, VerifierKey};
use audit_store::Deployment;
use std::sync::Arc;

const KEY: ServiceSecret = ServiceSecret::LogKey;
const KEY_BEFORE: ServiceSecret = ServiceSecret::LogKeyBefore;
/// The most remembered checkpoints that are compared with the key at the start.
const CHECKED_NOTES_MAX: usize = 10;

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

impl From<audit_store::StoreError> for LogKeyError {
    fn from(error: audit_store::StoreError) -> Self {
        Self::App(error.into())
    }
}

impl AuditLog {
    /// Checks, at the start of a server, that the key of the log is one that this server may sign with.
    ///
    /// # Errors
    /// [`LogKeyError::Replaced`]; [`AppError::SealedSecret`] for a key in plain text where there is an encryption key; when the database fails.
    pub fn check_log_key(&self) -> Result<(), LogKeyError> {
        let stored = self.home_store.read(|reader| reader.secret(KEY.name()))?;
        if stored.is_none() {
            if self.settings.signing_program.is_some() {
                // At once: otherwise a command without the program would create another key on first use.
                self.log_signer()?;
            }
            return Ok(());
        }
        let signer = self.log_signer()?;
        signer.check_programs(self.settings.key_access())?;
        let prefix = format!("{}/", signer.verifier().name());
        let remembered = self.signing.notes_of(&prefix, CHECKED_NOTES_MAX);
        match remembered.iter().all(|note| signer.accepts(note)) {
            true => Ok(()),
            false => Err(LogKeyError::Replaced),
        }
    }

    /// The keys from the first one to the present one, as statements (see [`KeyRotation`]).
    ///
    /// # Errors
    /// As [`Self::log_key`].
    pub fn log_key_rotations(&self) -> Result<String> {
        Ok(self.log_signer()?.statements())
    }

    /// Makes a new signing key, which the present one names as its successor, or takes that of a program. Servers sign with both from
    /// their next start, until [`Self::retire_log_key`]. Where the present key is not in the database, the program of the settings
    /// has it.
    ///
    /// # Errors
    /// [`LogKeyError::Unfinished`]; [`LogKeyError::Elsewhere`] without the program of the present key; when a program does not sign, the
    /// database cannot be written, or the encryption key does not decrypt the stored key.
    pub fn rotate_log_key(
        self: &Arc<Self>,
        program: Option<&Arc<dyn SigningProgram>>,
    ) -> Result<KeyRotation, LogKeyError> {
        let signer = self.log_signer()?;
        if signer.is_rotating() {
            return Err(LogKeyError::Unfinished);
        }
        let keys = &self.settings.encryption;
        let stored_before = self.home_store.read(|reader| reader.secret(KEY.name()))?;
        let old = stored_before.clone().unwrap_or_default();
        let before = match program::public_key(&old) {
            Some(_) => {
                signer
                    .check_programs(self.settings.key_access())
                    .map_err(|_| LogKeyError::Elsewhere)?;
                old
            }
            None => {
                let seed = KEY.open(&old, keys)?;
                self.sealed(seed.as_bytes(), &KEY_BEFORE.place())
            }
        };
        let stored = match program {
            Some(program) => program::stored(program),
            None => self.sealed(self.new_secret().as_bytes(), &KEY.place()),
        };
        let new = LogKey::open(signer.verifier().name(), (KEY, &stored), keys, program)?;
        let rotation = signer.rotate_to(&new)?;
        let statements = format!("{}{}", signer.statements(), rotation.note());
        let now = self.clock.now();
        self.home_store
            .configure(Deployment, move |configurator| -> Result<(), LogKeyError> {
                // Another command may have rotated it meanwhile.
                if configurator.secret(KEY_BEFORE.name())?.is_some()
                    || configurator.secret(KEY.name())? != stored_before
                {
                    return Err(LogKeyError::Unfinished);
                }
                for (name, value) in [
                    (KEY.name(), stored.as_slice()),
                    (KEY_BEFORE.name(), &before),
                    (ROTATIONS, statements.as_bytes()),
                ] {
                    configurator.delete_secret(name)?;
                    configurator.insert_secret(name, value, now)?;
                }
                Ok(())
            })?;
        Ok(rotation)
    }

    /// Ends the time in which the key before the present one signs as well. Servers stop with their next start.
    ///
    /// # Errors
    /// [`LogKeyError::Finished`]; when the database cannot be written.
    pub fn retire_log_key(self: &Arc<Self>) -> Result<VerifierKey, LogKeyError> {
        let key = self.log_signer()?.verifier().clone();
        self.home_store
            .configure(Deployment, move |configurator| -> Result<(), LogKeyError> {
                if configurator.secret(KEY_BEFORE.name())?.is_none() {
                    return Err(LogKeyError::Finished);
                }
                configurator.delete_secret(KEY_BEFORE.name())?;
                Ok(())
            })?;
        Ok(key)
    }
}
