//! Idempotency keys as they are stored. The planner (`plan.rs`) finds a key by its hash; [`SentDigest::compare`] then decides
//! between a repeat and a conflict.

use crate::ids::LedgerId;
use audit_domain::{EventId, Month, SentDigest};
use std::collections::HashMap;

/// The identity of an idempotency key of a tenant within a ledger: the first 128 bits of the SHA-256 of tenant, NUL and key. No
/// tenant or key has a NUL.
pub(crate) type KeyHash = [u8; 16];

/// A stored idempotency key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Idempotency {
    pub(crate) hash: KeyHash,
    pub(crate) digest: SentDigest,
}

impl Idempotency {
    /// Of a tenant's key and the digest of the event as it was sent.
    pub(crate) fn of(tenant_id: &str, (key, digest): (&str, SentDigest)) -> Self {
        let hash = hash_of_key(tenant_id, key);
        Self { hash, digest }
    }
}

/// The identity of an idempotency key of a tenant.
pub(crate) fn hash_of_key(tenant_id: &str, key: &str) -> KeyHash {
    let sha256 = audit_sha256::digest(&[tenant_id.as_bytes(), &[0], key.as_bytes()]);
    let mut hash = KeyHash::default();
    hash.copy_from_slice(&sha256[..16]);
    hash
}

/// A key that is stored already.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownKey {
    /// Its event; none where the service did not write the row.
    pub(crate) event: Option<KnownEvent>,
    /// The month in which the event was stored.
    pub(crate) month: Month,
}

/// The event of a key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownEvent {
    pub(crate) id: EventId,
    pub(crate) digest: SentDigest,
}

/// Stored idempotency keys, by ledger and hash.
pub(crate) type KnownKeys = HashMap<(LedgerId, KeyHash), KnownKey>;
