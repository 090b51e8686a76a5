//! Appending on SQLite.

use super::connection::checkpoint_and_truncate;
use super::entry::entry;
use super::index::backlog::{self, Run};
use super::rows::{first_position, months_of, position_after};
use super::schema::{event_times, removed_rows, unordered_events};
use super::statements::{InsertEvent, InsertTime, UpdateHead};
use super::{AppendMemory, Memory, SqliteSession, keys};
use crate::alerts::NewAlertRow;
use crate::append::alert_groups::AlertGroups;
use crate::append::idempotency::KnownKeys;
use crate::append::plan::{NewRow, Plan};
use crate::append::request::{AppendOutcome, AppendRequest};
use crate::append::{AppendSession, FailedCommit, commit_waiting, inline::append_one, ledgers_of};
use crate::database::session::Session;
use crate::error::Result;
use crate::ids::LedgerId;
use crate::ledgers::head::{Head, LedgerMonth, NewHead};
use crate::ledgers::heads::{HEAD_COLUMNS, HeadRow};
use crate::queue::{Queue, WaitingAppend};
use crate::row_code::RowCode;
use crate::schema::{
    alert_groups, alerts, ledger_actions, ledger_months, ledger_senders, ledgers, webhook_deliveries,
};
use crate::search::{BACKLOG_EVENTS_MAX, BACKLOG_WAIT};
use crate::tree::TreeSession;
use audit_alerts::GroupHash;
use audit_domain::{IdempotencyWindow, ProjectId, Timestamp};
use diesel::connection::SimpleConnection;
use diesel::dsl::{exists, sql};
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use diesel::sqlite::SqliteConnection;
use std::collections::{BTreeSet, HashMap};

/// Rows of one insert: SQLite takes 32,766 parameters.
const INSERTED_ROWS_MAX: usize = 1_000;

/// Appends waiting requests in one transaction.
pub(crate) fn commit(
    session: &mut SqliteSession,
    waiting: &mut Vec<WaitingAppend>,
    queue: &Queue,
    day: i64,
) -> Result<Plan, FailedCommit> {
    let appends = &mut session.memory.appends;
    appends.actions.rolled_back();
    appends.senders.rolled_back();
    appends.pending = None;
    if let Some(keys) = &mut appends.keys {
        keys.rolled_back();
    }
    // The writer holds the whole database, so the requests of one ledger would fail as those of all do.
    let ledgers = ledgers_of(waiting);
    let plan = commit_waiting(session, waiting, &ledgers, queue, day, false)?;
    let appends = &mut session.memory.appends;
    appends.wal.add_events(plan.rows.len());
    appends.actions.committed();
    appends.senders.committed();
    if let Some(keys) = &mut appends.keys {
        let rows = plan.rows.iter();
        let key = |row: &NewRow| row.event.idempotency.map(|key| key.hash);
        keys.committed(rows.map(|row| (row.ledger_id, row.seq, row.month, key(row))));
    }
    if let Some(entry) = appends.pending.take() {
        appends.backlog.add(entry, plan.rows.len());
    }
    Ok(plan)
}

/// Appends one request within a transaction that its caller may still roll back. It uses no cached state, which could
/// not be rolled back with it.
pub(crate) fn inline(session: &mut SqliteSession, request: AppendRequest, now: Timestamp) -> AppendOutcome {
    let ledger_id = request.destination.ledger_id;
    let appends = std::mem::take(&mut session.memory.appends);
    let outcome = append_one(session, request, now);
    session.memory.appends = appends;
    session.memory.extended.insert(ledger_id);
    outcome
}

/// After each commit and transaction: has a long write-ahead log checkpointed, and waits for an indexer that is far behind.
pub(crate) fn after_work(session: &mut SqliteSession) {
    let Session { connection, memory } = session;
    let Memory { shared, appends, .. } = memory;
    if let Err(error) = appends.wal.after_commit(connection, &shared.wal) {
        log::warn!("cannot checkpoint the write-ahead log: {error}");
    }
    if let Some(oldest) = appends.backlog.oldest_beyond(BACKLOG_EVENTS_MAX) {
        shared
            .progress
            .wait_for_position(BACKLOG_WAIT, |indexed| indexed >= oldest);
    }
}

