//! On SQLite an event stands in three tables: the events by time, and two orders that lead to them.

use super::{Place, StoredRow, StrayEvent};
use crate::append::LedgerId;
use crate::error::Result;
use crate::query::sqlite::{first_position, position_after};
use crate::schema::ledgers;
use crate::schema::sqlite::{event_ids, event_order, events};
use audit_domain::Timestamp;
use diesel::dsl::{count_star, exists, select, sql};
use diesel::prelude::*;
use diesel::sql_types::BigInt;

type Row = (i64, i64, i64, i64, Vec<u8>, Vec<u8>, String, Option<i64>);

pub(crate) fn stored_rows(
    connection: &mut SqliteConnection,
    ledger_id: LedgerId,
    start: i64,
    limit: i64,
) -> Result<Vec<StoredRow>> {
    let by_id = event_ids::ledger_id
        .eq(event_order::ledger_id)
        .and(event_ids::id.eq(events::id));
    let rows = event_order::table
        .inner_join(events::table.on(events::position.eq(event_order::position)))
        .left_join(event_ids::table.on(by_id))
        .filter(event_order::ledger_id.eq(ledger_id.0))
        .filter(event_order::seq.ge(start))
        .order(event_order::seq)
        .limit(limit)
        .select((
            event_order::seq,
            events::ledger_id,
            events::seq,
            events::position,
            events::id,
            events::content_hash,
            events::body,
            event_ids::position.nullable(),
        ))
        .load::<Row>(connection)?;
    let read = |row: Row| {
        let (seq, own_ledger_id, own_seq, position, id, content_hash, body, position_by_id) = row;
        let misfiled = if own_ledger_id != ledger_id.0 {
            Some("events.ledger_id")
        } else if own_seq != seq {
            Some("events.seq")
        } else if position_by_id != Some(position) {
            Some("event_ids.position")
        } else {
            None
        };
        StoredRow {
            seq,
            id,
            content_hash,
            body,
            misfiled,
            place: Place::Position(position),
        }
    };
    Ok(rows.into_iter().map(read).collect())
}

/// Whether an event of this time belongs at this row id: in its millisecond, or, where that is full, behind it.
pub(crate) fn is_place_of(
    connection: &mut SqliteConnection,
    position: i64,
    occurred_at: Timestamp,
) -> Result<bool> {
    let first = first_position(occurred_at.as_millis());
    let end = position_after(first);
    if (first..end).contains(&position) {
        return Ok(true);
    }
    if position < first {
        return Ok(false);
    }
    Ok(select(exists(events::table.find(end - 1))).get_result(connection)?)
}

pub(crate) fn are_all_in_place(connection: &mut SqliteConnection) -> Result<bool> {
    // One statement, so that all are counted at one moment. A sum of integers would fail on what somebody wrote there.
    let sizes = sql::<BigInt>("(SELECT CAST(total(size) AS INTEGER) FROM ledgers)");
    let counts: (Option<i64>, Option<i64>, Option<i64>, i64) = select((
        events::table.select(count_star()).single_value(),
        event_order::table.select(count_star()).single_value(),
        event_ids::table.select(count_star()).single_value(),
        sizes,
    ))
    .get_result(connection)?;
    let (stored, in_order, by_id, sizes) = counts;
    Ok([stored, in_order, by_id] == [Some(sizes); 3])
}

pub(crate) fn stray_events(
    connection: &mut SqliteConnection,
    ledger_id: LedgerId,
    limit: i64,
) -> Result<Vec<StrayEvent>> {
    let in_order = event_order::ledger_id
        .eq(events::ledger_id)
        .and(event_order::seq.eq(events::seq))
        .and(event_order::position.eq(events::position));
    // One statement: what is stored meanwhile is in its place.
    let unordered = events::table
        .inner_join(ledgers::table.on(ledgers::id.eq(events::ledger_id)))
        .left_join(event_order::table.on(in_order))
        .filter(events::ledger_id.eq(ledger_id.0))
        .filter(
            event_order::position
                .nullable()
                .is_null()
                .or(events::seq.lt(0))
                .or(events::seq.ge(ledgers::size)),
        )
        .select((events::id, events::seq))
        .limit(limit)
        .load::<(Vec<u8>, i64)>(connection)?;
    let of_event = events::position
        .eq(event_ids::position)
        .and(events::ledger_id.eq(event_ids::ledger_id))
        .and(events::id.eq(event_ids::id));
    let misleading = event_ids::table
        .left_join(events::table.on(of_event))
        .filter(event_ids::ledger_id.eq(ledger_id.0))
        .filter(events::position.nullable().is_null())
        .select(event_ids::id)
        .limit(limit)
        .load::<Vec<u8>>(connection)?;
    let stray = |(id, seq)| StrayEvent { id, seq: Some(seq) };
    let misleading = misleading.into_iter().map(|id| StrayEvent { id, seq: None });
    Ok(unordered.into_iter().map(stray).chain(misleading).collect())
}
