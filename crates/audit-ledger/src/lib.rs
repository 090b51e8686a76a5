//! The verifiable log: a Merkle tree over the content hashes of events, in published formats, so that whoever holds no
//! key to the database sees every alteration, deletion, reordering, truncation and rollback of it.
//!
//! Trees and proofs are those of RFC 6962 and RFC 9162 §2.1, tiles those of [C2SP `tlog-tiles`], checkpoints those of
//! [C2SP `tlog-checkpoint`] and [`signed-note`] with Ed25519 (RFC 8032). Everything here is a value or a function of
//! values: no I/O, no clock, no randomness. Other services may link this crate to verify what a log tells them.
//!
//! ```
//! use audit_domain::ContentHash;
//! use audit_ledger::*;
//!
//! // The log: append, sign, prove.
//! let key = SigningKey::from_seed(KeyName::parse("audit.example.com")?, &[7; 32])?;
//! let origin = Origin::parse("audit.example.com/acme/live")?;
//! let events = ["one", "two", "three"].map(|text| ContentHash::of(text));
//! let mut growth = Growth::new(Frontier::new());
//! for event in &events {
//!     growth.append(Hash::of_event(event));
//! }
//! let checkpoint = key.sign(Checkpoint::new(origin.clone(), growth.head()));
//! let leaves = events.iter().map(Hash::of_event).collect();
//! let tiles = TileSet::from_iter([Tile::new("tile/0/000.p/3".parse()?, leaves)?]);
//! let proof = InclusionProof::prove(1, 3, |subtree| tiles.hash(subtree))?;
//!
//! // Somebody else, with the log's public key.
//! let keys = [key.verifier().to_string().parse()?];
//! let signed = SignedCheckpoint::open(checkpoint.note(), &origin, &keys)?;
//! proof.verify(1, &Hash::of_event(&events[1]), signed.head())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Invariants
//! - [`Frontier::root`], roots read from tiles, and the recursive definition of RFC 9162 are the same for every tree.
//! - What [`InclusionProof::prove`] and [`ConsistencyProof::prove`] make verifies, and no other leaf, place or hash does
//!   with it.
//! - Everything read has one spelling and a limit: hashes, keys, paths, checkpoints, frontiers. No bytes make it panic.
//! - There is no [`SignedCheckpoint`] whose signature was not made or verified here.
//! - [`Growth::finish`] gives no tile that contradicts the tree it belongs to.
//!
//! # What is left to the caller
//! - To believe neither a tile nor a proof before it leads to the root of a [`SignedCheckpoint`], and to recompute an
//!   event's content hash from its text instead of believing the one beside it.
//! - To append under a lock, in the transaction that stores the events, so that leaf `n` is the event with `seq` `n`.
//! - To keep the last checkpoint signed, and to sign the next one with [`SigningKey::sign_successor`].
//! - To get a log's public key from somewhere else than from who could have changed the log.
//!
//! [C2SP `tlog-tiles`]: https://c2sp.org/tlog-tiles
//! [C2SP `tlog-checkpoint`]: https://c2sp.org/tlog-checkpoint
//! [`signed-note`]: https://c2sp.org/signed-note

mod auditor;
mod checkpoint;
mod follower;
mod frontier;
mod growth;
mod hash;
mod head;
mod key;
mod note;
mod proof;
mod range;
mod subtree;
mod tile;

pub use auditor::{Auditor, Replay};
pub use checkpoint::{Checkpoint, CheckpointError, Origin, SignedCheckpoint};
pub use follower::{Advance, FollowError, Follower};
pub use frontier::{Frontier, FrontierError};
pub use growth::{Growth, GrowthError};
pub use hash::{Hash, HashTextError};
pub use head::{HistoryError, TreeHead};
pub use key::{KeyError, KeyId, KeyName, SigningKey, VerifierKey};
pub use note::{NOTE_BYTES_MAX, NOTE_SIGNATURES_MAX, NoteError};
pub use proof::{ConsistencyProof, InclusionProof, PROOF_HASHES_MAX, ProofError, ProofTextError};
pub use range::{RangeError, ReadError};
pub use subtree::{Subtree, TREE_LEAVES_MAX};
pub use tile::{MissingTile, Tile, TileError, TileId, TileSet};

/// The readme's example compiles and holds.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
