//! The tree cut into tiles, as C2SP `tlog-tiles` publishes it: 256 neighbouring hashes each, eight levels apart.
//!
//! Tiles of level 0 hold the hashes of leaves; each hash in a tile above is the hash over one full tile below. The hashes
//! between come from hashing within a tile. What the leaves hash (here: the content hashes of events) is not in any tile,
//! and `tile/entries` is not part of this crate: entries would be the content hashes, which reads of events give.

mod content;
mod path;
mod set;

pub use content::Tile;
pub use set::{MissingTile, TileSet};

use crate::Subtree;
use crate::subtree::TREE_LEAVES_MAX;
use std::ops::Range;

/// Levels of the tree from one level of tiles to the next.
const TILE_HEIGHT: u8 = 8;

/// Which tile: its level, how many full tiles are to its left, and how many hashes it has. A tile with fewer than 256 is
/// partial, the last one of its level in a tree of some size; it never changes either, wider ones come to be beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TileId {
    level: u8,
    index: u64,
    width: u16,
}

/// There is no such tile, or these are not its hashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TileError {
    /// The text is not the path of a tile of hashes, or a second spelling of one.
    #[error("must be the path of a tile, such as tile/0/x001/x234/067 or tile/0/000.p/7")]
    Path,
    /// The tile is empty, wider than tiles are, or beyond the end of the largest tree.
    #[error("no tree has a tile {index} of {width} hashes at level {level}")]
    Range {
        /// The tile's level.
        level: u8,
        /// Its index.
        index: u64,
        /// Its width.
        width: u16,
    },
    /// The hashes given for a tile are more or fewer than it has.
    #[error("{id} has {} bytes and not {bytes}", id.bytes())]
    Length {
        /// The tile.
        id: TileId,
        /// Bytes of the hashes given.
        bytes: usize,
    },
    /// Another tile was given than was asked for.
    #[error("asked for {id} and got {other}")]
    Other {
        /// The tile that was asked for.
        id: TileId,
        /// The one that was given.
        other: TileId,
    },
}

impl TileId {
    /// Hashes in a full tile.
    pub const WIDTH_MAX: u16 = 1 << TILE_HEIGHT;
    /// The highest level at which the largest tree has a tile. The format has room for 63.
    pub const LEVEL_MAX: u8 = (TREE_LEAVES_MAX.ilog2() / TILE_HEIGHT as u32) as u8;

    /// The tile at a place.
    ///
    /// # Errors
    /// [`TileError::Range`] when not even the largest tree has it.
    pub fn new(level: u8, index: u64, width: u16) -> Result<Self, TileError> {
        let id = Self { level, index, width };
        let in_range = level <= Self::LEVEL_MAX
            && (1..=Self::WIDTH_MAX).contains(&width)
            && index <= TREE_LEAVES_MAX >> TILE_HEIGHT
            && id.places().end <= hashes_at(level, TREE_LEAVES_MAX);
        in_range
            .then_some(id)
            .ok_or(TileError::Range { level, index, width })
    }

    /// The tile's level: 0 for the hashes of leaves.
    pub const fn level(&self) -> u8 {
        self.level
    }

    /// How many full tiles of its level are to the left.
    pub const fn index(&self) -> u64 {
        self.index
    }

    /// How many hashes it has, from 1 to [`Self::WIDTH_MAX`].
    pub const fn width(&self) -> u16 {
        self.width
    }

    /// Whether it has all the hashes that it can have.
    pub const fn is_full(&self) -> bool {
        self.width == Self::WIDTH_MAX
    }

    /// Bytes of the tile as it is served.
    pub const fn bytes(&self) -> usize {
        self.width as usize * crate::Hash::BYTES
    }

    /// Whether all its hashes are there in a tree of `size` leaves. Such a tile can be served; one that is partial for a
    /// smaller tree than the newest, too, since somebody may still hold a checkpoint of that size.
    pub fn exists_in(&self, size: u64) -> bool {
        self.places().end <= hashes_at(self.level, size)
    }

    /// The subtrees whose hashes it has, from left to right. At level 0 they are the leaves, so their indices are those
    /// of the events.
    pub fn subtrees(&self) -> impl Iterator<Item = Subtree> + use<> {
        let level = self.level * TILE_HEIGHT;
        self.places().filter_map(move |index| Subtree::new(level, index))
    }

    /// The tile of a tree of `size` leaves from which the hash of `subtree` comes, or `None` when the tree does not have
    /// that subtree.
    pub fn holding(subtree: Subtree, size: u64) -> Option<Self> {
        if subtree.leaves().end > size {
            return None;
        }
        let (level, places) = places_of(subtree);
        Self::at(level, places.start / u64::from(Self::WIDTH_MAX), size)
    }

    /// The partial tiles of a tree of `size` leaves: at most one at each level, and none where the last one is full.
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

    /// The tile at a place as wide as it is in a tree of `size` leaves.
    fn at(level: u8, index: u64, size: u64) -> Option<Self> {
        let start = index * u64::from(Self::WIDTH_MAX);
        let width = hashes_at(level, size).checked_sub(start)?;
        let width = width.min(u64::from(Self::WIDTH_MAX)) as u16;
        Self::new(level, index, width).ok()
    }

    /// Which hashes of its level it has.
    fn places(&self) -> Range<u64> {
        let start = self.index * u64::from(Self::WIDTH_MAX);
        start..start + u64::from(self.width)
    }
}

/// How many hashes the tiles of a level have together in a tree of `size` leaves.
const fn hashes_at(level: u8, size: u64) -> u64 {
    size >> (level * TILE_HEIGHT)
}

/// The level of tiles under a subtree's root, and the hashes of that level over which its hash is.
fn places_of(subtree: Subtree) -> (u8, Range<u64>) {
    let within = subtree.level() % TILE_HEIGHT;
    let level = subtree.level() / TILE_HEIGHT;
    (level, subtree.index() << within..(subtree.index() + 1) << within)
}
