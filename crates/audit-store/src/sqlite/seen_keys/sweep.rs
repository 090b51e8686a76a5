//! How the stored copy of the filter is written, and dropped layers are removed from it.

use super::{Filter, StoredLayer, block_id};
use crate::error::Result;
use crate::ids::LedgerId;
use crate::sqlite::key_filter::{Layer, blocks_of};
use crate::sqlite::schema::{key_filter, key_filter_blocks, key_filter_layers, key_filter_ledgers};
use audit_domain::Month;
use diesel::prelude::*;
use diesel::sqlite::SqliteConnection;
use std::mem;

/// New keys for which a sweep writes one block. A sweep of a large layer takes half a million keys, and a crash leaves at most
/// the keys of two sweeps to be read again.
pub(super) const KEYS_PER_WRITTEN_BLOCK: usize = 64;
/// Steps of a sweep with one commit, at most: half a megabyte.
const STEPS_PER_COMMIT_MAX: usize = 128;
/// Ledgers whose coverage is written instead of a block.
const LEDGERS_PER_STEP: usize = 16;
/// Blocks of dropped layers that a commit deletes, at most.
const DELETED_BLOCKS_MAX: i64 = 128;

/// A layer to write.
#[derive(Clone, Copy, Debug)]
struct SweptLayer {
    number: i64,
    size: i64,
    month: Month,
    /// Its keys at the beginning of the sweep.
    keys: usize,
    /// Whether it takes no more keys since then.
    is_finished: bool,
}

/// A sweep in progress.
#[derive(Debug)]
pub(super) struct Sweep {
    /// The layers to write.
    layers: Vec<SweptLayer>,
    /// The coverage at the beginning.
    seq_ends: Vec<(LedgerId, i64)>,
    /// Committed steps.
    steps: usize,
}

impl Filter {
    /// Takes the steps of a sweep that are due, and begins one if none is in progress. Returns their number.
    pub(super) fn sweep(&mut self, connection: &mut SqliteConnection) -> Result<usize> {
        let due = (self.credit / KEYS_PER_WRITTEN_BLOCK).min(STEPS_PER_COMMIT_MAX);
        let Some(owner) = self.owner.filter(|_| due > 0) else {
            return Ok(0);
        };
        let stored: i64 = key_filter::table
            .select(key_filter::owner)
            .get_result(connection)?;
        if stored != owner {
            (self.owner, self.sweep) = (None, None);
            return Ok(0);
        }
        let sweep = match self.sweep.take() {
            Some(sweep) => sweep,
            None => self.new_sweep(),
        };
        let end = (sweep.steps + due).min(sweep.steps_max());
        let taken = (sweep.steps..end).try_for_each(|step| self.take_step(&sweep, step, connection));
        let steps = end - sweep.steps;
        self.sweep = Some(sweep);
        taken.map(|()| steps)
    }

    fn new_sweep(&mut self) -> Sweep {
        // The layers before the newest take no more keys, and are stored, except those that ended during the last sweep.
        let newest = self.layers.last().map(|layer| layer.number);
        let changed = mem::take(&mut self.changed).into_iter();
        let seq_ends = changed.filter_map(|ledger_id| Some((ledger_id, *self.seq_ends.get(&ledger_id)?)));
        Sweep {
            layers: self
                .layers
                .iter()
                .filter(|layer| !layer.is_stored)
                .map(|layer| SweptLayer {
                    number: layer.number,
                    size: layer.size,
                    month: layer.month,
                    keys: layer.keys,
                    is_finished: layer.is_full() || Some(layer.number) != newest,
                })
                .collect(),
            seq_ends: seq_ends.collect(),
            steps: 0,
        }
    }

