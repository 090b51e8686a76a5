//! Ledgers: their heads, and the actions that occur in them.

pub(crate) mod actions;
pub(crate) mod head;
pub(crate) mod heads;

use crate::access::Reader;
use crate::columns::stored;
use crate::configuration::ConfigurationVersion;
use crate::database::{AnySession, on_database, on_either};
use crate::error::{Result, StoreError};
use crate::ids::LedgerId;
use crate::replica::LogEnd;
use crate::schema::{ledger_actions, ledger_months, ledgers};
use crate::tree::TreeSession;
use audit_domain::{Environment, Month, ProjectId};
use audit_ledger::SealedHead;
use diesel::prelude::*;
use head::Head;
use heads::{Heads, SEALED_COLUMNS, SealedColumns, name_of};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Creates the ledgers of a new project.
pub(crate) fn create_ledgers(session: &mut AnySession, project_id: ProjectId) -> Result<()> {
    let group_id = on_database!(session, append::group_of(project_id))?;
    let version = ConfigurationVersion::random(session)?;
    for environment in Environment::ALL {
        // Numbers and not random ids, because they are in every row and token.
        let id = on_database!(session, append::next_ledger_number())?;
        let code = heads_of(session)?.code(&SealedHead {
            ledger_id: id,
            name: &name_of(&project_id.to_string(), environment.as_str()),
            size: 0,
            frontier: &[],
            lifecycle: None,
            last: None,
        });
        diesel::insert_into(ledgers::table)
            .values((
                ledgers::id.eq(id),
                ledgers::project_id.eq(project_id.to_string()),
                ledgers::environment.eq(environment.as_str()),
                ledgers::group_id.eq(group_id),
                ledgers::configuration_version.eq(version.0),
                ledgers::size.eq(0_i64),
                ledgers::head_code.eq(code.as_slice()),
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
        .map(|(id, environment)| Ok((stored(&environment, "environment")?, LedgerId(id))))
        .collect()
}

/// The number of events of a ledger.
pub(crate) fn ledger_size(session: &mut AnySession, ledger_id: LedgerId) -> Result<i64> {
    Ok(ledgers::table
        .find(ledger_id.0)
        .select(ledgers::size)
        .get_result(session)?)
}

/// How many events a ledger has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LedgerCount {
    /// All of them.
    pub size: u64,
    /// Those that count to the limit of the day.
    pub day_events: u64,
}

impl Reader<'_> {
    /// How many events a ledger has, and how many of them count to the limit of `day`.
    ///
    /// # Errors
    /// When the database cannot be queried, or has no such ledger.
    pub fn ledger_count(&mut self, ledger_id: LedgerId, day: i64) -> Result<LedgerCount> {
        let (size, stored_day, day_events): (i64, i64, i64) = ledgers::table
            .find(ledger_id.0)
            .select((ledgers::size, ledgers::day, ledgers::day_events))
            .get_result(self.session())?;
        let continues = Head::counts_to(stored_day, day);
        Ok(LedgerCount {
            size: size.cast_unsigned(),
            day_events: if continues { day_events.cast_unsigned() } else { 0 },
        })
    }

    /// The position of the newest lifecycle event of a ledger: each names the one before it.
    ///
    /// # Errors
    /// [`StoreError::ForgedHead`] when the service did not write the head; when the database cannot be queried.
    pub fn lifecycle_seq(&mut self, ledger_id: LedgerId) -> Result<Option<u64>> {
        type Row = ((String, String), SealedColumns);
        let ((project_id, environment), sealed): Row = ledgers::table
            .find(ledger_id.0)
            .select(((ledgers::project_id, ledgers::environment), SEALED_COLUMNS))
            .get_result(self.session())?;
        let name = name_of(&project_id, &environment);
        let edge = heads_of(self.session())?.edge(ledger_id.0, &name, &sealed);
        let (.., lifecycle, _) = sealed;
        match edge {
            Some(_) => Ok(lifecycle.map(i64::cast_unsigned)),
            None => Err(StoreError::ForgedHead {
                ledger_id: ledger_id.0,
            }),
        }
    }

    /// The ledgers whose rows name a lifecycle event, in order. [`Self::lifecycle_seq`] checks that the service wrote the row.
    ///
    /// # Errors
    /// When the database cannot be queried.
    pub fn ledgers_with_lifecycle(&mut self) -> Result<Vec<(LedgerId, ProjectId, Environment)>> {
        let rows: Vec<(i64, String, String)> = ledgers::table
            .filter(ledgers::lifecycle_seq.is_not_null())
            .order(ledgers::id)
            .select((ledgers::id, ledgers::project_id, ledgers::environment))
            .load(self.session())?;
        let read = |(id, project_id, environment): (i64, String, String)| {
            Ok((
                LedgerId(id),
                stored(&project_id, "project id")?,
                stored(&environment, "environment")?,
            ))
        };
        rows.into_iter().map(read).collect()
    }

    /// The months in which events of any ledger were stored. Reads the months of every ledger.
    ///
    /// # Errors
    /// When the database cannot be queried.
    pub fn stored_months(&mut self) -> Result<BTreeSet<Month>> {
        let months = ledger_months::table.select(ledger_months::month).distinct();
        let months: Vec<i32> = months.load(self.session())?;
        Ok(months.into_iter().map(Month::from_number).collect())
    }

    /// Up to `limit` actions of a ledger's events that follow `after`, in order.
    ///
    /// # Errors
    /// When the database cannot be queried.
    pub fn actions_after(&mut self, ledger_id: LedgerId, after: &str, limit: i64) -> Result<Vec<String>> {
        Ok(ledger_actions::table
            .filter(ledger_actions::ledger_id.eq(ledger_id.0))
            .filter(ledger_actions::action.gt(after))
            .select(ledger_actions::action)
            .order(ledger_actions::action)
            .limit(limit)
            .load(self.session())?)
    }

    /// The first event of a ledger that was stored in this month or later.
    ///
    /// # Errors
    /// When the database cannot be queried.
    pub fn first_seq_of_month(&mut self, ledger_id: LedgerId, month: Month) -> Result<Option<u64>> {
        let first: Option<i64> = ledger_months::table
            .filter(ledger_months::ledger_id.eq(ledger_id.0))
            .filter(ledger_months::month.ge(month.number()))
            .order(ledger_months::month)
            .select(ledger_months::first_seq)
            .limit(1)
            .get_result(self.session())
            .optional()?;
        Ok(first.map(i64::cast_unsigned))
    }
}

/// The end of a ledger's log.
pub(crate) fn log_end(session: &mut AnySession, ledger_id: LedgerId) -> Result<LogEnd> {
    let (size, frontier) = ledgers::table
        .find(ledger_id.0)
        .select((ledgers::size, ledgers::frontier))
        .get_result(session)?;
    Ok(LogEnd::new(size, frontier))
}

/// The heads of the store that this session belongs to.
pub(crate) fn heads_of(session: &mut AnySession) -> Result<Arc<Heads>> {
    on_either!(session, session => session.heads())
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
