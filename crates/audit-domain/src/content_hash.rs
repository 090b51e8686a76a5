//! The content hash: SHA-256 over the salted hashes of an event's parts.
//!
//! ```text
//! content hash    = SHA-256(0x03 ‖ log ‖ "\n" ‖ hash of part 0 ‖ … ‖ hash of part 10 ‖ open fields)
//! hash of part n  = SHA-256(0x02 ‖ salt n ‖ n ‖ fields of the part)
//! salt 2j, 2j + 1 = the two halves of SHA-256(0x04 ‖ content salt ‖ j)
//! ```
//!
//! `log` is `<project id>/<environment>`; `n` and `j` are one byte; salts have 16 bytes. Fields are the canonical JSON of their values in
//! the order of [`EventPart::fields`] and [`EventPart::OPEN_FIELDS`], joined with `\n`; a field that the event does not have is empty. A
//! field that [`EventField::is_appended`] is the last one, and is left out with its `\n` where the event does not have it.
//! Canonical JSON has no `\n`, so no two events have the same input. The prefixes are not those of the Merkle tree (0x00 and 0x01).
//!
//! A reader from whom parts are hidden gets the salts of the others and the hashes of the hidden ones ([`PartProofs`]). Without its salt
//! the hash of a part tells nothing about its fields, nor whether the event has them.

use crate::field_texts::{FieldRanges, FieldTexts, VisibleTexts};
use crate::{ContentHash, EventField, EventPart, LogName};
use audit_sha256::{Batch, Prefix};
use serde_json::{Map, Value, json};
use std::fmt;
use std::str::FromStr;

/// First byte of the input of the hash of a part.
const PART: u8 = 2;
/// First byte of the input of a content hash.
const CONTENT: u8 = 3;
/// First byte of the input of a digest that is two salts.
const SALTS: u8 = 4;

/// The salt of one part.
type PartSalt = [u8; ContentSalt::BYTES];
/// The hash of one part.
type PartHash = [u8; 32];

/// 16 random bytes of an event, from which the salts of its parts are derived. Only readers who see the whole event get it. Written as
/// 32 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ContentSalt([u8; Self::BYTES]);

/// The text is not a content salt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a content salt is 32 lower-case hexadecimal digits")]
pub struct ContentSaltError;

impl ContentSalt {
    /// Bytes of a salt.
    pub const BYTES: usize = 16;

    /// From unpredictable bytes, or from those of [`Self::as_bytes`].
    pub const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// The bytes.
    pub const fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }

    /// Adds the messages whose digests are the salts of the parts, in their order: see [`part_salts`].
    fn add_salts(&self, batch: &mut Batch) {
        for index in 0..SALT_PAIRS as u8 {
            batch.add(|message| {
                message.push(SALTS);
                message.extend_from_slice(&self.0);
                message.push(index);
            });
        }
    }
}

/// Digests that are two salts each, for all parts.
const SALT_PAIRS: usize = EventPart::COUNT.div_ceil(2);

/// The salts of the parts, of the digests of [`ContentSalt::add_salts`].
fn part_salts(digests: impl Iterator<Item = [u8; 32]>) -> [PartSalt; EventPart::COUNT] {
    let mut salts = [[0; ContentSalt::BYTES]; EventPart::COUNT];
    for (salts, digest) in salts.chunks_mut(2).zip(digests) {
        for (salt, half) in salts.iter_mut().zip(digest.as_chunks().0) {
            *salt = *half;
        }
    }
    salts
}

impl fmt::Display for ContentSalt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(base16ct::lower::encode_str(&self.0, &mut [0; 2 * Self::BYTES])?)
    }
}

/// Whoever has the salt can test guesses of hidden fields, so it does not belong into logs.
impl fmt::Debug for ContentSalt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ContentSalt(…)")
    }
}

impl FromStr for ContentSalt {
    type Err = ContentSaltError;

    fn from_str(text: &str) -> Result<Self, ContentSaltError> {
        read_hex(text).map(Self).ok_or(ContentSaltError)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    let decoded = base16ct::lower::decode(text, &mut bytes).ok()?;
    (decoded.len() == N).then_some(bytes)
}

/// Proves one part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PartProof {
    /// The reader sees its fields.
    Salt(PartSalt),
    /// The part is hidden.
    Hash(PartHash),
}

/// What a reader of some parts of an event needs besides them to compute its content hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartProofs([PartProof; EventPart::COUNT]);

impl PartProofs {
    /// For a reader from whom some parts of a stored event are hidden. `None` when the text is not one of an event.
    pub fn new(canonical: &str, salt: &ContentSalt, is_hidden: impl Fn(EventPart) -> bool) -> Option<Self> {
        let mut batch = Batch::default();
        salt.add_salts(&mut batch);
        let salts = part_salts(batch.digests());
        Self(salts.map(PartProof::Salt)).hiding(canonical, is_hidden)
    }

