//! The key that signs checkpoints, and the name of the log.

use crate::error::{AppError, Result};
use crate::service::AuditLog;
use audit_ledger::{KeyName, Origin, SigningKey, VerifierKey};
use audit_store::{CellId, Deployment, Reader, StoreError};
use audit_webhooks::{EncryptionKey, WebhookSecret, sealing};
use std::sync::Arc;

/// The names under which the database stores the log's key and name.
const KEY: &str = "log_key";
const NAME: &str = "log_name";

/// The signer of the checkpoints of a deployment.
#[derive(Debug)]
pub(crate) struct LogSigner {
    pub(super) key: SigningKey,
}

impl LogSigner {
    fn open(sealed: &[u8], name: &[u8], key: Option<&EncryptionKey>) -> Result<Self> {
        let seed = sealing::open(sealed, key, KEY.as_bytes())?;
        let name = String::from_utf8_lossy(name);
        let name = KeyName::parse(&name).map_err(AppError::internal)?;
        let key = SigningKey::from_seed(name, seed.as_bytes()).map_err(AppError::internal)?;
        Ok(Self { key })
    }

    pub(super) fn verifier(&self) -> &VerifierKey {
        self.key.verifier()
    }

    /// The origin of one log of the deployment.
    pub(super) fn origin(&self, ledger: &str) -> Result<Origin> {
        let text = format!("{}/{ledger}", self.verifier().name().as_str());
        Origin::parse(&text).map_err(AppError::internal)
    }
}

/// The key that verifies checkpoints, if the database has one.
pub(crate) fn stored_key(
    reader: &mut Reader<'_>,
    key: Option<&EncryptionKey>,
) -> Result<Option<VerifierKey>> {
    key_in(|name| reader.secret(name), key)
}

/// [`stored_key`] of a database whose secrets `secret` reads.
pub(crate) fn key_in(
    mut secret: impl FnMut(&str) -> Result<Option<Vec<u8>>, StoreError>,
    key: Option<&EncryptionKey>,
) -> Result<Option<VerifierKey>> {
    let (Some(sealed), Some(name)) = (secret(KEY)?, secret(NAME)?) else {
        return Ok(None);
    };
    Ok(Some(LogSigner::open(&sealed, &name, key)?.verifier().clone()))
}

impl AuditLog {
    /// The key that verifies the log's checkpoints.
    ///
    /// # Errors
    /// When the database cannot be read, or the encryption key does not decrypt the stored key.
    pub fn log_key(&self) -> Result<VerifierKey> {
        Ok(self.log_signer()?.verifier().clone())
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
    pub(super) fn log_signer(&self) -> Result<&LogSigner> {
        if let Some(signer) = self.log_signer.get() {
            return Ok(signer);
        }
        let key = self.settings.encryption_key.clone();
        let seed = WebhookSecret::from_bytes(self.entropy.bytes());
        let sealed = sealing::seal(&seed, key.as_ref(), KEY.as_bytes(), self.entropy.bytes());
        let (name, now) = (self.new_log_name(), self.clock.now());
        // Several nodes may get here at the same time. The first one creates the key.
        let (sealed, name) =
            self.home_store
                .configure(Deployment, move |configurator| -> Result<(Vec<u8>, Vec<u8>)> {
                    if configurator.secret(KEY)?.is_none() {
                        configurator.insert_secret(KEY, &sealed, now)?;
                        configurator.insert_secret(NAME, name.as_bytes(), now)?;
                    }
                    let damaged = || {
                        AppError::from(StoreError::Damaged {
                            what: "key of the log",
                        })
                    };
                    let sealed = configurator.secret(KEY)?.ok_or_else(damaged)?;
                    Ok((sealed, configurator.secret(NAME)?.ok_or_else(damaged)?))
                })?;
        let signer = LogSigner::open(&sealed, &name, key.as_ref())?;
        Ok(self.log_signer.get_or_init(|| signer))
    }

    fn new_log_name(&self) -> String {
        format!("audit-log-{:016x}", u64::from_be_bytes(self.entropy.bytes()))
    }
}
