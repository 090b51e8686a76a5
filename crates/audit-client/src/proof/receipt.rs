//! Receipts: an event and its proof in one file.

use super::{invalid, log_name, verify_checkpoint};
use crate::administration::Object;
use crate::error::Error;
use audit_domain::DisclosedEvent;
use audit_ledger::{Hash, SignedCheckpoint, TlogProof};

/// Verifies a receipt (C2SP tlog-proof) of [`Client::receipt`](crate::Client::receipt) or
/// [`Client::ingest_with_receipt`](crate::Client::ingest_with_receipt): that the event in it is in the log that `key` signs. Returns the event,
/// and the signed head of the log. With `log`, `<project id>/<environment>`, it has to be that log.
///
/// The returned event has the fields that are proved, and no others: for a viewer who does not see every field, those that its tier shows.
///
/// # Errors
/// [`Error::Verification`] names the check that failed.
pub fn verify_receipt(
    receipt: &str,
    key: &str,
    log: Option<&str>,
) -> Result<(Object, SignedCheckpoint), Error> {
    let proof: TlogProof = receipt.parse().map_err(invalid)?;
    let checkpoint = verify_checkpoint(&proof.checkpoint, key, log)?;
    let extra = std::str::from_utf8(proof.extra.as_deref().unwrap_or_default()).map_err(invalid)?;
    let event = DisclosedEvent::read(extra, &log_name(&checkpoint)?);
    let event =
        event.ok_or_else(|| invalid("the receipt has no event with all that proves it and nothing else"))?;
    let leaf = Hash::of_event(&event.content_hash);
    proof
        .inclusion
        .verify(proof.index, &leaf, checkpoint.head())
        .map_err(invalid)?;
    Ok((event.fields, checkpoint))
}
