//! Deleting and erasing events on SQLite, with everything that has something of them.

use super::SqliteSession;
use super::entry::{entry, ledger_and_seq};
use super::rows::{NO_KEY, months_of};
use super::schema::{event_keys, event_times, events, removed_rows, unordered_events};
use crate::error::Result;
use crate::ids::LedgerId;
use crate::ledgers::head::month_of;
use crate::removals::{ErasedRow, KeptColumns};
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
