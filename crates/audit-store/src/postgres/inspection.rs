//! The stored rows on PostgreSQL. An event is one row, and the order of the log its primary key. They are read without pruning
//! partitions, so that an event in the partition of another month is found.

use super::PostgresSession;
use super::months::months_of;
use super::schema::events;
use crate::error::Result;
use crate::ids::LedgerId;
use crate::inspection::{StoredRow, StrayEvent};
use crate::ledgers::head::month_of;
use crate::schema::ledgers;
use audit_domain::Timestamp;
use diesel::prelude::*;
use std::collections::BTreeSet;

type Row = (
    i64,
    i32,
    Vec<u8>,
    (Vec<u8>, Vec<u8>),
    String,
    Option<Vec<u8>>,
    Option<Vec<u8>>,
    (bool, Option<i64>, Vec<u8>),
    i64,
);

pub(crate) fn stored_rows(
    session: &mut PostgresSession,
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
            events::month,
            events::id,
            (events::content_hash, events::content_salt),
            events::body,
            events::idempotency_hash,
            events::sent_digest,
            (events::redacted, events::sender, events::row_code),
            events::occurred_at,
        ))
        .load::<Row>(&mut session.connection)?;
    // Reads by `seq` and by id prune partitions by the month.
    let months = months_of(&mut session.connection, &BTreeSet::from([ledger_id]))?;
    let months = months.get(&ledger_id).map_or(&[][..], Vec::as_slice);
    let read = |row: Row| {
        let (
            seq,
            month,
            id,
            (content_hash, content_salt),
            body,
            idempotency_hash,
            sent_digest,
            coded,
            occurred_at,
        ) = row;
        let (redacted, sender, row_code) = coded;
        let listed = month_of(months, seq);
        StoredRow {
            seq,
            id,
            content_hash,
            content_salt,
            body,
            idempotency_hash,
            sent_digest,
            redacted,
            sender,
            row_code,
            month: listed,
            inconsistent: (listed.number() != month).then_some("events.month"),
            time_position: occurred_at,
        }
    };
    Ok(rows.into_iter().map(read).collect())
}

/// Whether an event of this time is found at this position: `occurred_at` in microseconds.
#[expect(clippy::unnecessary_wraps, reason = "SQLite's reads the database")]
pub(crate) fn is_at_time(_: &mut PostgresSession, position: i64, occurred_at: Timestamp) -> Result<bool> {
    Ok(position == occurred_at.as_micros())
}

/// Stray events are found in an index, which costs less than counting.
#[expect(clippy::unnecessary_wraps, reason = "SQLite's reads the database")]
pub(crate) fn has_no_strays(_: &mut PostgresSession) -> Result<bool> {
    Ok(false)
}

pub(crate) fn stray_events(
    session: &mut PostgresSession,
    ledger_id: LedgerId,
    limit: i64,
) -> Result<Vec<StrayEvent>> {
    let mut strays: Vec<(Vec<u8>, i64)> = events::table
        .filter(events::ledger_id.eq(ledger_id.0))
        .filter(events::seq.lt(0))
        .select((events::id, events::seq))
        .order(events::seq)
        .limit(limit)
        .load(&mut session.connection)?;
    // One statement: events that are stored meanwhile are below the size that it sees.
    strays.extend(
        events::table
            .inner_join(ledgers::table.on(ledgers::id.eq(events::ledger_id)))
            .filter(events::ledger_id.eq(ledger_id.0))
            .filter(events::seq.ge(ledgers::size))
            .select((events::id, events::seq))
            .order(events::seq)
            .limit(limit)
            .load::<(Vec<u8>, i64)>(&mut session.connection)?,
    );
    let stray = |(id, seq)| StrayEvent { id, seq: Some(seq) };
    Ok(strays.into_iter().map(stray).collect())
}
