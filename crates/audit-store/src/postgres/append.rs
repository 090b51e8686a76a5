//! Appending on PostgreSQL.

use super::months::{AbsentKeys, insert_months, months_of};
use super::schema::index_groups;
use super::statements::{FindGroups, FindKeys, InsertEvents, PutGroups};
use super::{AppendMemory, Memory, PostgresSession, partitions};
use crate::alerts::AlertColumns;
use crate::append::alert_groups::{self as groups, AlertGroups};
use crate::append::plan::{self, Before, Head, KnownKey, LedgerMonth, Plan};
use crate::append::{
    AppendOutcome, AppendRequest, AppendSession, FailedCommit, KeyHash, KnownKeys, LedgerId, commit_waiting,
    inline::append_one, ledgers_of, requests_of, write_tiles_and_alerts,
};
use crate::columns::{read_digest, read_id};
use crate::database::{Session, write_transaction};
use crate::error::{Result, StoreError};
use crate::ledgers::{self, HEAD_COLUMNS, HeadRow, NewHead};
use crate::queue::{Queue, WaitingAppend};
use crate::schema::{alerts, ledger_actions, webhook_deliveries};
use crate::search::{BACKLOG_EVENTS_MAX, BACKLOG_WAIT};
use audit_alerts::GroupHash;
use audit_domain::{IdempotencyWindow, Month, ProjectId, Timestamp};
use diesel::PgConnection;
use diesel::connection::SimpleConnection;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use sha2::{Digest, Sha256};
use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

/// Commits that look up their keys before they are stored, after a key was found to be stored already.
const LOOKED_UP_COMMITS: u32 = 1_000;
/// How long a writer uses the plan of a statement. A plan that was made while there were few ledgers reads all of them once
/// there are many.
const PLANNED_FOR: Duration = Duration::from_secs(5);
/// Rows of one insert: PostgreSQL takes 65,535 parameters.
const INSERTED_ROWS_MAX: usize = 2_000;

/// Whether a commit that expects its heads looks up its keys before it is stored. The unique index refuses a key that exists,
/// so a look-up is wasted as long as repeats are rare. A refused commit was written for nothing.
#[derive(Debug, Default)]
pub(crate) struct KeyLookups {
    commits_left: u32,
}

impl KeyLookups {
    /// Notes how many keys of a commit were stored already.
    fn found(&mut self, keys: usize) {
        if keys > 0 {
            self.commits_left = LOOKED_UP_COMMITS;
        }
    }

    /// Whether the next commit looks up its keys.
    fn next(&mut self) -> bool {
        let is_next = self.commits_left > 0;
        self.commits_left = self.commits_left.saturating_sub(1);
        is_next
    }
}

