//! Some tiles of one tree, from which proofs are made.

use super::{Tile, TileId, places_of};
use crate::{Hash, Subtree};
use std::collections::{BTreeMap, BTreeSet};

/// Tiles at hand. Find out with [`Self::needed`] which a proof takes, fetch them all at once, and let the proof read
/// [`Self::hash`].
#[derive(Clone, Debug, Default)]
pub struct TileSet {
    tiles: BTreeMap<(u8, u64), Tile>,
}

/// The tile with a hash that is needed is not at hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no tile at hand has the hash of leaves {} to {}", subtree.leaves().start, subtree.leaves().end)]
pub struct MissingTile {
    /// Where the hash is in the tree.
    pub subtree: Subtree,
}

impl TileSet {
    /// The tiles of a tree of `size` leaves that have the hashes of some subtrees. At a million leaves an
    /// inclusion proof needs at most six, three of them partial.
    ///
    /// # Errors
    /// [`MissingTile`] when the tree does not have one of the subtrees.
    pub fn needed(
        subtrees: impl IntoIterator<Item = Subtree>,
        size: u64,
    ) -> Result<BTreeSet<TileId>, MissingTile> {
        let ids = subtrees
            .into_iter()
            .map(|subtree| TileId::holding(subtree, size).ok_or(MissingTile { subtree }));
        ids.collect()
    }

    /// Adds a tile. Of two of one place the wider one is kept, which has all the other has: a log may have replaced a
    /// partial tile by the full one meanwhile.
    pub fn insert(&mut self, tile: Tile) {
        let place = (tile.id().level(), tile.id().index());
        match self.tiles.get(&place) {
            Some(held) if held.id().width() >= tile.id().width() => {}
            _ => drop(self.tiles.insert(place, tile)),
        }
    }

    /// The hash of a subtree, computed within the tile that has it.
    ///
    /// # Errors
    /// [`MissingTile`] when that tile is not at hand, or not wide enough.
    pub fn hash(&self, subtree: Subtree) -> Result<Hash, MissingTile> {
        let (level, places) = places_of(subtree);
        let place = (level, places.start / u64::from(TileId::WIDTH_MAX));
        let tile = self.tiles.get(&place);
        tile.and_then(|tile| tile.hash(subtree))
            .ok_or(MissingTile { subtree })
    }
}

impl FromIterator<Tile> for TileSet {
    fn from_iter<I: IntoIterator<Item = Tile>>(tiles: I) -> Self {
        let mut set = Self::default();
        tiles.into_iter().for_each(|tile| set.insert(tile));
        set
    }
}
