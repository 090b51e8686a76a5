//! The map as a tree: stored parts, updates and paths.
//!
//! The store has the tree down to [`BUCKET_DEPTH`] in tiles of six levels, without empty children. Below it are buckets: the
//! leaves with one prefix, seldom more than one of them. An update reads and writes only the tiles and buckets above changed
//! leaves, and verifies them against the root before it uses them.

use super::TenantMapKey;
use crate::Hash;
use std::collections::{BTreeMap, BTreeSet};

/// The depth of the map: the length of every path.
pub const MAP_DEPTH: u8 = 64;
/// The depth of the buckets.
pub const BUCKET_DEPTH: u8 = 18;
/// The levels of a tile.
const TILE_LEVELS: u8 = 6;
/// The depths at which tiles begin, the deepest first.
const TILE_DEPTHS: [u8; 3] = [12, 6, 0];

/// The hashes of the siblings on the way from a leaf to the root, the leaf's own sibling first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantPath(Vec<Hash>);

/// The position of a tile: its depth, and the bits of the slots below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MapTileId {
    /// 0, 6 or 12.
    pub depth: u8,
    /// The first `depth` bits of the slots.
    pub prefix: u64,
}

/// The children of a tile that are not empty, by their six bits. Encoding: child (one byte) and hash, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MapTile(pub(super) BTreeMap<u8, Hash>);

/// The stored tiles and leaves above and beside some slots.
#[derive(Clone, Debug, Default)]
pub struct MapPart {
    pub(super) tiles: BTreeMap<MapTileId, MapTile>,
    /// Leaves by bucket and slot.
    buckets: BTreeMap<u64, BTreeMap<u64, Hash>>,
}

/// A stored part of the map does not lead to its root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MapError {
    /// The bytes are not those of a tile.
    #[error("a tile of the tenants' map cannot be read")]
    Tile,
    /// A hash is not that of the nodes below it.
    #[error("the node of the tenants' map at depth {depth} is not that of the tenants below it")]
    Node {
        /// Its depth.
        depth: u8,
    },
    /// The path does not have [`MAP_DEPTH`] hashes.
    #[error("a path in the tenants' map has {MAP_DEPTH} hashes")]
    PathLength,
    /// The path leads to another root.
    #[error("the path does not lead to the root of the tenants' map")]
    PathRoot,
}

/// The bucket of a slot.
const fn bucket_of(slot: u64) -> u64 {
    slot >> (MAP_DEPTH - BUCKET_DEPTH)
}

/// The hash of a subtree over nodes of the depth `bottom`, which are sorted and all in it.
fn subtree(key: &TenantMapKey, (depth, prefix): (u8, u64), bottom: u8, nodes: &[(u64, Hash)]) -> Hash {
    let Some((_, first)) = nodes.first() else {
        return key.empty(depth, prefix);
    };
    if depth == bottom {
        return *first;
    }
    let left = prefix << 1;
    let middle = nodes.partition_point(|(node, _)| node >> (bottom - depth - 1) <= left);
    let (before, behind) = nodes.split_at(middle);
    Hash::of_node(
        &subtree(key, (depth + 1, left), bottom, before),
        &subtree(key, (depth + 1, left | 1), bottom, behind),
    )
}

/// The siblings on the way from a node of the depth `bottom` up to the depth `top`, in a subtree with these nodes.
fn siblings(key: &TenantMapKey, top: u8, node: u64, bottom: u8, nodes: &[(u64, Hash)]) -> Vec<Hash> {
    let levels = (top + 1..=bottom).rev();
    let sibling = |depth: u8| {
        let shift = bottom - depth;
        let other = (node >> shift) ^ 1;
        let start = nodes.partition_point(|(node, _)| node >> shift < other);
        let end = nodes.partition_point(|(node, _)| node >> shift <= other);
        subtree(key, (depth, other), bottom, &nodes[start..end])
    };
    levels.map(sibling).collect()
}

/// The root of the map with these leaves by slot.
pub(super) fn root_over(key: &TenantMapKey, leaves: &BTreeMap<u64, Hash>) -> Hash {
    subtree(key, (0, 0), MAP_DEPTH, &listed(leaves))
}

fn listed(leaves: &BTreeMap<u64, Hash>) -> Vec<(u64, Hash)> {
    leaves.iter().map(|(slot, leaf)| (*slot, *leaf)).collect()
}

