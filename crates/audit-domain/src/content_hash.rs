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
use serde_json::{Map, Value, json};
use sha2::block_api::compress256;
use sha2::{Digest, Sha256};
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

    /// The salts of the parts, in their order.
    fn part_salts(&self, message: &mut Message) -> [PartSalt; EventPart::COUNT] {
        let mut salts = [[0; Self::BYTES]; EventPart::COUNT];
        for (index, salts) in (0..).zip(salts.chunks_mut(2)) {
            message.begin(SALTS);
            message.extend(&self.0);
            message.extend(&[index]);
            let digest = message.digest();
            for (salt, half) in salts.iter_mut().zip(digest.as_chunks().0) {
                *salt = *half;
            }
        }
        salts
    }
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
        let fields = FieldRanges::find(canonical)?.of(canonical);
        let mut message = Message::with_capacity(canonical.len());
        let mut proofs = salt.part_salts(&mut message).map(PartProof::Salt);
        for (proof, part) in proofs.iter_mut().zip(EventPart::ALL) {
            if let PartProof::Salt(salt) = proof
                && is_hidden(*part)
            {
                *proof = PartProof::Hash(message.part_hash(*part, salt, &fields));
            }
        }
        Some(Self(proofs))
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
        let fields = FieldRanges::find(canonical)?.of(canonical);
        Some(PartsHash::new(&fields, salt, log).content_hash(&fields))
    }

    /// The content hash that a reader computes from the parts that it sees and the proofs of all parts. The members of `event` that are
    /// not hashed do not matter.
    pub fn of_visible(event: &Map<String, Value>, proofs: &PartProofs, log: &LogName) -> Self {
        let visible = VisibleTexts::of(event);
        let fields = visible.texts();
        let mut message = Message::with_capacity(0);
        let mut hash = PartsHash::begin(log);
        for (part, proof) in EventPart::ALL.iter().zip(&proofs.0) {
            let part_hash = match proof {
                PartProof::Salt(salt) => message.part_hash(*part, salt, &fields),
                PartProof::Hash(part_hash) => *part_hash,
            };
            hash.0.update(part_hash);
        }
        hash.content_hash(&fields)
    }
}

/// A content hash of which the parts have been hashed, and the open fields not yet. These contain what the service writes last: id and
/// time.
#[derive(Clone)]
pub(crate) struct PartsHash(Sha256);

impl PartsHash {
    /// Hashes the parts of an event.
    pub(crate) fn new(fields: &FieldTexts<'_>, salt: &ContentSalt, log: &LogName) -> Self {
        let mut message = Message::with_capacity(1_024);
        let mut hashes = [[0; 32]; EventPart::COUNT];
        let salts = salt.part_salts(&mut message);
        for ((hash, part), salt) in hashes.iter_mut().zip(EventPart::ALL).zip(&salts) {
            *hash = message.part_hash(*part, salt, fields);
        }
        let mut hash = Self::begin(log);
        hash.0.update(hashes.as_flattened());
        hash
    }

    fn begin(log: &LogName) -> Self {
        let mut hash = Sha256::new_with_prefix([CONTENT]);
        hash.update(log.as_str());
        hash.update("\n");
        Self(hash)
    }

    /// The content hash with these open fields.
    pub(crate) fn content_hash(&self, fields: &FieldTexts<'_>) -> ContentHash {
        let mut hash = self.0.clone();
        write_lines(&EventPart::OPEN_FIELDS, fields, |text| hash.update(text));
        ContentHash::from_bytes(hash.finalize().into())
    }
}

/// Writes the values of fields that are hashed together.
fn write_lines(hashed: &[EventField], fields: &FieldTexts<'_>, mut write: impl FnMut(&str)) {
    for (index, field) in hashed.iter().enumerate() {
        let value = fields.get(*field);
        if field.is_appended() && value.is_empty() {
            continue;
        }
        if index > 0 {
            write("\n");
        }
        write(value);
    }
}

impl fmt::Debug for PartsHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("PartsHash(…)")
    }
}

/// The messages of short digests, one after the other in the same memory. Seventeen of them are most of the cost of a content hash: with
/// [`Sha256`], which buffers and pads each block, they take a fifth longer.
struct Message(Vec<u8>);

impl Message {
    /// The state before the first block (FIPS 180-4 §5.3.3).
    const FIRST_STATE: [u32; 8] = [
        0x6a09_e667,
        0xbb67_ae85,
        0x3c6e_f372,
        0xa54f_f53a,
        0x510e_527f,
        0x9b05_688c,
        0x1f83_d9ab,
        0x5be0_cd19,
    ];
    const BLOCK_BYTES: usize = 64;

    fn with_capacity(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes + 2 * Self::BLOCK_BYTES))
    }

    fn begin(&mut self, prefix: u8) {
        self.0.clear();
        self.0.push(prefix);
    }

    fn extend(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// The hash of a part.
    fn part_hash(&mut self, part: EventPart, salt: &PartSalt, fields: &FieldTexts<'_>) -> PartHash {
        self.begin(PART);
        self.extend(salt);
        self.extend(&[part as u8]);
        write_lines(part.fields(), fields, |text| self.extend(text.as_bytes()));
        self.digest()
    }

    /// The SHA-256 of the message.
    fn digest(&mut self) -> [u8; 32] {
        let bits = self.0.len() as u64 * 8;
        self.0.push(0x80);
        let length_at = (self.0.len() + 8).next_multiple_of(Self::BLOCK_BYTES) - 8;
        self.0.resize(length_at, 0);
        self.extend(&bits.to_be_bytes());
        let mut state = Self::FIRST_STATE;
        compress256(&mut state, self.0.as_chunks().0);
        let mut digest = [0; 32];
        for (bytes, word) in digest.as_chunks_mut().0.iter_mut().zip(state) {
            *bytes = word.to_be_bytes();
        }
        digest
    }
}

#[cfg(test)]
mod tests;
