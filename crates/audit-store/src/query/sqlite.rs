//! Candidates on SQLite: posting lists of the inverted index, which come in row-id order, and so in the answer's.

use super::{Candidates, LoggedEvent};
use crate::append::LedgerId;
use crate::append::sqlite::{Matches, read_id};
use crate::connection::AnyConnection;
use crate::error::{Result, StoreError};
use crate::index::tail;
use crate::ledgers::{ledger_size, total_size};
use crate::schema::sqlite::{event_ids, event_index, event_times, events};
use crate::tokens::{Term, fts5_expression, ledger_token};
use audit_domain::{ContentHash, EventId, Position, StoredEvent, Timestamp};
use diesel::connection::DefaultLoadingMode;
use diesel::prelude::*;
use diesel::sql_types::Text;

/// Bits of a position below the milliseconds: a million events can share one millisecond.
const PLACE_BITS: u32 = 20;

/// Bits of an entry below the ledger: a million million events of eight million ledgers.
const SEQ_BITS: u32 = 40;
/// No ledger has so many events.
pub(crate) const SEQ_END: i64 = 1 << SEQ_BITS;

/// Rows that are walked through before the index is asked for the beginning of a word.
const WALKED_FOR_BEGINNING_ROWS_MAX: usize = 2_000;
/// How often as many rows as are missing are walked through, before the index is asked instead.
const WALKED_CHUNKS_MAX: usize = 4;

/// The row id of an event, in the order of the log. A `seq` that no ledger reaches counts as the end of the ledger.
pub(crate) fn entry(ledger_id: LedgerId, seq: i64) -> i64 {
    (ledger_id.0 << SEQ_BITS) + seq.clamp(0, SEQ_END)
}

/// The ledger and `seq` of an entry.
pub(crate) const fn ledger_and_seq(entry: i64) -> (LedgerId, i64) {
    (LedgerId(entry >> SEQ_BITS), entry & (SEQ_END - 1))
}

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
    /// What the index is asked for.
    expression: String,
    /// How many rows may still be walked through before.
    walked_rows_max: usize,
    /// What the walk asks the index for; `None` to walk through the rows themselves.
    walked_expression: Option<String>,
    start: i64,
    /// Exclusive.
    end: i64,
    /// Candidates that were not in the index when the walk began. They may have come into it since.
    tail: Vec<i64>,
}

impl Scan {
    pub(crate) fn open(
        connection: &mut AnyConnection,
        candidates: Candidates,
        after: Option<Position>,
    ) -> Result<Self> {
        let Candidates {
            ledger_id,
            mut terms,
            start,
            end,
        } = candidates;
        let (begins_like, others): (Vec<Term>, Vec<Term>) = terms
            .iter()
            .cloned()
            .partition(|term| matches!(term, Term::BeginsLike(_)));
        let walked_rows_max = match terms.is_empty() {
            // A list of nearly all rows is slower than the rows. Where one ledger holds a quarter of them, walk the rows.
            true if ledger_size(connection, ledger_id)? >= total_size(connection)? / 4 => usize::MAX,
            // A beginning merges the lists of every word that begins so before it gives the first row: where many
            // rows match, a page is full sooner by walking, and where few do, there is little to merge.
            false if !begins_like.is_empty() => WALKED_FOR_BEGINNING_ROWS_MAX,
            _ => 0,
        };
        if terms.is_empty() {
            terms.push(Term::is(ledger_token(ledger_id.0)));
        }
        let mut scan = Self {
            ledger_id,
            expression: fts5_expression(&terms),
            walked_rows_max,
            walked_expression: (!others.is_empty()).then(|| fts5_expression(&others)),
            // Events keep milliseconds: the first at or after `start` is in the millisecond that is not before it.
            start: start.map_or(i64::MIN, |start| {
                first_position(-(-start.as_micros()).div_euclid(1_000))
            }),
            end: end.map_or(i64::MAX, |end| position_after(first_position(end.as_millis()))),
            tail: Vec::new(),
        };
        let AnyConnection::Sqlite(sqlite) = connection else {
            return Ok(scan);
        };
        if let Some(after) = after {
            let position: Option<i64> = event_ids::table
                .find((ledger_id.0, after.id.to_bytes().as_slice()))
                .inner_join(events::table.on(events::entry.eq(event_ids::entry)))
                .select(events::position)
                .get_result(sqlite)
                .optional()?;
            scan.end = scan
                .end
                .min(position.unwrap_or(first_position(after.occurred_at.as_millis())));
        }
        // Before the index is asked: what leaves the tail in between is found twice, and not missed.
        scan.tail = tail::positions(sqlite, &terms, &(scan.start..scan.end))?;
        Ok(scan)
    }

