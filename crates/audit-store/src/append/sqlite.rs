//! Appending on SQLite: one writer, which remembers the keys that it has seen.

use super::plan::{Head, KnownKey, NewRow, Plan};
use super::{AppendRequest, KeyHash, LedgerId};
use crate::entry::{entry, ledger_and_seq};
use crate::error::{Result, StoreError};
use crate::index::IndexCache;
use crate::index::sqlite::tail::{self, Left, Run};
use crate::index::sqlite::{self as index};
use crate::key_filter::KeyFilter;
use crate::ledgers::{self, KnownActions, NewHead};
use crate::query::sqlite::{first_position, position_after};
use crate::schema::sqlite::{event_keys, event_times, events, unordered_events};
use crate::statements::{InsertEvent, InsertTime, UpdateHead};
use crate::tokens::{Kind, token};
use audit_domain::{EventId, SentDigest};
use diesel::prelude::*;
use diesel::sqlite::SqliteConnection;
use std::collections::HashMap;

/// The keys that the writer has seen, so that it does not look for those that cannot be there. Can be read again from the
/// database at any time.
#[derive(Debug, Default)]
pub(crate) struct SeenKeys {
    ledgers: HashMap<LedgerId, LedgerKeys>,
}

/// Stands for an event without a key in [`event_keys`].
const NO_KEY: KeyHash = [0; 16];

/// The keys of one ledger, up to a sequence number.
#[derive(Debug, Default)]
struct LedgerKeys {
    filter: KeyFilter,
    /// The events before this one are in the filter.
    seq_end: i64,
}

impl SeenKeys {
    /// Whether the ledger, of this size, may have an event with the key.
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

