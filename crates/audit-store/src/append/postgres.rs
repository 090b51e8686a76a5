//! Appending on PostgreSQL: several nodes, each with a few writers, take turns on the head of a ledger.

use super::plan::{KnownKey, Plan};
use super::sqlite::{read_digest, read_id};
use super::{AppendRequest, KeyHash, LedgerId};
use crate::error::{Result, StoreError};
use crate::ledgers::{self, KnownActions};
use crate::schema::postgres::events;
use diesel::PgConnection;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Binary, Bool, Nullable, Text};
use std::collections::{BTreeMap, HashMap};

/// Finds the idempotency keys of `requests` that are stored already. The heads of the ledgers are locked, so no other
/// node stores one in the meantime.
pub(crate) fn find_keys(
    connection: &mut PgConnection,
    requests: &[AppendRequest],
) -> Result<HashMap<(LedgerId, KeyHash), KnownKey>> {
    let mut wanted: BTreeMap<LedgerId, Vec<&[u8]>> = BTreeMap::new();
    for request in requests {
        let hashes = request
            .events
            .iter()
            .filter_map(|event| event.idempotency.as_ref())
            .map(|key| key.hash.as_slice());
        wanted
            .entry(request.destination.ledger_id)
            .or_default()
            .extend(hashes);
    }
    let mut found = HashMap::new();
    for (ledger_id, hashes) in wanted.into_iter().filter(|(_, hashes)| !hashes.is_empty()) {
        let rows = events::table
            .filter(events::ledger_id.eq(ledger_id.0))
            .filter(events::idempotency_hash.eq_any(hashes))
            .select((events::idempotency_hash, events::id, events::sent_digest))
            .load::<(Option<Vec<u8>>, Vec<u8>, Option<Vec<u8>>)>(connection)?;
        for (hash, id, digest) in rows {
            let damaged = || StoreError::Damaged {
                what: "idempotency hash",
            };
            let hash = hash
                .and_then(|hash| KeyHash::try_from(hash).ok())
                .ok_or_else(damaged)?;
            let digest = read_digest(digest.ok_or_else(damaged)?)?;
            found.insert(
                (ledger_id, hash),
                KnownKey {
                    id: read_id(id)?,
                    digest,
                },
            );
        }
    }
    Ok(found)
}

/// One statement for all rows; `array_to_tsvector` takes the tokens as they are, without a parser in between.
const INSERT: &str = "\
    INSERT INTO events (ledger_id, seq, id, occurred_at, content_hash, idempotency_hash, sent_digest, redacted, tokens, body) \
    SELECT ledger_id, seq, id, occurred_at, content_hash, idempotency_hash, sent_digest, redacted, \
           array_to_tsvector(string_to_array(tokens, ' ')), body \
    FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) AS \
         row (ledger_id, seq, id, occurred_at, content_hash, idempotency_hash, sent_digest, redacted, tokens, body)";

/// Writes the rows of a plan.
pub(crate) fn write(connection: &mut PgConnection, plan: &Plan, actions: &mut KnownActions) -> Result<()> {
    if plan.rows.is_empty() {
        return Ok(());
    }
    let rows = &plan.rows;
    let ids: Vec<[u8; 16]> = rows.iter().map(|row| row.record.stamp().id.to_bytes()).collect();
    let hashes: Vec<_> = rows
        .iter()
        .map(|row| row.idempotency.as_ref().map(|key| key.hash.as_slice()))
        .collect();
    let digests: Vec<_> = rows
        .iter()
        .map(|row| {
            row.idempotency
                .as_ref()
                .map(|key| key.digest.as_bytes().as_slice())
        })
        .collect();
    let contents: Vec<_> = rows.iter().map(|row| row.record.content_hash()).collect();
    diesel::sql_query(INSERT)
        .bind::<Array<BigInt>, _>(rows.iter().map(|row| row.ledger_id.0).collect::<Vec<_>>())
        .bind::<Array<BigInt>, _>(rows.iter().map(|row| row.seq).collect::<Vec<_>>())
        .bind::<Array<Binary>, _>(ids.iter().map(<[u8; 16]>::as_slice).collect::<Vec<_>>())
        .bind::<Array<BigInt>, _>(
            rows.iter()
                .map(|row| row.record.occurred_at().as_micros())
                .collect::<Vec<_>>(),
        )
        .bind::<Array<Binary>, _>(
            contents
                .iter()
                .map(|hash| hash.as_bytes().as_slice())
                .collect::<Vec<_>>(),
        )
        .bind::<Array<Nullable<Binary>>, _>(hashes)
        .bind::<Array<Nullable<Binary>>, _>(digests)
        .bind::<Array<Bool>, _>(rows.iter().map(|row| row.record.redacted()).collect::<Vec<_>>())
        .bind::<Array<Text>, _>(rows.iter().map(|row| row.tokens.facets()).collect::<Vec<_>>())
        .bind::<Array<Text>, _>(rows.iter().map(|row| row.record.canonical()).collect::<Vec<_>>())
        .execute(connection)?;
    actions.write_new(plan, |ledger_id, action| {
        ledgers::insert_action_postgres(connection, ledger_id, action)
    })
}
