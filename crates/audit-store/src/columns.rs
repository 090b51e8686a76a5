//! Columns that several tables share.

use crate::error::{Result, StoreError};
use audit_domain::{ContentHash, ContentSalt, EventId, SentDigest};

/// Reads the column of an event's id.
pub(crate) fn read_id(bytes: Vec<u8>) -> Result<EventId> {
    bytes
        .try_into()
        .map(EventId::from_bytes)
        .map_err(|_| StoreError::Damaged { what: "event id" })
}

/// Reads the columns of an event's content hash and of its salt.
pub(crate) fn read_hash(hash: Vec<u8>, salt: Vec<u8>) -> Result<(ContentHash, ContentSalt)> {
    match (hash.try_into(), salt.try_into()) {
        (Ok(hash), Ok(salt)) => Ok((ContentHash::from_bytes(hash), ContentSalt::from_bytes(salt))),
        _ => Err(StoreError::Damaged { what: "content hash" }),
    }
}

/// Reads the column of the digest of an event as it was sent.
pub(crate) fn read_digest(bytes: Vec<u8>) -> Result<SentDigest> {
    bytes
        .try_into()
        .map(SentDigest::from_bytes)
        .map_err(|_| StoreError::Damaged { what: "digest" })
}