    /// Takes note of what was committed.
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
    /// Reads the keys that are stored and not in the filter: all of them after a start, and what another process (an
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

/// Finds the idempotency keys of `requests` that are stored already. Without `seen`, every one is looked for.
pub(crate) fn find_keys(
    connection: &mut SqliteConnection,
    requests: &[AppendRequest],
    heads: &HashMap<LedgerId, Head>,
    mut seen: Option<&mut SeenKeys>,
    index_cache: &IndexCache,
) -> Result<HashMap<(LedgerId, KeyHash), KnownKey>> {
    let mut wanted: Vec<(LedgerId, KeyHash, String)> = Vec::new();
    for request in requests {
        let ledger_id = request.destination.ledger_id;
        let Some(head) = heads.get(&ledger_id) else {
            continue;
        };
        for hash in request.key_hashes() {
            let may_hold = match &mut seen {
                Some(seen) => seen.may_hold(connection, ledger_id, head.size, &hash)?,
                None => true,
            };
            if may_hold {
                let token = token(Kind::IdempotencyKey, ledger_id.0, &hash);
                wanted.push((ledger_id, hash, token));
            }
        }
    }
    let mut found = HashMap::new();
    if wanted.is_empty() {
        return Ok(found);
    }
    let tokens: Vec<&str> = wanted.iter().map(|(_, _, token)| token.as_str()).collect();
    let mut left = tail::positions_by_key(connection, &tokens, index_cache)?;
    let indexed = index::positions_of(connection, &tokens, index_cache)?;
    for ((ledger_id, hash, token), indexed) in wanted.iter().zip(indexed) {
        let left = left.remove(token.as_str()).unwrap_or_default();
        for position in left.into_iter().chain(indexed) {
            if let Some(known) = known_key(connection, *ledger_id, hash, position)? {
                found.insert((*ledger_id, *hash), known);
            }
        }
    }
    Ok(found)
}

/// The event at this position, if it has this key.
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

pub(crate) fn read_id(bytes: Vec<u8>) -> Result<EventId> {
    bytes
        .try_into()
        .map(EventId::from_bytes)
        .map_err(|_| StoreError::Damaged { what: "event id" })
}

pub(crate) fn read_digest(bytes: Vec<u8>) -> Result<SentDigest> {
    bytes
        .try_into()
        .map(SentDigest::from_bytes)
        .map_err(|_| StoreError::Damaged { what: "digest" })
}

/// Writes the rows of a plan; what it left to be indexed. The writer holds the lock, so nothing changes between reading
/// and writing.
pub(crate) fn write(
    connection: &mut SqliteConnection,
    plan: &Plan,
    heads: &[NewHead],
    actions: &mut KnownActions,
    index_cache: &IndexCache,
) -> Result<Left> {
    let mut placed: Vec<(i64, &NewRow)> = place(connection, &plan.rows)?;
    // In the order of the log, so that B-trees grow at their ends.
    placed.sort_unstable_by_key(|(_, row)| (row.ledger_id, row.seq));
    for (position, row) in &placed {
        let (stamp, content_hash) = (row.record.stamp(), row.record.content_hash());
        let insert = InsertEvent {
            entry: entry(row.ledger_id, row.seq),
            position: *position,
            id: &stamp.id.to_bytes(),
            content_hash: content_hash.as_bytes(),
            sent_digest: row
                .idempotency
                .as_ref()
                .map(|key| key.digest.as_bytes().as_slice()),
            redacted: row.record.redacted(),
            body: row.record.canonical(),
        };
        insert.execute(connection)?;
    }
    for (_, row) in &placed {
        if let Some(after_id) = row.after_id {
            diesel::insert_into(unordered_events::table)
                .values((
                    unordered_events::entry.eq(entry(row.ledger_id, row.seq)),
                    unordered_events::id.eq(row.record.stamp().id.to_bytes().as_slice()),
                    unordered_events::after_id.eq(after_id.to_bytes().as_slice()),
                ))
                .execute(connection)?;
        }
    }
    let mut runs = Vec::new();
    for rows in placed.chunk_by(|(_, one), (_, next)| one.ledger_id == next.ledger_id) {
        write_keys(connection, rows)?;
        runs.extend(rows.first().map(|(_, first)| Run {
            ledger_id: first.ledger_id,
            first_seq: first.seq,
            events: rows.len() as i64,
        }));
    }
    placed.sort_unstable_by_key(|(position, _)| *position);
    for (position, row) in &placed {
        let insert = InsertTime {
            position: *position,
            entry: entry(row.ledger_id, row.seq),
        };
        insert.execute(connection)?;
    }
    let filed = placed.iter().map(|(position, row)| (*position, &row.tokens));
    let left = tail::leave(connection, runs.into_iter(), filed, index_cache)?;
    actions.write_new(plan, |ledger_id, action| {
        ledgers::insert_action_sqlite(connection, ledger_id, action)
    })?;
    for head in heads {
        let update = UpdateHead {
            ledger_id: head.ledger_id.0,
            size: head.size,
            last_event_id: &head.last.id.to_bytes(),
            last_received_at: head.last.received_at.as_micros(),
            frontier: head.frontier.as_deref(),
            day: head.day,
            day_events: head.day_events,
        };
        update.execute(connection)?;
    }
    Ok(left)
}

/// Notes the keys of new rows of one ledger, which come in its order.
fn write_keys(connection: &mut SqliteConnection, rows: &[(i64, &NewRow)]) -> Result<()> {
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

/// Gives every row its place in the order of queries: the next free one of its millisecond.
fn place<'a>(connection: &mut SqliteConnection, rows: &'a [NewRow]) -> Result<Vec<(i64, &'a NewRow)>> {
    let mut next_free: HashMap<i64, i64> = HashMap::new();
    let mut placed = Vec::with_capacity(rows.len());
    for row in rows {
        let millis = row.record.occurred_at().as_millis();
        let position = match next_free.get(&millis) {
            Some(position) => *position,
            None => free_position(connection, first_position(millis))?,
        };
        // A million events of one millisecond fill it; what comes after takes places of the next one.
        let after = position + 1;
        let following = if after == first_position(millis + 1) {
            free_position(connection, after)?
        } else {
            after
        };
        next_free.insert(millis, following);
        placed.push((position, row));
    }
    Ok(placed)
}

/// The place after the last one that is taken in the millisecond of `first`.
fn free_position(connection: &mut SqliteConnection, first: i64) -> Result<i64> {
    let mut first = first;
    loop {
        let end = position_after(first);
        // SQLite looks no further than the first row that is asked for.
        let last: Option<i64> = event_times::table
            .filter(event_times::position.ge(first))
            .filter(event_times::position.lt(end))
            .select(event_times::position)
            .order(event_times::position.desc())
            .get_result(connection)
            .optional()?;
        match last {
            None => return Ok(first),
            Some(last) if last + 1 < end => return Ok(last + 1),
            Some(_) => first = end,
        }
    }
}
