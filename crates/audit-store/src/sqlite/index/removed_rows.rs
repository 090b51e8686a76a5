//! The rows of the index whose events were removed or erased, until its segments are written without what they had. They are in the
//! database: the transaction that removes or erases the events adds them.

use super::segments::SegmentBlocks;
use super::tokens_of;
use crate::error::Result;
use crate::search::merging::{
    GONE_ROWS, GoneRow, LEFT_OUT_ROWS_MAX, RemovedRows, Segments as _, TO_REFRESH, left_out_at_once,
    to_refresh,
};
use crate::sqlite::connection::{self, Purpose};
use crate::sqlite::schema::{event_times, events, removed_rows};
use audit_domain::Month;
use audit_index::Segment;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary};
use std::collections::BTreeSet;
use std::path::Path;

/// Rows that one transaction of the database writes, at most.
const WRITTEN_ROWS_MAX: usize = 500;

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

/// The rows in the database, while the index is written.
pub(super) struct Removed<'a> {
    pub(super) database: &'a mut SqliteConnection,
    /// To be noted with [`note`] once the index is committed.
    pub(super) refreshed: Option<Refreshed>,
}

/// Rows that a segment has for what remains of their events.
pub(super) struct Refreshed {
    segment: u32,
    /// Each with the salt of its event, which another erasure changes.
    rows: Vec<(i64, Vec<u8>)>,
}

impl RemovedRows<SegmentBlocks<'_>> for Removed<'_> {
    fn kept(&mut self, _: &mut SegmentBlocks<'_>) -> Result<BTreeSet<i64>> {
        let kept: Vec<i64> = removed_rows::table
            .filter(removed_rows::fresh.gt(TO_REFRESH))
            .select(removed_rows::fresh.assume_not_null())
            .distinct()
            .load(self.database)?;
        Ok(kept.into_iter().collect())
    }

    fn left_out(&mut self, _: &mut SegmentBlocks<'_>, month: Month, segment: &Segment) -> Result<Vec<i64>> {
        let is_kept_elsewhere = removed_rows::fresh
            .is_null()
            .or(removed_rows::fresh.ne(i64::from(segment.id)));
        let rows: Vec<(i64, Option<i64>)> = removed_rows::table
            .filter(removed_rows::month.eq(month.number()))
            .filter(removed_rows::position.ge(segment.first))
            .filter(removed_rows::position.le(segment.last))
            .filter(is_kept_elsewhere)
            .order(removed_rows::position)
            .limit(LEFT_OUT_ROWS_MAX)
            .select((removed_rows::position, removed_rows::fresh))
            .load(self.database)?;
        let rows = rows.into_iter().map(|(id, fresh)| GoneRow { id, fresh });
        Ok(left_out_at_once(rows))
    }

    fn refresh(&mut self, segments: &mut SegmentBlocks<'_>, month: Month, left_out: &[i64]) -> Result<()> {
        let (Some(first), Some(last)) = (left_out.first(), left_out.last()) else {
            return Ok(());
        };
        let rows: Vec<(i64, Option<i64>)> = removed_rows::table
            .filter(removed_rows::month.eq(month.number()))
            .filter(removed_rows::position.ge(*first))
            .filter(removed_rows::position.le(*last))
            .filter(removed_rows::fresh.is_not_null())
            .order(removed_rows::position)
            .select((removed_rows::position, removed_rows::fresh))
            .load(self.database)?;
        let own = rows
            .into_iter()
            .filter(|(id, _)| left_out.binary_search(id).is_ok());
        let wanted = to_refresh(own.map(|(id, fresh)| GoneRow { id, fresh }), segments)?;
        let (mut rows, mut tokens) = (Vec::new(), Vec::new());
        for position in wanted {
            let event = event_times::table
                .find(position)
                .inner_join(events::table.on(events::entry.eq(event_times::entry)))
                .select((event_times::entry, events::content_salt));
            let event: Option<(i64, Vec<u8>)> = event.get_result(self.database).optional()?;
            if let Some((entry, salt)) = event {
                // After the salt, so that they are not those of an earlier text.
                tokens.push((position, tokens_of(self.database, entry)?));
                rows.push((position, salt));
            }
        }
        if !rows.is_empty() {
            let tokens: Vec<(i64, &str)> = tokens.iter().map(|(id, tokens)| (*id, &**tokens)).collect();
            let segment = segments.add_segment(month, &tokens)?;
            self.refreshed = Some(Refreshed { segment, rows });
        }
        Ok(())
    }
}

/// Notes which segment has rows of erased events, unless the events have changed since. With a connection of its own, as [`forget`].
pub(super) fn note(path: &Path, refreshed: &Refreshed) -> Result<()> {
    let note = "UPDATE removed_rows SET fresh = ? WHERE position = ? AND fresh IS NOT NULL AND EXISTS ( \
                    SELECT 1 FROM event_times JOIN events ON events.entry = event_times.entry \
                    WHERE event_times.position = removed_rows.position AND events.content_salt = ?)";
    let mut database = connection::connect(path, Purpose::Write)?;
    for rows in refreshed.rows.chunks(WRITTEN_ROWS_MAX) {
        database.immediate_transaction(|database| {
            for (position, salt) in rows {
                diesel::sql_query(note)
                    .bind::<BigInt, _>(i64::from(refreshed.segment))
                    .bind::<BigInt, _>(position)
                    .bind::<Binary, _>(salt)
                    .execute(database)?;
            }
            Ok::<_, diesel::result::Error>(())
        })?;
    }
    Ok(())
}

/// Forgets rows that no segment has, or none but the one that keeps them, unless they have changed since. With a connection of its own: that
/// of the indexer reads the database.
pub(super) fn forget(path: &Path, rows: &[GoneRow<i64>]) -> Result<()> {
    let mut database = connection::connect(path, Purpose::Write)?;
    database.immediate_transaction(|database| {
        for row in rows {
            let own = removed_rows::table.find(row.id);
            match row.fresh {
                Some(fresh) => diesel::delete(own.filter(removed_rows::fresh.eq(fresh))).execute(database)?,
                None => diesel::delete(own.filter(removed_rows::fresh.is_null())).execute(database)?,
            };
        }
        Ok(())
    })
}
