//! Rebuilding the index behind a running server.
//!
//! A rebuild indexes events in the order of time, newest first, some in each transaction. `indexed.rebuilt_from` is the position that
//! it has reached: the index has every event from there on, except those in the backlog. A query reads older events in the order of
//! time without the index, and its caller checks each against the filter.
//!
//! Events that are stored during a rebuild are indexed like all others, whenever they occurred. `rebuilt_ledgers` has the size of each
//! ledger at the beginning, so that the rebuild leaves them out.

use super::segments::SegmentBlocks;
use super::tokens_of;
use crate::error::Result;
use crate::ids::LedgerId;
use crate::ledgers::head::{LedgerMonth, month_of};
use crate::schema::ledgers;
use crate::search::FORMAT;
use crate::search::merging::Segments;
use crate::sqlite::Shared;
use crate::sqlite::entry::ledger_and_seq;
use crate::sqlite::rows::months_of;
use crate::sqlite::schema::{event_backlog, event_times, indexed, rebuilt_ledgers};
use audit_domain::Month;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

/// [`reached`], of an index that is complete.
pub(crate) const COMPLETE: i64 = i64::MIN;

/// [`reached`], without a statement once this process knows that the index is complete. An index is emptied only when a database
/// is opened whose index cannot be used, and then no other process uses it.
pub(crate) fn known_reached(connection: &mut SqliteConnection, shared: &Shared) -> Result<i64> {
    match shared.rebuild.is_finished() {
        true => Ok(COMPLETE),
        false => reached(connection),
    }
}

/// The position that a rebuild has reached. The index has all events from there on, except those in the backlog.
pub(crate) fn reached(connection: &mut SqliteConnection) -> Result<i64> {
    let reached = indexed::table.select(indexed::rebuilt_from);
    Ok(reached.get_result(connection).optional()?.unwrap_or(COMPLETE))
}

/// The end of the events of a ledger that the rebuild indexes, as a `seq`.
fn end_of(connection: &mut SqliteConnection, ledger_id: LedgerId) -> Result<i64> {
    let end = rebuilt_ledgers::table
        .find(ledger_id.0)
        .select(rebuilt_ledgers::seq_end);
    Ok(end.get_result(connection).optional()?.unwrap_or(0))
}

/// The number of events that a rebuild which has not finished indexes in all; `None` when there is none.
pub(super) fn events(index: &mut SqliteConnection) -> Result<Option<u64>> {
    if reached(index)? == COMPLETE {
        return Ok(None);
    }
    let ends: Vec<i64> = rebuilt_ledgers::table
        .select(rebuilt_ledgers::seq_end)
        .load(index)?;
    Ok(Some(ends.iter().map(|end| end.unsigned_abs()).sum()))
}

/// Empties the index and begins to rebuild it. `database` holds the write lock of the database, so that each event is either in a
/// commit that the rebuild indexes or in a later one. The numbers of segments continue, because readers may have the old segments
/// in memory.
pub(super) fn begin(
    index: &mut SqliteConnection,
    database: &mut SqliteConnection,
    tables: &str,
) -> Result<()> {
    let newest: Option<(i64, i64)> = event_backlog::table
        .order(event_backlog::id.desc())
        .select((event_backlog::id, event_backlog::mark))
        .get_result(database)
        .optional()?;
    let (last_commit, last_mark) = newest.unwrap_or_default();
    let sizes: Vec<(i64, i64)> = ledgers::table
        .filter(ledgers::size.gt(0))
        .select((ledgers::id, ledgers::size))
        .load(database)?;
    let rebuilt_from = if sizes.is_empty() { COMPLETE } else { i64::MAX };
    index.immediate_transaction(|index| {
        let last_segment: QueryResult<i64> = indexed::table.select(indexed::last_segment).get_result(index);
        index.batch_execute(tables)?;
        diesel::insert_into(indexed::table)
            .values((
                indexed::id.eq(1),
                indexed::last_commit.eq(last_commit),
                indexed::last_mark.eq(last_mark),
                indexed::last_segment.eq(last_segment.unwrap_or(0)),
                indexed::rebuilt_from.eq(rebuilt_from),
            ))
            .execute(index)?;
        for (ledger_id, size) in &sizes {
            diesel::insert_into(rebuilt_ledgers::table)
                .values((
                    rebuilt_ledgers::ledger_id.eq(ledger_id),
                    rebuilt_ledgers::seq_end.eq(size),
                ))
                .execute(index)?;
        }
        index.batch_execute(&format!("PRAGMA user_version = {FORMAT}"))?;
        Ok(())
    })
}

