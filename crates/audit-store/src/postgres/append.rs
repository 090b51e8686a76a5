//! Appending on PostgreSQL.

mod absent_keys;
mod insert;
mod ledger_numbers;

pub(crate) use absent_keys::KeyLookups;
pub(crate) use ledger_numbers::{group_number, group_of, next_ledger_number, random_number};

use super::heads::KnownState;
use super::months::{insert_months, months_of};
use super::statements::{FindGroups, FindHeads, FindKeys, InsertActions, PutGroups};
use super::{AppendMemory, Memory, PostgresSession, partitions};
use crate::alerts::NewAlertRow;
use crate::append::alert_groups::{self as groups, AlertGroups};
use crate::append::idempotency::{KeyHash, KnownKey, KnownKeys};
use crate::append::known_senders::KnownSenders;
use crate::append::months;
use crate::append::plan::{self, Before, Plan, RefusedHead};
use crate::append::request::{AppendOutcome, AppendRequest};
use crate::append::{
    AppendSession, FailedCommit, commit_waiting, grow, inline::append_one, ledgers_of, requests_of,
    write_tiles_and_alerts,
};
use crate::columns::KeyColumns;
use crate::database::session::Session;
use crate::database::transaction::write_transaction;
use crate::error::{Result, StoreError};
use crate::ids::LedgerId;
use crate::ledgers::actions::KnownActions;
use crate::ledgers::head::{Head, LedgerMonth, NewHead};
use crate::ledgers::heads::{HEAD_COLUMNS, HeadRow, read_month};
use crate::queue::{Queue, WaitingAppend};
use crate::schema::{alerts, ledger_senders, webhook_deliveries};
use crate::search::{BACKLOG_EVENTS_MAX, BACKLOG_WAIT};
use crate::tree::TreeSession;
use absent_keys::AbsentKeys;
use audit_alerts::GroupHash;
use audit_domain::{IdempotencyWindow, Month, Timestamp};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use insert::{Planned, Statements, insert_events};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a writer uses the plan of a statement. A plan that was made while there were few ledgers reads all of them once
/// there are many.
const PLANNED_FOR: Duration = Duration::from_secs(5);
/// Rows of one insert: PostgreSQL takes 65,535 parameters.
const INSERTED_ROWS_MAX: usize = 2_000;

impl Memory {
    /// How the session's server stores a commit best: see [`insert`].
    const fn statements(&self) -> Statements {
        match self.location {
            None => Statements::One,
            Some(_) => Statements::Three,
        }
    }
}

impl AppendMemory {
    /// Drops what a transaction that was rolled back would have added.
    fn rolled_back(&mut self) {
        self.actions.rolled_back();
        self.senders.rolled_back();
    }
}

impl Plan {
    /// Whether only rows and the heads of their ledgers are to be written.
    fn is_rows_only(&self, heads: &[NewHead], actions: &KnownActions, senders: &KnownSenders) -> bool {
        self.counts.are_unchanged()
            && self.entered.is_empty()
            && self.alerts.is_empty()
            && heads.iter().all(|head| head.tiles.is_empty())
            && senders.has_all(self)
            && self
                .rows
                .iter()
                .all(|row| actions.contains(row.ledger_id, &row.event.action))
    }
}

/// Appends waiting requests in one statement if the expected heads are current, or else in one transaction ([`Statements`]).
pub(crate) fn commit(
    session: &mut PostgresSession,
    waiting: &mut Vec<WaitingAppend>,
    queue: &Queue,
    day: i64,
) -> Result<Plan, FailedCommit> {
    let ledgers = ledgers_of(waiting);
    session.memory.begin_commit();
    session.memory.appends.rolled_back();
    let appended = match expect_heads(session, &ledgers, day) {
        Ok(Some(before)) => append_expected(session, requests_of(waiting, true), before),
        Ok(None) => Ok(None),
        Err(error) => Err(error),
    };
    let plan = match appended.map_err(FailedCommit::of_copied_requests)? {
        Some(plan) => plan,
        None => {
            session.memory.appends.rolled_back();
            commit_waiting(session, waiting, &ledgers, queue, day, true)?
        }
    };
    let Memory { shared, appends, .. } = &mut session.memory;
    appends.actions.committed();
    appends.senders.committed();
    let commits = &appends.commits;
    commits.heads.committed(&plan.heads_before, &plan.after);
    let unindexed = commits.backlog.committed(&plan);
    shared.progress.wake_at(unindexed);
    Ok(plan)
}

