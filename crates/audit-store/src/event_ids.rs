//! From an event's id to its place in the log, on SQLite.
//!
//! Ids grow along the log, so nothing is written for them: an id is looked for between the ends of the log. Out of that
//! order are only claimed events, which keep the ids that they were given when they were sent. Those are listed, each with
//! the id that the log had reached, which takes the place of their own in the search.

use crate::append::LedgerId;
use crate::entry::{SEQ_END, entry};
use crate::error::Result;
use crate::schema::sqlite::{events, unordered_events};
use audit_domain::EventId;
use diesel::prelude::*;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How far apart the events are that searches remember, so that a search asks the database eight or nine times, however many
/// events there are.
const WAYPOINT_ENTRIES: i64 = 256;
/// Events that are remembered, at most: some 40 bytes each.
const WAYPOINTS_MAX: usize = 1 << 16;

/// What ids searches have found reached where they come by often, by entry.
#[derive(Debug, Default)]
pub(crate) struct Waypoints(Mutex<HashMap<i64, [u8; 16]>>);

impl Waypoints {
    /// The lock is never held while anything can panic, so a poisoned one is as good as new.
    fn lock(&self) -> MutexGuard<'_, HashMap<i64, [u8; 16]>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, entry: i64) -> Option<[u8; 16]> {
        self.lock().get(&entry).copied()
    }

    fn put(&self, entry: i64, reached: &[u8]) {
        let Ok(reached) = reached.try_into() else {
            return;
        };
        let mut waypoints = self.lock();
        if waypoints.len() >= WAYPOINTS_MAX {
            waypoints.clear();
        }
        waypoints.insert(entry, reached);
    }
}

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

/// What [`Probe::read`] takes of the events of a range of entries.
#[diesel::dsl::auto_type]
fn probes(start: i64, end: i64) -> _ {
    events::table
        .left_join(unordered_events::table.on(unordered_events::entry.eq(events::entry)))
        .filter(events::entry.ge(start))
        .filter(events::entry.lt(end))
        .select((events::entry, events::id, unordered_events::after_id.nullable()))
}

/// The first event of a range of entries.
fn first_of(connection: &mut SqliteConnection, entries: &Range<i64>) -> Result<Option<Probe>> {
    let first = probes(entries.start, entries.end).order(events::entry);
    let row: Option<ProbeRow> = first.get_result(connection).optional()?;
    Ok(row.map(Probe::read))
}

/// The last event of a range of entries.
fn last_of(connection: &mut SqliteConnection, entries: &Range<i64>) -> Result<Option<Probe>> {
    let last = probes(entries.start, entries.end).order(events::entry.desc());
    let row: Option<ProbeRow> = last.get_result(connection).optional()?;
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
    waypoints: &Waypoints,
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
    if listed.is_some() {
        return Ok(listed);
    }
    let Some(last) = last_of(connection, &ledger)? else {
        return Ok(None);
    };
    let entries = ledger.start..last.entry + 1;
    // What is remembered may be of a transaction that was undone. It can hide an event, and not make one up.
    match search(connection, entries.clone(), &id, Some(waypoints))? {
        None => search(connection, entries, &id, None),
        found => Ok(found),
    }
}

/// Looks for an id among those that grow: always in the middle of where it can be.
fn search(
    connection: &mut SqliteConnection,
    mut entries: Range<i64>,
    id: &[u8; 16],
    waypoints: Option<&Waypoints>,
) -> Result<Option<i64>> {
    while !entries.is_empty() {
        let mut middle = entries.start + (entries.end - entries.start) / 2;
        let waypoint = waypoints.filter(|_| entries.end - entries.start > 2 * WAYPOINT_ENTRIES);
        if let Some(waypoints) = waypoint {
            middle -= middle % WAYPOINT_ENTRIES;
            if let Some(reached) = waypoints.get(middle) {
                match reached.cmp(id) {
                    Ordering::Less => entries.start = middle + 1,
                    Ordering::Equal => entries.end = middle + 1,
                    Ordering::Greater => entries.end = middle,
                }
                continue;
            }
        }
        let Some(probe) = first_of(connection, &(middle..entries.end))? else {
            entries.end = middle;
            continue;
        };
        if let Some(waypoints) = waypoint.filter(|_| probe.entry == middle) {
            waypoints.put(middle, &probe.reached);
        }
        match probe.reached.as_slice().cmp(id) {
            _ if probe.id == id => return Ok(Some(probe.entry)),
            Ordering::Less => entries.start = probe.entry + 1,
            // Of events that were claimed behind it, the id is before them.
            Ordering::Equal | Ordering::Greater => entries.end = middle,
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use diesel::connection::SimpleConnection;

    const EVENTS: u16 = 2_000;

    fn id(number: u16) -> EventId {
        let mut bytes = [0; 16];
        bytes[..2].copy_from_slice(&number.to_be_bytes());
        EventId::from_bytes(bytes)
    }

    /// A ledger whose events have every other id.
    fn ledger() -> SqliteConnection {
        let mut connection = SqliteConnection::establish(":memory:").unwrap();
        connection
            .batch_execute(
                "CREATE TABLE events (entry INTEGER PRIMARY KEY, id BLOB NOT NULL);
                 CREATE TABLE unordered_events (entry INTEGER PRIMARY KEY, id BLOB NOT NULL, after_id BLOB NOT NULL)",
            )
            .unwrap();
        for seq in 0..EVENTS {
            diesel::insert_into(events::table)
                .values((
                    events::entry.eq(entry(LedgerId(3), i64::from(seq))),
                    events::id.eq(id(seq * 2).to_bytes().as_slice()),
                ))
                .execute(&mut connection)
                .unwrap();
        }
        connection
    }

    fn assert_found(connection: &mut SqliteConnection, waypoints: &Waypoints) {
        for number in 0..=EVENTS * 2 {
            let is_there = number % 2 == 0 && number < EVENTS * 2;
            let expected = is_there.then(|| entry(LedgerId(3), i64::from(number / 2)));
            assert_eq!(
                entry_of(connection, LedgerId(3), id(number), waypoints).unwrap(),
                expected,
                "{number}"
            );
        }
    }

    #[test]
    fn what_searches_remember_makes_them_shorter_and_not_wrong() {
        let (mut connection, waypoints) = (ledger(), Waypoints::default());
        assert_found(&mut connection, &waypoints);
        let remembered = waypoints.lock().len();
        assert!((3..=EVENTS as usize / 256).contains(&remembered), "{remembered}");
        // As transactions that were undone may have left it: ids before and behind those that are there.
        for (offset, number) in [
            (256, u16::MAX),
            (512, 0),
            (768, 1_537),
            (1_024, 3),
            (1_536, 3_073),
        ] {
            waypoints.put(entry(LedgerId(3), offset), &id(number).to_bytes());
        }
        assert_found(&mut connection, &waypoints);
    }
}