    pub(crate) fn next(
        &mut self,
        connection: &mut SqliteConnection,
        rows: usize,
    ) -> Result<Vec<StoredEvent>> {
        if self.walked_rows_max >= rows {
            self.walked_rows_max -= rows;
            return match self.walked_expression.clone() {
                Some(expression) => self.ask_index(connection, &expression, rows),
                None => self.walk_rows(connection, rows),
            };
        }
        self.walked_rows_max = 0;
        let expression = self.expression.clone();
        self.ask_index(connection, &expression, rows)
    }

    /// The next rows that the index has under `expression`, and those of the tail.
    fn ask_index(
        &mut self,
        connection: &mut SqliteConnection,
        expression: &str,
        wanted: usize,
    ) -> Result<Vec<StoredEvent>> {
        let mut found = Vec::with_capacity(wanted);
        loop {
            let missing = wanted - found.len();
            let positions = self.candidates(connection, expression, missing)?;
            let is_end = positions.len() < missing;
            // One by one: a join with the index would let the planner begin with the events and never finish.
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

    /// The next positions, newest first; fewer than `wanted` only at the end.
    fn candidates(
        &mut self,
        connection: &mut SqliteConnection,
        expression: &str,
        wanted: usize,
    ) -> Result<Vec<i64>> {
        // Without a limit in the statement, which would be planned again each time: rows come as they are asked for.
        let indexed = event_index::table
            .filter(Matches::new(
                event_index::all_tokens,
                expression.into_sql::<Text>(),
            ))
            .filter(event_index::rowid.ge(self.start))
            .filter(event_index::rowid.lt(self.end))
            .select(event_index::rowid)
            .order(event_index::rowid.desc())
            .load_iter::<i64, DefaultLoadingMode>(connection)?
            .take(wanted);
        let mut positions = indexed.collect::<Result<Vec<i64>, _>>()?;
        let in_range = self.start..self.end;
        let indexed = positions.len();
        positions.extend(self.tail.iter().filter(|position| in_range.contains(position)));
        if positions.len() > indexed {
            positions.sort_unstable_by(|one, other| other.cmp(one));
            positions.dedup();
            positions.truncate(wanted);
        }
        self.end = match positions.last() {
            Some(last) if positions.len() == wanted => *last,
            _ => self.start,
        };
        Ok(positions)
    }

    /// The next rows of the ledger among the next events of all ledgers. Where those are mostly others', the walk ends
    /// and the index takes over: the ledger's own may lie behind millions of them.
    fn walk_rows(&mut self, connection: &mut SqliteConnection, wanted: usize) -> Result<Vec<StoredEvent>> {
        let mut found = Vec::with_capacity(wanted);
        for _ in 0..WALKED_CHUNKS_MAX {
            let missing = wanted - found.len();
            let places = event_times::table
                .filter(event_times::position.ge(self.start))
                .filter(event_times::position.lt(self.end))
                .order(event_times::position.desc())
                .load_iter::<(i64, i64), DefaultLoadingMode>(connection)?
                .take(missing);
            let places = places.collect::<Result<Vec<_>, _>>()?;
            self.end = places.last().map_or(self.start, |(position, _)| *position);
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
        self.walked_rows_max = 0;
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

/// The place of an event in its ledger.
pub(crate) fn seq(
    connection: &mut SqliteConnection,
    ledger_id: LedgerId,
    id: EventId,
) -> Result<Option<i64>> {
    let entry = entry_of(connection, ledger_id, id)?;
    Ok(entry.map(|entry| ledger_and_seq(entry).1))
}

/// One event by its id.
pub(crate) fn event(
    connection: &mut SqliteConnection,
    ledger_id: LedgerId,
    id: EventId,
) -> Result<Option<StoredEvent>> {
    let Some(entry) = entry_of(connection, ledger_id, id)? else {
        return Ok(None);
    };
    stored_event(connection, entry)
}

fn entry_of(connection: &mut SqliteConnection, ledger_id: LedgerId, id: EventId) -> Result<Option<i64>> {
    Ok(event_ids::table
        .find((ledger_id.0, id.to_bytes().as_slice()))
        .select(event_ids::entry)
        .get_result(connection)
        .optional()?)
}
