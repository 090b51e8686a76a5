//! Times of the last use of keys, on SQLite.

use super::SqliteSession;
use crate::error::Result;
use diesel::RunQueryDsl;
use diesel::sql_types::{BigInt, Text};

/// Stores the times of these keys, unless later ones are stored.
pub(crate) fn write(session: &mut SqliteSession, uses: &[(String, i64)]) -> Result<()> {
    let update =
        "UPDATE api_keys SET last_used_at = ?1 WHERE id = ?2 AND (last_used_at IS NULL OR last_used_at < ?1)";
    for (id, at) in uses {
        diesel::sql_query(update)
            .bind::<BigInt, _>(at)
            .bind::<Text, _>(id)
            .execute(&mut session.connection)?;
    }
    Ok(())
}
