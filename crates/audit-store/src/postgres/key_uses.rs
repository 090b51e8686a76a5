//! The last uses of keys, on PostgreSQL.

use super::PostgresSession;
use crate::configuration::rows::KeyUse;
use crate::error::Result;
use diesel::RunQueryDsl;
use diesel::sql_types::{Array, BigInt, Nullable, Text};

/// Stores these uses, unless later ones of the same keys are stored.
///
/// Two nodes write the uses of the same keys at the same time. The rows are locked in the order of their ids, and rows that
/// another transaction has locked are left out, so that neither waits for the other. The times go along with the locked rows:
/// joined with them a second time, each row would be compared with every use.
pub(crate) fn write(session: &mut PostgresSession, uses: &[KeyUse]) -> Result<()> {
    let ids: Vec<String> = uses.iter().map(|used| used.id.to_string()).collect();
    let times: Vec<i64> = uses.iter().map(|used| used.at.as_micros()).collect();
    let addresses: Vec<Option<String>> = uses
        .iter()
        .map(|used| used.from.map(|address| address.to_string()))
        .collect();
    let update = "WITH free AS MATERIALIZED (\
             SELECT api_keys.id, used.at, used.address FROM unnest($1, $2, $3) AS used (id, at, address) \
             JOIN api_keys ON api_keys.id = used.id \
             WHERE api_keys.last_used_at IS NULL OR api_keys.last_used_at < used.at \
             ORDER BY api_keys.id FOR NO KEY UPDATE OF api_keys SKIP LOCKED\
         ) \
         UPDATE api_keys SET last_used_at = free.at, last_used_from = free.address FROM free WHERE api_keys.id = free.id";
    diesel::sql_query(update)
        .bind::<Array<Text>, _>(ids)
        .bind::<Array<BigInt>, _>(times)
        .bind::<Array<Nullable<Text>>, _>(addresses)
        .execute(&mut session.connection)?;
    Ok(())
}
