//! The months of ledgers on PostgreSQL.

use crate::error::Result;
use crate::ids::LedgerId;
use crate::ledgers::head::LedgerMonth;
use crate::ledgers::heads::read_month;
use crate::schema::ledger_months;
use diesel::PgConnection;
use diesel::prelude::*;
use std::collections::{BTreeSet, HashMap};

/// The months of ledgers, ascending. After the heads are locked, in a statement of its own, which sees what was committed while
/// the lock was waited for.
pub(crate) fn months_of(
    connection: &mut PgConnection,
    ledgers: &BTreeSet<LedgerId>,
) -> Result<HashMap<LedgerId, Vec<LedgerMonth>>> {
    let ids: Vec<i64> = ledgers.iter().map(|ledger_id| ledger_id.0).collect();
    let rows: Vec<(i64, i32, i64)> = ledger_months::table
        .filter(ledger_months::ledger_id.eq_any(ids))
        .order((ledger_months::ledger_id, ledger_months::month))
        .load(connection)?;
    let mut months: HashMap<LedgerId, Vec<LedgerMonth>> = HashMap::with_capacity(ledgers.len());
    for (ledger_id, month, first_seq) in rows {
        let of_ledger = months.entry(LedgerId(ledger_id)).or_default();
        of_ledger.push(read_month((month, first_seq)));
    }
    Ok(months)
}

/// Inserts the months that ledgers enter. A row that is there already is of events that were removed by hand.
pub(crate) fn insert_months(
    connection: &mut PgConnection,
    entered: &[(LedgerId, LedgerMonth)],
) -> Result<()> {
    for (ledger_id, entered) in entered {
        diesel::insert_into(ledger_months::table)
            .values((
                ledger_months::ledger_id.eq(ledger_id.0),
                ledger_months::month.eq(entered.month.number()),
                ledger_months::first_seq.eq(entered.first_seq),
            ))
            .on_conflict((ledger_months::ledger_id, ledger_months::month))
            .do_update()
            .set(ledger_months::first_seq.eq(entered.first_seq))
            .execute(connection)?;
    }
    Ok(())
}
