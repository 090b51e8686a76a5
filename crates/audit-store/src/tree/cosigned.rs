//! Checkpoints with cosignatures of witnesses, beside the checkpoints that the log has signed.
//!
//! A row is replaced only if nobody has replaced it since it was read ([`Writer::put_cosigned`]). So nodes that share a database
//! add to each other's cosignatures.

use super::checkpoints::{ScannedLedgers, scanned_part};
use crate::access::{Reader, Writer};
use crate::database::{on_database, on_either};
use crate::error::Result;
use crate::ids::LedgerId;
use crate::schema::{log_checkpoints, log_cosigned};
use audit_domain::Timestamp;
use diesel::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The cosigned checkpoints of a ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CosignedRow {
    /// Grows with every change.
    pub version: i64,
    /// The latest checkpoint with any cosignature.
    pub note: String,
    /// The latest checkpoint with a quorum.
    pub quorum_note: Option<String>,
}

/// Cosigned checkpoints to store.
#[derive(Clone, Debug)]
pub struct NewCosigned {
    /// The ledger.
    pub ledger_id: LedgerId,
    /// The size of the latest checkpoint with a quorum; 0 without one.
    pub quorum_size: u64,
    /// The notes, and a version that is one above that of the row that was read; 1 where there was none.
    pub row: CosignedRow,
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be queried"
)]
impl Reader<'_> {
    /// The cosigned checkpoints of these ledgers.
    pub fn cosigned_checkpoints(
        &mut self,
        ledger_ids: &[LedgerId],
    ) -> Result<BTreeMap<LedgerId, CosignedRow>> {
        type Row = (i64, i64, String, Option<String>);
        let ids: Vec<i64> = ledger_ids.iter().map(|ledger_id| ledger_id.0).collect();
        let rows = log_cosigned::table
            .filter(log_cosigned::ledger_id.eq_any(ids))
            .select((
                log_cosigned::ledger_id,
                log_cosigned::version,
                log_cosigned::note,
                log_cosigned::quorum_note,
            ));
        let rows: Vec<Row> = on_either!(self.session(), session => rows.load(session))?;
        let read = |(id, version, note, quorum_note)| {
            let row = CosignedRow {
                version,
                note,
                quorum_note,
            };
            (LedgerId(id), row)
        };
        Ok(rows.into_iter().map(read).collect())
    }

    /// The ledgers behind `after` whose checkpoint was signed before `signed_before` and has no quorum. Looks at a part of all
    /// ledgers, as [`Reader::unsigned_ledgers`].
    pub fn uncosigned_ledgers(
        &mut self,
        after: Option<LedgerId>,
        signed_before: Timestamp,
    ) -> Result<ScannedLedgers> {
        let part = scanned_part(self.session(), after)?;
        let ids: Vec<i64> = log_checkpoints::table
            .left_join(log_cosigned::table.on(log_cosigned::ledger_id.eq(log_checkpoints::ledger_id)))
            .filter(log_checkpoints::ledger_id.gt(part.after))
            .filter(log_checkpoints::ledger_id.le(part.last))
            .filter(log_checkpoints::size.gt(0))
            .filter(log_checkpoints::signed_at.lt(signed_before.as_micros()))
            .filter(
                log_cosigned::quorum_size
                    .nullable()
                    .is_null()
                    .or(log_cosigned::quorum_size
                        .nullable()
                        .ne(log_checkpoints::size.nullable())),
            )
            .select(log_checkpoints::ledger_id)
            .order(log_checkpoints::ledger_id)
            .load(self.session())?;
        Ok(ScannedLedgers::of(ids, &part))
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be written"
)]
impl Writer<'_> {
    /// Stores each of these rows, sorted by ledger, if the stored one is still that of the version before. Returns the ledgers
    /// whose rows were stored.
    pub fn put_cosigned(&mut self, cosigned: &[NewCosigned]) -> Result<BTreeSet<LedgerId>> {
        on_database!(self.session(), tree::put_cosigned(cosigned))
    }
}
