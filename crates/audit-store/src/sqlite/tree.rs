//! The tree of a ledger on SQLite.

use super::SqliteSession;
use super::entry::{entry, ledger_and_seq};
use super::schema::events;
use crate::error::Result;
use crate::ids::LedgerId;
use crate::ledgers::heads::Heads;
use crate::schema::{log_checkpoints, log_cosigned, log_tiles, removed_events};
use crate::tree::partial_tiles::PartialTiles;
use crate::tree::{NewCheckpoint, NewCosigned, TreeSession};
use audit_ledger::Tile;
use diesel::prelude::*;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// Stores each of these checkpoints if the one that it continues is still the stored one.
pub(crate) fn publish_checkpoints(
    session: &mut SqliteSession,
    checkpoints: &[NewCheckpoint],
) -> Result<BTreeSet<LedgerId>> {
    let mut published = BTreeSet::new();
    for NewCheckpoint {
        ledger_id,
        last,
        checkpoint,
    } in checkpoints
    {
        let columns = (
            log_checkpoints::size.eq(checkpoint.size.cast_signed()),
            log_checkpoints::note.eq(&checkpoint.note),
            log_checkpoints::signed_at.eq(checkpoint.signed_at.as_micros()),
        );
        let rows = match last {
            Some(last) => diesel::update(log_checkpoints::table.find(ledger_id.0))
                .filter(log_checkpoints::note.eq(&last.note))
                .set(columns)
                .execute(&mut session.connection)?,
            None => diesel::insert_or_ignore_into(log_checkpoints::table)
                .values((log_checkpoints::ledger_id.eq(ledger_id.0), columns))
                .execute(&mut session.connection)?,
        };
        if rows > 0 {
            published.insert(*ledger_id);
        }
    }
    Ok(published)
}

/// Stores each of these rows if the stored one is still that of the version before.
pub(crate) fn put_cosigned(
    session: &mut SqliteSession,
    cosigned: &[NewCosigned],
) -> Result<BTreeSet<LedgerId>> {
    let mut stored = BTreeSet::new();
    for NewCosigned {
        ledger_id,
        quorum_size,
        row,
    } in cosigned
    {
        let columns = (
            log_cosigned::version.eq(row.version),
            log_cosigned::note.eq(&row.note),
            log_cosigned::quorum_size.eq(quorum_size.cast_signed()),
            log_cosigned::quorum_note.eq(&row.quorum_note),
        );
        let rows = match row.version {
            1 => diesel::insert_or_ignore_into(log_cosigned::table)
                .values((log_cosigned::ledger_id.eq(ledger_id.0), columns))
                .execute(&mut session.connection)?,
            version => diesel::update(log_cosigned::table.find(ledger_id.0))
                .filter(log_cosigned::version.eq(version - 1))
                .set(columns)
                .execute(&mut session.connection)?,
        };
        if rows > 0 {
            stored.insert(*ledger_id);
        }
    }
    Ok(stored)
}

/// [`TreeSession::stored_records`].
pub(crate) fn stored_records(
    connection: &mut SqliteConnection,
    ledger_id: LedgerId,
    tiles: Range<i64>,
) -> Result<Vec<(i64, Vec<u8>)>> {
    Ok(removed_events::table
        .filter(removed_events::ledger_id.eq(ledger_id.0))
        .filter(removed_events::tile_index.ge(tiles.start))
        .filter(removed_events::tile_index.lt(tiles.end))
        .select((removed_events::tile_index, removed_events::records))
        .load(connection)?)
}

impl TreeSession for SqliteSession {
    fn heads(&self) -> Result<Arc<Heads>> {
        self.memory.shared.heads()
    }

    fn partial_tiles(&self) -> Arc<PartialTiles> {
        Arc::clone(&self.memory.appends.partial_tiles)
    }

    fn stored_content_hashes(
        &mut self,
        ledger_id: LedgerId,
        seqs: Range<i64>,
    ) -> Result<Vec<(i64, Vec<u8>)>> {
        let rows: Vec<(i64, Vec<u8>)> = events::table
            .filter(events::entry.ge(entry(ledger_id, seqs.start)))
            .filter(events::entry.lt(entry(ledger_id, seqs.end)))
            .order(events::entry)
            .select((events::entry, events::content_hash))
            .load(&mut self.connection)?;
        let read = |(entry, hash)| (ledger_and_seq(entry).1, hash);
        Ok(rows.into_iter().map(read).collect())
    }

    fn stored_records(&mut self, ledger_id: LedgerId, tiles: Range<i64>) -> Result<Vec<(i64, Vec<u8>)>> {
        stored_records(&mut self.connection, ledger_id, tiles)
    }

    fn stored_tiles(
        &mut self,
        ledger_id: LedgerId,
        level: u8,
        indexes: Range<i64>,
    ) -> Result<Vec<(i64, Vec<u8>)>> {
        Ok(log_tiles::table
            .filter(log_tiles::ledger_id.eq(ledger_id.0))
            .filter(log_tiles::level.eq(i64::from(level)))
            .filter(log_tiles::tile_index.ge(indexes.start))
            .filter(log_tiles::tile_index.lt(indexes.end))
            .order(log_tiles::tile_index)
            .select((log_tiles::tile_index, log_tiles::hashes))
            .load(&mut self.connection)?)
    }

    fn insert_tile(&mut self, ledger_id: LedgerId, tile: &Tile) -> Result<bool> {
        let id = tile.id();
        let rows = diesel::insert_or_ignore_into(log_tiles::table)
            .values((
                log_tiles::ledger_id.eq(ledger_id.0),
                log_tiles::level.eq(i64::from(id.level())),
                log_tiles::tile_index.eq(id.index().cast_signed()),
                log_tiles::hashes.eq(tile.encode()),
            ))
            .execute(&mut self.connection)?;
        Ok(rows > 0)
    }

    fn replace_tile(&mut self, ledger_id: LedgerId, tile: &Tile) -> Result<bool> {
        let (id, hashes) = (tile.id(), tile.encode());
        let key = (ledger_id.0, i64::from(id.level()), id.index().cast_signed());
        let rows = diesel::update(log_tiles::table.find(key))
            .filter(log_tiles::hashes.ne(&hashes))
            .set(log_tiles::hashes.eq(&hashes))
            .execute(&mut self.connection)?;
        Ok(rows > 0)
    }
}
