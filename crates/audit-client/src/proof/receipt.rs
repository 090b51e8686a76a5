//! Receipts: an event and its proof in one file.

use super::{content_hash, invalid, log_name, verify_checkpoint};
use crate::administration::Object;
use crate::error::Error;
use audit_domain::{EventField, EventPart, HashedIn, PartProofs};
use audit_ledger::{Hash, SignedCheckpoint, TlogProof};
use serde_json::Value;

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
    let extra = proof.extra.as_deref().unwrap_or_default();
    let extra = serde_json::from_slice(extra).map_err(|_| invalid("the receipt has no event"))?;
    // `{"event": …, "parts": …}` of a viewer, otherwise the event with its `content_salt` as one more member.
    let (event, proofs) = match extra {
        Value::Object(mut members) if members.contains_key("parts") => match members.remove("event") {
            Some(Value::Object(event)) => (event, Value::Object(members)),
            _ => return Err(invalid("the receipt has no event")),
        },
        Value::Object(mut event) => {
            let salt = event.remove("content_salt");
            (
                event,
                Object::from_iter(salt.map(|salt| ("content_salt".to_owned(), salt))).into(),
            )
        }
        _ => return Err(invalid("the receipt has no event")),
    };
    let leaf = Hash::of_event(&content_hash(&event, &proofs, &log_name(&checkpoint)?)?);
    proof
        .inclusion
        .verify(proof.index, &leaf, checkpoint.head())
        .map_err(invalid)?;
    Ok((proved(&event, &hidden_parts(&proofs)), checkpoint))
}

/// The parts of which the proofs show a hash alone.
fn hidden_parts(proofs: &Value) -> Vec<EventPart> {
    let parts = proofs.get("parts").and_then(PartProofs::from_json);
    parts.iter().flat_map(PartProofs::hidden).collect()
}

/// The fields that the hash covers, without those of hidden parts.
fn proved(event: &Object, hidden: &[EventPart]) -> Object {
    let mut proved = Object::new();
    for field in EventField::ALL {
        match field.hashed_in() {
            HashedIn::Nothing => continue,
            HashedIn::Part(part) if hidden.contains(&part) => continue,
            HashedIn::Part(_) | HashedIn::Open => {}
        }
        let mut steps = field.path();
        let (first, second) = (steps.next().unwrap_or_default(), steps.next());
        let Some(value) = event.get(first) else { continue };
        match second {
            None => drop(proved.insert(first.to_owned(), value.clone())),
            Some(second) => {
                if let Some(value) = value.get(second) {
                    let object = proved.entry(first).or_insert_with(|| Object::new().into());
                    object[second] = value.clone();
                }
            }
        }
    }
    proved
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_proved_is_not_in_the_event() {
        let event = json!({
            "id": "evt_1", "action": "a.b", "redacted": true, "extra": 1,
            "actor": {"id": "u1", "name": "Jane", "title": "Dr."}, "metadata": {"a": {"b": 1}},
        });
        let event = event.as_object().unwrap();
        let all = json!({"id": "evt_1", "action": "a.b", "actor": {"id": "u1", "name": "Jane"}, "metadata": {"a": {"b": 1}}});
        assert_eq!(Value::from(proved(event, &[])), all);
        let some = json!({"id": "evt_1", "actor": {"id": "u1"}, "metadata": {"a": {"b": 1}}});
        assert_eq!(
            Value::from(proved(event, &[EventPart::Kind, EventPart::ActorName])),
            some
        );
    }
}
