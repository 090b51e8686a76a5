//! What an erasure changes: rows of events, group keys of alerts, and what receivers responded.

use crate::access::{Reader, Writer};
use crate::database::{on_database, on_either};
use crate::error::{Result, StoreError};
use crate::ids::LedgerId;
use crate::ledgers::heads_of;
use crate::row_code::{CodedRow, RowCode, RowCodes};
use crate::schema::{alerts, destination_runs, destination_set_aside};
use audit_domain::{ERASED_TEXT, EventId, LogName, Month, StoredSalt};
use diesel::prelude::*;

/// Positions that one statement names, at most.
const STATEMENT_SEQS_MAX: usize = 500;

/// What remains of an event.
#[derive(Clone, Debug)]
pub struct ErasedRow {
    /// Its position in the log.
    pub seq: u64,
    /// The canonical text.
    pub body: String,
    /// What proves the text.
    pub salt: StoredSalt,
}

/// Id, content hash, and whether redaction changed the event: what an erasure leaves as it is.
pub(crate) type KeptColumns = (Vec<u8>, Vec<u8>, bool);

impl ErasedRow {
    /// The code of the row, which has neither key nor sender any more.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] where text and salt do not have the content hash.
    pub(crate) fn code(
        &self,
        log: &LogName,
        month: Month,
        (id, content_hash, redacted): &KeptColumns,
        codes: &RowCodes,
    ) -> Result<RowCode> {
        let computed = self.salt.content_hash(&self.body, log);
        if computed.is_none_or(|computed| computed.as_bytes().as_slice() != content_hash.as_slice()) {
            let what = "event that is erased";
            return Err(StoreError::Damaged { what });
        }
        Ok(codes.code(&CodedRow {
            log: log.as_str(),
            id,
            month,
            idempotency_hash: None,
            sent_digest: None,
            redacted: *redacted,
            sender: None,
        }))
    }
}

/// The group key of an alert, and the events that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampledAlert {
    /// Its id.
    pub id: [u8; 16],
    /// The value that its events have in common.
    pub group_key: String,
    /// The ids of its sample events.
    pub samples: Vec<EventId>,
}

impl Reader<'_> {
    /// The alerts of a ledger that have a group key, by id: those behind `after`, `limit` at most.
    ///
    /// # Errors
    /// When the database cannot be queried, or has an alert that the service did not write.
    pub fn alerts_with_samples(
        &mut self,
        ledger_id: LedgerId,
        after: Option<[u8; 16]>,
        limit: i64,
    ) -> Result<Vec<SampledAlert>> {
        // No bytes precede every id.
        let after = after.map_or_else(Vec::new, |id| id.to_vec());
        let rows: Vec<(Vec<u8>, String, Vec<u8>)> = alerts::table
            .filter(alerts::ledger_id.eq(ledger_id.0))
            .filter(alerts::id.gt(after))
            .filter(alerts::group_key.ne(""))
            .order(alerts::id)
            .limit(limit)
            .select((alerts::id, alerts::group_key, alerts::sample_event_ids))
            .load(self.session())?;
        let read = |(id, group_key, samples): (Vec<u8>, String, Vec<u8>)| {
            let (samples, []) = samples.as_chunks::<16>() else {
                return None;
            };
            Some(SampledAlert {
                id: id.try_into().ok()?,
                group_key,
                samples: samples.iter().map(|id| EventId::from_bytes(*id)).collect(),
            })
        };
        let alerts: Option<Vec<SampledAlert>> = rows.into_iter().map(read).collect();
        alerts.ok_or(StoreError::Damaged { what: "alert" })
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be written, and those that say so"
)]
impl Writer<'_> {
    /// Writes what remains of events of a ledger, whose positions ascend: 200 at most, so that no request waits long. Their idempotency
    /// keys and senders are forgotten, and the index is told to index what remains. Positions without an event are skipped. Returns the
    /// number of written events; `None`, and nothing was written, while one of their months is written anew. Fails with
    /// [`StoreError::Damaged`] where what remains does not have the content hash of the event.
    pub fn erase_rows(
        &mut self,
        ledger_id: LedgerId,
        log: &LogName,
        rows: &[ErasedRow],
    ) -> Result<Option<usize>> {
        let codes = heads_of(self.session())?.row_codes();
        on_database!(self.session(), removals::erase_rows(ledger_id, log, rows, &codes))
    }

    /// Writes [`ERASED_TEXT`] in place of the group keys of alerts. Returns the number of alerts that it has found.
    pub fn forget_group_keys(&mut self, ledger_id: LedgerId, alerts: &[[u8; 16]]) -> Result<usize> {
        let mut found = 0;
        for id in alerts {
            found += diesel::update(alerts::table.find((ledger_id.0, id.as_slice())))
                .set(alerts::group_key.eq(ERASED_TEXT))
                .execute(self.session())?;
        }
        Ok(found)
    }

    /// Writes [`ERASED_TEXT`] in place of the tenant of the alerts of a tenant whose events are all gone. Returns the number of alerts.
    pub fn forget_tenant_of_alerts(&mut self, ledger_id: LedgerId, tenant_id: &str) -> Result<usize> {
        let of_tenant = alerts::table
            .filter(alerts::ledger_id.eq(ledger_id.0))
            .filter(alerts::tenant_id.eq(tenant_id));
        Ok(diesel::update(of_tenant)
            .set(alerts::tenant_id.eq(ERASED_TEXT))
            .execute(self.session())?)
    }

    /// Writes [`ERASED_TEXT`] in place of what receivers responded to the events at these positions (`destination_set_aside`), and forgets
    /// the last errors of the destinations. Returns the number of events.
    pub fn forget_refusals(&mut self, ledger_id: LedgerId, seqs: &[u64]) -> Result<usize> {
        let with_error = destination_runs::table
            .filter(destination_runs::ledger_id.eq(ledger_id.0))
            .filter(destination_runs::last_error.is_not_null());
        diesel::update(with_error)
            .set(destination_runs::last_error.eq(None::<String>))
            .execute(self.session())?;
        let destinations: Vec<String> = destination_runs::table
            .filter(destination_runs::ledger_id.eq(ledger_id.0))
            .select(destination_runs::destination_id)
            .load(self.session())?;
        let mut forgotten = 0;
        for seqs in seqs.chunks(STATEMENT_SEQS_MAX) {
            let seqs: Vec<i64> = seqs.iter().map(|seq| seq.cast_signed()).collect();
            let refused = destination_set_aside::table
                .filter(destination_set_aside::destination_id.eq_any(&destinations))
                .filter(destination_set_aside::seq.eq_any(seqs));
            let reason = destination_set_aside::reason.eq(ERASED_TEXT);
            forgotten += on_either!(
                self.session(),
                session => diesel::update(refused).set(reason).execute(session)
            )?;
        }
        Ok(forgotten)
    }
}
