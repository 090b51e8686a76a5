//! Times of the last use of keys, on PostgreSQL.

use super::PostgresSession;
use crate::error::Result;
use diesel::RunQueryDsl;
use diesel::sql_types::{Array, BigInt, Text};

/// Stores the times of these keys, unless later ones are stored.
///
/// Two nodes write the uses of the same keys at the same time. The rows are locked in the order of their ids, and rows that
/// another transaction has locked are left out, so that neither waits for the other. The times go along with the locked rows:
/// joined with them a second time, each row would be compared with every use.
pub(crate) fn write(session: &mut PostgresSession, uses: &[(String, i64)]) -> Result<()> {
    let (ids, times): (Vec<&str>, Vec<i64>) = uses.iter().map(|(id, at)| (id.as_str(), *at)).unzip();
    let update = "WITH free AS MATERIALIZED (\
             SELECT api_keys.id, used.at FROM unnest($1, $2) AS used (id, at) JOIN api_keys ON api_keys.id = used.id \
             WHERE api_keys.last_used_at IS NULL OR api_keys.last_used_at < used.at \
             ORDER BY api_keys.id FOR NO KEY UPDATE OF api_keys SKIP LOCKED\
         ) \
         UPDATE api_keys SET last_used_at = free.at FROM free WHERE api_keys.id = free.id";
    diesel::sql_query(update)
        .bind::<Array<Text>, _>(ids)
        .bind::<Array<BigInt>, _>(times)
        .execute(&mut session.connection)?;
    Ok(())
}
