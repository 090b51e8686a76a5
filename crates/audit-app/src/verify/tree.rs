//! The Merkle tree, rebuilt leaf by leaf.

use crate::error::{AppError, Result};
use audit_ledger::{Frontier, Hash, Tile, TileId, TileSet};

/// The partial tile of each level. All tiles to its left are complete and not needed.
#[derive(Debug, Default)]
pub(super) struct Tree {
    size: u64,
    partial: Vec<Vec<Hash>>,
}

impl Tree {
    /// The number of leaves.
    pub(super) const fn size(&self) -> u64 {
        self.size
    }

    /// Appends a leaf. Returns the tiles that it completes, lower levels first.
    pub(super) fn append(&mut self, leaf: Hash) -> Result<Vec<Tile>> {
        let mut completed = Vec::new();
        let mut hash = leaf;
        self.size += 1;
        for level in 0.. {
            if self.partial.len() == level {
                self.partial
                    .push(Vec::with_capacity(usize::from(TileId::WIDTH_MAX)));
            }
            let partial = &mut self.partial[level];
            partial.push(hash);
            if partial.len() < usize::from(TileId::WIDTH_MAX) {
                break;
            }
            let hashes = std::mem::take(partial);
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

    /// The frontier of the tree.
    pub(super) fn frontier(&self) -> Result<Frontier> {
        let mut tiles = TileSet::default();
        for (level, partial) in self
            .partial
            .iter()
            .enumerate()
            .filter(|(_, partial)| !partial.is_empty())
        {
            let index = self.size >> (8 * (level + 1));
            // A partial tile has fewer than 256 hashes.
            let id = TileId::new(level as u8, index, partial.len() as u16);
            let tile = id.and_then(|id| Tile::new(id, partial.clone()));
            tiles.insert(tile.map_err(AppError::internal)?);
        }
        Frontier::read(self.size, |subtree| tiles.hash(subtree)).map_err(AppError::internal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frontier_and_tiles_equal_those_of_a_growing_tree() {
        let mut tree = Tree::default();
        let mut growth = audit_ledger::Growth::new(Frontier::new());
        let mut completed = Vec::new();
        for n in 0..66_000_u32 {
            let leaf = Hash::of_leaf(&n.to_be_bytes());
            growth.extend(&[leaf]);
            completed.extend(tree.append(leaf).unwrap());
            if n % 997 == 0 || (n + 2) % 256 < 4 || n > 65_530 && n < 65_540 {
                assert_eq!(&tree.frontier().unwrap(), growth.frontier(), "{n}");
            }
        }
        let (_, mut full) = growth.finish(|id: TileId| Err(id.to_string())).unwrap();
        let key = |tile: &Tile| (tile.id().level(), tile.id().index());
        completed.sort_by_key(key);
        full.sort_by_key(key);
        assert_eq!(completed.len(), 257 + 1);
        assert_eq!(completed, full);
    }
}
