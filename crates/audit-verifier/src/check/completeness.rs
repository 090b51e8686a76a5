//! The document of `GET /log/completeness`, alone or with the events that its viewer has read.

use super::{Failure, check_log};
use crate::tenant_proof::{self, RemovedEvents};
use anyhow::{Context, anyhow, ensure};
use audit_domain::{ContentHash, LogName, StoredSalt, Timestamp, canonical, json, logged_at};
use audit_ledger::{Frontier, Hash, TreeHead, VerifierKey};
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

pub(super) fn check(
    text: &str,
    keys: &[VerifierKey],
    (log, tenant): (Option<&str>, Option<&str>),
    events: Option<&Path>,
) -> Result<String, Failure> {
    let body: Value = json::parse(text.as_bytes()).map_err(Failure::refused)?.into();
    if body.get("map").is_none() {
        let what = anyhow!("the file is not a response of GET /log/completeness");
        return Err(Failure::Inconclusive(what));
    }
    let proof = tenant_proof::parse(&body).map_err(Failure::refused)?;
    let (map, head) = proof.verify(keys).map_err(Failure::refused)?;
    let removed = RemovedEvents::parse(&body, head.size).map_err(Failure::refused)?;
    let map = map.head();
    let (tenant_id, signed_at, size) = (&proof.tenant_id, map.signed_at, head.size);
    if removed
        .leaves
        .last_key_value()
        .is_some_and(|(last, _)| *last >= size)
    {
        return Err(Failure::refused("a removed leaf is behind the signed size"));
    }
    check_log(log, &map.log.to_string())?;
    if tenant.is_some_and(|tenant| tenant != tenant_id) {
        return Err(Failure::Refused(format!("it is of the tenant {tenant_id}")));
    }
    let compared = match events {
        None => "; with --events FILE, their number and hashes are compared with those of the events that were read".to_owned(),
        Some(events) => {
            let log = LogName::of_origin(map.log.as_str());
            let log = log.ok_or_else(|| Failure::refused("the log has no project"))?;
            let gone = described(&removed);
            let compared = compare(events, tenant_id, (&head, removed), (&log, signed_at))?;
            let Compared { later, hashes_only } = compared;
            let later = match later {
                0 => String::new(),
                later => format!(", and {later} later ones, of which this says nothing"),
            };
            let hashes_only = match hashes_only {
                0 => String::new(),
                count => format!("; of {count} without content_salt the hash was compared and no field"),
            };
            format!("; {gone}{later}{hashes_only}")
        }
    };
    Ok(format!(
        "the tenant {tenant_id} had {size} events in the log {} at {signed_at}, signed by {}{compared}",
        map.log,
        keys[0].name(),
    ))
}

/// Most bytes of a line: an event of 64 KiB with every character escaped. A longer one is cut, and is not JSON.
const LINE_BYTES_MAX: u64 = 1 << 20;
/// How old an event is at most that a document may lack, in seconds: a log that is not signed takes no events for longer by default.
const UNSIGNED_SECONDS_MAX: i64 = 60;

/// Events of a file that were not fully compared with the signed log.
struct Compared {
    /// Those behind it, which are newer than the document.
    later: u64,
    /// Those within it as a viewer reads them who does not see all fields.
    hashes_only: u64,
}

/// The content hash of an event as it was read; an error where it is not the one that it states.
pub(crate) fn content_hash(
    event: &mut Map<String, Value>,
    log: &LogName,
) -> anyhow::Result<(ContentHash, bool)> {
    let hash = event.remove("content_hash");
    let hash = hash
        .as_ref()
        .and_then(Value::as_str)
        .context("it has no content_hash")?;
    let hash: ContentHash = hash.parse().map_err(|error| anyhow!("{error}"))?;
    if !event.contains_key("content_salt") && !event.contains_key("parts") {
        return Ok((hash, false));
    }
    let salt = StoredSalt::take_members(event).context("its salt cannot be read")?;
    event.remove("redacted");
    let mut text = String::new();
    canonical::write_object(&mut text, event);
    ensure!(
        salt.content_hash(&text, log) == Some(hash),
        "it does not have its content hash"
    );
    Ok((hash, true))
}

/// Which events the file has, where some were removed.
fn described(removed: &RemovedEvents) -> String {
    let first = match removed.tree.size() {
        0 => None,
        count => Some(format!("the first {count}")),
    };
    let others = match removed.leaves.len() {
        0 => None,
        count if first.is_some() => Some(format!("{count} others")),
        count => Some(format!("{count}")),
    };
    match first.into_iter().chain(others).collect::<Vec<_>>().join(" and ") {
        removed if removed.is_empty() => "the file has all of them".to_owned(),
        removed => {
            format!("{removed} were removed (by the statement of the server), the file has all others")
        }
    }
}

/// Compares the events of a file with the signed log.
fn compare(
    path: &Path,
    tenant_id: &str,
    (head, removed): (&TreeHead, RemovedEvents),
    (log, signed_at): (&LogName, Timestamp),
) -> Result<Compared, Failure> {
    let shown = path.display();
    let file = File::open(path)
        .with_context(|| format!("cannot open {shown}"))
        .map_err(Failure::Inconclusive)?;
    let RemovedEvents { mut tree, mut leaves } = removed;
    let (mut number, mut later, mut hashes_only) = (0_u64, 0, 0);
    let mut pass_removed = |tree: &mut Frontier| {
        while let Some(leaf) = leaves.remove(&tree.size()) {
            tree.append(leaf);
        }
    };
    let mut lines = BufReader::new(file);
    let mut line = Vec::new();
    loop {
        line.clear();
        if (&mut lines).take(LINE_BYTES_MAX).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        number += 1;
        pass_removed(&mut tree);
        let event = json::parse(&line).context("it is not JSON").map(Value::from);
        let event = event.with_context(|| format!("line {number} of {shown}"));
        let Value::Object(mut event) = event.map_err(Failure::Inconclusive)? else {
            return Err(Failure::refused(format!(
                "line {number} of {shown} is not an event"
            )));
        };
        let (hash, is_whole) = content_hash(&mut event, log)
            .map_err(|error| Failure::refused(format!("line {number} of {shown}: {error}")))?;
        if event.get("tenant_id").and_then(Value::as_str) != Some(tenant_id) {
            return Err(Failure::refused(format!(
                "line {number} of {shown} is of another tenant"
            )));
        }
        if tree.size() == head.size {
            let received = logged_at(&event);
            if let Some(at) = received.filter(|at| at.plus_seconds(UNSIGNED_SECONDS_MAX) < signed_at) {
                return Err(Failure::refused(format!(
                    "it was signed at {signed_at} and lacks the event in line {number} of {shown}, which the log received at {at}"
                )));
            }
            later += 1;
            continue;
        }
        tree.append(Hash::of_event(&hash));
        hashes_only += u64::from(!is_whole);
    }
    pass_removed(&mut tree);
    if tree.size() < head.size {
        let (size, missing) = (head.size, head.size - tree.size());
        let what = format!("the tenant has {size} events, and {shown} {number}: {missing} left out");
        return Err(Failure::refused(what));
    }
    match tree.root() == head.root {
        true => Ok(Compared { later, hashes_only }),
        false => Err(Failure::refused(format!(
            "the events in {shown} are not those of the tenant, or not in the order of the feed"
        ))),
    }
}
