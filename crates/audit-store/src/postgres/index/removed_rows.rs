//! The rows of the index whose events were removed or erased, until its segments are written without what they had. The transaction that
//! removes or erases the events adds them.

use super::RowKey;
use super::backlog::{GroupId, push_tokens};
use super::segments::WrittenBlocks;
use crate::columns::read_id;
use crate::error::Result;
use crate::ids::LedgerId;
use crate::postgres::events::{COLUMNS, Columns, raw_event};
use crate::postgres::schema::{events, removed_rows};
use crate::search::merging::{
    GONE_ROWS, GoneRow, LEFT_OUT_ROWS_MAX, RemovedRows, Segments as _, TO_REFRESH, left_out_at_once,
    to_refresh,
};
use audit_domain::Month;
use audit_index::Segment;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Binary, Bool, Integer};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Time and id of the event, and the segment that has what remains of it.
type Row = (i64, Vec<u8>, Option<i64>);

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

/// The first rows of the first month of a group that has any, in their order. None while one of their events may not be indexed: a node
/// may have read it before it was removed or erased.
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
    let rows: Vec<Row> = of_group()
        .filter(removed_rows::month.eq(month))
        .order((removed_rows::occurred_at, removed_rows::id))
        .limit(GONE_ROWS)
        .select((removed_rows::occurred_at, removed_rows::id, removed_rows::fresh))
        .load(connection)?;
    let rows: Vec<GoneRow<RowKey>> = rows.into_iter().map(gone_row).collect::<Result<_>>()?;
    // After the rows: a row of the backlog that has one of their events is still there, or its segment is.
    let newest = rows.iter().map(|row| row.id.1).max().unwrap_or(u128::MAX);
    let is_waiting = is_unindexed(connection, group, month, newest)?;
    Ok((!is_waiting).then(|| (Month::from_number(month), rows)))
}

/// Whether an event of a month that is as old as that of the id `newest`, or older, may not be indexed. The ids of a ledger ascend, so a
/// row of the backlog has such an event only if its first event is one. A first event that is gone may have been one.
fn is_unindexed(connection: &mut PgConnection, group: GroupId, month: i32, newest: u128) -> Result<bool> {
    #[derive(QueryableByName)]
    struct Found {
        #[diesel(sql_type = Bool)]
        is_unindexed: bool,
    }
    let found = "SELECT EXISTS (SELECT FROM event_backlog AS waiting \
                 WHERE waiting.group_id = $1 AND waiting.month = $2 AND NOT EXISTS ( \
                     SELECT FROM events WHERE events.ledger_id = waiting.ledger_id AND events.seq = waiting.first_seq \
                         AND events.month = waiting.month AND events.id > $3)) AS is_unindexed";
    let found: Found = diesel::sql_query(found)
        .bind::<BigInt, _>(group)
        .bind::<Integer, _>(month)
        .bind::<Binary, _>(newest.to_be_bytes().as_slice())
        .get_result(connection)?;
    Ok(found.is_unindexed)
}

/// The rows of a group.
pub(super) struct Removed {
    pub(super) group: GroupId,
    /// Whether it may have some.
    pub(super) has_some: bool,
}

