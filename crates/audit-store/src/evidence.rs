//! Which events of a ledger occurred between two moments.

use crate::append::LedgerId;
use crate::connection::AnyConnection;
use crate::entry::{SEQ_END, entry, ledger_and_seq};
use crate::error::Result;
use crate::query::sqlite::{first_position, position_after};
use crate::rows::Rows;
use crate::schema::{postgres, sqlite};
use audit_domain::Timestamp;
use diesel::prelude::*;

/// Rows that one statement looks for: PostgreSQL's have only so much time.
const READ_ROWS_MAX: i64 = 20_000;

impl Rows<'_> {
    /// The places of the events that occurred from `start` to `end`, both included, in the order of the log. Holds eight
    /// bytes for each.
    ///
    /// # Errors
    /// When the database cannot be asked.
    pub fn seqs_between(
        &mut self,
        ledger_id: LedgerId,
        start: Timestamp,
        end: Timestamp,
    ) -> Result<Vec<u64>> {
        let mut seqs = match self.connection {
            AnyConnection::Sqlite(sqlite) => on_sqlite(sqlite, ledger_id, start, end)?,
            AnyConnection::Postgres(postgres) => on_postgres(postgres, ledger_id, start, end)?,
        };
        seqs.sort_unstable();
        Ok(seqs)
    }
}

fn on_sqlite(
    connection: &mut SqliteConnection,
    ledger_id: LedgerId,
    start: Timestamp,
    end: Timestamp,
) -> Result<Vec<u64>> {
    use sqlite::event_times;
    // Events keep milliseconds: the first at or after `start` is in the millisecond that is not before it.
    let mut next = first_position(-(-start.as_micros()).div_euclid(1_000));
    let end = position_after(first_position(end.as_millis()));
    let mut seqs = Vec::new();
    loop {
        let rows: Vec<(i64, i64)> = event_times::table
            .filter(event_times::position.ge(next))
            .filter(event_times::position.lt(end))
            .filter(event_times::entry.ge(entry(ledger_id, 0)))
            .filter(event_times::entry.lt(entry(ledger_id, SEQ_END)))
            .order(event_times::position)
            .limit(READ_ROWS_MAX)
            .load(connection)?;
        let Some((last, _)) = rows.last() else {
            return Ok(seqs);
        };
        next = last + 1;
        seqs.extend(
            rows.into_iter()
                .map(|(_, entry)| ledger_and_seq(entry).1.cast_unsigned()),
        );
    }
}

fn on_postgres(
    connection: &mut PgConnection,
    ledger_id: LedgerId,
    start: Timestamp,
    end: Timestamp,
) -> Result<Vec<u64>> {
    use postgres::events;
    let (mut occurred_at, mut id) = (start.as_micros(), Vec::new());
    let mut seqs = Vec::new();
    loop {
        let rows: Vec<(i64, Vec<u8>, i64)> = events::table
            .filter(events::ledger_id.eq(ledger_id.0))
            .filter(events::occurred_at.ge(occurred_at))
            .filter(events::occurred_at.le(end.as_micros()))
            .filter(events::occurred_at.gt(occurred_at).or(events::id.gt(id)))
            .order((events::occurred_at, events::id))
            .limit(READ_ROWS_MAX)
            .select((events::occurred_at, events::id, events::seq))
            .load(connection)?;
        seqs.extend(rows.iter().map(|(_, _, seq)| seq.cast_unsigned()));
        let Some((last_at, last_id, _)) = rows.into_iter().next_back() else {
            return Ok(seqs);
        };
        (occurred_at, id) = (last_at, last_id);
    }
}
