//! A log as a service stores it: the hashes of its leaves, its full tiles with their roots, and its frontier.

use audit_ledger::{
    ConsistencyProof, Frontier, Growth, GrowthError, Hash, InclusionProof, MissingTile, ReadError, Subtree,
    Tile, TileId, TileSet, TreeHead,
};
use std::collections::BTreeMap;

#[derive(Clone, Default)]
pub(crate) struct Log {
    pub(crate) leaves: Vec<Hash>,
    pub(crate) full: BTreeMap<TileId, Tile>,
    pub(crate) roots: BTreeMap<TileId, Hash>,
    pub(crate) frontier: Frontier,
}

impl Log {
    /// A log of `size` leaves, appended in one transaction.
    pub(crate) fn of_size(size: u32) -> Self {
        let mut log = Self::default();
        log.append((0..size).map(leaf)).unwrap();
        log
    }

    /// Appends in one transaction.
    pub(crate) fn append(
        &mut self,
        leaves: impl IntoIterator<Item = Hash>,
    ) -> Result<(), GrowthError<String>> {
        let mut growth = Growth::new(self.frontier.clone());
        let new: Vec<Hash> = leaves.into_iter().collect();
        growth.extend(&new);
        let (frontier, tiles) = growth.finish(|id| self.tile(id))?;
        self.leaves.extend(new);
        self.roots
            .extend(tiles.iter().filter_map(|tile| Some((tile.id(), tile.root()?))));
        self.full.extend(tiles.into_iter().map(|tile| (tile.id(), tile)));
        self.frontier = frontier;
        Ok(())
    }

    pub(crate) fn head(&self) -> TreeHead {
        self.frontier.head()
    }

    /// A full tile from the store. A partial tile is built from the leaves or from the roots of the tiles below.
    pub(crate) fn tile(&self, id: TileId) -> Result<Tile, String> {
        if let Some(tile) = self.full.get(&id) {
            return Ok(tile.clone());
        }
        let hash = |subtree: Subtree| match id.level() {
            0 => self.leaves.get(subtree.index() as usize).copied(),
            level => {
                let below = TileId::new(level - 1, subtree.index(), TileId::WIDTH_MAX).ok()?;
                self.roots.get(&below).copied()
            }
        };
        let hashes: Option<Vec<Hash>> = id.subtrees().map(hash).collect();
        let hashes = hashes.ok_or_else(|| format!("{id} is missing"))?;
        Tile::new(id, hashes).map_err(|error| error.to_string())
    }

    pub(crate) fn tiles(&self, subtrees: Vec<Subtree>, size: u64) -> TileSet {
        let ids = TileSet::needed(subtrees, size).unwrap();
        ids.into_iter().map(|id| self.tile(id).unwrap()).collect()
    }

    pub(crate) fn prove_inclusion(
        &self,
        index: u64,
        size: u64,
    ) -> Result<InclusionProof, ReadError<MissingTile>> {
        let tiles = self.tiles(InclusionProof::subtrees(index, size)?, size);
        InclusionProof::prove(index, size, |subtree| tiles.hash(subtree))
    }

    pub(crate) fn prove_consistency(
        &self,
        from: u64,
        to: u64,
    ) -> Result<ConsistencyProof, ReadError<MissingTile>> {
        let tiles = self.tiles(ConsistencyProof::subtrees(from, to)?, to);
        ConsistencyProof::prove(from, to, |subtree| tiles.hash(subtree))
    }
}

/// Leaf `n` of [`Reference::of_size`](crate::reference::Reference::of_size).
pub(crate) fn leaf(n: u32) -> Hash {
    Hash::of_leaf(&n.to_be_bytes())
}
