//! That none of a tenant's events is missing.

use super::{hashes, invalid, text};
use crate::administration::Object;
use crate::error::Error;
use audit_domain::ContentHash;
use audit_ledger::{Frontier, Hash, TenantPath, TenantProof, TenantSalt, VerifierKey};
use serde_json::Value;
use std::borrow::Borrow;
use std::collections::BTreeMap;

/// What was proved of a tenant's events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completeness {
    /// The tenant.
    pub tenant_id: String,
    /// `<name of the deployment>/<project id>/<environment>`.
    pub log: String,
    /// The number of events that the tenant had, removed ones included.
    pub size: u64,
    /// How many of them retention or erasures removed, by the statement of the server. It is not signed: auditors verify removals.
    pub removed: u64,
    /// Of the caller's events, those that are newer than the proof, which says nothing about them.
    pub newer: u64,
    /// When the proof was signed (RFC 3339). Compare it with the clock: an old proof hides newer events.
    pub signed_at: String,
}

/// Verifies that `events`, in the order of the feed, are all of a tenant: none was left out, added, changed or moved. Those that the
/// server states as removed are not among them.
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
    let (stated, proof) = (proof.get("removed"), parse(proof)?);
    let (map, head) = proof.verify(&[key]).map_err(invalid)?;
    let origin = map.head().log.as_str();
    if log.is_some_and(|log| !origin.ends_with(&format!("/{log}"))) {
        return Err(invalid(format!("the proof is of the log {origin}")));
    }
    let mut leaves = match stated {
        None | Some(Value::Null) => Leaves::default(),
        Some(stated) => Leaves::after_removed(stated, head.size)?,
    };
    let removed = leaves.tree.size() + leaves.removed.len() as u64;
    let (there, mut present, mut newer) = (head.size - removed, 0, 0);
    for event in events {
        let event = event.borrow();
        if event.get("tenant_id").and_then(Value::as_str) != Some(&proof.tenant_id) {
            return Err(invalid("an event is of another tenant"));
        }
        if present == there {
            newer += 1;
            continue;
        }
        let hash = event.get("content_hash").and_then(Value::as_str);
        let hash: ContentHash = hash.unwrap_or_default().parse().map_err(invalid)?;
        leaves.append(Hash::of_event(&hash));
        present += 1;
    }
    if present < there {
        return Err(invalid(format!(
            "the tenant has {} events, of which {removed} are removed, and {present} are here",
            head.size
        )));
    }
    if leaves.root() != head.root {
        return Err(invalid(
            "the events are not those of the tenant, or not in the order of the feed",
        ));
    }
    Ok(Completeness {
        log: origin.to_owned(),
        size: head.size,
        removed,
        newer,
        signed_at: map.head().signed_at.to_string(),
        tenant_id: proof.tenant_id,
    })
}

/// The leaves of a tenant's log, with those of removed events as the server states them.
#[derive(Default)]
struct Leaves {
    tree: Frontier,
    /// The removed leaves that are not in the tree yet, by index.
    removed: BTreeMap<u64, Hash>,
}

impl Leaves {
    /// Reads the member `removed` of a proof of `size` events. The tree has the leaves before the first event that is there.
    fn after_removed(stated: &Value, size: u64) -> Result<Self, Error> {
        let prefix = stated["prefix"].as_u64().filter(|prefix| *prefix <= size);
        let prefix =
            prefix.ok_or_else(|| invalid("removed.prefix is not a number of the tenant's events"))?;
        let mut edge = hashes(stated, "frontier")?;
        let tree = Frontier::read(prefix, |_| edge.next().unwrap_or_default().parse::<Hash>());
        let tree = tree.map_err(|error| invalid(format!("removed.frontier: {error}")))?;
        if edge.next().is_some() {
            return Err(invalid("removed.frontier has too many hashes"));
        }
        let mut removed = BTreeMap::new();
        let leaves = stated["leaves"].as_array();
        for leaf in leaves.ok_or_else(|| invalid("removed has no list leaves"))? {
            let index = leaf["index"].as_u64();
            let index = index.filter(|index| (prefix..size).contains(index)).ok_or_else(|| {
                invalid("an index in removed.leaves is not behind the prefix, or not one of the tenant's events")
            })?;
            let hash = leaf["hash"].as_str().unwrap_or_default();
            let hash: Hash = hash.parse().map_err(invalid)?;
            removed.insert(index, hash);
        }
        if stated["events"] != prefix + removed.len() as u64 {
            return Err(invalid("removed.events is not the number of removed events"));
        }
        Ok(Self { tree, removed })
    }

    /// Appends the leaf of an event, behind the removed ones before it.
    fn append(&mut self, leaf: Hash) {
        self.append_removed();
        self.tree.append(leaf);
    }

    fn append_removed(&mut self) {
        while let Some(leaf) = self.removed.remove(&self.tree.size()) {
            self.tree.append(leaf);
        }
    }

    /// The root of the tree with all leaves.
    fn root(&mut self) -> Hash {
        self.append_removed();
        self.tree.root()
    }
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
