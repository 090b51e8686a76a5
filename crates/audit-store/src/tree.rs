//! The verifiable log: the Merkle tree of each ledger, its tiles and its latest signed checkpoint.
//!
//! The tree grows in the transaction that stores the events, under the lock of the ledger's head. The head's row holds
//! the right edge of the tree (a few hundred bytes); every 256 leaves complete a tile, which is stored. Nothing else is
//! stored: leaf hashes are computed from the content hashes, and partial tiles from leaf hashes on request. The content hash of a
//! removed event is in the record of its removal.

mod checkpoints;
mod cosigned;
pub(crate) mod partial_tiles;
mod recent_trees;
mod repair;

pub use checkpoints::{CheckpointRow, NewCheckpoint, ScannedLedgers, SigningState};
pub use cosigned::{CosignedRow, NewCosigned};
pub(crate) use recent_trees::RecentTrees;
pub use repair::RepairedHead;

use crate::access::Reader;
use crate::columns::read_frontier;
use crate::database::on_either;
use crate::error::{Result, StoreError};
use crate::ids::LedgerId;
use crate::ledgers::heads::Heads;
use crate::schema::ledgers;
use audit_domain::ContentHash;
use audit_ledger::{Frontier, Growth, GrowthError, Hash, Tile, TileId, decode_records};
use diesel::prelude::*;
use partial_tiles::PartialTiles;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

const fn damaged(what: &'static str) -> StoreError {
    StoreError::Damaged { what }
}

/// The database operations of a tree.
pub(crate) trait TreeSession {
    /// The heads of the store.
    fn heads(&self) -> Result<Arc<Heads>>;

    /// The cached partial tiles.
    fn partial_tiles(&self) -> Arc<PartialTiles>;

    /// The stored content hashes of the events with these sequence numbers that exist, each with its number, in their order.
    fn stored_content_hashes(&mut self, ledger_id: LedgerId, seqs: Range<i64>)
    -> Result<Vec<(i64, Vec<u8>)>>;

    /// The records of removals for these tiles of 256 events: index of the tile, and encoded records.
    fn stored_records(&mut self, ledger_id: LedgerId, tiles: Range<i64>) -> Result<Vec<(i64, Vec<u8>)>>;

    /// The stored tiles of a level with these indexes, in their order that exist: index and hashes.
    fn stored_tiles(
        &mut self,
        ledger_id: LedgerId,
        level: u8,
        indexes: Range<i64>,
    ) -> Result<Vec<(i64, Vec<u8>)>>;

    /// Inserts a full tile of a ledger whose head is locked, unless one stands there. Returns whether none did.
    fn insert_tile(&mut self, ledger_id: LedgerId, tile: &Tile) -> Result<bool>;

    /// Replaces a tile that has other hashes. Returns whether it had.
    fn replace_tile(&mut self, ledger_id: LedgerId, tile: &Tile) -> Result<bool>;
}

/// Stores a full tile of a ledger whose head is locked. What stands there and is not the tile was planted: only the transaction that fills
/// a tile writes it.
pub(crate) fn store_tile<S: TreeSession>(session: &mut S, ledger_id: LedgerId, tile: &Tile) -> Result<()> {
    if !session.insert_tile(ledger_id, tile)? && session.replace_tile(ledger_id, tile)? {
        session.heads()?.note_planted_tile(ledger_id, tile.id());
    }
    Ok(())
}

/// The right edge of a tree that has grown, and the tiles that it has filled.
pub(crate) fn finish<S: TreeSession>(
    session: &mut S,
    ledger_id: LedgerId,
    growth: &Growth,
) -> Result<(Frontier, Vec<Tile>)> {
    let partial = session.partial_tiles();
    let finished = full_tiles_of(session, ledger_id, growth, Some(&partial));
    partial.grown(ledger_id, growth);
    finished
}