/// Continues a rebuild with the next `events_max` events in the order of time. Returns the number of those that it has indexed;
/// `None` when the index is complete.
pub(super) fn step(
    index: &mut SqliteConnection,
    database: &mut SqliteConnection,
    events_max: usize,
) -> Result<Option<usize>> {
    index.immediate_transaction(|index| {
        // Within the transaction: another process may rebuild as well.
        let reached = reached(index)?;
        if reached == COMPLETE {
            return Ok(None);
        }
        let times: Vec<(i64, i64)> = event_times::table
            .filter(event_times::position.lt(reached))
            .order(event_times::position.desc())
            .limit(i64::try_from(events_max).unwrap_or(i64::MAX))
            .load(database)?;
        let mut of_ledgers: HashMap<LedgerId, (i64, Vec<LedgerMonth>)> = HashMap::new();
        let mut months: BTreeMap<Month, Vec<(i64, Cow<'_, str>)>> = BTreeMap::new();
        let mut events = 0;
        for (position, entry) in times.iter().rev() {
            let (ledger_id, seq) = ledger_and_seq(*entry);
            let (end, of_ledger) = match of_ledgers.entry(ledger_id) {
                Entry::Occupied(of_ledger) => of_ledger.into_mut(),
                Entry::Vacant(none) => {
                    none.insert((end_of(index, ledger_id)?, months_of(database, ledger_id)?))
                }
            };
            if seq < *end {
                let rows = months.entry(month_of(of_ledger, seq)).or_default();
                rows.push((*position, tokens_of(database, *entry)?));
                events += 1;
            }
        }
        for (month, rows) in &months {
            let rows: Vec<(i64, &str)> = rows
                .iter()
                .map(|(position, tokens)| (*position, &**tokens))
                .collect();
            SegmentBlocks(index).add_segment(*month, &rows)?;
        }
        let reached = match times.last() {
            Some((oldest, _)) if times.len() == events_max => *oldest,
            _ => COMPLETE,
        };
        diesel::update(indexed::table)
            .set(indexed::rebuilt_from.eq(reached))
            .execute(index)?;
        if reached == COMPLETE {
            diesel::delete(rebuilt_ledgers::table).execute(index)?;
        }
        Ok(Some(events))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::StoreOptions;
    use crate::search::tokens::ledger_token;
    use crate::sqlite::Database;
    use crate::sqlite::connection::{Purpose, connect};
    use crate::sqlite::entry::entry;
    use crate::sqlite::index::{self, positions_of};
    use std::path::Path;

    const LEDGER: LedgerId = LedgerId(1);

    /// Stores events of these `seq`s, each at the position of a thousand times its `seq`. They are not valid, so they only have the
    /// token of their ledger.
    fn store(database: &mut SqliteConnection, seqs: std::ops::Range<i64>) {
        for seq in seqs.clone() {
            let (entry, position) = (entry(LEDGER, seq), seq * 1_000);
            database
                .batch_execute(&format!(
                    "INSERT INTO events (entry, position, id, content_hash, content_salt, redacted, row_code, body)
                     VALUES ({entry}, {position}, x'', x'', x'', FALSE, x'', '');
                     INSERT INTO event_times VALUES ({position}, {entry})"
                ))
                .unwrap();
        }
        database
            .batch_execute(&format!(
                "INSERT OR IGNORE INTO organizations VALUES ('o', 'o', 'pro', 0);
                 INSERT OR IGNORE INTO projects (id, organization_id, name, created_at, metadata_filter_paths)
                     VALUES ('p', 'o', 'p', 0, '[]');
                 REPLACE INTO ledgers (id, project_id, environment, group_id, configuration_version, size)
                     VALUES (1, 'p', 'live', 0, 0, {})",
                seqs.end
            ))
            .unwrap();
    }

    /// A database of twenty events whose index is missing.
    fn unindexed(path: &Path) -> (SqliteConnection, SqliteConnection) {
        drop(Database::open(path, &StoreOptions::default()).unwrap());
        let mut database = connect(path, Purpose::Write).unwrap();
        store(&mut database, 0..20);
        drop(database);
        std::fs::remove_file(index::file::path(path)).unwrap();
        drop(Database::open(path, &StoreOptions::default()).unwrap());
        (
            connect(path, Purpose::Write).unwrap(),
            index::connect(path).unwrap(),
        )
    }

    fn indexed_seqs(database: &mut SqliteConnection) -> Vec<i64> {
        let token = ledger_token(LEDGER.0);
        let found = positions_of(database, &[&token], &Shared::default()).unwrap();
        found[0].iter().map(|position| position / 1_000).collect()
    }

    #[test]
    fn a_rebuild_continues_after_a_restart_and_leaves_out_later_events() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let (mut database, mut index) = unindexed(&path);
        assert_eq!(reached(&mut database).unwrap(), i64::MAX);
        assert_eq!(events(&mut index).unwrap(), Some(20));
        assert_eq!(step(&mut index, &mut database, 7).unwrap(), Some(7));
        assert_eq!(indexed_seqs(&mut database), (13..20).rev().collect::<Vec<_>>());
        assert_eq!(reached(&mut database).unwrap(), 13_000);
        // They occurred before the others, and are in the backlog.
        database
            .batch_execute(
                "INSERT INTO event_times VALUES (500, (1 << 40) + 20);
                 INSERT INTO event_times VALUES (12500, (1 << 40) + 21)",
            )
            .unwrap();
        drop((database, index));

        drop(Database::open(&path, &StoreOptions::default()).unwrap());
        let (mut database, mut index) = (
            connect(&path, Purpose::Write).unwrap(),
            index::connect(&path).unwrap(),
        );
        assert_eq!(
            reached(&mut database).unwrap(),
            13_000,
            "the rebuild does not start again"
        );
        let mut steps = Vec::new();
        while let Some(events) = step(&mut index, &mut database, 7).unwrap() {
            steps.push(events);
        }
        assert_eq!(
            steps,
            [6, 6, 1],
            "the first two steps leave out one later event each"
        );
        assert_eq!(indexed_seqs(&mut database).len(), 20);
        assert_eq!(events(&mut index).unwrap(), None);
    }
}
