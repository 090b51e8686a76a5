//! New secrets, sealed; and the check of all stored ones at the start of a server.

use super::{ServiceSecret, open_row, place_of};
use crate::error::{Result, SecretFailure};
use crate::service::AuditLog;
use audit_domain::Timestamp;
use audit_secrets::{Place, Secret};
use audit_store::{Deployment, SecretRow, StoredSecret};

impl AuditLog {
    /// Checks that every stored secret opens with the configured encryption keys. The first configured key becomes a key of the
    /// database. The service must not start with other keys or, once there is one, without any: it would store secrets that other
    /// nodes cannot read. With a key it does not start on a secret in plain text, which anybody may have put there.
    ///
    /// # Errors
    /// [`AppError::SealedSecret`](crate::AppError::SealedSecret) for the first one that does not open.
    pub fn check_secrets(&self) -> Result<()> {
        let keys = &self.settings.encryption;
        let stored = self.store.query(|reader| reader.stored_secrets())?;
        for secret in &stored {
            if let Some(place) = place_of(secret) {
                let opened = open_row(secret, keys, &place);
                opened.map_err(|error| SecretFailure { place, error })?;
            }
        }
        let check = ServiceSecret::EncryptionCheck;
        let is_check = |secret: &StoredSecret| secret.row == SecretRow::Service(check.name().to_owned());
        match keys.keys().is_empty() || stored.iter().any(is_check) {
            true => Ok(()),
            false => self.insert_encryption_check(self.clock.now()),
        }
    }

    /// Stores what only the configured keys decrypt, unless another node has meanwhile.
    fn insert_encryption_check(&self, now: Timestamp) -> Result<()> {
        let check = ServiceSecret::EncryptionCheck;
        let keys = self.settings.encryption.clone();
        let new = keys.seal(self.new_secret().as_bytes(), &check.place(), self.entropy.bytes());
        // `configure` serializes nodes that start at the same time.
        self.store.configure(Deployment, move |configurator| {
            if let Some(stored) = configurator.secret(check.name())? {
                return check.open(&stored, &keys).map(drop);
            }
            configurator.insert_secret(check.name(), &new, now)?;
            Ok(())
        })
    }

    /// Random bytes.
    pub(crate) fn new_secret(&self) -> Secret {
        Secret::new(self.entropy.bytes())
    }

    /// The stored form of a secret.
    pub(crate) fn sealed(&self, secret: &[u8], place: &Place) -> Vec<u8> {
        let nonce = self.entropy.bytes();
        self.settings.encryption.seal(secret, place, nonce)
    }
}
