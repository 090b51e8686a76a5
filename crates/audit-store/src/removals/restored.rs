//! Events that are put back after a removal.

use super::{ErasedRow, KeptColumns};
use crate::access::Writer;
use crate::database::on_database;
use crate::error::Result;
use crate::ids::LedgerId;
use crate::ledgers::heads_of;
use crate::row_code::{RowCode, RowCodes};
use crate::schema::tenant_logs;
use audit_domain::{ContentHash, EventId, LogName, Month, Timestamp};
use audit_ledger::{MapPart, TenantLabel};
use diesel::prelude::*;

/// An event that is put back. Its idempotency key and its sender stay forgotten.
#[derive(Clone, Debug)]
pub struct RestoredRow {
    /// Its position, its text, and what proves the text.
    pub left: ErasedRow,
    /// Its id.
    pub id: EventId,
    /// When it happened.
    pub occurred_at: Timestamp,
    /// Its content hash.
    pub content_hash: ContentHash,
    /// Whether redaction changed it.
    pub redacted: bool,
    /// The greatest id of the events before it that the caller knows.
    pub after_id: Option<EventId>,
    /// Its tenant.
    pub tenant_id: String,
    /// The label of the tenant in the map of the ledger.
    pub label: TenantLabel,
}

impl RestoredRow {
    pub(crate) const fn seq(&self) -> i64 {
        self.left.seq.cast_signed()
    }

    /// The code of the row. Fails as [`ErasedRow::code`].
    pub(crate) fn code(&self, log: &LogName, month: Month, codes: &RowCodes) -> Result<RowCode> {
        let (id, hash) = (self.id.to_bytes(), self.content_hash.as_bytes());
        let kept: KeptColumns = (id.to_vec(), hash.to_vec(), self.redacted);
        self.left.code(log, month, &kept, codes)
    }
}

impl Writer<'_> {
    /// Puts events of a ledger back, whose positions ascend: 200 at most, so that no request waits long. They enter the index as new events
    /// do, and their tenants have their names again. An event that is there is skipped. Returns the number of those that were not; `None`,
    /// and nothing was written, while one of their months is written anew, the index is rebuilt, or, on PostgreSQL, it is behind.
    ///
    /// # Errors
    /// [`crate::StoreError::Damaged`] where a text does not have the content hash; when the database cannot be written.
    pub fn restore_events(
        &mut self,
        ledger_id: LedgerId,
        log: &LogName,
        rows: &[RestoredRow],
    ) -> Result<Option<usize>> {
        let codes = heads_of(self.session())?.row_codes();
        let restored = on_database!(
            self.session(),
            removals::restore_events(ledger_id, log, rows, &codes)
        )?;
        if restored.is_none() {
            return Ok(None);
        }
        for of_tenant in rows.chunk_by(|one, next| one.label == next.label) {
            let (label, slot) = (&of_tenant[0].label, of_tenant[0].label.slot());
            let buckets = MapPart::buckets_of([slot]).into_iter().map(u64::cast_signed);
            let unnamed = tenant_logs::table
                .filter(tenant_logs::ledger_id.eq(ledger_id.0))
                .filter(tenant_logs::bucket.eq_any(buckets.collect::<Vec<i64>>()))
                .filter(tenant_logs::slot.eq(slot.cast_signed()))
                .filter(tenant_logs::label.eq(label.as_bytes().as_slice()))
                .filter(tenant_logs::tenant_id.eq(""));
            diesel::update(unnamed)
                .set(tenant_logs::tenant_id.eq(&of_tenant[0].tenant_id))
                .execute(self.session())?;
        }
        Ok(restored)
    }
}
