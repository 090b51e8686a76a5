//! The stored rows on SQLite. An event is in two tables, `events` and `event_times`, and in `unordered_events` if its id is not
//! in the order of the log.

use super::SqliteSession;
use super::entry::{SEQ_END, entry, ledger_and_seq};
use super::event_ids::reached_before;
use super::rows::{NO_KEY, first_position, months_of, position_after};
use super::schema::{event_keys, event_times, events, unordered_events};
use crate::error::Result;
use crate::ids::LedgerId;
use crate::inspection::{StoredRow, StrayEvent};
use crate::ledgers::head::month_of;
use crate::schema::{ledgers, removed_events};
use audit_domain::Timestamp;
use diesel::dsl::{count_star, exists, select, sql};
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use std::collections::HashMap;

type Row = (
    i64,
    i64,
    Vec<u8>,
    (Vec<u8>, Vec<u8>),
    String,
    Option<Vec<u8>>,
    (bool, Option<i64>, Vec<u8>),
    Option<i64>,
    Option<(Vec<u8>, Vec<u8>)>,
);

pub(crate) fn stored_rows(
    session: &mut SqliteSession,
    ledger_id: LedgerId,
    start: i64,
    limit: i64,
) -> Result<Vec<StoredRow>> {
    let rows = events::table
        .left_join(event_times::table.on(event_times::position.eq(events::position)))
        .left_join(unordered_events::table.on(unordered_events::entry.eq(events::entry)))
        .filter(events::entry.ge(entry(ledger_id, start)))
        .filter(events::entry.lt(entry(ledger_id, SEQ_END)))
        .order(events::entry)
        .limit(limit)
        .select((
            events::entry,
            events::position,
            events::id,
            (events::content_hash, events::content_salt),
            events::body,
            events::sent_digest,
            (events::redacted, events::sender, events::row_code),
            event_times::entry.nullable(),
            (unordered_events::id, unordered_events::after_id).nullable(),
        ))
        .load::<Row>(&mut session.connection)?;
    let before = reached_before(&mut session.connection, ledger_id, start)?;
    let (mut last_entry, mut reached) = before.unzip();
    let last = rows.last().map_or(0, |(entry, ..)| *entry);
    let mut keys = stored_keys(session, entry(ledger_id, start), last)?;
    let months = months_of(&mut session.connection, ledger_id)?;
    let read = |row: Row| {
        let (
            entry,
            position,
            id,
            (content_hash, content_salt),
            body,
            sent_digest,
            coded,
            entry_by_time,
            listed,
        ) = row;
        let (redacted, sender, row_code) = coded;
        let seq = ledger_and_seq(entry).1;
        let follows = match last_entry.replace(entry) {
            Some(last) => last + 1 == entry,
            None => seq == 0,
        };
        let is_found_by_id = is_found_by_id(&id, listed.as_ref(), reached.as_ref(), follows);
        reached = Some(listed.map_or_else(|| id.clone(), |(_, after_id)| after_id));
        let inconsistent = if entry_by_time != Some(entry) {
            Some("event_times.entry")
        } else if !is_found_by_id {
            Some("the event's position in the order of ids")
        } else {
            None
        };
        StoredRow {
            seq,
            id,
            content_hash,
            content_salt,
            body,
            idempotency_hash: keys.remove(&entry),
            sent_digest,
            redacted,
            sender,
            row_code,
            month: month_of(&months, seq),
            inconsistent,
            time_position: position,
        }
    };
    Ok(rows.into_iter().map(read).collect())
}

/// Whether a look-up by id finds an event: by its own id, which is greater than all before it, or by its row of `unordered_events`, which has
/// the greatest id before it. Unless the event follows the one before it in the log, that may be the id of a removed one.
fn is_found_by_id(
    id: &[u8],
    listed: Option<&(Vec<u8>, Vec<u8>)>,
    reached: Option<&Vec<u8>>,
    follows: bool,
) -> bool {
    let Some((listed_id, after_id)) = listed else {
        return reached.is_none_or(|reached| id > reached.as_slice());
    };
    let is_after = match follows {
        true => Some(after_id) == reached,
        false => Some(after_id) >= reached,
    };
    *listed_id == id && is_after && id <= after_id.as_slice()
}

