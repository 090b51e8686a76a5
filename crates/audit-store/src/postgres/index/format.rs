//! The format of the index, and how an index of an older one is rebuilt while nodes work.

use crate::error::{Result, StoreError};
use crate::postgres::schema::{index_format, index_segments};
use crate::search::FORMAT;
use diesel::connection::SimpleConnection;
use diesel::dsl::exists;
use diesel::prelude::*;

/// The key of the only row of `index_format`.
const ONLY_ROW: i64 = 1;

/// The random mark of the index, which changes with each rebuild; `None` when this program cannot write the index.
///
/// Empties an index of an older format, or without a format, and enters all stored events into the backlog, whose rows the
/// holders of the leases index. Until then queries read the events in their order.
///
/// An index of a newer format stays: a newer version of the program runs beside this one, and indexes for it.
pub(crate) fn prepare(connection: &mut PgConnection) -> Result<Option<i64>> {
    if let Some((format, mark)) = stored(connection)?.filter(is_usable) {
        return Ok((format == FORMAT).then_some(mark));
    }
    connection.transaction(|connection| {
        // In the order in which a transaction of an indexer locks them. Nodes take turns. No event is stored meanwhile, so the
        // sizes of the ledgers are the ends of the backlog.
        connection.batch_execute(
            "LOCK TABLE index_segments, index_blocks IN ACCESS EXCLUSIVE MODE;
             LOCK TABLE event_backlog IN SHARE ROW EXCLUSIVE MODE",
        )?;
        let found = stored(connection)?;
        if let Some((format, mark)) = found.filter(is_usable) {
            return Ok((format == FORMAT).then_some(mark));
        }
        if found.is_some() {
            log::info!("the index has an older format, and is rebuilt in the background");
        }
        connection.batch_execute(&format!(
            "TRUNCATE index_segments, index_blocks;
             DELETE FROM event_backlog;
             INSERT INTO event_backlog (group_id, ledger_id, first_seq, end_seq, month)
                 SELECT group_id, id, first_seq,
                     coalesce(lead(first_seq) OVER (PARTITION BY id ORDER BY month), size), month
                 FROM ledgers JOIN ledger_months ON ledger_id = id;
             INSERT INTO index_format (id, format, mark) VALUES ({ONLY_ROW}, {FORMAT}, random() * 9007199254740992)
                 ON CONFLICT (id) DO UPDATE SET format = excluded.format, mark = excluded.mark;"
        ))?;
        Ok(stored(connection)?.map(|(_, mark)| mark))
    })
}

/// Keeps the format until the end of the transaction: a rebuild locks the table of segments, which the statement reads.
///
/// # Errors
/// When the index has another format, in which this program cannot write.
pub(crate) fn hold(connection: &mut PgConnection) -> Result<()> {
    let segments = index_segments::table.select(index_segments::id);
    let format: Option<(i32, bool)> = index_format::table
        .find(ONLY_ROW)
        .select((index_format::format, exists(segments)))
        .get_result(connection)
        .optional()?;
    match format.is_some_and(|(format, _)| format == FORMAT) {
        true => Ok(()),
        false => Err(StoreError::Unreachable(
            "another node rebuilds the index".to_owned(),
        )),
    }
}

/// Format and mark.
fn stored(connection: &mut PgConnection) -> Result<Option<(i32, i64)>> {
    Ok(index_format::table
        .find(ONLY_ROW)
        .select((index_format::format, index_format::mark))
        .get_result(connection)
        .optional()?)
}

const fn is_usable(stored: &(i32, i64)) -> bool {
    stored.0 >= FORMAT
}
