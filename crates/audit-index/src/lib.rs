//! An inverted index: which rows are filed under which tokens.
//!
//! Rows have an id ([`RowId`]) by which answers are ordered, newest (highest) first. What is filed together becomes a
//! [`Segment`], which never changes; segments that have come together are merged into one ([`due`], [`Merge`]). This is
//! how Lucene and FTS5 do it. What is different here is made for rows that are asked for by several common values at once:
//! a segment numbers its rows in the order of their ids, so that the rows of a common token are a bitmap (as in Roaring
//! bitmaps, by chunks of 65,536 rows), and what several conditions have in common takes a few instructions for 64 rows,
//! even where it is nothing.
//!
//! There is no I/O here: segments consist of blocks of some 4 KB, which the caller keeps ([`Blocks`], [`WriteBlocks`]),
//! together with the list of segments.
//!
//! ```
//! use audit_index::*;
//! use std::collections::BTreeMap;
//! use std::sync::Arc;
//!
//! #[derive(Default)]
//! struct Memory(BTreeMap<i64, Vec<u8>>);
//! impl Blocks for Memory {
//!     type Error = Damaged;
//!     fn read(&mut self, block: BlockId) -> Result<Option<Arc<[u8]>>, Damaged> {
//!         Ok(self.0.get(&block.key()).map(|bytes| bytes.as_slice().into()))
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
//! let segment = file(&rows, 1, &mut blocks)?;
//! let red = Term::AnyOf(vec!["red".to_owned()]);
//! let round_or_rough = Term::BeginsLike(vec!["ro".to_owned()]);
//! let everything = i64::MIN..i64::MAX;
//! assert_eq!(newest(&[segment], &[red.clone()], &everything, 10, &mut blocks)?, [200, 100]);
//! assert_eq!(newest(&[segment], &[red, round_or_rough], &everything, 10, &mut blocks)?, [100]);
//! # Ok::<(), Damaged>(())
//! ```
//!
//! # Invariants
//! - [`newest`] gives what looking through all rows would give, however they came into segments and were merged.
//! - A merge gives the segment that filing all rows at once gives, but for its number and level.
//! - No bytes make it panic: blocks that are not as they were written are [`Damaged`].

mod bits;
mod blocks;
mod cache;
mod dictionary;
mod ids;
mod merge;
mod postings;
mod row_id;
mod search;
mod segment;
mod term;
mod varint;

pub use blocks::{BlockId, BlockKind, Blocks, Damaged, NamedBlock, WriteBlocks};
pub use cache::{BlockCache, Cached};
pub use merge::{Merge, due};
pub use row_id::RowId;
pub use search::newest;
pub use segment::{Segment, file};
pub use term::Term;
