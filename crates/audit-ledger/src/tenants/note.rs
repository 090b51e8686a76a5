//! The signed note of a map.
//!
//! Its text: the origin of the log and `/tenants`; the time of the signature (RFC 3339); the root of the map; the binding to the
//! size of the log, both in base64; and, where it states that a tenant has no events, `empty` and the label of the tenant. The
//! second line is not a number, so no map reads as a checkpoint, and no checkpoint as a map.

use super::TenantLabel;
use crate::key::signature_line;
use crate::note::{NoteError, SignedNote};
use crate::{Hash, Origin, SigningKey, VerifierKey};
use audit_domain::Timestamp;
use std::fmt;

/// The content of a note. `Display` writes the text that is signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantMapHead {
    /// The log.
    pub log: Origin,
    /// When it was signed: everything that was acknowledged before is in the map.
    pub signed_at: Timestamp,
    /// The root of the map.
    pub root: Hash,
    /// Binds the map to the size of the log: see [`super::TenantMapKey::binding`].
    pub binding: Hash,
    /// The tenant that has no events, in the text form of its label.
    pub empty: Option<String>,
}

/// A map with a valid signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedTenantMap {
    head: TenantMapHead,
    note: String,
}

/// A text is not a signed map of tenants.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TenantMapNoteError {
    /// The text is not a note, or the key did not sign it.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// The text has another form.
    #[error("this is not a signed map of tenants")]
    Form,
    /// The log is not one of the key's owner.
    #[error("the map is of the log {0}, which is not one of the key's owner")]
    OtherLog(String),
}

const SUFFIX: &str = "/tenants";
const EMPTY: &str = "empty ";

impl fmt::Display for TenantMapHead {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{}{SUFFIX}", self.log)?;
        writeln!(formatter, "{}\n{}\n{}", self.signed_at, self.root, self.binding)?;
        match &self.empty {
            Some(label) => writeln!(formatter, "{EMPTY}{label}"),
            None => Ok(()),
        }
    }
}

impl TenantMapHead {
    /// The origin of the log of one tenant.
    ///
    /// # Errors
    /// [`crate::CheckpointError::Origin`] when it is too long.
    pub fn tenant_origin(log: &Origin, label: &TenantLabel) -> Result<Origin, crate::CheckpointError> {
        Origin::parse(&format!("{log}{SUFFIX}/{label}"))
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.strip_suffix('\n')?.split('\n');
        let log = Origin::parse(lines.next()?.strip_suffix(SUFFIX)?).ok()?;
        let head = Self {
            log,
            signed_at: Timestamp::parse_rfc3339(lines.next()?).ok()?,
            root: lines.next()?.parse().ok()?,
            binding: lines.next()?.parse().ok()?,
            empty: match lines.next() {
                Some(line) => Some(line.strip_prefix(EMPTY)?.to_owned()),
                None => None,
            },
        };
        // One encoding for each content.
        (head.to_string() == text).then_some(head)
    }
}

impl VerifierKey {
    /// The map with a signature that was made elsewhere, such as in an HSM, over its text.
    ///
    /// # Errors
    /// [`TenantMapNoteError`] if it is not a signature of this key.
    pub fn attach_tenant_map(
        &self,
        head: &TenantMapHead,
        signature: &[u8],
    ) -> Result<SignedTenantMap, TenantMapNoteError> {
        let line = signature_line(self.name(), self.id(), signature);
        SignedTenantMap::open(&format!("{head}\n{line}"), std::slice::from_ref(self))
    }
}

impl SigningKey {
    /// Signs a map. Its caller has computed it from events that lead to a signed checkpoint.
    pub fn sign_tenant_map(&self, head: TenantMapHead) -> SignedTenantMap {
        let text = head.to_string();
        let note = format!("{text}\n{}", self.signature_line(&text));
        SignedTenantMap { head, note }
    }
}

impl SignedTenantMap {
    /// Parses and verifies the map of a log of the key's owner. The caller decides by the origin whether it is the right log.
    ///
    /// # Errors
    /// [`TenantMapNoteError`] names the check that failed.
    pub fn open(note: &str, keys: &[VerifierKey]) -> Result<Self, TenantMapNoteError> {
        let text = SignedNote::parse(note)?.verify(keys)?;
        let head = TenantMapHead::parse(text).ok_or(TenantMapNoteError::Form)?;
        let is_of = |key: &VerifierKey| {
            let rest = head.log.as_str().strip_prefix(key.name().as_str());
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        if !keys.iter().any(is_of) {
            return Err(TenantMapNoteError::OtherLog(head.log.to_string()));
        }
        Ok(Self {
            head,
            note: note.to_owned(),
        })
    }

    /// The content.
    pub const fn head(&self) -> &TenantMapHead {
        &self.head
    }

    /// The note with its signature.
    pub fn note(&self) -> &str {
        &self.note
    }
}
