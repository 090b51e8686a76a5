//! The hashes of the tree: RFC 6962 §2.1 and, identically, RFC 9162 §2.1.1.

use audit_domain::ContentHash;
use audit_sha256::Batch;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::fmt;
use std::str::FromStr;

/// The hash of a leaf, of an inner node or of a whole tree. Its text is base64 (RFC 4648 §4), as in checkpoints and proofs.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hash([u8; Self::BYTES]);

/// The text is not 32 bytes in base64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be {} bytes in base64, with padding and nothing around it", Hash::BYTES)]
pub struct HashTextError;

impl Hash {
    /// Length of a hash.
    pub const BYTES: usize = 32;

    /// Leaves and nodes are hashed with different prefixes, so that a node cannot be presented as a leaf.
    const LEAF_PREFIX: u8 = 0;
    const NODE_PREFIX: u8 = 1;

    /// The hash with these bytes.
    pub const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// The bytes of the hash.
    pub const fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }

    /// The root of the empty tree: the SHA-256 of the empty string.
    pub fn of_empty_tree() -> Self {
        Self(audit_sha256::digest(&[]))
    }

    /// The hash of a leaf with the given data.
    pub fn of_leaf(data: &[u8]) -> Self {
        Self(audit_sha256::digest(&[&[Self::LEAF_PREFIX], data]))
    }

    /// The hash of an event's leaf. The leaf data are the 32 bytes of the event's content hash.
    pub fn of_event(content_hash: &ContentHash) -> Self {
        Self::of_leaf(content_hash.as_bytes())
    }

    /// The hashes of the leaves of several events, in their order. They are computed together, which takes less time than one after the
    /// other.
    pub fn of_events(content_hashes: impl IntoIterator<Item = ContentHash>) -> Vec<Self> {
        let mut batch = Batch::default();
        for content_hash in content_hashes {
            batch.add(|message| {
                message.push(Self::LEAF_PREFIX);
                message.extend_from_slice(content_hash.as_bytes());
            });
        }
        batch.digests().map(Self).collect()
    }

    /// The hashes of the nodes over each two adjacent hashes, computed together.
    pub(crate) fn of_nodes(hashes: &[Self]) -> Vec<Self> {
        let (pairs, _) = hashes.as_chunks();
        if let [[left, right]] = pairs {
            return vec![Self::of_node(left, right)];
        }
        let mut batch = Batch::with_capacity(2 * pairs.len());
        for [left, right] in pairs {
            batch.add(|message| {
                message.push(Self::NODE_PREFIX);
                message.extend_from_slice(&left.0);
                message.extend_from_slice(&right.0);
            });
        }
        batch.digests().map(Self).collect()
    }

    /// The hash of the node over `left` and `right`.
    pub fn of_node(left: &Self, right: &Self) -> Self {
        Self(audit_sha256::digest(&[&[Self::NODE_PREFIX], &left.0, &right.0]))
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&STANDARD.encode(self.0))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Hash({self})")
    }
}

impl FromStr for Hash {
    type Err = HashTextError;

    fn from_str(text: &str) -> Result<Self, HashTextError> {
        // Checking the length first bounds the input to the decoder.
        const TEXT_BYTES: usize = Hash::BYTES.div_ceil(3) * 4;
        if text.len() != TEXT_BYTES {
            return Err(HashTextError);
        }
        let bytes = STANDARD.decode(text).map_err(|_| HashTextError)?;
        bytes.try_into().map(Self).map_err(|_| HashTextError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hashes_of_the_empty_tree_and_the_empty_leaf_agree_with_the_rfc() {
        let hex = |hash: Hash| base16ct::lower::encode_string(hash.as_bytes());
        assert_eq!(
            hex(Hash::of_empty_tree()),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        assert_eq!(
            hex(Hash::of_leaf(b"")),
            "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
        );
    }

    #[test]
    fn the_leaf_data_of_an_event_are_its_content_hash() {
        let content_hash = ContentHash::from_bytes([7; 32]);
        assert_eq!(Hash::of_event(&content_hash), Hash::of_leaf(&[7; 32]));
        for events in [0, 1, 9] {
            let events = (0..events).map(|event| ContentHash::from_bytes([event; 32]));
            let leaves: Vec<_> = events.clone().map(|event| Hash::of_event(&event)).collect();
            assert_eq!(Hash::of_events(events), leaves);
        }
    }

    #[test]
    fn a_hash_has_one_encoding() {
        let hash = Hash::from_bytes([0xFF; 32]);
        let text = hash.to_string();
        assert_eq!(text.parse(), Ok(hash));
        let url_safe = text.replace('/', "_");
        let other_padding_bits = text.replace("8=", "9=");
        assert_ne!(other_padding_bits, text);
        for other in [
            url_safe.as_str(),
            &other_padding_bits,
            text.trim_end_matches('='),
            &format!("{text}\n"),
            &format!("{}\n", &text[..43]),
            "",
        ] {
            assert_eq!(other.parse::<Hash>(), Err(HashTextError), "{other:?}");
        }
    }
}
