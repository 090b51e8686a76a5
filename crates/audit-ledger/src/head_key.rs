//! The code that authenticates the head of a log in the database of its service.

use audit_domain::write_with_length;
use audit_sha256::{BLOCK_BYTES, Batch, Digest, Prefix};
use ring::hmac;
use std::fmt;
use zeroize::Zeroizing;

/// The key of the codes. It is not in the database, or only encrypted, so only the service can write a head. `Debug` hides it, and
/// its memory is zeroed when it is dropped.
#[derive(Clone)]
pub struct HeadKey {
    bytes: Zeroizing<Vec<u8>>,
    id: HeadKeyId,
}

/// Names a [`HeadKey`] without telling anything of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadKeyId([u8; Self::BYTES]);

/// Computes the codes of many records of one kind. It is not kept: it has the key, and does not zero it.
#[derive(Clone)]
pub struct RecordCodes {
    /// The beginnings of the two messages of HMAC (RFC 2104 §2), each with the block of the key; the inner with the context, too.
    inner: Prefix,
    outer: Prefix,
}

impl RecordCodes {
    fn new(key: &[u8], context: &str) -> Self {
        const INNER_PAD: u8 = 0x36;
        const OUTER_PAD: u8 = 0x5c;
        let prefix = |pad: u8, context: &[u8]| {
            let block: [u8; BLOCK_BYTES] =
                std::array::from_fn(|index| pad ^ key.get(index).copied().unwrap_or_default());
            Prefix::of(&[&block, context])
        };
        Self {
            inner: prefix(INNER_PAD, format!("{context}\n").as_bytes()),
            outer: prefix(OUTER_PAD, &[]),
        }
    }

    /// The code of a record, which `write` appends, as [`HeadKey::code_of_record`] computes it.
    pub fn code(&self, write: impl FnOnce(&mut Vec<u8>)) -> [u8; HeadKey::CODE_BYTES] {
        let inner = self.inner.digest(write);
        self.outer.digest(|message| message.extend_from_slice(&inner))
    }

    /// The codes of records, each of which `write` appends, in their order. Together they take less time.
    pub fn codes<T>(
        &self,
        records: impl IntoIterator<Item = T>,
        write: impl Fn(T, &mut Vec<u8>),
    ) -> impl Iterator<Item = [u8; HeadKey::CODE_BYTES]> {
        let mut batch = Batch::default();
        for record in records {
            batch.add_after(&self.inner, |message| write(record, message));
        }
        let inner: Vec<Digest> = batch.digests().collect();
        for digest in &inner {
            batch.add_after(&self.outer, |message| message.extend_from_slice(digest));
        }
        batch.digests().collect::<Vec<_>>().into_iter()
    }
}

impl fmt::Debug for RecordCodes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("RecordCodes(…)")
    }
}

/// The columns of a head: what the next append and the next signature continue from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SealedHead<'a> {
    /// The number of the ledger.
    pub ledger_id: i64,
    /// Project and environment.
    pub name: &'a str,
    /// The number of events.
    pub size: i64,
    /// The encoded frontier, which determines the root; empty before the first event.
    pub frontier: &'a [u8],
    /// The position of the latest lifecycle event.
    pub lifecycle: Option<i64>,
    /// The latest event id and time of receipt.
    pub last: Option<([u8; 16], i64)>,
}

impl HeadKey {
    /// Length in bytes.
    pub const BYTES: usize = 32;
    /// Length of a code in bytes.
    pub const CODE_BYTES: usize = 32;

    /// The key with these bytes.
    pub fn new(bytes: &[u8; Self::BYTES]) -> Self {
        let bytes = Zeroizing::new(bytes.to_vec());
        let mut key = Self {
            bytes,
            id: HeadKeyId([0; HeadKeyId::BYTES]),
        };
        let digest = hmac::sign(&key.hmac(), b"audit head key id");
        key.id.0.copy_from_slice(&digest.as_ref()[..HeadKeyId::BYTES]);
        key
    }

    /// For one code: `ring` does not zero its keys.
    fn hmac(&self) -> hmac::Key {
        hmac::Key::new(hmac::HMAC_SHA256, &self.bytes)
    }

    /// Its id.
    pub const fn id(&self) -> HeadKeyId {
        self.id
    }

    /// The code of a head: HMAC-SHA256 over all its columns, each of which has a fixed length or its length before it.
    ///
    /// ```
    /// use audit_ledger::{HeadKey, SealedHead};
    ///
    /// let head = SealedHead { ledger_id: 1, name: "project/live", size: 0, frontier: &[], lifecycle: None, last: None };
    /// let key = HeadKey::new(&[7; 32]);
    /// let code = key.code(&head);
    /// assert!(key.verifies(&head, &code));
    /// assert!(!key.verifies(&SealedHead { size: 1, ..head }, &code));
    /// assert!(!HeadKey::new(&[8; 32]).verifies(&head, &code));
    /// ```
    pub fn code(&self, head: &SealedHead<'_>) -> [u8; Self::CODE_BYTES] {
        let tag = hmac::sign(&self.hmac(), &head.encode());
        let mut code = [0; Self::CODE_BYTES];
        code.copy_from_slice(tag.as_ref());
        code
    }

