//! Ledgers: their heads, and the actions that occur in them.

pub(crate) mod actions;
pub(crate) mod head;
pub(crate) mod heads;

use crate::access::Reader;
use crate::configuration::ConfigurationVersion;
use crate::database::{AnySession, on_database, on_either};
use crate::error::{Result, StoreError};
use crate::ids::LedgerId;
use crate::replica::LogEnd;
use crate::schema::{ledger_actions, ledgers};
use crate::tree::TreeSession;
use audit_domain::{Environment, ProjectId};
use audit_ledger::SealedHead;
use diesel::prelude::*;
use head::Head;
use heads::{Heads, name_of};
use std::collections::HashMap;
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
