//! Idempotency keys on SQLite: tokens in the index, behind a filter in memory.
//!
//! `event_keys` has one row per commit and ledger: the entry of its first event, and the 16-byte hashes of the keys of all its
//! events, in their order ([`NO_KEY`] for an event without one).

use super::entry::{entry, ledger_and_seq};
use super::index::{self, backlog};
use super::key_filter::KeyFilter;
use super::schema::{event_keys, event_times, events};
use super::{Memory, SqliteSession};
use crate::append::plan::{Head, KnownKey, NewRow};
use crate::append::{AppendRequest, KeyHash, KnownKeys, LedgerId};
use crate::columns::{read_digest, read_id};
use crate::database::Session;
use crate::error::{Result, StoreError};
use crate::search::tokens::{Kind, token};
use diesel::prelude::*;
use diesel::sqlite::SqliteConnection;
use std::collections::HashMap;

/// A filter of stored keys for every ledger, so that the writer does not look up keys that cannot exist.
#[derive(Debug, Default)]
pub(crate) struct SeenKeys {
    ledgers: HashMap<LedgerId, LedgerKeys>,
}

/// An event without a key, in [`event_keys`].
const NO_KEY: KeyHash = [0; 16];

/// The keys of one ledger, up to a sequence number.
#[derive(Debug, Default)]
struct LedgerKeys {
    filter: KeyFilter,
    /// The keys of the events before this one are in the filter.
    seq_end: i64,
}

impl SeenKeys {
    /// Whether a ledger of this size may have an event with the key.
    fn may_hold(
        &mut self,
        connection: &mut SqliteConnection,
        ledger_id: LedgerId,
        size: i64,
        hash: &KeyHash,
    ) -> Result<bool> {
        let keys = self.ledgers.entry(ledger_id).or_default();
        if keys.seq_end != size {
            keys.catch_up(connection, ledger_id, size)?;
        }
        Ok(keys.filter.may_hold(hash))
    }

    /// Adds the keys of committed rows.
    pub(crate) fn committed(&mut self, rows: &[NewRow]) {
        for row in rows {
            if let Some(keys) = self
                .ledgers
                .get_mut(&row.ledger_id)
                .filter(|keys| keys.seq_end == row.seq)
            {
                if let Some(key) = row.idempotency {
                    keys.filter.insert(&key.hash);
                }
                keys.seq_end = row.seq + 1;
            }
        }
    }
}

impl LedgerKeys {
    /// Reads the stored keys that are not in the filter: all of them after a start, and those that another process (an
    /// import) has stored since.
    fn catch_up(&mut self, connection: &mut SqliteConnection, ledger_id: LedgerId, size: i64) -> Result<()> {
        let commits = event_keys::table
            .filter(event_keys::first_entry.ge(entry(ledger_id, self.seq_end)))
            .filter(event_keys::first_entry.lt(entry(ledger_id, size)))
            .select(event_keys::hashes)
            .load_iter::<Vec<u8>, diesel::connection::DefaultLoadingMode>(connection)?;
        for hashes in commits {
            let hashes = hashes?;
            let (hashes, []) = hashes.as_chunks() else {
                return Err(StoreError::Damaged {
                    what: "list of idempotency hashes",
                });
            };
            for hash in hashes.iter().filter(|hash| **hash != NO_KEY) {
                self.filter.insert(hash);
            }
        }
        self.seq_end = size;
        Ok(())
    }
}