/// The right edge of a tree that has grown, and the tiles that it has filled. The leaves of the tile that was partial
/// before come from `partial`; they are read where the cache does not have them or contradicts the tree.
///
/// A tile whose hashes were tampered with is left out: it would contradict signed checkpoints. The new events are stored
/// nevertheless, and `log verify` reports the tampering.
fn full_tiles_of<S: TreeSession>(
    session: &mut S,
    ledger_id: LedgerId,
    growth: &Growth,
    partial: Option<&PartialTiles>,
) -> Result<(Frontier, Vec<Tile>)> {
    let mut is_from_memory = false;
    let leaves_in_memory = || partial?.get(ledger_id, growth.before());
    let mut finished = growth.finish(|id| match leaves_in_memory() {
        Some(leaves) if id.level() == 0 => {
            is_from_memory = true;
            Tile::new(id, leaves).map_err(|_| ReadTileError::Missing)
        }
        _ => tile_of(session, ledger_id, id),
    });
    if finished.is_err() && is_from_memory {
        finished = growth.finish(|id| tile_of(session, ledger_id, id));
    }
    let frontier = growth.frontier().clone();
    match finished {
        Ok((_, tiles)) => Ok((frontier, tiles)),
        Err(GrowthError::Read {
            source: ReadTileError::Store(error),
            ..
        }) if !matches!(error, StoreError::Damaged { .. }) => Err(error),
        Err(error) => {
            log::error!("ledger {} was tampered with: {error}", ledger_id.0);
            Ok((frontier, Vec::new()))
        }
    }
}

/// Why a tile cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadTileError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("some of its hashes are missing")]
    Missing,
}

/// A tile, full or partial, computed from the level below it: content hashes at level 0, full tiles above.
fn tile_of<S: TreeSession>(session: &mut S, ledger_id: LedgerId, id: TileId) -> Result<Tile, ReadTileError> {
    let first = id.index() * u64::from(TileId::WIDTH_MAX);
    let below = first..first + u64::from(id.width());
    let hashes: Vec<Hash> = if id.level() == 0 {
        let contents = content_hashes(session, ledger_id, below).map_err(|error| match error {
            StoreError::Damaged { .. } => ReadTileError::Missing,
            other => ReadTileError::Store(other),
        })?;
        contents.iter().map(Hash::of_event).collect()
    } else {
        let tiles = full_tiles(session, ledger_id, id.level() - 1, below)?;
        tiles.iter().filter_map(Tile::root).collect()
    };
    Tile::new(id, hashes).map_err(|_| ReadTileError::Missing)
}

fn full_tiles<S: TreeSession>(
    session: &mut S,
    ledger_id: LedgerId,
    level: u8,
    indexes: Range<u64>,
) -> Result<Vec<Tile>> {
    let indexes = indexes.start.cast_signed()..indexes.end.cast_signed();
    let read = |(index, hashes): (i64, Vec<u8>)| {
        let id = TileId::new(level, index.cast_unsigned(), TileId::WIDTH_MAX);
        let tile = id.and_then(|id| Tile::decode(id, &hashes));
        tile.map_err(|_| damaged("tile"))
    };
    let rows = session.stored_tiles(ledger_id, level, indexes)?;
    rows.into_iter().map(read).collect()
}

/// The content hashes of the events with these sequence numbers, all of them. Those of removed events come from records, which nothing
/// but the tree authenticates.
fn content_hashes<S: TreeSession>(
    session: &mut S,
    ledger_id: LedgerId,
    seqs: Range<u64>,
) -> Result<Vec<ContentHash>> {
    let rows = session.stored_content_hashes(ledger_id, seqs.start.cast_signed()..seqs.end.cast_signed())?;
    let count = usize::try_from(seqs.end - seqs.start).unwrap_or(usize::MAX);
    let read = |(seq, bytes): (i64, Vec<u8>)| -> Result<(u64, ContentHash)> {
        let bytes = bytes.try_into().map_err(|_| damaged("content hash"))?;
        Ok((seq.cast_unsigned(), ContentHash::from_bytes(bytes)))
    };
    let stored = rows.into_iter().map(read);
    let hashes: Vec<ContentHash> = if stored.len() == count {
        stored
            .map(|read| read.map(|(_, hash)| hash))
            .collect::<Result<_>>()?
    } else {
        let records = session.stored_records(ledger_id, tiles_of(&seqs))?;
        let mut hashes = removed_hashes(&records, &seqs)?;
        for read in stored {
            let (seq, hash) = read?;
            hashes.insert(seq, hash);
        }
        hashes.into_values().collect()
    };
    match hashes.len() == count {
        true => Ok(hashes),
        false => Err(damaged("ledger with missing events")),
    }
}

