//! Events on SQLite: candidates of queries, as positions from the index in the order of the response, and reads by `seq`
//! and id.

use super::entry::{SEQ_END, entry, ledger_and_seq};
use super::event_ids::entry_of;
use super::index::{self, backlog, rebuild};
use super::rows::{
    COLUMNS, COUNTER_BITS, Row, first_position, position_after, position_of, read_row, row_at, stored_event,
};
use super::schema::{event_times, events};
use super::{Shared, SqliteSession};
use crate::database::session::Session;
use crate::error::{Result, StoreError};
use crate::events::{Candidates, LoggedEvent, ScanSession};
use crate::ids::LedgerId;
use crate::schema::ledgers;
use crate::search::counting::{Counting, Tally, TimedRow, Uncounted};
use crate::search::tokens::ledger_token;
use crate::search::{Remaining, Walk};
use audit_domain::{EventId, EventOrder, Position, StoredEvent, Timestamp};
use audit_index::{RowId, Term};
use diesel::connection::DefaultLoadingMode;
use diesel::prelude::*;
use std::ops::Range;

/// Chunks of rows that a walk reads, each as long as the missing part of the page, before it uses the index instead.
const WALKED_CHUNKS_MAX: usize = 4;

/// Rows of all ledgers that one statement reads where a rebuild of the index has not been.
const UNREACHED_ROWS: usize = 1_000;
/// Such statements of a page, at most: they read 10 million rows. Beyond it the page has to wait for the rebuild.
const UNREACHED_READS_MAX: usize = 10_000;

/// A walk through candidates.
#[derive(Debug)]
pub(crate) struct Scan {
    ledger_id: LedgerId,
    /// Never empty.
    terms: Vec<Term>,
    /// Whether it reads the rows themselves instead of the index.
    walks_rows: bool,
    walk: Walk<i64>,
    /// The older candidates that a rebuild of the index has not reached. Newest first they are read after those of the walk, oldest
    /// first before them.
    unreached: Remaining<i64>,
    /// How many statements may still read them.
    unreached_reads: usize,
}

impl ScanSession for SqliteSession {
    type Scan = Scan;

    fn open_scan(&mut self, candidates: Candidates, after: Option<Position>) -> Result<Scan> {
        let Candidates {
            ledger_id,
            mut terms,
            start,
            end,
            order,
        } = candidates;
        let Session { connection, memory } = self;
        let shared = &*memory.shared;
        // A posting list of nearly all rows is slower than the rows. Where one ledger has a quarter of them, the walk reads
        // the rows.
        let walks_rows = terms.is_empty() && has_a_quarter(connection, ledger_id)?;
        if terms.is_empty() {
            terms.push(Term::is(ledger_token(ledger_id.0)));
        }
        let mut range = range_of(start, end);
        if let Some(after) = after {
            let position = match entry_of(connection, ledger_id, after.id, &shared.id_probes)? {
                Some(entry) => position_of(connection, entry)?,
                None => position_in(after),
            };
            let first = first_position(after.occurred_at.as_millis());
            match order {
                EventOrder::Descending => range.end = range.end.min(position.unwrap_or(first)),
                EventOrder::Ascending => {
                    let next = position.map_or(position_after(first), RowId::following);
                    range.start = range.start.max(next);
                }
            }
        }
        // Before the index is read: a rebuild only reaches older events in between.
        let reached = rebuild::known_reached(connection, shared)?;
        let unreached = range.start..range.end.min(reached);
        range.start = range.start.max(reached);
        // Before the index is read: an event that is indexed in between is found twice, and not missed.
        let backlog = backlog::positions(connection, ledger_id, &terms, &range, shared)?;
        Ok(Scan {
            ledger_id,
            terms,
            walks_rows,
            walk: Walk::new(Remaining { range, order }, backlog),
            unreached: Remaining {
                range: unreached,
                order,
            },
            unreached_reads: UNREACHED_READS_MAX,
        })
    }

    fn count(
        &mut self,
        candidates: &Candidates,
        counting: &Counting,
    ) -> Result<Result<Tally<StoredEvent>, Uncounted>> {
        let Session { connection, memory } = self;
        let any = [Term::is(ledger_token(candidates.ledger_id.0))];
        let terms = match candidates.terms.as_slice() {
            [] => any.as_slice(),
            terms => terms,
        };
        let range = range_of(candidates.start, candidates.end);
        let ledger_id = candidates.ledger_id;
        let counted = index::count(connection, ledger_id, (terms, &range), counting, &memory.shared)?;
        let mut event_at = |position| {
            let row = row_at(connection, position)?.filter(|(found, _)| *found == ledger_id);
            row.map(|(_, row)| read_row(row)).transpose()
        };
        match counted {
            Ok(tally) => tally.with_events(&mut event_at).map(Ok),
            Err(uncounted) => Ok(Err(uncounted)),
        }
    }

