//! Receipts and proofs: C2SP `tlog-proof`, whose extra data are the event with its salt, or what a viewer sees of it with the
//! proofs of its parts.

use super::{Failure, check_log, check_quorum};
use audit_domain::{DisclosedEvent, LogName};
use audit_ledger::{Hash, Policy, TlogProof, VerifierKey};
use serde_json::Value;

pub(super) fn check(
    text: &str,
    keys: &[VerifierKey],
    expected_log: Option<&str>,
    policy: Option<&Policy>,
) -> Result<String, Failure> {
    let proof: TlogProof = text.parse().map_err(Failure::refused)?;
    let origin = proof.checkpoint.lines().next().unwrap_or_default();
    check_log(expected_log, origin)?;
    let log = LogName::of_origin(origin).ok_or_else(|| Failure::refused("the log has no project"))?;
    let extra = std::str::from_utf8(proof.extra.as_deref().unwrap_or_default());
    let disclosed = extra.ok().and_then(|extra| DisclosedEvent::read(extra, &log));
    let DisclosedEvent {
        fields,
        hidden,
        content_hash,
    } = disclosed.ok_or_else(|| {
        Failure::refused("its line \"extra\" is not an event with all that proves it and nothing else")
    })?;
    let leaf = Hash::of_event(&content_hash);
    let (key, signed) = match keys
        .iter()
        .find_map(|key| Some((key, proof.verify(&leaf, key).ok()?)))
    {
        Some(verified) => verified,
        None => (&keys[0], proof.verify(&leaf, &keys[0]).map_err(Failure::refused)?),
    };
    let cosigned = check_quorum(policy, signed.note())?;
    let member = |name: &str| {
        fields
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or("not shown")
            .to_owned()
    };
    let what = match hidden.as_slice() {
        [] => "the event".to_owned(),
        hidden => {
            let names: Vec<&str> = hidden.iter().map(|part| part.as_str()).collect();
            format!("without {}, the event", names.join(", "))
        }
    };
    Ok(format!(
        "{what} {} ({}, received at {}) is at position {} of the log {} of {} events, signed by {}{cosigned}",
        member("id"),
        member("action"),
        member("received_at"),
        proof.index,
        signed.checkpoint().origin(),
        signed.head().size,
        key.name()
    ))
}
