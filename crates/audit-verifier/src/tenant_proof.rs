//! The document of `GET /log/completeness`.

use anyhow::{Context, anyhow, ensure};
use audit_cli::small_file;
use audit_ledger::{Frontier, Hash, TenantPath, TenantProof, TenantSalt};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Reads a saved document.
pub(crate) fn read(path: &Path) -> anyhow::Result<TenantProof> {
    let shown = path.display();
    let text = small_file::read(path).with_context(|| format!("cannot read {shown}"))?;
    let body = serde_json::from_slice(&text).with_context(|| format!("{shown} is not JSON"))?;
    parse(&body).with_context(|| format!("{shown} is not a response of GET /log/completeness"))
}

/// Parses a document. Nothing is verified.
pub(crate) fn parse(body: &Value) -> anyhow::Result<TenantProof> {
    let text = |name: &str| {
        let text = body[name].as_str().map(str::to_owned);
        text.ok_or_else(|| anyhow!("it has no {name}"))
    };
    let log = match body.get("checkpoint") {
        None => None,
        Some(_) => {
            let path = body["path"].as_array().into_iter().flatten();
            let path = TenantPath::from_base64(path.map(|hash| hash.as_str().unwrap_or_default()))?;
            Some((text("checkpoint")?, path))
        }
    };
    Ok(TenantProof {
        tenant_id: text("tenant_id")?,
        salt: TenantSalt::from_base64(&text("salt")?)?,
        log,
        map: text("map")?,
    })
}

/// The removed events of a tenant, as a server states them. The tree with their leaves has the signed root, or it does not.
pub(crate) struct RemovedEvents {
    /// The tree over those before the first event that is there.
    pub(crate) tree: Frontier,
    /// The leaves of those behind it, by index.
    pub(crate) leaves: BTreeMap<u64, Hash>,
}

impl RemovedEvents {
    /// Reads the member `removed` of a document about a log of `size` events; nothing was removed where it has none.
    pub(crate) fn parse(body: &Value, size: u64) -> anyhow::Result<Self> {
        let Some(removed) = body.get("removed").filter(|removed| !removed.is_null()) else {
            return Ok(Self {
                tree: Frontier::new(),
                leaves: BTreeMap::new(),
            });
        };
        let hash = |hash: &Value| -> anyhow::Result<Hash> { Ok(hash.as_str().unwrap_or_default().parse()?) };
        let prefix = removed["prefix"].as_u64().context("removed has no prefix")?;
        ensure!(
            prefix <= size,
            "the removed prefix is longer than the log of the tenant"
        );
        let mut edge = removed["frontier"].as_array().into_iter().flatten();
        let tree = Frontier::read(prefix, |_| hash(edge.next().unwrap_or(&Value::Null)));
        let tree = tree.map_err(|error| anyhow!("frontier: {error}"))?;
        let mut leaves = BTreeMap::new();
        for leaf in removed["leaves"].as_array().into_iter().flatten() {
            let index = leaf["index"].as_u64().context("a removed leaf has no index")?;
            ensure!(index >= prefix, "a removed leaf is in the prefix");
            ensure!(index < size, "a removed leaf is behind the log of the tenant");
            leaves.insert(index, hash(&leaf["hash"])?);
        }
        let events = prefix + leaves.len() as u64;
        ensure!(
            edge.next().is_none() && removed["events"] == events,
            "removed has another number of events"
        );
        Ok(Self { tree, leaves })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn removed_leaves_are_behind_the_prefix_and_within_the_log() {
        let hash = Hash::from_bytes([7; 32]).to_string();
        let parsed = |prefix: u64, index: u64, size: u64| {
            let frontier = vec![&hash; prefix.count_ones() as usize];
            let leaves = [json!({"index": index, "hash": &hash})];
            let events = prefix.wrapping_add(1);
            let removed = json!({"prefix": prefix, "frontier": frontier, "leaves": leaves, "events": events});
            RemovedEvents::parse(&json!({"removed": removed}), size)
        };
        let removed = parsed(2, 3, 4).unwrap();
        assert_eq!((removed.tree.size(), removed.leaves.len()), (2, 1));
        for (prefix, index, size) in [(2, 1, 4), (2, 3, 3), (5, 5, 4), (u64::MAX, u64::MAX, 4)] {
            assert!(parsed(prefix, index, size).is_err(), "{prefix} {index} {size}");
        }
    }
}
