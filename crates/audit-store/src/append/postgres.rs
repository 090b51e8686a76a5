//! Appending on PostgreSQL: several nodes, each with a few writers, take turns on the head of a ledger.

use super::plan::{self, Before, KnownKey, Plan};
use super::sqlite::{read_digest, read_id};
use super::watch::read_remembered;
use super::{AppendRequest, KeyHash, Known, LedgerId, write_beside};
use crate::connection::AnyConnection;
use crate::error::{Result, StoreError};
use crate::ledgers::{self, KnownActions, NewHead};
use crate::statements::{FindKeys, InsertEvents};
use diesel::PgConnection;
use diesel::prelude::*;
use std::collections::{BTreeMap, HashMap};

/// Commits that look their keys up after one of them was stored already.
const LOOKED_UP_COMMITS: u32 = 1_000;

/// Whether a commit that is planned without asking looks its keys up before it is stored. The index of keys refuses a key that
/// is there already, so nothing has to be looked up as long as that hardly ever happens; what was written until then was
/// written for nothing.
#[derive(Debug, Default)]
pub(crate) struct KeyLookups {
    commits_left: u32,
}

impl KeyLookups {
    /// Takes note of how many keys of a commit were stored already.
    pub(crate) fn found(&mut self, keys: usize) {
        if keys > 0 {
            self.commits_left = LOOKED_UP_COMMITS;
        }
    }

    /// Whether the next commit looks its keys up.
    fn next(&mut self) -> bool {
        let is_next = self.commits_left > 0;
        self.commits_left = self.commits_left.saturating_sub(1);
        is_next
    }
}

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

/// Appends what a plan made of `before` says, if that is still what the database has: the heads are not locked before. `None`
/// when it is not, or when somebody is to be told of what only the database knows, such as the event that a key stands for;
/// then nothing was stored.
///
/// One statement without a transaction around it is a round trip, and the heads are locked while it runs and no longer.
pub(crate) fn append_expected(
    connection: &mut AnyConnection,
    requests: Vec<AppendRequest>,
    mut before: Before,
    known: &mut Known,
) -> Result<Option<Plan>> {
    // Who changes that changes the size of the ledger as well.
    before.remembered = read_remembered(connection, &requests)?;
    let mut plan = plan::plan(requests, before);
    if plan.rows.is_empty() || plan.outcomes.iter().any(Result::is_err) {
        return Ok(None);
    }
    let heads = ledgers::grow(connection, &mut plan, &known.begun)?;
    let stored = if plan.is_rows_only(&heads, &known.actions) {
        write_as_expected(connection, &plan, &heads, known)
    } else {
        connection.write_transaction(|connection| {
            write_as_expected(connection, &plan, &heads, known)?;
            write_beside(connection, &plan, &heads)
        })
    };
    match stored {
        Ok(()) => Ok(Some(plan)),
        Err(StoreError::Stale) => Ok(None),
        Err(error) => Err(error),
    }
}

fn write_as_expected(
    connection: &mut AnyConnection,
    plan: &Plan,
    heads: &[NewHead],
    known: &mut Known,
) -> Result<()> {
    let AnyConnection::Postgres(postgres) = connection else {
        return Err(StoreError::Stale);
    };
    let new_keys = plan.rows.iter().filter_map(|row| row.idempotency.as_ref());
    let looked_up = match known.lookups.next() {
        true => new_keys.map(|key| key.hash.as_slice()).collect(),
        false => Vec::new(),
    };
    match write(postgres, plan, heads, looked_up, &mut known.actions) {
        Err(StoreError::Duplicate) => Err(StoreError::Stale),
        written => written,
    }
}

/// Writes the rows of a plan, and the heads of their ledgers.
///
/// # Errors
/// [`StoreError::Stale`] when the ledgers or the configuration are not as the plan has them, or one of `absent_keys` is stored
/// already; [`StoreError::Duplicate`] when another key is. Then nothing was written.
pub(crate) fn write(
    connection: &mut PgConnection,
    plan: &Plan,
    heads: &[NewHead],
    absent_keys: Vec<&[u8]>,
    actions: &mut KnownActions,
) -> Result<()> {
    let rows = &plan.rows;
    let last_ids: Vec<[u8; 16]> = heads.iter().map(|head| head.last.id.to_bytes()).collect();
    let ids: Vec<[u8; 16]> = rows.iter().map(|row| row.record.stamp().id.to_bytes()).collect();
    let contents: Vec<_> = rows.iter().map(|row| row.record.content_hash()).collect();
    let keys = || rows.iter().map(|row| row.idempotency.as_ref());
    let insert = InsertEvents {
        head_ledger_ids: heads.iter().map(|head| head.ledger_id.0).collect(),
        sizes_before: heads
            .iter()
            .map(|head| plan.sizes_before.get(&head.ledger_id).copied())
            .map(Option::unwrap_or_default)
            .collect(),
        sizes: heads.iter().map(|head| head.size).collect(),
        last_event_ids: last_ids.iter().map(<[u8; 16]>::as_slice).collect(),
        last_received_at: heads
            .iter()
            .map(|head| head.last.received_at.as_micros())
            .collect(),
        frontiers: heads.iter().map(|head| head.frontier.as_deref()).collect(),
        days: heads.iter().map(|head| head.day).collect(),
        day_events: heads.iter().map(|head| head.day_events).collect(),
        configuration_version: plan.after.configuration_version,
        absent_keys,
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
        bodies: rows.iter().map(|row| row.record.canonical()).collect(),
    };
    if insert.execute(connection)? != rows.len() {
        return Err(StoreError::Stale);
    }
    actions.write_new(plan, |ledger_id, action| {
        ledgers::insert_action_postgres(connection, ledger_id, action)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_looked_up_for_a_while_after_one_was_stored_already() {
        let mut lookups = KeyLookups::default();
        lookups.found(0);
        assert!(!lookups.next());
        lookups.found(1);
        assert!((0..LOOKED_UP_COMMITS).all(|_| lookups.next()));
        assert!(!lookups.next());
    }
}
