//! The latest signed checkpoint of each ledger.

use crate::access::{Reader, Writer};
use crate::append::LedgerId;
use crate::database::select_for_update;
use crate::error::Result;
use crate::schema::{ledgers, log_checkpoints};
use audit_domain::Timestamp;
use diesel::prelude::*;

/// A stored checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointRow {
    /// The size of the tree it signs.
    pub size: u64,
    /// The signed note.
    pub note: String,
    /// When it was signed.
    pub signed_at: Timestamp,
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be queried"
)]
impl Reader<'_> {
    /// The latest checkpoint of a ledger.
    pub fn log_checkpoint(&mut self, ledger_id: LedgerId) -> Result<Option<CheckpointRow>> {
        let row = log_checkpoints::table
            .find(ledger_id.0)
            .select((
                log_checkpoints::size,
                log_checkpoints::note,
                log_checkpoints::signed_at,
            ))
            .get_result::<(i64, String, i64)>(self.session())
            .optional()?;
        Ok(row.map(|(size, note, signed_at)| CheckpointRow {
            size: size.cast_unsigned(),
            note,
            signed_at: Timestamp::from_micros(signed_at),
        }))
    }

    /// The ledgers that have grown since their latest checkpoint.
    pub fn ledgers_to_sign(&mut self) -> Result<Vec<LedgerId>> {
        let ids: Vec<i64> = ledgers::table
            .left_join(log_checkpoints::table.on(log_checkpoints::ledger_id.eq(ledgers::id)))
            .filter(ledgers::size.gt(0))
            .filter(
                log_checkpoints::size
                    .nullable()
                    .is_null()
                    .or(log_checkpoints::size.nullable().ne(ledgers::size.nullable())),
            )
            .select(ledgers::id)
            .load(self.session())?;
        Ok(ids.into_iter().map(LedgerId).collect())
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be written"
)]
impl Writer<'_> {
    /// The latest checkpoint of a ledger, locked until the end of the transaction.
    pub fn lock_log_checkpoint(&mut self, ledger_id: LedgerId) -> Result<Option<CheckpointRow>> {
        // The head's row is the lock: there may be no checkpoint yet.
        let head = ledgers::table.find(ledger_id.0).select(ledgers::size);
        let _: i64 = select_for_update!(self.session(), head, get_result)?;
        self.log_checkpoint(ledger_id)
    }

    /// Replaces the checkpoint of a ledger.
    pub fn put_log_checkpoint(&mut self, ledger_id: LedgerId, checkpoint: &CheckpointRow) -> Result<()> {
        diesel::delete(log_checkpoints::table.find(ledger_id.0)).execute(self.session())?;
        diesel::insert_into(log_checkpoints::table)
            .values((
                log_checkpoints::ledger_id.eq(ledger_id.0),
                log_checkpoints::size.eq(checkpoint.size.cast_signed()),
                log_checkpoints::note.eq(&checkpoint.note),
                log_checkpoints::signed_at.eq(checkpoint.signed_at.as_micros()),
            ))
            .execute(self.session())?;
        Ok(())
    }

    /// Deletes every checkpoint, because the log continues under another origin.
    pub fn delete_log_checkpoints(&mut self) -> Result<()> {
        diesel::delete(log_checkpoints::table).execute(self.session())?;
        Ok(())
    }
}
