//! What is stored of a ledger, for `log verify`: as it is, damaged or not, and nothing of it believed.

pub(crate) mod postgres;
pub(crate) mod sqlite;

use crate::append::LedgerId;
use crate::connection::AnyConnection;
use crate::error::Result;
use crate::log::CheckpointRow;
use crate::rows::Rows;
use crate::schema::{ledgers, log_tiles};
use audit_domain::{ProjectId, Timestamp};
use diesel::prelude::*;
use std::ops::Range;

/// A ledger as its row says it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredLedger {
    /// Its number.
    pub ledger_id: LedgerId,
    /// The project it belongs to.
    pub project_id: String,
    /// `live` or `test`.
    pub environment: String,
    /// How many events it says it has.
    pub size: i64,
    /// The right edge of its tree.
    pub frontier: Option<Vec<u8>>,
    /// Its last checkpoint.
    pub checkpoint: Option<CheckpointRow>,
}

/// A stored event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRow {
    /// Its place in the ledger.
    pub seq: i64,
    /// Its id, 16 bytes if nobody changed it.
    pub id: Vec<u8>,
    /// Its content hash, 32 bytes if nobody changed it.
    pub content_hash: Vec<u8>,
    /// Its canonical text.
    pub body: String,
    /// A column by which it is found as another event than it is.
    pub misfiled: Option<&'static str>,
    /// Where it stands in the order of time.
    pub(crate) place: Place,
}

/// Where an event stands in the order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// SQLite's row id.
    Position(i64),
    /// Microseconds, a column on PostgreSQL.
    Micros(i64),
}

/// An event that can be read and has no place in its ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrayEvent {
    /// The id in its row.
    pub id: Vec<u8>,
    /// The place that it claims, if any.
    pub seq: Option<i64>,
}

type LedgerRow = (String, String, i64, Option<Vec<u8>>);

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be asked"
)]
impl Rows<'_> {
    /// The ledgers of a project, or all of them.
    pub fn stored_ledgers(&mut self, project_id: Option<ProjectId>) -> Result<Vec<StoredLedger>> {
        let mut ids = ledgers::table.select(ledgers::id).order(ledgers::id).into_boxed();
        if let Some(project_id) = project_id {
            ids = ids.filter(ledgers::project_id.eq(project_id.to_string()));
        }
        let ids: Vec<i64> = ids.load(self.connection)?;
        ids.into_iter()
            .map(|id| self.stored_ledger(LedgerId(id)))
            .collect()
    }

    fn stored_ledger(&mut self, ledger_id: LedgerId) -> Result<StoredLedger> {
        // The checkpoint first: read the other way round, it could be of events that came in between.
        let checkpoint = self.log_checkpoint(ledger_id)?;
        let columns = (
            ledgers::project_id,
            ledgers::environment,
            ledgers::size,
            ledgers::frontier,
        );
        let row = ledgers::table.find(ledger_id.0).select(columns);
        let (project_id, environment, size, frontier): LedgerRow = row.get_result(self.connection)?;
        Ok(StoredLedger {
            ledger_id,
            project_id,
            environment,
            size,
            frontier,
            checkpoint,
        })
    }

    /// The events of a ledger from `start` on, in the order of the log, `limit` at most. Where one is missing, the next
    /// ones follow all the same.
    pub fn stored_rows(&mut self, ledger_id: LedgerId, start: u64, limit: usize) -> Result<Vec<StoredRow>> {
        let (start, limit) = (start.cast_signed(), i64::try_from(limit).unwrap_or(i64::MAX));
        match self.connection {
            AnyConnection::Sqlite(sqlite) => sqlite::stored_rows(sqlite, ledger_id, start, limit),
            AnyConnection::Postgres(postgres) => postgres::stored_rows(postgres, ledger_id, start, limit),
        }
    }

    /// Whether a query finds the event at the time at which it occurred.
    pub fn is_in_order_of_time(&mut self, row: &StoredRow, occurred_at: Timestamp) -> Result<bool> {
        match (row.place, &mut self.connection) {
            (Place::Micros(micros), _) => Ok(micros == occurred_at.as_micros()),
            (Place::Position(position), AnyConnection::Sqlite(sqlite)) => {
                sqlite::is_place_of(sqlite, position, occurred_at)
            }
            (Place::Position(_), AnyConnection::Postgres(_)) => Ok(false),
        }
    }

    /// Whether there is nothing to look for with [`Self::stray_events`] once every event up to its ledger's size was seen in
    /// its place: there are as many in each order as the ledgers have in all. Costs no look at any of them.
    pub fn are_all_in_place(&mut self) -> Result<bool> {
        match self.connection {
            AnyConnection::Sqlite(sqlite) => sqlite::are_all_in_place(sqlite),
            // There it is found in an index, which costs less than counting.
            AnyConnection::Postgres(_) => Ok(false),
        }
    }

    /// Events of a ledger that have no place in it, `limit` at most. On SQLite this looks at every event.
    pub fn stray_events(&mut self, ledger_id: LedgerId, limit: i64) -> Result<Vec<StrayEvent>> {
        match self.connection {
            AnyConnection::Sqlite(sqlite) => sqlite::stray_events(sqlite, ledger_id, limit),
            AnyConnection::Postgres(postgres) => postgres::stray_events(postgres, ledger_id, limit),
        }
    }

    /// The full tiles of one level that are there, by index, each with its bytes.
    pub fn stored_tiles(
        &mut self,
        ledger_id: LedgerId,
        level: u8,
        indexes: Range<u64>,
    ) -> Result<Vec<(u64, Vec<u8>)>> {
        let rows = log_tiles::table
            .filter(log_tiles::ledger_id.eq(ledger_id.0))
            .filter(log_tiles::level.eq(i64::from(level)))
            .filter(log_tiles::tile_index.ge(indexes.start.cast_signed()))
            .filter(log_tiles::tile_index.lt(indexes.end.cast_signed()))
            .order(log_tiles::tile_index)
            .select((log_tiles::tile_index, log_tiles::hashes))
            .load::<(i64, Vec<u8>)>(self.connection)?;
        Ok(rows
            .into_iter()
            .map(|(index, hashes)| (index.cast_unsigned(), hashes))
            .collect())
    }
}
