//! The tree of a ledger on PostgreSQL.

use super::PostgresSession;
use super::events::{before_months_after, since_month_of};
use super::schema::events;
use super::statements::{InsertCheckpoints, PutCosigned, ReplaceCheckpoints};
use crate::error::Result;
use crate::ids::LedgerId;
use crate::ledgers::heads::Heads;
use crate::schema::{log_tiles, removed_events};
use crate::tree::partial_tiles::PartialTiles;
use crate::tree::{NewCheckpoint, NewCosigned, TreeSession};
use audit_ledger::Tile;
use diesel::prelude::*;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// Stores each of these checkpoints if the one that it continues is still the stored one: two statements for all.
pub(crate) fn publish_checkpoints(
    session: &mut PostgresSession,
    checkpoints: &[NewCheckpoint],
) -> Result<BTreeSet<LedgerId>> {
    let (mut replaced, mut first) = (Vec::new(), Vec::new());
    for new in checkpoints {
        match &new.last {
            Some(last) => replaced.push((new, last)),
            None => first.push(new),
        }
    }
    let mut published: Vec<i64> = Vec::new();
    if !replaced.is_empty() {
        let next = || replaced.iter().map(|(new, _)| &new.checkpoint);
        let replace = ReplaceCheckpoints {
            ledger_ids: replaced.iter().map(|(new, _)| new.ledger_id.0).collect(),
            notes_before: replaced.iter().map(|(_, last)| last.note.as_str()).collect(),
            sizes: next().map(|next| next.size.cast_signed()).collect(),
            notes: next().map(|next| next.note.as_str()).collect(),
            signed_at: next().map(|next| next.signed_at.as_micros()).collect(),
        };
        published.extend(replace.load::<i64>(&mut session.connection)?);
    }
    if !first.is_empty() {
        let next = || first.iter().map(|new| &new.checkpoint);
        let insert = InsertCheckpoints {
            ledger_ids: first.iter().map(|new| new.ledger_id.0).collect(),
            sizes: next().map(|next| next.size.cast_signed()).collect(),
            notes: next().map(|next| next.note.as_str()).collect(),
            signed_at: next().map(|next| next.signed_at.as_micros()).collect(),
        };
        published.extend(insert.load::<i64>(&mut session.connection)?);
    }
    Ok(published.into_iter().map(LedgerId).collect())
}

/// Stores each of these rows if the stored one is still that of the version before.
pub(crate) fn put_cosigned(
    session: &mut PostgresSession,
    cosigned: &[NewCosigned],
) -> Result<BTreeSet<LedgerId>> {
    let rows = || cosigned.iter().map(|new| &new.row);
    let put = PutCosigned {
        ledger_ids: cosigned.iter().map(|new| new.ledger_id.0).collect(),
        versions: rows().map(|row| row.version).collect(),
        notes: rows().map(|row| row.note.as_str()).collect(),
        quorum_sizes: cosigned.iter().map(|new| new.quorum_size.cast_signed()).collect(),
        quorum_notes: rows().map(|row| row.quorum_note.as_deref()).collect(),
    };
    let stored = put.load::<i64>(&mut session.connection)?;
    Ok(stored.into_iter().map(LedgerId).collect())
}

impl TreeSession for PostgresSession {
    fn heads(&self) -> Result<Arc<Heads>> {
        self.memory.shared.heads()
    }

    fn partial_tiles(&self) -> Arc<PartialTiles> {
        Arc::clone(&self.memory.appends.commits.partial_tiles)
    }

    fn stored_content_hashes(
        &mut self,
        ledger_id: LedgerId,
        seqs: Range<i64>,
    ) -> Result<Vec<(i64, Vec<u8>)>> {
        Ok(events::table
            .filter(events::ledger_id.eq(ledger_id.0))
            .filter(events::seq.ge(seqs.start))
            .filter(events::seq.lt(seqs.end))
            .filter(since_month_of(ledger_id, seqs.start))
            .filter(before_months_after(ledger_id, seqs.end))
            .order(events::seq)
            .select((events::seq, events::content_hash))
            .load(&mut self.connection)?)
    }

    fn stored_records(&mut self, ledger_id: LedgerId, tiles: Range<i64>) -> Result<Vec<(i64, Vec<u8>)>> {
        Ok(removed_events::table
            .filter(removed_events::ledger_id.eq(ledger_id.0))
            .filter(removed_events::tile_index.ge(tiles.start))
            .filter(removed_events::tile_index.lt(tiles.end))
            .select((removed_events::tile_index, removed_events::records))
            .load(&mut self.connection)?)
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
        let rows = diesel::insert_into(log_tiles::table)
            .values((
                log_tiles::ledger_id.eq(ledger_id.0),
                log_tiles::level.eq(i64::from(id.level())),
                log_tiles::tile_index.eq(id.index().cast_signed()),
                log_tiles::hashes.eq(tile.encode()),
            ))
            .on_conflict_do_nothing()
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
