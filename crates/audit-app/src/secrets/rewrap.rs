//! `secrets rewrap`: seals every stored secret with the present encryption key.

use super::{ServiceSecret, open_row, place_of};
use crate::error::{Result, SecretFailure};
use crate::service::AuditLog;
use audit_secrets::{Form, KeyRing};
use audit_store::{CellId, SecretRow, Store, StoredSecret};
use std::sync::Arc;

/// What [`AuditLog::rewrap_secrets`] has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rewrapped {
    /// Secrets that were in plain text and are encrypted now.
    pub sealed: usize,
    /// Secrets that were encrypted with another key and are encrypted with the present key now.
    pub rewrapped: usize,
    /// Secrets that were encrypted with the present key before.
    pub unchanged: usize,
    /// Secrets that another process changed or deleted meanwhile. A further call finds how they are stored now.
    pub changed_meanwhile: usize,
    /// Secrets that do not open. They are not changed.
    pub failed: Vec<SecretFailure>,
    /// Whether the signing key of the log was in plain text.
    pub has_sealed_log_key: bool,
}

impl AuditLog {
    /// Seals every secret of all cells with the present encryption key. Each secret is changed in a transaction of its own, so servers
    /// keep working, and a call after an interrupted one does the rest. Secrets in plain text are failures, unless the key ring
    /// accepts them.
    ///
    /// # Errors
    /// When a database cannot be read or written.
    pub fn rewrap_secrets(self: &Arc<Self>) -> Result<Rewrapped> {
        let mut done = Rewrapped::default();
        self.rewrap_store(&self.store, &mut done)?;
        for cell in self.cells()?.iter().filter(|cell| cell.id != CellId::HOME) {
            let store = Arc::clone(&self.cell(cell.id)?.store);
            self.rewrap_store(&store, &mut done)?;
        }
        Ok(done)
    }

    fn rewrap_store(&self, store: &Store, done: &mut Rewrapped) -> Result<()> {
        for stored in store.query(|reader| reader.stored_secrets())? {
            self.rewrap_secret(store, stored, done)?;
        }
        Ok(())
    }

    fn rewrap_secret(&self, store: &Store, before: StoredSecret, done: &mut Rewrapped) -> Result<()> {
        let keys = &self.settings.encryption;
        let Some(place) = place_of(&before) else {
            return Ok(());
        };
        let secret = match open_row(&before, keys, &place) {
            Ok(secret) => secret,
            Err(error) => {
                done.failed.push(SecretFailure { place, error });
                return Ok(());
            }
        };
        let form = KeyRing::form(&before.secret);
        if form == keys.current_id().map(Form::Sealed) {
            done.unchanged += 1;
            return Ok(());
        }
        let after = self.sealed(&secret, &place);
        let is_log_key = before.row == SecretRow::Service(ServiceSecret::LogKey.name().to_owned());
        if !store.write(move |writer| writer.replace_secret(&before, &after))? {
            done.changed_meanwhile += 1;
            return Ok(());
        }
        match form {
            Some(Form::Plain) => {
                done.sealed += 1;
                done.has_sealed_log_key |= is_log_key;
            }
            _ => done.rewrapped += 1,
        }
        Ok(())
    }
}
