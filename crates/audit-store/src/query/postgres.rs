//! Candidates on PostgreSQL: the planner chooses between the index in time order and the inverted one.

use super::Candidates;
use crate::append::LedgerId;
use crate::append::sqlite::read_id;
use crate::error::{Result, StoreError};
use crate::schema::postgres::events;
use crate::tokens::tsquery;
use audit_domain::{ContentHash, EventId, Position, StoredEvent, Timestamp};
use diesel::PgConnection;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Bool, Text};

/// Walks backwards through the candidates.
#[derive(Debug)]
pub(crate) struct Scan {
    candidates: Candidates,
    after: Option<Position>,
}

impl Scan {
    pub(crate) fn open(candidates: Candidates, after: Option<Position>) -> Self {
        Self { candidates, after }
    }

    pub(crate) fn next(&mut self, connection: &mut PgConnection, rows: usize) -> Result<Vec<StoredEvent>> {
        let mut query = events::table
            .filter(events::ledger_id.eq(self.candidates.ledger_id.0))
            .select(COLUMNS)
            .order((events::occurred_at.desc(), events::id.desc()))
            .limit(i64::try_from(rows).unwrap_or(i64::MAX))
            .into_boxed();
        if let Some(start) = self.candidates.start {
            query = query.filter(events::occurred_at.ge(start.as_micros()));
        }
        if let Some(end) = self.candidates.end {
            query = query.filter(events::occurred_at.le(end.as_micros()));
        }
        if !self.candidates.terms.is_empty() {
            let expression = tsquery(&self.candidates.terms);
            query = query.filter(
                sql::<Bool>("tokens @@ ")
                    .bind::<Text, _>(expression)
                    .sql("::tsquery"),
            );
        }
        if let Some(after) = self.after {
            let before_row = sql::<Bool>("(occurred_at, id) < (")
                .bind::<BigInt, _>(after.occurred_at.as_micros())
                .sql(", ")
                .bind::<Binary, _>(after.id.to_bytes().to_vec())
                .sql(")");
            query = query.filter(before_row);
        }
        let found: Vec<StoredEvent> = query
            .load::<Row>(connection)?
            .into_iter()
            .map(read_row)
            .collect::<Result<_>>()?;
        self.after = found
            .last()
            .map(|event| Position {
                occurred_at: event.occurred_at,
                id: event.id,
            })
            .or(self.after);
        Ok(found)
    }
}

type Row = (Vec<u8>, i64, Vec<u8>, bool, String);
type Columns = (
    events::id,
    events::occurred_at,
    events::content_hash,
    events::redacted,
    events::body,
);
const COLUMNS: Columns = (
    events::id,
    events::occurred_at,
    events::content_hash,
    events::redacted,
    events::body,
);

fn read_row((id, occurred_at, content_hash, redacted, canonical): Row) -> Result<StoredEvent> {
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

/// One event by its id.
pub(crate) fn event(
    connection: &mut PgConnection,
    ledger_id: LedgerId,
    id: EventId,
) -> Result<Option<StoredEvent>> {
    let row = events::table
        .filter(events::ledger_id.eq(ledger_id.0))
        .filter(events::id.eq(id.to_bytes().as_slice()))
        .select(COLUMNS)
        .first::<Row>(connection)
        .optional()?;
    row.map(read_row).transpose()
}
