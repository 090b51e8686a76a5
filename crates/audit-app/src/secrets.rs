//! The stored secrets: which rows have one, and how each is opened and sealed.
//!
//! Every secret is sealed by one mechanism, `audit_secrets`: with an encryption key it is encrypted for its place, and without one
//! stored in plain text. [`place_of`] decides for each row, so a new secret is sealed, checked and rewrapped without a line of its own.

pub(crate) mod rewrap;
mod sealing;
pub(crate) mod status;

use crate::error::{Result, SecretFailure};
use crate::log::program::is_elsewhere;
use crate::self_audit::decision::SELF_AUDIT;
use audit_secrets::{KeyRing, OpenError, Place, Secret, Zeroizing};
use audit_store::{SecretRow, StoredSecret};

/// A secret that the service generates for itself, in the table `secrets`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServiceSecret {
    /// The key of cursors. It is created with the database and never changes.
    CursorKey,
    /// Known plaintext. Decrypting it proves that the configured key is the database's.
    EncryptionCheck,
    /// The key of the heads of ledgers.
    HeadKey,
    /// The signing key of the log.
    LogKey,
    /// The signing key before it, while both sign.
    LogKeyBefore,
    /// Blinds the maps of tenants.
    TenantMaps,
}

/// The rows of the table `secrets` that are not secret: the log's name, the statements of its rotations, the id of the key of
/// heads, the digest that marks a cell, and whether the service records its own changes.
const PUBLIC: [&str; 5] = [
    "log_name",
    "log_key_rotations",
    "head_key_id",
    "cell_of_deployment",
    SELF_AUDIT,
];

impl ServiceSecret {
    /// Its name in the table.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::CursorKey => "cursor_key",
            Self::EncryptionCheck => "encryption_check",
            Self::HeadKey => "head_key",
            Self::LogKey => "log_key",
            Self::LogKeyBefore => "log_key_before",
            Self::TenantMaps => "tenant_map_secret",
        }
    }

    pub(crate) fn place(self) -> Place {
        of_service(self.name())
    }

    /// Opens what is stored of it.
    pub(crate) fn open(self, stored: &[u8], keys: &KeyRing) -> Result<Secret> {
        open(stored, keys, self.place())
    }
}

fn of_service(name: &str) -> Place {
    Place::new("secrets", "secret", [name])
}

/// The place of the secret that signs viewer tokens with this `kid`.
pub(crate) fn of_viewers(kid: &str) -> Place {
    Place::new("viewer_secrets", "secret", [kid])
}

/// The place of a secret of a webhook.
pub(crate) fn of_webhook(webhook_id: &str, number: i64) -> Place {
    Place::new("webhook_secrets", "secret", [webhook_id, &number.to_string()])
}

/// The place of the encrypted key of the heads.
pub fn head_key_place() -> Place {
    ServiceSecret::HeadKey.place()
}

/// The place of the URL of a webhook. The project is part of it, so that a writer of the database cannot move a webhook to a project of
/// another organization.
pub(crate) fn of_webhook_url(webhook_id: &str, project_id: &str) -> Place {
    Place::new("webhooks", "url", [webhook_id, project_id])
}

/// The place of the configuration of a destination, settings and credentials together. The project is part of it, as for the URL of a
/// webhook. The previous configuration has the same place: either is one that the project has chosen for this destination.
pub(crate) fn of_destination(destination_id: &str, project_id: &str) -> Place {
    Place::new("destinations", "config", [destination_id, project_id])
}

/// Opens a stored secret.
pub(crate) fn open(stored: &[u8], keys: &KeyRing, place: Place) -> Result<Secret> {
    let opened = keys.open_secret(stored, &place);
    opened.map_err(|error| SecretFailure { place, error }.into())
}

/// Opens a stored secret that is text.
pub(crate) fn open_text(stored: &[u8], keys: &KeyRing, place: Place) -> Result<String> {
    let opened = keys.open(stored, &place);
    let text = opened.and_then(|bytes| String::from_utf8(bytes.to_vec()).map_err(|_| OpenError::Damaged));
    text.map_err(|error| SecretFailure { place, error }.into())
}

/// The place of what a row has, if it is secret.
fn place_of(stored: &StoredSecret) -> Option<Place> {
    match &stored.row {
        SecretRow::Service(name) if PUBLIC.contains(&name.as_str()) => None,
        // The public key of a signing program.
        SecretRow::Service(_) if is_elsewhere(&stored.secret) => None,
        SecretRow::Service(name) => Some(of_service(name)),
        SecretRow::Viewer(kid) => Some(of_viewers(kid)),
        SecretRow::Webhook(id, number) => Some(of_webhook(id, *number)),
        SecretRow::WebhookUrl(id, project_id) => Some(of_webhook_url(id, project_id)),
        SecretRow::Destination(id, project_id) => Some(of_destination(id, project_id)),
    }
}

/// Opens what a row has, and checks that it has the form that the row needs: text, or the length of a [`Secret`].
fn open_row(stored: &StoredSecret, keys: &KeyRing, place: &Place) -> Result<Zeroizing<Vec<u8>>, OpenError> {
    let opened = keys.open(&stored.secret, place)?;
    let is_right = match stored.row {
        SecretRow::WebhookUrl(..) | SecretRow::Destination(..) => std::str::from_utf8(&opened).is_ok(),
        SecretRow::Service(_) | SecretRow::Viewer(_) | SecretRow::Webhook(..) => {
            opened.len() == Secret::BYTES
        }
    };
    match is_right {
        true => Ok(opened),
        false => Err(OpenError::Damaged),
    }
}