    fn scan(&mut self, scan: &mut Scan, wanted: usize) -> Result<Vec<StoredEvent>> {
        let (connection, shared) = (&mut self.connection, &*self.memory.shared);
        let mut found = Vec::new();
        if scan.unreached.order == EventOrder::Ascending {
            scan.read_unreached(connection, wanted, &mut found)?;
        }
        let missing = wanted - found.len();
        if missing > 0 {
            found.extend(match scan.walks_rows {
                true => scan.read_rows(connection, shared, missing)?,
                false => scan.read_index(connection, shared, missing)?,
            });
        }
        if scan.walk.stopped_at.is_none() {
            scan.read_unreached(connection, wanted, &mut found)?;
        }
        Ok(found)
    }

    fn stopped_at(&self, scan: &Scan) -> Option<Position> {
        scan.walk.stopped_at.map(cursor_at)
    }
}

/// The cursor at a position whose event was removed. In place of an id it has the position, behind zeros: the first 6 bytes of an id are
/// its time, which is never that of 1970.
fn cursor_at(position: i64) -> Position {
    let mut id = [0; 16];
    id[8..].copy_from_slice(&position.to_be_bytes());
    Position {
        occurred_at: Timestamp::from_millis(position >> COUNTER_BITS),
        id: EventId::from_bytes(id),
    }
}

/// The position in a cursor of [`cursor_at`].
fn position_in(cursor: Position) -> Option<i64> {
    let id = cursor.id.to_bytes();
    let position = i64::from_be_bytes(*id.last_chunk()?);
    (cursor == cursor_at(position)).then_some(position)
}

/// The positions from `start` to `end`, both included.
fn range_of(start: Option<Timestamp>, end: Option<Timestamp>) -> Range<i64> {
    start.map_or(i64::MIN, first_position_from)
        ..end.map_or(i64::MAX, |end| position_after(first_position(end.as_millis())))
}

impl TimedRow for i64 {
    fn at(time: Timestamp) -> Self {
        first_position_from(time)
    }

    fn time(self) -> Timestamp {
        Timestamp::from_millis(self >> COUNTER_BITS)
    }
}

/// Whether the ledger has a quarter of all events.
fn has_a_quarter(connection: &mut SqliteConnection, ledger_id: LedgerId) -> Result<bool> {
    let sizes: Vec<(i64, i64)> = ledgers::table
        .filter(ledgers::size.gt(0))
        .select((ledgers::id, ledgers::size))
        .load(connection)?;
    let total: i64 = sizes.iter().map(|(_, size)| size).sum();
    let own = sizes.iter().find(|(id, _)| *id == ledger_id.0);
    Ok(own.map_or(0, |(_, size)| *size) >= total / 4)
}

/// The first position at or after a time. Events have whole milliseconds, so it is in the first millisecond that is not
/// before it.
fn first_position_from(start: Timestamp) -> i64 {
    first_position(-(-start.as_micros()).div_euclid(1_000))
}

impl Scan {
    /// The next events that are indexed or in the backlog.
    fn read_index(
        &mut self,
        connection: &mut SqliteConnection,
        shared: &Shared,
        wanted: usize,
    ) -> Result<Vec<StoredEvent>> {
        let mut found = Vec::with_capacity(wanted);
        loop {
            let missing = wanted - found.len();
            let indexed = |remaining: &_| index::indexed(connection, &self.terms, remaining, missing, shared);
            let positions = self.walk.next(missing, indexed)?;
            let before = found.len();
            for position in &positions {
                // The index may be newer than this transaction's view of the events, or still have removed ones.
                let row = row_at(connection, *position)?;
                if let Some((_, row)) = row.filter(|(ledger_id, _)| *ledger_id == self.ledger_id) {
                    found.push(read_row(row)?);
                }
            }
            let events = found.len() - before;
            let is_end = positions.len() < missing || self.walk.note_gone(&positions, events);
            if is_end || found.len() == wanted {
                return Ok(found);
            }
        }
    }

    /// The ledger's events among the next events of all ledgers. If most of those belong to other ledgers, the walk
    /// continues in the index: millions of them may precede the ledger's next event.
    fn read_rows(
        &mut self,
        connection: &mut SqliteConnection,
        shared: &Shared,
        wanted: usize,
    ) -> Result<Vec<StoredEvent>> {
        let mut found = Vec::with_capacity(wanted);
        for _ in 0..WALKED_CHUNKS_MAX {
            let missing = wanted - found.len();
            let remaining = &mut self.walk.remaining;
            let (events, is_end) = read_times(connection, self.ledger_id, remaining, missing, missing)?;
            found.extend(events);
            if is_end || found.len() == wanted {
                return Ok(found);
            }
        }
        self.walks_rows = false;
        found.extend(self.read_index(connection, shared, wanted - found.len())?);
        Ok(found)
    }

