//! Verifies that an event is in the log as it was read, that none of a tenant's is missing, and that a log continues an earlier one.

mod completeness;
mod receipt;

pub use completeness::{Completeness, verify_completeness};
pub use receipt::verify_receipt;

use crate::error::Error;
use audit_domain::{ContentHash, ContentSalt, EventField, LogName, PartProofs, canonical};
use audit_ledger::{ConsistencyProof, Hash, InclusionProof, SignedCheckpoint, VerifierKey};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::fmt;

/// Members of a response that are not part of the event's content.
const NOT_HASHED: [&str; 3] = ["content_hash", "content_salt", "redacted"];

/// Verifies that `event`, as you read it, is in the log that `key` signs. Returns the signed head of the log, which you may keep.
///
/// `proof` is that of [`Client::proof`](crate::Client::proof). `key` is the log's public key, which the operator gives you over
/// another channel. For a viewer who does not see every field, only the visible fields are proved; of an event with `erased`, only the
/// fields of the parts that are left. One key signs the logs of all projects: with `log`, `<project id>/<environment>`, it has to be that
/// log.
///
/// # Errors
/// [`Error::Verification`] names the check that failed.
pub fn verify_proof(
    event: &Map<String, Value>,
    proof: &Value,
    key: &str,
    log: Option<&str>,
) -> Result<SignedCheckpoint, Error> {
    let checkpoint = verify_checkpoint(text(proof, "checkpoint")?, key, log)?;
    let name = log_name(&checkpoint)?;
    let claimed: ContentHash = text(proof, "content_hash")?.parse().map_err(invalid)?;
    let computed = content_hash(event, proof, &name)?;
    check_erased(event, proof)?;
    let of_event = event.get("content_hash").and_then(Value::as_str);
    if computed != claimed || of_event.is_some_and(|text| text != computed.to_string()) {
        return Err(invalid("the event is not the one of the proof"));
    }
    let seq = proof["seq"]
        .as_u64()
        .ok_or_else(|| invalid("the proof has no seq"))?;
    let inclusion = InclusionProof::from_base64(hashes(proof, "inclusion")?).map_err(invalid)?;
    inclusion
        .verify(seq, &Hash::of_event(&computed), checkpoint.head())
        .map_err(invalid)?;
    Ok(checkpoint)
}

/// Verifies a checkpoint, such as that of [`Log::checkpoint`](crate::Log::checkpoint), of a log that `key` signs; with `log`,
/// `<project id>/<environment>`, of that one. Keep its note: two contradicting notes are evidence that anyone can verify.
///
/// # Errors
/// [`Error::Verification`] names the check that failed.
pub fn verify_checkpoint(note: &str, key: &str, log: Option<&str>) -> Result<SignedCheckpoint, Error> {
    let key: VerifierKey = key.trim().parse().map_err(invalid)?;
    let checkpoint = SignedCheckpoint::open_of_owner(note, &key).map_err(invalid)?;
    let name = log_name(&checkpoint)?;
    if log.is_some_and(|log| log != name.as_str()) {
        return Err(invalid(format!("the checkpoint is of the log {}", name.as_str())));
    }
    Ok(checkpoint)
}

/// Verifies that the log of the checkpoint `to` continues that of `from`: nothing before was changed or removed. `proof` is that of
/// [`Log::consistency`](crate::Log::consistency) with both sizes.
///
/// # Errors
/// [`Error::Verification`] names the check that failed. Keep both notes then: they prove that the log was changed, if they have
/// valid signatures, as they do here, and there is no proof.
pub fn verify_consistency(
    from: &SignedCheckpoint,
    to: &SignedCheckpoint,
    proof: &Value,
) -> Result<(), Error> {
    let (old, new) = (from.checkpoint().origin(), to.checkpoint().origin());
    if old != new {
        return Err(invalid(format!(
            "the checkpoints are of the logs {old} and {new}"
        )));
    }
    let proof = ConsistencyProof::from_base64(hashes(proof, "consistency")?).map_err(invalid)?;
    proof.verify(from.head(), to.head()).map_err(invalid)
}

/// The log as content hashes name it.
fn log_name(checkpoint: &SignedCheckpoint) -> Result<LogName, Error> {
    let name = LogName::of_origin(checkpoint.checkpoint().origin().as_str());
    name.ok_or_else(|| invalid("the checkpoint is not of a project's log"))
}

fn content_hash(event: &Map<String, Value>, proof: &Value, log: &LogName) -> Result<ContentHash, Error> {
    if let Some(parts) = proof.get("parts") {
        let parts = PartProofs::from_json(parts);
        let parts = parts.ok_or_else(|| invalid("the proof does not have the parts of an event"))?;
        return Ok(ContentHash::of_visible(event, &parts, log));
    }
    let salt: ContentSalt = text(proof, "content_salt")?.parse().map_err(invalid)?;
    let mut content = event.clone();
    content.retain(|name, _| !NOT_HASHED.contains(&name.as_str()));
    let mut text = String::new();
    canonical::write_object(&mut text, &content);
    ContentHash::of(&text, &salt, log).ok_or_else(|| invalid("the event cannot be hashed"))
}

/// Refuses a field of a part that was erased: the proof has only the hash of the part, so nothing proves the field.
fn check_erased(event: &Map<String, Value>, proof: &Value) -> Result<(), Error> {
    let erasures = event
        .get("erased")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let names = erasures
        .filter_map(|erasure| erasure["parts"].as_array())
        .flatten();
    let names: HashSet<&str> = names.filter_map(Value::as_str).collect();
    let Some(parts) = proof.get("parts").and_then(PartProofs::from_json) else {
        return Ok(());
    };
    let is_shown = |field: &&EventField| {
        let mut steps = field.path();
        let first = steps.next().and_then(|step| event.get(step));
        steps.fold(first, |value, step| value?.get(step)).is_some()
    };
    let erased = parts.hidden().filter(|part| names.contains(part.as_str()));
    match erased.flat_map(|part| part.fields()).find(is_shown) {
        Some(field) => Err(invalid(format!(
            "the event has {}, which was erased",
            field.as_str()
        ))),
        None => Ok(()),
    }
}

fn text<'a>(proof: &'a Value, name: &str) -> Result<&'a str, Error> {
    let text = proof[name].as_str();
    text.ok_or_else(|| invalid(format!("the proof has no {name}")))
}

/// The texts of the list with this name. One that is no text is no hash either.
fn hashes<'a>(proof: &'a Value, name: &str) -> Result<impl Iterator<Item = &'a str> + use<'a>, Error> {
    let list = proof[name].as_array();
    let list = list.ok_or_else(|| invalid(format!("the proof has no list {name}")))?;
    Ok(list.iter().map(|hash| hash.as_str().unwrap_or_default()))
}

fn invalid(reason: impl fmt::Display) -> Error {
    Error::Verification(reason.to_string())
}
