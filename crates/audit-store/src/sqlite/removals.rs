//! Deleting and erasing events on SQLite, with everything that has something of them.

use super::SqliteSession;
use super::append::free_position;
use super::entry::{entry, ledger_and_seq};
use super::event_ids::reached_before;
use super::index::backlog::{self, Run};
use super::index::rebuild;
use super::rows::{NO_KEY, first_position, months_of, position_after, position_of};
use super::schema::{event_keys, event_times, events, removed_rows, unordered_events};
use super::statements::{InsertEvent, InsertTime};
use crate::error::Result;
use crate::ids::LedgerId;
use crate::ledgers::head::month_of;
use crate::removals::{ErasedRow, KeptColumns, RestoredRow};
use crate::row_code::RowCodes;
use crate::search::merging::TO_REFRESH;
use audit_domain::{LogName, Month};
use diesel::dsl::{exists, select};
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use std::ops::Range;

/// [`crate::Writer::delete_events`]. Never waits: this database has one writer.
pub(crate) fn delete_events(
    session: &mut SqliteSession,
    ledger_id: LedgerId,
    seqs: &[i64],
) -> Result<Option<usize>> {
    let connection = &mut session.connection;
    let months = months_of(connection, ledger_id)?;
    let mut deleted = 0;
    for run in seqs.chunk_by(|one, next| one + 1 == *next) {
        let (Some(first), Some(last)) = (run.first(), run.last()) else {
            continue;
        };
        let (start, end) = (entry(ledger_id, *first), entry(ledger_id, last + 1));
        let rows: Vec<(i64, i64)> = events::table
            .filter(events::entry.ge(start))
            .filter(events::entry.lt(end))
            .select((events::entry, events::position))
            .load(connection)?;
        for (entry, position) in &rows {
            let time = event_times::table
                .find(position)
                .filter(event_times::entry.eq(entry));
            diesel::delete(time).execute(connection)?;
            diesel::replace_into(removed_rows::table)
                .values((
                    removed_rows::position.eq(position),
                    removed_rows::month.eq(month_of(&months, ledger_and_seq(*entry).1).number()),
                ))
                .execute(connection)?;
        }
        let of_run = unordered_events::table
            .filter(unordered_events::entry.ge(start))
            .filter(unordered_events::entry.lt(end));
        diesel::delete(of_run).execute(connection)?;
        let of_run = events::table
            .filter(events::entry.ge(start))
            .filter(events::entry.lt(end));
        deleted += diesel::delete(of_run).execute(connection)?;
    }
    forget_keys(connection, ledger_id, seqs)?;
    Ok(Some(deleted))
}

/// [`crate::Writer::erase_rows`]. Never waits, as [`delete_events`].
pub(crate) fn erase_rows(
    session: &mut SqliteSession,
    ledger_id: LedgerId,
    log: &LogName,
    rows: &[ErasedRow],
    codes: &RowCodes,
) -> Result<Option<usize>> {
    let connection = &mut session.connection;
    let months = months_of(connection, ledger_id)?;
    let (mut erased, mut seqs) = (0, Vec::with_capacity(rows.len()));
    for row in rows {
        let seq = row.seq.cast_signed();
        let stored = || events::table.find(entry(ledger_id, seq));
        let kept = (events::id, events::content_hash, events::redacted);
        let found: Option<(i64, KeptColumns)> = stored()
            .select((events::position, kept))
            .get_result(connection)
            .optional()?;
        seqs.push(seq);
        let Some((position, kept)) = found else {
            continue;
        };
        let month = month_of(&months, seq);
        let code = row.code(log, month, &kept, codes)?;
        erased += diesel::update(stored())
            .set((
                events::body.eq(&row.body),
                events::content_salt.eq(row.salt.to_bytes()),
                events::sent_digest.eq(None::<Vec<u8>>),
                events::sender.eq(None::<i64>),
                events::row_code.eq(code.as_slice()),
            ))
            .execute(connection)?;
        diesel::replace_into(removed_rows::table)
            .values((
                removed_rows::position.eq(position),
                removed_rows::month.eq(month.number()),
                removed_rows::fresh.eq(TO_REFRESH),
            ))
            .execute(connection)?;
    }
    forget_keys(connection, ledger_id, &seqs)?;
    Ok(Some(erased))
}

/// [`crate::Writer::restore_events`]. A rebuild would index again what it meets, so it is not written meanwhile.
pub(crate) fn restore_events(
    session: &mut SqliteSession,
    ledger_id: LedgerId,
    log: &LogName,
    rows: &[RestoredRow],
    codes: &RowCodes,
) -> Result<Option<usize>> {
    let connection = &mut session.connection;
    if rebuild::reached(connection)? != rebuild::COMPLETE {
        return Ok(None);
    }
    let months = months_of(connection, ledger_id)?;
    let mut runs: Vec<Run> = Vec::new();
    for row in rows {
        let (seq, id) = (row.seq(), row.id.to_bytes());
        let own = entry(ledger_id, seq);
        if position_of(connection, own)?.is_some() {
            continue;
        }
        let month = month_of(&months, seq);
        let position = restored_position(connection, ledger_id, own, row.occurred_at.as_millis())?;
        let insert = InsertEvent {
            entry: own,
            position,
            id: &id,
            content_hash: row.content_hash.as_bytes(),
            content_salt: &row.left.salt.to_bytes(),
            sent_digest: None,
            redacted: row.redacted,
            sender: None,
            row_code: &row.code(log, month, codes)?,
            body: &row.left.body,
        };
        let reached = greatest_id(connection, ledger_id, row)?;
        insert.execute(connection)?;
        InsertTime { position, entry: own }.execute(connection)?;
        if reached != id {
            diesel::insert_into(unordered_events::table)
                .values((
                    unordered_events::entry.eq(own),
                    unordered_events::id.eq(id.as_slice()),
                    unordered_events::after_id.eq(reached),
                ))
                .execute(connection)?;
        }
        match runs.last_mut() {
            Some(run) if run.first_seq + run.events == seq && run.month == month => run.events += 1,
            _ => runs.push(Run {
                ledger_id,
                first_seq: seq,
                events: 1,
                month,
            }),
        }
    }
    let mut restored = 0;
    for of_month in runs.chunk_by(|one, next| one.month == next.month) {
        let events: i64 = of_month.iter().map(|run| run.events).sum();
        let entry = backlog::add_stored(connection, of_month.iter().copied())?;
        session.memory.appends.backlog.add(entry, events as usize);
        restored += events as usize;
    }
    Ok(Some(restored))
}

