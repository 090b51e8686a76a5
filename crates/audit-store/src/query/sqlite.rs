//! Candidates on SQLite: positions out of the inverted index, which come in the order of the answer.

use super::{Candidates, LoggedEvent};
use crate::append::LedgerId;
use crate::append::sqlite::read_id;
use crate::connection::AnyConnection;
use crate::entry::{SEQ_END, entry, ledger_and_seq};
use crate::error::{Result, StoreError};
use crate::event_ids::entry_of;
use crate::index::sqlite::{self as index, tail};
use crate::index::{Ahead, IndexCache};
use crate::ledgers::{ledger_size, total_size};
use crate::rows::Rows;
use crate::schema::sqlite::{event_times, events};
use crate::tokens::ledger_token;
use audit_domain::{ContentHash, EventId, Position, StoredEvent, Timestamp};
use audit_index::Term;
use diesel::connection::DefaultLoadingMode;
use diesel::prelude::*;
use std::sync::Arc;

/// Bits of a position below the milliseconds: a million events can share one millisecond.
const PLACE_BITS: u32 = 20;

/// How often as many rows as are missing are walked through, before the index is asked instead.
const WALKED_CHUNKS_MAX: usize = 4;

/// The first position of a millisecond.
pub(crate) const fn first_position(millis: i64) -> i64 {
    millis << PLACE_BITS
}

/// The first position of the millisecond after that of `position`.
pub(crate) const fn position_after(position: i64) -> i64 {
    ((position >> PLACE_BITS) + 1) << PLACE_BITS
}

/// Walks backwards through the candidates.
#[derive(Debug)]
pub(crate) struct Scan {
    ledger_id: LedgerId,
    /// What the index is asked for; never empty.
    terms: Vec<Term>,
    /// Whether to walk through the rows themselves instead.
    walks_rows: bool,
    ahead: Ahead<i64>,
    index_cache: Arc<IndexCache>,
}

impl Scan {
    pub(crate) fn open(rows: &mut Rows<'_>, candidates: Candidates, after: Option<Position>) -> Result<Self> {
        let Candidates {
            ledger_id,
            mut terms,
            start,
            end,
        } = candidates;
        let connection = &mut *rows.connection;
        // A list of nearly all rows is slower than the rows. Where one ledger holds a quarter of them, walk the rows.
        let walks_rows =
            terms.is_empty() && ledger_size(connection, ledger_id)? >= total_size(connection)? / 4;
        if terms.is_empty() {
            terms.push(Term::is(ledger_token(ledger_id.0)));
        }
        // Events keep milliseconds: the first at or after `start` is in the millisecond that is not before it.
        let start = start.map_or(i64::MIN, |start| {
            first_position(-(-start.as_micros()).div_euclid(1_000))
        });
        let end = end.map_or(i64::MAX, |end| position_after(first_position(end.as_millis())));
        let mut scan = Self {
            ledger_id,
            terms,
            walks_rows,
            ahead: Ahead {
                range: start..end,
                tail: Vec::new(),
            },
            index_cache: Arc::clone(rows.index_cache),
        };
        let AnyConnection::Sqlite(sqlite) = connection else {
            return Ok(scan);
        };
        if let Some(after) = after {
            let position = match entry_of(sqlite, ledger_id, after.id, &scan.index_cache.waypoints)? {
                Some(entry) => position_of(sqlite, entry)?,
                None => None,
            };
            let place = position.unwrap_or(first_position(after.occurred_at.as_millis()));
            scan.ahead.range.end = end.min(place);
        }
        // Before the index is asked: what leaves the tail in between is found twice, and not missed.
        scan.ahead.tail = tail::positions(sqlite, &scan.terms, &scan.ahead.range, &scan.index_cache)?;
        Ok(scan)
    }

    pub(crate) fn next(
        &mut self,
        connection: &mut SqliteConnection,
        rows: usize,
    ) -> Result<Vec<StoredEvent>> {
        match self.walks_rows {
            true => self.walk_rows(connection, rows),
            false => self.ask_index(connection, rows),
        }
    }

    /// The next rows that the index has, and those of the tail.
    fn ask_index(&mut self, connection: &mut SqliteConnection, wanted: usize) -> Result<Vec<StoredEvent>> {
        let mut found = Vec::with_capacity(wanted);
        loop {
            let missing = wanted - found.len();
            let (terms, cache) = (&self.terms, &self.index_cache);
            let newest = |range: &_| index::newest(connection, terms, range, missing, cache);
            let positions = self.ahead.take(missing, newest)?;
            let is_end = positions.len() < missing;
            for position in positions {
                // The index may be newer than what this transaction sees of the events.
                let row = row_at(connection, position)?;
                if let Some((_, row)) = row.filter(|(ledger_id, _)| *ledger_id == self.ledger_id) {
                    found.push(read_row(row)?);
                }
            }
            if is_end || found.len() == wanted {
                return Ok(found);
            }
        }
    }

