//! Columns that several tables share.

use crate::append::idempotency::{KeyHash, KnownEvent};
use crate::error::{Result, StoreError};
use crate::row_code::{CodedRow, RowCodes};
use audit_domain::{ContentHash, EventId, Month, SentDigest, StoredSalt};
use audit_ledger::Frontier;
use std::fmt::Display;
use std::str::FromStr;

/// Parses a stored value.
pub(crate) fn stored<T: FromStr>(text: &str, what: &'static str) -> Result<T> {
    text.parse().map_err(|_| StoreError::Damaged { what })
}

/// Parses a stored value, if there is one.
pub(crate) fn stored_if_some<T: FromStr>(text: Option<&str>, what: &'static str) -> Result<Option<T>> {
    text.map(|text| stored(text, what)).transpose()
}

/// Writes a list of values as one text.
pub(crate) fn write_list<T: Display>(items: &[T]) -> String {
    serde_json::Value::from(items.iter().map(ToString::to_string).collect::<Vec<_>>()).to_string()
}

/// Reads the text of [`write_list`].
pub(crate) fn read_list<T: FromStr>(text: &str, what: &'static str) -> Result<Vec<T>> {
    let words: Vec<String> = serde_json::from_str(text).map_err(|_| StoreError::Damaged { what })?;
    words.iter().map(|word| stored(word, what)).collect()
}

/// Reads the column of an event's id.
pub(crate) fn read_id(bytes: Vec<u8>) -> Result<EventId> {
    bytes
        .try_into()
        .map(EventId::from_bytes)
        .map_err(|_| StoreError::Damaged { what: "event id" })
}

/// Reads the columns of an event's content hash and of its salt.
pub(crate) fn read_hash(hash: Vec<u8>, salt: &[u8]) -> Result<(ContentHash, StoredSalt)> {
    match (hash.try_into(), StoredSalt::read(salt)) {
        (Ok(hash), Some(salt)) => Ok((ContentHash::from_bytes(hash), salt)),
        _ => Err(StoreError::Damaged { what: "content hash" }),
    }
}

/// The columns of an event by which a repeat is recognized.
#[derive(Debug)]
pub(crate) struct KeyColumns {
    pub(crate) id: Vec<u8>,
    pub(crate) sent_digest: Option<Vec<u8>>,
    pub(crate) redacted: bool,
    pub(crate) sender: Option<i64>,
    pub(crate) row_code: Vec<u8>,
}

impl KeyColumns {
    /// The event; none where the service did not write the row.
    pub(crate) fn event(
        self,
        codes: &RowCodes,
        log: &str,
        month: Month,
        hash: &KeyHash,
    ) -> Option<KnownEvent> {
        let row = CodedRow {
            log,
            id: &self.id,
            month,
            idempotency_hash: Some(hash),
            sent_digest: self.sent_digest.as_deref(),
            redacted: self.redacted,
            sender: self.sender,
        };
        if !codes.verifies(&row, &self.row_code) {
            return None;
        }
        Some(KnownEvent {
            id: read_id(self.id).ok()?,
            digest: read_digest(self.sent_digest?).ok()?,
        })
    }
}

/// Reads the column of the digest of an event as it was sent.
pub(crate) fn read_digest(bytes: Vec<u8>) -> Result<SentDigest> {
    bytes
        .try_into()
        .map(SentDigest::from_bytes)
        .map_err(|_| StoreError::Damaged { what: "digest" })
}

/// Decodes the right edge of a tree.
pub(crate) fn read_frontier(bytes: Option<&[u8]>) -> Result<Frontier> {
    match bytes {
        Some(bytes) => Frontier::decode(bytes).map_err(|_| StoreError::Damaged {
            what: "edge of a tree",
        }),
        None => Ok(Frontier::new()),
    }
}
