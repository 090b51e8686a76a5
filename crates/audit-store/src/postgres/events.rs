//! Events on PostgreSQL: candidates of queries, as rows from the index in the order of the response, and reads by `seq` and
//! id.

use super::PostgresSession;
use super::index::{self, RowKey, Snapshot, row_key};
use super::schema::events;
use super::statements::{FindEvents, FindNewest, FindOldest};
use crate::columns::{read_hash, read_id};
use crate::database::session::Session;
use crate::error::Result;
use crate::events::{Candidates, LoggedEvent, ScanSession};
use crate::ids::LedgerId;
use crate::search::counting::{Counting, Tally, TimedRow, Uncounted};
use crate::search::tokens::category_tokens;
use crate::search::{Remaining, Walk};
use crate::statements::statement;
use audit_domain::{EventId, EventOrder, Month, Position, StoredEvent, Timestamp};
use audit_index::{RowId, Term};
use diesel::PgConnection;
use diesel::expression::{ValidGrouping, is_aggregate};
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{BigInt, Bool};
use std::collections::HashMap;
use std::ops::Range;

/// A walk through candidates.
pub(crate) enum Scan {
    /// Through all events of the ledger, by B-tree. Without a filter, or while the index cannot be used.
    All(WalkAll),
    /// Through the events that fulfil terms of the index, and the backlog.
    Indexed(Box<WalkIndexed>),
}

impl ScanSession for PostgresSession {
    type Scan = Scan;

    fn open_scan(&mut self, candidates: Candidates, after: Option<Position>) -> Result<Scan> {
        Ok(match candidates.terms.is_empty() {
            true => Scan::All(WalkAll::open(&candidates, after)),
            false => {
                let index = Snapshot::read(&mut self.connection, candidates.ledger_id, &self.memory.shared)?;
                match index.is_readable && !index.is_rebuilt() {
                    true => Scan::Indexed(Box::new(WalkIndexed::open(self, index, candidates, after)?)),
                    // The filter is applied to each event, so the result is the same.
                    false => Scan::All(WalkAll::open(&candidates, after)),
                }
            }
        })
    }

    fn count(
        &mut self,
        candidates: &Candidates,
        counting: &Counting,
    ) -> Result<Result<Tally<StoredEvent>, Uncounted>> {
        let ledger_id = candidates.ledger_id;
        // The ledger has no token of its own.
        let any = [Term::AnyOf(category_tokens(ledger_id.0))];
        let terms = match candidates.terms.as_slice() {
            [] => any.as_slice(),
            terms => terms,
        };
        let range = range_of(candidates.start, candidates.end);
        let Session { connection, memory } = self;
        let counted = index::count(connection, ledger_id, (terms, &range), counting, &memory.shared)?;
        let tally = match counted {
            Ok(tally) => tally,
            Err(uncounted) => return Ok(Err(uncounted)),
        };
        let rows = tally.top.iter().flat_map(|top| top.tokens.iter().flatten());
        let mut rows: Vec<RowKey> = rows.map(|(_, row)| *row).collect();
        rows.sort_unstable();
        rows.dedup();
        let events = events_at(connection, ledger_id, &rows)?;
        let events: HashMap<RowKey, StoredEvent> = events
            .into_iter()
            .map(|event| (row_key(event.occurred_at, event.id), event))
            .collect();
        let with_events = tally.with_events(|row| Ok(events.get(&row).cloned()))?;
        Ok(Ok(with_events))
    }

    fn scan(&mut self, scan: &mut Scan, wanted: usize) -> Result<Vec<StoredEvent>> {
        match scan {
            Scan::All(walk) => walk.next(&mut self.connection, wanted),
            Scan::Indexed(walk) => walk.next(self, wanted),
        }
    }

    fn stopped_at(&self, scan: &Scan) -> Option<Position> {
        let Scan::Indexed(indexed) = scan else {
            return None;
        };
        indexed.walk.stopped_at.map(|(occurred_at, id)| Position {
            occurred_at: Timestamp::from_micros(occurred_at),
            id: EventId::from_bytes(id.to_be_bytes()),
        })
    }
}

