//! Records of what was removed: with them the tree, its entries and the map of tenants are computed as before.

mod check;
mod gone;

pub use check::{RemovalCheck, RemovalProblem, RemovalReport};

use crate::{Hash, TenantLabel, TileId};
use audit_domain::{ContentHash, LogName, PartMask, words};
use sha2::{Digest, Sha256};

words! {
    /// What removes events.
    pub enum RemovalKind {
        /// The policy of the log.
        Retention = "retention",
        /// A request to erase a person.
        Erasure = "erasure",
    }
}

/// What stays of an event of which something was removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemovalRecord {
    /// Its position in the log.
    pub seq: u64,
    /// What goes.
    pub mask: PartMask,
    /// Its content hash.
    pub content_hash: ContentHash,
    /// The position of its tenant in the map.
    pub slot: u64,
}

impl RemovalRecord {
    /// Bytes of an encoded record: offset in its tile (u8), mask (u16), content hash (32 bytes), slot (u64); big endian.
    pub const BYTES: usize = 43;

    /// The hash of its leaf in the log.
    pub fn leaf(&self) -> Hash {
        Hash::of_event(&self.content_hash)
    }
}

/// Events of a tile of the log.
const TILE_EVENTS: u64 = TileId::WIDTH_MAX as u64;

/// Encodes records of one tile, in ascending order.
pub fn encode_records(records: &[RemovalRecord]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(records.len() * RemovalRecord::BYTES);
    for record in records {
        bytes.push((record.seq % TILE_EVENTS) as u8);
        bytes.extend_from_slice(&record.mask.bits().to_be_bytes());
        bytes.extend_from_slice(record.content_hash.as_bytes());
        bytes.extend_from_slice(&record.slot.to_be_bytes());
    }
    bytes
}

/// Decodes the output of [`encode_records`] for this tile. `None` where the bytes are not an encoding.
pub fn decode_records(tile_index: u64, bytes: &[u8]) -> Option<Vec<RemovalRecord>> {
    let first = tile_index.checked_mul(TILE_EVENTS)?;
    let (chunks, rest) = bytes.as_chunks::<{ RemovalRecord::BYTES }>();
    let decode = |chunk: &[u8; RemovalRecord::BYTES]| {
        let (offset, chunk) = chunk.split_first()?;
        let (mask, chunk) = chunk.split_first_chunk()?;
        let (content_hash, slot) = chunk.split_first_chunk()?;
        Some(RemovalRecord {
            seq: first + u64::from(*offset),
            mask: PartMask::from_bits(u16::from_be_bytes(*mask))?,
            content_hash: ContentHash::from_bytes(*content_hash),
            slot: u64::from_be_bytes(slot.try_into().ok()?),
        })
    };
    let records: Vec<RemovalRecord> = chunks.iter().map(decode).collect::<Option<_>>()?;
    (rest.is_empty() && records.is_sorted_by(|one, next| one.seq < next.seq)).then_some(records)
}

/// The digest by which an event of the log commits to all records of a removal.
///
/// ```text
/// SHA-256("audit removal 1\n" ‖ kind ‖ "\n" ‖ log ‖ "\n" ‖ records in ascending order)
/// record = position: u64 ‖ mask: u16 ‖ content hash: 32 bytes ‖ label of the tenant: 32 bytes, big endian
/// ```
#[derive(Clone)]
pub struct RemovalDigest(Sha256);

impl RemovalDigest {
    /// The digest of no records.
    pub fn new(kind: RemovalKind, log: &LogName) -> Self {
        let digest = Sha256::new().chain_update(b"audit removal 1\n");
        let digest = digest.chain_update(kind.as_str()).chain_update(b"\n");
        Self(digest.chain_update(log.as_str()).chain_update(b"\n"))
    }

    /// Adds the next record. The label is that of its tenant.
    pub fn add(&mut self, record: &RemovalRecord, label: &TenantLabel) {
        self.0.update(record.seq.to_be_bytes());
        self.0.update(record.mask.bits().to_be_bytes());
        self.0.update(record.content_hash.as_bytes());
        self.0.update(label.as_bytes());
    }

    /// The digest.
    pub fn finish(self) -> Hash {
        Hash::from_bytes(self.0.finalize().into())
    }
}

#[cfg(test)]
mod tests;