impl TenantPath {
    /// A path with these hashes, not yet verified.
    ///
    /// # Errors
    /// [`MapError::PathLength`].
    pub fn new(hashes: Vec<Hash>) -> Result<Self, MapError> {
        match hashes.len() == usize::from(MAP_DEPTH) {
            true => Ok(Self(hashes)),
            false => Err(MapError::PathLength),
        }
    }

    /// The hashes in base64.
    pub fn to_base64(&self) -> Vec<String> {
        self.0.iter().map(Hash::to_string).collect()
    }

    /// Parses the output of [`Self::to_base64`].
    ///
    /// # Errors
    /// [`MapError::PathLength`] if it is not a list of [`MAP_DEPTH`] hashes.
    pub fn from_base64(texts: impl IntoIterator<Item: AsRef<str>>) -> Result<Self, MapError> {
        let limit = usize::from(MAP_DEPTH) + 1;
        let hashes = texts.into_iter().take(limit).map(|text| text.as_ref().parse());
        let hashes: Result<Vec<Hash>, _> = hashes.collect();
        Self::new(hashes.map_err(|_| MapError::PathLength)?)
    }

    /// The hashes.
    pub fn hashes(&self) -> &[Hash] {
        &self.0
    }

    /// Verifies that the map with this root has the leaf at the slot.
    ///
    /// # Errors
    /// [`MapError::PathRoot`].
    pub fn verify(&self, slot: u64, leaf: Hash, root: &Hash) -> Result<(), MapError> {
        let mut node = slot;
        let mut hash = leaf;
        for sibling in &self.0 {
            hash = match node & 1 {
                0 => Hash::of_node(&hash, sibling),
                _ => Hash::of_node(sibling, &hash),
            };
            node >>= 1;
        }
        match hash == *root {
            true => Ok(()),
            false => Err(MapError::PathRoot),
        }
    }
}

impl MapTileId {
    /// The tiles above these slots.
    pub fn above(slots: impl IntoIterator<Item = u64>) -> BTreeSet<Self> {
        let above = |slot: u64| TILE_DEPTHS.map(|depth| Self::of_slot(depth, slot));
        slots.into_iter().flat_map(above).collect()
    }

    const fn of_slot(depth: u8, slot: u64) -> Self {
        let prefix = match depth {
            0 => 0,
            depth => slot >> (MAP_DEPTH - depth),
        };
        Self { depth, prefix }
    }

    /// The tile that has the node with this prefix at its bottom, and the child.
    const fn of_node(depth: u8, node: u64) -> (Self, u8) {
        let id = Self {
            depth: depth - TILE_LEVELS,
            prefix: node >> TILE_LEVELS,
        };
        (id, (node & 63) as u8)
    }
}

impl MapTile {
    /// Encodes the tile.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.0.len() * 33);
        for (child, hash) in &self.0 {
            bytes.push(*child);
            bytes.extend_from_slice(hash.as_bytes());
        }
        bytes
    }

    /// Decodes the output of [`Self::encode`].
    ///
    /// # Errors
    /// [`MapError::Tile`] if the bytes are not an encoding.
    pub fn decode(bytes: &[u8]) -> Result<Self, MapError> {
        let (children, rest) = bytes.as_chunks::<33>();
        let mut tile = BTreeMap::new();
        for [child, hash @ ..] in children {
            let is_next = tile.last_key_value().is_none_or(|(last, _)| last < child);
            if *child > 63 || !is_next {
                return Err(MapError::Tile);
            }
            tile.insert(*child, Hash::from_bytes(*hash));
        }
        match rest.is_empty() && !tile.is_empty() {
            true => Ok(Self(tile)),
            false => Err(MapError::Tile),
        }
    }

    fn nodes(&self, id: MapTileId) -> Vec<(u64, Hash)> {
        let first = id.prefix << TILE_LEVELS;
        let node = |(child, hash): (&u8, &Hash)| (first | u64::from(*child), *hash);
        self.0.iter().map(node).collect()
    }

    fn hash(&self, key: &TenantMapKey, id: MapTileId) -> Hash {
        subtree(
            key,
            (id.depth, id.prefix),
            id.depth + TILE_LEVELS,
            &self.nodes(id),
        )
    }
}

impl MapPart {
    /// The buckets of these slots.
    pub fn buckets_of(slots: impl IntoIterator<Item = u64>) -> BTreeSet<u64> {
        slots.into_iter().map(bucket_of).collect()
    }

    /// The part with these tiles, without leaves.
    pub fn new(tiles: impl IntoIterator<Item = (MapTileId, MapTile)>) -> Self {
        Self {
            tiles: tiles.into_iter().collect(),
            buckets: BTreeMap::new(),
        }
    }

