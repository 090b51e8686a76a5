//! The tree over events that come one after the other, made anew.

use crate::error::{AppError, Result};
use audit_ledger::{Frontier, Hash, Tile, TileId, TileSet};

/// The begun tile of each level, from which everything to its left can be forgotten.
#[derive(Debug, Default)]
pub(super) struct Tree {
    size: u64,
    begun: Vec<Vec<Hash>>,
}

impl Tree {
    /// How many leaves it has.
    pub(super) const fn size(&self) -> u64 {
        self.size
    }

    /// Appends a leaf, and gives the tiles that it completes, lower levels first.
    pub(super) fn append(&mut self, leaf: Hash) -> Result<Vec<Tile>> {
        let mut completed = Vec::new();
        let mut hash = leaf;
        self.size += 1;
        for level in 0.. {
            if self.begun.len() == level {
                self.begun
                    .push(Vec::with_capacity(usize::from(TileId::WIDTH_MAX)));
            }
            let begun = &mut self.begun[level];
            begun.push(hash);
            if begun.len() < usize::from(TileId::WIDTH_MAX) {
                break;
            }
            let hashes = std::mem::take(begun);
            let level = level as u8;
            let index = (self.size >> (8 * (level + 1))) - 1;
            let tile = TileId::new(level, index, TileId::WIDTH_MAX).and_then(|id| Tile::new(id, hashes));
            let tile = tile.map_err(AppError::internal)?;
            let Some(root) = tile.root() else { break };
            hash = root;
            completed.push(tile);
        }
        Ok(completed)
    }

    /// Its right edge.
    pub(super) fn frontier(&self) -> Result<Frontier> {
        let mut tiles = TileSet::default();
        for (level, begun) in self
            .begun
            .iter()
            .enumerate()
            .filter(|(_, begun)| !begun.is_empty())
        {
            let index = self.size >> (8 * (level + 1));
            // Fewer than 256.
            let id = TileId::new(level as u8, index, begun.len() as u16);
            let tile = id.and_then(|id| Tile::new(id, begun.clone()));
            tiles.insert(tile.map_err(AppError::internal)?);
        }
        Frontier::read(self.size, |subtree| tiles.hash(subtree)).map_err(AppError::internal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_edge_is_the_frontier_and_its_tiles_are_those_of_a_growing_tree() {
        let mut tree = Tree::default();
        let mut growth = audit_ledger::Growth::new(Frontier::new());
        let mut completed = Vec::new();
        for n in 0..66_000_u32 {
            let leaf = Hash::of_leaf(&n.to_be_bytes());
            growth.append(leaf);
            completed.extend(tree.append(leaf).unwrap());
            if n % 997 == 0 || (n + 2) % 256 < 4 || n > 65_530 && n < 65_540 {
                assert_eq!(&tree.frontier().unwrap(), growth.frontier(), "{n}");
            }
        }
        let (_, mut full) = growth.finish(|id: TileId| Err(id.to_string())).unwrap();
        let place = |tile: &Tile| (tile.id().level(), tile.id().index());
        completed.sort_by_key(place);
        full.sort_by_key(place);
        assert_eq!(completed.len(), 257 + 1);
        assert_eq!(completed, full);
    }
}
