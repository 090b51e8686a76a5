//! Anchors: the heads of all logs of a deployment at one time, and their maps of tenants, in one signed note that names the note
//! before it.
//!
//! A stored anchor contradicts every later database in which one of its logs is gone, shorter or different, and every other map
//! of tenants of the same events. Anchors form a chain, so one of them stands for all before it.

use crate::hash::Hash;
use crate::key::{KeyName, SigningKey, VerifierKey, signature_line};
use crate::note::{NoteError, SignedNote};
use crate::range::RangeError;
use crate::{HistoryError, TreeHead};
use audit_domain::Timestamp;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt;
use std::str::Split;

/// An anchor from a place that the operator of the log cannot change.
#[derive(Clone, Debug)]
pub struct AnchorFile {
    /// How it is named in reports.
    pub name: String,
    /// The signed note.
    pub document: String,
    /// The response of a time-stamp authority.
    pub time_stamp: Option<Vec<u8>>,
}

/// The heads of all logs of a deployment. `Display` writes the text that is signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// The name of the deployment: that of the key that signs.
    pub deployment: KeyName,
    /// The number of the anchor in its chain, from 1.
    pub number: u64,
    /// The start of the interval that it belongs to. No two anchors of a chain have the same.
    pub due: Timestamp,
    /// When it was made, by the clock of the server.
    pub time: Timestamp,
    /// The length of the interval in seconds.
    pub every_seconds: u32,
    /// The digest of the anchor before it; `None` for the first one.
    pub previous: Option<AnchorDigest>,
    /// The head of each log that has had an event, by project and environment.
    pub heads: BTreeMap<String, TreeHead>,
    /// The maps of tenants of these logs that are in use, by project and environment. None has more events than its log.
    pub maps: BTreeMap<String, AnchoredMap>,
}

/// The map of tenants over the first events of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnchoredMap {
    /// The number of events.
    pub size: u64,
    /// The root of the map.
    pub root: Hash,
    /// Binds the map to its size, as in its own note: see [`crate::TenantMapKey::binding`].
    pub binding: Hash,
}

/// An anchor with a valid signature by a trusted key. It can only be made by signing or by verifying.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedAnchor {
    anchor: Anchor,
    note: String,
}

/// The SHA-256 of an anchor's signed note: what the next anchor names, and what a time stamp covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnchorDigest(Hash);

/// A text is not an anchor that one of the keys signed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnchorError {
    /// The text is not a note, or no trusted key signed it.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// The signed text is not an anchor.
    #[error("line {line} of the anchor is not {expected}")]
    Line {
        /// The number of the line, from 1.
        line: usize,
        /// What the line should be.
        expected: &'static str,
    },
    /// The text is not the one that the values have.
    #[error("the anchor is not written in the one form of its content")]
    Form,
    /// The signature is valid, but the anchor is that of another deployment.
    #[error("this is an anchor of {0}, which is not the name of the key")]
    OtherDeployment(String),
}

/// An anchor does not continue an earlier one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnchorChainError {
    /// Two anchors have the same number.
    #[error("there are two anchors with the number {0}")]
    Number(u64),
    /// The anchor names another one as the one before it.
    #[error("it does not continue the anchor {0}, but another one of that number")]
    Previous(u64),
    /// The times go back.
    #[error("it is not later than the anchor {0}")]
    Time(u64),
    /// A log is missing.
    #[error("the log {0} is missing, which the anchor before it has")]
    LogGone(String),
    /// A log has become shorter, or is another one of the same size.
    #[error("{log}: {error}")]
    Log {
        /// Project and environment.
        log: String,
        /// How its head contradicts the one before.
        error: HistoryError,
    },
    /// The map of tenants of a log is missing, has fewer events, or is another one of the same events.
    #[error("{log}: its map of tenants {problem}")]
    Map {
        /// Project and environment.
        log: String,
        /// How it contradicts the one before.
        problem: &'static str,
    },
}

impl Anchor {
    /// The first line of the format.
    pub const HEADER: &str = "audit-server anchor v2";
    /// Most bytes of an anchor: some 600,000 logs, or 260,000 with a map each.
    pub const BYTES_MAX: usize = 64 * 1024 * 1024;

