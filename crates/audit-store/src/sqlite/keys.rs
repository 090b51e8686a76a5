//! Idempotency keys on SQLite: tokens in the index, behind a filter in memory.
//!
//! `event_keys` has one row per commit and ledger: the entry of its first event, and the 16-byte hashes of the keys of all its
//! events, in their order ([`NO_KEY`] for an event without one).

use super::entry::{SEQ_END, entry, ledger_and_seq};
use super::index::backlog::WantedKey;
use super::index::{self, backlog, rebuild};
use super::rows::{NO_KEY, key_hash};
use super::schema::{event_keys, event_times, events};
use super::{Memory, Shared, SqliteSession};
use crate::append::idempotency::{KeyHash, KnownKey, KnownKeys};
use crate::append::months::months_of;
use crate::append::plan::NewRow;
use crate::append::request::AppendRequest;
use crate::columns::KeyColumns;
use crate::database::session::Session;
use crate::error::Result;
use crate::ids::LedgerId;
use crate::ledgers::head::Head;
use crate::search::tokens::{Kind, token};
use crate::tree::TreeSession;
use audit_domain::Month;
use diesel::connection::DefaultLoadingMode;
use diesel::prelude::*;
use diesel::sqlite::SqliteConnection;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};

/// A stored key: the `seq` of its event, which says in which month it was stored, and its columns.
type FoundKey = (i64, KeyColumns);

/// The columns of [`KeyColumns`].
type Columns = (Vec<u8>, Option<Vec<u8>>, bool, Option<i64>, Vec<u8>);
const COLUMNS: (
    events::id,
    events::sent_digest,
    events::redacted,
    events::sender,
    events::row_code,
) = (
    events::id,
    events::sent_digest,
    events::redacted,
    events::sender,
    events::row_code,
);