    /// The code of another record that only the service writes: HMAC-SHA256 over the context, a line feed and the record. `context`
    /// separates the kinds of records; every field in `record` has a fixed length, or its length before it.
    pub fn code_of_record(&self, context: &str, record: &[u8]) -> [u8; Self::CODE_BYTES] {
        self.codes_of_records(context)
            .code(|message| message.extend_from_slice(record))
    }

    /// The codes of records of one kind: see [`Self::code_of_record`].
    pub fn codes_of_records(&self, context: &str) -> RecordCodes {
        RecordCodes::new(&self.bytes, context)
    }

    /// Whether this is the code of the head.
    pub fn verifies(&self, head: &SealedHead<'_>, code: &[u8]) -> bool {
        hmac::verify(&self.hmac(), &head.encode(), code).is_ok()
    }
}

impl SealedHead<'_> {
    fn encode(&self) -> Vec<u8> {
        const CONTEXT: &[u8] = b"audit head 2\n";
        let mut bytes = Vec::with_capacity(128 + self.name.len() + self.frontier.len());
        bytes.extend_from_slice(CONTEXT);
        bytes.extend_from_slice(&self.ledger_id.to_be_bytes());
        write_with_length(self.name.as_bytes(), |part| bytes.extend_from_slice(part));
        bytes.extend_from_slice(&self.size.to_be_bytes());
        write_with_length(self.frontier, |part| bytes.extend_from_slice(part));
        bytes.push(u8::from(self.lifecycle.is_some()));
        if let Some(seq) = self.lifecycle {
            bytes.extend_from_slice(&seq.to_be_bytes());
        }
        if let Some((id, received_at)) = &self.last {
            bytes.extend_from_slice(id);
            bytes.extend_from_slice(&received_at.to_be_bytes());
        }
        bytes
    }
}

impl HeadKeyId {
    /// Length in bytes.
    pub const BYTES: usize = 8;

    /// The id with these bytes.
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }
}

impl fmt::Display for HeadKeyId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", u64::from_be_bytes(self.0))
    }
}

impl fmt::Debug for HeadKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "HeadKey({})", self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_records_are_hmacs_alone_and_together() {
        let key = HeadKey::new(&std::array::from_fn(|byte| byte as u8));
        let codes = key.codes_of_records("kind 1");
        let records: Vec<Vec<u8>> = (0..200).map(|len| vec![len as u8; len]).collect();
        let expected: Vec<Vec<u8>> = records
            .iter()
            .map(|record| {
                let message = [b"kind 1\n", record.as_slice()].concat();
                hmac::sign(&key.hmac(), &message).as_ref().to_vec()
            })
            .collect();
        let alone = records.iter().map(|record| key.code_of_record("kind 1", record));
        assert!(alone.map(Vec::from).eq(expected.clone()));
        let together = codes.codes(&records, |record, message| message.extend_from_slice(record));
        assert!(together.map(Vec::from).eq(expected));
    }

    #[test]
    fn every_column_is_in_the_code() {
        let key = HeadKey::new(&[7; 32]);
        let head = SealedHead {
            ledger_id: 1,
            name: "p/live",
            size: 2,
            frontier: &[1, 2, 3],
            lifecycle: Some(1),
            last: Some(([4; 16], 5)),
        };
        let code = key.code(&head);
        assert!(key.verifies(&head, &code));
        let others = [
            SealedHead { ledger_id: 2, ..head },
            SealedHead {
                name: "p/test",
                ..head
            },
            SealedHead {
                name: "p/livf",
                ..head
            },
            SealedHead { size: 3, ..head },
            SealedHead {
                frontier: &[1, 2],
                ..head
            },
            SealedHead {
                frontier: &[1, 2, 4],
                ..head
            },
            SealedHead {
                lifecycle: None,
                ..head
            },
            SealedHead {
                lifecycle: Some(0),
                ..head
            },
            SealedHead { last: None, ..head },
            SealedHead {
                last: Some(([3; 16], 5)),
                ..head
            },
            SealedHead {
                last: Some(([4; 16], 6)),
                ..head
            },
        ];
        for other in others {
            assert!(!key.verifies(&other, &code), "{other:?}");
        }
        for wrong in [&[][..], &code[..31], &[0; 32]] {
            assert!(!key.verifies(&head, wrong));
        }
        assert_eq!(
            format!("{key:?}"),
            format!("HeadKey({})", key.id()),
            "no byte of the key"
        );
    }
}
