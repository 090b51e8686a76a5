//! The document of `GET /log/completeness`, alone or with the events that its viewer has read.

use super::{Failure, check_log};
use crate::tenant_proof;
use anyhow::{Context, anyhow};
use audit_app::VerifierKey;
use audit_domain::ContentHash;
use audit_ledger::{Frontier, Hash, TreeHead};
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

pub(super) fn check(
    text: &str,
    keys: &[VerifierKey],
    (log, tenant): (Option<&str>, Option<&str>),
    events: Option<&Path>,
) -> Result<String, Failure> {
    let body: Value = serde_json::from_str(text).map_err(Failure::refused)?;
    if body.get("map").is_none() {
        let what = anyhow!("the file is not a response of GET /log/completeness");
        return Err(Failure::Inconclusive(what));
    }
    let proof = tenant_proof::parse(&body).map_err(Failure::refused)?;
    let (map, head) = proof.verify(keys).map_err(Failure::refused)?;
    let map = map.head();
    let (tenant_id, signed_at, size) = (&proof.tenant_id, map.signed_at, head.size);
    check_log(log, &map.log.to_string())?;
    if tenant.is_some_and(|tenant| tenant != tenant_id) {
        return Err(Failure::Refused(format!("it is of the tenant {tenant_id}")));
    }
    let compared = match events {
        None => "; with --events FILE, their number and hashes are compared with those of the events that were read".to_owned(),
        Some(events) => match compare(events, tenant_id, &head)? {
            0 => "; the file has all of them".to_owned(),
            later => format!("; the file has all of them, and {later} later ones, of which this says nothing"),
        },
    };
    Ok(format!(
        "the tenant {tenant_id} had {size} events in the log {} at {signed_at}, signed by {}{compared}",
        map.log,
        keys[0].name(),
    ))
}

/// Compares the events of a file with the signed log. Returns the number of those behind it, which are newer than the document.
fn compare(path: &Path, tenant_id: &str, head: &TreeHead) -> Result<u64, Failure> {
    let shown = path.display();
    let file = File::open(path)
        .with_context(|| format!("cannot open {shown}"))
        .map_err(Failure::Inconclusive)?;
    let (mut tree, mut later) = (Frontier::new(), 0);
    for line in BufReader::new(file).lines() {
        let line = line?;
        if line.is_empty() {
            continue;
        }
        let read = || {
            let event: Value = serde_json::from_str(&line).context("it is not JSON")?;
            let hash = event["content_hash"].as_str().context("it has no content_hash")?;
            let hash: ContentHash = hash.parse().map_err(|error| anyhow!("{error}"))?;
            anyhow::Ok((hash, event["tenant_id"] == *tenant_id))
        };
        let (hash, is_own) = read()
            .with_context(|| format!("line {} of {shown}", tree.size() + later + 1))
            .map_err(Failure::Inconclusive)?;
        if !is_own {
            let what = format!("line {} of {shown} is of another tenant", tree.size() + later + 1);
            return Err(Failure::refused(what));
        }
        match tree.size() < head.size {
            true => drop(tree.append(Hash::of_event(&hash))),
            false => later += 1,
        }
    }
    if tree.size() < head.size {
        let (read, missing) = (tree.size(), head.size - tree.size());
        let what = format!(
            "the tenant has {} events, and {shown} {read}: {missing} left out",
            head.size
        );
        return Err(Failure::refused(what));
    }
    match tree.root() == head.root {
        true => Ok(later),
        false => Err(Failure::refused(format!(
            "the events in {shown} are not those of the tenant, or not in the order of the feed"
        ))),
    }
}
