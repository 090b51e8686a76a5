//! Rotation of the signing key, and the check of the stored key at the start of a server.

use super::program;
use super::signer::{KEY, KEY_BEFORE, ROTATIONS};
use crate::error::{AppError, Result};
use crate::service::AuditLog;
use audit_ledger::{KeyRotation, SigningKey, VerifierKey};
use audit_store::Deployment;
use audit_webhooks::{EncryptionKey, WebhookSecret, sealing};
use std::sync::Arc;

/// The most remembered checkpoints that are compared with the key at the start.
const CHECKED_NOTES_MAX: usize = 10;

/// The key of the log is not the one that it should be.
#[derive(Debug, thiserror::Error)]
pub enum LogKeyError {
    /// A use case failed.
    #[error(transparent)]
    App(#[from] AppError),
    /// The key is stored in plain text, where secrets are encrypted.
    #[error(
        "the log's signing key in the database is not encrypted, and there is an encryption key: after `audit-server log verify \
         --verifier-key` with the key that auditors have, `audit-server log rotate-key` makes an encrypted one"
    )]
    Plain,
    /// The key has not signed what this server remembers.
    #[error(
        "the log's signing key in the database is not the one that this server has signed with, nor one that has followed it: it \
         was replaced"
    )]
    Replaced,
    /// There is a program, and the key is in the database.
    #[error("it is in the database, and --log-key-command has another one: that is for a new deployment")]
    Stored,
    /// The program has another key.
    #[error("--log-public-key is not the signing key of this database")]
    OtherProgram,
    /// A program has the key.
    #[error("the signing key is not in the database: it cannot be rotated")]
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
    /// [`LogKeyError::Plain`]; [`LogKeyError::Replaced`]; when the database fails.
    pub fn check_log_key(&self) -> Result<(), LogKeyError> {
        let stored = self.home_store.read(|reader| reader.secret(KEY))?;
        let Some(stored) = stored else {
            return Ok(());
        };
        let is_secret = program::public_key(&stored).is_none();
        if self.settings.encryption_key.is_some() && is_secret && !sealing::is_sealed(&stored) {
            return Err(LogKeyError::Plain);
        }
        let signer = self.log_signer()?;
        signer.check_program()?;
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

    /// Makes a new signing key, which the present one names as its successor. Servers sign with both from their next start, until
    /// [`Self::retire_log_key`].
    ///
    /// # Errors
    /// [`LogKeyError::Unfinished`]; when the database cannot be written, or the encryption key does not decrypt the stored key.
    pub fn rotate_log_key(self: &Arc<Self>) -> Result<KeyRotation, LogKeyError> {
        let signer = self.log_signer()?;
        let key: Option<&EncryptionKey> = self.settings.encryption_key.as_ref();
        if program::public_key(
            &self
                .home_store
                .read(|reader| reader.secret(KEY))?
                .unwrap_or_default(),
        )
        .is_some()
        {
            return Err(LogKeyError::Elsewhere);
        }
        let sealed_before = self.home_store.read(|reader| reader.secret(KEY))?;
        let old_seed = sealing::open(&sealed_before.clone().unwrap_or_default(), key, KEY.as_bytes());
        let old_seed = old_seed.map_err(AppError::from)?;
        let seed = WebhookSecret::from_bytes(self.entropy.bytes());
        let new = SigningKey::from_seed(signer.verifier().name().clone(), seed.as_bytes());
        let rotation = signer.rotate_to(&new.map_err(AppError::internal)?)?;
        let sealed = sealing::seal(&seed, key, KEY.as_bytes(), self.entropy.bytes());
        let before = sealing::seal(&old_seed, key, KEY_BEFORE.as_bytes(), self.entropy.bytes());
        let statements = format!("{}{}", signer.statements(), rotation.note());
        let now = self.clock.now();
        self.home_store
            .configure(Deployment, move |configurator| -> Result<(), LogKeyError> {
                // Another command may have rotated it meanwhile.
                if configurator.secret(KEY_BEFORE)?.is_some() || configurator.secret(KEY)? != sealed_before {
                    return Err(LogKeyError::Unfinished);
                }
                for (name, value) in [
                    (KEY, sealed.as_slice()),
                    (KEY_BEFORE, &before),
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
                if configurator.secret(KEY_BEFORE)?.is_none() {
                    return Err(LogKeyError::Finished);
                }
                configurator.delete_secret(KEY_BEFORE)?;
                Ok(())
            })?;
        Ok(key)
    }
}