/// How long a clean stop waits for a reader that still needs the write-ahead log, such as a backup.
const CLOSE_TIMEOUT_MS: u32 = 1_000;

/// Before a clean stop: moves the write-ahead log into the database file, so that a copy of the file is a backup. While another
/// process or a backup reads, the rest is left to the next start.
pub(crate) fn before_close(session: &mut SqliteSession) {
    let timeout = format!("PRAGMA busy_timeout = {CLOSE_TIMEOUT_MS}");
    if let Err(error) = session.connection.batch_execute(&timeout) {
        log::warn!("cannot set the timeout of the last checkpoint: {error}");
    }
    if let Err(error) = checkpoint_and_truncate(&mut session.connection) {
        log::warn!("cannot move the write-ahead log into the database: {error}");
    }
}

/// SQLite has one group.
#[expect(clippy::unnecessary_wraps, reason = "PostgreSQL's can fail")]
pub(crate) fn group_of(_: &mut SqliteSession, _: ProjectId) -> Result<i64> {
    Ok(0)
}

/// The number of a new ledger. The writer holds the whole database, so the next number is its own.
pub(crate) fn next_ledger_number(session: &mut SqliteSession) -> Result<i64> {
    let last: Option<i64> = ledgers::table
        .select(ledgers::id)
        .order(ledgers::id.desc())
        .limit(1)
        .get_result(&mut session.connection)
        .optional()?;
    Ok(last.unwrap_or(0) + 1)
}

/// A random number.
#[expect(
    clippy::disallowed_methods,
    reason = "once for each change of a configuration"
)]
pub(crate) fn random_number(session: &mut SqliteSession) -> Result<i64> {
    Ok(diesel::select(sql::<BigInt>("random()")).get_result(&mut session.connection)?)
}

impl AppendSession for SqliteSession {
    fn idempotency_window(&self) -> IdempotencyWindow {
        self.memory.shared.window
    }

    /// The writer holds the whole database.
    fn lock_heads(&mut self, ledgers: &BTreeSet<LedgerId>) -> Result<Vec<(i64, HeadRow, Vec<LedgerMonth>)>> {
        let mut heads = Vec::with_capacity(ledgers.len());
        for ledger_id in ledgers {
            let row: Option<HeadRow> = ledgers::table
                .find(ledger_id.0)
                .select(HEAD_COLUMNS)
                .get_result(&mut self.connection)
                .optional()?;
            if let Some(row) = row {
                let months = months_of(&mut self.connection, *ledger_id)?;
                heads.push((ledger_id.0, row, months));
            }
        }
        Ok(heads)
    }

    fn find_keys(
        &mut self,
        requests: &[AppendRequest],
        heads: &HashMap<LedgerId, Head>,
    ) -> Result<KnownKeys> {
        keys::find_keys(self, requests, heads)
    }

    fn find_alert_groups(&mut self, groups: &BTreeSet<(LedgerId, GroupHash)>) -> Result<AlertGroups> {
        let mut found = AlertGroups::new();
        for (ledger_id, group) in groups {
            let state = alert_groups::table
                .find((ledger_id.0, group.as_bytes().as_slice()))
                .select(alert_groups::state)
                .get_result::<Vec<u8>>(&mut self.connection)
                .optional()?;
            found.extend(state.map(|state| ((*ledger_id, *group), state)));
        }
        Ok(found)
    }

