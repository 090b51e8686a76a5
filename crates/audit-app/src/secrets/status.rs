//! `secrets status`: how every secret is stored.

use super::{open_row, place_of};
use crate::error::{AppError, Result};
use crate::verify::cells_of_deployment;
use audit_secrets::{Form, KeyId, KeyRing, Place};
use audit_store::{DatabaseUrl, inspect};

/// How one secret is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretStatus {
    /// The name of its cell.
    pub cell: String,
    /// Where it is stored.
    pub place: Place,
    /// How it is stored.
    pub state: SecretState,
    /// Whether it opens with the configured keys.
    pub opens: bool,
}

/// How a secret is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SecretState {
    /// In plain text.
    Plain,
    /// Encrypted with the key of this id.
    Sealed(KeyId),
    /// In no known form.
    Damaged,
}

/// How every secret of a deployment is stored. Needs no key and changes nothing.
///
/// # Errors
/// When a database cannot be read.
pub fn secrets_status(url: &DatabaseUrl, keys: &KeyRing) -> Result<Vec<SecretStatus>> {
    let mut found = Vec::new();
    for cell in cells_of_deployment(url)? {
        let stored = inspect(&cell.url, |reader| Ok::<_, AppError>(reader.stored_secrets()?))?;
        found.extend(stored.iter().filter_map(|secret| {
            let place = place_of(secret)?;
            let state = match KeyRing::form(&secret.secret) {
                Some(Form::Plain) => SecretState::Plain,
                Some(Form::Sealed(id)) => SecretState::Sealed(id),
                None => SecretState::Damaged,
            };
            Some(SecretStatus {
                cell: cell.name.clone(),
                opens: open_row(secret, keys, &place).is_ok(),
                place,
                state,
            })
        }));
    }
    Ok(found)
}
