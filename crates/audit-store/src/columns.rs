//! Columns that several tables share.

use crate::error::{Result, StoreError};
use audit_domain::{EventId, SentDigest};

/// Reads the column of an event's id.
pub(crate) fn read_id(bytes: Vec<u8>) -> Result<EventId> {
    bytes
        .try_into()
        .map(EventId::from_bytes)
        .map_err(|_| StoreError::Damaged { what: "event id" })
}

/// Reads the column of the digest of an event as it was sent.
pub(crate) fn read_digest(bytes: Vec<u8>) -> Result<SentDigest> {
    bytes
        .try_into()
        .map(SentDigest::from_bytes)
        .map_err(|_| StoreError::Damaged { what: "digest" })
}