    /// Sets the leaf at a slot.
    pub fn insert(&mut self, slot: u64, leaf: Hash) {
        self.buckets
            .entry(bucket_of(slot))
            .or_default()
            .insert(slot, leaf);
    }

    /// The root of the map without tenants.
    pub fn empty_root(key: &TenantMapKey) -> Hash {
        key.empty(0, 0)
    }

    /// Verifies that the tiles and buckets above these slots are those of the map with this root.
    ///
    /// # Errors
    /// [`MapError::Node`] names the first difference.
    pub fn verify(
        &self,
        key: &TenantMapKey,
        root: &Hash,
        slots: impl IntoIterator<Item = u64>,
    ) -> Result<(), MapError> {
        let check = |depth: u8, node: u64, found: Option<Hash>| {
            let (id, child) = MapTileId::of_node(depth, node);
            let expected = self.tiles.get(&id).and_then(|tile| tile.0.get(&child)).copied();
            match expected == found {
                true => Ok(()),
                false => Err(MapError::Node { depth }),
            }
        };
        let buckets = Self::buckets_of(slots);
        for bucket in &buckets {
            check(BUCKET_DEPTH, *bucket, self.bucket_hash(key, *bucket))?;
        }
        let first_slots = buckets.iter().map(|bucket| bucket << (MAP_DEPTH - BUCKET_DEPTH));
        for id in MapTileId::above(first_slots) {
            let found = self.tiles.get(&id).map(|tile| tile.hash(key, id));
            match id.depth {
                0 if found.unwrap_or_else(|| Self::empty_root(key)) != *root => {
                    return Err(MapError::Node { depth: 0 });
                }
                0 => {}
                depth => check(depth, id.prefix, found)?,
            }
        }
        Ok(())
    }

    /// Sets leaves. Returns the new root and the tiles that have changed.
    pub fn update(
        &mut self,
        key: &TenantMapKey,
        leaves: impl IntoIterator<Item = (u64, Hash)>,
    ) -> (Hash, Vec<(MapTileId, MapTile)>) {
        let mut nodes = BTreeSet::new();
        for (slot, leaf) in leaves {
            self.insert(slot, leaf);
            nodes.insert(bucket_of(slot));
        }
        let mut changed = Vec::new();
        for depth in TILE_DEPTHS {
            let below = depth + TILE_LEVELS;
            let mut ids = BTreeSet::new();
            for node in nodes {
                let (id, child) = MapTileId::of_node(below, node);
                let hash = match below {
                    BUCKET_DEPTH => self.bucket_hash(key, node),
                    depth => self.tile_hash(key, MapTileId { depth, prefix: node }),
                };
                if let Some(hash) = hash {
                    self.tiles.entry(id).or_default().0.insert(child, hash);
                }
                ids.insert(id);
            }
            let tile = |id: &MapTileId| Some((*id, self.tiles.get(id)?.clone()));
            changed.extend(ids.iter().filter_map(tile));
            nodes = ids.into_iter().map(|id| id.prefix).collect();
        }
        let root = self.tile_hash(key, MapTileId { depth: 0, prefix: 0 });
        (root.unwrap_or_else(|| Self::empty_root(key)), changed)
    }

    /// The path of a slot. The tiles and the bucket above it must be in this part.
    pub fn path(&self, key: &TenantMapKey, slot: u64) -> TenantPath {
        let bucket = self.buckets.get(&bucket_of(slot));
        let leaves = bucket.map(listed).unwrap_or_default();
        let mut hashes = siblings(key, BUCKET_DEPTH, slot, MAP_DEPTH, &leaves);
        for depth in TILE_DEPTHS {
            let below = depth + TILE_LEVELS;
            let id = MapTileId::of_slot(depth, slot);
            let nodes = self.tiles.get(&id).map(|tile| tile.nodes(id)).unwrap_or_default();
            hashes.extend(siblings(key, depth, slot >> (MAP_DEPTH - below), below, &nodes));
        }
        TenantPath(hashes)
    }

    fn bucket_hash(&self, key: &TenantMapKey, bucket: u64) -> Option<Hash> {
        let leaves = self.buckets.get(&bucket)?;
        Some(subtree(key, (BUCKET_DEPTH, bucket), MAP_DEPTH, &listed(leaves)))
    }

    fn tile_hash(&self, key: &TenantMapKey, id: MapTileId) -> Option<Hash> {
        Some(self.tiles.get(&id)?.hash(key, id))
    }
}
