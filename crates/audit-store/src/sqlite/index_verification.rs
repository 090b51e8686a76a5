//! The index on SQLite, for its verification.

use super::SqliteSession;
use super::entry::ledger_and_seq;
use super::index::segments::SegmentBlocks;
use super::index::{self, backlog, rebuild};
use super::rows::position_of;
use super::schema::{event_backlog, event_times, removed_rows};
use crate::error::{Result, StoreError};
use crate::ids::LedgerId;
use crate::schema::ledger_actions;
use crate::search::FORMAT;
use crate::search::verification::{EventPlace, IndexReport, RowEvent, VerifiedIndex, verify};
use audit_index::{Blocks, Damaged, Segment};
use diesel::connection::{DefaultLoadingMode, SimpleConnection};
use diesel::dsl::{exists, max, select};
use diesel::prelude::*;
use diesel::sql_types::Integer;
use std::ops::Range;

/// How often the beginning is repeated while the index gets ahead of the snapshot of the events.
const BEGIN_ATTEMPTS_MAX: u32 = 100;

/// Verifies the index in one snapshot of the database and one of the index.
pub(crate) fn verify_index(
    session: &mut SqliteSession,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<IndexReport> {
    begin(&mut session.connection)?;
    let outcome = verify(session, progress);
    let ended = session.connection.batch_execute("ROLLBACK");
    let report = outcome?;
    ended?;
    Ok(report)
}

/// Begins the two snapshots. The database's is the older one, so that every commit is in its backlog or in the index; an
/// index that has later commits as well would have rows whose events are not in the snapshot.
fn begin(connection: &mut SqliteConnection) -> Result<()> {
    for _ in 0..BEGIN_ATTEMPTS_MAX {
        connection.batch_execute("BEGIN")?;
        let newest: Option<i64> = event_backlog::table
            .select(max(event_backlog::id))
            .get_result(connection)?;
        if !has_format(connection)? {
            return Err(StoreError::Unverifiable(
                "it has another format; the next start of the server rebuilds it",
            ));
        }
        if rebuild::reached(connection)? != rebuild::COMPLETE {
            return Err(StoreError::Unverifiable("it is being rebuilt"));
        }
        if backlog::last_indexed(connection)? <= newest.unwrap_or(0) {
            return Ok(());
        }
        connection.batch_execute("ROLLBACK")?;
    }
    Err(StoreError::Unverifiable(
        "it does not belong to the database, or changes all the time",
    ))
}

fn has_format(connection: &mut SqliteConnection) -> Result<bool> {
    #[derive(QueryableByName)]
    struct Version {
        #[diesel(sql_type = Integer)]
        user_version: i32,
    }
    let version: Version = diesel::sql_query("PRAGMA search.user_version").get_result(connection)?;
    Ok(version.user_version == FORMAT)
}

impl VerifiedIndex for SqliteSession {
    type Id = i64;

    fn segments(&mut self) -> Result<Vec<Result<Segment, Damaged>>> {
        SegmentBlocks(&mut self.connection).complete_or_damaged()
    }

    fn blocks(&mut self) -> impl Blocks<Error = StoreError> {
        SegmentBlocks(&mut self.connection)
    }

    fn events_of(&mut self, rows: &[(i64, Option<LedgerId>)]) -> Result<Vec<Option<RowEvent>>> {
        let connection = &mut self.connection;
        rows.iter()
            .map(|(position, _)| event_at(connection, *position))
            .collect()
    }

    fn is_gone(&mut self, position: i64, _: Option<LedgerId>) -> Result<bool> {
        let row = removed_rows::table.find(position);
        Ok(select(exists(row)).get_result(&mut self.connection)?)
    }

    fn actions(&mut self) -> Result<Vec<(i64, String)>> {
        let rows = ledger_actions::table.select((ledger_actions::ledger_id, ledger_actions::action));
        Ok(rows.load(&mut self.connection)?)
    }

    fn backlog(&mut self) -> Result<Vec<(LedgerId, Range<i64>)>> {
        let commits = backlog::unindexed(&mut self.connection, usize::MAX)?;
        let runs = commits.iter().flat_map(|(_, runs)| backlog::Run::all(runs));
        let seqs = runs.map(|entries| {
            let (ledger_id, first) = ledger_and_seq(entries.start);
            (ledger_id, first..first + (entries.end - entries.start))
        });
        Ok(seqs.collect())
    }

    /// By the order of time, which is where a query finds them. `log verify` compares it with the order of the log.
    fn for_each_event(&mut self, see: &mut dyn FnMut(EventPlace)) -> Result<()> {
        let entries = event_times::table.select(event_times::entry);
        for entry in entries.load_iter::<i64, DefaultLoadingMode>(&mut self.connection)? {
            let (ledger_id, seq) = ledger_and_seq(entry?);
            see(EventPlace { ledger_id, seq });
        }
        Ok(())
    }
}

fn event_at(connection: &mut SqliteConnection, position: i64) -> Result<Option<RowEvent>> {
    let entry = event_times::table.find(position).select(event_times::entry);
    let Some(entry) = entry.get_result::<i64>(connection).optional()? else {
        return Ok(None);
    };
    if position_of(connection, entry)? != Some(position) {
        return Ok(None);
    }
    let (ledger_id, seq) = ledger_and_seq(entry);
    Ok(Some(RowEvent {
        place: EventPlace { ledger_id, seq },
        tokens: index::tokens_of(connection, entry)?.into_owned(),
    }))
}
