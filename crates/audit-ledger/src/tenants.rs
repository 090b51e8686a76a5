//! The logs of tenants, and the map that commits to all of them.
//!
//! The events of one tenant, in the order of the log, are the leaves of a Merkle tree of their own (RFC 6962): the tenant's log.
//! The map is a binary Merkle tree of depth [`MAP_DEPTH`]. The leaf of a tenant is at the position that its [`TenantLabel`]
//! selects, and commits to the label, size and root of the tenant's log. An empty subtree has a pseudo-random hash, which only a
//! holder of the [`TenantMapKey`] can tell from that of a subtree with tenants. So every path has the same length and
//! reveals neither other tenants nor their number. With the key, the map is a function of the events: auditors recompute it.

mod map;
mod note;
mod proof;
mod replay;

use crate::{Hash, HashTextError, TreeHead};
pub use map::{BUCKET_DEPTH, MAP_DEPTH, MapError, MapPart, MapTile, MapTileId, TenantPath};
pub use note::{SignedTenantMap, TenantMapHead, TenantMapNoteError};
pub use proof::{CompletenessError, TenantProof};
pub use replay::{TenantLogs, TenantMapReplay};
use ring::hmac;
use sha2::{Digest, Sha256};
use std::fmt;

/// The secret of the map of one log. Auditors have it, viewers do not. `Debug` hides it.
#[derive(Clone)]
pub struct TenantMapKey {
    bytes: [u8; Self::BYTES],
    key: hmac::Key,
}

/// What blinds one tenant's position in the map. Only the tenant's viewers and auditors have it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TenantSalt([u8; Self::BYTES]);

/// The blinded name of a tenant: SHA-256 over its salt and its id. Its first 64 bits are its position in the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TenantLabel([u8; Self::BYTES]);

impl TenantMapKey {
    /// Length in bytes.
    pub const BYTES: usize = 32;

    /// The key with these bytes.
    pub fn new(bytes: [u8; Self::BYTES]) -> Self {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &bytes);
        Self { bytes, key }
    }

    /// The key of the log with this name, derived from a secret of its deployment.
    pub fn of_log(secret: &[u8; Self::BYTES], name: &str) -> Self {
        let secret = hmac::Key::new(hmac::HMAC_SHA256, secret);
        Self::new(tag(&secret, &[b"audit tenant map 1\n", name.as_bytes()]))
    }

    /// The salt of a tenant.
    pub fn salt(&self, tenant_id: &str) -> TenantSalt {
        TenantSalt(tag(&self.key, &[b"salt\n", tenant_id.as_bytes()]))
    }

    /// The label of a tenant.
    pub fn label(&self, tenant_id: &str) -> TenantLabel {
        TenantLabel::of(&self.salt(tenant_id), tenant_id)
    }

    /// Binds a map to the size of the log that it was computed from, without revealing the size.
    pub fn binding(&self, size: u64) -> Hash {
        Hash::from_bytes(tag(&self.key, &[b"size\n", &size.to_be_bytes()]))
    }

    /// The hash of the empty subtree at this position.
    fn empty(&self, depth: u8, prefix: u64) -> Hash {
        Hash::from_bytes(tag(&self.key, &[b"empty\n", &[depth], &prefix.to_be_bytes()]))
    }
}

impl TenantMapKey {
    /// Its bytes in base64.
    pub fn to_base64(&self) -> String {
        Hash::from_bytes(self.bytes).to_string()
    }

    /// Parses the output of [`Self::to_base64`].
    ///
    /// # Errors
    /// [`HashTextError`] if the text is not 32 bytes in base64.
    pub fn from_base64(text: &str) -> Result<Self, HashTextError> {
        text.parse().map(|bytes: Hash| Self::new(*bytes.as_bytes()))
    }
}

impl fmt::Debug for TenantMapKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("TenantMapKey(…)")
    }
}

impl TenantSalt {
    /// Length in bytes.
    pub const BYTES: usize = 32;
}

impl TenantSalt {
    /// Its bytes in base64.
    pub fn to_base64(&self) -> String {
        Hash::from_bytes(self.0).to_string()
    }

    /// Parses the output of [`Self::to_base64`].
    ///
    /// # Errors
    /// [`HashTextError`] if the text is not 32 bytes in base64.
    pub fn from_base64(text: &str) -> Result<Self, HashTextError> {
        text.parse().map(|bytes: Hash| Self(*bytes.as_bytes()))
    }
}

impl fmt::Debug for TenantSalt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("TenantSalt(…)")
    }
}

impl TenantLabel {
    /// Length in bytes.
    pub const BYTES: usize = 32;

    /// The label of a tenant with this salt.
    pub fn of(salt: &TenantSalt, tenant_id: &str) -> Self {
        let hasher = Sha256::new().chain_update(b"audit tenant 1\n");
        Self(
            hasher
                .chain_update(salt.0)
                .chain_update(tenant_id)
                .finalize()
                .into(),
        )
    }

    /// The label with these bytes.
    pub const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }

    /// The position in the map.
    pub const fn slot(&self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        u64::from_be_bytes([a, b, c, d, e, f, g, h])
    }

    /// The leaf of the tenant in the map, while its log has this head.
    pub fn leaf(&self, head: &TreeHead) -> Hash {
        let mut data = [0; 72];
        data[..32].copy_from_slice(&self.0);
        data[32..40].copy_from_slice(&head.size.to_be_bytes());
        data[40..].copy_from_slice(head.root.as_bytes());
        Hash::of_leaf(&data)
    }
}

/// Writes the label in hexadecimal digits.
impl fmt::Display for TenantLabel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

fn tag(key: &hmac::Key, parts: &[&[u8]]) -> [u8; 32] {
    let mut context = hmac::Context::with_key(key);
    for part in parts {
        context.update(part);
    }
    let mut bytes = [0; 32];
    bytes.copy_from_slice(context.sign().as_ref());
    bytes
}

#[cfg(test)]
mod tests;
