//! What an append adds to the tiles.

use crate::tile::{TILE_HEIGHT, Tile, TileError, TileId};
use crate::{Frontier, Hash, TreeHead};

/// A tree growing by some leaves, and the tiles that they fill. One for each transaction that appends: it computes every
/// hash once and holds 33 bytes or so for each new leaf.
///
/// ```
/// use audit_ledger::{Frontier, Growth, Hash};
/// use std::io::{Error, ErrorKind};
///
/// let mut growth = Growth::new(Frontier::new());
/// for n in 0..300_u16 {
///     growth.append(Hash::of_leaf(&n.to_be_bytes()));
/// }
/// // The tree was empty, so no tile was begun before.
/// let (frontier, full) = growth.finish(|_| Err(Error::from(ErrorKind::NotFound)))?;
/// assert_eq!(full.iter().map(|tile| tile.id().to_string()).collect::<Vec<_>>(), ["tile/0/000"]);
/// assert_eq!(frontier.size(), 300);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Growth {
    frontier: Frontier,
    from: u64,
    /// The new hashes at each level of tiles, from left to right.
    added: [Vec<Hash>; TileId::LEVEL_MAX as usize + 1],
}

/// The full tiles of an append could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GrowthError<E> {
    /// A tile that was begun before could not be read.
    #[error("cannot read the begun {id}")]
    Read {
        /// The tile as it was before the append.
        id: TileId,
        /// Why not.
        #[source]
        source: E,
    },
    /// Another tile was read than was asked for.
    #[error(transparent)]
    Tile(#[from] TileError),
    /// What was read is not what the tree was made of when it was appended: somebody changed it since. Written down, the
    /// tile would contradict every checkpoint from now on.
    #[error("{id} does not hash to the tree's own node: its hashes were changed since they were appended")]
    Changed {
        /// The tile.
        id: TileId,
    },
}

impl Growth {
    /// A tree that is about to grow.
    pub fn new(frontier: Frontier) -> Self {
        Self {
            from: frontier.size(),
            frontier,
            added: Default::default(),
        }
    }

    /// Appends a leaf by its hash and returns its index in the tree.
    pub fn append(&mut self, leaf: Hash) -> u64 {
        let added = &mut self.added;
        self.frontier.append_each(leaf, |level, hash| {
            if level % TILE_HEIGHT == 0
                && let Some(hashes) = added.get_mut(usize::from(level / TILE_HEIGHT))
            {
                hashes.push(hash);
            }
        })
    }

    /// How many leaves the tree had.
    pub const fn from(&self) -> u64 {
        self.from
    }

    /// The hashes of the new leaves.
    pub fn leaves(&self) -> &[Hash] {
        &self.added[0]
    }

    /// The tree as it is now.
    pub const fn frontier(&self) -> &Frontier {
        &self.frontier
    }

    /// Size and root as they are now.
    pub fn head(&self) -> TreeHead {
        self.frontier.head()
    }

    /// The grown tree, and the tiles that have become full: those [`TileId::completed`] names.
    ///
    /// `begun` reads a tile as it was before the append, partial therefore. It is asked for one at each level where a tile
    /// becomes full that was begun earlier: about once in 256 leaves at level 0, once in 65,536 at level 1. The hashes of
    /// level 0 are those of the leaves, the others the roots of full tiles, so nothing but full tiles need be kept. What
    /// is read is held against the tree's own hashes, at the cost of one more hash for each leaf.
    ///
    /// # Errors
    /// [`GrowthError`] when `begun` fails, or what it read was changed since it was appended.
    pub fn finish<E>(
        &self,
        mut begun: impl FnMut(TileId) -> Result<Tile, E>,
    ) -> Result<(Frontier, Vec<Tile>), GrowthError<E>> {
        let mut tiles = Vec::new();
        for level in 0..=TileId::LEVEL_MAX {
            let of_level = |id: &TileId| id.level() == level;
            let mut full = TileId::completed(self.from, self.frontier.size())
                .filter(of_level)
                .peekable();
            if full.peek().is_none() {
                // Where no tile becomes full nothing is added above.
                break;
            }
            let mut hashes = match TileId::partial_of(self.from).find(of_level) {
                Some(id) => {
                    let tile = begun(id).map_err(|source| GrowthError::Read { id, source })?;
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
