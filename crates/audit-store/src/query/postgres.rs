//! Candidates on PostgreSQL: rows out of the inverted index, which come in the order of the answer.

use super::{Candidates, LoggedEvent};
use crate::append::LedgerId;
use crate::append::sqlite::read_id;
use crate::connection::AnyConnection;
use crate::error::{Result, StoreError};
use crate::index::postgres::{RowKey, Snapshot, row_key, tail};
use crate::index::{Ahead, IndexCache};
use crate::rows::Rows;
use crate::schema::postgres::events;
use crate::statements::{FindEvents, FindNewest};
use audit_domain::{ContentHash, EventId, Position, StoredEvent, Timestamp};
use audit_index::Term;
use diesel::PgConnection;
use diesel::prelude::*;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Walks backwards through the candidates.
pub(crate) enum Scan {
    /// Through all events.
    All(WalkAll),
    /// Through those that the index has under some terms, and the tail.
    Indexed(WalkIndexed),
}

impl Scan {
    pub(crate) fn open(rows: &mut Rows<'_>, candidates: Candidates, after: Option<Position>) -> Result<Self> {
        Ok(match (candidates.terms.is_empty(), &mut *rows.connection) {
            (false, AnyConnection::Postgres(postgres)) => {
                Self::Indexed(WalkIndexed::open(postgres, rows.index_cache, candidates, after)?)
            }
            _ => Self::All(WalkAll::open(&candidates, after)),
        })
    }

    /// The next rows, fewer than asked for only at the end.
    pub(crate) fn next(&mut self, connection: &mut PgConnection, rows: usize) -> Result<Vec<StoredEvent>> {
        match self {
            Self::All(walk) => walk.next(connection, rows),
            Self::Indexed(walk) => walk.next(connection, rows),
        }
    }
}

/// The events of a ledger, by B-tree.
pub(crate) struct WalkAll {
    ledger_id: i64,
    /// Inclusive, in microseconds.
    start: i64,
    /// What comes next is before this place.
    before: (i64, Vec<u8>),
}

impl WalkAll {
    fn open(candidates: &Candidates, after: Option<Position>) -> Self {
        // Ids have 16 bytes, so 17 of them are behind every id of that time.
        let end = candidates.end.map_or((i64::MAX, vec![0xFF; 17]), |end| {
            (end.as_micros(), vec![0xFF; 17])
        });
        let after = after.map(|after| (after.occurred_at.as_micros(), after.id.to_bytes().to_vec()));
        Self {
            ledger_id: candidates.ledger_id.0,
            start: candidates.start.map_or(i64::MIN, Timestamp::as_micros),
            before: after.map_or(end.clone(), |after| after.min(end)),
        }
    }

    fn next(&mut self, connection: &mut PgConnection, rows: usize) -> Result<Vec<StoredEvent>> {
        let find = FindNewest {
            ledger_id: self.ledger_id,
            start: self.start,
            before: self.before.0,
            before_id: &self.before.1,
            limit: i64::try_from(rows).unwrap_or(i64::MAX),
        };
        let found: Vec<Columns> = find.load(connection)?;
        if let Some((id, occurred_at, ..)) = found.last() {
            self.before = (*occurred_at, id.clone());
        }
        found.into_iter().map(read_columns).collect()
    }
}

/// The events of a ledger that the index has under some terms, and those of the tail.
pub(crate) struct WalkIndexed {
    ledger_id: LedgerId,
    /// Never empty.
    terms: Vec<Term>,
    ahead: Ahead<RowKey>,
    index: Snapshot,
    index_cache: Arc<IndexCache>,
}

impl WalkIndexed {
    fn open(
        connection: &mut PgConnection,
        index_cache: &Arc<IndexCache>,
        candidates: Candidates,
        after: Option<Position>,
    ) -> Result<Self> {
        let Candidates {
            ledger_id,
            terms,
            start,
            end,
        } = candidates;
        let mut range = (start.map_or(i64::MIN, Timestamp::as_micros), u128::MIN)
            ..(end.map_or(i64::MAX, Timestamp::as_micros), u128::MAX);
        if let Some(after) = after {
            range.end = range.end.min(row_key(after.occurred_at, after.id));
        }
        let index = Snapshot::read(connection, ledger_id, index_cache)?;
        let seqs = index.tail.clone();
        let tail = tail::rows(connection, &index_cache.tail, ledger_id, seqs, &terms, &range)?;
        Ok(Self {
            ledger_id,
            terms,
            ahead: Ahead { range, tail },
            index,
            index_cache: Arc::clone(index_cache),
        })
    }

