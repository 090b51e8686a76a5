//! Rotation of the signing key, and the check of the stored key at the start of a server.

use super::key::{LogKey, LogKeyError};
use super::program::{self, SigningProgram};
use super::signer::ROTATIONS;
use crate::error::Result;
use crate::secrets::ServiceSecret;
use crate::service::AuditLog;
use audit_ledger::{KeyRotation, VerifierKey};
use audit_store::Deployment;
use std::sync::Arc;

const KEY: ServiceSecret = ServiceSecret::LogKey;
const KEY_BEFORE: ServiceSecret = ServiceSecret::LogKeyBefore;
/// The most remembered checkpoints that are compared with the key at the start.
const CHECKED_NOTES_MAX: usize = 10;

impl AuditLog {
    /// Checks, at the start of a server, that the key of the log is one that this server may sign with.
    ///
    /// # Errors
    /// [`LogKeyError::Replaced`]; [`AppError::SealedSecret`](crate::AppError::SealedSecret) for a key in plain text where there is
    /// an encryption key; when the database fails.
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
