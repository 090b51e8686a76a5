//! The document of `GET /log/completeness`.

use anyhow::{Context, anyhow};
use audit_cli::small_file;
use audit_ledger::{TenantPath, TenantProof, TenantSalt};
use serde_json::Value;
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
