//! Appending a batch of leaves and the tiles that it completes.

use crate::tile::{TILE_HEIGHT, Tile, TileError, TileId};
use crate::{Frontier, Hash, TreeHead};

/// A tree and the leaves that a transaction appends to it. It computes every hash once and holds about 33 bytes per new
/// leaf.
///
/// ```
/// use audit_ledger::{Frontier, Growth, Hash};
/// use std::io::{Error, ErrorKind};
///
/// let mut growth = Growth::new(Frontier::new());
/// let leaves: Vec<Hash> = (0..300_u16).map(|n| Hash::of_leaf(&n.to_be_bytes())).collect();
/// growth.extend(&leaves);
/// // The tree was empty, so there is no partial tile to read.
/// let (frontier, full) = growth.finish(|_| Err(Error::from(ErrorKind::NotFound)))?;
/// assert_eq!(full.iter().map(|tile| tile.id().to_string()).collect::<Vec<_>>(), ["tile/0/000"]);
/// assert_eq!(frontier.size(), 300);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Growth {
    before: Frontier,
    frontier: Frontier,
    /// By tile level: the new hashes from left to right.
    added: [Vec<Hash>; TileId::LEVEL_MAX as usize + 1],
}

/// The full tiles of an append cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GrowthError<E> {
    /// A partial tile cannot be read.
    #[error("cannot read partial tile {id}")]
    Read {
        /// The partial tile as of before the append.
        id: TileId,
        /// The cause.
        #[source]
        source: E,
    },
    /// The tile read is not the tile requested.
    #[error(transparent)]
    Tile(#[from] TileError),
    /// The hashes read were changed after they were appended. The tile would contradict every later checkpoint.
    #[error("{id} does not hash to its node in the tree: its hashes were changed after they were appended")]
    Changed {
        /// The tile.
        id: TileId,
    },
}

impl Growth {
    /// Starts an append to the tree with this frontier.
    pub fn new(frontier: Frontier) -> Self {
        Self {
            before: frontier.clone(),
            frontier,
            added: Default::default(),
        }
    }

    /// Appends leaves by their hashes.
    pub fn extend(&mut self, leaves: &[Hash]) {
        let added = &mut self.added;
        self.frontier.extend_each(leaves, |level, hashes| {
            if level % TILE_HEIGHT == 0
                && let Some(of_level) = added.get_mut(usize::from(level / TILE_HEIGHT))
            {
                of_level.extend_from_slice(hashes);
            }
        });
    }

    /// The number of leaves before the append.
    pub const fn from(&self) -> u64 {
        self.before.size()
    }

    /// The frontier of the tree before the append. Trees with equal frontiers have equal leaves.
    pub const fn before(&self) -> &Frontier {
        &self.before
    }

    /// The hashes of the new leaves.
    pub fn leaves(&self) -> &[Hash] {
        &self.added[0]
    }

    /// The frontier of the tree with the new leaves.
    pub const fn frontier(&self) -> &Frontier {
        &self.frontier
    }

    /// The size and root of the tree with the new leaves.
    pub fn head(&self) -> TreeHead {
        self.frontier.head()
    }

    /// The new frontier and the tiles that became full, as listed by [`TileId::completed`].
    ///
    /// `read_partial` reads a partial tile as of before the append. It is called once per level where a partial tile becomes
    /// full: about once per 256 leaves at level 0 and once per 65,536 at level 1. The hashes of level 0 are those of the
    /// leaves, and those of higher levels are the roots of full tiles, so only full tiles need to be stored. Each full tile
    /// is verified against the tree's own hashes, which costs one more hash per leaf.
    ///
    /// # Errors
    /// [`GrowthError`] if `read_partial` fails, or if the hashes it returns were changed after they were appended.
    pub fn finish<E>(
        &self,
        mut read_partial: impl FnMut(TileId) -> Result<Tile, E>,
    ) -> Result<(Frontier, Vec<Tile>), GrowthError<E>> {
        let mut tiles = Vec::new();
        for level in 0..=TileId::LEVEL_MAX {
            let of_level = |id: &TileId| id.level() == level;
            let mut full = TileId::completed(self.from(), self.frontier.size())
                .filter(of_level)
                .peekable();
            if full.peek().is_none() {
                // A level without a new full tile adds no hash to the level above.
                break;
            }
            let mut hashes = match TileId::partial_of(self.from()).find(of_level) {
                Some(id) => {
                    let tile = read_partial(id).map_err(|source| GrowthError::Read { id, source })?;
                    tile.into_hashes_of(id)?
                }
                None => Vec::new(),
            };
            let level = usize::from(level);
            hashes.extend_from_slice(&self.added[level]);
            let roots = self.added.get(level + 1).into_iter().flatten();
            let contents = hashes.chunks_exact(usize::from(TileId::WIDTH_MAX));
            for ((id, content), root) in full.zip(contents).zip(roots) {
                let tile = Tile::new(id, content.to_vec())?;
                if tile.root() != Some(*root) {
                    return Err(GrowthError::Changed { id });
                }
                tiles.push(tile);
            }
        }
        Ok((self.frontier.clone(), tiles))
    }
}