    fn write_events(&mut self, plan: &Plan, heads: &[NewHead]) -> Result<()> {
        let codes = self.heads()?.row_codes();
        let Session { connection, memory } = self;
        let Memory { shared, appends, .. } = memory;
        let mut positioned = positioned(connection, &plan.rows)?;
        // In the order of the log, so that B-trees grow at their ends.
        positioned.sort_unstable_by_key(|(_, row)| (row.ledger_id, row.seq));
        let codes = plan.row_codes(&codes, positioned.iter().map(|(_, row)| *row));
        insert_events(connection, &positioned, codes)?;
        let mut runs = Vec::new();
        for rows in positioned.chunk_by(|(_, one), (_, next)| one.ledger_id == next.ledger_id) {
            keys::write_keys(connection, rows)?;
            runs.extend(rows.first().map(|(_, first)| Run {
                ledger_id: first.ledger_id,
                first_seq: first.seq,
                events: rows.len() as i64,
                month: first.month,
            }));
        }
        positioned.sort_unstable_by_key(|(position, _)| *position);
        insert_times(connection, &positioned)?;
        let events = positioned.iter().map(|(position, row)| (*row, *position));
        let entry = backlog::add(connection, runs.into_iter(), events, shared)?;
        let AppendMemory {
            actions,
            senders,
            keys,
            pending,
            ..
        } = appends;
        *pending = Some(entry);
        if let Some(keys) = keys {
            keys.store(connection)?;
        }
        actions.write_new(plan, |ledger_id, action| {
            insert_action(connection, ledger_id, action)
        })?;
        for sender in senders.begin_new(plan) {
            diesel::insert_or_ignore_into(ledger_senders::table)
                .values(sender)
                .execute(connection)?;
        }
        insert_months(connection, &plan.entered)?;
        update_heads(connection, heads)
    }

    fn write_alerts(&mut self, plan: &Plan) -> Result<()> {
        for ((ledger_id, group), (state, expires_at)) in &plan.counts.changed() {
            diesel::replace_into(alert_groups::table)
                .values((
                    alert_groups::ledger_id.eq(ledger_id.0),
                    alert_groups::group_hash.eq(group.as_bytes().as_slice()),
                    alert_groups::state.eq(state),
                    alert_groups::expires_at.eq(expires_at.as_micros()),
                ))
                .execute(&mut self.connection)?;
        }
        for raised in plan.alerts.chunks(INSERTED_ROWS_MAX) {
            let rows: Vec<_> = raised.iter().map(NewAlertRow::of).collect();
            diesel::insert_into(alerts::table)
                .values(rows)
                .execute(&mut self.connection)?;
        }
        for deliveries in plan.deliveries.chunks(INSERTED_ROWS_MAX) {
            diesel::insert_into(webhook_deliveries::table)
                .values(deliveries.to_vec())
                .execute(&mut self.connection)?;
        }
        Ok(())
    }
}

/// Inserts events, and lists those whose ids are not in the order of the log.
fn insert_events(
    connection: &mut SqliteConnection,
    positioned: &[(i64, &NewRow)],
    codes: impl Iterator<Item = RowCode>,
) -> Result<()> {
    for ((position, row), row_code) in positioned.iter().zip(codes) {
        let (stamp, content_hash) = (row.event.record.stamp(), row.event.record.content_hash());
        let insert = InsertEvent {
            entry: entry(row.ledger_id, row.seq),
            position: *position,
            id: &stamp.id.to_bytes(),
            content_hash: content_hash.as_bytes(),
            content_salt: row.event.record.content_salt().as_bytes(),
            sent_digest: row
                .event
                .idempotency
                .as_ref()
                .map(|key| key.digest.as_bytes().as_slice()),
            redacted: row.event.record.redacted(),
            sender: row.event.sender.map(|sender| sender.id().0),
            row_code: &row_code,
            body: row.event.record.canonical(),
        };
        insert.execute(connection)?;
    }
    for (_, row) in positioned {
        if let Some(after_id) = row.after_id {
            diesel::insert_into(unordered_events::table)
                .values((
                    unordered_events::entry.eq(entry(row.ledger_id, row.seq)),
                    unordered_events::id.eq(row.event.record.stamp().id.to_bytes().as_slice()),
                    unordered_events::after_id.eq(after_id.to_bytes().as_slice()),
                ))
                .execute(connection)?;
        }
    }
    Ok(())
}

