//! The hashes of a tile.

use super::{TileError, TileId, tile_hashes_below};
use crate::{Frontier, Hash, Subtree};
use audit_domain::ContentHash;

/// A tile with its hashes: the hashes concatenated from left to right. Do not trust them until a proof or frontier computed
/// from them leads to a signed root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile {
    id: TileId,
    hashes: Vec<Hash>,
}

impl Tile {
    /// A tile with its hashes from left to right.
    ///
    /// # Errors
    /// [`TileError::Length`] if their number is not the width of the tile.
    pub fn new(id: TileId, hashes: Vec<Hash>) -> Result<Self, TileError> {
        let bytes = hashes.len() * Hash::BYTES;
        if bytes != id.bytes() {
            return Err(TileError::Length { id, bytes });
        }
        Ok(Self { id, hashes })
    }

    /// Decodes the output of [`Self::encode`].
    ///
    /// # Errors
    /// [`TileError::Length`] if the length does not match the width of the tile.
    pub fn decode(id: TileId, bytes: &[u8]) -> Result<Self, TileError> {
        if bytes.len() != id.bytes() {
            return Err(TileError::Length {
                id,
                bytes: bytes.len(),
            });
        }
        let (hashes, _) = bytes.as_chunks::<{ Hash::BYTES }>();
        let hashes = hashes.iter().map(|bytes| Hash::from_bytes(*bytes)).collect();
        Ok(Self { id, hashes })
    }

    /// Encodes the tile as it is served and stored.
    pub fn encode(&self) -> Vec<u8> {
        self.hashes.iter().flat_map(|hash| *hash.as_bytes()).collect()
    }

    /// The identity of the tile.
    pub const fn id(&self) -> TileId {
        self.id
    }

    /// The hashes from left to right.
    pub fn hashes(&self) -> &[Hash] {
        &self.hashes
    }

    /// The hashes, if the tile is the one requested.
    pub(crate) fn into_hashes_of(self, id: TileId) -> Result<Vec<Hash>, TileError> {
        if self.id != id {
            return Err(TileError::Other { id, other: self.id });
        }
        Ok(self.hashes)
    }

    /// The hash of a subtree between this tile level and the next, or `None` if the tile does not have all its hashes.
    pub fn hash(&self, subtree: Subtree) -> Option<Hash> {
        let (level, range) = tile_hashes_below(subtree);
        let first = self.id.hash_range().start;
        let start = usize::try_from(range.start.checked_sub(first)?).ok()?;
        let end = usize::try_from(range.end - first).ok()?;
        let below = self.hashes.get(start..end).filter(|_| level == self.id.level);
        below.map(hash_over)
    }

    /// The hash of a full tile in the tile above. `None` for a partial tile, which has no hash there.
    pub fn root(&self) -> Option<Hash> {
        self.id.is_full().then(|| hash_over(&self.hashes))
    }

    /// The first subtree whose hash in `hashes` differs from the tile's or is missing. Use it to find the event if a
    /// recomputed root differs from the signed root: compare the tiles of level 0 with the leaf hashes of the events. The index
    /// of the returned subtree is the event's `seq`.
    pub fn first_difference(&self, hashes: &[Hash]) -> Option<Subtree> {
        let pairs = self.id.subtrees().zip(&self.hashes);
        let mut others = hashes.iter();
        pairs
            .into_iter()
            .find(|(_, held)| others.next() != Some(held))
            .map(|(subtree, _)| subtree)
    }
}

/// The bundle of the entries below a tile of level 0: each entry with its length in two bytes before it
/// ([C2SP `tlog-tiles`](https://c2sp.org/tlog-tiles)). An entry is the content hash of an event.
#[must_use]
pub fn entry_bundle(entries: &[ContentHash]) -> Vec<u8> {
    let entry = |entry: &ContentHash| {
        let bytes = *entry.as_bytes();
        (bytes.len() as u16).to_be_bytes().into_iter().chain(bytes)
    };
    entries.iter().flat_map(entry).collect()
}

/// The hash over `2^n` adjacent hashes: the root of a tree with them as leaves.
fn hash_over(hashes: &[Hash]) -> Hash {
    let mut frontier = Frontier::new();
    frontier.extend(hashes);
    frontier.root()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes(count: u16) -> Vec<Hash> {
        (0..count).map(|n| Hash::of_leaf(&n.to_be_bytes())).collect()
    }

    #[test]
    fn a_tile_has_exactly_its_width_of_hashes() {
        let id = TileId::new(0, 3, 7).unwrap();
        let tile = Tile::new(id, hashes(7)).unwrap();
        assert_eq!(Tile::decode(id, &tile.encode()), Ok(tile.clone()));
        for count in [0, 6, 8] {
            let error = TileError::Length {
                id,
                bytes: usize::from(count) * 32,
            };
            assert_eq!(Tile::new(id, hashes(count)), Err(error));
        }
        let bytes = tile.encode();
        assert!(Tile::decode(id, &bytes[1..]).is_err());
        assert!(Tile::decode(id, &[bytes.as_slice(), &[0]].concat()).is_err());
    }

    #[test]
    fn the_first_difference_names_the_leaf() {
        let id = TileId::new(0, 3, 7).unwrap();
        let tile = Tile::new(id, hashes(7)).unwrap();
        assert_eq!(tile.first_difference(&hashes(7)), None);
        assert_eq!(
            tile.first_difference(&hashes(9)),
            None,
            "further hashes are not part of the tile"
        );
        let mut changed = hashes(7);
        changed[4] = changed[5];
        let seq = |hashes: &[Hash]| {
            tile.first_difference(hashes)
                .map(|subtree| (subtree.level(), subtree.index()))
        };
        assert_eq!(seq(&changed), Some((0, 3 * 256 + 4)));
        assert_eq!(seq(&hashes(6)), Some((0, 3 * 256 + 6)));
    }

    #[test]
    fn only_a_full_tile_has_a_hash_in_the_tile_above() {
        let full = Tile::new(TileId::new(1, 2, 256).unwrap(), hashes(256)).unwrap();
        let over = Subtree::new(15, 5).unwrap();
        let half = full.hash(over).unwrap();
        assert_eq!(
            full.root(),
            full.hash(Subtree::new(15, 4).unwrap())
                .map(|left| Hash::of_node(&left, &half))
        );
        assert_eq!(full.hash(Subtree::new(16, 2).unwrap()), None, "a tile further up");
        assert_eq!(
            full.hash(Subtree::new(15, 6).unwrap()),
            None,
            "a tile to the right"
        );
        assert_eq!(
            full.hash(Subtree::new(15, 3).unwrap()),
            None,
            "a tile to the left"
        );
        let first = Tile::new(TileId::new(1, 0, 256).unwrap(), hashes(256)).unwrap();
        for other_level in [Subtree::new(0, 0), Subtree::new(16, 0)] {
            assert_eq!(first.hash(other_level.unwrap()), None);
        }
        let partial = Tile::new(TileId::new(1, 2, 255).unwrap(), hashes(255)).unwrap();
        assert_eq!(partial.root(), None);
        assert_eq!(partial.hash(over), None);
    }
}
