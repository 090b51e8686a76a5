//! Deleting and erasing events on PostgreSQL.

use super::months::months_of;
use super::schema::{event_backlog, events, removed_rows};
use super::{PostgresSession, partitions};
use crate::error::Result;
use crate::ids::LedgerId;
use crate::ledgers::head::month_of;
use crate::removals::{ErasedRow, KeptColumns, RestoredRow};
use crate::row_code::RowCodes;
use crate::search::BACKLOG_EVENTS_MAX;
use crate::search::merging::TO_REFRESH;
use audit_domain::{LogName, Month};
use diesel::dsl::{exists, select};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Binary, Bool, Integer, Text};
use std::collections::BTreeSet;
use std::ops::Range;

/// [`crate::Writer::delete_events`].
pub(crate) fn delete_events(
    session: &mut PostgresSession,
    ledger_id: LedgerId,
    seqs: &[i64],
) -> Result<Option<usize>> {
    let connection = &mut session.connection;
    let Some(months) = held_months(connection, ledger_id, seqs)? else {
        return Ok(None);
    };
    let delete = "WITH removed AS ( \
             DELETE FROM events WHERE ledger_id = $1 AND seq = ANY($2) AND month = ANY($3) \
             RETURNING month, occurred_at, id \
         ) INSERT INTO removed_rows (group_id, month, occurred_at, id, ledger_id) \
         SELECT (SELECT group_id FROM ledgers WHERE ledgers.id = $1), month, occurred_at, id, $1 FROM removed \
         ORDER BY occurred_at, id ON CONFLICT (group_id, month, occurred_at, id) DO UPDATE SET fresh = NULL";
    let deleted = diesel::sql_query(delete)
        .bind::<BigInt, _>(ledger_id.0)
        .bind::<Array<BigInt>, _>(seqs)
        .bind::<Array<Integer>, _>(&months)
        .execute(connection)?;
    Ok(Some(deleted))
}

/// [`crate::Writer::erase_rows`]. The rows of `removed_rows` are written in their order, in which the indexer locks them.
pub(crate) fn erase_rows(
    session: &mut PostgresSession,
    ledger_id: LedgerId,
    log: &LogName,
    rows: &[ErasedRow],
    codes: &RowCodes,
) -> Result<Option<usize>> {
    let connection = &mut session.connection;
    let wanted: Vec<i64> = rows.iter().map(|row| row.seq.cast_signed()).collect();
    let Some(held) = held_months(connection, ledger_id, &wanted)? else {
        return Ok(None);
    };
    let kept = (events::id, events::content_hash, events::redacted);
    let found: Vec<(i64, i32, KeptColumns)> = events::table
        .filter(events::ledger_id.eq(ledger_id.0))
        .filter(events::seq.eq_any(&wanted))
        .filter(events::month.eq_any(&held))
        .select((events::seq, events::month, kept))
        .load(connection)?;
    let (mut seqs, mut months) = (Vec::new(), Vec::new());
    let (mut bodies, mut salts, mut written) = (Vec::new(), Vec::new(), Vec::new());
    for (seq, month, kept) in &found {
        let Some(row) = rows.iter().find(|row| row.seq.cast_signed() == *seq) else {
            continue;
        };
        let code = row.code(log, Month::from_number(*month), kept, codes)?;
        seqs.push(*seq);
        months.push(*month);
        bodies.push(row.body.as_str());
        salts.push(row.salt.to_bytes());
        written.push(code.to_vec());
    }
    let erase = format!(
        "WITH erased AS ( \
             UPDATE events SET body = left_over.body, content_salt = left_over.salt, row_code = left_over.code, sent_digest = NULL, \
                 idempotency_hash = NULL, sender = NULL \
             FROM unnest($2, $3, $4, $5, $6) AS left_over (seq, month, body, salt, code) \
             WHERE events.ledger_id = $1 AND events.seq = left_over.seq AND events.month = left_over.month \
             RETURNING events.month, events.occurred_at, events.id \
         ) INSERT INTO removed_rows (group_id, month, occurred_at, id, ledger_id, fresh) \
         SELECT (SELECT group_id FROM ledgers WHERE ledgers.id = $1), month, occurred_at, id, $1, {TO_REFRESH} FROM erased \
         ORDER BY occurred_at, id ON CONFLICT (group_id, month, occurred_at, id) DO UPDATE SET fresh = {TO_REFRESH}"
    );
    let erased = diesel::sql_query(erase)
        .bind::<BigInt, _>(ledger_id.0)
        .bind::<Array<BigInt>, _>(seqs)
        .bind::<Array<Integer>, _>(months)
        .bind::<Array<Text>, _>(bodies)
        .bind::<Array<Binary>, _>(salts)
        .bind::<Array<Binary>, _>(written)
        .execute(connection)?;
    Ok(Some(erased))
}