/// The indexes of the tiles of level 0 that have these events.
pub(crate) fn tiles_of(seqs: &Range<u64>) -> Range<i64> {
    let width = u64::from(TileId::WIDTH_MAX);
    (seqs.start / width).cast_signed()..seqs.end.div_ceil(width).cast_signed()
}

/// The content hashes of those of these events whose rows were removed, by sequence number: see [`TreeSession::stored_records`].
pub(crate) fn removed_hashes(
    records: &[(i64, Vec<u8>)],
    seqs: &Range<u64>,
) -> Result<BTreeMap<u64, ContentHash>> {
    let mut removed = BTreeMap::new();
    for (tile_index, bytes) in records {
        let records = decode_records(tile_index.cast_unsigned(), bytes);
        let records = records.ok_or_else(|| damaged("records of a removal"))?;
        let rows = records
            .iter()
            .filter(|record| record.mask.is_row() && seqs.contains(&record.seq));
        removed.extend(rows.map(|record| (record.seq, record.content_hash)));
    }
    Ok(removed)
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be queried"
)]
impl Reader<'_> {
    /// The right edge of a ledger's tree.
    pub fn log_frontier(&mut self, ledger_id: LedgerId) -> Result<Frontier> {
        let bytes: Option<Vec<u8>> = ledgers::table
            .find(ledger_id.0)
            .select(ledgers::frontier)
            .get_result(self.session())?;
        read_frontier(bytes.as_deref())
    }

    /// A tile of a ledger's tree, unless the tree does not have it or some of its hashes are missing.
    pub fn log_tile(&mut self, ledger_id: LedgerId, id: TileId) -> Result<Option<Tile>> {
        let is_there = id.is_full() || id.exists_in(self.log_frontier(ledger_id)?.size());
        match is_there {
            true => self.log_tile_of_tree(ledger_id, id),
            false => Ok(None),
        }
    }

    /// A tile that a ledger's tree is known to have, unless some of its hashes are missing.
    pub fn log_tile_of_tree(&mut self, ledger_id: LedgerId, id: TileId) -> Result<Option<Tile>> {
        if id.is_full() {
            let only = id.index()..id.index() + 1;
            let stored =
                on_either!(self.session(), session => full_tiles(session, ledger_id, id.level(), only))?;
            return Ok(stored.into_iter().next());
        }
        match on_either!(self.session(), session => tile_of(session, ledger_id, id)) {
            Ok(tile) => Ok(Some(tile)),
            Err(error @ ReadTileError::Missing) => {
                log::error!("cannot compute {id} of ledger {}: {error}", ledger_id.0);
                Ok(None)
            }
            Err(ReadTileError::Store(error)) => Err(error),
        }
    }

    /// The content hashes of the events whose leaves are in a tile of level 0; `None` when the tree has no such tile.
    pub fn log_entries(&mut self, ledger_id: LedgerId, id: TileId) -> Result<Option<Vec<ContentHash>>> {
        if id.level() > 0 || !id.exists_in(self.log_frontier(ledger_id)?.size()) {
            return Ok(None);
        }
        let first = id.index() * u64::from(TileId::WIDTH_MAX);
        let seqs = first..first + u64::from(id.width());
        on_either!(self.session(), session => content_hashes(session, ledger_id, seqs)).map(Some)
    }

    /// The content hashes of the events with these positions in the log, all of them.
    pub fn content_hashes(&mut self, ledger_id: LedgerId, seqs: Range<u64>) -> Result<Vec<ContentHash>> {
        on_either!(self.session(), session => content_hashes(session, ledger_id, seqs))
    }

    /// The roots of neighbouring full tiles, from left to right; those that are missing are left out.
    pub fn log_tile_roots(
        &mut self,
        ledger_id: LedgerId,
        level: u8,
        indexes: Range<u64>,
    ) -> Result<Vec<Hash>> {
        let tiles = on_either!(self.session(), session => full_tiles(session, ledger_id, level, indexes))?;
        Ok(tiles.iter().filter_map(Tile::root).collect())
    }

    /// The name of a ledger: project and environment.
    pub fn ledger_name(&mut self, ledger_id: LedgerId) -> Result<String> {
        let (project_id, environment): (String, String) = ledgers::table
            .find(ledger_id.0)
            .select((ledgers::project_id, ledgers::environment))
            .get_result(self.session())?;
        Ok(format!("{project_id}/{environment}"))
    }
}
