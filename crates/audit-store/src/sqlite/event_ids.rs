//! From an event's id to its entry.
//!
//! Ids increase along the log, so no index is written for them: a binary search over the log finds an id. Only claimed events
//! are out of order, because they keep the ids of their streams. `unordered_events` lists them, each with the greatest id
//! before it, which the search compares in place of the event's own.

use super::entry::{SEQ_END, entry};
use super::schema::{events, unordered_events};
use crate::error::Result;
use crate::ids::LedgerId;
use audit_domain::EventId;
use diesel::prelude::*;
use parking_lot::Mutex;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;

/// The distance between cached probes. A search then queries the database eight or nine times, whatever the number of events.
const PROBE_ENTRIES: i64 = 256;
/// Cached probes, at most: some 40 bytes each.
const PROBES_MAX: usize = 1 << 16;

/// Cached binary-search probes: entry → greatest id up to that entry.
#[derive(Debug, Default)]
pub(crate) struct IdProbes(Mutex<HashMap<i64, [u8; 16]>>);

impl IdProbes {
    fn get(&self, entry: i64) -> Option<[u8; 16]> {
        self.0.lock().get(&entry).copied()
    }

    fn put(&self, entry: i64, reached: &[u8]) {
        let Ok(reached) = reached.try_into() else {
            return;
        };
        let mut cached = self.0.lock();
        if cached.len() >= PROBES_MAX {
            cached.clear();
        }
        cached.insert(entry, reached);
    }
}

/// An event that a search compares.
struct Probe {
    entry: i64,
    /// 16 bytes, unless it was changed.
    id: Vec<u8>,
    /// The greatest id up to this entry: its own, or one before it.
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

/// The columns that [`Probe::read`] reads, for a range of entries.
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

/// The last entry of a ledger before a position, and the greatest id up to it; none at its start.
pub(crate) fn reached_before(
    connection: &mut SqliteConnection,
    ledger_id: LedgerId,
    seq: i64,
) -> Result<Option<(i64, Vec<u8>)>> {
    let before = last_of(connection, &(entry(ledger_id, 0)..entry(ledger_id, seq)))?;
    Ok(before.map(|probe| (probe.entry, probe.reached)))
}

/// The entry of the event with this id.
pub(crate) fn entry_of(
    connection: &mut SqliteConnection,
    ledger_id: LedgerId,
    id: EventId,
    cached: &IdProbes,
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
    // Cached probes may be from a transaction that was rolled back. They can hide an event, but not invent one.
    match search(connection, entries.clone(), &id, Some(cached))? {
        None => search(connection, entries, &id, None),
        found => Ok(found),
    }
}

/// Searches for an id among those that increase.
fn search(
    connection: &mut SqliteConnection,
    mut entries: Range<i64>,
    id: &[u8; 16],
    cached: Option<&IdProbes>,
) -> Result<Option<i64>> {
    while !entries.is_empty() {
        let mut middle = entries.start + (entries.end - entries.start) / 2;
        let cached_probe = cached.filter(|_| entries.end - entries.start > 2 * PROBE_ENTRIES);
        if let Some(cached) = cached_probe {
            middle -= middle % PROBE_ENTRIES;
            if let Some(reached) = cached.get(middle) {
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
        if let Some(cached) = cached_probe.filter(|_| probe.entry == middle) {
            cached.put(middle, &probe.reached);
        }
        match probe.reached.as_slice().cmp(id) {
            _ if probe.id == id => return Ok(Some(probe.entry)),
            Ordering::Less => entries.start = probe.entry + 1,
            // Where the ids are equal, this is a claimed event after the one with the id.
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

    fn assert_found(connection: &mut SqliteConnection, cached: &IdProbes) {
        for number in 0..=EVENTS * 2 {
            let is_there = number % 2 == 0 && number < EVENTS * 2;
            let expected = is_there.then(|| entry(LedgerId(3), i64::from(number / 2)));
            assert_eq!(
                entry_of(connection, LedgerId(3), id(number), cached).unwrap(),
                expected,
                "{number}"
            );
        }
    }

    #[test]
    fn cached_probes_shorten_a_search_and_keep_it_right() {
        let (mut connection, cached) = (ledger(), IdProbes::default());
        assert_found(&mut connection, &cached);
        let probes = cached.0.lock().len();
        assert!((3..=EVENTS as usize / 256).contains(&probes), "{probes}");
        // As rolled back transactions may leave them: ids below and above the stored ones.
        for (offset, number) in [
            (256, u16::MAX),
            (512, 0),
            (768, 1_537),
            (1_024, 3),
            (1_536, 3_073),
        ] {
            cached.put(entry(LedgerId(3), offset), &id(number).to_bytes());
        }
        assert_found(&mut connection, &cached);
    }
}
