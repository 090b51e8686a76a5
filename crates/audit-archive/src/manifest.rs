//! The manifest beside each file.

use crate::error::{ArchiveError, Result};
use audit_domain::{ContentHash, LogName, Month, Sha256Digest, Timestamp};
use audit_ledger::{ConsistencyProof, Frontier, Hash};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fmt::Display;
use std::ops::Range;
use std::str::FromStr;

/// What a file has, and what joins it to the signed log. `Display` writes the one form in which it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// The log.
    pub log: LogName,
    /// The month in which the log received the events.
    pub month: Month,
    /// The positions, of which each has an event in the file or is one of [`Self::removed`].
    pub seqs: Range<u64>,
    /// The number of events in the file.
    pub events: u64,
    /// The length of the file.
    pub file_bytes: u64,
    /// The SHA-256 of the file.
    pub file_digest: Sha256Digest,
    /// The positions whose events were removed, in their order.
    pub removed: Vec<RemovedRun>,
    /// The tree of the log before the range.
    pub frontier: Frontier,
    /// The root of the tree of the log up to the end of the range.
    pub root: Hash,
    /// A signed checkpoint (C2SP `tlog-checkpoint`) of the log, at or behind the end of the range.
    pub checkpoint: String,
    /// Proves that the tree of the checkpoint continues that of [`Self::root`].
    pub consistency: ConsistencyProof,
    /// The SHA-256 of the manifest before; `None` in the first one.
    pub previous: Option<Sha256Digest>,
}

/// Adjacent positions whose events one removal has taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemovedRun {
    /// The first position.
    pub first_seq: u64,
    /// The position of the event of the log that authorises the removal.
    pub removal: u64,
    /// The content hash of each event.
    pub content_hashes: Vec<ContentHash>,
}

impl RemovedRun {
    /// The positions.
    pub fn seqs(&self) -> Range<u64> {
        self.first_seq..self.first_seq.saturating_add(self.content_hashes.len() as u64)
    }

    /// Adds a removed event behind those that there are.
    pub fn push(runs: &mut Vec<Self>, seq: u64, content_hash: ContentHash, removal: u64) {
        match runs.last_mut() {
            Some(last) if last.seqs().end == seq && last.removal == removal => {
                last.content_hashes.push(content_hash);
            }
            _ => runs.push(Self {
                first_seq: seq,
                removal,
                content_hashes: vec![content_hash],
            }),
        }
    }
}

/// The members of a manifest as they are written.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Members {
    version: u32,
    log: String,
    month: String,
    first_seq: u64,
    end_seq: u64,
    events: u64,
    file_bytes: u64,
    file_sha256: String,
    previous: Option<String>,
    root: String,
    frontier: Vec<String>,
    consistency: Vec<String>,
    checkpoint: String,
    removed: Vec<RemovedMembers>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct RemovedMembers {
    first_seq: u64,
    removal: u64,
    content_hashes: String,
}

impl Manifest {
    /// The version of the format.
    const VERSION: u32 = 1;

    /// The digest by which the next manifest, and the event of a removal, name a manifest with this text.
    pub fn digest(text: &str) -> Sha256Digest {
        use sha2::{Digest, Sha256};
        Sha256Digest::from_bytes(Sha256::digest(text).into())
    }

    /// Parses the text of a manifest. Do not trust the result: see [`crate::Chain::add`].
    ///
    /// # Errors
    /// [`ArchiveError`] names the member that is wrong.
    pub fn parse(text: &str) -> Result<Self> {
        let members: Members = serde_json::from_str(text)?;
        if members.version != Self::VERSION {
            return Err(ArchiveError::member(
                "version",
                format!("{} is not known", members.version),
            ));
        }
        let log = members.log.split_once('/');
        let log = log.and_then(|(project, environment)| LogName::parse(project, environment));
        let mut edge = members.frontier.iter();
        let frontier = Frontier::read(members.first_seq, |_| {
            read("frontier", edge.next().map_or("", |text| text))
        });
        let removed = members.removed.iter().map(RemovedRun::read);
        let manifest = Self {
            log: log.ok_or_else(|| ArchiveError::member("log", "it is not that of a project"))?,
            month: parse_month(&members.month)
                .ok_or_else(|| ArchiveError::member("month", "it is not of the form 2026-01"))?,
            seqs: members.first_seq..members.end_seq,
            events: members.events,
            file_bytes: members.file_bytes,
            file_digest: read("file_sha256", &members.file_sha256)?,
            removed: removed.collect::<Result<_>>()?,
            frontier: frontier.map_err(|error| ArchiveError::member("frontier", error))?,
            root: read("root", &members.root)?,
            consistency: ConsistencyProof::from_base64(&members.consistency)
                .map_err(|error| ArchiveError::member("consistency", error))?,
            previous: members
                .previous
                .as_deref()
                .map(|text| read("previous", text))
                .transpose()?,
            checkpoint: members.checkpoint,
        };
        // Another text of the same content would have another digest.
        match manifest.to_string() == text {
            true => Ok(manifest),
            false => Err(ArchiveError::ManifestForm),
        }
    }
}

impl Display for Manifest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let removed = self.removed.iter().map(|run| RemovedMembers {
            first_seq: run.first_seq,
            removal: run.removal,
            content_hashes: {
                let bytes: Vec<[u8; 32]> = run.content_hashes.iter().map(|hash| *hash.as_bytes()).collect();
                STANDARD.encode(bytes.as_flattened())
            },
        });
        let members = Members {
            version: Self::VERSION,
            log: self.log.as_str().to_owned(),
            month: self.month.to_string(),
            first_seq: self.seqs.start,
            end_seq: self.seqs.end,
            events: self.events,
            file_bytes: self.file_bytes,
            file_sha256: self.file_digest.to_string(),
            previous: self.previous.map(|digest| digest.to_string()),
            root: self.root.to_string(),
            frontier: self.frontier.edge().map(|(_, hash)| hash.to_string()).collect(),
            consistency: self.consistency.to_base64(),
            checkpoint: self.checkpoint.clone(),
            removed: removed.collect(),
        };
        let text = serde_json::to_string_pretty(&members).map_err(|_| fmt::Error)?;
        writeln!(formatter, "{text}")
    }
}

impl RemovedRun {
    fn read(members: &RemovedMembers) -> Result<Self> {
        let wrong = |problem: &str| ArchiveError::member("removed", problem);
        let bytes = STANDARD.decode(&members.content_hashes);
        let bytes = bytes.map_err(|_| wrong("content_hashes is not base64"))?;
        let (hashes, rest) = bytes.as_chunks();
        if hashes.is_empty() || !rest.is_empty() {
            return Err(wrong("content_hashes is not hashes of 32 bytes"));
        }
        Ok(Self {
            first_seq: members.first_seq,
            removal: members.removal,
            content_hashes: hashes.iter().map(|hash| ContentHash::from_bytes(*hash)).collect(),
        })
    }
}

fn read<T: FromStr<Err: Display>>(member: &'static str, text: &str) -> Result<T> {
    text.parse().map_err(|error| ArchiveError::member(member, error))
}

/// Reads a month of the form `2026-01`.
pub fn parse_month(text: &str) -> Option<Month> {
    let first = Timestamp::parse_rfc3339(&format!("{text}-01T00:00:00Z")).ok()?;
    let month = Month::of(first);
    (month.to_string() == text).then_some(month)
}
