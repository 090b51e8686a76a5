//! Ledgers: their heads, and the actions that occur in them.

use crate::append::plan::{Before, Head, LedgerMonth, Plan};
use crate::append::{AppendSession, LedgerId};
use crate::configuration::ConfigurationVersion;
use crate::database::{AnySession, on_database};
use crate::error::{Result, StoreError};
use crate::schema::{ledger_actions, ledgers};
use crate::tree::{self, TreeSession};
use audit_domain::{Environment, EventId, Month, ProjectId, Stamp, Timestamp};
use audit_ledger::{Frontier, Tile};
use diesel::prelude::*;
use std::collections::{BTreeSet, HashMap, HashSet};

/// The columns of a head, as [`HEAD_COLUMNS`] selects them.
pub(crate) type HeadRow = (
    i64,
    i64,
    i64,
    Option<Vec<u8>>,
    Option<i64>,
    Option<Vec<u8>>,
    i64,
    i64,
);

/// Creates the ledgers of a new project.
pub(crate) fn create_ledgers(session: &mut AnySession, project_id: ProjectId) -> Result<()> {
    let group_id = on_database!(session, append::group_of(project_id))?;
    let version = ConfigurationVersion::random(session)?;
    for environment in Environment::ALL {
        // Numbers and not random ids, because they are in every row and token.
        let id = on_database!(session, append::next_ledger_number())?;
        diesel::insert_into(ledgers::table)
            .values((
                ledgers::id.eq(id),
                ledgers::project_id.eq(project_id.to_string()),
                ledgers::environment.eq(environment.as_str()),
                ledgers::group_id.eq(group_id),
                ledgers::configuration_version.eq(version.0),
                ledgers::size.eq(0_i64),
            ))
            .execute(session)?;
    }
    Ok(())
}

/// The ledger of each environment of a project.
pub(crate) fn ledgers_of(
    session: &mut AnySession,
    project_id: ProjectId,
) -> Result<HashMap<Environment, LedgerId>> {
    let rows = ledgers::table
        .filter(ledgers::project_id.eq(project_id.to_string()))
        .select((ledgers::id, ledgers::environment))
        .load::<(i64, String)>(session)?;
    rows.into_iter()
        .map(|(id, environment)| {
            let environment = environment
                .parse()
                .map_err(|_| StoreError::Damaged { what: "environment" })?;
            Ok((environment, LedgerId(id)))
        })
        .collect()
}

/// The number of events of a ledger.
pub(crate) fn ledger_size(session: &mut AnySession, ledger_id: LedgerId) -> Result<i64> {
    Ok(ledgers::table
        .find(ledger_id.0)
        .select(ledgers::size)
        .get_result(session)?)
}

/// Reads the state that every request to these ledgers depends on, and locks their heads until the end of the transaction.
pub(crate) fn read_before<S: AppendSession>(
    session: &mut S,
    ledgers: &BTreeSet<LedgerId>,
    day: i64,
) -> Result<Before> {
    let mut before = Before::default();
    // Changes of the configuration lock heads in the same order.
    for (ledger_id, mut head) in session.lock_heads(ledgers)? {
        head.begin_day(day);
        head.frontier = tree::continued(session, ledger_id, head.frontier, head.size.unsigned_abs())?;
        before.heads.insert(ledger_id, head);
    }
    Ok(before)
}

/// The columns of a head.
pub(crate) const HEAD_COLUMNS: (
    ledgers::group_id,
    ledgers::configuration_version,
    ledgers::size,
    ledgers::last_event_id,
    ledgers::last_received_at,
    ledgers::frontier,
    ledgers::day,
    ledgers::day_events,
) = (
    ledgers::group_id,
    ledgers::configuration_version,
    ledgers::size,
    ledgers::last_event_id,
    ledgers::last_received_at,
    ledgers::frontier,
    ledgers::day,
    ledgers::day_events,
);

/// Reads the columns of a head. Its months are those of `months`, ascending.
pub(crate) fn read_head(row: HeadRow, months: Vec<LedgerMonth>) -> Result<Head> {
    let (group_id, configuration_version, size, last_event_id, last_received_at, frontier, day, day_events) =
        row;
    let last = match (last_event_id, last_received_at) {
        (Some(id), Some(micros)) => {
            let id = id
                .try_into()
                .map_err(|_| StoreError::Damaged { what: "event id" })?;
            Some(Stamp {
                id: EventId::from_bytes(id),
                received_at: Timestamp::from_micros(micros),
            })
        }
        _ => None,
    };
    let frontier = tree::read_frontier(frontier.as_deref()).ok();
    Ok(Head {
        group_id,
        configuration_version: ConfigurationVersion(configuration_version),
        size,
        last,
        frontier,
        day,
        day_events: day_events.unsigned_abs(),
        months,
    })
}

