//! The verifiable log: the tree of each ledger, its tiles and its last checkpoint.
//!
//! The tree grows in the transaction that stores the events, under the lock of the ledger's head. The head's row holds
//! its right edge, a few hundred bytes; each 256 leaves leave a full tile behind. Nothing else is stored: the hashes of
//! leaves are those of the content hashes, and partial tiles are made of them when asked for.

use crate::append::LedgerId;
use crate::connection::AnyConnection;
use crate::error::{Result, StoreError};
use crate::rows::Rows;
use crate::schema::{ledgers, log_checkpoints, log_tiles};
use audit_domain::{ContentHash, Timestamp};
use audit_ledger::{Frontier, Growth, GrowthError, Hash, Tile, TileId};
use diesel::prelude::*;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Leaves that are read at once when a tree is made of what is there.
const READ_LEAVES_MAX: u64 = 20_000;

/// Ledgers whose begun tiles are kept in memory, at most: 8 KB each.
const BEGUN_TILES_MAX: usize = 100;

/// The leaves of tiles that are begun and not yet full, as they were appended. They may be of a commit that was undone: the
/// tile that is made of them is held against the tree, as one that is made of stored events is. Writers of one process share
/// them: each goes on where another has left off.
#[derive(Debug, Default)]
pub(crate) struct BegunTiles(Mutex<HashMap<LedgerId, BegunTile>>);

/// Those of one ledger.
#[derive(Debug)]
struct BegunTile {
    /// The size of the tree.
    size: u64,
    leaves: Vec<Hash>,
}

impl BegunTiles {
    /// The lock is never held while anything can panic, so a poisoned one is as good as new.
    fn lock(&self) -> MutexGuard<'_, HashMap<LedgerId, BegunTile>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the tree of this size has begun.
    fn get(&self, ledger_id: LedgerId, size: u64) -> Option<Vec<Hash>> {
        let tiles = self.lock();
        let tile = tiles.get(&ledger_id)?;
        (tile.size == size).then(|| tile.leaves.clone())
    }

    /// Takes note of how a tree has grown.
    fn grown(&self, ledger_id: LedgerId, growth: &Growth) {
        let (size, new) = (growth.frontier().size(), growth.leaves());
        let begun = (size % u64::from(TileId::WIDTH_MAX)) as usize;
        let mut tiles = self.lock();
        let known = tiles.remove(&ledger_id).filter(|tile| tile.size == growth.from());
        let leaves = match (new.len().checked_sub(begun), known) {
            (Some(before), _) => new[before..].to_vec(),
            (None, Some(BegunTile { mut leaves, .. })) => {
                leaves.extend_from_slice(new);
                leaves
            }
            (None, None) => return,
        };
        if tiles.len() >= BEGUN_TILES_MAX {
            tiles.clear();
        }
        tiles.insert(ledger_id, BegunTile { size, leaves });
    }
}

/// A checkpoint as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointRow {
    /// The size it speaks of.
    pub size: u64,
    /// The signed note.
    pub note: String,
    /// When it was signed.
    pub signed_at: Timestamp,
}

const fn damaged(what: &'static str) -> StoreError {
    StoreError::Damaged { what }
}

/// Reads the right edge of a tree.
pub(crate) fn read_frontier(bytes: Option<&[u8]>) -> Result<Frontier> {
    match bytes {
        Some(bytes) => Frontier::decode(bytes).map_err(|_| damaged("edge of a tree")),
        None => Ok(Frontier::new()),
    }
}

/// Takes the events into a tree that are stored and not in it: all that are older than the log, and what a node of an
/// older version has stored since.
fn catch_up(
    connection: &mut AnyConnection,
    ledger_id: LedgerId,
    mut frontier: Frontier,
    size: u64,
) -> Result<Frontier> {
    while frontier.size() < size {
        let end = size.min(frontier.size() + READ_LEAVES_MAX);
        let mut growth = Growth::new(frontier.clone());
        for hash in content_hashes(connection, ledger_id, frontier.size()..end)? {
            growth.append(Hash::of_event(&hash));
        }
        let tiles;
        (frontier, tiles) = finish(connection, ledger_id, &growth, &BegunTiles::default())?;
        insert_tiles(connection, ledger_id, &tiles)?;
    }
    if frontier.size() > size {
        return Err(damaged("tree larger than its ledger"));
    }
    Ok(frontier)
}