/// The rows from `start` to `end`, both included.
fn range_of(start: Option<Timestamp>, end: Option<Timestamp>) -> Range<RowKey> {
    (start.map_or(i64::MIN, Timestamp::as_micros), u128::MIN)
        ..(end.map_or(i64::MAX, Timestamp::as_micros), u128::MAX)
}

impl TimedRow for RowKey {
    fn at(time: Timestamp) -> Self {
        (time.as_micros(), u128::MIN)
    }

    fn time(self) -> Timestamp {
        Timestamp::from_micros(self.0)
    }
}

/// A walk through the events of a ledger.
pub(crate) struct WalkAll {
    ledger_id: i64,
    order: EventOrder,
    /// The time at which it ends, inclusive, in microseconds.
    last: i64,
    /// Exclusive: time and id of the last event read.
    passed: (i64, Vec<u8>),
}

impl WalkAll {
    fn open(candidates: &Candidates, after: Option<Position>) -> Self {
        let start = candidates.start.map_or(i64::MIN, Timestamp::as_micros);
        let end = candidates.end.map_or(i64::MAX, Timestamp::as_micros);
        let after = after.map(|after| (after.occurred_at.as_micros(), after.id.to_bytes().to_vec()));
        let (last, passed) = match candidates.order {
            EventOrder::Descending => {
                // Ids have 16 bytes, so 17 bytes of 255 follow every id of that time.
                let first = (end, vec![0xFF; 17]);
                (start, after.into_iter().chain([first]).min())
            }
            EventOrder::Ascending => {
                // No byte precedes every id.
                let first = (start, Vec::new());
                (end, after.into_iter().chain([first]).max())
            }
        };
        Self {
            ledger_id: candidates.ledger_id.0,
            order: candidates.order,
            last,
            passed: passed.unwrap_or_default(),
        }
    }

    fn next(&mut self, connection: &mut PgConnection, wanted: usize) -> Result<Vec<StoredEvent>> {
        let (ledger_id, limit) = (self.ledger_id, i64::try_from(wanted).unwrap_or(i64::MAX));
        let (passed, passed_id) = (self.passed.0, self.passed.1.as_slice());
        let found: Vec<Columns> = match self.order {
            EventOrder::Descending => FindNewest {
                ledger_id,
                start: self.last,
                before: passed,
                before_id: passed_id,
                limit,
            }
            .load(connection)?,
            EventOrder::Ascending => FindOldest {
                ledger_id,
                end: self.last,
                after: passed,
                after_id: passed_id,
                limit,
            }
            .load(connection)?,
        };
        if let Some((id, occurred_at, ..)) = found.last() {
            self.passed = (*occurred_at, id.clone());
        }
        found.into_iter().map(read_columns).collect()
    }
}

/// A walk through the events of a ledger that fulfil terms of the index, and those of the backlog.
pub(crate) struct WalkIndexed {
    ledger_id: LedgerId,
    /// Never empty.
    terms: Vec<Term>,
    walk: Walk<RowKey>,
    index: Snapshot,
}

impl WalkIndexed {
    fn open(
        session: &mut PostgresSession,
        index: Snapshot,
        candidates: Candidates,
        after: Option<Position>,
    ) -> Result<Self> {
        let Candidates {
            ledger_id,
            terms,
            start,
            end,
            order,
        } = candidates;
        let mut range = range_of(start, end);
        if let Some(after) = after {
            let after = row_key(after.occurred_at, after.id);
            match order {
                EventOrder::Descending => range.end = range.end.min(after),
                EventOrder::Ascending => range.start = range.start.max(after.following()),
            }
        }
        let Session { connection, memory } = session;
        let unindexed = &index.unindexed;
        let backlog = memory
            .shared
            .commits()
            .backlog
            .matching(connection, unindexed, &terms, &range)?;
        Ok(Self {
            ledger_id,
            terms,
            walk: Walk::new(Remaining { range, order }, backlog),
            index,
        })
    }

