//! Anchors, with the time stamps beside them.

use super::Failure;
use crate::anchor_files::read_file;
use audit_ledger::{SignedAnchor, VerifierKey};
use audit_timestamp::{TimeStamp, TimeStampRoots};
use std::path::Path;

pub(super) fn check(
    path: &Path,
    keys: &[VerifierKey],
    roots: Option<&TimeStampRoots>,
) -> Result<String, Failure> {
    let file = read_file(path).map_err(Failure::Inconclusive)?;
    let signed = SignedAnchor::open(&file.document, keys).map_err(Failure::refused)?;
    let anchor = signed.anchor();
    let mut proved = format!(
        "anchor {} of {} has {} logs with {} events, signed by {}",
        anchor.number,
        anchor.time,
        anchor.heads.len(),
        anchor.events(),
        keys[0].name()
    );
    let Some(bytes) = &file.time_stamp else {
        return match roots {
            Some(_) => Err(Failure::refused("there is no time stamp beside it (.tsr)")),
            None => Ok(proved),
        };
    };
    let refused = |error| Failure::Refused(format!("its time stamp is wrong: {error}"));
    let stamp = TimeStamp::parse(bytes).map_err(refused)?;
    stamp.check_digest(signed.digest().as_bytes()).map_err(refused)?;
    proved.push_str(&format!("; its time stamp says {}", stamp.time()));
    match roots {
        Some(roots) => {
            stamp.verify(roots).map_err(refused)?;
            proved.push_str(", signed by a trusted authority");
        }
        None => proved.push_str(" (its signature is verified with --timestamp-ca)"),
    }
    Ok(proved)
}
