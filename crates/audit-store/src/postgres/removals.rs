//! Deleting events on PostgreSQL.

use super::PostgresSession;
use super::months::months_of;
use super::schema::removed_rows;
use crate::error::Result;
use crate::ids::LedgerId;
use crate::ledgers::head::month_of;
use audit_domain::Month;
use diesel::dsl::{exists, select};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Integer};
use std::collections::BTreeSet;
use std::ops::Range;

/// [`crate::Writer::delete_events`].
pub(crate) fn delete_events(
    session: &mut PostgresSession,
    ledger_id: LedgerId,
    seqs: &[i64],
) -> Result<Option<usize>> {
    let connection = &mut session.connection;
    let months = months_of(connection, &BTreeSet::from([ledger_id]))?;
    let months = months.get(&ledger_id).map_or(&[][..], Vec::as_slice);
    let months: BTreeSet<i32> = seqs.iter().map(|seq| month_of(months, *seq).number()).collect();
    let months: Vec<i32> = months.into_iter().collect();
    if !hold_months(connection, &months)? {
        return Ok(None);
    }
    let delete = "WITH removed AS ( \
             DELETE FROM events WHERE ledger_id = $1 AND seq = ANY($2) AND month = ANY($3) \
             RETURNING month, occurred_at, id \
         ) INSERT INTO removed_rows (group_id, month, occurred_at, id) \
         SELECT (SELECT group_id FROM ledgers WHERE ledgers.id = $1), month, occurred_at, id FROM removed \
         ON CONFLICT DO NOTHING";
    let deleted = diesel::sql_query(delete)
        .bind::<BigInt, _>(ledger_id.0)
        .bind::<Array<BigInt>, _>(seqs)
        .bind::<Array<Integer>, _>(&months)
        .execute(connection)?;
    Ok(Some(deleted))
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