/// Finds the idempotency keys of `requests` that are stored already, within the window or before it.
pub(crate) fn find_keys(
    session: &mut SqliteSession,
    requests: &[AppendRequest],
    heads: &HashMap<LedgerId, Head>,
) -> Result<KnownKeys> {
    let keeper = session.heads()?;
    let Session { connection, memory } = session;
    let Memory { shared, appends, .. } = memory;
    let months = months_of(requests, heads);
    let mut wanted: Vec<WantedKey> = Vec::new();
    for request in requests {
        let ledger_id = request.destination.ledger_id;
        let Some(head) = heads.get(&ledger_id) else {
            continue;
        };
        let month = months.get(&ledger_id).copied().unwrap_or(Month::MIN);
        let first_month = shared.window.first_month(month);
        if head.first_seq_since(first_month).is_none() {
            // All events of the ledger are outside of the window.
            continue;
        }
        for hash in request.key_hashes() {
            let may_hold = match &mut appends.keys {
                Some(seen) => seen.may_hold(connection, ledger_id, head, first_month, hash)?,
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
    let found = look_up(connection, &wanted, heads, &months, shared)?;
    let codes = keeper.row_codes();
    let known = |((ledger_id, hash), (seq, columns)): ((LedgerId, KeyHash), FoundKey)| {
        let head = heads.get(&ledger_id)?;
        let month = head.month_of(seq);
        let event = columns.event(&codes, &head.name, month, &hash);
        if event.is_none() {
            keeper.note_forged_row(ledger_id, &head.name);
        }
        Some(((ledger_id, hash), KnownKey { event, month }))
    };
    Ok(found.into_iter().filter_map(known).collect())
}

/// Finds the newest events that have these keys. While the index is rebuilt, it looks no further than the window.
fn look_up(
    connection: &mut SqliteConnection,
    wanted: &[WantedKey],
    heads: &HashMap<LedgerId, Head>,
    months: &HashMap<LedgerId, Month>,
    shared: &Shared,
) -> Result<HashMap<(LedgerId, KeyHash), FoundKey>> {
    let mut found: HashMap<(LedgerId, KeyHash), FoundKey> = HashMap::new();
    // Before the index is read: it may grow in between.
    let is_rebuilding = rebuild::known_reached(connection, shared)? != rebuild::COMPLETE;
    let unindexed = backlog::positions_by_key(connection, wanted, shared)?;
    let tokens: Vec<&str> = wanted.iter().map(|(_, _, token)| token.as_str()).collect();
    let indexed = index::positions_of(connection, &tokens, shared)?;
    for ((ledger_id, hash, token), indexed) in wanted.iter().zip(indexed) {
        let unindexed = unindexed.get(token.as_str()).into_iter().flatten().copied();
        for position in unindexed.chain(indexed) {
            if let Some(known) = known_key(connection, *ledger_id, hash, position)? {
                match found.entry((*ledger_id, *hash)) {
                    Entry::Occupied(mut newest) if known.0 > newest.get().0 => drop(newest.insert(known)),
                    Entry::Occupied(_) => {}
                    Entry::Vacant(first) => drop(first.insert(known)),
                }
            }
        }
    }
    if is_rebuilding {
        let missing = wanted.iter().map(|(ledger_id, hash, _)| (*ledger_id, *hash));
        let mut missing: HashSet<_> = missing.filter(|key| !found.contains_key(key)).collect();
        let ledgers: BTreeSet<LedgerId> = missing.iter().map(|(ledger_id, _)| *ledger_id).collect();
        for ledger_id in ledgers {
            let month = months.get(&ledger_id).copied().unwrap_or(Month::MIN);
            let head = heads.get(&ledger_id);
            if let Some(start) = head.and_then(|head| head.first_seq_since(shared.window.first_month(month)))
            {
                find_in_order(connection, ledger_id, start, &mut missing, &mut found)?;
            }
        }
    }
    Ok(found)
}

/// Finds keys of a ledger, from the event `start` on, without the index. Reads the latest first, because most repeats are retries, and stops when all are
/// found.
fn find_in_order(
    connection: &mut SqliteConnection,
    ledger_id: LedgerId,
    start: i64,
    missing: &mut HashSet<(LedgerId, KeyHash)>,
    found: &mut HashMap<(LedgerId, KeyHash), FoundKey>,
) -> Result<()> {
    let mut wanted = missing.iter().filter(|(of, _)| *of == ledger_id).count();
    let mut hits = Vec::new();
    let commits = event_keys::table
        .filter(event_keys::first_entry.ge(entry(ledger_id, start)))
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
fn known_key_of(connection: &mut SqliteConnection, entry: i64) -> Result<Option<FoundKey>> {
    let row = events::table
        .find(entry)
        .select(COLUMNS)
        .get_result::<Columns>(connection)
        .optional()?;
    Ok(row.map(|columns| (ledger_and_seq(entry).1, key_columns(columns))))
}

/// The event at this position in the order of time, if it has this key.
fn known_key(
    connection: &mut SqliteConnection,
    ledger_id: LedgerId,
    hash: &KeyHash,
    position: i64,
) -> Result<Option<FoundKey>> {
    let row = event_times::table
        .find(position)
        .inner_join(events::table.on(events::entry.eq(event_times::entry)))
        .select((events::entry, COLUMNS))
        .get_result::<(i64, Columns)>(connection)
        .optional()?;
    let Some((entry, columns)) = row else {
        return Ok(None);
    };
    let (row_ledger, seq) = ledger_and_seq(entry);
    if row_ledger != ledger_id || key_hash(connection, ledger_id, seq)?.as_ref() != Some(hash) {
        return Ok(None);
    }
    Ok(Some((seq, key_columns(columns))))
}

fn key_columns((id, sent_digest, redacted, sender, row_code): Columns) -> KeyColumns {
    KeyColumns {
        id,
        sent_digest,
        redacted,
        sender,
        row_code,
    }
}

/// Writes the keys of new rows of one ledger, which are in its order.
pub(crate) fn write_keys(connection: &mut SqliteConnection, rows: &[(i64, &NewRow)]) -> Result<()> {
    let Some((_, first)) = rows.first() else {
        return Ok(());
    };
    if rows.iter().all(|(_, row)| row.event.idempotency.is_none()) {
        return Ok(());
    }
    let hashes: Vec<u8> = rows
        .iter()
        .flat_map(|(_, row)| row.event.idempotency.map_or(NO_KEY, |key| key.hash))
        .collect();
    diesel::insert_into(event_keys::table)
        .values((
            event_keys::first_entry.eq(entry(first.ledger_id, first.seq)),
            event_keys::hashes.eq(hashes),
        ))
        .execute(connection)?;
    Ok(())
}
