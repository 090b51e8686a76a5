//! Times of the last use of keys, on PostgreSQL.

use super::PostgresSession;
use crate::error::Result;
use diesel::RunQueryDsl;
use diesel::sql_types::{Array, BigInt, Text};

/// Stores the times of these keys, unless later ones are stored.
///
/// Two nodes write the uses of the same keys at the same time. The rows are locked in the order of their ids, and rows that
/// another transaction has locked are left out, so that neither waits for the other.
pub(crate) fn write(session: &mut PostgresSession, uses: &[(String, i64)]) -> Result<()> {
    let (ids, times): (Vec<&str>, Vec<i64>) = uses.iter().map(|(id, at)| (id.as_str(), *at)).unzip();
    let update = "WITH free AS MATERIALIZED (\
             SELECT id FROM api_keys WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED\
         ) \
         UPDATE api_keys SET last_used_at = used.at \
         FROM free JOIN unnest($1, $2) AS used (id, at) ON used.id = free.id \
         WHERE api_keys.id = free.id AND (api_keys.last_used_at IS NULL OR api_keys.last_used_at < used.at)";
    diesel::sql_query(update)
        .bind::<Array<Text>, _>(ids)
        .bind::<Array<BigInt>, _>(times)
        .execute(&mut session.connection)?;
    Ok(())
}
