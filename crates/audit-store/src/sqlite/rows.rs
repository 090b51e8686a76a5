//! Single rows on SQLite: events by entry or position, the hashes of their idempotency keys, and the months of ledgers.

use super::entry::{entry, ledger_and_seq};
use super::schema::{event_keys, event_times, events};
use crate::append::idempotency::KeyHash;
use crate::columns::{read_hash, read_id};
use crate::error::Result;
use crate::ids::LedgerId;
use crate::ledgers::head::LedgerMonth;
use crate::ledgers::heads::read_month;
use crate::schema::ledger_months;
use audit_domain::{StoredEvent, Timestamp};
use diesel::prelude::*;

/// A position in the order of time is `occurred_at` in ms << 20, plus a counter within the millisecond.
pub(crate) const COUNTER_BITS: u32 = 20;

/// The first position of a millisecond.
pub(crate) const fn first_position(millis: i64) -> i64 {
    millis << COUNTER_BITS
}

/// The first position of the millisecond after that of `position`.
pub(crate) const fn position_after(position: i64) -> i64 {
    ((position >> COUNTER_BITS) + 1) << COUNTER_BITS
}

/// The columns of an event.
pub(crate) type Row = (i64, Vec<u8>, Vec<u8>, Vec<u8>, bool, String);
/// Their names.
pub(crate) type Columns = (
    events::position,
    events::id,
    events::content_hash,
    events::content_salt,
    events::redacted,
    events::body,
);
pub(crate) const COLUMNS: Columns = (
    events::position,
    events::id,
    events::content_hash,
    events::content_salt,
    events::redacted,
    events::body,
);

/// The row of an event by its position, with its ledger.
pub(crate) fn row_at(connection: &mut SqliteConnection, position: i64) -> Result<Option<(LedgerId, Row)>> {
    let row: Option<(i64, Row)> = event_times::table
        .find(position)
        .inner_join(events::table.on(events::entry.eq(event_times::entry)))
        .select((event_times::entry, COLUMNS))
        .get_result(connection)
        .optional()?;
    Ok(row.map(|(entry, row)| (ledger_and_seq(entry).0, row)))
}

/// One event by its entry.
pub(crate) fn stored_event(connection: &mut SqliteConnection, entry: i64) -> Result<Option<StoredEvent>> {
    let row = events::table
        .find(entry)
        .select(COLUMNS)
        .get_result::<Row>(connection)
        .optional()?;
    row.map(read_row).transpose()
}

/// The position of an event in the order of time.
pub(crate) fn position_of(connection: &mut SqliteConnection, entry: i64) -> Result<Option<i64>> {
    let position = events::table.find(entry).select(events::position);
    Ok(position.get_result(connection).optional()?)
}

/// Reads the columns of an event.
pub(crate) fn read_row(
    (position, id, content_hash, content_salt, redacted, canonical): Row,
) -> Result<StoredEvent> {
    let (content_hash, content_salt) = read_hash(content_hash, &content_salt)?;
    Ok(StoredEvent {
        id: read_id(id)?,
        occurred_at: Timestamp::from_millis(position >> COUNTER_BITS),
        canonical,
        content_hash,
        content_salt,
        redacted,
    })
}

/// An event without a key, in [`event_keys`].
pub(crate) const NO_KEY: KeyHash = [0; 16];

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

/// The months of a ledger, ascending.
pub(crate) fn months_of(connection: &mut SqliteConnection, ledger_id: LedgerId) -> Result<Vec<LedgerMonth>> {
    let rows: Vec<(i32, i64)> = ledger_months::table
        .filter(ledger_months::ledger_id.eq(ledger_id.0))
        .order(ledger_months::month)
        .select((ledger_months::month, ledger_months::first_seq))
        .load(connection)?;
    Ok(rows.into_iter().map(read_month).collect())
}
