//! Destinations: where the events of a project are delivered. No node caches them, so their changes keep the version of the
//! project's configuration.

use super::schema::{destinations, organizations, projects};
use crate::access::{Configurator, Reader, Writer};
use crate::database::{on_either, select_for_update};
use crate::destinations::{
    ACTIVE, ATTEMPT_DELAY_SECONDS_MAX, CREDENTIALS, DELAYED, DestinationRunRow, MAIN_RUN,
    STREAM_CHECKPOINT_SECONDS, TIME_AHEAD_SECONDS_MAX,
};
use crate::error::{Result, StoreError};
use crate::schema::{destination_runs, destination_set_aside as set_aside, ledgers};
use audit_domain::{Environment, Plan, ProjectId, Timestamp};
use diesel::dsl::{count_star, max};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use std::collections::HashMap;
use std::hash::Hash;

/// Due runs that one look examines, at most, to give each organization a turn.
const DUE_RUNS_MAX: i64 = 10_000;

/// A stored destination. Kind, format, classes and filter are text; the application parses them.
#[derive(Clone, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = destinations, treat_none_as_default_value = false)]
#[expect(missing_docs, reason = "the fields are the columns")]
pub struct DestinationRow {
    pub id: String,
    pub project_id: String,
    pub environment: String,
    pub name: String,
    pub kind: String,
    pub format: String,
    /// Whether records in another format than `json` also have the event.
    pub include_raw: bool,
    /// The classes of records in OCSF by action, as JSON.
    pub ocsf_classes: String,
    /// Which events are delivered, as JSON.
    pub filter: String,
    /// Settings and credentials, encrypted if an encryption key is configured.
    pub config: Vec<u8>,
    /// Those before, until a delivery with the present ones has succeeded.
    pub previous_config: Option<Vec<u8>>,
    pub paused: bool,
    /// Microseconds since the Unix epoch.
    pub created_at: i64,
    /// The tenant that has created it for its own events; `None` for the project.
    pub created_by_tenant: Option<String>,
}

/// Without the configuration.
impl std::fmt::Debug for DestinationRow {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("DestinationRow")
            .field("id", &self.id)
            .field("kind", &self.kind)
            .field("paused", &self.paused)
            .finish_non_exhaustive()
    }
}

/// A run that has something to deliver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueRun {
    /// Its destination.
    pub destination: DestinationRow,
    /// The run, before it is leased.
    pub run: DestinationRunRow,
    /// The organization of its project.
    pub organization_id: String,
}

/// The main runs in one state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DestinationStatistics {
    /// Whether nothing is sent: their destinations are paused, or of an organization on the free plan.
    pub is_paused: bool,
    /// The state.
    pub state: String,
    /// Their number.
    pub runs: i64,
    /// The most events that one of them has not read yet.
    pub lag_events_max: i64,
}

/// Destination and number of a run, its organization, and the tenant that has created the destination.
type RunKey = (String, i64, String, Option<String>);

/// A run that is due, its attempts since the last success, and the time of that.
type FoundRun = (RunKey, i64, Option<i64>);

/// The first run of each group, then the second ones, and so on.
fn by_turn<K: Eq + Hash>(runs: Vec<RunKey>, group_of: impl Fn(&RunKey) -> K) -> Vec<RunKey> {
    let mut seen: HashMap<K, usize> = HashMap::new();
    let numbered = runs.into_iter().map(|run| {
        let turn = seen.entry(group_of(&run)).or_default();
        *turn += 1;
        (*turn, run)
    });
    let mut turns: Vec<(usize, RunKey)> = numbered.collect();
    turns.sort_by_key(|(turn, _)| *turn);
    turns.into_iter().map(|(_, run)| run).collect()
}