    fn next(&mut self, session: &mut PostgresSession, wanted: usize) -> Result<Vec<StoredEvent>> {
        let Session { connection, memory } = session;
        let mut found = Vec::with_capacity(wanted);
        loop {
            let missing = wanted - found.len();
            let (ledger_id, terms, shared) = (self.ledger_id, &self.terms, &*memory.shared);
            let indexed = |remaining: &_| {
                let index = &mut self.index;
                index.indexed(connection, ledger_id, terms, remaining, missing, shared)
            };
            let rows = self.walk.next(missing, indexed)?;
            let events = events_at(connection, self.ledger_id, &rows)?;
            let is_end = rows.len() < missing || self.walk.note_gone(&rows, events.len());
            found.extend(events);
            if is_end || found.len() == wanted {
                return Ok(found);
            }
        }
    }
}

/// The events of these rows, in their order, without removed ones.
fn events_at(
    connection: &mut PgConnection,
    ledger_id: LedgerId,
    rows: &[RowKey],
) -> Result<Vec<StoredEvent>> {
    let ids: Vec<[u8; 16]> = rows.iter().map(|(_, id)| id.to_be_bytes()).collect();
    rows_of(connection, ledger_id, &ids)?
        .into_iter()
        .map(read_columns)
        .collect()
}

/// The rows of the events with these ids, in their order, without missing ones.
fn rows_of(connection: &mut PgConnection, ledger_id: LedgerId, ids: &[[u8; 16]]) -> Result<Vec<Columns>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let months: Vec<i32> = ids
        .iter()
        .map(|id| first_month_of(EventId::from_bytes(*id)).number())
        .collect();
    let find = FindEvents {
        ledger_id: ledger_id.0,
        first_month: months.iter().copied().min().unwrap_or_default(),
        months,
        ids: ids.iter().map(<[u8; 16]>::as_slice).collect(),
    };
    let found: Vec<Columns> = find.load(connection)?;
    let mut found: HashMap<Vec<u8>, Columns> = found.into_iter().map(|row| (row.0.clone(), row)).collect();
    Ok(ids.iter().filter_map(|id| found.remove(id.as_slice())).collect())
}

/// An event with its `seq` and its row in the index; an error when it was tampered with.
pub(crate) type RawEvent = (i64, RowKey, Result<StoredEvent>);

/// Some events of a ledger, in the order of the log, `limit` at most.
pub(crate) fn raw_events(
    connection: &mut PgConnection,
    ledger_id: LedgerId,
    seqs: Range<i64>,
    limit: i64,
) -> Result<Vec<RawEvent>> {
    let rows = events::table
        .filter(events::ledger_id.eq(ledger_id.0))
        .filter(events::seq.ge(seqs.start))
        .filter(events::seq.lt(seqs.end))
        .filter(since_month_of(ledger_id, seqs.start))
        .filter(before_months_after(ledger_id, seqs.end))
        .order(events::seq)
        .limit(limit)
        .select((events::seq, COLUMNS))
        .load::<(i64, Columns)>(connection)?;
    Ok(rows
        .into_iter()
        .map(|(seq, columns)| raw_event(seq, columns))
        .collect())
}

pub(crate) fn raw_event(seq: i64, columns: Columns) -> RawEvent {
    // An invalid id becomes 0, which no query asks for.
    let id = columns.0.as_slice().try_into().map_or(0, u128::from_be_bytes);
    (seq, (columns.1, id), read_columns(columns))
}

// Conditions of statements that prune partitions. With diesel's `sql` they would have their statements parsed and planned each time.
statement! {
    Pg;
    /// The events from `start` on are in the month of `start`, or later.
    SinceMonthOf {
        "events.month >= COALESCE((SELECT max(months.month) FROM ledger_months AS months WHERE months.ledger_id = "
        ledger_id: i64 => BigInt,
        " AND months.first_seq <= "
        start: i64 => BigInt,
    } "), -2147483648)"
}

statement! {
    Pg;
    /// The events before `end` are before the months that begin at `end` or later.
    BeforeMonthsAfter {
        "events.month < COALESCE((SELECT min(months.month) FROM ledger_months AS months WHERE months.ledger_id = "
        ledger_id: i64 => BigInt,
        " AND months.first_seq >= "
        end: i64 => BigInt,
    } "), 2147483647)"
}

