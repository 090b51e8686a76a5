//! The configuration, which nodes cache and every commit depends on: organizations, projects, keys, rules, tiers and
//! webhooks. Also the service's own secrets.
//!
//! The tables are private to this module. A setter is a method of [`Configurator`], whose session raises the version of
//! the configuration.

mod accounts;
mod alert_rules;
mod redaction_rules;
mod schema;
mod viewers;
mod webhooks;

pub(crate) use accounts::stored;
pub use accounts::{Key, KeyTextHash, Organization, Project};
pub use redaction_rules::RedactionRuleRow;
pub use viewers::{StoredTier, StoredViewerSecret};
pub use webhooks::{WebhookRow, WebhookSecretRow};

use crate::access::{Configurator, Reader};
use crate::database::{AnySession, select_for_update};
use crate::error::Result;
use crate::schema::configuration;
use audit_domain::Timestamp;
use diesel::prelude::*;
use schema::secrets;

/// The key of the only row of `configuration`.
pub(crate) const ONLY_ROW: i64 = 1;

/// Lets one transaction at a time change the configuration. Transactions lock at their beginning, so that none reads
/// rows that another is about to change, and none deadlocks.
pub(crate) fn lock_configuration(session: &mut AnySession) -> Result<()> {
    let row = configuration::table.find(ONLY_ROW).select(configuration::version);
    let _: i64 = select_for_update!(session, row, get_result)?;
    Ok(())
}

/// Raises the version, so that every node reads the configuration again.
pub(crate) fn increase_configuration_version(session: &mut AnySession) -> Result<()> {
    diesel::update(configuration::table.find(ONLY_ROW))
        .set(configuration::version.eq(configuration::version + 1))
        .execute(session)?;
    Ok(())
}

impl Reader<'_> {
    /// The version of the configuration. Every change of keys, plans, rules, tiers and webhooks raises it.
    ///
    /// # Errors
    /// When the database cannot be queried.
    pub fn configuration_version(&mut self) -> Result<i64> {
        Ok(configuration::table
            .find(ONLY_ROW)
            .select(configuration::version)
            .get_result(self.session())?)
    }

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
}

impl Configurator<'_> {
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