    /// The proofs for a reader from whom more parts of the stored event are hidden. `None` when the text is not one of an event.
    pub fn hiding(mut self, canonical: &str, is_hidden: impl Fn(EventPart) -> bool) -> Option<Self> {
        let fields = FieldRanges::find(canonical)?.of(canonical);
        let mut batch = Batch::default();
        let mut hidden = Vec::new();
        for (proof, part) in self.0.iter_mut().zip(EventPart::ALL) {
            if let PartProof::Salt(salt) = proof
                && is_hidden(*part)
            {
                add_part(&mut batch, *part, salt, &fields);
                hidden.push(proof);
            }
        }
        for (proof, hash) in hidden.into_iter().zip(batch.digests()) {
            *proof = PartProof::Hash(hash);
        }
        Some(self)
    }

    /// Reads what [`Self::to_stored`] writes: the proofs, and the tag of each.
    pub(crate) fn from_stored(bytes: &[u8]) -> Option<(Self, [u8; EventPart::COUNT])> {
        let mut proofs = [PartProof::Hash([0; 32]); EventPart::COUNT];
        let mut tags = [0; EventPart::COUNT];
        let mut rest = bytes;
        for (proof, tag) in proofs.iter_mut().zip(&mut tags) {
            let (first, after) = rest.split_first()?;
            *tag = *first;
            (*proof, rest) = match first {
                0 => {
                    let (salt, after) = after.split_first_chunk()?;
                    (PartProof::Salt(*salt), after)
                }
                _ => {
                    let (hash, after) = after.split_first_chunk()?;
                    (PartProof::Hash(*hash), after)
                }
            };
        }
        rest.is_empty().then_some((Self(proofs), tags))
    }

    /// Writes for each part its tag, and its salt or hash.
    pub(crate) fn to_stored(&self, tags: &[u8; EventPart::COUNT], bytes: &mut Vec<u8>) {
        for (proof, tag) in self.0.iter().zip(tags) {
            bytes.push(*tag);
            match proof {
                PartProof::Salt(salt) => bytes.extend_from_slice(salt),
                PartProof::Hash(hash) => bytes.extend_from_slice(hash),
            }
        }
    }

    /// The hidden parts.
    pub fn hidden(&self) -> impl Iterator<Item = EventPart> {
        let parts = self.0.iter().zip(EventPart::ALL);
        parts.filter_map(|(proof, part)| matches!(proof, PartProof::Hash(_)).then_some(*part))
    }

    /// As responses have it: by part `{"salt": …}` or `{"hash": …}`, in hexadecimal.
    pub fn to_json(&self) -> Map<String, Value> {
        let entry = |(part, proof): (&EventPart, &PartProof)| {
            let proof = match proof {
                PartProof::Salt(salt) => json!({"salt": hex(salt)}),
                PartProof::Hash(hash) => json!({"hash": hex(hash)}),
            };
            (part.to_string(), proof)
        };
        EventPart::ALL.iter().zip(&self.0).map(entry).collect()
    }

    /// From the object of [`Self::to_json`]; `None` where it is not one.
    pub fn from_json(value: &Value) -> Option<Self> {
        let members = value.as_object()?;
        let mut proofs = [PartProof::Hash([0; 32]); EventPart::COUNT];
        for (proof, part) in proofs.iter_mut().zip(EventPart::ALL) {
            let member = members.get(part.as_str())?;
            *proof = match (member["salt"].as_str(), member["hash"].as_str()) {
                (Some(salt), None) => PartProof::Salt(read_hex(salt)?),
                (None, Some(hash)) => PartProof::Hash(read_hex(hash)?),
                _ => return None,
            };
        }
        (members.len() == EventPart::COUNT).then_some(Self(proofs))
    }
}

impl ContentHash {
    /// The content hash of an event with this canonical text. `None` when the text is not one of an event.
    pub fn of(canonical: &str, salt: &ContentSalt, log: &LogName) -> Option<Self> {
        Some(Self::of_fields(&FieldTexts::find(canonical)?, salt, log))
    }

    /// The content hash of an event with these fields.
    pub(crate) fn of_fields(fields: &FieldTexts<'_>, salt: &ContentSalt, log: &LogName) -> Self {
        let hashed = hash_together(&[(*fields, *salt)], log, &mut Batch::default());
        let [(_, hash)] = hashed.try_into().expect("one event has one hash");
        hash
    }

    /// The content hash that a reader computes from the parts that it sees and the proofs of all parts. The members of `event` that are
    /// not hashed do not matter.
    pub fn of_visible(event: &Map<String, Value>, proofs: &PartProofs, log: &LogName) -> Self {
        Self::of_parts(&VisibleTexts::of(event).texts(), proofs, log)
    }