impl RemovedRows<WrittenBlocks<'_>> for Removed {
    fn kept(&mut self, blocks: &mut WrittenBlocks<'_>) -> Result<BTreeSet<i64>> {
        if !self.has_some {
            return Ok(BTreeSet::new());
        }
        let kept: Vec<i64> = removed_rows::table
            .filter(removed_rows::group_id.eq(self.group))
            .filter(removed_rows::fresh.gt(TO_REFRESH))
            .select(removed_rows::fresh.assume_not_null())
            .distinct()
            .load(blocks.connection())?;
        Ok(kept.into_iter().collect())
    }

    fn left_out(
        &mut self,
        blocks: &mut WrittenBlocks<'_>,
        month: Month,
        segment: &Segment<RowKey>,
    ) -> Result<Vec<RowKey>> {
        let is_kept_elsewhere = removed_rows::fresh
            .is_null()
            .or(removed_rows::fresh.ne(i64::from(segment.id)));
        let rows: Vec<Row> = removed_rows::table
            .filter(removed_rows::group_id.eq(self.group))
            .filter(removed_rows::month.eq(month.number()))
            .filter(removed_rows::occurred_at.ge(segment.first.0))
            .filter(removed_rows::occurred_at.le(segment.last.0))
            .filter(is_kept_elsewhere)
            .order((removed_rows::occurred_at, removed_rows::id))
            .limit(LEFT_OUT_ROWS_MAX)
            .select((removed_rows::occurred_at, removed_rows::id, removed_rows::fresh))
            .load(blocks.connection())?;
        let rows: Vec<GoneRow<RowKey>> = rows.into_iter().map(gone_row).collect::<Result<_>>()?;
        Ok(left_out_at_once(rows))
    }

    /// The rows are locked before the events are read: an erasure writes the event, and then waits for its row.
    fn refresh(&mut self, blocks: &mut WrittenBlocks<'_>, month: Month, left_out: &[RowKey]) -> Result<()> {
        let (Some(first), Some(last)) = (left_out.first(), left_out.last()) else {
            return Ok(());
        };
        let of_month = || {
            removed_rows::table
                .filter(removed_rows::group_id.eq(self.group))
                .filter(removed_rows::month.eq(month.number()))
        };
        let rows: Vec<(Row, i64)> = of_month()
            .filter(removed_rows::occurred_at.ge(first.0))
            .filter(removed_rows::occurred_at.le(last.0))
            .filter(removed_rows::fresh.is_not_null())
            .order((removed_rows::occurred_at, removed_rows::id))
            .select((
                (removed_rows::occurred_at, removed_rows::id, removed_rows::fresh),
                removed_rows::ledger_id,
            ))
            .for_update()
            .load(blocks.connection())?;
        let (mut own, mut ledgers) = (Vec::new(), HashMap::new());
        for (row, ledger_id) in rows {
            let row = gone_row(row)?;
            if left_out.binary_search(&row.id).is_ok() {
                ledgers.insert(row.id, ledger_id);
                own.push(row);
            }
        }
        let mut wanted: BTreeMap<i64, Vec<Vec<u8>>> = BTreeMap::new();
        for row in to_refresh(own, blocks)? {
            if let Some(ledger_id) = ledgers.get(&row) {
                let ids = wanted.entry(*ledger_id).or_default();
                ids.push(row.1.to_be_bytes().to_vec());
            }
        }
        let mut remains = Vec::new();
        for (ledger_id, ids) in &wanted {
            let found: Vec<Columns> = events::table
                .filter(events::ledger_id.eq(ledger_id))
                .filter(events::id.eq_any(ids))
                .filter(events::month.eq(month.number()))
                .select(COLUMNS)
                .load(blocks.connection())?;
            for (_, row, event) in found.into_iter().map(|columns| raw_event(0, columns)) {
                let mut tokens = String::new();
                // It must not stop the indexer; `log verify` reports it.
                if let Err(error) =
                    event.and_then(|event| push_tokens(&mut tokens, LedgerId(*ledger_id), &event))
                {
                    log::error!("cannot index an event: {error}");
                }
                remains.push((row, tokens));
            }
        }
        if remains.is_empty() {
            return Ok(());
        }
        remains.sort_unstable_by_key(|(row, _)| *row);
        let rows: Vec<(RowKey, &str)> = remains
            .iter()
            .map(|(row, tokens)| (*row, tokens.as_str()))
            .collect();
        let segment = blocks.add_segment(month, &rows)?;
        let ids: Vec<Vec<u8>> = rows
            .iter()
            .map(|((_, id), _)| id.to_be_bytes().to_vec())
            .collect();
        diesel::update(of_month().filter(removed_rows::id.eq_any(ids)))
            .set(removed_rows::fresh.eq(i64::from(segment)))
            .execute(blocks.connection())?;
        Ok(())
    }
}

/// Forgets rows that no segment has, or none but the one that keeps them, unless they have changed since.
pub(super) fn forget(
    connection: &mut PgConnection,
    group: GroupId,
    month: Month,
    rows: &[GoneRow<RowKey>],
) -> Result<()> {
    for row in rows {
        let (at, id) = row.id;
        let id = id.to_be_bytes();
        let own = removed_rows::table.find((group, month.number(), at, id.as_slice()));
        match row.fresh {
            Some(fresh) => diesel::delete(own.filter(removed_rows::fresh.eq(fresh))).execute(connection)?,
            None => diesel::delete(own.filter(removed_rows::fresh.is_null())).execute(connection)?,
        };
    }
    Ok(())
}

fn gone_row((at, id, fresh): Row) -> Result<GoneRow<RowKey>> {
    let id = (at, u128::from_be_bytes(read_id(id)?.to_bytes()));
    Ok(GoneRow { id, fresh })
}