    /// Parses the text of an anchor. Do not trust the result: it is not verified. See [`SignedAnchor::open`].
    ///
    /// # Errors
    /// [`AnchorError`] if the text is not in the form that [`Self::to_string`](ToString::to_string) writes.
    pub fn parse(text: &str) -> Result<Self, AnchorError> {
        let mut lines = Lines {
            rest: text.split('\n'),
            line: 0,
        };
        lines.next("the header of the format", |line| {
            (line == Self::HEADER).then_some(())
        })?;
        let deployment = lines.field("deployment", |name| KeyName::parse(name).ok())?;
        let number = lines.field("number", parse_number)?;
        let due = lines.field("due", |time| Timestamp::parse_rfc3339(time).ok())?;
        let time = lines.field("time", |time| Timestamp::parse_rfc3339(time).ok())?;
        let every_seconds = lines.field("every", |seconds| seconds.parse().ok())?;
        let previous = lines.field("previous", |digest| match digest {
            "none" => Some(None),
            digest => Some(Some(AnchorDigest(digest.parse().ok()?))),
        })?;
        let count = lines.field("logs", parse_number)?;
        let mut heads = BTreeMap::new();
        for _ in 0..count {
            let (name, head) = lines.next("the name, size and root of a log", parse_head)?;
            heads.insert(name, head);
        }
        let count = lines.field("maps", parse_number)?;
        let mut maps = BTreeMap::new();
        for _ in 0..count {
            let of_log = |line| parse_map(line).filter(|(name, map)| is_within(*map, heads.get(name)));
            let (name, map) = lines.next("the map of tenants of a log", of_log)?;
            maps.insert(name, map);
        }
        let anchor = Self {
            deployment,
            number,
            due,
            time,
            every_seconds,
            previous,
            heads,
            maps,
        };
        // Other encodings of the same content would give it several digests.
        match anchor.to_string() == text {
            true => Ok(anchor),
            false => Err(AnchorError::Form),
        }
    }

    /// The name of its file, without an extension: the interval that it belongs to, such as `20261122T100000Z`.
    pub fn file_name(&self) -> String {
        Self::file_name_of(self.due)
    }

    /// The name of the file of the anchor of the interval that begins at this time, without an extension.
    pub fn file_name_of(due: Timestamp) -> String {
        let due = due.to_string();
        let digits: String = due.chars().take(19).filter(|c| !matches!(c, '-' | ':')).collect();
        format!("{digits}Z")
    }

    /// The number of events in all its logs.
    pub fn events(&self) -> u64 {
        self.heads.values().map(|head| head.size).sum()
    }
}

impl fmt::Display for Anchor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{}", Self::HEADER)?;
        writeln!(formatter, "deployment {}", self.deployment)?;
        writeln!(formatter, "number {}", self.number)?;
        writeln!(formatter, "due {}", self.due)?;
        writeln!(formatter, "time {}", self.time)?;
        writeln!(formatter, "every {}", self.every_seconds)?;
        match &self.previous {
            Some(digest) => writeln!(formatter, "previous {digest}")?,
            None => writeln!(formatter, "previous none")?,
        }
        writeln!(formatter, "logs {}", self.heads.len())?;
        for (name, head) in &self.heads {
            writeln!(formatter, "{name} {} {}", head.size, head.root)?;
        }
        writeln!(formatter, "maps {}", self.maps.len())?;
        for (name, map) in &self.maps {
            writeln!(formatter, "{name} {} {} {}", map.size, map.root, map.binding)?;
        }
        Ok(())
    }
}

/// The lines of an anchor.
struct Lines<'a> {
    rest: Split<'a, char>,
    line: usize,
}

