//! The rows of the index whose events were removed, until its segments are written without them. The transaction that removes
//! the events adds them.

use super::RowKey;
use super::backlog::GroupId;
use crate::columns::read_id;
use crate::error::Result;
use crate::postgres::schema::{event_backlog, removed_rows};
use crate::search::merging::{GONE_ROWS, GoneRow, LEFT_OUT_ROWS_MAX};
use audit_domain::Month;
use audit_index::Segment;
use diesel::dsl::{exists, select};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt};
use std::collections::BTreeSet;

/// Which of these groups have rows.
pub(super) fn groups(connection: &mut PgConnection, of: &BTreeSet<GroupId>) -> Result<Vec<GroupId>> {
    #[derive(QueryableByName)]
    struct Group {
        #[diesel(sql_type = BigInt)]
        number: i64,
    }
    let groups = "SELECT number FROM unnest($1) AS wanted (number) \
                  WHERE EXISTS (SELECT FROM removed_rows WHERE group_id = wanted.number)";
    let groups: Vec<Group> = diesel::sql_query(groups)
        .bind::<Array<BigInt>, _>(of.iter().copied().collect::<Vec<i64>>())
        .load(connection)?;
    Ok(groups.into_iter().map(|group| group.number).collect())
}

/// The first rows of the first month of a group that has any, in their order. None while events of the month are not indexed: the
/// index is being rebuilt, and a node may have read events before they were removed.
pub(super) fn first(
    connection: &mut PgConnection,
    group: GroupId,
) -> Result<Option<(Month, Vec<GoneRow<RowKey>>)>> {
    let of_group = || removed_rows::table.filter(removed_rows::group_id.eq(group));
    let month = of_group()
        .order(removed_rows::month)
        .limit(1)
        .select(removed_rows::month);
    let Some(month) = month.get_result::<i32>(connection).optional()? else {
        return Ok(None);
    };
    let unindexed = event_backlog::table
        .filter(event_backlog::group_id.eq(group))
        .filter(event_backlog::month.eq(month));
    if select(exists(unindexed)).get_result(connection)? {
        return Ok(None);
    }
    let rows: Vec<(i64, Vec<u8>, Option<i64>)> = of_group()
        .filter(removed_rows::month.eq(month))
        .order((removed_rows::occurred_at, removed_rows::id))
        .limit(GONE_ROWS)
        .select((removed_rows::occurred_at, removed_rows::id, removed_rows::fresh))
        .load(connection)?;
    let row = |(at, id, fresh)| {
        let id = row_key((at, id))?;
        Ok(GoneRow { id, fresh })
    };
    let rows: Vec<GoneRow<RowKey>> = rows.into_iter().map(row).collect::<Result<_>>()?;
    Ok(Some((Month::from_number(month), rows)))
}

/// The rows of a month that a segment must not have, from its first row on.
pub(super) fn left_out(
    connection: &mut PgConnection,
    group: GroupId,
    month: Month,
    segment: &Segment<RowKey>,
) -> Result<Vec<RowKey>> {
    let is_kept_elsewhere = removed_rows::fresh
        .is_null()
        .or(removed_rows::fresh.ne(i64::from(segment.id)));
    let rows: Vec<(i64, Vec<u8>)> = removed_rows::table
        .filter(removed_rows::group_id.eq(group))
        .filter(removed_rows::month.eq(month.number()))
        .filter(removed_rows::occurred_at.ge(segment.first.0))
        .filter(removed_rows::occurred_at.le(segment.last.0))
        .filter(is_kept_elsewhere)
        .order((removed_rows::occurred_at, removed_rows::id))
        .limit(LEFT_OUT_ROWS_MAX)
        .select((removed_rows::occurred_at, removed_rows::id))
        .load(connection)?;
    rows.into_iter().map(row_key).collect()
}

/// Forgets rows that no segment has.
pub(super) fn forget(
    connection: &mut PgConnection,
    group: GroupId,
    month: Month,
    rows: &[GoneRow<RowKey>],
) -> Result<()> {
    for row in rows {
        let (at, id) = row.id;
        let id = id.to_be_bytes();
        let row = removed_rows::table.find((group, month.number(), at, id.as_slice()));
        diesel::delete(row).execute(connection)?;
    }
    Ok(())
}

fn row_key((at, id): (i64, Vec<u8>)) -> Result<RowKey> {
    Ok((at, u128::from_be_bytes(read_id(id)?.to_bytes())))
}
