//! Deleting and erasing events on PostgreSQL.

use super::PostgresSession;
use super::months::months_of;
use super::schema::{events, removed_rows};
use crate::error::Result;
use crate::ids::LedgerId;
use crate::ledgers::head::month_of;
use crate::removals::{ErasedRow, KeptColumns};
use crate::row_code::RowCodes;
use crate::search::merging::TO_REFRESH;
use audit_domain::{LogName, Month};
use diesel::dsl::{exists, select};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Binary, Integer, Text};
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
