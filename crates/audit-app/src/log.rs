//! The verifiable log: signed checkpoints and proofs.

mod anchors;
mod destinations;
mod key;
mod memory;
pub(crate) mod program;
mod proofs;
mod receipts;
mod removals;
mod roots;
mod rotation;
mod signer;
mod signing;
pub(crate) mod tenants;
pub(crate) mod witnessing;

use crate::error::{AppError, Result};
pub(crate) use anchors::Anchoring;
pub use anchors::{
    AnchorInterval, AnchorIntervalError, AnchorPlace, AnchorPlaces, AnchorWebhook, PlaceStatistics,
};
use audit_domain::{ContentHash, ContentSalt, PartProofs, StoredEvent, StoredSalt, ViewerTier};
use audit_ledger::{Checkpoint, InclusionProof, TreeHead};
pub(crate) use key::KeyAccess;
pub use key::LogKeyError;
pub use memory::{Remembered, Signed, SignerMemory, SignerMemoryError};
pub use program::{SigningError, SigningProgram};
pub(crate) use roots::TileRoots;
pub(crate) use signer::{LogSigner, key_in, stored_keys, successors_in};
pub(crate) use signing::process::Signing;
pub use tenants::behind::MapBehind;
pub(crate) use tenants::progress::TenantMaps;
pub(crate) use witnessing::Witnessing;
pub use witnessing::{UnreachableQuorum, WitnessClient, WitnessReply, WitnessStatistics, Witnesses};

/// The proof that an event is in the log.
#[derive(Clone, Debug)]
pub struct EventProof {
    /// Its position in the log; for a viewer, in the log of its tenant.
    pub seq: u64,
    /// The content hash, from which the leaf hash is computed.
    pub content_hash: ContentHash,
    /// What the reader needs to compute the content hash from the event.
    pub disclosure: Disclosure,
    /// The path from the leaf to the root of the checkpoint.
    pub inclusion: InclusionProof,
    /// A signed note (C2SP `tlog-checkpoint`).
    pub checkpoint: String,
}

/// What a reader needs to compute the content hash of an event from what it sees of it.
#[derive(Clone, Debug)]
pub enum Disclosure {
    /// It sees the whole event.
    Whole(ContentSalt),
    /// Its tier hides parts of the event, or parts were erased.
    Parts(Box<PartProofs>),
}

impl Disclosure {
    fn new(event: &StoredEvent, tier: Option<&ViewerTier>) -> Result<Self> {
        Ok(match tier.filter(|tier| tier.hides_something()) {
            Some(tier) => Self::Parts(Box::new(event.part_proofs(tier)?)),
            None => match &event.content_salt {
                StoredSalt::Whole(salt) => Self::Whole(*salt),
                StoredSalt::Parts(parts) => Self::Parts(Box::new(parts.proofs().clone())),
            },
        })
    }
}

/// The size and root that a stored note signs.
fn head_of(note: &str) -> Result<TreeHead> {
    let text = note.split_once("\n\n").map_or(note, |(text, _)| text);
    let checkpoint = Checkpoint::parse(&format!("{text}\n")).map_err(AppError::inconsistent)?;
    Ok(*checkpoint.head())
}
