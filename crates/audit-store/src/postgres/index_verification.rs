//! The index on PostgreSQL, for its verification.

use super::PostgresSession;
use super::events::{RawEvent, first_month_of, raw_event};
use super::index::segments::{FoundBlocks, SegmentRow};
use super::index::{RowKey, backlog};
use super::schema::{event_backlog, events, index_format, index_segments};
use super::statements::FindRows;
use crate::error::{Result, StoreError};
use crate::ids::LedgerId;
use crate::schema::{ledger_actions, ledgers};
use crate::search::FORMAT;
use crate::search::verification::{EventPlace, IndexReport, RowEvent, VerifiedIndex, verify};
use audit_domain::EventId;
use audit_index::{Blocks, Damaged, Segment};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Bool};
use std::collections::HashMap;
use std::ops::Range;

/// Events that one statement lists.
const LISTED_EVENTS: i64 = 20_000;

/// Verifies the index in one snapshot.
pub(crate) fn verify_index(
    session: &mut PostgresSession,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<IndexReport> {
    session.connection.batch_execute(
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0; \
         SET LOCAL idle_in_transaction_session_timeout = 0",
    )?;
    let outcome = check_format(&mut session.connection).and_then(|()| verify(session, progress));
    let ended = session.connection.batch_execute("ROLLBACK");
    let report = outcome?;
    ended?;
    Ok(report)
}

fn check_format(connection: &mut PgConnection) -> Result<()> {
    let format: Option<i32> = index_format::table
        .select(index_format::format)
        .get_result(connection)
        .optional()?;
    match format {
        Some(FORMAT) => Ok(()),
        Some(_) => Err(StoreError::Unverifiable(
            "it has another format: another version of the program wrote it",
        )),
        None => Err(StoreError::Unverifiable("no node has written it yet")),
    }
}

impl VerifiedIndex for PostgresSession {
    type Id = RowKey;

    fn segments(&mut self) -> Result<Vec<Result<Segment<RowKey>, Damaged>>> {
        let rows: Vec<SegmentRow> = index_segments::table
            .filter(index_segments::is_complete.eq(true))
            .select(SegmentRow::as_select())
            .load(&mut self.connection)?;
        let read = |row: SegmentRow| match row.read() {
            Ok(segment) => Ok(Ok(segment)),
            Err(StoreError::DamagedIndex(damaged)) => Ok(Err(damaged)),
            Err(StoreError::Damaged { what }) => Ok(Err(Damaged { place: None, what })),
            Err(error) => Err(error),
        };
        rows.into_iter().map(read).collect()
    }

    fn blocks(&mut self) -> impl Blocks<Error = StoreError> {
        FoundBlocks(&mut self.connection)
    }

    fn events_of(&mut self, rows: &[(RowKey, Option<LedgerId>)]) -> Result<Vec<Option<RowEvent>>> {
        let ids: Vec<[u8; 16]> = rows.iter().map(|((_, id), _)| id.to_be_bytes()).collect();
        let of_ledger = |(ledger_id, id): (&Option<LedgerId>, _)| Some(((*ledger_id)?.0, id));
        let ledgers = rows.iter().map(|(_, ledger_id)| ledger_id);
        let (ledger_ids, wanted): (Vec<i64>, Vec<&[u8]>) = ledgers
            .zip(ids.iter().map(<[u8; 16]>::as_slice))
            .filter_map(of_ledger)
            .unzip();
        let months = wanted_months(&wanted);
        let found: Vec<FoundRow> = FindRows {
            ledger_ids,
            ids: wanted,
            months,
        }
        .load(&mut self.connection)?;
        let mut found: HashMap<(RowKey, Option<LedgerId>), RowEvent> =
            found.into_iter().map(row_event).collect();
        let event = |row: &(RowKey, Option<LedgerId>)| match row {
            (_, Some(_)) => Ok(found.remove(row)),
            (key, None) => event_without_tokens(&mut self.connection, *key),
        };
        rows.iter().map(event).collect()
    }

    /// A row that names no ledger is of an event that was made invalid, which is never removed.
    fn is_gone(&mut self, (at, id): RowKey, ledger_id: Option<LedgerId>) -> Result<bool> {
        #[derive(QueryableByName)]
        struct Found {
            #[diesel(sql_type = Bool)]
            is_gone: bool,
        }
        let Some(ledger_id) = ledger_id else {
            return Ok(false);
        };
        let found: Found = diesel::sql_query(
            "SELECT EXISTS (SELECT FROM ledgers JOIN ledger_months ON ledger_months.ledger_id = ledgers.id \
                 JOIN removed_rows ON removed_rows.group_id = ledgers.group_id \
                     AND removed_rows.month = ledger_months.month \
                     AND removed_rows.occurred_at = $2 AND removed_rows.id = $3 \
                 WHERE ledgers.id = $1) AS is_gone",
        )
        .bind::<BigInt, _>(ledger_id.0)
        .bind::<BigInt, _>(at)
        .bind::<Binary, _>(id.to_be_bytes().as_slice())
        .get_result(&mut self.connection)?;
        Ok(found.is_gone)
    }

    fn actions(&mut self) -> Result<Vec<(i64, String)>> {
        let rows = ledger_actions::table.select((ledger_actions::ledger_id, ledger_actions::action));
        Ok(rows.load(&mut self.connection)?)
    }

    fn backlog(&mut self) -> Result<Vec<(LedgerId, Range<i64>)>> {
        let rows: Vec<(i64, i64, i64)> = event_backlog::table
            .select((
                event_backlog::ledger_id,
                event_backlog::first_seq,
                event_backlog::end_seq,
            ))
            .load(&mut self.connection)?;
        let range = |(id, start, end)| (LedgerId(id), start..end);
        Ok(rows.into_iter().map(range).collect())
    }

    fn for_each_event(&mut self, see: &mut dyn FnMut(EventPlace)) -> Result<()> {
        let ids: Vec<i64> = ledgers::table
            .select(ledgers::id)
            .order(ledgers::id)
            .load(&mut self.connection)?;
        for id in ids {
            let mut after = i64::MIN;
            loop {
                let seqs: Vec<i64> = events::table
                    .filter(events::ledger_id.eq(id))
                    .filter(events::seq.gt(after))
                    .order(events::seq)
                    .limit(LISTED_EVENTS)
                    .select(events::seq)
                    .load(&mut self.connection)?;
                let ledger_id = LedgerId(id);
                seqs.iter()
                    .for_each(|seq| see(EventPlace { ledger_id, seq: *seq }));
                match seqs.last() {
                    Some(last) => after = *last,
                    None => break,
                }
            }
        }
        Ok(())
    }
}

/// The first month of each id.
fn wanted_months(ids: &[&[u8]]) -> Vec<i32> {
    let month = |id: &&[u8]| {
        let id = <[u8; 16]>::try_from(*id).ok();
        id.map_or(i32::MIN, |id| first_month_of(EventId::from_bytes(id)).number())
    };
    ids.iter().map(month).collect()
}

/// Ledger, and the columns of an event.
type FoundRow = (i64, i64, Vec<u8>, i64, Vec<u8>, Vec<u8>, bool, String);

fn row_event(
    (ledger_id, seq, id, at, hash, salt, redacted, body): FoundRow,
) -> ((RowKey, Option<LedgerId>), RowEvent) {
    let ledger_id = LedgerId(ledger_id);
    let (seq, key, event): RawEvent = raw_event(seq, (id, at, hash, salt, redacted, body));
    let mut tokens = String::new();
    // An event that was made invalid is indexed without tokens; `log verify` reports it.
    if let Err(error) = event.and_then(|event| backlog::push_tokens(&mut tokens, ledger_id, &event)) {
        log::debug!("event {seq} has no tokens: {error}");
    }
    let place = EventPlace { ledger_id, seq };
    ((key, Some(ledger_id)), RowEvent { place, tokens })
}

/// The event of a row without tokens, which do not name its ledger: it was invalid when it was indexed.
fn event_without_tokens(connection: &mut PgConnection, (at, id): RowKey) -> Result<Option<RowEvent>> {
    let row: Option<FoundRow> = events::table
        .filter(events::occurred_at.eq(at))
        .filter(events::id.eq(id.to_be_bytes().as_slice()))
        .select((
            events::ledger_id,
            events::seq,
            events::id,
            events::occurred_at,
            events::content_hash,
            events::content_salt,
            events::redacted,
            events::body,
        ))
        .limit(1)
        .get_result(connection)
        .optional()?;
    Ok(row.map(|row| row_event(row).1))
}
