//! The code of an event's row: what stands beside the text, authenticated with the head key.
//!
//! The content hash covers the text alone. Whoever can write to the database could give a row the digest of a request that was not
//! sent yet: the service would take that request for a repeat, and store nothing. Or another sender, so that
//! `audit-server key trace` names another key.

use audit_domain::{Month, write_with_length};
use audit_ledger::{HeadKey, RecordCodes};
use subtle::ConstantTimeEq;

/// Separates these codes from those of other records.
const CONTEXT: &str = "audit event row 1";

/// Computes the codes of rows: the first 96 bits of HMAC-SHA256 with the head key.
#[derive(Clone, Debug)]
pub struct RowCodes(RecordCodes);

/// The code of a row.
pub(crate) type RowCode = [u8; RowCodes::BYTES];

fn first_bytes(code: [u8; HeadKey::CODE_BYTES]) -> RowCode {
    std::array::from_fn(|index| code[index])
}

/// What the code of a row covers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CodedRow<'a> {
    /// Project and environment.
    pub(crate) log: &'a str,
    /// The id, which the text has too: it binds the code to the text.
    pub(crate) id: &'a [u8],
    /// The month in which the event was stored: it decides how long its idempotency key is known.
    pub(crate) month: Month,
    pub(crate) idempotency_hash: Option<&'a [u8]>,
    pub(crate) sent_digest: Option<&'a [u8]>,
    pub(crate) redacted: bool,
    /// The number of the sender.
    pub(crate) sender: Option<i64>,
}

impl RowCodes {
    /// Length of a code in bytes.
    pub(crate) const BYTES: usize = 12;

    /// The codes with this key.
    pub fn new(key: &HeadKey) -> Self {
        Self(key.codes_of_records(CONTEXT))
    }

    /// The code of a row.
    pub(crate) fn code(&self, row: &CodedRow<'_>) -> RowCode {
        first_bytes(self.0.code(|message| row.write(message)))
    }

    /// The codes of rows, in their order: of each, `write` calls [`CodedRow::write`].
    pub(crate) fn codes<T>(
        &self,
        rows: impl IntoIterator<Item = T>,
        write: impl Fn(T, &mut Vec<u8>),
    ) -> impl Iterator<Item = RowCode> {
        self.0.codes(rows, write).map(first_bytes)
    }

    /// Whether the service wrote the row.
    pub(crate) fn verifies(&self, row: &CodedRow<'_>, code: &[u8]) -> bool {
        self.code(row).as_slice().ct_eq(code).into()
    }
}

impl CodedRow<'_> {
    /// Appends the row. Each value has its length before it, or a byte that says whether there is one.
    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        let sender = self.sender.map(i64::to_be_bytes);
        let values = [
            Some(self.log.as_bytes()),
            Some(self.id),
            self.idempotency_hash,
            self.sent_digest,
            sender.as_ref().map(<[u8; 8]>::as_slice),
        ];
        for value in values {
            bytes.push(u8::from(value.is_some()));
            write_with_length(value.unwrap_or_default(), |part| bytes.extend_from_slice(part));
        }
        bytes.extend_from_slice(&self.month.number().to_be_bytes());
        bytes.push(u8::from(self.redacted));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_in_the_code() {
        let codes = RowCodes::new(&HeadKey::new(&[7; 32]));
        let row = CodedRow {
            log: "p/live",
            id: &[1; 16],
            month: Month::from_number(600),
            idempotency_hash: Some(&[2; 16]),
            sent_digest: Some(&[3; 20]),
            redacted: false,
            sender: Some(4),
        };
        let code = codes.code(&row);
        assert!(codes.verifies(&row, &code));
        let others = [
            CodedRow { log: "p/test", ..row },
            CodedRow { id: &[2; 16], ..row },
            CodedRow {
                month: Month::from_number(601),
                ..row
            },
            CodedRow {
                idempotency_hash: Some(&[3; 16]),
                ..row
            },
            CodedRow {
                idempotency_hash: None,
                ..row
            },
            CodedRow {
                sent_digest: Some(&[2; 20]),
                ..row
            },
            CodedRow {
                sent_digest: Some(&[]),
                ..row
            },
            CodedRow {
                sent_digest: None,
                ..row
            },
            CodedRow {
                redacted: true,
                ..row
            },
            CodedRow {
                sender: Some(5),
                ..row
            },
            CodedRow { sender: None, ..row },
        ];
        for other in others {
            assert!(!codes.verifies(&other, &code), "{other:?}");
        }
        let none = CodedRow {
            sent_digest: None,
            ..row
        };
        let empty = CodedRow {
            sent_digest: Some(&[]),
            ..row
        };
        assert_ne!(codes.code(&none), codes.code(&empty));
        for wrong in [&[][..], &code[..11], &[0; 12]] {
            assert!(!codes.verifies(&row, wrong));
        }
        assert!(!RowCodes::new(&HeadKey::new(&[8; 32])).verifies(&row, &code));
    }
}