impl<'a> Lines<'a> {
    fn next<T>(
        &mut self,
        expected: &'static str,
        parse: impl FnOnce(&'a str) -> Option<T>,
    ) -> Result<T, AnchorError> {
        self.line += 1;
        let line = self.line;
        let parsed = self.rest.next().and_then(parse);
        parsed.ok_or(AnchorError::Line { line, expected })
    }

    /// The value of a line that begins with the name of a field.
    fn field<T>(
        &mut self,
        name: &'static str,
        parse: impl FnOnce(&'a str) -> Option<T>,
    ) -> Result<T, AnchorError> {
        self.next(name, |line| parse(line.strip_prefix(name)?.strip_prefix(' ')?))
    }
}

fn parse_number(text: &str) -> Option<u64> {
    text.parse().ok()
}

fn parse_head(line: &str) -> Option<(String, TreeHead)> {
    let mut parts = line.split(' ');
    let (name, size, root) = (parts.next()?, parts.next()?, parts.next()?);
    let size = parse_number(size)?;
    let is_empty = name.is_empty() || size == 0 || parts.next().is_some();
    let root = root.parse().ok()?;
    let is_size = RangeError::check_size(size).is_ok();
    (is_size && !is_empty).then(|| (name.to_owned(), TreeHead { size, root }))
}

fn parse_map(line: &str) -> Option<(String, AnchoredMap)> {
    let (line, binding) = line.rsplit_once(' ')?;
    let (name, TreeHead { size, root }) = parse_head(line)?;
    let binding = binding.parse().ok()?;
    Some((name, AnchoredMap { size, root, binding }))
}

fn is_within(map: AnchoredMap, head: Option<&TreeHead>) -> bool {
    head.is_some_and(|head| map.size <= head.size)
}

impl AnchorDigest {
    /// The digest of a signed note.
    pub fn of_note(note: &str) -> Self {
        Self(Hash::from_bytes(Sha256::digest(note).into()))
    }

    /// The bytes of the SHA-256.
    pub const fn as_bytes(&self) -> &[u8; Hash::BYTES] {
        self.0.as_bytes()
    }
}

/// Base64.
impl fmt::Display for AnchorDigest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl SignedAnchor {
    /// Parses and verifies an anchor: one of these keys, whose name is that of its deployment, must have signed it.
    ///
    /// # Errors
    /// [`AnchorError`] names the check that failed.
    pub fn open(note: &str, keys: &[VerifierKey]) -> Result<Self, AnchorError> {
        let text = SignedNote::parse_within(note, Anchor::BYTES_MAX)?.verify(keys)?;
        let anchor = Anchor::parse(text)?;
        if !keys.iter().any(|key| *key.name() == anchor.deployment) {
            return Err(AnchorError::OtherDeployment(anchor.deployment.to_string()));
        }
        Ok(Self {
            anchor,
            note: note.to_owned(),
        })
    }

    /// What was signed.
    pub const fn anchor(&self) -> &Anchor {
        &self.anchor
    }

    /// The note with its signature, as it is stored and sent.
    pub fn note(&self) -> &str {
        &self.note
    }

    /// The digest of the note.
    pub fn digest(&self) -> AnchorDigest {
        AnchorDigest::of_note(&self.note)
    }

    /// Checks that `later` may come after this anchor: its number and its time are higher, it names this one if it is the
    /// next one, and each log and each map is still there and at least as large. Whether a larger log begins with the same
    /// events can only be checked with its tree.
    ///
    /// # Errors
    /// [`AnchorChainError`] names the contradiction.
    pub fn check_later(&self, later: &Self) -> Result<(), AnchorChainError> {
        let (before, after) = (&self.anchor, &later.anchor);
        if after.number <= before.number {
            return Err(AnchorChainError::Number(after.number));
        }
        if after.number == before.number + 1 && after.previous != Some(self.digest()) {
            return Err(AnchorChainError::Previous(before.number));
        }
        if after.due <= before.due {
            return Err(AnchorChainError::Time(before.number));
        }
        for (log, head) in &before.heads {
            let next = after.heads.get(log);
            let next = next.ok_or_else(|| AnchorChainError::LogGone(log.clone()))?;
            let checked = head.check_size_and_root(next);
            checked.map_err(|error| AnchorChainError::Log {
                log: log.clone(),
                error,
            })?;
        }
        before.maps.iter().try_for_each(|(log, map)| {
            let problem = map.contradiction(after.maps.get(log));
            problem.map_or(Ok(()), |problem| {
                let log = log.clone();
                Err(AnchorChainError::Map { log, problem })
            })
        })
    }
}

impl AnchoredMap {
    /// How a later map of the same log contradicts this one.
    fn contradiction(&self, later: Option<&Self>) -> Option<&'static str> {
        match later {
            None => Some("is missing"),
            Some(later) if later.size < self.size => Some("has fewer events"),
            Some(later) if later.size == self.size && later != self => {
                Some("is another one of the same events")
            }
            Some(_) => None,
        }
    }
}

impl VerifierKey {
    /// The anchor with a signature that was made elsewhere, such as in an HSM, over its text.
    ///
    /// # Errors
    /// [`AnchorError`] if it is not a signature of this key.
    pub fn attach_anchor(&self, anchor: &Anchor, signature: &[u8]) -> Result<SignedAnchor, AnchorError> {
        let line = signature_line(self.name(), self.id(), signature);
        SignedAnchor::open(&format!("{anchor}\n{line}"), std::slice::from_ref(self))
    }
}

impl SigningKey {
    /// Signs an anchor, in whose text no verifier sees a checkpoint.
    pub fn sign_anchor(&self, anchor: Anchor) -> SignedAnchor {
        let text = anchor.to_string();
        let note = format!("{text}\n{}", self.signature_line(&text));
        SignedAnchor { anchor, note }
    }
}

#[cfg(test)]
mod tests;