    /// The content hash of an event with these fields, of which the parts without a salt were erased. `None` when it has a field of an
    /// erased part, which nothing would prove.
    pub(crate) fn of_erased(fields: &FieldTexts<'_>, proofs: &PartProofs, log: &LogName) -> Option<Self> {
        let is_absent = |part: EventPart| part.fields().iter().all(|field| fields.get(*field).is_empty());
        proofs
            .hidden()
            .all(is_absent)
            .then(|| Self::of_parts(fields, proofs, log))
    }

    fn of_parts(fields: &FieldTexts<'_>, proofs: &PartProofs, log: &LogName) -> Self {
        let mut batch = Batch::default();
        for (part, proof) in EventPart::ALL.iter().zip(&proofs.0) {
            if let PartProof::Salt(salt) = proof {
                add_part(&mut batch, *part, salt, fields);
            }
        }
        let mut computed = batch.digests();
        let hashes = proofs.0.map(|proof| match proof {
            PartProof::Salt(_) => computed.next().unwrap_or_default(),
            PartProof::Hash(hash) => hash,
        });
        drop(computed);
        let mut prefixes = batch.prefixes([hashes], |hashes, message| write_parts(log, &hashes, message));
        let parts = PartsHash(prefixes.pop().unwrap_or_default());
        parts.content_hash(fields)
    }
}

/// A content hash of which the parts have been hashed, and the open fields not yet. These contain what the service writes last: id and
/// time.
#[derive(Clone)]
pub(crate) struct PartsHash(Prefix);

impl PartsHash {
    /// The content hash with these open fields.
    pub(crate) fn content_hash(&self, fields: &FieldTexts<'_>) -> ContentHash {
        let digest = self
            .0
            .digest(|message| write_lines(&EventPart::OPEN_FIELDS, fields, message));
        ContentHash::from_bytes(digest)
    }
}

/// Events whose content hashes are computed together: as many as fill the lanes of a vector.
pub(crate) const EVENTS_AT_ONCE: usize = 8;

/// The content hashes of events of a log. The salts of all events are hashed together, then their parts, then the rest.
pub(crate) fn hash_together(
    events: &[(FieldTexts<'_>, ContentSalt)],
    log: &LogName,
    batch: &mut Batch,
) -> Vec<(PartsHash, ContentHash)> {
    for (_, salt) in events {
        salt.add_salts(batch);
    }
    let digests: Vec<PartHash> = batch.digests().collect();
    for ((fields, _), digests) in events.iter().zip(digests.chunks(SALT_PAIRS)) {
        let salts = part_salts(digests.iter().copied());
        for (part, salt) in EventPart::ALL.iter().zip(&salts) {
            add_part(batch, *part, salt, fields);
        }
    }
    let hashes: Vec<PartHash> = batch.digests().collect();
    let write = |hashes: &[PartHash], message: &mut Vec<u8>| write_parts(log, hashes, message);
    let prefixes = batch.prefixes(hashes.chunks(EventPart::COUNT), write);
    for (prefix, (fields, _)) in prefixes.iter().zip(events) {
        batch.add_after(prefix, |message| {
            write_lines(&EventPart::OPEN_FIELDS, fields, message)
        });
    }
    let contents = batch.digests().map(ContentHash::from_bytes);
    prefixes.into_iter().map(PartsHash).zip(contents).collect()
}

/// Adds the message whose digest is the hash of a part.
fn add_part(batch: &mut Batch, part: EventPart, salt: &PartSalt, fields: &FieldTexts<'_>) {
    batch.add(|message| {
        message.push(PART);
        message.extend_from_slice(salt);
        message.push(part as u8);
        write_lines(part.fields(), fields, message);
    });
}

/// Writes the beginning of what is hashed to the content hash.
fn write_parts(log: &LogName, hashes: &[PartHash], message: &mut Vec<u8>) {
    message.push(CONTENT);
    message.extend_from_slice(log.as_str().as_bytes());
    message.push(b'\n');
    message.extend_from_slice(hashes.as_flattened());
}

/// Writes the values of fields that are hashed together.
fn write_lines(hashed: &[EventField], fields: &FieldTexts<'_>, message: &mut Vec<u8>) {
    for (index, field) in hashed.iter().enumerate() {
        let value = fields.get(*field);
        if field.is_appended() && value.is_empty() {
            continue;
        }
        if index > 0 {
            message.push(b'\n');
        }
        message.extend_from_slice(value.as_bytes());
    }
}

impl fmt::Debug for PartsHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("PartsHash(…)")
    }
}

#[cfg(test)]
mod tests;
