//! The tiles of the tree (C2SP `tlog-tiles`): up to 256 adjacent hashes each, eight tree levels apart.
//!
//! Tile level 0 has the hashes of the leaves. Each hash in a higher tile is the root over one full tile of the level below.
//! The hashes of the levels between are computed within a tile. Tiles do not contain the leaf data, here the content hashes
//! of events. The entries of `tile/entries` are these content hashes.

mod content;
mod path;
mod set;

pub use content::{Tile, entry_bundle};
pub use set::{MissingTile, TileSet};

use crate::Subtree;
use crate::subtree::TREE_LEAVES_MAX;
use std::ops::Range;

/// Tree levels per tile level.
pub(crate) const TILE_HEIGHT: u8 = 8;

/// The identity of a tile: its level, its index within the level, and its width in hashes. A tile with fewer than 256 hashes
/// is partial: the last one of its level in a tree of some size. A partial tile never changes; as the tree grows, wider tiles
/// appear at the same index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TileId {
    level: u8,
    index: u64,
    width: u16,
}

/// The tile does not exist, or the hashes are not those of the tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TileError {
    /// The text is not the exact path of a tile.
    #[error("must be the path of a tile, such as tile/0/x001/x234/067 or tile/0/000.p/7")]
    Path,
    /// The tile is empty, too wide, or beyond the end of the largest tree.
    #[error("no tree has a tile {index} of {width} hashes at level {level}")]
    Range {
        /// The tile's level.
        level: u8,
        /// Its index.
        index: u64,
        /// Its width.
        width: u16,
    },
    /// The number of hashes is not the width of the tile.
    #[error("{id} has {} bytes and not {bytes}", id.bytes())]
    Length {
        /// The tile.
        id: TileId,
        /// Bytes of the hashes given.
        bytes: usize,
    },
    /// The tile is not the one requested.
    #[error("requested {id} and got {other}")]
    Other {
        /// The tile requested.
        id: TileId,
        /// The tile returned.
        other: TileId,
    },
}

impl TileId {
    /// Width of a full tile.
    pub const WIDTH_MAX: u16 = 1 << TILE_HEIGHT;
    /// The highest tile level of the largest tree. The format allows 63.
    pub const LEVEL_MAX: u8 = (TREE_LEAVES_MAX.ilog2() / TILE_HEIGHT as u32) as u8;

    /// The tile at this level and index with this width.
    ///
    /// # Errors
    /// [`TileError::Range`] if the largest tree does not have it.
    pub fn new(level: u8, index: u64, width: u16) -> Result<Self, TileError> {
        let id = Self { level, index, width };
        let in_range = level <= Self::LEVEL_MAX
            && (1..=Self::WIDTH_MAX).contains(&width)
            && index <= TREE_LEAVES_MAX >> TILE_HEIGHT
            && id.hash_range().end <= hashes_at(level, TREE_LEAVES_MAX);
        in_range
            .then_some(id)
            .ok_or(TileError::Range { level, index, width })
    }

    /// The tile's level: 0 for the hashes of leaves.
    pub const fn level(&self) -> u8 {
        self.level
    }

    /// The index within the level.
    pub const fn index(&self) -> u64 {
        self.index
    }

    /// The number of hashes, from 1 to [`Self::WIDTH_MAX`].
    pub const fn width(&self) -> u16 {
        self.width
    }

    /// Whether the tile has [`Self::WIDTH_MAX`] hashes.
    pub const fn is_full(&self) -> bool {
        self.width == Self::WIDTH_MAX
    }

    /// The length of the encoded tile.
    pub const fn bytes(&self) -> usize {
        self.width as usize * crate::Hash::BYTES
    }

    /// Whether a tree of `size` leaves has all hashes of the tile. A partial tile of a smaller tree is included, because a
    /// verifier may hold a checkpoint of that size.
    pub fn exists_in(&self, size: u64) -> bool {
        self.hash_range().end <= hashes_at(self.level, size)
    }

    /// The subtrees whose hashes the tile has, from left to right. At level 0 they are the leaves, so their indices are the
    /// `seq` of the events.
    pub fn subtrees(&self) -> impl Iterator<Item = Subtree> + use<> {
        let level = self.level * TILE_HEIGHT;
        self.hash_range()
            .filter_map(move |index| Subtree::new(level, index))
    }

    /// The tile from which the hash of `subtree` in a tree of `size` leaves is computed, or `None` if the tree does not have
    /// that subtree.
    pub fn holding(subtree: Subtree, size: u64) -> Option<Self> {
        if subtree.leaves().end > size {
            return None;
        }
        let (level, hashes) = tile_hashes_below(subtree);
        Self::at(level, hashes.start / u64::from(Self::WIDTH_MAX), size)
    }

    /// The partial tiles of a tree of `size` leaves: at most one per level, and none where the last tile is full. Here and in
    /// [`Self::completed`], a larger size counts as [`TREE_LEAVES_MAX`].
    pub fn partial_of(size: u64) -> impl Iterator<Item = Self> {
        let size = size.min(TREE_LEAVES_MAX);
        (0..=Self::LEVEL_MAX).filter_map(move |level| {
            Self::at(level, hashes_at(level, size) / u64::from(Self::WIDTH_MAX), size)
        })
    }

    /// The tiles that become full when a tree grows from `from` leaves to `to`, lower levels first.
    pub fn completed(from: u64, to: u64) -> impl Iterator<Item = Self> {
        let (from, to) = (from.min(TREE_LEAVES_MAX), to.min(TREE_LEAVES_MAX));
        (0..=Self::LEVEL_MAX).flat_map(move |level| {
            let full_in = move |size| hashes_at(level, size) / u64::from(Self::WIDTH_MAX);
            (full_in(from)..full_in(to)).map(move |index| Self {
                level,
                index,
                width: Self::WIDTH_MAX,
            })
        })
    }

    /// The tile at this level and index, with its width in a tree of `size` leaves.
    fn at(level: u8, index: u64, size: u64) -> Option<Self> {
        let start = index * u64::from(Self::WIDTH_MAX);
        let width = hashes_at(level, size).checked_sub(start)?;
        let width = width.min(u64::from(Self::WIDTH_MAX)) as u16;
        Self::new(level, index, width).ok()
    }

    /// The hashes of the tile, as indices within its level.
    fn hash_range(&self) -> Range<u64> {
        let start = self.index * u64::from(Self::WIDTH_MAX);
        start..start + u64::from(self.width)
    }
}

/// The number of hashes in all tiles of a level in a tree of `size` leaves.
const fn hashes_at(level: u8, size: u64) -> u64 {
    size >> (level * TILE_HEIGHT)
}

/// The nearest tile level at or below a subtree's root, and the hashes of that level over which its hash is computed.
fn tile_hashes_below(subtree: Subtree) -> (u8, Range<u64>) {
    let within = subtree.level() % TILE_HEIGHT;
    let level = subtree.level() / TILE_HEIGHT;
    (level, subtree.index() << within..(subtree.index() + 1) << within)
}
