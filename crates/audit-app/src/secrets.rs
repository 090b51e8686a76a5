//! The stored secrets: which rows have one, how each is opened and sealed, and the check at the start of a server.
//!
//! Every secret is sealed by one mechanism, `audit_secrets`: with an encryption key it is encrypted for its place, and without one
//! stored in plain text. [`place_of`] decides for each row, so a new secret is sealed, checked and rewrapped without a line of its own.

mod rewrap;
mod status;

pub use rewrap::Rewrapped;
pub use status::{SecretState, SecretStatus, secrets_status};

use crate::error::{AppError, Result};
use crate::log::is_elsewhere;
use crate::self_audit::SELF_AUDIT;
use crate::service::AuditLog;
use audit_domain::Timestamp;
use audit_secrets::{KeyRing, OpenError, Place, Secret, Zeroizing};
use audit_store::{Deployment, SecretRow, StoredSecret};

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

/// A stored secret cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretFailure {
    /// Where it is stored.
    pub place: Place,
    /// Why it does not open.
    pub error: OpenError,
}

impl std::error::Error for SecretFailure {}

impl std::fmt::Display for SecretFailure {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if matches!(self.error, OpenError::NeedsKey | OpenError::UnknownKey(_)) {
            formatter.write_str("AUDIT_ENCRYPTION_KEY does not match the database: ")?;
        }
        write!(formatter, "the stored secret {} {}", self.place, self.error)
    }
}

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
    }
}

/// Opens what a row has, and checks that it has the form that the row needs: text, or the length of a [`Secret`].
fn open_row(stored: &StoredSecret, keys: &KeyRing, place: &Place) -> Result<Zeroizing<Vec<u8>>, OpenError> {
    let opened = keys.open(&stored.secret, place)?;
    let is_right = match stored.row {
        SecretRow::WebhookUrl(..) => std::str::from_utf8(&opened).is_ok(),
        SecretRow::Service(_) | SecretRow::Viewer(_) | SecretRow::Webhook(..) => {
            opened.len() == Secret::BYTES
        }
    };
    match is_right {
        true => Ok(opened),
        false => Err(OpenError::Damaged),
    }
}

impl AuditLog {
    /// Checks that every stored secret opens with the configured encryption keys. The first configured key becomes a key of the
    /// database. The service must not start with other keys or, once there is one, without any: it would store secrets that other
    /// nodes cannot read. With a key it does not start on a secret in plain text, which anybody may have put there.
    ///
    /// # Errors
    /// [`AppError::SealedSecret`] for the first one that does not open.
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

impl From<SecretFailure> for AppError {
    fn from(failure: SecretFailure) -> Self {
        Self::SealedSecret(Box::new(failure))
    }
}
