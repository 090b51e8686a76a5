//! The verifiable log: a Merkle tree over the content hashes of events, in published formats. A verifier without access to
//! the database detects alteration, deletion, reordering, truncation and rollback.
//!
//! Trees and proofs follow RFC 6962 and RFC 9162 §2.1, tiles [C2SP `tlog-tiles`], checkpoints [C2SP `tlog-checkpoint`] and
//! [`signed-note`] with Ed25519 (RFC 8032). The crate does no I/O and reads no clock and no randomness, so other services
//! can link it to verify a log.
//!
//! ```
//! use audit_domain::ContentHash;
//! use audit_ledger::*;
//!
//! // The log: append, sign, prove.
//! let key = SigningKey::from_seed(KeyName::parse("audit.example.com")?, &[7; 32])?;
//! let origin = Origin::parse("audit.example.com/acme/live")?;
//! let events = [1, 2, 3].map(|byte| ContentHash::from_bytes([byte; 32]));
//! let mut growth = Growth::new(Frontier::new());
//! growth.extend(&Hash::of_events(events));
//! let checkpoint = key.sign(Checkpoint::new(origin.clone(), growth.head()));
//! let leaves = events.iter().map(Hash::of_event).collect();
//! let tiles = TileSet::from_iter([Tile::new("tile/0/000.p/3".parse()?, leaves)?]);
//! let proof = InclusionProof::prove(1, 3, |subtree| tiles.hash(subtree))?;
//!
//! // A verifier with the log's public key.
//! let keys = [key.verifier().to_string().parse()?];
//! let signed = SignedCheckpoint::open(checkpoint.note(), &origin, &keys)?;
//! proof.verify(1, &Hash::of_event(&events[1]), signed.head())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Invariants
//! - [`Frontier::root`], the roots computed from tiles, and the recursive definition of RFC 9162 agree for every tree.
//! - The proofs of [`InclusionProof::prove`] and [`ConsistencyProof::prove`] verify, and they verify for no other leaf, index
//!   or hash.
//! - Every input format has one encoding and a limit: hashes, keys, paths, checkpoints, frontiers. No input causes a panic.
//! - The signature of every [`SignedCheckpoint`] was made or verified by this crate.
//! - [`Growth::finish`] returns no tile that contradicts its tree.
//! - Removed events change neither tree nor map: both are the same with the [`RemovalRecord`]s of the events as with their texts.
//! - A map of tenants that [`MapPart::update`] has brought up to date step by step is the one that [`TenantLogs`] computes from all
//!   events. Without the [`TenantMapKey`] a [`TenantPath`] tells nothing of other tenants.
//!
//! # Obligations of the caller
//! - Trust no tile and no proof until it leads to the root of a [`SignedCheckpoint`]. Recompute an event's content hash from
//!   its text.
//! - Append under a lock, in the transaction that stores the events, so that leaf `n` is the event with `seq` `n`.
//! - Store the last signed checkpoint, and sign the next one with [`SigningKey::sign_successor`].
//! - Obtain a log's public key over a channel that the operator of the log does not control.
//!
//! [C2SP `tlog-tiles`]: https://c2sp.org/tlog-tiles
//! [C2SP `tlog-checkpoint`]: https://c2sp.org/tlog-checkpoint
//! [`signed-note`]: https://c2sp.org/signed-note

mod anchor;
mod auditor;
mod checkpoint;
mod cosignature;
mod follower;
mod frontier;
mod growth;
mod hash;
mod head;
mod head_key;
mod key;
mod merge;
mod note;
mod policy;
mod proof;
mod range;
mod removal;
mod rotation;
mod stream;
mod subtree;
mod tenants;
mod tile;
mod tlog_proof;
mod witness;

pub use anchor::{
    Anchor, AnchorChainError, AnchorDigest, AnchorError, AnchorFile, AnchoredMap, SignedAnchor,
};
pub use auditor::{Auditor, Replay};
pub use checkpoint::{Checkpoint, CheckpointError, Origin, SignedCheckpoint};
pub use cosignature::{Cosignature, WitnessKey, WitnessSigner};
pub use follower::{Advance, FollowError, Follower};
pub use frontier::{Frontier, FrontierError};
pub use growth::{Growth, GrowthError};
pub use hash::{Hash, HashTextError};
pub use head::{HistoryError, TreeHead};
pub use head_key::{HeadKey, HeadKeyId, RecordCodes, SealedHead};
pub use key::{KeyError, KeyId, KeyName, SigningKey, VerifierKey};
pub use merge::{merge_signatures, note_text};
pub use note::{NOTE_BYTES_MAX, NOTE_SIGNATURES_MAX, NoteError};
pub use policy::{Policy, PolicyError, PolicyWitness};
pub use proof::{ConsistencyProof, InclusionProof, PROOF_HASHES_MAX, ProofError, ProofTextError};
pub use range::{RangeError, ReadError};
pub use removal::{
    RemovalCheck, RemovalDigest, RemovalKind, RemovalProblem, RemovalRecord, RemovalReport, decode_records,
    encode_records,
};
pub use rotation::{KeyRotation, KeyRotationError, key_predecessors, key_successors};
pub use stream::{SignedStream, StreamChain, StreamNote, StreamNoteError, StreamTextError};
pub use subtree::{Subtree, TREE_LEAVES_MAX};
pub use tenants::{
    BUCKET_DEPTH, CompletenessError, MAP_DEPTH, MapError, MapPart, MapTile, MapTileId, SignedTenantMap,
    TenantLabel, TenantLogs, TenantMapHead, TenantMapKey, TenantMapNoteError, TenantMapReplay, TenantPath,
    TenantProof, TenantSalt,
};
pub use tile::{MissingTile, Tile, TileError, TileId, TileSet, entry_bundle};
pub use tlog_proof::{TlogProof, TlogProofError, TlogProofTextError};
pub use witness::{AddCheckpoint, AddCheckpointTextError, WitnessError, Witnessed, stored_head};

/// Compiles and runs the example in the readme.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
