//! The roots of full tiles, kept in memory. A partial tile above the leaves is made of them, and computing those of up to
//! 255 tiles for each proof would be nearly all of what a proof costs.

use crate::error::{AppError, Result};
use audit_ledger::{Hash, Tile, TileId};
use audit_store::{LedgerId, Reader};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ops::Range;

/// Roots that are kept, about 100 bytes each; those of 16 million events.
const ROOTS_MAX: usize = 65_536;

/// Ledger, level and index of a full tile.
type Place = (LedgerId, u8, u64);

/// The roots of tiles that were read. A full tile never changes, so none is ever wrong; but only what is committed may be
/// kept.
#[derive(Debug, Default)]
pub(crate) struct TileRoots(Mutex<HashMap<Place, Hash>>);

impl TileRoots {
    /// A tile above the leaves, made of the full tiles below it, of which only those are read that were not before. `None`
    /// when one is missing. `reader` must not see uncommitted changes.
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
        let mut hashes = self.known(ledger_id, level, first..end);
        let unknown = first + hashes.len() as u64;
        if unknown < end {
            let read = reader.log_tile_roots(ledger_id, level, unknown..end)?;
            if read.len() as u64 != end - unknown {
                return Ok(None);
            }
            self.keep(ledger_id, level, unknown, &read);
            hashes.extend(read);
        }
        Tile::new(id, hashes).map(Some).map_err(AppError::internal)
    }

    /// The roots of the first tiles, up to one that is not known.
    fn known(&self, ledger_id: LedgerId, level: u8, indexes: Range<u64>) -> Vec<Hash> {
        let roots = self.0.lock();
        let known = indexes.map_while(|index| roots.get(&(ledger_id, level, index)).copied());
        known.collect()
    }

    fn keep(&self, ledger_id: LedgerId, level: u8, first: u64, hashes: &[Hash]) {
        let mut roots = self.0.lock();
        if roots.len() + hashes.len() > ROOTS_MAX {
            roots.clear();
        }
        let places = (first..).map(|index| (ledger_id, level, index));
        roots.extend(places.zip(hashes.iter().copied()));
    }
}
