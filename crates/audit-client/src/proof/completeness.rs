//! That none of a tenant's events is missing.

use super::{hashes, invalid, text};
use crate::administration::Object;
use crate::error::Error;
use audit_domain::ContentHash;
use audit_ledger::{Frontier, Hash, TenantPath, TenantProof, TenantSalt, VerifierKey};
use serde_json::Value;
use std::borrow::Borrow;

/// What was proved of a tenant's events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completeness {
    /// The tenant.
    pub tenant_id: String,
    /// `<name of the deployment>/<project id>/<environment>`.
    pub log: String,
    /// The number of events that the tenant had.
    pub size: u64,
    /// Of the caller's events, those that are newer than the proof, which says nothing about them.
    pub newer: u64,
    /// When the proof was signed (RFC 3339). Compare it with the clock: an old proof hides newer events.
    pub signed_at: String,
}

/// Verifies that `events`, in the order of the feed, are all of a tenant: none was left out, added, changed or moved.
///
/// `proof` is that of [`Log::completeness`](crate::Log::completeness). Of the events only `tenant_id` and `content_hash` are used: verify
/// their content with [`verify_proof`](crate::verify_proof). With `log`, `<project id>/<environment>`, they have to be of that log.
///
/// # Errors
/// [`Error::Verification`] names the check that failed.
pub fn verify_completeness(
    events: impl IntoIterator<Item = impl Borrow<Object>>,
    proof: &Value,
    key: &str,
    log: Option<&str>,
) -> Result<Completeness, Error> {
    let key: VerifierKey = key.trim().parse().map_err(invalid)?;
    let proof = parse(proof)?;
    let (map, head) = proof.verify(&[key]).map_err(invalid)?;
    let origin = map.head().log.as_str();
    if log.is_some_and(|log| !origin.ends_with(&format!("/{log}"))) {
        return Err(invalid(format!("the proof is of the log {origin}")));
    }
    let (mut tree, mut newer) = (Frontier::new(), 0);
    for event in events {
        let event = event.borrow();
        if event.get("tenant_id").and_then(Value::as_str) != Some(&proof.tenant_id) {
            return Err(invalid("an event is of another tenant"));
        }
        if tree.size() == head.size {
            newer += 1;
            continue;
        }
        let hash = event.get("content_hash").and_then(Value::as_str);
        let hash: ContentHash = hash.unwrap_or_default().parse().map_err(invalid)?;
        tree.append(Hash::of_event(&hash));
    }
    if tree.size() < head.size {
        let (found, all) = (tree.size(), head.size);
        return Err(invalid(format!(
            "the tenant has {all} events, and {found} are here"
        )));
    }
    if tree.root() != head.root {
        return Err(invalid(
            "the events are not those of the tenant, or not in the order of the feed",
        ));
    }
    Ok(Completeness {
        log: origin.to_owned(),
        size: head.size,
        newer,
        signed_at: map.head().signed_at.to_string(),
        tenant_id: proof.tenant_id,
    })
}

fn parse(proof: &Value) -> Result<TenantProof, Error> {
    let log = match proof["checkpoint"].as_str() {
        None => None,
        Some(checkpoint) => {
            let path = TenantPath::from_base64(hashes(proof, "path")?).map_err(invalid)?;
            Some((checkpoint.to_owned(), path))
        }
    };
    Ok(TenantProof {
        tenant_id: text(proof, "tenant_id")?.to_owned(),
        salt: TenantSalt::from_base64(text(proof, "salt")?).map_err(invalid)?,
        log,
        map: text(proof, "map")?.to_owned(),
    })
}
