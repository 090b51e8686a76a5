//! Hashes of the values that a rule counts once each.

use crate::group::DistinctField;
use audit_domain::write_with_length;
use sha2::{Digest, Sha256};

/// The first 64 bits of a SHA-256 over a key, a field and a value of it: a state knows values again without holding them. Of 500 values
/// two have the same hash with a probability below 10⁻¹⁴; they then count as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValueHash([u8; Self::BYTES]);

impl ValueHash {
    /// The length of the hash.
    pub const BYTES: usize = 8;

    /// The hash of a value of the field.
    pub fn of(key: &str, field: DistinctField, value: &str) -> Self {
        let mut hasher = Sha256::new();
        for part in [key, field.as_str(), value] {
            write_with_length(part.as_bytes(), |bytes| hasher.update(bytes));
        }
        Self(first_bytes(hasher))
    }

    /// The hash from its stored bytes.
    pub const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    pub(crate) const fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }
}

/// The first bytes of a finished SHA-256.
pub(crate) fn first_bytes<const N: usize>(hasher: Sha256) -> [u8; N] {
    let digest: [u8; 32] = hasher.finalize().into();
    std::array::from_fn(|index| digest[index])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_key_field_or_value_has_another_hash() {
        let hash = ValueHash::of("key", DistinctField::ActorId, "u1");
        assert_eq!(hash, ValueHash::of("key", DistinctField::ActorId, "u1"));
        assert_ne!(hash, ValueHash::of("other", DistinctField::ActorId, "u1"));
        assert_ne!(hash, ValueHash::of("key", DistinctField::SessionId, "u1"));
        assert_ne!(hash, ValueHash::of("key", DistinctField::ActorId, "u2"));
        assert_eq!(ValueHash::from_bytes(*hash.as_bytes()), hash);
    }
}
