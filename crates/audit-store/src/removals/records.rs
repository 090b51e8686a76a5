//! The records of removals: a row for each removal and tile of the log's tree.

use super::RemovalState;
use crate::access::{Reader, Writer};
use crate::database::{insert_or_ignore, on_either};
use crate::error::{Result, StoreError};
use crate::ids::LedgerId;
use crate::schema::{removed_events, removed_tenants};
use audit_ledger::{RemovalRecord, TenantLabel, decode_records, encode_records};
use diesel::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

/// Leaves of a tile.
const TILE_LEAVES: u64 = 256;
/// Labels that one statement reads, at most.
const STATEMENT_ROWS_MAX: usize = 500;

/// Tile, removal and records, as they are stored.
type Row = (i64, i64, Vec<u8>);

fn read((tile, removal, bytes): Row) -> Result<Vec<(u32, RemovalRecord)>> {
    let what = "records of a removal";
    let records = decode_records(tile.cast_unsigned(), &bytes).ok_or(StoreError::Damaged { what })?;
    let number = u32::try_from(removal).map_err(|_| StoreError::Damaged { what })?;
    Ok(records.into_iter().map(|record| (number, record)).collect())
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be queried, or has records that the service did not write"
)]
impl Reader<'_> {
    /// The records of a ledger in these tiles, by position and number of their removal. Without those of a removal that no event of the log
    /// names: it is being collected, waits to be confirmed, or was cancelled.
    pub fn removal_records(
        &mut self,
        ledger_id: LedgerId,
        tiles: Range<u64>,
    ) -> Result<Vec<(u32, RemovalRecord)>> {
        self.records_in(ledger_id, tiles, |state| {
            !matches!(
                state,
                RemovalState::Collecting | RemovalState::Listed | RemovalState::Cancelled
            )
        })
    }

    /// The records of events of a ledger that are removed as a whole, between these positions, in their order.
    pub fn removed_rows(&mut self, ledger_id: LedgerId, seqs: Range<u64>) -> Result<Vec<RemovalRecord>> {
        let tiles = seqs.start / TILE_LEAVES..seqs.end.div_ceil(TILE_LEAVES);
        let records = self.records_in(ledger_id, tiles, |state| {
            matches!(
                state,
                RemovalState::Removing | RemovalState::Cleaning | RemovalState::Done
            )
        })?;
        let of_range = records.into_iter().map(|(_, record)| record);
        let mut rows: Vec<RemovalRecord> = of_range
            .filter(|record| record.mask.is_row() && seqs.contains(&record.seq))
            .collect();
        rows.dedup_by_key(|record| record.seq);
        Ok(rows)
    }

    fn records_in(
        &mut self,
        ledger_id: LedgerId,
        tiles: Range<u64>,
        is_wanted: impl Fn(RemovalState) -> bool,
    ) -> Result<Vec<(u32, RemovalRecord)>> {
        let states = RemovalState::ALL.iter().copied();
        let states: Vec<RemovalState> = states.filter(|state| is_wanted(*state)).collect();
        // First: the records of a removal are complete before its state says so.
        let removals = self.removals_in(ledger_id, &states)?;
        if removals.is_empty() {
            return Ok(Vec::new());
        }
        let rows: Vec<Row> = removed_events::table
            .filter(removed_events::ledger_id.eq(ledger_id.0))
            .filter(removed_events::tile_index.ge(tiles.start.cast_signed()))
            .filter(removed_events::tile_index.lt(tiles.end.cast_signed()))
            .select((
                removed_events::tile_index,
                removed_events::removal,
                removed_events::records,
            ))
            .load(self.session())?;
        let mut records = Vec::new();
        for row in rows
            .into_iter()
            .filter(|(_, removal, _)| removals.contains(removal))
        {
            records.extend(read(row)?);
        }
        records.sort_by_key(|(number, record)| (record.seq, *number));
        Ok(records)
    }

    /// The records of a removal in its first `tiles` tiles from `from_tile` on, by position.
    pub fn records_of(
        &mut self,
        ledger_id: LedgerId,
        number: u32,
        from_tile: u64,
        tiles: usize,
    ) -> Result<Vec<RemovalRecord>> {
        let rows: Vec<Row> = removed_events::table
            .filter(removed_events::ledger_id.eq(ledger_id.0))
            .filter(removed_events::removal.eq(i64::from(number)))
            .filter(removed_events::tile_index.ge(from_tile.cast_signed()))
            .order(removed_events::tile_index)
            .limit(i64::try_from(tiles).unwrap_or(i64::MAX))
            .select((
                removed_events::tile_index,
                removed_events::removal,
                removed_events::records,
            ))
            .load(self.session())?;
        let mut records = Vec::new();
        for row in rows {
            records.extend(read(row)?.into_iter().map(|(_, record)| record));
        }
        Ok(records)
    }

    /// The labels of tenants of removed events, by slot; none of a slot that has no such event.
    pub fn removed_labels(
        &mut self,
        ledger_id: LedgerId,
        slots: &[u64],
    ) -> Result<HashMap<u64, TenantLabel>> {
        let mut labels = HashMap::with_capacity(slots.len());
        for slots in slots.chunks(STATEMENT_ROWS_MAX) {
            let slots: Vec<i64> = slots.iter().map(|slot| slot.cast_signed()).collect();
            let query = removed_tenants::table
                .filter(removed_tenants::ledger_id.eq(ledger_id.0))
                .filter(removed_tenants::slot.eq_any(slots))
                .select((removed_tenants::slot, removed_tenants::label));
            let rows: Vec<(i64, Vec<u8>)> = on_either!(self.session(), session => query.load(session))?;
            for (slot, label) in rows {
                let label = label.try_into().map(TenantLabel::from_bytes);
                let what = "label of a tenant";
                let label = label.map_err(|_| StoreError::Damaged { what })?;
                labels.insert(slot.cast_unsigned(), label);
            }
        }
        Ok(labels)
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be written, or has records that the service did not write"
)]
impl Writer<'_> {
    /// Adds records to a removal, in place of those of the same positions, and the labels of their tenants by slot.
    pub fn put_records(
        &mut self,
        ledger_id: LedgerId,
        number: u32,
        records: &[RemovalRecord],
        labels: &BTreeMap<u64, TenantLabel>,
    ) -> Result<()> {
        let mut records = records.to_vec();
        records.sort_by_key(|record| record.seq);
        for new in records.chunk_by(|one, next| one.seq / TILE_LEAVES == next.seq / TILE_LEAVES) {
            let tile = (new[0].seq / TILE_LEAVES).cast_signed();
            let row = || removed_events::table.find((ledger_id.0, tile, i64::from(number)));
            let stored: Option<Vec<u8>> = row()
                .select(removed_events::records)
                .get_result(self.session())
                .optional()?;
            let mut all = new.to_vec();
            if let Some(bytes) = stored {
                let stored = read((tile, i64::from(number), bytes))?;
                let others = stored.into_iter().map(|(_, record)| record);
                all.extend(others.filter(|other| new.iter().all(|record| record.seq != other.seq)));
                all.sort_by_key(|record| record.seq);
                on_either!(self.session(), session => diesel::delete(row()).execute(session))?;
            }
            diesel::insert_into(removed_events::table)
                .values((
                    removed_events::ledger_id.eq(ledger_id.0),
                    removed_events::tile_index.eq(tile),
                    removed_events::removal.eq(i64::from(number)),
                    removed_events::records.eq(encode_records(&all)),
                ))
                .execute(self.session())?;
        }
        for (slot, label) in labels {
            let row = (
                removed_tenants::ledger_id.eq(ledger_id.0),
                removed_tenants::slot.eq(slot.cast_signed()),
                removed_tenants::label.eq(label.as_bytes().as_slice()),
            );
            insert_or_ignore!(self.session(), removed_tenants::table, row)?;
        }
        Ok(())
    }

    /// Removes the records of these positions from a removal. Returns those that it had.
    pub fn exclude_records(
        &mut self,
        ledger_id: LedgerId,
        number: u32,
        seqs: &[u64],
    ) -> Result<Vec<RemovalRecord>> {
        let tiles: BTreeSet<u64> = seqs.iter().map(|seq| seq / TILE_LEAVES).collect();
        let mut excluded = Vec::new();
        for tile in tiles {
            let row = || removed_events::table.find((ledger_id.0, tile.cast_signed(), i64::from(number)));
            let stored = self.records_of(ledger_id, number, tile, 1)?;
            let stored = stored
                .into_iter()
                .filter(|record| record.seq / TILE_LEAVES == tile);
            let (out, left): (Vec<_>, Vec<_>) = stored.partition(|record| seqs.contains(&record.seq));
            if out.is_empty() {
                continue;
            }
            match left.is_empty() {
                true => on_either!(self.session(), session => diesel::delete(row()).execute(session))?,
                false => diesel::update(row())
                    .set(removed_events::records.eq(encode_records(&left)))
                    .execute(self.session())?,
            };
            excluded.extend(out);
        }
        Ok(excluded)
    }

    /// Deletes up to `rows_max` rows of records of a removal that was cancelled. Returns their number.
    pub fn delete_records(&mut self, ledger_id: LedgerId, number: u32, rows_max: i64) -> Result<usize> {
        let tiles: Vec<i64> = removed_events::table
            .filter(removed_events::ledger_id.eq(ledger_id.0))
            .filter(removed_events::removal.eq(i64::from(number)))
            .order(removed_events::tile_index)
            .limit(rows_max)
            .select(removed_events::tile_index)
            .load(self.session())?;
        let Some(last) = tiles.last() else {
            return Ok(0);
        };
        let first = removed_events::table
            .filter(removed_events::ledger_id.eq(ledger_id.0))
            .filter(removed_events::removal.eq(i64::from(number)))
            .filter(removed_events::tile_index.le(*last));
        Ok(on_either!(self.session(), session => diesel::delete(first).execute(session))?)
    }
}
