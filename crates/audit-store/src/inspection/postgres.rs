//! On PostgreSQL an event is one row, and the order of the log its primary key.

use super::{Place, StoredRow, StrayEvent};
use crate::append::LedgerId;
use crate::error::Result;
use crate::schema::ledgers;
use crate::schema::postgres::events;
use diesel::prelude::*;

type Row = (i64, Vec<u8>, Vec<u8>, String, i64);

pub(crate) fn stored_rows(
    connection: &mut PgConnection,
    ledger_id: LedgerId,
    start: i64,
    limit: i64,
) -> Result<Vec<StoredRow>> {
    let rows = events::table
        .filter(events::ledger_id.eq(ledger_id.0))
        .filter(events::seq.ge(start))
        .order(events::seq)
        .limit(limit)
        .select((
            events::seq,
            events::id,
            events::content_hash,
            events::body,
            events::occurred_at,
        ))
        .load::<Row>(connection)?;
    let read = |(seq, id, content_hash, body, occurred_at): Row| StoredRow {
        seq,
        id,
        content_hash,
        body,
        misfiled: None,
        place: Place::Micros(occurred_at),
    };
    Ok(rows.into_iter().map(read).collect())
}

pub(crate) fn stray_events(
    connection: &mut PgConnection,
    ledger_id: LedgerId,
    limit: i64,
) -> Result<Vec<StrayEvent>> {
    let mut strays: Vec<(Vec<u8>, i64)> = events::table
        .filter(events::ledger_id.eq(ledger_id.0))
        .filter(events::seq.lt(0))
        .select((events::id, events::seq))
        .order(events::seq)
        .limit(limit)
        .load(connection)?;
    // One statement: what is stored meanwhile is below the size that it sees.
    strays.extend(
        events::table
            .inner_join(ledgers::table.on(ledgers::id.eq(events::ledger_id)))
            .filter(events::ledger_id.eq(ledger_id.0))
            .filter(events::seq.ge(ledgers::size))
            .select((events::id, events::seq))
            .order(events::seq)
            .limit(limit)
            .load::<(Vec<u8>, i64)>(connection)?,
    );
    let stray = |(id, seq)| StrayEvent { id, seq: Some(seq) };
    Ok(strays.into_iter().map(stray).collect())
}
