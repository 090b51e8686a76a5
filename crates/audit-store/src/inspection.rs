//! The raw rows of a ledger, damaged ones included, for `log verify`. Nothing in them is trusted.

use crate::access::Reader;
use crate::append::LedgerId;
use crate::database::{Database, DatabaseUrl, on_database, on_either};
use crate::error::Result;
#[cfg(doc)]
use crate::error::StoreError;
use crate::schema::ledgers;
use crate::search::verification::IndexReport;
use crate::tree::{CheckpointRow, TreeSession};
use audit_domain::{ProjectId, Timestamp};
use diesel::prelude::*;
use std::collections::HashMap;
use std::ops::Range;

/// The row of a ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredLedger {
    /// Its number.
    pub ledger_id: LedgerId,
    /// Its project.
    pub project_id: String,
    /// `live` or `test`.
    pub environment: String,
    /// The number of events, according to the row.
    pub size: i64,
    /// The right edge of its tree.
    pub frontier: Option<Vec<u8>>,
    /// Its last checkpoint.
    pub checkpoint: Option<CheckpointRow>,
}

/// A stored event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRow {
    /// Its position in the log.
    pub seq: i64,
    /// Its id, 16 bytes unless it was changed.
    pub id: Vec<u8>,
    /// Its content hash, 32 bytes unless it was changed.
    pub content_hash: Vec<u8>,
    /// Its canonical text.
    pub body: String,
    /// A column that is inconsistent with the row, so that queries find another event or none.
    pub inconsistent: Option<&'static str>,
    /// Its stored position in the order of time; its unit depends on the database.
    pub(crate) time_position: i64,
}

/// An event outside of its ledger's range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrayEvent {
    /// The id in its row.
    pub id: Vec<u8>,
    /// The position in its row, if any.
    pub seq: Option<i64>,
}

type LedgerRow = (String, String, i64, Option<Vec<u8>>);

/// The ledgers of findings in the index: project and environment.
pub type LedgerNames = HashMap<LedgerId, (String, String)>;

/// Verifies the index of an existing database against its events, and changes nothing. Reads one snapshot, beside a running
/// server as well. Calls `progress` with the number of verified rows and of all rows.
///
/// # Errors
/// [`StoreError::Unverifiable`] when there is no index of this format, and when the database cannot be read.
pub fn verify_index(
    url: &DatabaseUrl,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(IndexReport, LedgerNames)> {
    let mut session = Database::existing(url)?.open_reader()?;
    let report = on_database!(&mut session, index_verification::verify_index(progress))?;
    let mut names = LedgerNames::new();
    if !report.findings.is_empty() {
        let rows: Vec<(i64, String, String)> = ledgers::table
            .select((ledgers::id, ledgers::project_id, ledgers::environment))
            .load(&mut session)?;
        names.extend(
            rows.into_iter()
                .map(|(id, project_id, environment)| (LedgerId(id), (project_id, environment))),
        );
    }
    Ok((report, names))
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be queried"
)]
impl Reader<'_> {
    /// The ledgers of a project, or all of them.
    pub fn stored_ledgers(&mut self, project_id: Option<ProjectId>) -> Result<Vec<StoredLedger>> {
        let mut ids = ledgers::table.select(ledgers::id).order(ledgers::id).into_boxed();
        if let Some(project_id) = project_id {
            ids = ids.filter(ledgers::project_id.eq(project_id.to_string()));
        }
        let ids: Vec<i64> = ids.load(self.session())?;
        ids.into_iter()
            .map(|id| self.stored_ledger(LedgerId(id)))
            .collect()
    }

    fn stored_ledger(&mut self, ledger_id: LedgerId) -> Result<StoredLedger> {
        // The checkpoint first: read second, it could include events that were committed in between.
        let checkpoint = self.log_checkpoint(ledger_id)?;
        let columns = (
            ledgers::project_id,
            ledgers::environment,
            ledgers::size,
            ledgers::frontier,
        );
        let row = ledgers::table.find(ledger_id.0).select(columns);
        let (project_id, environment, size, frontier): LedgerRow = row.get_result(self.session())?;
        Ok(StoredLedger {
            ledger_id,
            project_id,
            environment,
            size,
            frontier,
            checkpoint,
        })
    }

    /// The events of a ledger from the position `start` on, in the order of the log, `limit` at most. Missing ones are
    /// skipped.
    pub fn stored_rows(&mut self, ledger_id: LedgerId, start: u64, limit: usize) -> Result<Vec<StoredRow>> {
        let (start, limit) = (start.cast_signed(), i64::try_from(limit).unwrap_or(i64::MAX));
        on_database!(self.session(), inspection::stored_rows(ledger_id, start, limit))
    }

    /// Whether a query finds the event at the time at which it occurred.
    pub fn is_in_order_of_time(&mut self, row: &StoredRow, occurred_at: Timestamp) -> Result<bool> {
        on_database!(
            self.session(),
            inspection::is_at_time(row.time_position, occurred_at)
        )
    }

    /// Whether [`Self::stray_events`] finds nothing, provided that every event up to its ledger's size was read at its
    /// position: each order has as many events as all ledgers together. It counts events and reads none; after `false`,
    /// [`Self::stray_events`] is needed.
    pub fn has_no_strays(&mut self) -> Result<bool> {
        on_database!(self.session(), inspection::has_no_strays())
    }

    /// Events of a ledger outside of its range, `limit` at most. On SQLite this reads every event.
    pub fn stray_events(&mut self, ledger_id: LedgerId, limit: i64) -> Result<Vec<StrayEvent>> {
        on_database!(self.session(), inspection::stray_events(ledger_id, limit))
    }

    /// The stored full tiles of one level: index and bytes.
    pub fn stored_tiles(
        &mut self,
        ledger_id: LedgerId,
        level: u8,
        indexes: Range<u64>,
    ) -> Result<Vec<(u64, Vec<u8>)>> {
        let indexes = indexes.start.cast_signed()..indexes.end.cast_signed();
        let rows = on_either!(self.session(), session => session.stored_tiles(ledger_id, level, indexes))?;
        Ok(rows
            .into_iter()
            .map(|(index, hashes)| (index.cast_unsigned(), hashes))
            .collect())
    }
}
