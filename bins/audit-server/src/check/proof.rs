//! Receipts and proofs: C2SP `tlog-proof`, whose extra data are the event, or its content hash where the reader may not see
//! all of it.

use super::Failure;
use audit_app::VerifierKey;
use audit_domain::ContentHash;
use audit_ledger::{Hash, TlogProof};
use serde_json::Value;

pub(super) fn check(text: &str, key: &VerifierKey) -> Result<String, Failure> {
    let proof: TlogProof = text.parse().map_err(Failure::refused)?;
    let extra = proof.extra.as_deref().map(std::str::from_utf8);
    let Some(Ok(extra)) = extra else {
        return Err(Failure::refused(
            "it has neither an event nor a content hash in its line \"extra\"",
        ));
    };
    let content_hash = match extra.starts_with('{') {
        true => ContentHash::of(extra),
        false => extra.parse().map_err(Failure::refused)?,
    };
    let signed = proof
        .verify(&Hash::of_event(&content_hash), key)
        .map_err(Failure::refused)?;
    let what = match extra.starts_with('{') {
        true => {
            let event: Value = serde_json::from_str(extra).map_err(Failure::refused)?;
            let member = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
            format!(
                "the event {} ({}, received at {})",
                member("id"),
                member("action"),
                member("received_at")
            )
        }
        false => format!("an event with the content hash {content_hash}"),
    };
    Ok(format!(
        "{what} is at position {} of the log {} of {} events, signed by {}",
        proof.index,
        signed.checkpoint().origin(),
        signed.head().size,
        key.name()
    ))
}