/// [`catch_up`] that says so and gives nothing where the ledger was tampered with: what is sent now must be stored all
/// the same, and no tree is better than one that hides what happened.
pub(crate) fn continued(
    connection: &mut AnyConnection,
    ledger_id: LedgerId,
    frontier: Option<Frontier>,
    size: u64,
) -> Result<Option<Frontier>> {
    let caught_up = match frontier {
        Some(frontier) => catch_up(connection, ledger_id, frontier, size),
        None => Err(damaged("edge of a tree")),
    };
    match caught_up {
        Ok(frontier) => Ok(Some(frontier)),
        Err(error @ StoreError::Damaged { .. }) => {
            ::log::error!("the log of ledger {} cannot go on: {error}", ledger_id.0);
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// The right edge of a tree that has grown, and the tiles that it has filled.
///
/// A tile whose hashes were changed since they were appended is not among them: it would contradict what was signed. What is
/// sent now is stored all the same, and `log verify` names what was changed.
pub(crate) fn finish(
    connection: &mut AnyConnection,
    ledger_id: LedgerId,
    growth: &Growth,
    begun: &BegunTiles,
) -> Result<(Frontier, Vec<Tile>)> {
    let mut is_remembered = false;
    let mut made = growth.finish(|id| match begun.get(ledger_id, growth.from()) {
        Some(leaves) if id.level() == 0 => {
            is_remembered = true;
            Tile::new(id, leaves).map_err(|_| ReadTileError::Missing)
        }
        _ => tile_of(connection, ledger_id, id),
    });
    if made.is_err() && is_remembered {
        made = growth.finish(|id| tile_of(connection, ledger_id, id));
    }
    begun.grown(ledger_id, growth);
    let frontier = growth.frontier().clone();
    match made {
        Ok((_, tiles)) => Ok((frontier, tiles)),
        Err(GrowthError::Read {
            source: ReadTileError::Store(error),
            ..
        }) if !matches!(error, StoreError::Damaged { .. }) => Err(error),
        Err(error) => {
            ::log::error!("the log of ledger {} was tampered with: {error}", ledger_id.0);
            Ok((frontier, Vec::new()))
        }
    }
}

/// Writes tiles of a ledger whose head is locked.
pub(crate) fn insert_tiles(
    connection: &mut AnyConnection,
    ledger_id: LedgerId,
    tiles: &[Tile],
) -> Result<()> {
    tiles
        .iter()
        .try_for_each(|tile| insert_tile(connection, ledger_id, tile))
}

fn insert_tile(connection: &mut AnyConnection, ledger_id: LedgerId, tile: &Tile) -> Result<()> {
    let id = tile.id();
    let values = (
        log_tiles::ledger_id.eq(ledger_id.0),
        log_tiles::level.eq(i64::from(id.level())),
        log_tiles::tile_index.eq(id.index().cast_signed()),
        log_tiles::hashes.eq(tile.encode()),
    );
    // There is one already only when somebody took the tree's edge away. It stays, for `log verify` to compare.
    match connection {
        AnyConnection::Sqlite(sqlite) => diesel::insert_or_ignore_into(log_tiles::table)
            .values(values)
            .execute(sqlite)?,
        AnyConnection::Postgres(postgres) => diesel::insert_into(log_tiles::table)
            .values(values)
            .on_conflict_do_nothing()
            .execute(postgres)?,
    };
    Ok(())
}

/// Why a tile cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadTileError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("what it is made of is missing")]
    Missing,
}

/// A tile, full or partial, made of what is stored below it: content hashes at level 0, full tiles above.
fn tile_of(connection: &mut AnyConnection, ledger_id: LedgerId, id: TileId) -> Result<Tile, ReadTileError> {
    let first = id.index() * u64::from(TileId::WIDTH_MAX);
    let below = first..first + u64::from(id.width());
    let hashes: Vec<Hash> = if id.level() == 0 {
        let contents = content_hashes(connection, ledger_id, below).map_err(|error| match error {
            StoreError::Damaged { .. } => ReadTileError::Missing,
            other => ReadTileError::Store(other),
        })?;
        contents.iter().map(Hash::of_event).collect()
    } else {
        let tiles = full_tiles(connection, ledger_id, id.level() - 1, below)?;
        tiles.iter().filter_map(Tile::root).collect()
    };
    Tile::new(id, hashes).map_err(|_| ReadTileError::Missing)
}

fn full_tiles(
    connection: &mut AnyConnection,
    ledger_id: LedgerId,
    level: u8,
    indexes: Range<u64>,
) -> Result<Vec<Tile>> {
    let rows = log_tiles::table
        .filter(log_tiles::ledger_id.eq(ledger_id.0))
        .filter(log_tiles::level.eq(i64::from(level)))
        .filter(log_tiles::tile_index.ge(indexes.start.cast_signed()))
        .filter(log_tiles::tile_index.lt(indexes.end.cast_signed()))
        .order(log_tiles::tile_index)
        .select((log_tiles::tile_index, log_tiles::hashes))
        .load::<(i64, Vec<u8>)>(connection)?;
    let read = |(index, hashes): (i64, Vec<u8>)| {
        let id = TileId::new(level, index.cast_unsigned(), TileId::WIDTH_MAX);
        let tile = id.and_then(|id| Tile::decode(id, &hashes));
        tile.map_err(|_| damaged("tile"))
    };
    rows.into_iter().map(read).collect()
}

/// The content hashes of the events with these sequence numbers, as they are stored beside them.
fn content_hashes(
    connection: &mut AnyConnection,
    ledger_id: LedgerId,
    seqs: Range<u64>,
) -> Result<Vec<ContentHash>> {
    let (start, end) = (seqs.start.cast_signed(), seqs.end.cast_signed());
    let rows: Vec<Vec<u8>> = match connection {
        AnyConnection::Sqlite(sqlite) => {
            use crate::entry::entry;
            use crate::schema::sqlite::events;
            events::table
                .filter(events::entry.ge(entry(ledger_id, start)))
                .filter(events::entry.lt(entry(ledger_id, end)))
                .order(events::entry)
                .select(events::content_hash)
                .load(sqlite)?
        }
        AnyConnection::Postgres(postgres) => {
            use crate::schema::postgres::events;
            events::table
                .filter(events::ledger_id.eq(ledger_id.0))
                .filter(events::seq.ge(start))
                .filter(events::seq.lt(end))
                .order(events::seq)
                .select(events::content_hash)
                .load(postgres)?
        }
    };
    let count = rows.len() as u64;
    if count != seqs.end - seqs.start {
        return Err(damaged("ledger with missing events"));
    }
    let read = |bytes: Vec<u8>| {
        let bytes = bytes.try_into().map_err(|_| damaged("content hash"))?;
        Ok(ContentHash::from_bytes(bytes))
    };
    rows.into_iter().map(read).collect()
}

/// Makes the trees of ledgers that are older than the log; how many events that took.
pub(crate) fn build_missing(connection: &mut AnyConnection) -> Result<u64> {
    let behind: Vec<i64> = ledgers::table
        .filter(ledgers::size.gt(0))
        .filter(ledgers::frontier.is_null())
        .select(ledgers::id)
        .order(ledgers::id)
        .load(connection)?;
    let mut events = 0;
    for id in behind {
        let ledger_id = LedgerId(id);
        events += connection.write_transaction(|connection| {
            let Some(head) = crate::ledgers::lock_ledger(connection, ledger_id)? else {
                return Ok::<_, StoreError>(0);
            };
            let size = head.size.unsigned_abs();
            let Some(frontier) = continued(connection, ledger_id, head.frontier, size)? else {
                return Ok(0);
            };
            write_frontier(connection, ledger_id, &frontier)?;
            Ok(size)
        })?;
    }
    Ok(events)
}

fn write_frontier(connection: &mut AnyConnection, ledger_id: LedgerId, frontier: &Frontier) -> Result<()> {
    diesel::update(ledgers::table.find(ledger_id.0))
        .set(ledgers::frontier.eq(Some(frontier.encode())))
        .execute(connection)?;
    Ok(())
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be asked"
)]
impl Rows<'_> {
    /// The tree of a ledger as it is now.
    pub fn log_frontier(&mut self, ledger_id: LedgerId) -> Result<Frontier> {
        let bytes: Option<Vec<u8>> = ledgers::table
            .find(ledger_id.0)
            .select(ledgers::frontier)
            .get_result(self.connection)?;
        read_frontier(bytes.as_deref())
    }

    /// A tile of a ledger's tree, if the tree has it and nothing of it is missing.
    pub fn log_tile(&mut self, ledger_id: LedgerId, id: TileId) -> Result<Option<Tile>> {
        let is_there = id.is_full() || id.exists_in(self.log_frontier(ledger_id)?.size());
        match is_there {
            true => self.log_tile_of_tree(ledger_id, id),
            false => Ok(None),
        }
    }

    /// A tile that a ledger's tree is known to have, if nothing of it is missing.
    pub fn log_tile_of_tree(&mut self, ledger_id: LedgerId, id: TileId) -> Result<Option<Tile>> {
        if id.is_full() {
            let stored = full_tiles(self.connection, ledger_id, id.level(), id.index()..id.index() + 1)?;
            return Ok(stored.into_iter().next());
        }
        match tile_of(self.connection, ledger_id, id) {
            Ok(tile) => Ok(Some(tile)),
            Err(error @ ReadTileError::Missing) => {
                ::log::error!(
                    "the log of ledger {} does not have its {id}: {error}",
                    ledger_id.0
                );
                Ok(None)
            }
            Err(ReadTileError::Store(error)) => Err(error),
        }
    }

    /// The roots of neighbouring full tiles, from left to right; those that are missing are left out.
    pub fn log_tile_roots(
        &mut self,
        ledger_id: LedgerId,
        level: u8,
        indexes: Range<u64>,
    ) -> Result<Vec<Hash>> {
        let tiles = full_tiles(self.connection, ledger_id, level, indexes)?;
        Ok(tiles.iter().filter_map(Tile::root).collect())
    }

    /// The last checkpoint that was signed for a ledger, which nobody else replaces until the end of the transaction.
    pub fn lock_log_checkpoint(&mut self, ledger_id: LedgerId) -> Result<Option<CheckpointRow>> {
        // The head's row is the lock: there may be no checkpoint yet.
        if let AnyConnection::Postgres(postgres) = self.connection {
            let row = ledgers::table.find(ledger_id.0);
            row.select(ledgers::size)
                .for_update()
                .get_result::<i64>(postgres)?;
        }
        self.log_checkpoint(ledger_id)
    }

    /// The last checkpoint that was signed for a ledger.
    pub fn log_checkpoint(&mut self, ledger_id: LedgerId) -> Result<Option<CheckpointRow>> {
        let row = log_checkpoints::table
            .find(ledger_id.0)
            .select((
                log_checkpoints::size,
                log_checkpoints::note,
                log_checkpoints::signed_at,
            ))
            .get_result::<(i64, String, i64)>(self.connection)
            .optional()?;
        Ok(row.map(|(size, note, signed_at)| CheckpointRow {
            size: size.cast_unsigned(),
            note,
            signed_at: Timestamp::from_micros(signed_at),
        }))
    }

    /// Keeps a checkpoint in the place of the last one.
    pub fn put_log_checkpoint(&mut self, ledger_id: LedgerId, checkpoint: &CheckpointRow) -> Result<()> {
        diesel::delete(log_checkpoints::table.find(ledger_id.0)).execute(self.connection)?;
        diesel::insert_into(log_checkpoints::table)
            .values((
                log_checkpoints::ledger_id.eq(ledger_id.0),
                log_checkpoints::size.eq(checkpoint.size.cast_signed()),
                log_checkpoints::note.eq(&checkpoint.note),
                log_checkpoints::signed_at.eq(checkpoint.signed_at.as_micros()),
            ))
            .execute(self.connection)?;
        Ok(())
    }

    /// Forgets every checkpoint, because the log goes on under another origin.
    pub fn delete_log_checkpoints(&mut self) -> Result<()> {
        diesel::delete(log_checkpoints::table).execute(self.connection)?;
        Ok(())
    }

    /// What tells a ledger from the others: its project and environment.
    pub fn ledger_name(&mut self, ledger_id: LedgerId) -> Result<String> {
        let (project_id, environment): (String, String) = ledgers::table
            .find(ledger_id.0)
            .select((ledgers::project_id, ledgers::environment))
            .get_result(self.connection)?;
        Ok(format!("{project_id}/{environment}"))
    }

    /// The ledgers whose trees have grown since their last checkpoint.
    pub fn ledgers_to_sign(&mut self) -> Result<Vec<LedgerId>> {
        let ids: Vec<i64> = ledgers::table
            .left_join(log_checkpoints::table.on(log_checkpoints::ledger_id.eq(ledgers::id)))
            .filter(ledgers::size.gt(0))
            .filter(
                log_checkpoints::size
                    .nullable()
                    .is_null()
                    .or(log_checkpoints::size.nullable().ne(ledgers::size.nullable())),
            )
            .select(ledgers::id)
            .load(self.connection)?;
        Ok(ids.into_iter().map(LedgerId).collect())
    }
}
