//! The identity of the log, created on first use: its key and its name, which a new log replaces.

use super::super::program;
use super::{KEY, KEY_BEFORE, LogSigner, NAME, ROTATIONS, StoredSigner};
use crate::error::{AppError, Result};
use crate::service::AuditLog;
use audit_ledger::{KeyName, SignedCheckpoint, VerifierKey};
use audit_store::{CellId, Deployment, Reader, StoreError};
use std::sync::Arc;

/// The database has the name of the log, so there was a key.
#[derive(Debug, thiserror::Error)]
#[error("the log's key was removed from the database")]
struct RemovedKey;

impl AuditLog {
    /// The key that verifies the log's checkpoints.
    ///
    /// # Errors
    /// When the database cannot be read, or the encryption key does not decrypt the stored key.
    pub fn log_key(&self) -> Result<VerifierKey> {
        Ok(self.log_signer()?.verifier().clone())
    }

    /// Verifies a checkpoint of the log with this name (project and environment). Returns the key that has signed it: the present
    /// one, or one that it has followed.
    pub(crate) fn open_checkpoint(&self, name: &str, note: &str) -> Result<(SignedCheckpoint, VerifierKey)> {
        let signer = self.log_signer()?;
        let origin = signer.origin(name)?;
        let open = |key: &VerifierKey| SignedCheckpoint::open(note, &origin, std::slice::from_ref(key));
        let mut opened = signer
            .accepted
            .iter()
            .filter_map(|key| Some((open(key).ok()?, key.clone())));
        match opened.next() {
            Some(opened) => Ok(opened),
            None => Ok((
                open(signer.verifier()).map_err(AppError::internal)?,
                signer.verifier().clone(),
            )),
        }
    }

    /// Gives the log a new name, so that earlier checkpoints belong to another log. For a database that was restored from a
    /// backup and therefore contradicts checkpoints that were signed later. Returns the key under the new name; servers use
    /// it from their next start.
    ///
    /// # Errors
    /// When the database cannot be written, or the encryption key does not decrypt the stored key.
    pub fn begin_new_log_name(self: &Arc<Self>) -> Result<VerifierKey> {
        let public_key = *self.log_signer()?.verifier().public_key();
        let name = self.new_log_name();
        let now = self.clock.now();
        let key = self
            .store
            .configure(Deployment, move |configurator| -> Result<VerifierKey> {
                configurator.delete_secret(NAME)?;
                configurator.insert_secret(NAME, name.as_bytes(), now)?;
                // The statements are of the old name.
                configurator.delete_secret(KEY_BEFORE.name())?;
                configurator.delete_secret(ROTATIONS)?;
                configurator.delete_log_checkpoints()?;
                let name = KeyName::parse(&name).map_err(AppError::internal)?;
                Ok(VerifierKey::new(name, public_key))
            })?;
        for cell in self.cells()?.iter().filter(|cell| cell.id != CellId::HOME) {
            let store = &self.cell(cell.id)?.store;
            store.configure(Deployment, |configurator| configurator.delete_log_checkpoints())?;
        }
        Ok(key)
    }

    /// The signer of checkpoints. Its key is created on first use.
    pub(in crate::log) fn log_signer(&self) -> Result<&LogSigner> {
        // Without the write lock, which another process may hold for long.
        if let Some(signer) = self.stored_log_signer()? {
            return Ok(signer);
        }
        let signer = self.create_log_signer()?.open(self.settings.key_access())?;
        Ok(self.log_signer.get_or_init(|| signer))
    }

    /// The signer of the log, if its key was created. Writes nothing.
    pub(in crate::log) fn stored_log_signer(&self) -> Result<Option<&LogSigner>> {
        if let Some(signer) = self.log_signer.get() {
            return Ok(Some(signer));
        }
        let read = |reader: &mut Reader<'_>| StoredSigner::read(|name| reader.secret(name));
        let Some(stored) = self.home_store.read(read)? else {
            return Ok(None);
        };
        let signer = stored.open(self.settings.key_access())?;
        Ok(Some(self.log_signer.get_or_init(|| signer)))
    }

    fn create_log_signer(&self) -> Result<StoredSigner> {
        let sealed = match &self.settings.signing_program {
            Some(program) => program::stored(program),
            None => self.sealed(self.new_secret().as_bytes(), &KEY.place()),
        };
        let (name, now) = (self.new_log_name(), self.clock.now());
        // Several nodes may get here at the same time. The first one creates the key.
        self.home_store
            .configure(Deployment, move |configurator| -> Result<StoredSigner> {
                if configurator.secret(KEY.name())?.is_none() {
                    if configurator.secret(NAME)?.is_some() {
                        return Err(AppError::inconsistent(RemovedKey));
                    }
                    configurator.insert_secret(KEY.name(), &sealed, now)?;
                    configurator.insert_secret(NAME, name.as_bytes(), now)?;
                }
                let damaged = || {
                    AppError::from(StoreError::Damaged {
                        what: "key of the log",
                    })
                };
                StoredSigner::read(|name| configurator.secret(name))?.ok_or_else(damaged)
            })
    }

    fn new_log_name(&self) -> String {
        format!("audit-log-{:016x}", u64::from_be_bytes(self.entropy.bytes()))
    }
}
