//! Tiles of one tree from which proofs are built.

use super::{TILE_HEIGHT, Tile, TileId, tile_hashes_below};
use crate::{Frontier, Hash, Subtree};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// The tiles for a proof. [`Self::needed`] lists them; fetch all of them at once, then build the proof with
/// [`Self::hash`] as its source.
#[derive(Clone, Debug, Default)]
pub struct TileSet {
    tiles: BTreeMap<(u8, u64), Tile>,
    /// The edge of the tree, if it is known.
    edge: BTreeMap<Subtree, Hash>,
    /// Hashes that were computed: many proofs within one tile compute it once.
    computed: RefCell<BTreeMap<Subtree, Hash>>,
}

/// The least level within a tile of a subtree whose hash is kept. Below, seven hashes are computed as fast as one is found.
const KEPT_LEVEL_MIN: u8 = 3;

/// No tile of the set has a hash that is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no tile in the set has the hash of leaves {} to {}", subtree.leaves().start, subtree.leaves().end)]
pub struct MissingTile {
    /// The subtree of the hash.
    pub subtree: Subtree,
}

impl TileSet {
    /// The tiles of a tree of `size` leaves that have the hashes of these subtrees. An inclusion proof at a million leaves
    /// needs at most six tiles, three of them partial.
    ///
    /// # Errors
    /// [`MissingTile`] if the tree does not have one of the subtrees.
    pub fn needed(
        subtrees: impl IntoIterator<Item = Subtree>,
        size: u64,
    ) -> Result<BTreeSet<TileId>, MissingTile> {
        let ids = subtrees
            .into_iter()
            .map(|subtree| TileId::holding(subtree, size).ok_or(MissingTile { subtree }));
        ids.collect()
    }

    /// No tiles, and the edge of a tree: a proof at that size needs no tile for the hashes that are in it, such as those of the last
    /// leaves.
    pub fn with_edge(tree: &Frontier) -> Self {
        Self {
            edge: tree.edge().collect(),
            ..Self::default()
        }
    }

    /// Adds a tile. If the set has a tile at the same level and index, the wider one stays: it has all hashes of the
    /// narrower one.
    pub fn insert(&mut self, tile: Tile) {
        let position = (tile.id().level(), tile.id().index());
        match self.tiles.get(&position) {
            Some(present) if present.id().width() >= tile.id().width() => {}
            _ => drop(self.tiles.insert(position, tile)),
        }
    }

    /// The hash of a subtree: that of the edge, or computed within the tile that has it.
    ///
    /// # Errors
    /// [`MissingTile`] if that tile is not in the set or not wide enough.
    pub fn hash(&self, subtree: Subtree) -> Result<Hash, MissingTile> {
        if let Some(hash) = self.edge.get(&subtree) {
            return Ok(*hash);
        }
        let within = subtree.level() % TILE_HEIGHT;
        if within < KEPT_LEVEL_MIN {
            let (level, hashes) = tile_hashes_below(subtree);
            let position = (level, hashes.start / u64::from(TileId::WIDTH_MAX));
            let tile = self.tiles.get(&position);
            return tile
                .and_then(|tile| tile.hash(subtree))
                .ok_or(MissingTile { subtree });
        }
        if let Some(hash) = self.computed.borrow().get(&subtree) {
            return Ok(*hash);
        }
        let [left, right] = subtree.halves().ok_or(MissingTile { subtree })?;
        let of = |half| self.hash(half).map_err(|_| MissingTile { subtree });
        let hash = Hash::of_node(&of(left)?, &of(right)?);
        self.computed.borrow_mut().insert(subtree, hash);
        Ok(hash)
    }
}

impl FromIterator<Tile> for TileSet {
    fn from_iter<I: IntoIterator<Item = Tile>>(tiles: I) -> Self {
        let mut set = Self::default();
        tiles.into_iter().for_each(|tile| set.insert(tile));
        set
    }
}
