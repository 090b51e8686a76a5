//! Candidates on PostgreSQL.
//!
//! A frequent token is found fastest by walking the index in time order, a rare one by the inverted index, and the planner
//! cannot tell which it is when tokens depend on each other: two that are frequent, and never occur together, made it walk
//! two million rows. So it does not choose: the walk is tried over a bounded number of rows, and what that does not
//! answer is asked of the inverted index.

use super::{Candidates, LoggedEvent};
use crate::append::LedgerId;
use crate::append::sqlite::read_id;
use crate::error::{Result, StoreError};
use crate::schema::postgres::events;
use crate::tokens::tsquery;
use audit_domain::{ContentHash, EventId, Position, StoredEvent, Timestamp};
use diesel::PgConnection;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Bool, Text};

/// Rows that are walked through in time order before the inverted index is asked.
const WALKED_ROWS_MAX: i64 = 4_000;

/// Walks backwards through the candidates.
#[derive(Debug)]
pub(crate) struct Scan {
    ledger_id: i64,
    expression: Option<String>,
    /// Inclusive, in microseconds.
    start: i64,
    /// What comes next is before this place.
    before: (i64, Vec<u8>),
    walk: bool,
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = Binary)]
    id: Vec<u8>,
    #[diesel(sql_type = BigInt)]
    occurred_at: i64,
    #[diesel(sql_type = Binary)]
    content_hash: Vec<u8>,
    #[diesel(sql_type = Bool)]
    redacted: bool,
    #[diesel(sql_type = Text)]
    body: String,
}

#[derive(QueryableByName)]
struct RowCount {
    #[diesel(sql_type = BigInt)]
    rows: i64,
}

/// Rows of the ledger within the bounds; every form of the question begins with these.
const WITHIN: &str = "ledger_id = $1 AND occurred_at >= $2 AND (occurred_at, id) < ($3, $4)";
const ORDER: &str = "ORDER BY occurred_at DESC, id DESC";

impl Scan {
    pub(crate) fn open(candidates: Candidates, after: Option<Position>) -> Self {
        // Ids have 16 bytes, so 17 of them are behind every id of that time.
        let end = candidates.end.map_or((i64::MAX, vec![0xFF; 17]), |end| {
            (end.as_micros(), vec![0xFF; 17])
        });
        let after = after.map(|after| (after.occurred_at.as_micros(), after.id.to_bytes().to_vec()));
        Self {
            ledger_id: candidates.ledger_id.0,
            expression: (!candidates.terms.is_empty()).then(|| tsquery(&candidates.terms)),
            start: candidates.start.map_or(i64::MIN, Timestamp::as_micros),
            before: after.map_or(end.clone(), |after| after.min(end)),
            walk: true,
        }
    }

    pub(crate) fn next(&mut self, connection: &mut PgConnection, rows: usize) -> Result<Vec<StoredEvent>> {
        let limit = i64::try_from(rows).unwrap_or(i64::MAX);
        let found = match &self.expression {
            None => self.ask(
                connection,
                &format!("SELECT * FROM events WHERE {WITHIN} {ORDER} LIMIT $5"),
                None,
                limit,
            )?,
            Some(expression) => {
                let walked = match self.walk {
                    true => self.walk(connection, expression, limit)?,
                    false => Vec::new(),
                };
                // Where the walk fell short, what it looked at is looked at again, by the index, and from there on only
                // the index is asked.
                if walked.len() == rows || (self.walk && self.is_short(connection)?) {
                    walked
                } else {
                    let found = self.look_up(connection, expression, limit)?;
                    self.walk = false;
                    found
                }
            }
        };
        if let Some(last) = found.last() {
            self.before = (last.occurred_at, last.id.clone());
        }
        found.into_iter().map(read_row).collect()
    }

    fn walk(&self, connection: &mut PgConnection, expression: &str, limit: i64) -> Result<Vec<Row>> {
        let sql = format!(
            "SELECT * FROM (SELECT * FROM events WHERE {WITHIN} {ORDER} LIMIT {WALKED_ROWS_MAX}) walked \
             WHERE tokens @@ $6::tsquery {ORDER} LIMIT $5"
        );
        self.ask(connection, &sql, Some(expression), limit)
    }

    /// Whether a walk comes to the end of the time range. Without a start it is not asked: the ledger may be long.
    fn is_short(&self, connection: &mut PgConnection) -> Result<bool> {
        if self.start == i64::MIN {
            return Ok(false);
        }
        let sql = format!("SELECT count(*) AS rows FROM (SELECT FROM events WHERE {WITHIN} LIMIT $5) within");
        let counts: Vec<RowCount> = self.ask(connection, &sql, None, WALKED_ROWS_MAX + 1)?;
        Ok(counts.iter().all(|count| count.rows <= WALKED_ROWS_MAX))
    }

    fn look_up(&self, connection: &mut PgConnection, expression: &str, limit: i64) -> Result<Vec<Row>> {
        let sql = format!(
            "WITH hits AS MATERIALIZED \
                 (SELECT ledger_id, seq, occurred_at, id FROM events WHERE {WITHIN} AND tokens @@ $6::tsquery), \
             page AS MATERIALIZED (SELECT * FROM hits {ORDER} LIMIT $5) \
             SELECT events.* FROM page JOIN events USING (ledger_id, seq) \
             ORDER BY events.occurred_at DESC, events.id DESC"
        );
        self.ask(connection, &sql, Some(expression), limit)
    }

    fn ask<T: QueryableByName<Pg> + 'static>(
        &self,
        connection: &mut PgConnection,
        sql: &str,
        expression: Option<&str>,
        limit: i64,
    ) -> Result<Vec<T>> {
        let query = diesel::sql_query(sql)
            .bind::<BigInt, _>(self.ledger_id)
            .bind::<BigInt, _>(self.start)
            .bind::<BigInt, _>(self.before.0)
            .bind::<Binary, _>(&self.before.1)
            .bind::<BigInt, _>(limit);
        Ok(match expression {
            Some(expression) => query.bind::<Text, _>(expression).load(connection)?,
            None => query.load(connection)?,
        })
    }
}

fn read_row(row: Row) -> Result<StoredEvent> {
    let content_hash = row
        .content_hash
        .try_into()
        .map_err(|_| StoreError::Damaged { what: "content hash" })?;
    Ok(StoredEvent {
        id: read_id(row.id)?,
        occurred_at: Timestamp::from_micros(row.occurred_at),
        canonical: row.body,
        content_hash: ContentHash::from_bytes(content_hash),
        redacted: row.redacted,
    })
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

fn read_logged((seq, columns): (i64, Columns)) -> Result<LoggedEvent> {
    let (id, occurred_at, content_hash, redacted, body) = columns;
    let event = read_row(Row {
        id,
        occurred_at,
        content_hash,
        redacted,
        body,
    })?;
    Ok(LoggedEvent {
        seq: seq.cast_unsigned(),
        event,
    })
}
