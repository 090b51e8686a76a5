//! An inverted index: a map from tokens to the rows that have them.
//!
//! A row has an id ([`RowId`]); results are ordered by id, highest first ([`newest`]) or lowest first ([`oldest`]). A batch of rows
//! is written as a [`Segment`], which never changes. Segments are merged into larger ones ([`due`], [`Merge`]), as in Lucene and FTS5. The index is built for
//! conjunctions of frequent tokens: a segment numbers its rows in the order of their ids, so that the posting list of a
//! frequent token is a bitmap (as in Roaring, per chunk of 65,536 rows), and an intersection takes a few instructions per 64
//! rows, also if it is empty.
//!
//! The crate does no I/O. Segments consist of blocks of about 4 KB. The caller stores the blocks ([`Blocks`], [`WriteBlocks`])
//! and the list of segments.
//!
//! ```
//! use audit_index::*;
//! use std::collections::BTreeMap;
//!
//! #[derive(Default)]
//! struct Memory(BTreeMap<i64, Vec<u8>>);
//! impl Blocks for Memory {
//!     type Error = Damaged;
//!     fn read(&mut self, block: BlockId) -> Result<Option<Block>, Damaged> {
//!         let stored = self.0.get(&block.key());
//!         stored.map(|bytes| Block::check(block, bytes.as_slice())).transpose()
//!     }
//! }
//! impl WriteBlocks for Memory {
//!     fn write(&mut self, block: BlockId, bytes: &[u8]) -> Result<(), Damaged> {
//!         self.0.insert(block.key(), bytes.to_vec());
//!         Ok(())
//!     }
//! }
//!
//! let mut blocks = Memory::default();
//! let rows = [(100, "red round"), (200, "red square"), (300, "blue round")];
//! let segment = build_segment(&rows, 1, &mut blocks)?;
//! let red = Term::AnyOf(vec!["red".to_owned()]);
//! let round_or_rough = Term::Prefix(vec!["ro".to_owned()]);
//! let everything = i64::MIN..i64::MAX;
//! let segments = [segment];
//! assert_eq!(newest(&segments, &[red.clone()], &everything, 10, &mut blocks)?, [200, 100]);
//! assert_eq!(newest(&segments, &[red, round_or_rough], &everything, 10, &mut blocks)?, [100]);
//! # Ok::<(), Damaged>(())
//! ```
//!
//! # Format
//! A segment has six kinds of blocks, and its descriptor the roots of its directory. Each module describes its format: `blocks`
//! (keys and checksums), `ids`, `dictionary` (dictionary and directory), `roots`, `postings`, `bitmap`, `disjoint` and `varint`.
//! [`FORMAT_VERSION`] covers all of them.
//!
//! # Invariants
//! - [`newest`] and [`oldest`] return the result of a full scan, for every distribution of the rows over segments and every merge; with
//!   a [`Term::BoundedPrefix`] that [`first_wide`] finds, also rows that do not match.
//! - [`count`] returns the number of those rows, if no row is in two segments, and
//!   [`count_tokens`] those of each token.
//! - A merge writes the blocks that [`build_segment`] writes for all rows at once; only the segment's id and level differ. So does one
//!   that leaves rows out, for the rows that are left.
//! - An intersection of two dense tokens that never meet in a segment reads none of their postings there.
//! - A look-up of a token reads one directory block and one dictionary block per segment at most, and none if the token is outside
//!   of the range of the segment's tokens.
//! - A block or descriptor of which a bit was changed, or that is in the place of another one, is [`Damaged`] when it is read.
//! - No input causes a panic: a block that does not have the expected format is [`Damaged`].

mod bitmap;
mod blocks;
mod build;
mod cache;
mod count;
mod cursor;
mod dictionary;
mod disjoint;
mod frequent;
mod ids;
mod merge;
mod oldest;
mod postings;
mod roots;
mod row_id;
mod search;
mod segment;
mod term;
mod varint;
mod verify;
mod wide;

/// The version of the format of blocks. Store it beside the index, and rebuild the index if it differs.
///
/// Raise it when a block's bytes or the tokens change.
pub const FORMAT_VERSION: u32 = 4;

pub use blocks::{Block, BlockId, BlockKind, Blocks, Damaged, NamedBlock, Place, WriteBlocks};
pub use build::build_segment;
pub use cache::{BlockCache, Cached};
pub use count::{Counts, count, part_of};
pub use frequent::{FrequentToken, TokenCounts, count_tokens};
pub use merge::{Merge, due, due_at_rest};
pub use oldest::oldest;
pub use roots::Roots;
pub use row_id::RowId;
pub use search::newest;
pub use segment::Segment;
pub use term::Term;
pub use verify::{Verified, verify};
pub use wide::{PREFIX_BLOCKS_MAX, first_wide};