/// Reads a row of `ledger_months`.
pub(crate) const fn read_month((month, first_seq): (i32, i64)) -> LedgerMonth {
    LedgerMonth {
        month: Month::from_number(month),
        first_seq,
    }
}

/// The head of a ledger as a commit leaves it.
pub(crate) struct NewHead {
    pub(crate) ledger_id: LedgerId,
    /// The version of the project's configuration, which the commit does not change.
    pub(crate) configuration_version: ConfigurationVersion,
    pub(crate) size: i64,
    pub(crate) last: Stamp,
    /// Encoded; none where the tree cannot be continued.
    pub(crate) frontier: Option<Vec<u8>>,
    pub(crate) day: i64,
    pub(crate) day_events: i64,
    /// The tiles that the tree has filled, to be written while the head is locked.
    pub(crate) tiles: Vec<Tile>,
}

/// The heads to write with the rows of a plan, in the order of their ledgers.
pub(crate) fn grow<S: TreeSession>(session: &mut S, plan: &mut Plan) -> Result<Vec<NewHead>> {
    let mut heads = Vec::with_capacity(plan.growths.len());
    for (&ledger_id, head) in &mut plan.after.heads {
        let Some(growth) = plan.growths.remove(&ledger_id) else {
            // All its events are repeats, or were refused.
            continue;
        };
        let mut tiles = Vec::new();
        head.frontier = None;
        if let Some(tree) = &growth.tree {
            let frontier;
            (frontier, tiles) = tree::finish(session, ledger_id, tree)?;
            head.frontier = Some(frontier);
        }
        heads.push(NewHead {
            ledger_id,
            configuration_version: head.configuration_version,
            size: head.size,
            last: growth.last,
            frontier: head.frontier.as_ref().map(Frontier::encode),
            day: head.day,
            day_events: i64::try_from(head.day_events).unwrap_or(i64::MAX),
            tiles,
        });
    }
    heads.sort_unstable_by_key(|head| head.ledger_id);
    Ok(heads)
}

/// A writer's cache of stored actions, so that it writes each once.
#[derive(Debug, Default)]
pub(crate) struct KnownActions {
    known: HashMap<LedgerId, HashSet<String>>,
    pending: Vec<(LedgerId, String)>,
}

/// Actions of one ledger that a writer caches, at most. Beyond that it writes some again, which has no effect.
const KNOWN_ACTIONS_MAX: usize = 10_000;

impl KnownActions {
    /// Whether the action is known to be stored.
    pub(crate) fn contains(&self, ledger_id: LedgerId, action: &str) -> bool {
        let known = self.known.get(&ledger_id);
        known.is_some_and(|known| known.contains(action))
    }

    /// Calls `insert` with every action of the plan that is not known to be stored.
    pub(crate) fn write_new(
        &mut self,
        plan: &Plan,
        mut insert: impl FnMut(LedgerId, &str) -> Result<()>,
    ) -> Result<()> {
        self.pending.clear();
        let mut seen = HashSet::new();
        for row in &plan.rows {
            let is_known = self.contains(row.ledger_id, &row.action);
            if !is_known && seen.insert((row.ledger_id, row.action.as_str())) {
                insert(row.ledger_id, &row.action)?;
                self.pending.push((row.ledger_id, row.action.clone()));
            }
        }
        Ok(())
    }

    /// Drops the actions of a transaction that was rolled back.
    pub(crate) fn rolled_back(&mut self) {
        self.pending.clear();
    }

    /// Caches the actions of a transaction that was committed.
    pub(crate) fn committed(&mut self) {
        for (ledger_id, action) in self.pending.drain(..) {
            let known = self.known.entry(ledger_id).or_default();
            if known.len() < KNOWN_ACTIONS_MAX {
                known.insert(action);
            }
        }
    }
}

/// Up to `limit` actions of a ledger that begin with `prefix`, in order.
pub(crate) fn actions_with_prefix(
    session: &mut AnySession,
    ledger_id: LedgerId,
    prefix: &str,
    limit: i64,
) -> Result<Vec<String>> {
    // The alphabet of actions ends at `z`, so `{` follows every action with this prefix.
    let end = format!("{prefix}{{");
    Ok(ledger_actions::table
        .filter(ledger_actions::ledger_id.eq(ledger_id.0))
        .filter(ledger_actions::action.ge(prefix))
        .filter(ledger_actions::action.lt(end))
        .select(ledger_actions::action)
        .order(ledger_actions::action)
        .limit(limit)
        .load(session)?)
}
