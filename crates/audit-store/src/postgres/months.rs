//! The months of ledgers on PostgreSQL, and the keys that a commit looks up in them.

use crate::append::LedgerId;
use crate::append::plan::{LedgerMonth, Plan};
use crate::error::Result;
use crate::ledgers::read_month;
use crate::schema::ledger_months;
use audit_domain::{IdempotencyWindow, Month};
use diesel::PgConnection;
use diesel::prelude::*;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// Keys that must not be stored yet in some months.
pub(crate) struct AbsentKeys<'a> {
    pub(crate) keys: Vec<&'a [u8]>,
    pub(crate) months: Range<Month>,
}

impl<'a> AbsentKeys<'a> {
    /// No key. The unique index refuses those of the month of the commit.
    pub(crate) const NONE: Self = Self {
        keys: Vec::new(),
        months: Month::MIN..Month::MIN,
    };

    /// The keys of a plan: in the earlier months of the window in which its ledger has events, and if `is_whole_window`, in the
    /// month of the commit as well.
    pub(crate) fn of(plan: &'a Plan, window: IdempotencyWindow, is_whole_window: bool) -> Self {
        let Some(month) = plan.rows.iter().map(|row| row.month).min() else {
            return Self::NONE;
        };
        let end = if is_whole_window { month.plus(1) } else { month };
        let first = window.first_month(month);
        let in_range = |one: &&LedgerMonth| (first..end).contains(&one.month);
        let months = plan.after.heads.values().flat_map(|head| &head.months);
        let Some(first) = months.filter(in_range).map(|one| one.month).min() else {
            return Self::NONE;
        };
        let keys = plan.rows.iter().filter_map(|row| row.idempotency.as_ref());
        Self {
            keys: keys.map(|key| key.hash.as_slice()).collect(),
            months: first..end,
        }
    }
}

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