/// Appends one request within a transaction that its caller may still roll back. It uses no cached state, which could
/// not be rolled back with it.
pub(crate) fn inline(session: &mut PostgresSession, request: AppendRequest, now: Timestamp) -> AppendOutcome {
    let ledger_id = request.destination.ledger_id;
    let appends = std::mem::take(&mut session.memory.appends);
    let outcome = append_one(session, request, now);
    session.memory.appends = appends;
    session.memory.extended.insert(ledger_id);
    outcome
}

/// After each commit and transaction: has the statements planned again now and then, and waits for an indexer that is far
/// behind.
pub(crate) fn after_work(session: &mut PostgresSession) {
    let Session { connection, memory } = session;
    let Memory { shared, appends, .. } = memory;
    let planned_at = appends.planned_at.get_or_insert_with(Instant::now);
    if planned_at.elapsed() >= PLANNED_FOR {
        *planned_at = Instant::now();
        // The next work finds a connection that is broken.
        if let Err(error) = connection.batch_execute("DISCARD PLANS") {
            log::debug!("cannot discard plans: {error}");
        }
    }
    appends
        .patience
        .wait(&shared.progress, BACKLOG_WAIT, |unindexed| {
            unindexed <= BACKLOG_EVENTS_MAX as i64
        });
}

/// A clean stop needs no work.
pub(crate) fn before_close(_: &mut PostgresSession) {}

/// The state that a commit to these ledgers is expected to find: cached heads, and read ones where none is cached. `None` when
/// other nodes write to one of the ledgers, so that its head has to be locked first.
fn expect_heads(
    session: &mut PostgresSession,
    ledgers: &BTreeSet<LedgerId>,
    day: i64,
) -> Result<Option<Before>> {
    let known = session.memory.appends.commits.heads.before(ledgers, day);
    let (mut before, unknown) = match known {
        KnownState::Disturbed => return Ok(None),
        KnownState::Expected { before, unknown } => (before, unknown),
    };
    if !unknown.is_empty() {
        let find = FindHeads { ledger_ids: unknown };
        let rows: Vec<(i64, HeadRow, Vec<i32>, Vec<i64>)> = find.load(&mut session.connection)?;
        let rows = rows.into_iter().map(|(id, row, months, first_seqs)| {
            let months = months.into_iter().zip(first_seqs);
            (id, row, months.map(read_month).collect())
        });
        before.add_heads(&*session.heads()?, rows, day);
    }
    if before
        .refused
        .values()
        .any(|refused| *refused == RefusedHead::CutOff)
    {
        // Another writer may have extended and signed the ledger since it was read.
        return Ok(None);
    }
    Ok(Some(before))
}

