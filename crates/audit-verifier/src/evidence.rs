//! The format of an evidence archive, which `log export` writes and `check` reads.

use audit_domain::{LogName, Timestamp};
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

/// A line of proofs.jsonl, without its end.
pub fn proof_line(seq: u64, id: &str, inclusion: &InclusionProof) -> String {
    json!({"id": id, "inclusion": inclusion.to_base64(), "seq": seq}).to_string()
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