/// [`crate::Writer::restore_events`]. Partitions that were dropped are created again. A rebuild of the index has the positions in the
/// backlog, and may have read them already.
pub(crate) fn restore_events(
    session: &mut PostgresSession,
    ledger_id: LedgerId,
    log: &LogName,
    rows: &[RestoredRow],
    codes: &RowCodes,
) -> Result<Option<usize>> {
    #[derive(QueryableByName)]
    struct Restored {
        #[diesel(sql_type = BigInt)]
        seq: i64,
        #[diesel(sql_type = Integer)]
        month: i32,
    }
    #[derive(QueryableByName)]
    struct Unindexed {
        #[diesel(sql_type = BigInt)]
        events: i64,
    }
    let connection = &mut session.connection;
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else {
        return Ok(Some(0));
    };
    let waiting = event_backlog::table
        .filter(event_backlog::ledger_id.eq(ledger_id.0))
        .filter(event_backlog::first_seq.le(last.seq()))
        .filter(event_backlog::end_seq.gt(first.seq()));
    if select(exists(waiting)).get_result(connection)? {
        return Ok(None);
    }
    // A query of a much longer backlog does not search its tokens.
    let unindexed: Unindexed = diesel::sql_query(
        "SELECT coalesce(sum(end_seq - first_seq), 0)::bigint AS events FROM event_backlog WHERE ledger_id = $1",
    )
    .bind::<BigInt, _>(ledger_id.0)
    .get_result(connection)?;
    if unindexed.events > BACKLOG_EVENTS_MAX as i64 {
        return Ok(None);
    }
    let seqs: Vec<i64> = rows.iter().map(RestoredRow::seq).collect();
    let Some(held) = held_months(connection, ledger_id, &seqs)? else {
        return Ok(None);
    };
    for month in held {
        partitions::create_in(session, Month::from_number(month))?;
    }
    let connection = &mut session.connection;
    let months = months_of(connection, &BTreeSet::from([ledger_id]))?;
    let months = months.get(&ledger_id).map_or(&[][..], Vec::as_slice);
    let month = |row: &RestoredRow| month_of(months, row.seq());
    let written: Result<Vec<Vec<u8>>> = rows
        .iter()
        .map(|row| Ok(row.code(log, month(row), codes)?.to_vec()))
        .collect();
    let bytes = |of: fn(&RestoredRow) -> Vec<u8>| rows.iter().map(of).collect::<Vec<Vec<u8>>>();
    let restore = "WITH restored AS ( \
             INSERT INTO events (ledger_id, seq, month, id, occurred_at, content_hash, content_salt, redacted, row_code, body) \
             SELECT $1, * FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10) \
             ON CONFLICT (ledger_id, seq, month) DO NOTHING RETURNING seq, month \
         ) SELECT seq, month FROM restored ORDER BY seq";
    let restored: Vec<Restored> = diesel::sql_query(restore)
        .bind::<BigInt, _>(ledger_id.0)
        .bind::<Array<BigInt>, _>(&seqs)
        .bind::<Array<Integer>, _>(rows.iter().map(|row| month(row).number()).collect::<Vec<_>>())
        .bind::<Array<Binary>, _>(bytes(|row| row.id.to_bytes().to_vec()))
        .bind::<Array<BigInt>, _>(
            rows.iter()
                .map(|row| row.occurred_at.as_micros())
                .collect::<Vec<_>>(),
        )
        .bind::<Array<Binary>, _>(bytes(|row| row.content_hash.as_bytes().to_vec()))
        .bind::<Array<Binary>, _>(bytes(|row| row.left.salt.to_bytes()))
        .bind::<Array<Bool>, _>(rows.iter().map(|row| row.redacted).collect::<Vec<_>>())
        .bind::<Array<Binary>, _>(written?)
        .bind::<Array<Text>, _>(rows.iter().map(|row| row.left.body.as_str()).collect::<Vec<_>>())
        .load(connection)?;
    for run in restored.chunk_by(|one, next| one.seq + 1 == next.seq && one.month == next.month) {
        let (Some(first), Some(last)) = (run.first(), run.last()) else {
            continue;
        };
        diesel::sql_query(
            "INSERT INTO event_backlog (group_id, ledger_id, first_seq, end_seq, month) \
             SELECT group_id, id, $2, $3, $4 FROM ledgers WHERE id = $1",
        )
        .bind::<BigInt, _>(ledger_id.0)
        .bind::<BigInt, _>(first.seq)
        .bind::<BigInt, _>(last.seq + 1)
        .bind::<Integer, _>(first.month)
        .execute(connection)?;
    }
    Ok(Some(restored.len()))
}