/// Inserts the positions of events in the order of time.
fn insert_times(connection: &mut SqliteConnection, positioned: &[(i64, &NewRow)]) -> Result<()> {
    for (position, row) in positioned {
        let insert = InsertTime {
            position: *position,
            entry: entry(row.ledger_id, row.seq),
        };
        insert.execute(connection)?;
    }
    Ok(())
}

/// Inserts an action, unless it exists.
fn insert_action(connection: &mut SqliteConnection, ledger_id: LedgerId, action: &str) -> Result<()> {
    diesel::insert_or_ignore_into(ledger_actions::table)
        .values((
            ledger_actions::ledger_id.eq(ledger_id.0),
            ledger_actions::action.eq(action),
        ))
        .execute(connection)?;
    Ok(())
}

/// Inserts the months that ledgers enter. A row that is there already is of events that were removed by hand.
fn insert_months(connection: &mut SqliteConnection, entered: &[(LedgerId, LedgerMonth)]) -> Result<()> {
    for (ledger_id, entered) in entered {
        diesel::replace_into(ledger_months::table)
            .values((
                ledger_months::ledger_id.eq(ledger_id.0),
                ledger_months::month.eq(entered.month.number()),
                ledger_months::first_seq.eq(entered.first_seq),
            ))
            .execute(connection)?;
    }
    Ok(())
}

fn update_heads(connection: &mut SqliteConnection, heads: &[NewHead]) -> Result<()> {
    for head in heads {
        let update = UpdateHead {
            ledger_id: head.ledger_id.0,
            size: head.size,
            last_event_id: &head.last.id.to_bytes(),
            last_received_at: head.last.received_at.as_micros(),
            frontier: &head.frontier,
            lifecycle_seq: head.lifecycle,
            head_code: &head.code,
            day: head.day,
            day_events: head.day_events,
        };
        update.execute(connection)?;
    }
    Ok(())
}

/// Gives every row a position in the order of time: the next free one of its millisecond.
fn positioned<'a>(connection: &mut SqliteConnection, rows: &'a [NewRow]) -> Result<Vec<(i64, &'a NewRow)>> {
    let removed = removed_rows::table.select(removed_rows::position);
    let has_removed: bool = diesel::select(exists(removed)).get_result(connection)?;
    let mut next_free: HashMap<i64, i64> = HashMap::new();
    let mut positioned = Vec::with_capacity(rows.len());
    for row in rows {
        let millis = row.event.record.occurred_at().as_millis();
        let position = match next_free.get(&millis) {
            Some(position) => *position,
            None => free_position(connection, first_position(millis), has_removed)?,
        };
        // A million events fill a millisecond; further ones take positions of the next.
        let after = position + 1;
        let following = if after == first_position(millis + 1) {
            free_position(connection, after, has_removed)?
        } else {
            after
        };
        next_free.insert(millis, following);
        positioned.push((position, row));
    }
    Ok(positioned)
}

/// The first free position from the millisecond of `first` on. That of a removed event is not free until the index has forgotten it.
pub(super) fn free_position(connection: &mut SqliteConnection, first: i64, has_removed: bool) -> Result<i64> {
    let mut first = first;
    loop {
        let end = position_after(first);
        // SQLite reads no further than the first row.
        let last: Option<i64> = event_times::table
            .filter(event_times::position.ge(first))
            .filter(event_times::position.lt(end))
            .select(event_times::position)
            .order(event_times::position.desc())
            .get_result(connection)
            .optional()?;
        let removed: Option<i64> = match has_removed {
            true => removed_rows::table
                .filter(removed_rows::position.ge(first))
                .filter(removed_rows::position.lt(end))
                .select(removed_rows::position)
                .order(removed_rows::position.desc())
                .get_result(connection)
                .optional()?,
            false => None,
        };
        match last.max(removed) {
            None => return Ok(first),
            Some(last) if last + 1 < end => return Ok(last + 1),
            Some(_) => first = end,
        }
    }
}
