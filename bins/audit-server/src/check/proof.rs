//! Receipts and proofs: C2SP `tlog-proof`, whose extra data are the event with its salt, or what a viewer sees of it with the
//! proofs of its parts.

use super::{Failure, check_log, check_quorum};
use audit_app::VerifierKey;
use audit_domain::{ContentHash, ContentSalt, EventPart, LogName, PartProofs};
use audit_ledger::{Hash, Policy, TlogProof};
use serde_json::{Map, Value};

/// The members of an event that the hash covers, as far as the receipt has them.
struct Disclosed {
    content_hash: ContentHash,
    event: Value,
    /// The parts that nothing is known of.
    hidden: Vec<EventPart>,
}

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
    let extra = proof.extra.as_deref().map(std::str::from_utf8);
    let disclosed = match extra {
        Some(Ok(extra)) if extra.starts_with("{\"event\":") => some_parts(extra, &log),
        Some(Ok(extra)) => whole_event(extra, &log),
        _ => None,
    };
    let Disclosed {
        content_hash,
        event,
        hidden,
    } = disclosed.ok_or_else(|| Failure::refused("it has no event in its line \"extra\""))?;
    let leaf = Hash::of_event(&content_hash);
    let (key, signed) = match keys
        .iter()
        .find_map(|key| Some((key, proof.verify(&leaf, key).ok()?)))
    {
        Some(verified) => verified,
        None => (&keys[0], proof.verify(&leaf, &keys[0]).map_err(Failure::refused)?),
    };
    let cosigned = check_quorum(policy, signed.note())?;
    let member = |name: &str| event[name].as_str().unwrap_or("not shown").to_owned();
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

/// `{"content_salt":"…",` and the canonical text of the event.
fn whole_event(extra: &str, log: &LogName) -> Option<Disclosed> {
    let (salt, rest) = extra.strip_prefix("{\"content_salt\":\"")?.split_once("\",")?;
    let salt: ContentSalt = salt.parse().ok()?;
    let text = format!("{{{rest}");
    Some(Disclosed {
        content_hash: ContentHash::of(&text, &salt, log)?,
        event: serde_json::from_str(&text).ok()?,
        hidden: Vec::new(),
    })
}

/// `{"event":…,"parts":…}`.
fn some_parts(extra: &str, log: &LogName) -> Option<Disclosed> {
    let mut members: Map<String, Value> = serde_json::from_str(extra).ok()?;
    let proofs = PartProofs::from_json(&members.remove("parts")?)?;
    let Value::Object(mut event) = members.remove("event")? else {
        return None;
    };
    let hidden: Vec<EventPart> = proofs.hidden().collect();
    let content_hash = ContentHash::of_visible(&event, &proofs, log);
    // What is shown of a hidden part is not proved.
    if hidden.contains(&EventPart::Kind) {
        event.remove("action");
    }
    Some(Disclosed {
        content_hash,
        event: Value::Object(event),
        hidden,
    })
}