/// Up to `limit` of these runs, in turns of the organizations. Within an organization, the destinations of its projects and those of all
/// tenants take turns, and the tenants among each other. So neither an organization nor a tenant with many runs delays another.
fn in_turns(runs: Vec<FoundRun>, limit: i64) -> Vec<RunKey> {
    let runs = runs.into_iter().map(|(run, ..)| run).collect();
    let of_tenants = by_turn(runs, |(_, _, organization_id, tenant)| {
        (organization_id.clone(), tenant.clone())
    });
    let mut turns = by_turn(of_tenants, |(_, _, organization_id, tenant)| {
        (organization_id.clone(), tenant.is_some())
    });
    turns.truncate(usize::try_from(limit).unwrap_or_default());
    turns
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be queried"
)]
impl Reader<'_> {
    /// The destinations of a project for one environment, oldest first.
    pub fn destinations(
        &mut self,
        project_id: ProjectId,
        environment: Environment,
    ) -> Result<Vec<DestinationRow>> {
        Ok(destinations::table
            .filter(destinations::project_id.eq(project_id.to_string()))
            .filter(destinations::environment.eq(environment.as_str()))
            .order((destinations::created_at, destinations::id))
            .select(DestinationRow::as_select())
            .load(self.session())?)
    }

    /// A destination of a project.
    pub fn destination(&mut self, project_id: ProjectId, id: &str) -> Result<Option<DestinationRow>> {
        Ok(destinations::table
            .find(id)
            .filter(destinations::project_id.eq(project_id.to_string()))
            .select(DestinationRow::as_select())
            .get_result(self.session())
            .optional()?)
    }

    /// Whether there is such a destination that is not paused.
    pub(crate) fn is_delivered_to(&mut self, id: &str) -> Result<bool> {
        let paused: Option<bool> = destinations::table
            .find(id)
            .select(destinations::paused)
            .get_result(self.session())
            .optional()?;
        Ok(paused == Some(false))
    }

    /// Runs that may be leased at `now` and have something to do: a batch that was planned, events that they have not read, a
    /// checkpoint record, or the deletion of a replay that has ended. First up to `limit` whose last attempt has not failed, then up to
    /// `limit` whose receiver has never taken a batch, then up to `limit` whose last attempt has failed, so that many receivers that are new
    /// or fail delay none that works. In each, the organizations take turns, and their tenants;
    /// of one organization or tenant, the run that has been due for the longest time is the first. Not those of paused destinations and of
    /// organizations on the free plan, and none that is parked.
    pub fn due_destination_runs(&mut self, now: Timestamp, limit: i64) -> Result<Vec<DueRun>> {
        let due = self.due_runs(now)?;
        let is_failing = |(_, attempts, _): &FoundRun| *attempts > 0;
        let (failing, others): (Vec<_>, Vec<_>) = due.into_iter().partition(is_failing);
        let is_proven = |(.., success): &FoundRun| success.is_some();
        let (proven, untried): (Vec<_>, Vec<_>) = others.into_iter().partition(is_proven);
        let mut found = Vec::new();
        let turns = [proven, untried, failing].map(|runs| in_turns(runs, limit));
        for (id, number, organization_id, _) in turns.into_iter().flatten() {
            let destination: Option<DestinationRow> = destinations::table
                .find(&id)
                .select(DestinationRow::as_select())
                .get_result(self.session())
                .optional()?;
            let run: Option<DestinationRunRow> = destination_runs::table
                .find((&id, number))
                .select(DestinationRunRow::as_select())
                .get_result(self.session())
                .optional()?;
            // Unless it was deleted since the look.
            if let (Some(destination), Some(run)) = (destination, run) {
                found.push(DueRun {
                    destination,
                    run,
                    organization_id,
                });
            }
        }
        Ok(found)
    }

    /// The due runs.
    fn due_runs(&mut self, now: Timestamp) -> Result<Vec<FoundRun>> {
        let checkpoint_before = now.plus_seconds(-STREAM_CHECKPOINT_SECONDS).as_micros();
        let far_ahead = now.plus_seconds(TIME_AHEAD_SECONDS_MAX);
        let attempt_far_ahead = far_ahead.plus_seconds(ATTEMPT_DELAY_SECONDS_MAX).as_micros();
        let (now, far_ahead) = (now.as_micros(), far_ahead.as_micros());
        let may_begin = destination_runs::next_attempt_at
            .le(now)
            .or(destination_runs::next_attempt_at.gt(attempt_far_ahead));
        let is_free = destination_runs::leased_until
            .le(now)
            .or(destination_runs::leased_until.gt(far_ahead));
        let before_end = destination_runs::end_seq
            .is_null()
            .or(destination_runs::end_seq.gt(destination_runs::cursor_seq.nullable()));
        let has_events = ledgers::size.gt(destination_runs::cursor_seq).and(before_end);
        let is_checkpoint_due = destination_runs::checkpoint_at
            .le(checkpoint_before)
            .or(destination_runs::checkpoint_at.gt(far_ahead));
        let needs_checkpoint =
            is_checkpoint_due.and(destination_runs::position.gt(destination_runs::checkpoint_position));
        let is_planned = destination_runs::planned.is_not_null();
        // The last checkpoint of a replay does not wait, unless the receiver has just refused one.
        let is_last_due = destination_runs::checkpoint_position
            .eq(destination_runs::position)
            .or(destination_runs::last_success_at.ge(destination_runs::checkpoint_at.nullable()));
        let is_ending = destination_runs::end_seq
            .le(destination_runs::cursor_seq.nullable())
            .and(is_last_due);
        // The log comes first: SQLite joins in this order, and for most runs it says that there is nothing to do. Of 10,000 such runs
        // a look then takes 2.4 ms instead of 7.8 ms.
        let runs = destination_runs::table
            .inner_join(ledgers::table.on(ledgers::id.eq(destination_runs::ledger_id)))
            .inner_join(destinations::table.on(destinations::id.eq(destination_runs::destination_id)))
            .inner_join(projects::table.on(projects::id.eq(destinations::project_id)))
            .inner_join(organizations::table.on(organizations::id.eq(projects::organization_id)))
            .filter(destination_runs::state.eq_any([ACTIVE, DELAYED, CREDENTIALS]))
            .filter(may_begin)
            .filter(is_free)
            .filter(destinations::paused.eq(false))
            .filter(organizations::plan.ne(Plan::Free.as_str()))
            .filter(is_planned.or(has_events).or(needs_checkpoint).or(is_ending))
            .order((
                destination_runs::attempts.gt(0),
                destination_runs::last_success_at.is_null(),
                destination_runs::next_attempt_at,
                destination_runs::destination_id,
                destination_runs::number,
            ))
            .limit(DUE_RUNS_MAX)
            .select((
                (
                    destination_runs::destination_id,
                    destination_runs::number,
                    projects::organization_id,
                    destinations::created_by_tenant,
                ),
                destination_runs::attempts,
                destination_runs::last_success_at,
            ));
        Ok(on_either!(self.session(), session => runs.load(session))?)
    }

    /// The main runs by state.
    pub fn destination_statistics(&mut self) -> Result<Vec<DestinationStatistics>> {
        let mut found = Vec::new();
        for is_paused in [false, true] {
            let runs = destination_runs::table
                .inner_join(destinations::table.on(destinations::id.eq(destination_runs::destination_id)))
                .inner_join(projects::table.on(projects::id.eq(destinations::project_id)))
                .inner_join(organizations::table.on(organizations::id.eq(projects::organization_id)))
                .inner_join(ledgers::table.on(ledgers::id.eq(destination_runs::ledger_id)))
                .filter(destination_runs::number.eq(MAIN_RUN))
                .filter(
                    destinations::paused
                        .or(organizations::plan.eq(Plan::Free.as_str()))
                        .eq(is_paused),
                )
                .group_by(destination_runs::state)
                .select((
                    destination_runs::state,
                    count_star(),
                    max(ledgers::size - destination_runs::cursor_seq),
                ));
            let rows: Vec<(String, i64, Option<i64>)> =
                on_either!(self.session(), session => runs.load(session))?;
            found.extend(rows.into_iter().map(|(state, runs, lag)| DestinationStatistics {
                is_paused,
                state,
                runs,
                lag_events_max: lag.unwrap_or_default(),
            }));
        }
        Ok(found)
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be written"
)]
impl Configurator<'_, ProjectId> {
    /// Adds a destination with its main run.
    pub fn insert_destination(
        &mut self,
        destination: &DestinationRow,
        run: &DestinationRunRow,
    ) -> Result<()> {
        let row = DestinationRow {
            project_id: self.owner().to_string(),
            ..destination.clone()
        };
        diesel::insert_into(destinations::table)
            .values(row)
            .execute(self.uncached_session())?;
        self.insert_destination_run(run)
    }

    /// Changes a destination from `before` to `after`: everything but its kind and environment.
    pub fn update_destination(&mut self, before: &DestinationRow, after: &DestinationRow) -> Result<()> {
        let row = destinations::table
            .find(&before.id)
            .filter(destinations::project_id.eq(self.owner().to_string()));
        // A configuration that stays may be encrypted again meanwhile.
        let config = (before.config != after.config).then(|| destinations::config.eq(&after.config));
        let previous_config = (before.previous_config != after.previous_config)
            .then(|| destinations::previous_config.eq(&after.previous_config));
        diesel::update(row)
            .set((
                config,
                previous_config,
                destinations::name.eq(&after.name),
                destinations::format.eq(&after.format),
                destinations::include_raw.eq(after.include_raw),
                destinations::ocsf_classes.eq(&after.ocsf_classes),
                destinations::filter.eq(&after.filter),
                destinations::paused.eq(after.paused),
            ))
            .execute(self.uncached_session())?;
        Ok(())
    }

    /// Removes a destination with its runs; `false` when the project has none of this id. The events that were set aside are
    /// removed by [`Writer::purge_set_aside`].
    pub fn delete_destination(&mut self, id: &str) -> Result<bool> {
        let row = destinations::table
            .find(id)
            .filter(destinations::project_id.eq(self.owner().to_string()))
            .select(destinations::id);
        let locked: QueryResult<String> = select_for_update!(self.uncached_session(), row, get_result);
        if locked.optional()?.is_none() {
            return Ok(false);
        }
        diesel::delete(destination_runs::table.filter(destination_runs::destination_id.eq(id)))
            .execute(self.uncached_session())?;
        diesel::delete(destinations::table.find(id)).execute(self.uncached_session())?;
        Ok(true)
    }

    /// Adds a run of a destination of the project. [`StoreError::Duplicate`] when the destination has one of this number.
    pub fn insert_destination_run(&mut self, run: &DestinationRunRow) -> Result<()> {
        let project_id = self.owner();
        if self.destination(project_id, &run.destination_id)?.is_none() {
            return Err(StoreError::Damaged { what: "destination" });
        }
        diesel::insert_into(destination_runs::table)
            .values(run.clone())
            .execute(self.uncached_session())?;
        Ok(())
    }
}

