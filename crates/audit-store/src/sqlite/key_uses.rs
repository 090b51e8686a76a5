//! The last uses of keys, on SQLite.

use super::SqliteSession;
use crate::configuration::rows::KeyUse;
use crate::error::Result;
use diesel::RunQueryDsl;
use diesel::sql_types::{BigInt, Nullable, Text};

/// Stores these uses, unless later ones of the same keys are stored.
pub(crate) fn write(session: &mut SqliteSession, uses: &[KeyUse]) -> Result<()> {
    let update = "UPDATE api_keys SET last_used_at = ?1, last_used_from = ?2 \
         WHERE id = ?3 AND (last_used_at IS NULL OR last_used_at < ?1)";
    for used in uses {
        diesel::sql_query(update)
            .bind::<BigInt, _>(used.at.as_micros())
            .bind::<Nullable<Text>, _>(used.from.map(|address| address.to_string()))
            .bind::<Text, _>(used.id.to_string())
            .execute(&mut session.connection)?;
    }
    Ok(())
}