    /// The next rows of the ledger among the next events of all ledgers. Where those are mostly others', the walk ends
    /// and the index takes over: the ledger's own may lie behind millions of them.
    fn walk_rows(&mut self, connection: &mut SqliteConnection, wanted: usize) -> Result<Vec<StoredEvent>> {
        let mut found = Vec::with_capacity(wanted);
        for _ in 0..WALKED_CHUNKS_MAX {
            let missing = wanted - found.len();
            let places = event_times::table
                .filter(event_times::position.ge(self.ahead.range.start))
                .filter(event_times::position.lt(self.ahead.range.end))
                .order(event_times::position.desc())
                .load_iter::<(i64, i64), DefaultLoadingMode>(connection)?
                .take(missing);
            let places = places.collect::<Result<Vec<_>, _>>()?;
            let range = &mut self.ahead.range;
            range.end = places.last().map_or(range.start, |(position, _)| *position);
            let is_end = places.len() < missing;
            for (_, entry) in places {
                if ledger_and_seq(entry).0 == self.ledger_id {
                    let row = events::table.find(entry).select(COLUMNS);
                    found.push(read_row(row.get_result(connection)?)?);
                }
            }
            if is_end || found.len() == wanted {
                return Ok(found);
            }
        }
        self.walks_rows = false;
        found.extend(self.next(connection, wanted - found.len())?);
        Ok(found)
    }
}

type Row = (i64, Vec<u8>, Vec<u8>, bool, String);
type Columns = (
    events::position,
    events::id,
    events::content_hash,
    events::redacted,
    events::body,
);
const COLUMNS: Columns = (
    events::position,
    events::id,
    events::content_hash,
    events::redacted,
    events::body,
);

/// The row of an event by its position, with its ledger.
fn row_at(connection: &mut SqliteConnection, position: i64) -> Result<Option<(LedgerId, Row)>> {
    let row: Option<(i64, Row)> = event_times::table
        .find(position)
        .inner_join(events::table.on(events::entry.eq(event_times::entry)))
        .select((event_times::entry, COLUMNS))
        .get_result(connection)
        .optional()?;
    Ok(row.map(|(entry, row)| (ledger_and_seq(entry).0, row)))
}

/// One event by its entry.
pub(crate) fn stored_event(connection: &mut SqliteConnection, entry: i64) -> Result<Option<StoredEvent>> {
    let row = events::table
        .find(entry)
        .select(COLUMNS)
        .get_result::<Row>(connection)
        .optional()?;
    row.map(read_row).transpose()
}

/// The place of an event in the order of queries.
pub(crate) fn position_of(connection: &mut SqliteConnection, entry: i64) -> Result<Option<i64>> {
    let position = events::table.find(entry).select(events::position);
    Ok(position.get_result(connection).optional()?)
}

fn read_row((position, id, content_hash, redacted, canonical): Row) -> Result<StoredEvent> {
    let content_hash = content_hash
        .try_into()
        .map_err(|_| StoreError::Damaged { what: "content hash" })?;
    Ok(StoredEvent {
        id: read_id(id)?,
        occurred_at: Timestamp::from_millis(position >> PLACE_BITS),
        canonical,
        content_hash: ContentHash::from_bytes(content_hash),
        redacted,
    })
}

/// The events of a ledger from `start` on, in the order of the log.
pub(crate) fn logged(
    connection: &mut SqliteConnection,
    ledger_id: LedgerId,
    start: i64,
    limit: i64,
) -> Result<Vec<LoggedEvent>> {
    let rows = events::table
        .filter(events::entry.ge(entry(ledger_id, start)))
        .filter(events::entry.lt(entry(ledger_id, SEQ_END)))
        .order(events::entry)
        .limit(limit)
        .select((events::entry, COLUMNS))
        .load::<(i64, Row)>(connection)?;
    let read = |(entry, row): (i64, Row)| {
        let event = read_row(row)?;
        Ok(LoggedEvent {
            seq: ledger_and_seq(entry).1.cast_unsigned(),
            event,
        })
    };
    rows.into_iter().map(read).collect()
}

/// One event by its id.
pub(crate) fn event(
    connection: &mut SqliteConnection,
    ledger_id: LedgerId,
    id: EventId,
    cache: &IndexCache,
) -> Result<Option<LoggedEvent>> {
    let Some(entry) = entry_of(connection, ledger_id, id, &cache.waypoints)? else {
        return Ok(None);
    };
    let seq = ledger_and_seq(entry).1.cast_unsigned();
    let event = stored_event(connection, entry)?;
    Ok(event.map(|event| LoggedEvent { seq, event }))
}