/// Appends waiting requests in one statement if the cached heads are current, or else in one transaction.
pub(crate) fn commit(
    session: &mut PostgresSession,
    waiting: &mut Vec<WaitingAppend>,
    queue: &Queue,
    day: i64,
) -> Result<Plan, FailedCommit> {
    let ledgers = ledgers_of(waiting);
    session.memory.begin_commit();
    session.memory.appends.actions.rolled_back();
    let expected = session.memory.appends.commits.heads.before(&ledgers, day);
    let appended = match expected {
        Some(before) => append_expected(session, requests_of(waiting, true), before),
        None => Ok(None),
    };
    let plan = match appended.map_err(FailedCommit::of_copied_requests)? {
        Some(plan) => plan,
        None => {
            session.memory.appends.actions.rolled_back();
            commit_waiting(session, waiting, &ledgers, queue, day, true)?
        }
    };
    let Memory { shared, appends, .. } = &mut session.memory;
    let AppendMemory { commits, actions, .. } = appends;
    actions.committed();
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

/// The group of a project: a hash of its id.
pub(crate) fn group_of(session: &mut PostgresSession, project_id: ProjectId) -> Result<i64> {
    let groups: i64 = index_groups::table.count().get_result(&mut session.connection)?;
    group_number(groups, &project_id.to_string())
}

/// The group of a project, of this number of groups.
pub(crate) fn group_number(groups: i64, project_id: &str) -> Result<i64> {
    let digest: [u8; 32] = Sha256::digest(project_id.as_bytes()).into();
    let number = digest[..8]
        .iter()
        .fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    let group = number.checked_rem(groups.unsigned_abs());
    group.map(u64::cast_signed).ok_or(StoreError::Damaged {
        what: "list of index groups",
    })
}

/// The number of a new ledger. A sequence needs no lock; a transaction that is rolled back leaves a gap.
pub(crate) fn next_ledger_number(session: &mut PostgresSession) -> Result<i64> {
    let next: LedgerNumber = diesel::sql_query("SELECT nextval('ledger_numbers') AS number")
        .get_result(&mut session.connection)?;
    Ok(next.number)
}

#[derive(QueryableByName)]
struct LedgerNumber {
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    number: i64,
}

/// A random number: the last 64 bits of a random UUID, of which two are constant.
pub(crate) fn random_number(session: &mut PostgresSession) -> Result<i64> {
    let number = "('x' || translate(right(gen_random_uuid()::text, 17), '-', ''))::bit(64)::bigint";
    Ok(diesel::select(sql::<BigInt>(number)).get_result(&mut session.connection)?)
}

/// Plans with the cached state `before` and writes the plan, if the database is still in that state; the heads are not locked
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
    let heads = ledgers::grow(session, &mut plan)?;
    let stored = if plan.is_rows_only(&heads, &session.memory.appends.actions) {
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
    let absent = AbsentKeys::of(
        plan,
        session.idempotency_window(),
        session.memory.appends.lookups.next(),
    );
    match write(session, plan, heads, absent) {
        Err(StoreError::Duplicate) => Err(StoreError::Stale),
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
            let months = plan::months_of(requests, heads);
            let first_month = months.into_values().map(|month| window.first_month(month)).min();
            let find = FindKeys {
                ledger_ids,
                hashes,
                first_month: first_month.unwrap_or(Month::MIN).number(),
            };
            for row in find.load(&mut self.connection)? {
                let (ledger_id, hash, known) = read_known_key(row)?;
                found.insert((ledger_id, hash), known);
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
        write(self, plan, heads, AbsentKeys::NONE)
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
            let rows: Vec<_> = raised.iter().map(AlertColumns::of).collect();
            diesel::insert_into(alerts::table)
                .values(rows)
                .execute(&mut self.connection)?;
        }
        for delivery in &plan.deliveries {
            diesel::insert_into(webhook_deliveries::table)
                .values(delivery.clone())
                .execute(&mut self.connection)?;
        }
        Ok(())
    }
}

/// Reads a row of [`FindKeys`].
fn read_known_key(
    (ledger_id, hash, id, digest, month): (i64, Vec<u8>, Vec<u8>, Option<Vec<u8>>, i32),
) -> Result<(LedgerId, KeyHash, KnownKey)> {
    let damaged = || StoreError::Damaged {
        what: "idempotency hash",
    };
    let hash = KeyHash::try_from(hash).map_err(|_| damaged())?;
    let known = KnownKey {
        id: read_id(id)?,
        digest: read_digest(digest.ok_or_else(damaged)?)?,
        month: Month::from_number(month),
    };
    Ok((LedgerId(ledger_id), hash, known))
}

/// Writes the rows of a plan, their actions, the months that their ledgers enter, and the heads of their ledgers.
///
/// # Errors
/// [`StoreError::Stale`] when the ledgers or their configuration are not in the state of the plan, or one of the absent keys is
/// stored already; [`StoreError::Duplicate`] when another key is. Then nothing was written.
fn write(
    session: &mut PostgresSession,
    plan: &Plan,
    heads: &[NewHead],
    absent: AbsentKeys<'_>,
) -> Result<()> {
    let connection = &mut session.connection;
    if insert_events(connection, plan, heads, absent)? != plan.rows.len() {
        return Err(StoreError::Stale);
    }
    insert_months(connection, &plan.entered)?;
    let actions = &mut session.memory.appends.actions;
    actions.write_new(plan, |ledger_id, action| {
        insert_action(connection, ledger_id, action)
    })
}

/// Inserts the rows of a plan and updates the heads of their ledgers, in one statement. Returns the number of rows.
fn insert_events(
    connection: &mut PgConnection,
    plan: &Plan,
    heads: &[NewHead],
    absent: AbsentKeys<'_>,
) -> Result<usize> {
    let rows = &plan.rows;
    let last_ids: Vec<[u8; 16]> = heads.iter().map(|head| head.last.id.to_bytes()).collect();
    let ids: Vec<[u8; 16]> = rows.iter().map(|row| row.record.stamp().id.to_bytes()).collect();
    let contents: Vec<_> = rows.iter().map(|row| row.record.content_hash()).collect();
    let keys = || rows.iter().map(|row| row.idempotency.as_ref());
    let before = |head: &NewHead| {
        plan.heads_before
            .get(&head.ledger_id)
            .copied()
            .unwrap_or_default()
    };
    let last_ids_before: Vec<_> = heads.iter().map(|head| before(head).last_id()).collect();
    let insert = InsertEvents {
        head_ledger_ids: heads.iter().map(|head| head.ledger_id.0).collect(),
        sizes_before: heads.iter().map(|head| before(head).size).collect(),
        last_ids_before: last_ids_before
            .iter()
            .map(|id| id.as_ref().map(<[u8; 16]>::as_slice))
            .collect(),
        configuration_versions: heads.iter().map(|head| head.configuration_version.0).collect(),
        sizes: heads.iter().map(|head| head.size).collect(),
        last_event_ids: last_ids.iter().map(<[u8; 16]>::as_slice).collect(),
        last_received_at: heads
            .iter()
            .map(|head| head.last.received_at.as_micros())
            .collect(),
        frontiers: heads.iter().map(|head| head.frontier.as_slice()).collect(),
        head_codes: heads.iter().map(|head| head.code.as_slice()).collect(),
        days: heads.iter().map(|head| head.day).collect(),
        day_events: heads.iter().map(|head| head.day_events).collect(),
        head_months: heads
            .iter()
            .map(|head| plan.month_of(head.ledger_id).number())
            .collect(),
        absent_keys: absent.keys,
        absent_from: absent.months.start.number(),
        absent_before: absent.months.end.number(),
        ledger_ids: rows.iter().map(|row| row.ledger_id.0).collect(),
        seqs: rows.iter().map(|row| row.seq).collect(),
        months: rows.iter().map(|row| row.month.number()).collect(),
        ids: ids.iter().map(<[u8; 16]>::as_slice).collect(),
        occurred_at: rows
            .iter()
            .map(|row| row.record.occurred_at().as_micros())
            .collect(),
        content_hashes: contents.iter().map(|hash| hash.as_bytes().as_slice()).collect(),
        idempotency_hashes: keys().map(|key| key.map(|key| key.hash.as_slice())).collect(),
        sent_digests: keys()
            .map(|key| key.map(|key| key.digest.as_bytes().as_slice()))
            .collect(),
        redacted: rows.iter().map(|row| row.record.redacted()).collect(),
        bodies: rows.iter().map(|row| row.record.canonical()).collect(),
    };
    Ok(insert.execute(connection)?)
}

/// Inserts an action, unless it exists.
fn insert_action(connection: &mut PgConnection, ledger_id: LedgerId, action: &str) -> Result<()> {
    diesel::insert_into(ledger_actions::table)
        .values((
            ledger_actions::ledger_id.eq(ledger_id.0),
            ledger_actions::action.eq(action),
        ))
        .on_conflict_do_nothing()
        .execute(connection)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_looked_up_for_the_next_commits_after_a_repeat() {
        let mut lookups = KeyLookups::default();
        lookups.found(0);
        assert!(!lookups.next());
        lookups.found(1);
        assert!((0..LOOKED_UP_COMMITS).all(|_| lookups.next()));
        assert!(!lookups.next());
    }
}
