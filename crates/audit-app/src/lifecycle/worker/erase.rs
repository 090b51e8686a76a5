//! The rows of events without the parts that an erasure takes.

use super::taken::{RemovalAlarm, Taken, of_read};
use crate::error::Result;
use audit_domain::{StoredEvent, StoredSalt, erase_parts};
use audit_ledger::RemovalRecord;
use audit_store::ErasedRow;

/// The most rows of one step: other writes wait for it.
pub(super) const STEP_ROWS_MAX: usize = 200;

/// The rows of the events of records, without what the erasure at this position takes. Each has the content hash of its record, before and
/// after.
pub(super) fn without_parts(
    taken: &Taken<'_>,
    erasure: u64,
    records: &[RemovalRecord],
) -> Result<Vec<ErasedRow>> {
    let (ledger_id, log) = (taken.row.ledger_id, taken.scope.log());
    let mut rows = Vec::with_capacity(records.len());
    for record in records {
        let seq = record.seq;
        let logged = taken
            .service
            .store
            .query(|reader| reader.logged_events(ledger_id, seq, 1));
        let logged = logged.map_err(of_read)?.into_iter().next();
        // Retention may have removed it since it was listed.
        let Some(logged) = logged.filter(|logged| logged.seq == seq) else {
            continue;
        };
        let StoredEvent {
            canonical,
            content_salt,
            ..
        } = logged.event;
        let is_same =
            |text: &str, salt: &StoredSalt| salt.content_hash(text, &log) == Some(record.content_hash);
        let erased = erase_parts(&canonical, &content_salt, record.mask, erasure);
        let erased = erased.filter(|(body, salt)| is_same(&canonical, &content_salt) && is_same(body, salt));
        let (body, salt) = erased.ok_or(RemovalAlarm::OtherEvent(seq))?;
        rows.push(ErasedRow { seq, body, salt });
    }
    Ok(rows)
}
