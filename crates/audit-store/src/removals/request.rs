//! What an erasure needs before its plan is in the log: a column of its row in `removals`.

use audit_domain::{Basis, Extent, Sha256Digest, Timestamp, canonical};
use serde_json::{Value, json};

/// A request to erase a person, without the identifiers: these are in the memory of one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErasureRequest {
    /// `ers_…`.
    pub id: String,
    /// What of each event goes.
    pub extent: Extent,
    /// The legal ground.
    pub basis: Basis,
    /// The operator's reference.
    pub ticket: Option<String>,
    /// When it was requested.
    pub created_at: Timestamp,
    /// The id of the key that requested it.
    pub created_by: String,
    /// Position of the newest lifecycle event whose holds the list respects.
    pub lifecycle_seq: Option<u64>,
    /// Events that match and that a hold keeps.
    pub held: u64,
    /// Whole rows among the records.
    pub rows: u64,
    /// Of the records. `None` while the log is read.
    pub digest: Option<Sha256Digest>,
}

impl ErasureRequest {
    /// The text of the column: canonical JSON. `created_at` is in microseconds.
    pub(super) fn to_text(&self) -> String {
        let Self {
            id,
            extent,
            basis,
            ticket,
            created_at,
            created_by,
            lifecycle_seq,
            held,
            rows,
            digest,
        } = self;
        canonical::to_string(&json!({
            "id": id,
            "extent": extent.as_str(),
            "basis": basis.as_str(),
            "ticket": ticket,
            "created_at": created_at.as_micros(),
            "created_by": created_by,
            "lifecycle_seq": lifecycle_seq,
            "held": held,
            "rows": rows,
            "digest": digest.map(|digest| digest.to_string()),
        }))
    }

    /// Reads the text of the column; `None` where it is not one that [`Self::to_text`] writes.
    pub(super) fn read(text: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(text).ok()?;
        let text_of = |name: &str| value[name].as_str();
        let read = Self {
            id: text_of("id")?.to_owned(),
            extent: text_of("extent")?.parse().ok()?,
            basis: text_of("basis")?.parse().ok()?,
            ticket: text_of("ticket").map(str::to_owned),
            created_at: Timestamp::from_micros(value["created_at"].as_i64()?),
            created_by: text_of("created_by")?.to_owned(),
            lifecycle_seq: value["lifecycle_seq"].as_u64(),
            held: value["held"].as_u64()?,
            rows: value["rows"].as_u64()?,
            digest: text_of("digest").map(str::parse).transpose().ok()?,
        };
        (read.to_text() == text).then_some(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_as_written() {
        let whole = ErasureRequest {
            id: "ers_1".to_owned(),
            extent: Extent::Person,
            basis: Basis::Gdpr17,
            ticket: Some("DPO-7".to_owned()),
            created_at: Timestamp::from_micros(1_768_473_000_123_456),
            created_by: "key".to_owned(),
            lifecycle_seq: Some(0),
            held: 1,
            rows: 2,
            digest: Some(Sha256Digest::from_bytes([7; 32])),
        };
        let listing = ErasureRequest {
            ticket: None,
            lifecycle_seq: None,
            digest: None,
            ..whole.clone()
        };
        for request in [whole, listing] {
            let text = request.to_text();
            assert_eq!(ErasureRequest::read(&text), Some(request));
            for other in [
                text.replace("ers_1", "ers_1\",\"x\":\""),
                text.replace("person", "everything"),
                text.replace(":2", ":\"2\""),
            ] {
                assert_ne!(other, text);
                assert_eq!(ErasureRequest::read(&other), None, "{other}");
            }
        }
    }
}
