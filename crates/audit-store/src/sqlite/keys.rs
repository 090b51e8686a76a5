//! Idempotency keys on SQLite: tokens in the index, behind a filter in memory.
//!
//! `event_keys` has one row per commit and ledger: the entry of its first event, and the 16-byte hashes of the keys of all its
//! events, in their order ([`NO_KEY`] for an event without one).

use super::entry::{SEQ_END, entry, ledger_and_seq};
use super::index::{self, backlog, rebuild};
use super::schema::{event_keys, event_times, events};
use super::{Memory, Shared, SqliteSession};
use crate::append::plan::{Head, KnownKey, NewRow};
use crate::append::{AppendRequest, KeyHash, KnownKeys, LedgerId};
use crate::columns::{read_digest, read_id};
use crate::database::Session;
use crate::error::Result;
use crate::search::tokens::{Kind, token};
use diesel::connection::DefaultLoadingMode;
use diesel::prelude::*;
use diesel::sqlite::SqliteConnection;
use std::collections::{BTreeSet, HashMap, HashSet};

/// An event without a key, in [`event_keys`].
pub(crate) const NO_KEY: KeyHash = [0; 16];

/// A key that may be stored: its ledger, hash and token.
pub(crate) type WantedKey = (LedgerId, KeyHash, String);

/// Finds the idempotency keys of `requests` that are stored already.
pub(crate) fn find_keys(
    session: &mut SqliteSession,
    requests: &[AppendRequest],
    heads: &HashMap<LedgerId, Head>,
) -> Result<KnownKeys> {
    let Session { connection, memory } = session;
    let Memory { shared, appends, .. } = memory;
    let mut wanted: Vec<WantedKey> = Vec::new();
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
    if wanted.is_empty() {
        return Ok(KnownKeys::new());
    }
    look_up(connection, &wanted, shared)
}

/// Finds the events that have these keys.
fn look_up(connection: &mut SqliteConnection, wanted: &[WantedKey], shared: &Shared) -> Result<KnownKeys> {
    let mut found = KnownKeys::new();
    // Before the index is read: it may grow in between.
    let is_rebuilding = rebuild::known_reached(connection, shared)? != rebuild::COMPLETE;
    let unindexed = backlog::positions_by_key(connection, wanted, shared)?;
    let tokens: Vec<&str> = wanted.iter().map(|(_, _, token)| token.as_str()).collect();
    let indexed = index::positions_of(connection, &tokens, shared)?;
    for ((ledger_id, hash, token), indexed) in wanted.iter().zip(indexed) {
        let unindexed = unindexed.get(token.as_str()).into_iter().flatten().copied();
        for position in unindexed.chain(indexed) {
            if let Some(known) = known_key(connection, *ledger_id, hash, position)? {
                found.insert((*ledger_id, *hash), known);
            }
        }
    }
    if is_rebuilding {
        let missing = wanted.iter().map(|(ledger_id, hash, _)| (*ledger_id, *hash));
        let mut missing: HashSet<_> = missing.filter(|key| !found.contains_key(key)).collect();
        let ledgers: BTreeSet<LedgerId> = missing.iter().map(|(ledger_id, _)| *ledger_id).collect();
        for ledger_id in ledgers {
            find_in_order(connection, ledger_id, &mut missing, &mut found)?;
        }
    }
    Ok(found)
}

/// Finds keys of a ledger without the index. Reads the latest first, because most repeats are retries, and stops when all are
/// found.
fn find_in_order(
    connection: &mut SqliteConnection,
    ledger_id: LedgerId,
    missing: &mut HashSet<(LedgerId, KeyHash)>,
    found: &mut KnownKeys,
) -> Result<()> {
    let mut wanted = missing.iter().filter(|(of, _)| *of == ledger_id).count();
    let mut hits = Vec::new();
    let commits = event_keys::table
        .filter(event_keys::first_entry.ge(entry(ledger_id, 0)))
        .filter(event_keys::first_entry.lt(entry(ledger_id, SEQ_END)))
        .order(event_keys::first_entry.desc())
        .load_iter::<(i64, Vec<u8>), DefaultLoadingMode>(connection)?;
    for commit in commits {
        let (first_entry, hashes) = commit?;
        for (entry, hash) in (first_entry..).zip(hashes.as_chunks().0) {
            if missing.remove(&(ledger_id, *hash)) {
                hits.push((entry, *hash));
                wanted -= 1;
            }
        }
        if wanted == 0 {
            break;
        }
    }
    for (entry, hash) in hits {
        let known = known_key_of(connection, entry)?;
        found.extend(known.map(|known| ((ledger_id, hash), known)));
    }
    Ok(())
}

/// The stored key of an event.
fn known_key_of(connection: &mut SqliteConnection, entry: i64) -> Result<Option<KnownKey>> {
    let row = events::table
        .find(entry)
        .select((events::id, events::sent_digest))
        .get_result::<(Vec<u8>, Option<Vec<u8>>)>(connection)
        .optional()?;
    let Some((id, Some(digest))) = row else {
        return Ok(None);
    };
    let (id, digest) = (read_id(id)?, read_digest(digest)?);
    Ok(Some(KnownKey { id, digest }))
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
