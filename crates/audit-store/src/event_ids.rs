//! From an event's id to its place in the log, on SQLite.
//!
//! Ids grow along the log, so nothing is written for them: an id is looked for between the ends of the log. Out of that
//! order are only claimed events, which keep the ids that they were given when they were sent. Those are listed, each with
//! the id that the log had reached, which takes the place of their own in the search.

use crate::append::LedgerId;
use crate::error::Result;
use crate::query::sqlite::{SEQ_END, entry};
use crate::schema::sqlite::{events, unordered_events};
use audit_domain::EventId;
use diesel::prelude::*;
use std::cmp::Ordering;
use std::ops::Range;

/// An event on the way of a search.
struct Probe {
    entry: i64,
    /// 16 bytes, if nobody changed it.
    id: Vec<u8>,
    /// The greatest id up to here: its own, or one before it.
    reached: Vec<u8>,
}

type ProbeRow = (i64, Vec<u8>, Option<Vec<u8>>);

impl Probe {
    fn read((entry, id, after_id): ProbeRow) -> Self {
        Self {
            entry,
            reached: after_id.unwrap_or_else(|| id.clone()),
            id,
        }
    }
}

/// The first event of a range of entries.
fn first_of(connection: &mut SqliteConnection, entries: &Range<i64>) -> Result<Option<Probe>> {
    let row: Option<ProbeRow> = events::table
        .left_join(unordered_events::table.on(unordered_events::entry.eq(events::entry)))
        .filter(events::entry.ge(entries.start))
        .filter(events::entry.lt(entries.end))
        .order(events::entry)
        .select((events::entry, events::id, unordered_events::after_id.nullable()))
        .get_result(connection)
        .optional()?;
    Ok(row.map(Probe::read))
}

/// The last event of a range of entries.
fn last_of(connection: &mut SqliteConnection, entries: &Range<i64>) -> Result<Option<Probe>> {
    let row: Option<ProbeRow> = events::table
        .left_join(unordered_events::table.on(unordered_events::entry.eq(events::entry)))
        .filter(events::entry.ge(entries.start))
        .filter(events::entry.lt(entries.end))
        .order(events::entry.desc())
        .select((events::entry, events::id, unordered_events::after_id.nullable()))
        .get_result(connection)
        .optional()?;
    Ok(row.map(Probe::read))
}

/// The greatest id before an event of a ledger; none at its start.
pub(crate) fn reached_before(
    connection: &mut SqliteConnection,
    ledger_id: LedgerId,
    seq: i64,
) -> Result<Option<Vec<u8>>> {
    let before = last_of(connection, &(entry(ledger_id, 0)..entry(ledger_id, seq)))?;
    Ok(before.map(|probe| probe.reached))
}

/// Where the event with this id is.
pub(crate) fn entry_of(
    connection: &mut SqliteConnection,
    ledger_id: LedgerId,
    id: EventId,
) -> Result<Option<i64>> {
    let id = id.to_bytes();
    let ledger = entry(ledger_id, 0)..entry(ledger_id, SEQ_END);
    let listed: Option<i64> = unordered_events::table
        .filter(unordered_events::id.eq(id.as_slice()))
        .filter(unordered_events::entry.ge(ledger.start))
        .filter(unordered_events::entry.lt(ledger.end))
        .select(unordered_events::entry)
        .get_result(connection)
        .optional()?;
    match listed {
        Some(entry) => Ok(Some(entry)),
        None => search(connection, ledger, &id),
    }
}

/// Looks for an id among those that grow.
fn search(connection: &mut SqliteConnection, ledger: Range<i64>, id: &[u8; 16]) -> Result<Option<i64>> {
    let (Some(first), Some(last)) = (first_of(connection, &ledger)?, last_of(connection, &ledger)?) else {
        return Ok(None);
    };
    for end in [&first, &last] {
        if end.id == id {
            return Ok(Some(end.entry));
        }
    }
    // It is at one of these entries, or nowhere. Before them a smaller id is reached, behind them none that is smaller.
    let mut entries = first.entry + 1..last.entry;
    let (mut below, mut above) = (number(&first.reached), number(&last.reached));
    // Where it would be if events came evenly; every other time the middle, which halves the rest however they came.
    let mut is_estimated = true;
    while !entries.is_empty() {
        let width = entries.end - entries.start;
        let offset = match is_estimated {
            true => share(width, below, number(id), above),
            false => width / 2,
        };
        is_estimated = !is_estimated;
        let middle = entries.start + offset;
        let Some(probe) = first_of(connection, &(middle..entries.end))? else {
            entries.end = middle;
            continue;
        };
        match probe.reached.as_slice().cmp(id) {
            _ if probe.id == id => return Ok(Some(probe.entry)),
            Ordering::Less => {
                entries.start = probe.entry + 1;
                below = number(&probe.reached);
            }
            // Of events that were claimed behind it, the id is before them.
            Ordering::Equal | Ordering::Greater => {
                entries.end = middle;
                above = number(&probe.reached);
            }
        }
    }
    Ok(None)
}

/// An id as a number.
fn number(id: &[u8]) -> u128 {
    let padded = id.iter().chain(std::iter::repeat(&0)).take(16);
    padded.fold(0, |number, byte| number << 8 | u128::from(*byte))
}

/// How far into a range of this width something is as `number` is between two others.
fn share(width: i64, below: u128, number: u128, above: u128) -> i64 {
    let (part, whole) = (number.saturating_sub(below), above.saturating_sub(below));
    let share = part as f64 / whole.max(1) as f64 * width as f64;
    (share as i64).clamp(0, width - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_a_range_is_within_it() {
        assert_eq!(share(100, 1_000, 1_500, 2_000), 50);
        assert_eq!(share(100, 0, u128::MAX, u128::MAX), 99);
        assert_eq!(share(1, 7, 7, 7), 0);
        // Out of order, as somebody may have made it.
        assert_eq!(share(100, 2_000, 1_500, 1_000), 0);
        assert_eq!(share(100, 1_000, 9_000, 2_000), 99);
    }

    #[test]
    fn an_id_of_another_length_has_a_number_too() {
        assert_eq!(number(&[1]), 1 << 120);
        assert_eq!(number(&[0xff; 20]), u128::MAX);
    }
}
