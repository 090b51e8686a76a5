//! The version of everything that is configured, and the service's own secrets.

use crate::connection::AnyConnection;
use crate::error::Result;
use crate::rows::Rows;
use crate::schema::{configuration, secrets};
use audit_domain::Timestamp;
use diesel::prelude::*;

const ONLY_ROW: i64 = 1;

/// The current version.
pub(crate) fn configuration_version(connection: &mut AnyConnection) -> Result<i64> {
    Ok(configuration::table
        .find(ONLY_ROW)
        .select(configuration::version)
        .get_result(connection)?)
}

/// Lets one transaction at a time change what is configured. Changes take turns from their beginning, so that none
/// decides on what another is about to change, and none deadlocks.
pub(crate) fn lock_configuration(connection: &mut AnyConnection) -> Result<()> {
    if let AnyConnection::Postgres(postgres) = connection {
        let row = configuration::table.find(ONLY_ROW).select(configuration::version);
        row.for_update().get_result::<i64>(postgres)?;
    }
    Ok(())
}

/// The current version, which stays the current one until the end of the transaction.
pub(crate) fn hold_configuration_version(connection: &mut AnyConnection) -> Result<i64> {
    match connection {
        // SQLite's writer holds the whole database.
        AnyConnection::Sqlite(_) => configuration_version(connection),
        AnyConnection::Postgres(postgres) => Ok(configuration::table
            .find(ONLY_ROW)
            .select(configuration::version)
            .for_share()
            .get_result(postgres)?),
    }
}

/// Makes everything that relies on the configuration look at it again.
pub(crate) fn increase_configuration_version(connection: &mut AnyConnection) -> Result<()> {
    diesel::update(configuration::table.find(ONLY_ROW))
        .set(configuration::version.eq(configuration::version + 1))
        .execute(connection)?;
    Ok(())
}

impl Rows<'_> {
    /// The version of the configuration. It grows with every change of keys, plans, rules and tiers.
    ///
    /// # Errors
    /// When the database cannot be asked.
    pub fn configuration_version(&mut self) -> Result<i64> {
        configuration_version(self.connection)
    }

    /// One of the service's own secrets.
    ///
    /// # Errors
    /// When the database cannot be asked.
    pub fn secret(&mut self, name: &str) -> Result<Option<Vec<u8>>> {
        Ok(secrets::table
            .find(name)
            .select(secrets::secret)
            .get_result(self.connection)
            .optional()?)
    }

    /// Forgets a secret.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn delete_secret(&mut self, name: &str) -> Result<()> {
        diesel::delete(secrets::table.find(name)).execute(self.connection)?;
        Ok(())
    }

    /// Keeps a secret.
    ///
    /// # Errors
    /// [`crate::StoreError::Duplicate`] when there is one of this name.
    pub fn insert_secret(&mut self, name: &str, secret: &[u8], now: Timestamp) -> Result<()> {
        diesel::insert_into(secrets::table)
            .values((
                secrets::name.eq(name),
                secrets::secret.eq(secret),
                secrets::created_at.eq(now.as_micros()),
            ))
            .execute(self.connection)?;
        Ok(())
    }
}
