//! Appending on PostgreSQL: several nodes, each with a few writers, take turns on the head of a ledger.

use super::plan::{KnownKey, Plan};
use super::sqlite::{read_digest, read_id};
use super::{AppendRequest, KeyHash, LedgerId};
use crate::error::{Result, StoreError};
use crate::ledgers::{self, KnownActions, NewHead};
use crate::statements::{FindKeys, InsertEvents};
use diesel::PgConnection;
use diesel::prelude::*;
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
        let find = FindKeys {
            hashes,
            ledger_id: ledger_id.0,
        };
        for (hash, id, digest) in find.load::<(Vec<u8>, Vec<u8>, Option<Vec<u8>>)>(connection)? {
            let damaged = || StoreError::Damaged {
                what: "idempotency hash",
            };
            let hash = KeyHash::try_from(hash).map_err(|_| damaged())?;
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

/// Writes the rows of a plan, and the heads of their ledgers.
pub(crate) fn write(
    connection: &mut PgConnection,
    plan: &Plan,
    heads: &[NewHead],
    actions: &mut KnownActions,
) -> Result<()> {
    let rows = &plan.rows;
    let last_ids: Vec<[u8; 16]> = heads.iter().map(|head| head.last.id.to_bytes()).collect();
    let ids: Vec<[u8; 16]> = rows.iter().map(|row| row.record.stamp().id.to_bytes()).collect();
    let contents: Vec<_> = rows.iter().map(|row| row.record.content_hash()).collect();
    let keys = || rows.iter().map(|row| row.idempotency.as_ref());
    let insert = InsertEvents {
        head_ledger_ids: heads.iter().map(|head| head.ledger_id.0).collect(),
        sizes: heads.iter().map(|head| head.size).collect(),
        last_event_ids: last_ids.iter().map(<[u8; 16]>::as_slice).collect(),
        last_received_at: heads
            .iter()
            .map(|head| head.last.received_at.as_micros())
            .collect(),
        frontiers: heads.iter().map(|head| head.frontier.as_deref()).collect(),
        days: heads.iter().map(|head| head.day).collect(),
        day_events: heads.iter().map(|head| head.day_events).collect(),
        ledger_ids: rows.iter().map(|row| row.ledger_id.0).collect(),
        seqs: rows.iter().map(|row| row.seq).collect(),
        ids: ids.iter().map(<[u8; 16]>::as_slice).collect(),
        occurred_at: rows
            .iter()
            .map(|row| row.record.occurred_at().as_micros())
            .collect(),
        content_hashes: contents.iter().map(|hash| hash.as_bytes().as_slice()).collect(),
        idempotency_hashes: keys().map(|key| key.map(|key| key.hash.as_slice())).collect(),
        sent_digests: keys()
            .map(|key| key.map(|key| key.digest.as_bytes().as_slice()))
            .collect(),
        redacted: rows.iter().map(|row| row.record.redacted()).collect(),
        tokens: rows.iter().map(|row| row.tokens.facets()).collect(),
        bodies: rows.iter().map(|row| row.record.canonical()).collect(),
    };
    insert.execute(connection)?;
    actions.write_new(plan, |ledger_id, action| {
        ledgers::insert_action_postgres(connection, ledger_id, action)
    })
}
