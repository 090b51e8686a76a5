//! The rows of the index whose events were removed, until its segments are written without them. They are in the database: the
//! transaction that removes the events adds them.

use crate::error::Result;
use crate::search::merging::{GONE_ROWS, GoneRow, LEFT_OUT_ROWS_MAX};
use crate::sqlite::connection::{self, Purpose};
use crate::sqlite::schema::removed_rows;
use audit_domain::Month;
use audit_index::Segment;
use diesel::prelude::*;
use std::path::Path;

/// The first rows of the first month that has any, in their order.
pub(super) fn first(database: &mut SqliteConnection) -> Result<Option<(Month, Vec<GoneRow<i64>>)>> {
    let month = removed_rows::table
        .order(removed_rows::month)
        .select(removed_rows::month);
    let Some(month) = month.get_result::<i32>(database).optional()? else {
        return Ok(None);
    };
    let rows: Vec<(i64, Option<i64>)> = removed_rows::table
        .filter(removed_rows::month.eq(month))
        .order(removed_rows::position)
        .limit(GONE_ROWS)
        .select((removed_rows::position, removed_rows::fresh))
        .load(database)?;
    let rows = rows.into_iter().map(|(id, fresh)| GoneRow { id, fresh });
    Ok(Some((Month::from_number(month), rows.collect())))
}

/// The rows of a month that a segment must not have, from its first row on.
pub(super) fn left_out(database: &mut SqliteConnection, month: Month, segment: &Segment) -> Result<Vec<i64>> {
    let is_kept_elsewhere = removed_rows::fresh
        .is_null()
        .or(removed_rows::fresh.ne(i64::from(segment.id)));
    Ok(removed_rows::table
        .filter(removed_rows::month.eq(month.number()))
        .filter(removed_rows::position.ge(segment.first))
        .filter(removed_rows::position.le(segment.last))
        .filter(is_kept_elsewhere)
        .order(removed_rows::position)
        .limit(LEFT_OUT_ROWS_MAX)
        .select(removed_rows::position)
        .load(database)?)
}

/// Forgets rows that no segment has. With a connection of its own: that of the indexer reads the database.
pub(super) fn forget(path: &Path, rows: &[GoneRow<i64>]) -> Result<()> {
    let mut database = connection::connect(path, Purpose::Write)?;
    database.immediate_transaction(|database| {
        for row in rows {
            diesel::delete(removed_rows::table.find(row.id)).execute(database)?;
        }
        Ok(())
    })
}