/// Plans with the expected state `before` and writes the plan, if the database is in that state; the heads are not locked
/// before. `None` when it is not, or when an outcome needs data that is not cached, such as the event of a repeated key.
/// Then nothing was stored.
///
/// One statement without a transaction around it is one round trip, and the heads are locked only while it runs.
fn append_expected(
    session: &mut PostgresSession,
    requests: Vec<AppendRequest>,
    mut before: Before,
) -> Result<Option<Plan>> {
    // A commit that changes these states changes the size of the ledger as well.
    before.alert_groups = session.find_alert_groups(&groups::of_requests(&requests))?;
    let mut plan = plan::plan(requests, before, session.idempotency_window());
    if plan.rows.is_empty() || plan.outcomes.iter().any(Result::is_err) {
        return Ok(None);
    }
    // Before a transaction begins, which would keep the locks of the new partition.
    partitions::create_missing(session, &plan)?;
    let heads = grow(session, &mut plan)?;
    let AppendMemory { actions, senders, .. } = &session.memory.appends;
    let is_one_statement = session.memory.statements() == Statements::One;
    let stored = if is_one_statement && plan.is_rows_only(&heads, actions, senders) {
        write_expected(session, &plan, &heads).map_err(|error| after_autocommit(session, error))
    } else {
        write_transaction(session, |session| {
            write_expected(session, &plan, &heads)?;
            write_tiles_and_alerts(session, &plan, &heads)
        })
    };
    match stored {
        Ok(()) => Ok(Some(plan)),
        Err(StoreError::Stale) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The error of a statement that commits by itself. A session that still responds has reported the error of a statement that
/// was rolled back. If it does not, the statement may have been committed.
fn after_autocommit(session: &mut PostgresSession, error: StoreError) -> StoreError {
    match error {
        StoreError::Stale => StoreError::Stale,
        error if session.connection.batch_execute("SELECT 1").is_ok() => error,
        error => StoreError::OutcomeUnknown(error.to_string()),
    }
}

/// Writes a plan; [`StoreError::Stale`] when the database is not in the expected state.
fn write_expected(session: &mut PostgresSession, plan: &Plan, heads: &[NewHead]) -> Result<()> {
    let is_whole_window = session.memory.appends.lookups.next();
    let commits = Arc::clone(&session.memory.appends.commits);
    let earlier_keys = &commits.earlier_keys;
    let (absent, used) = AbsentKeys::of(plan, session.idempotency_window(), is_whole_window, earlier_keys);
    for missing in &used.missing {
        session.memory.shared.key_requests.request(*missing);
    }
    let names_partitions = absent.names_partitions();
    let written = write(session, plan, heads, absent, Planned::Expected);
    used.note(written.is_ok(), earlier_keys);
    match written {
        Err(StoreError::Duplicate) => Err(StoreError::Stale),
        Err(StoreError::Database(error)) if names_partitions => {
            log::warn!("cannot look up keys in the partitions of earlier months: {error}");
            Err(StoreError::Stale)
        }
        written => written,
    }
}

impl AppendSession for PostgresSession {
    fn idempotency_window(&self) -> IdempotencyWindow {
        self.memory.shared.window
    }

    fn lock_heads(&mut self, ledgers: &BTreeSet<LedgerId>) -> Result<Vec<(i64, HeadRow, Vec<LedgerMonth>)>> {
        let ids: Vec<i64> = ledgers.iter().map(|ledger_id| ledger_id.0).collect();
        let rows: Vec<(i64, HeadRow)> = crate::schema::ledgers::table
            .filter(crate::schema::ledgers::id.eq_any(ids))
            .order(crate::schema::ledgers::id)
            .select((crate::schema::ledgers::id, HEAD_COLUMNS))
            .for_update()
            .load(&mut self.connection)?;
        let mut months = months_of(&mut self.connection, ledgers)?;
        let heads = rows.into_iter().map(|(id, row)| {
            let months = months.remove(&LedgerId(id)).unwrap_or_default();
            (id, row, months)
        });
        Ok(heads.collect())
    }

    /// The heads of the ledgers are locked, so no other node stores a key in the meantime.
    fn find_keys(
        &mut self,
        requests: &[AppendRequest],
        heads: &HashMap<LedgerId, Head>,
    ) -> Result<KnownKeys> {
        let wanted = requests.iter().flat_map(|request| {
            let ledger_id = request.destination.ledger_id.0;
            request.key_hashes().map(move |hash| (ledger_id, hash.as_slice()))
        });
        let (ledger_ids, hashes): (Vec<i64>, Vec<&[u8]>) = wanted.unzip();
        let mut found = KnownKeys::new();
        if !hashes.is_empty() {
            let window = self.idempotency_window();
            let months = months::months_of(requests, heads);
            let first_month = months.into_values().map(|month| window.first_month(month)).min();
            let find = FindKeys {
                ledger_ids,
                hashes,
                first_month: first_month.unwrap_or(Month::MIN).number(),
            };
            let keeper = self.heads()?;
            let codes = keeper.row_codes();
            for row in find.load::<KeyRow>(&mut self.connection)? {
                let (ledger_id, hash, month, columns) = read_key(row)?;
                let log = heads.get(&ledger_id).map_or("", |head| &head.name);
                let event = columns.event(&codes, log, month, &hash);
                if event.is_none() {
                    keeper.note_forged_row(ledger_id, log);
                }
                found.insert((ledger_id, hash), KnownKey { event, month });
            }
        }
        self.memory.appends.lookups.found(found.len());
        Ok(found)
    }

    fn find_alert_groups(&mut self, groups: &BTreeSet<(LedgerId, GroupHash)>) -> Result<AlertGroups> {
        let mut found = AlertGroups::new();
        if groups.is_empty() {
            return Ok(found);
        }
        let find = FindGroups {
            ledger_ids: groups.iter().map(|(ledger_id, _)| ledger_id.0).collect(),
            groups: groups
                .iter()
                .map(|(_, group)| group.as_bytes().as_slice())
                .collect(),
        };
        for (ledger_id, group, state) in find.load::<(i64, Vec<u8>, Vec<u8>)>(&mut self.connection)? {
            if let Ok(group) = group.try_into() {
                found.insert((LedgerId(ledger_id), GroupHash::from_bytes(group)), state);
            }
        }
        Ok(found)
    }

    fn write_events(&mut self, plan: &Plan, heads: &[NewHead]) -> Result<()> {
        partitions::create_missing_in_transaction(self, plan)?;
        write(self, plan, heads, AbsentKeys::NONE, Planned::Locked)
    }

    fn write_alerts(&mut self, plan: &Plan) -> Result<()> {
        let states = plan.counts.changed();
        if !states.is_empty() {
            let put = PutGroups {
                ledger_ids: states.keys().map(|(ledger_id, _)| ledger_id.0).collect(),
                groups: states
                    .keys()
                    .map(|(_, group)| group.as_bytes().as_slice())
                    .collect(),
                states: states.values().map(|(state, _)| state.as_slice()).collect(),
                expires_at: states
                    .values()
                    .map(|(_, expires_at)| expires_at.as_micros())
                    .collect(),
            };
            put.execute(&mut self.connection)?;
        }
        // One round trip for many.
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

/// A row of [`FindKeys`].
type KeyRow = (
    i64,
    Vec<u8>,
    Vec<u8>,
    Option<Vec<u8>>,
    bool,
    Option<i64>,
    Vec<u8>,
    i32,
);

fn read_key(row: KeyRow) -> Result<(LedgerId, KeyHash, Month, KeyColumns)> {
    let (ledger_id, hash, id, sent_digest, redacted, sender, row_code, month) = row;
    let columns = KeyColumns {
        id,
        sent_digest,
        redacted,
        sender,
        row_code,
    };
    // It equals the one that was looked up.
    let hash = KeyHash::try_from(hash).map_err(|_| StoreError::Damaged {
        what: "idempotency hash",
    })?;
    Ok((LedgerId(ledger_id), hash, Month::from_number(month), columns))
}

/// Writes the rows of a plan, their actions and senders, the months that their ledgers enter, and the heads of their ledgers.
///
/// # Errors
/// As [`insert_events`].
fn write(
    session: &mut PostgresSession,
    plan: &Plan,
    heads: &[NewHead],
    absent: AbsentKeys<'_>,
    planned: Planned,
) -> Result<()> {
    let codes = session.heads()?.row_codes();
    let statements = session.memory.statements();
    let connection = &mut session.connection;
    insert_events(connection, plan, heads, &codes, absent, planned, statements)?;
    insert_months(connection, &plan.entered)?;
    let (mut ledger_ids, mut new) = (Vec::new(), Vec::new());
    session
        .memory
        .appends
        .actions
        .write_new(plan, |ledger_id, action| {
            ledger_ids.push(ledger_id.0);
            new.push(action.to_owned());
            Ok(())
        })?;
    if !new.is_empty() {
        let actions = new.iter().map(String::as_str).collect();
        InsertActions { ledger_ids, actions }.execute(connection)?;
    }
    let senders = session.memory.appends.senders.begin_new(plan);
    for part in senders.chunks(INSERTED_ROWS_MAX) {
        diesel::insert_into(ledger_senders::table)
            .values(part)
            .on_conflict_do_nothing()
            .execute(connection)?;
    }
    Ok(())
}
