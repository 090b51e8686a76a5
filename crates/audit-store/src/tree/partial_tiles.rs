//! The cache of partial tiles, so that filling a tile reads no stored events.

use crate::append::LedgerId;
use audit_ledger::{Growth, Hash, TileId};
use parking_lot::Mutex;
use std::collections::HashMap;

/// Ledgers whose partial tiles are cached, at most: 8 KB each.
const PARTIAL_TILES_MAX: usize = 100;

/// The leaves of the last, partial tile of each ledger, as they were appended. They may be from a commit that was rolled
/// back, so a tile that is computed from them is checked against the tree, like one that is computed from stored events.
/// The writers of a process share them.
#[derive(Debug, Default)]
pub(crate) struct PartialTiles(Mutex<HashMap<LedgerId, PartialTile>>);

/// The partial tile of one ledger.
#[derive(Debug)]
struct PartialTile {
    /// The size of the tree.
    size: u64,
    leaves: Vec<Hash>,
}

impl PartialTiles {
    /// The leaves of the partial tile of a tree of this size.
    pub(super) fn get(&self, ledger_id: LedgerId, size: u64) -> Option<Vec<Hash>> {
        let tiles = self.0.lock();
        let tile = tiles.get(&ledger_id)?;
        (tile.size == size).then(|| tile.leaves.clone())
    }

    /// Caches the partial tile of a tree that has grown.
    pub(super) fn grown(&self, ledger_id: LedgerId, growth: &Growth) {
        let (size, new) = (growth.frontier().size(), growth.leaves());
        let width = (size % u64::from(TileId::WIDTH_MAX)) as usize;
        let mut tiles = self.0.lock();
        let known = tiles.remove(&ledger_id).filter(|tile| tile.size == growth.from());
        let leaves = match (new.len().checked_sub(width), known) {
            (Some(before), _) => new[before..].to_vec(),
            (None, Some(PartialTile { mut leaves, .. })) => {
                leaves.extend_from_slice(new);
                leaves
            }
            (None, None) => return,
        };
        if tiles.len() >= PARTIAL_TILES_MAX {
            tiles.clear();
        }
        tiles.insert(ledger_id, PartialTile { size, leaves });
    }
}