/// Finds the idempotency keys of `requests` that are stored already.
pub(crate) fn find_keys(
    session: &mut SqliteSession,
    requests: &[AppendRequest],
    heads: &HashMap<LedgerId, Head>,
) -> Result<KnownKeys> {
    let Session { connection, memory } = session;
    let Memory { shared, appends, .. } = memory;
    let mut wanted: Vec<(LedgerId, KeyHash, String)> = Vec::new();
    for request in requests {
        let ledger_id = request.destination.ledger_id;
        let Some(head) = heads.get(&ledger_id) else {
            continue;
        };
        for hash in request.key_hashes() {
            let may_hold = match &mut appends.keys {
                Some(seen) => seen.may_hold(connection, ledger_id, head.size, hash)?,
                None => true,
            };
            if may_hold {
                let token = token(Kind::IdempotencyKey, ledger_id.0, hash);
                wanted.push((ledger_id, *hash, token));
            }
        }
    }
    let mut found = HashMap::new();
    if wanted.is_empty() {
        return Ok(found);
    }
    let tokens: Vec<&str> = wanted.iter().map(|(_, _, token)| token.as_str()).collect();
    let mut unindexed = backlog::positions_by_key(connection, &tokens, shared)?;
    let indexed = index::positions_of(connection, &tokens, shared)?;
    for ((ledger_id, hash, token), indexed) in wanted.iter().zip(indexed) {
        let unindexed = unindexed.remove(token.as_str()).unwrap_or_default();
        for position in unindexed.into_iter().chain(indexed) {
            if let Some(known) = known_key(connection, *ledger_id, hash, position)? {
                found.insert((*ledger_id, *hash), known);
            }
        }
    }
    Ok(found)
}

/// The event at this position in the order of time, if it has this key.
fn known_key(
    connection: &mut SqliteConnection,
    ledger_id: LedgerId,
    hash: &KeyHash,
    position: i64,
) -> Result<Option<KnownKey>> {
    let row = event_times::table
        .find(position)
        .inner_join(events::table.on(events::entry.eq(event_times::entry)))
        .select((events::entry, events::id, events::sent_digest))
        .get_result::<(i64, Vec<u8>, Option<Vec<u8>>)>(connection)
        .optional()?;
    let Some((entry, id, Some(digest))) = row else {
        return Ok(None);
    };
    let (row_ledger, seq) = ledger_and_seq(entry);
    if row_ledger != ledger_id || key_hash(connection, ledger_id, seq)?.as_ref() != Some(hash) {
        return Ok(None);
    }
    let (id, digest) = (read_id(id)?, read_digest(digest)?);
    Ok(Some(KnownKey { id, digest }))
}

/// The hash of the idempotency key of an event.
pub(crate) fn key_hash(
    connection: &mut SqliteConnection,
    ledger_id: LedgerId,
    seq: i64,
) -> Result<Option<KeyHash>> {
    let commit: Option<(i64, Vec<u8>)> = event_keys::table
        .filter(event_keys::first_entry.ge(entry(ledger_id, 0)))
        .filter(event_keys::first_entry.le(entry(ledger_id, seq)))
        .order(event_keys::first_entry.desc())
        .select((event_keys::first_entry, event_keys::hashes))
        .get_result(connection)
        .optional()?;
    let hash = commit.and_then(|(first_entry, hashes)| {
        let index = usize::try_from(seq - ledger_and_seq(first_entry).1).ok()?;
        hashes.as_chunks().0.get(index).copied()
    });
    Ok(hash.filter(|hash| *hash != NO_KEY))
}

/// Writes the keys of new rows of one ledger, which are in its order.
pub(crate) fn write_keys(connection: &mut SqliteConnection, rows: &[(i64, &NewRow)]) -> Result<()> {
    let Some((_, first)) = rows.first() else {
        return Ok(());
    };
    if rows.iter().all(|(_, row)| row.idempotency.is_none()) {
        return Ok(());
    }
    let hashes: Vec<u8> = rows
        .iter()
        .flat_map(|(_, row)| row.idempotency.map_or(NO_KEY, |key| key.hash))
        .collect();
    diesel::insert_into(event_keys::table)
        .values((
            event_keys::first_entry.eq(entry(first.ledger_id, first.seq)),
            event_keys::hashes.eq(hashes),
        ))
        .execute(connection)?;
    Ok(())
}