    fn next(&mut self, connection: &mut PgConnection, wanted: usize) -> Result<Vec<StoredEvent>> {
        let mut found = Vec::with_capacity(wanted);
        loop {
            let missing = wanted - found.len();
            let (ledger_id, terms, cache) = (self.ledger_id, &self.terms, &self.index_cache);
            let newest = |range: &_| {
                let index = &mut self.index;
                index.newest(connection, ledger_id, terms, range, missing, cache)
            };
            let rows = self.ahead.take(missing, newest)?;
            let is_end = rows.len() < missing;
            found.extend(events_at(connection, self.ledger_id, &rows)?);
            if is_end || found.len() == wanted {
                return Ok(found);
            }
        }
    }
}

/// The events of these rows, in their order; without those that are gone.
fn events_at(
    connection: &mut PgConnection,
    ledger_id: LedgerId,
    rows: &[RowKey],
) -> Result<Vec<StoredEvent>> {
    let ids: Vec<[u8; 16]> = rows.iter().map(|(_, id)| id.to_be_bytes()).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let find = FindEvents {
        ledger_id: ledger_id.0,
        ids: ids.iter().map(<[u8; 16]>::as_slice).collect(),
    };
    let found: Vec<Columns> = find.load(connection)?;
    let mut found: HashMap<Vec<u8>, Columns> = found.into_iter().map(|row| (row.0.clone(), row)).collect();
    let in_order = ids.iter().filter_map(|id| found.remove(id.as_slice()));
    in_order.map(read_columns).collect()
}

/// An event by its `seq` and by what the index knows it by, unless it is no event any more.
pub(crate) type Each = (i64, RowKey, Result<StoredEvent>);

/// Some events of a ledger, in the order of the log, `limit` at most.
pub(crate) fn logged_each(
    connection: &mut PgConnection,
    ledger_id: LedgerId,
    seqs: Range<i64>,
    limit: i64,
) -> Result<Vec<Each>> {
    let rows = events::table
        .filter(events::ledger_id.eq(ledger_id.0))
        .filter(events::seq.ge(seqs.start))
        .filter(events::seq.lt(seqs.end))
        .order(events::seq)
        .limit(limit)
        .select((events::seq, COLUMNS))
        .load::<(i64, Columns)>(connection)?;
    let read = |(seq, columns): (i64, Columns)| {
        // One whose id is none is nobody's: no query has it.
        let id = columns.0.as_slice().try_into().map_or(0, u128::from_be_bytes);
        (seq, (columns.1, id), read_columns(columns))
    };
    Ok(rows.into_iter().map(read).collect())
}

/// The events of a ledger from `start` on, in the order of the log.
pub(crate) fn logged(
    connection: &mut PgConnection,
    ledger_id: LedgerId,
    start: i64,
    limit: i64,
) -> Result<Vec<LoggedEvent>> {
    let rows = events::table
        .filter(events::ledger_id.eq(ledger_id.0))
        .filter(events::seq.ge(start))
        .order(events::seq)
        .limit(limit)
        .select((events::seq, COLUMNS))
        .load::<(i64, Columns)>(connection)?;
    rows.into_iter().map(read_logged).collect()
}

/// One event by its id.
pub(crate) fn event(
    connection: &mut PgConnection,
    ledger_id: LedgerId,
    id: EventId,
) -> Result<Option<LoggedEvent>> {
    let row = events::table
        .filter(events::ledger_id.eq(ledger_id.0))
        .filter(events::id.eq(id.to_bytes().as_slice()))
        .select((events::seq, COLUMNS))
        .get_result::<(i64, Columns)>(connection)
        .optional()?;
    row.map(read_logged).transpose()
}

type Columns = (Vec<u8>, i64, Vec<u8>, bool, String);

const COLUMNS: (
    events::id,
    events::occurred_at,
    events::content_hash,
    events::redacted,
    events::body,
) = (
    events::id,
    events::occurred_at,
    events::content_hash,
    events::redacted,
    events::body,
);

fn read_columns((id, occurred_at, content_hash, redacted, canonical): Columns) -> Result<StoredEvent> {
    let content_hash = content_hash
        .try_into()
        .map_err(|_| StoreError::Damaged { what: "content hash" })?;
    Ok(StoredEvent {
        id: read_id(id)?,
        occurred_at: Timestamp::from_micros(occurred_at),
        canonical,
        content_hash: ContentHash::from_bytes(content_hash),
        redacted,
    })
}

fn read_logged((seq, columns): (i64, Columns)) -> Result<LoggedEvent> {
    Ok(LoggedEvent {
        seq: seq.cast_unsigned(),
        event: read_columns(columns)?,
    })
}
