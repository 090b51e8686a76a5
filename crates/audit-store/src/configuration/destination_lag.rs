//! Which destinations are behind, for metrics.

use super::schema::{destinations, organizations, projects};
use crate::access::Reader;
use crate::database::on_either;
use crate::destinations::MAIN_RUN;
use crate::error::Result;
use crate::ids::LedgerId;
use crate::schema::{destination_runs, ledgers};
use audit_domain::Plan;
use diesel::prelude::*;

impl Reader<'_> {
    /// The logs of up to `limit` main runs that have not read all events, with the `seq` that each reads next. Those whose last checkpoint
    /// is the oldest come first: they have stood still for longest. Not those that are parked, paused or of an organization on the free
    /// plan.
    ///
    /// # Errors
    /// When the database cannot be queried.
    pub fn waiting_destination_runs(&mut self, limit: i64) -> Result<Vec<(LedgerId, u64)>> {
        let runs = destination_runs::table
            .inner_join(destinations::table.on(destinations::id.eq(destination_runs::destination_id)))
            .inner_join(projects::table.on(projects::id.eq(destinations::project_id)))
            .inner_join(organizations::table.on(organizations::id.eq(projects::organization_id)))
            .inner_join(ledgers::table.on(ledgers::id.eq(destination_runs::ledger_id)))
            .filter(destination_runs::number.eq(MAIN_RUN))
            .filter(destination_runs::state.ne("parked"))
            .filter(destinations::paused.eq(false))
            .filter(organizations::plan.ne(Plan::Free.as_str()))
            .filter(ledgers::size.gt(destination_runs::cursor_seq))
            .order(destination_runs::checkpoint_at)
            .limit(limit)
            .select((destination_runs::ledger_id, destination_runs::cursor_seq));
        let rows: Vec<(i64, i64)> = on_either!(self.session(), session => runs.load(session))?;
        let run = |(ledger_id, seq): (i64, i64)| (LedgerId(ledger_id), seq.cast_unsigned());
        Ok(rows.into_iter().map(run).collect())
    }
}
