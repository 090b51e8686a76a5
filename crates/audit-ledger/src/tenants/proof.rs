//! What a tenant's viewer verifies.

use super::{SignedTenantMap, TenantLabel, TenantMapHead, TenantMapNoteError, TenantPath, TenantSalt};
use crate::{Checkpoint, CheckpointError, MapError, SignedCheckpoint, TreeHead, VerifierKey};

/// The proof of how many events a tenant has, and which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantProof {
    /// The tenant.
    pub tenant_id: String,
    /// Blinds its position.
    pub salt: TenantSalt,
    /// The checkpoint of the tenant's log and the path from its leaf to the root of the map; none where the tenant has no
    /// events, which the note then states.
    pub log: Option<(String, TenantPath)>,
    /// The note of the map.
    pub map: String,
}

/// A [`TenantProof`] is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompletenessError {
    /// The checkpoint of the tenant's log is not valid.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The note of the map is not valid.
    #[error(transparent)]
    Map(#[from] TenantMapNoteError),
    /// The tenant's log is not in the map.
    #[error(transparent)]
    Path(#[from] MapError),
    /// The note does not state that the tenant has no events.
    #[error("neither a checkpoint of the tenant's log nor a signed statement that it has no events")]
    Nothing,
}

impl TenantProof {
    /// Verifies the proof with the key of the deployment. Returns the map, which says of which log it is and when it was signed,
    /// and the head of the tenant's log: the tree over the content hashes of the tenant's events in the order of the log.
    ///
    /// # Errors
    /// [`CompletenessError`] names the check that failed.
    pub fn verify(&self, keys: &[VerifierKey]) -> Result<(SignedTenantMap, TreeHead), CompletenessError> {
        let map = SignedTenantMap::open(&self.map, keys)?;
        let label = TenantLabel::of(&self.salt, &self.tenant_id);
        let head = match &self.log {
            Some((note, path)) if map.head().empty.is_none() => {
                let origin = TenantMapHead::tenant_origin(&map.head().log, &label)?;
                let signed = SignedCheckpoint::open(note, &origin, keys)?;
                path.verify(label.slot(), label.leaf(signed.head()), &map.head().root)?;
                *signed.head()
            }
            None if map.head().empty == Some(label.to_string()) => TreeHead::of_empty_tree(),
            _ => return Err(CompletenessError::Nothing),
        };
        Ok((map, head))
    }

    /// The head of the tenant's log that the proof claims, not verified. None where it claims that there are no events.
    pub fn claimed_head(&self) -> Option<TreeHead> {
        let (note, _) = self.log.as_ref()?;
        let (text, _) = note.split_once("\n\n")?;
        let checkpoint = Checkpoint::parse(&format!("{text}\n")).ok()?;
        Some(*checkpoint.head())
    }
}
