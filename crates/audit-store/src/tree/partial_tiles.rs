//! The cache of partial tiles, so that filling a tile reads no stored events.

use crate::ids::LedgerId;
use audit_ledger::{Frontier, Growth, Hash, TileId};
use parking_lot::Mutex;
use quick_cache::unsync::Cache;

/// Ledgers whose partial tiles are cached, at most: 8 KB each, and half of that on average.
const PARTIAL_TILES_MAX: usize = 1_000;

/// The leaves of the last, partial tile of each ledger, as they were appended. They may be from a commit that was rolled
/// back or lost. So they belong to the right edge of their tree, which identifies all leaves, and not to its size; and a
/// tile that is computed from them is checked against the tree, like one that is computed from stored events. The writers
/// of a process share them.
#[derive(Debug)]
pub(crate) struct PartialTiles(Mutex<Cache<LedgerId, PartialTile>>);

impl Default for PartialTiles {
    fn default() -> Self {
        Self(Mutex::new(Cache::new(PARTIAL_TILES_MAX)))
    }
}

/// The partial tile of one ledger.
#[derive(Clone, Debug)]
struct PartialTile {
    /// The right edge of the tree.
    frontier: Frontier,
    leaves: Vec<Hash>,
}

impl PartialTiles {
    /// The leaves of the partial tile of a tree with this edge.
    pub(crate) fn get(&self, ledger_id: LedgerId, frontier: &Frontier) -> Option<Vec<Hash>> {
        let tiles = self.0.lock();
        let tile = tiles.get(&ledger_id)?;
        (tile.frontier == *frontier).then(|| tile.leaves.clone())
    }

    /// Caches the partial tile of a tree that has grown.
    pub(crate) fn grown(&self, ledger_id: LedgerId, growth: &Growth) {
        let (frontier, new) = (growth.frontier(), growth.leaves());
        let width = (frontier.size() % u64::from(TileId::WIDTH_MAX)) as usize;
        let mut tiles = self.0.lock();
        let known = tiles.remove(&ledger_id).map(|(_, tile)| tile);
        let known = known.filter(|tile| tile.frontier == *growth.before());
        let leaves = match (new.len().checked_sub(width), known) {
            (Some(before), _) => new[before..].to_vec(),
            (None, Some(PartialTile { mut leaves, .. })) => {
                leaves.extend_from_slice(new);
                leaves
            }
            (None, None) => return,
        };
        let tile = PartialTile {
            frontier: frontier.clone(),
            leaves,
        };
        tiles.insert(ledger_id, tile);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Appends these leaves and returns the new edge.
    fn grow(tiles: &PartialTiles, before: &Frontier, leaves: &[u8]) -> Frontier {
        let mut growth = Growth::new(before.clone());
        growth.extend(
            &leaves
                .iter()
                .map(|leaf| Hash::of_leaf(&[*leaf]))
                .collect::<Vec<_>>(),
        );
        tiles.grown(LedgerId(1), &growth);
        growth.frontier().clone()
    }

    fn leaves(tiles: &PartialTiles, frontier: &Frontier) -> Option<usize> {
        tiles.get(LedgerId(1), frontier).map(|leaves| leaves.len())
    }

    #[test]
    fn leaves_of_another_history_of_the_same_size_are_not_used() {
        let tiles = PartialTiles::default();
        let two = grow(&tiles, &Frontier::new(), &[1, 2]);
        let three = grow(&tiles, &two, &[3]);
        assert_eq!(leaves(&tiles, &three), Some(3));
        // The third leaf is lost, and another process appends another one.
        let mut other = two;
        other.append(Hash::of_leaf(&[4]));
        assert_eq!(leaves(&tiles, &other), None);
        let four = grow(&tiles, &other, &[5]);
        assert_eq!(leaves(&tiles, &four), None);
    }
}
