//! Removals of events: how far the work is (`rows.rs`, `request.rs`), what stays of the events (`records.rs`, `erased.rs`), the deletes,
//! and what is put back (`restored.rs`).
//!
//! The lifecycle events of the log authorise a removal, and the digest in them authenticates its records. The row of a removal only says
//! how far the work is. A node leases it under a random token, and each later write of it names the token.

mod erased;
mod records;
mod request;
mod restored;
mod rows;

pub(crate) use erased::KeptColumns;
pub use erased::{ErasedRow, SampledAlert};
pub use request::ErasureRequest;
pub use restored::RestoredRow;
pub use rows::{REMOVAL_LEASE_SECONDS_MAX, RemovalRow, RemovalState};

use crate::access::{Reader, Writer};
use crate::database::{on_database, on_either};
use crate::error::Result;
use crate::ids::LedgerId;
use crate::schema::{alerts, tenant_logs, webhook_deliveries};
use crate::tenants::StoredTenantLog;
use audit_alerts::AlertId;
use audit_domain::{Month, Timestamp};
use diesel::prelude::*;
use std::ops::Range;

/// The first bytes of the id of an alert: its time in ms.
const ALERT_TIME_BYTES: usize = 6;

impl Reader<'_> {
    /// Whether the index of these months still has rows of removed events.
    ///
    /// # Errors
    /// When the database cannot be queried.
    pub fn has_removed_rows(&mut self, months: Range<Month>) -> Result<bool> {
        on_database!(self.session(), removals::has_removed_rows(months))
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be written"
)]
impl Writer<'_> {
    /// Deletes the events of a ledger at these positions, which ascend: 500 at most, so that no request waits long. Their idempotency keys
    /// go with them, and the index is told to forget their words. Positions without an event are skipped. Returns the number of
    /// deleted events; `None`, and nothing was deleted, while one of their months is written anew.
    pub fn delete_events(&mut self, ledger_id: LedgerId, seqs: &[u64]) -> Result<Option<usize>> {
        let seqs: Vec<i64> = seqs.iter().map(|seq| seq.cast_signed()).collect();
        on_database!(self.session(), removals::delete_events(ledger_id, &seqs))
    }

    /// Deletes up to `limit` alerts of a ledger that were fired before `at`, with their deliveries. Returns their number.
    pub fn delete_alerts_before(&mut self, ledger_id: LedgerId, at: Timestamp, limit: i64) -> Result<usize> {
        // An id begins with the time: without this condition each call would read all later alerts.
        let latest = AlertId::new(at, [0xFF; 10]).to_bytes();
        let old: Vec<Vec<u8>> = alerts::table
            .filter(alerts::ledger_id.eq(ledger_id.0))
            .filter(alerts::id.le(latest.as_slice()))
            .filter(alerts::fired_at.lt(at.as_micros()))
            .order(alerts::id)
            .limit(limit)
            .select(alerts::id)
            .load(self.session())?;
        let (Some(first), Some(last)) = (old.first(), old.last()) else {
            return Ok(0);
        };
        // The id of a delivery begins with the time of its alert, as that of the alert does.
        let times = [(first, 0x00), (last, 0xFF)].map(|(id, rest)| {
            let mut id = id.clone();
            id.iter_mut().skip(ALERT_TIME_BYTES).for_each(|byte| *byte = rest);
            id
        });
        let deliveries = webhook_deliveries::table
            .filter(webhook_deliveries::id.ge(&times[0]))
            .filter(webhook_deliveries::id.le(&times[1]))
            .filter(webhook_deliveries::ledger_id.eq(ledger_id.0))
            .filter(webhook_deliveries::alert_id.ge(first))
            .filter(webhook_deliveries::alert_id.le(last));
        on_either!(self.session(), session => diesel::delete(deliveries).execute(session))?;
        let fired = alerts::table
            .filter(alerts::ledger_id.eq(ledger_id.0))
            .filter(alerts::id.ge(first))
            .filter(alerts::id.le(last))
            .filter(alerts::fired_at.lt(at.as_micros()));
        Ok(on_either!(self.session(), session => diesel::delete(fired).execute(session))?)
    }

    /// Deletes up to `limit` events that receivers have refused (`destination_set_aside`), of those between these positions of a ledger
    /// that the ledger does not have any more. Returns their number.
    pub fn delete_set_aside_of(
        &mut self,
        ledger_id: LedgerId,
        seqs: Range<u64>,
        limit: i64,
    ) -> Result<usize> {
        let seqs = seqs.start.cast_signed()..seqs.end.cast_signed();
        on_database!(
            self.session(),
            removals::delete_set_aside_of(ledger_id, seqs, limit)
        )
    }

    /// Empties the name of a tenant whose events are all removed. Returns `false`, and changes nothing, where its log is not the
    /// given one any more: it has new events.
    pub fn forget_tenant(&mut self, ledger_id: LedgerId, log: &StoredTenantLog) -> Result<bool> {
        let Some(own) = log.read() else {
            return Ok(false);
        };
        let row = tenant_logs::table
            .find((ledger_id.0, log.bucket, log.slot))
            .filter(tenant_logs::frontier.eq(own.tree.encode()));
        let renamed = diesel::update(row)
            .set(tenant_logs::tenant_id.eq(""))
            .execute(self.session())?;
        Ok(renamed > 0)
    }
}
