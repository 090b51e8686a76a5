//! The partitions of `events`: one per month.
//!
//! The indexer's thread creates them ahead. A writer that meets a month without one, because clocks differ or the server was
//! stopped for long, creates it. A new partition is created as a table and then attached, which blocks neither readers nor
//! writers of the others.

use super::place::Place;
use super::{PostgresSession, Shared};
use crate::append::plan::Plan;
use crate::error::Result;
use audit_domain::{Clock, Month};
use diesel::PgConnection;
use diesel::connection::SimpleConnection;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Months after the current one whose partitions are created ahead.
const MONTHS_AHEAD: i32 = 2;
/// The advisory lock under which nodes create, exchange and drop partitions, one at a time.
pub(super) const LOCK: i64 = 0x6175_6469_745f_6d6f;

/// The months whose partitions exist, as far as the process knows.
#[derive(Debug, Default)]
pub(crate) struct KnownPartitions(Mutex<BTreeSet<Month>>);

impl KnownPartitions {
    fn has(&self, month: Month) -> bool {
        self.0.lock().contains(&month)
    }

    fn add(&self, month: Month) {
        self.0.lock().insert(month);
    }

    /// Notes that the partition of a month was dropped.
    pub(super) fn remove(&self, month: Month) {
        self.0.lock().remove(&month);
    }
}

/// Creates the partitions of this month and of the next ones that are missing. Outside of a transaction.
pub(crate) fn create_ahead(connection: &mut PgConnection, shared: &Shared, clock: &dyn Clock) -> Result<()> {
    let (commits, month) = (shared.commits(), Month::of(clock.now()));
    for month in (0..=MONTHS_AHEAD).map(|ahead| month.plus(ahead)) {
        if !commits.partitions.has(month) {
            create_at(&shared.place, connection, month)?;
            commits.partitions.add(month);
        }
    }
    Ok(())
}

/// Creates the partitions of a plan's months that are missing. Outside of a transaction.
pub(crate) fn create_missing(session: &mut PostgresSession, plan: &Plan) -> Result<()> {
    for month in plan.rows.iter().map(|row| row.month).collect::<BTreeSet<_>>() {
        if !session.memory.appends.commits.partitions.has(month) {
            create_in(session, month)?;
            session.memory.appends.commits.partitions.add(month);
        }
    }
    Ok(())
}

/// [`create_missing`], within a transaction, which may be rolled back, and the partitions with it.
pub(crate) fn create_missing_in_transaction(session: &mut PostgresSession, plan: &Plan) -> Result<()> {
    let commits = session.memory.shared.commits();
    for month in plan.rows.iter().map(|row| row.month).collect::<BTreeSet<_>>() {
        if !commits.partitions.has(month) {
            create_in(session, month)?;
        }
    }
    Ok(())
}

/// Creates the partition of a month in the cell of a session, unless it exists.
pub(crate) fn create_in(session: &mut PostgresSession, month: Month) -> Result<()> {
    let shared = Arc::clone(&session.memory.shared);
    create_at(&shared.place, &mut session.connection, month)
}

/// [`create`], by the server that changes tables, which need not be that of the session.
fn create_at(place: &Place, connection: &mut PgConnection, month: Month) -> Result<()> {
    match place.coordinator()? {
        Some(mut coordinator) => create(&mut coordinator, month),
        None => create(connection, month),
    }
}

/// Creates the partition of a month, unless it exists.
pub(crate) fn create(connection: &mut PgConnection, month: Month) -> Result<()> {
    let name = partition_of(month);
    let (table, values) = (create_table(&name), values_of(month));
    // Each statement of the block sees what was committed before it.
    connection.batch_execute(&format!(
        "DO $$
         DECLARE
             {DECLARATIONS}
         BEGIN
             IF EXISTS (SELECT FROM pg_inherits JOIN pg_class ON oid = inhrelid
                        WHERE inhparent = parent AND relname = '{name}') THEN
                 RETURN;
             END IF;
             PERFORM pg_advisory_xact_lock({LOCK});
             IF EXISTS (SELECT FROM pg_inherits JOIN pg_class ON oid = inhrelid
                        WHERE inhparent = parent AND relname = '{name}') THEN
                 RETURN;
             END IF;
             {table}
             EXECUTE format('ALTER TABLE %s ATTACH PARTITION %s.{name} {values}', parent, namespace);
         END $$"
    ))?;
    Ok(())
}

/// The variables of [`create_table`].
const DECLARATIONS: &str = "parent REGCLASS := 'events';
             namespace TEXT := (SELECT relnamespace::regnamespace FROM pg_class WHERE oid = 'events'::regclass);
             settings TEXT;";

/// The statements that create a table like the partitions, with the storage settings of the latest one.
fn create_table(name: &str) -> String {
    format!(
        "EXECUTE format('CREATE TABLE %s.{name} (LIKE %s INCLUDING DEFAULTS INCLUDING CONSTRAINTS
                 INCLUDING INDEXES INCLUDING STORAGE)', namespace, parent);
             SELECT array_to_string(reloptions, ', ') INTO settings FROM pg_inherits JOIN pg_class ON oid = inhrelid
                 WHERE inhparent = parent ORDER BY relname DESC LIMIT 1;
             IF settings IS NOT NULL THEN
                 EXECUTE format('ALTER TABLE %s.{name} SET (%s)', namespace, settings);
             END IF;"
    )
}

/// Creates a table like the partitions.
pub(super) fn create_detached(connection: &mut PgConnection, name: &str) -> Result<()> {
    let table = create_table(name);
    Ok(connection.batch_execute(&format!("DO $$ DECLARE {DECLARATIONS} BEGIN {table} END $$"))?)
}

/// The bounds of the partition of a month.
pub(super) fn values_of(month: Month) -> String {
    let (first, end) = (month.number(), month.plus(1).number());
    format!("FOR VALUES FROM ({first}) TO ({end})")
}

/// The name of a month's partition. Names are in the order of the months.
pub(super) fn partition_of(month: Month) -> String {
    format!("events_{}", month.to_string().replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_is_named_after_its_month() {
        assert_eq!(partition_of(Month::from_number(682)), "events_2026_11");
    }
}
