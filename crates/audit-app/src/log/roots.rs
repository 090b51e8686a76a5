//! The cache of the roots of full tiles. A partial tile above level 0 consists of the roots of up to 255 tiles below it.
//! Computing them again would be nearly all of the cost of a proof.

use crate::error::{AppError, Result};
use audit_ledger::{Hash, Tile, TileId};
use audit_store::{LedgerId, Reader};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ops::Range;

/// The maximum number of cached roots, about 100 bytes each. Enough for 16 million events.
const ROOTS_MAX: usize = 65_536;

/// Ledger, level and index of a full tile.
type TileKey = (LedgerId, u8, u64);

/// Cached roots. A full tile never changes, so entries never become stale; but only committed tiles may be cached.
#[derive(Debug, Default)]
pub(crate) struct TileRoots(Mutex<HashMap<TileKey, Hash>>);

impl TileRoots {
    /// A tile above level 0, computed from the full tiles below it. Reads only those that are not cached. `None` when one is
    /// missing. `reader` must not see uncommitted changes.
    pub(super) fn tile_above(
        &self,
        reader: &mut Reader<'_>,
        ledger_id: LedgerId,
        id: TileId,
    ) -> Result<Option<Tile>> {
        let Some(level) = id.level().checked_sub(1) else {
            return Ok(None);
        };
        let first = id.index() * u64::from(TileId::WIDTH_MAX);
        let end = first + u64::from(id.width());
        let mut hashes = self.cached(ledger_id, level, first..end);
        let uncached = first + hashes.len() as u64;
        if uncached < end {
            let read = reader.log_tile_roots(ledger_id, level, uncached..end)?;
            if read.len() as u64 != end - uncached {
                return Ok(None);
            }
            self.insert(ledger_id, level, uncached, &read);
            hashes.extend(read);
        }
        Tile::new(id, hashes).map(Some).map_err(AppError::internal)
    }

    /// The roots of the first tiles, up to the first that is not cached.
    fn cached(&self, ledger_id: LedgerId, level: u8, indexes: Range<u64>) -> Vec<Hash> {
        let roots = self.0.lock();
        let cached = indexes.map_while(|index| roots.get(&(ledger_id, level, index)).copied());
        cached.collect()
    }

    fn insert(&self, ledger_id: LedgerId, level: u8, first: u64, hashes: &[Hash]) {
        let mut roots = self.0.lock();
        if roots.len() + hashes.len() > ROOTS_MAX {
            roots.clear();
        }
        let keys = (first..).map(|index| (ledger_id, level, index));
        roots.extend(keys.zip(hashes.iter().copied()));
    }
}