/// Finds up to `$1` deleted destinations that have events which were set aside, with one index step per destination.
const DELETED_WITH_SET_ASIDE: &str = "\
    WITH RECURSIVE found(destination_id) AS ( \
        SELECT (SELECT destination_id FROM destination_set_aside ORDER BY destination_id LIMIT 1) \
        UNION ALL \
        SELECT (SELECT next.destination_id FROM destination_set_aside AS next \
                WHERE next.destination_id > found.destination_id ORDER BY next.destination_id LIMIT 1) \
        FROM found WHERE found.destination_id IS NOT NULL) \
    SELECT found.destination_id AS destination_id FROM found \
    WHERE found.destination_id IS NOT NULL \
        AND NOT EXISTS (SELECT 1 FROM destinations WHERE destinations.id = found.destination_id) \
    LIMIT $1";

#[derive(QueryableByName)]
struct DeletedColumns {
    #[diesel(sql_type = Text)]
    destination_id: String,
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be written"
)]
impl Writer<'_> {
    /// Removes the previous configuration of a destination, if `config` is still the present one: it has worked. A transaction
    /// calls it before [`Self::update_destination_run`].
    pub fn confirm_destination_config(&mut self, id: &str, config: &[u8]) -> Result<()> {
        let row = destinations::table
            .find(id)
            .filter(destinations::config.eq(config));
        diesel::update(row)
            .set(destinations::previous_config.eq(None::<Vec<u8>>))
            .execute(self.session())?;
        Ok(())
    }

    /// Removes up to `limit` events that deleted destinations have set aside. Returns their number.
    pub fn purge_set_aside(&mut self, limit: i64) -> Result<usize> {
        let deleted: Vec<DeletedColumns> = diesel::sql_query(DELETED_WITH_SET_ASIDE)
            .bind::<BigInt, _>(limit)
            .load(self.session())?;
        let mut removed = 0;
        for DeletedColumns { destination_id } in deleted {
            let keys: Vec<(i64, i64)> = set_aside::table
                .filter(set_aside::destination_id.eq(&destination_id))
                .order((set_aside::run, set_aside::position))
                .limit(limit - removed)
                .select((set_aside::run, set_aside::position))
                .load(self.session())?;
            for (run, position) in &keys {
                self.delete_set_aside(&destination_id, *run, *position)?;
            }
            removed += keys.len() as i64;
            if removed == limit {
                break;
            }
        }
        Ok(usize::try_from(removed).unwrap_or_default())
    }
}
