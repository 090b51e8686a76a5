//! The cache of the roots of full tiles. A partial tile above level 0 consists of the roots of up to 255 tiles below it.
//! Computing them again would be nearly all of the cost of a proof.

use crate::error::{AppError, Result};
use audit_ledger::{Hash, Tile, TileId};
use audit_store::{LedgerId, Reader};
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// The maximum number of cached roots, about 100 bytes each. Enough for 16 million events.
const ROOTS_MAX: usize = 65_536;

/// The roots of the full tiles of one ledger, by level and index.
type LedgerRoots = BTreeMap<(u8, u64), Hash>;

/// Cached roots. Only committed tiles may be cached. A full tile never changes, unless the database loses commits: then the
/// roots belong to another history. So every proof that is computed from them is verified, and computed again without them when it
/// is wrong ([`Self::retried`]).
#[derive(Debug, Default)]
pub(crate) struct TileRoots(Mutex<Cached>);

#[derive(Debug, Default)]
struct Cached {
    ledgers: HashMap<LedgerId, LedgerRoots>,
    count: usize,
}

impl Cached {
    /// Drops every second of the other ledgers, in the random order of the map, so that most of those in use stay cached. If
    /// that is not enough, drops all.
    fn make_room(&mut self, ledger_id: LedgerId) {
        let mut number = 0_usize;
        self.ledgers.retain(|other, _| {
            number += usize::from(*other != ledger_id);
            *other == ledger_id || number.is_multiple_of(2)
        });
        self.count = self.ledgers.values().map(BTreeMap::len).sum();
        if self.count > ROOTS_MAX / 2 {
            *self = Self::default();
        }
    }
}

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

    /// Runs `prove`, which verifies what it computes from cached roots. When it finds that the log contradicts its
    /// checkpoint, drops the roots of the ledger, which may be of a history that the database has lost, and runs it again.
    pub(super) fn retried<T>(&self, ledger_id: LedgerId, mut prove: impl FnMut() -> Result<T>) -> Result<T> {
        match prove() {
            Err(AppError::LogInconsistent(_)) if self.forget(ledger_id) => prove(),
            outcome => outcome,
        }
    }

    /// Drops the cached roots of a ledger. Returns whether there were any.
    fn forget(&self, ledger_id: LedgerId) -> bool {
        let mut cached = self.0.lock();
        let forgotten = cached.ledgers.remove(&ledger_id).map_or(0, |roots| roots.len());
        cached.count -= forgotten;
        forgotten > 0
    }

    /// The roots of the first tiles, up to the first that is not cached.
    fn cached(&self, ledger_id: LedgerId, level: u8, indexes: Range<u64>) -> Vec<Hash> {
        let cached = self.0.lock();
        let Some(roots) = cached.ledgers.get(&ledger_id) else {
            return Vec::new();
        };
        indexes
            .map_while(|index| roots.get(&(level, index)).copied())
            .collect()
    }

    fn insert(&self, ledger_id: LedgerId, level: u8, first: u64, hashes: &[Hash]) {
        let mut cached = self.0.lock();
        if cached.count + hashes.len() > ROOTS_MAX {
            cached.make_room(ledger_id);
        }
        let roots = cached.ledgers.entry(ledger_id).or_default();
        let before = roots.len();
        let keys = (first..).map(|index| (level, index));
        roots.extend(keys.zip(hashes.iter().copied()));
        let added = roots.len() - before;
        cached.count += added;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_cache_drops_some_ledgers_and_keeps_its_limit() {
        let roots = TileRoots::default();
        let hashes = vec![Hash::of_empty_tree(); 256];
        let ledgers: Vec<LedgerId> = (1..=1_000).map(LedgerId).collect();
        for ledger_id in &ledgers {
            roots.insert(*ledger_id, 0, 0, &hashes);
            assert_eq!(roots.cached(*ledger_id, 0, 0..256).len(), 256);
            let cached = roots.0.lock();
            assert!(cached.count <= ROOTS_MAX);
            assert_eq!(
                cached.count,
                cached.ledgers.values().map(BTreeMap::len).sum::<usize>()
            );
        }
        let kept = ledgers
            .iter()
            .filter(|ledger_id| !roots.cached(**ledger_id, 0, 0..1).is_empty());
        assert!(kept.count() >= ROOTS_MAX / 256 / 2);
    }

    #[test]
    fn one_ledger_alone_stays_within_the_limit() {
        let roots = TileRoots::default();
        let hashes = vec![Hash::of_empty_tree(); 256];
        for first in (0..2 * ROOTS_MAX as u64).step_by(256) {
            roots.insert(LedgerId(1), 0, first, &hashes);
            assert!(roots.0.lock().count <= ROOTS_MAX);
        }
    }
}