    /// Adds the ledger's events among those that a rebuild of the index has not reached, until there are `wanted`.
    fn read_unreached(
        &mut self,
        connection: &mut SqliteConnection,
        wanted: usize,
        found: &mut Vec<StoredEvent>,
    ) -> Result<()> {
        while found.len() < wanted && !self.unreached.range.is_empty() {
            let Some(reads) = self.unreached_reads.checked_sub(1) else {
                return Err(StoreError::Unreachable("the index is being rebuilt".to_owned()));
            };
            self.unreached_reads = reads;
            let missing = wanted - found.len();
            let (events, _) = read_times(
                connection,
                self.ledger_id,
                &mut self.unreached,
                UNREACHED_ROWS,
                missing,
            )?;
            found.extend(events);
        }
        Ok(())
    }
}

/// The ledger's events among the next events of all ledgers, which then no longer remain: `rows_max` of all and `wanted` of the
/// ledger, at most. Also returns whether none remains.
fn read_times(
    connection: &mut SqliteConnection,
    ledger_id: LedgerId,
    remaining: &mut Remaining<i64>,
    rows_max: usize,
    wanted: usize,
) -> Result<(Vec<StoredEvent>, bool)> {
    let within = event_times::table
        .filter(event_times::position.ge(remaining.range.start))
        .filter(event_times::position.lt(remaining.range.end));
    let times: Box<dyn Iterator<Item = QueryResult<(i64, i64)>>> = match remaining.order {
        EventOrder::Descending => {
            let newest_first = within.order(event_times::position.desc());
            Box::new(newest_first.load_iter::<(i64, i64), DefaultLoadingMode>(connection)?)
        }
        EventOrder::Ascending => {
            let oldest_first = within.order(event_times::position.asc());
            Box::new(oldest_first.load_iter::<(i64, i64), DefaultLoadingMode>(connection)?)
        }
    };
    let (mut rows, mut own) = (0, Vec::new());
    for time in times.take(rows_max) {
        let (position, entry) = time?;
        rows += 1;
        remaining.pass(position);
        if ledger_and_seq(entry).0 == ledger_id {
            own.push(entry);
        }
        if own.len() == wanted {
            break;
        }
    }
    let is_end = rows < rows_max && own.len() < wanted;
    if is_end {
        remaining.end();
    }
    let event = |entry: i64| {
        let row = events::table.find(entry).select(COLUMNS);
        read_row(row.get_result(connection)?)
    };
    Ok((own.into_iter().map(event).collect::<Result<_>>()?, is_end))
}

/// The events of a ledger from `start` on, in the order of the log.
pub(crate) fn logged(
    session: &mut SqliteSession,
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
        .load::<(i64, Row)>(&mut session.connection)?;
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
    session: &mut SqliteSession,
    ledger_id: LedgerId,
    id: EventId,
) -> Result<Option<LoggedEvent>> {
    let Session { connection, memory } = session;
    let Some(entry) = entry_of(connection, ledger_id, id, &memory.shared.id_probes)? else {
        return Ok(None);
    };
    let seq = ledger_and_seq(entry).1.cast_unsigned();
    let event = stored_event(connection, entry)?;
    Ok(event.map(|event| LoggedEvent { seq, event }))
}

/// Several events by their ids; an error for each that was tampered with.
pub(crate) fn events_by_id(
    session: &mut SqliteSession,
    ledger_id: LedgerId,
    ids: &[EventId],
) -> Result<Vec<Result<StoredEvent>>> {
    let found = ids.iter().map(|id| event(session, ledger_id, *id).transpose());
    Ok(found
        .flatten()
        .map(|found| found.map(|logged| logged.event))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::StoreOptions;
    use crate::sqlite::Database;
    use crate::sqlite::connection::{Purpose, connect};
    use diesel::connection::SimpleConnection;

    #[test]
    fn a_page_reads_a_limited_part_of_what_a_rebuild_has_not_reached() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        drop(Database::open(&path, &StoreOptions::default()).unwrap());
        let mut database = connect(&path, Purpose::Write).unwrap();
        let others = entry(LedgerId(1), 0);
        database
            .batch_execute(&format!(
                "WITH RECURSIVE numbers (number) AS (SELECT 0 UNION ALL SELECT number + 1 FROM numbers LIMIT 2500)
                 INSERT INTO event_times SELECT number, {others} + number FROM numbers"
            ))
            .unwrap();
        let mut read = |order, unreached_reads| {
            let mut scan = Scan {
                ledger_id: LedgerId(2),
                terms: vec![Term::is(ledger_token(2))],
                walks_rows: false,
                walk: Walk::new(Remaining { range: 0..0, order }, Vec::new()),
                unreached: Remaining {
                    range: 0..2_500,
                    order,
                },
                unreached_reads,
            };
            let mut found = Vec::new();
            scan.read_unreached(&mut database, 1, &mut found)
                .map(|()| found.len())
        };
        for order in [EventOrder::Descending, EventOrder::Ascending] {
            assert!(matches!(read(order, 2), Err(StoreError::Unreachable(_))));
            assert!(matches!(read(order, 3), Ok(0)));
        }
    }
}