/// The greatest id up to an event that is put back, as a look-up by id compares it (`event_ids.rs`): its own, or one before it. An
/// unordered event behind it has that as well.
fn greatest_id(connection: &mut SqliteConnection, ledger_id: LedgerId, row: &RestoredRow) -> Result<Vec<u8>> {
    let following: Option<Vec<u8>> = unordered_events::table
        .find(entry(ledger_id, row.seq() + 1))
        .select(unordered_events::after_id)
        .get_result(connection)
        .optional()?;
    if let Some(reached) = following {
        return Ok(reached);
    }
    let before = reached_before(connection, ledger_id, row.seq())?.map(|(_, reached)| reached);
    let known = row.after_id.map(|id| id.to_bytes().to_vec());
    let own = row.id.to_bytes().to_vec();
    Ok(before.into_iter().chain(known).fold(own, Vec::max))
}

/// A position for an event that is put back: behind the events before it in the log of the same millisecond, if that is free, or else the
/// next free one.
fn restored_position(
    connection: &mut SqliteConnection,
    ledger_id: LedgerId,
    own: i64,
    millis: i64,
) -> Result<i64> {
    let first = first_position(millis);
    let before: Option<i64> = event_times::table
        .filter(event_times::position.ge(first))
        .filter(event_times::position.lt(position_after(first)))
        .filter(event_times::entry.ge(entry(ledger_id, 0)))
        .filter(event_times::entry.lt(own))
        .order(event_times::position.desc())
        .select(event_times::position)
        .get_result(connection)
        .optional()?;
    let next = before.map_or(first, |before| before + 1);
    let is_used = exists(event_times::table.find(next)).or(exists(removed_rows::table.find(next)));
    let is_free = next < position_after(first) && !select(is_used).get_result::<bool>(connection)?;
    match is_free {
        true => Ok(next),
        false => free_position(connection, first, true),
    }
}

/// Writes [`NO_KEY`] in place of the keys of these events, which ascend. A row without a key is deleted.
fn forget_keys(connection: &mut SqliteConnection, ledger_id: LedgerId, seqs: &[i64]) -> Result<()> {
    let mut rest = seqs;
    while let Some(last) = rest.last() {
        let commit: Option<(i64, Vec<u8>)> = event_keys::table
            .filter(event_keys::first_entry.ge(entry(ledger_id, 0)))
            .filter(event_keys::first_entry.le(entry(ledger_id, *last)))
            .order(event_keys::first_entry.desc())
            .select((event_keys::first_entry, event_keys::hashes))
            .get_result(connection)
            .optional()?;
        let Some((first_entry, mut hashes)) = commit else {
            break;
        };
        let first = ledger_and_seq(first_entry).1;
        let (before, own) = rest.split_at(rest.partition_point(|seq| *seq < first));
        let keys = hashes.as_chunks_mut::<{ NO_KEY.len() }>().0;
        for seq in own {
            let index = usize::try_from(seq - first).unwrap_or(usize::MAX);
            if let Some(key) = keys.get_mut(index) {
                *key = NO_KEY;
            }
        }
        let has_none = keys.iter().all(|key| *key == NO_KEY);
        let row = event_keys::table.find(first_entry);
        match has_none {
            true => diesel::delete(row).execute(connection)?,
            false => diesel::update(row)
                .set(event_keys::hashes.eq(hashes))
                .execute(connection)?,
        };
        rest = before;
    }
    Ok(())
}

/// [`crate::Reader::has_removed_rows`].
pub(crate) fn has_removed_rows(session: &mut SqliteSession, months: Range<Month>) -> Result<bool> {
    let rows = removed_rows::table
        .filter(removed_rows::month.ge(months.start.number()))
        .filter(removed_rows::month.lt(months.end.number()));
    Ok(select(exists(rows)).get_result(&mut session.connection)?)
}

/// [`crate::Writer::delete_set_aside_of`].
pub(crate) fn delete_set_aside_of(
    session: &mut SqliteSession,
    ledger_id: LedgerId,
    seqs: Range<i64>,
    limit: i64,
) -> Result<usize> {
    let delete = "DELETE FROM destination_set_aside WHERE (destination_id, run, position) IN ( \
             SELECT destination_id, run, position FROM destination_set_aside AS found \
             WHERE destination_id IN (SELECT destination_id FROM destination_runs WHERE ledger_id = ?) \
                 AND seq >= ? AND seq < ? \
                 AND NOT EXISTS (SELECT 1 FROM events WHERE entry = ? + found.seq) LIMIT ?)";
    Ok(diesel::sql_query(delete)
        .bind::<BigInt, _>(ledger_id.0)
        .bind::<BigInt, _>(seqs.start)
        .bind::<BigInt, _>(seqs.end)
        .bind::<BigInt, _>(entry(ledger_id, 0))
        .bind::<BigInt, _>(limit)
        .execute(&mut session.connection)?)
}