macro_rules! condition_on_events {
    ($($name:ident),*) => {
        $(
            impl Expression for $name {
                type SqlType = Bool;
            }

            impl ValidGrouping<()> for $name {
                type IsAggregate = is_aggregate::No;
            }

            impl SelectableExpression<events::table> for $name {}

            impl AppearsOnTable<events::table> for $name {}
        )*
    };
}

condition_on_events!(SinceMonthOf, BeforeMonthsAfter);

pub(crate) fn since_month_of(ledger_id: LedgerId, start: i64) -> SinceMonthOf {
    SinceMonthOf {
        ledger_id: ledger_id.0,
        start,
    }
}

pub(crate) fn before_months_after(ledger_id: LedgerId, end: i64) -> BeforeMonthsAfter {
    BeforeMonthsAfter {
        ledger_id: ledger_id.0,
        end,
    }
}

/// The first month in which an event with this id can be stored: that of the id. The month of an event is not before that of its
/// stamp, and an id that follows another one in the log continues the time of that.
pub(crate) fn first_month_of(id: EventId) -> Month {
    Month::of(id.time())
}

/// The events of a ledger from `start` on, in the order of the log.
pub(crate) fn logged(
    session: &mut PostgresSession,
    ledger_id: LedgerId,
    start: i64,
    limit: i64,
) -> Result<Vec<LoggedEvent>> {
    let rows = events::table
        .filter(events::ledger_id.eq(ledger_id.0))
        .filter(events::seq.ge(start))
        .filter(since_month_of(ledger_id, start))
        .order(events::seq)
        .limit(limit)
        .select((events::seq, COLUMNS))
        .load::<(i64, Columns)>(&mut session.connection)?;
    rows.into_iter().map(read_logged).collect()
}

/// One event by its id.
pub(crate) fn event(
    session: &mut PostgresSession,
    ledger_id: LedgerId,
    id: EventId,
) -> Result<Option<LoggedEvent>> {
    let row = events::table
        .filter(events::ledger_id.eq(ledger_id.0))
        .filter(events::id.eq(id.to_bytes().as_slice()))
        .filter(events::month.ge(first_month_of(id).number()))
        .select((events::seq, COLUMNS))
        .get_result::<(i64, Columns)>(&mut session.connection)
        .optional()?;
    row.map(read_logged).transpose()
}

/// Several events by their ids, in one statement; an error for each that was tampered with.
pub(crate) fn events_by_id(
    session: &mut PostgresSession,
    ledger_id: LedgerId,
    ids: &[EventId],
) -> Result<Vec<Result<StoredEvent>>> {
    let ids: Vec<[u8; 16]> = ids.iter().map(|id| id.to_bytes()).collect();
    let rows = rows_of(&mut session.connection, ledger_id, &ids)?;
    Ok(rows.into_iter().map(read_columns).collect())
}

/// Id, time, content hash, its salt, whether redacted, and body.
pub(crate) type Columns = (Vec<u8>, i64, Vec<u8>, Vec<u8>, bool, String);

pub(crate) const COLUMNS: (
    events::id,
    events::occurred_at,
    events::content_hash,
    events::content_salt,
    events::redacted,
    events::body,
) = (
    events::id,
    events::occurred_at,
    events::content_hash,
    events::content_salt,
    events::redacted,
    events::body,
);

fn read_columns(
    (id, occurred_at, content_hash, content_salt, redacted, canonical): Columns,
) -> Result<StoredEvent> {
    let (content_hash, content_salt) = read_hash(content_hash, &content_salt)?;
    Ok(StoredEvent {
        id: read_id(id)?,
        occurred_at: Timestamp::from_micros(occurred_at),
        canonical,
        content_hash,
        content_salt,
        redacted,
    })
}

fn read_logged((seq, columns): (i64, Columns)) -> Result<LoggedEvent> {
    Ok(LoggedEvent {
        seq: seq.cast_unsigned(),
        event: read_columns(columns)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_with_conditions_on_months_are_prepared_once() {
        let statement = events::table
            .filter(since_month_of(LedgerId(1), 2))
            .filter(before_months_after(LedgerId(1), 3))
            .select(events::seq);
        let is_prepared_once = QueryFragment::<Pg>::is_safe_to_cache_prepared(&statement, &Pg);
        assert_eq!(is_prepared_once, Ok(true));
    }
}
