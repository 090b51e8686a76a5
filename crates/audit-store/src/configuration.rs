//! The configuration, which nodes cache and every commit depends on: organizations, projects, keys, rules, tiers and
//! webhooks. Also what no node caches: destinations, and the service's own secrets.
//!
//! The tables are private to this module. A setter is a method of [`Configurator`] for the owner of what it changes; the
//! session that it gets has another version of the owner's configuration already (`versions.rs`).

mod accounts;
mod action_labels;
mod alert_rules;
mod destination_lag;
mod destinations;
mod keys;
pub(crate) mod owner;
mod portals;
mod redaction_rules;
pub(crate) mod rows;
mod schema;
mod stored_secrets;
mod versions;
mod viewers;
mod webhooks;

pub use destinations::{DestinationRow, DestinationStatistics, DueRun};
pub use keys::FoundKey;
pub use owner::{ConfigurationVersion, Deployment, Owner};
pub use portals::{PortalLogoRow, PortalRow};
pub use redaction_rules::RedactionRuleRow;
pub use rows::{Key, KeyTextHash, KeyUse, Organization, Project, ProjectUpdate};
pub use stored_secrets::{SecretRow, StoredSecret};
pub use viewers::{StoredTier, StoredViewerSecret};
pub use webhooks::{WebhookRow, WebhookSecretRow};

use crate::access::{Configurator, Reader};
use crate::error::Result;
use audit_domain::Timestamp;
use diesel::prelude::*;
use schema::secrets;

impl Reader<'_> {
    /// One of the service's own secrets.
    ///
    /// # Errors
    /// When the database cannot be queried.
    pub fn secret(&mut self, name: &str) -> Result<Option<Vec<u8>>> {
        Ok(secrets::table
            .find(name)
            .select(secrets::secret)
            .get_result(self.session())
            .optional()?)
    }

    /// One of the service's own secrets, and when it was stored, in microseconds since 1970.
    pub(crate) fn dated_secret(&mut self, name: &str) -> Result<Option<(Vec<u8>, i64)>> {
        Ok(secrets::table
            .find(name)
            .select((secrets::secret, secrets::created_at))
            .get_result(self.session())
            .optional()?)
    }
}

impl Configurator<'_, Deployment> {
    /// Deletes one of the service's own secrets.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn delete_secret(&mut self, name: &str) -> Result<()> {
        // Nodes read these secrets once, when they start.
        diesel::delete(secrets::table.find(name)).execute(self.uncached_session())?;
        Ok(())
    }

    /// Stores one of the service's own secrets.
    ///
    /// # Errors
    /// [`crate::StoreError::Duplicate`] when one of this name exists.
    pub fn insert_secret(&mut self, name: &str, secret: &[u8], now: Timestamp) -> Result<()> {
        diesel::insert_into(secrets::table)
            .values((
                secrets::name.eq(name),
                secrets::secret.eq(secret),
                secrets::created_at.eq(now.as_micros()),
            ))
            .execute(self.uncached_session())?;
        Ok(())
    }
}