    /// Writes a block, a layer, or the coverage of some ledgers.
    fn take_step(&self, sweep: &Sweep, step: usize, connection: &mut SqliteConnection) -> Result<()> {
        let mut step = step;
        for layer in &sweep.layers {
            let blocks = blocks_of(layer.size);
            if step < blocks {
                return self.write_block(layer.number, step, connection);
            }
            step -= blocks;
        }
        if let Some(layer) = sweep.layers.get(step) {
            // It may have been dropped since the sweep began.
            if layer.month >= self.first_month {
                diesel::replace_into(key_filter_layers::table)
                    .values((
                        key_filter_layers::layer.eq(layer.number),
                        key_filter_layers::size.eq(layer.size),
                        key_filter_layers::month.eq(layer.month.number()),
                        key_filter_layers::keys.eq(layer.keys as i64),
                    ))
                    .execute(connection)?;
            }
            return Ok(());
        }
        step -= sweep.layers.len();
        let some = sweep.seq_ends.chunks(LEDGERS_PER_STEP).nth(step);
        for (ledger_id, seq_end) in some.unwrap_or_default() {
            diesel::replace_into(key_filter_ledgers::table)
                .values((
                    key_filter_ledgers::ledger_id.eq(ledger_id.0),
                    key_filter_ledgers::seq_end.eq(seq_end),
                ))
                .execute(connection)?;
        }
        Ok(())
    }

    fn write_block(&self, number: i64, block: usize, connection: &mut SqliteConnection) -> Result<()> {
        let Some(layer) = self.layers.iter().find(|layer| layer.number == number) else {
            return Ok(());
        };
        diesel::replace_into(key_filter_blocks::table)
            .values((
                key_filter_blocks::id.eq(block_id(number, block)),
                key_filter_blocks::bits.eq(layer.block(block)),
            ))
            .execute(connection)?;
        Ok(())
    }

    /// Notes committed steps. After the last step, full layers need not be written again, and large ones leave the memory.
    pub(super) fn swept(&mut self, steps: usize, dropped_from: i64) {
        let Some(sweep) = &mut self.sweep else { return };
        sweep.steps += steps;
        self.credit = self.credit.saturating_sub(steps * KEYS_PER_WRITTEN_BLOCK);
        if sweep.steps < sweep.steps_max() {
            return;
        }
        for swept in sweep.layers.iter().filter(|layer| layer.is_finished) {
            if let Some(layer) = self.layers.iter_mut().find(|layer| layer.number == swept.number) {
                layer.is_stored = true;
            }
        }
        self.sweep = None;
        let newest = self.layers.last().map(|layer| layer.number);
        let is_dropped =
            |layer: &Layer| layer.is_stored && layer.size >= dropped_from && Some(layer.number) != newest;
        self.stored.extend(
            self.layers
                .iter()
                .filter(|layer| is_dropped(layer))
                .map(|layer| StoredLayer {
                    number: layer.number,
                    size: layer.size,
                    month: layer.month,
                }),
        );
        self.layers.retain(|layer| !is_dropped(layer));
    }

    /// Removes dropped layers from the database: their rows, and some of their blocks. Returns whether none is left.
    pub(super) fn remove_dropped(&mut self, connection: &mut SqliteConnection) -> Result<bool> {
        let Some(owner) = self.owner.filter(|_| self.has_dropped) else {
            return Ok(false);
        };
        let own = key_filter::table.filter(key_filter::owner.eq(owner));
        let updated = diesel::update(own)
            .set(key_filter::first_month.eq(self.first_month.number()))
            .execute(connection)?;
        if updated == 0 {
            // Another process has taken over.
            return Ok(false);
        }
        diesel::delete(
            key_filter_layers::table.filter(key_filter_layers::month.lt(self.first_month.number())),
        )
        .execute(connection)?;
        let layers = self.layers.iter().map(|layer| layer.number);
        let Some(first) = layers.chain(self.stored.iter().map(|layer| layer.number)).min() else {
            return Ok(true);
        };
        let some: Vec<i64> = key_filter_blocks::table
            .filter(key_filter_blocks::id.lt(block_id(first, 0)))
            .select(key_filter_blocks::id)
            .order(key_filter_blocks::id)
            .limit(DELETED_BLOCKS_MAX)
            .load(connection)?;
        if let Some(last) = some.last() {
            diesel::delete(key_filter_blocks::table.filter(key_filter_blocks::id.le(last)))
                .execute(connection)?;
        }
        Ok(some.len() < DELETED_BLOCKS_MAX as usize)
    }
}

impl Sweep {
    fn steps_max(&self) -> usize {
        let blocks: usize = self.layers.iter().map(|layer| blocks_of(layer.size)).sum();
        blocks + self.layers.len() + self.seq_ends.len().div_ceil(LEDGERS_PER_STEP)
    }
}
