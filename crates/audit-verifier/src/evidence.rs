//! The format of an evidence archive, which `log export` writes and `check` reads.

use audit_domain::{ContentHash, LogName, Timestamp};
use audit_ledger::{InclusionProof, SignedCheckpoint, VerifierKey};
use serde_json::json;

/// The description inside the archive.
const README: &str = include_str!("evidence/README.txt");
/// The line before and after each program in it.
const PROGRAM_MARK: &str = "----8<----";
/// The file with the digests of all others, in the format of `sha256sum`.
pub const SUMS: &str = "SHA256SUMS";

/// The line of a file in [`SUMS`].
pub fn sum_line(name: &str, digest: &[u8]) -> String {
    format!("{}  {name}\n", base16ct::lower::encode_string(digest))
}

/// A line of proofs.jsonl, without its end. A removed event has no id.
pub fn proof_line<'a>(seq: u64, id: impl Into<Option<&'a str>>, inclusion: &InclusionProof) -> String {
    let id: Option<&str> = id.into();
    json!({"id": id, "inclusion": inclusion.to_base64(), "seq": seq}).to_string()
}

/// A line of removed.jsonl, without its end. `removal` is the position of the event that authorises the removal.
pub fn removed_line(seq: u64, content_hash: &ContentHash, removal: u64) -> String {
    format!("{{\"seq\":{seq},\"content_hash\":\"{content_hash}\",\"removal\":{removal}}}")
}

/// README.txt of an archive with so many events of a log.
pub fn readme(
    signed: &SignedCheckpoint,
    log: &LogName,
    (from, to): (Timestamp, Timestamp),
    events: u64,
    key: &VerifierKey,
) -> String {
    let (project, environment) = log.as_str().split_once('/').unwrap_or_default();
    let values = [
        ("{events}", events.to_string()),
        ("{project}", project.to_owned()),
        ("{environment}", environment.to_owned()),
        ("{from}", from.to_string()),
        ("{to}", to.to_string()),
        ("{log}", signed.checkpoint().origin().to_string()),
        ("{size}", signed.head().size.to_string()),
        ("{key}", key.to_string()),
    ];
    // The programs have braces of their own.
    let (text, programs) = README.split_once(PROGRAM_MARK).unwrap_or((README, ""));
    let fill = |text: String, (name, value): (&str, String)| text.replace(name, &value);
    let text = values.into_iter().fold(text.to_owned(), fill);
    format!("{text}{PROGRAM_MARK}{programs}")
}