/// The hashes of the idempotency keys of the events from one entry to another one, by entry.
fn stored_keys(session: &mut SqliteSession, first: i64, last: i64) -> Result<HashMap<i64, Vec<u8>>> {
    let before: Option<i64> = event_keys::table
        .filter(event_keys::first_entry.le(first))
        .select(event_keys::first_entry)
        .order(event_keys::first_entry.desc())
        .limit(1)
        .get_result(&mut session.connection)
        .optional()?;
    let commits: Vec<(i64, Vec<u8>)> = event_keys::table
        .filter(event_keys::first_entry.ge(before.unwrap_or(first)))
        .filter(event_keys::first_entry.le(last))
        .select((event_keys::first_entry, event_keys::hashes))
        .load(&mut session.connection)?;
    let mut keys = HashMap::new();
    for (first_entry, hashes) in commits {
        let hashes = (first_entry..).zip(hashes.chunks(NO_KEY.len()));
        keys.extend(
            hashes
                .filter(|(_, hash)| **hash != NO_KEY)
                .map(|(entry, hash)| (entry, hash.to_vec())),
        );
    }
    Ok(keys)
}

/// Whether an event of this time belongs at this position: in its millisecond, or, where that is full, behind it.
pub(crate) fn is_at_time(session: &mut SqliteSession, position: i64, occurred_at: Timestamp) -> Result<bool> {
    let first = first_position(occurred_at.as_millis());
    let end = position_after(first);
    if (first..end).contains(&position) {
        return Ok(true);
    }
    if position < first {
        return Ok(false);
    }
    Ok(select(exists(event_times::table.find(end - 1))).get_result(&mut session.connection)?)
}

#[expect(clippy::disallowed_methods, reason = "only `log verify` asks")]
pub(crate) fn has_no_strays(session: &mut SqliteSession) -> Result<bool> {
    let has_removed: bool = select(exists(removed_events::table.select(removed_events::ledger_id)))
        .get_result(&mut session.connection)?;
    if has_removed {
        return Ok(false);
    }
    // One statement, so that all are counted at one moment. A sum of integers would fail on manipulated values.
    let sizes = sql::<BigInt>("(SELECT CAST(total(size) AS INTEGER) FROM ledgers)");
    let of_event = events::entry
        .eq(unordered_events::entry)
        .and(events::id.eq(unordered_events::id));
    let counts: (Option<i64>, Option<i64>, i64, Option<i64>, Option<i64>) = select((
        events::table.select(count_star()).single_value(),
        event_times::table.select(count_star()).single_value(),
        sizes,
        unordered_events::table.select(count_star()).single_value(),
        unordered_events::table
            .inner_join(events::table.on(of_event))
            .select(count_star())
            .single_value(),
    ))
    .get_result(&mut session.connection)?;
    let (stored, by_time, sizes, unordered, found) = counts;
    Ok([stored, by_time] == [Some(sizes); 2] && unordered == found)
}

pub(crate) fn stray_events(
    session: &mut SqliteSession,
    ledger_id: LedgerId,
    limit: i64,
) -> Result<Vec<StrayEvent>> {
    let (start, end) = (entry(ledger_id, 0), entry(ledger_id, SEQ_END));
    // One statement each: events that are stored meanwhile are in range.
    let beyond = events::table
        .inner_join(ledgers::table.on(ledgers::id.eq(ledger_id.0)))
        .filter(events::entry.ge(start))
        .filter(events::entry.lt(end))
        .filter(events::entry.ge(ledgers::size + start))
        .select((events::id, events::entry))
        .limit(limit)
        .load::<(Vec<u8>, i64)>(&mut session.connection)?;
    let of_id = events::entry
        .eq(unordered_events::entry)
        .and(events::id.eq(unordered_events::id));
    let misleading_ids = unordered_events::table
        .left_join(events::table.on(of_id))
        .filter(unordered_events::entry.ge(start))
        .filter(unordered_events::entry.lt(end))
        .filter(events::entry.nullable().is_null())
        .select(unordered_events::id)
        .limit(limit)
        .load::<Vec<u8>>(&mut session.connection)?;
    let of_time = events::entry
        .eq(event_times::entry)
        .and(events::position.eq(event_times::position));
    let misleading_times = event_times::table
        .left_join(events::table.on(of_time))
        .filter(event_times::entry.ge(start))
        .filter(event_times::entry.lt(end))
        .filter(events::entry.nullable().is_null())
        .select(event_times::entry)
        .limit(limit)
        .load::<i64>(&mut session.connection)?;
    let stray = |(id, entry)| StrayEvent {
        id,
        seq: Some(ledger_and_seq(entry).1),
    };
    let misleading_ids = misleading_ids.into_iter().map(|id| StrayEvent { id, seq: None });
    let misleading_times = misleading_times.iter().map(|_| StrayEvent {
        id: Vec::new(),
        seq: None,
    });
    let strays = beyond.into_iter().map(stray);
    Ok(strays.chain(misleading_ids).chain(misleading_times).collect())
}