/// The months of these positions, which [`hold_months`] keeps; `None` where one is written anew at the moment.
fn held_months(connection: &mut PgConnection, ledger_id: LedgerId, seqs: &[i64]) -> Result<Option<Vec<i32>>> {
    let months = months_of(connection, &BTreeSet::from([ledger_id]))?;
    let months = months.get(&ledger_id).map_or(&[][..], Vec::as_slice);
    let months: BTreeSet<i32> = seqs.iter().map(|seq| month_of(months, *seq).number()).collect();
    let months: Vec<i32> = months.into_iter().collect();
    Ok(hold_months(connection, &months)?.then_some(months))
}

/// Keeps these months from being written anew until the end of the transaction. Returns `false`, and does not wait, where one is at the
/// moment (`months.rs`).
fn hold_months(connection: &mut PgConnection, months: &[i32]) -> Result<bool> {
    #[derive(QueryableByName)]
    struct Held {
        #[diesel(sql_type = BigInt)]
        months: i64,
    }
    // Without its row a month could not be held: a node that begins to write it anew inserts the row first.
    diesel::sql_query(
        "INSERT INTO event_months (month, event_count, rewritten_at) SELECT month, 0, 0 FROM unnest($1) AS month \
         ON CONFLICT DO NOTHING",
    )
    .bind::<Array<Integer>, _>(months)
    .execute(connection)?;
    let held: Held = diesel::sql_query(
        "SELECT count(*) AS months FROM \
         (SELECT month FROM event_months WHERE month = ANY($1) FOR SHARE SKIP LOCKED) AS held",
    )
    .bind::<Array<Integer>, _>(months)
    .get_result(connection)?;
    Ok(held.months == months.len() as i64)
}

/// [`crate::Reader::has_removed_rows`].
pub(crate) fn has_removed_rows(session: &mut PostgresSession, months: Range<Month>) -> Result<bool> {
    let rows = removed_rows::table
        .filter(removed_rows::month.ge(months.start.number()))
        .filter(removed_rows::month.lt(months.end.number()));
    Ok(select(exists(rows)).get_result(&mut session.connection)?)
}

/// [`crate::Writer::delete_set_aside_of`].
pub(crate) fn delete_set_aside_of(
    session: &mut PostgresSession,
    ledger_id: LedgerId,
    seqs: Range<i64>,
    limit: i64,
) -> Result<usize> {
    let delete = "DELETE FROM destination_set_aside AS deleted \
         WHERE (deleted.destination_id, deleted.run, deleted.position) IN ( \
             SELECT found.destination_id, found.run, found.position FROM destination_set_aside AS found \
             WHERE found.destination_id IN (SELECT destination_id FROM destination_runs WHERE ledger_id = $1) \
                 AND seq >= $2 AND seq < $3 \
                 AND NOT EXISTS (SELECT FROM events WHERE events.ledger_id = $1 AND events.seq = found.seq) LIMIT $4)";
    Ok(diesel::sql_query(delete)
        .bind::<BigInt, _>(ledger_id.0)
        .bind::<BigInt, _>(seqs.start)
        .bind::<BigInt, _>(seqs.end)
        .bind::<BigInt, _>(limit)
        .execute(&mut session.connection)?)
}
