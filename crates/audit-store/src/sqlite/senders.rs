//! The senders of events, on SQLite.

use super::SqliteSession;
use super::entry::{entry, ledger_and_seq};
use super::schema::events;
use crate::append::senders::SenderId;
use crate::error::Result;
use crate::ids::LedgerId;
use diesel::prelude::*;
use std::collections::HashMap;
use std::ops::Range;

/// The senders of the events at these positions that have one.
pub(crate) fn of_events(
    session: &mut SqliteSession,
    ledger_id: LedgerId,
    seqs: Range<i64>,
) -> Result<Vec<(i64, SenderId)>> {
    let rows: Vec<(i64, Option<i64>)> = events::table
        .filter(events::entry.ge(entry(ledger_id, seqs.start)))
        .filter(events::entry.lt(entry(ledger_id, seqs.end)))
        .order(events::entry)
        .select((events::entry, events::sender))
        .load(&mut session.connection)?;
    let sent = rows
        .into_iter()
        .filter_map(|(entry, sender)| Some((ledger_and_seq(entry).1, SenderId(sender?))));
    Ok(sent.collect())
}

/// The texts of the events at these positions.
pub(crate) fn texts(
    session: &mut SqliteSession,
    ledger_id: LedgerId,
    seqs: &[i64],
) -> Result<HashMap<i64, String>> {
    let rows: Vec<(i64, String)> = events::table
        .filter(events::entry.eq_any(seqs.iter().map(|seq| entry(ledger_id, *seq))))
        .select((events::entry, events::body))
        .load(&mut session.connection)?;
    Ok(rows
        .into_iter()
        .map(|(entry, body)| (ledger_and_seq(entry).1, body))
        .collect())
}
