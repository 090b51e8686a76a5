//! The senders of events, on PostgreSQL.

use super::PostgresSession;
use super::schema::events;
use crate::append::senders::SenderId;
use crate::error::Result;
use crate::ids::LedgerId;
use diesel::prelude::*;
use std::collections::HashMap;
use std::ops::Range;

/// The senders of the events at these positions that have one.
pub(crate) fn of_events(
    session: &mut PostgresSession,
    ledger_id: LedgerId,
    seqs: Range<i64>,
) -> Result<Vec<(i64, SenderId)>> {
    let rows: Vec<(i64, Option<i64>)> = events::table
        .filter(events::ledger_id.eq(ledger_id.0))
        .filter(events::seq.ge(seqs.start))
        .filter(events::seq.lt(seqs.end))
        .order(events::seq)
        .select((events::seq, events::sender))
        .load(&mut session.connection)?;
    let sent = rows
        .into_iter()
        .filter_map(|(seq, sender)| Some((seq, SenderId(sender?))));
    Ok(sent.collect())
}

/// The texts of the events at these positions.
pub(crate) fn texts(
    session: &mut PostgresSession,
    ledger_id: LedgerId,
    seqs: &[i64],
) -> Result<HashMap<i64, String>> {
    let rows: Vec<(i64, String)> = events::table
        .filter(events::ledger_id.eq(ledger_id.0))
        .filter(events::seq.eq_any(seqs))
        .select((events::seq, events::body))
        .load(&mut session.connection)?;
    Ok(rows.into_iter().collect())
}
