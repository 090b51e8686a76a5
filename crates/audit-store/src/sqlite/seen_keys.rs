//! The writer's filter of known idempotency keys, and its stored copy.
//!
//! The filter covers every event of a ledger before its `seq_ends`. Events beyond that, which another process has stored, are
//! added from `event_keys` before the ledger's next commit.
//!
//! The copy in the database makes the start short and the memory bounded. A *sweep* notes what the filter covers, writes every block
//! that may have changed, a few with each commit, then the layers, and last what was noted (`key_filter_ledgers`). At any moment the
//! stored blocks have all keys that the stored coverage promises, and possibly more. A full layer of the largest size is dropped
//! from memory after its sweep and read a block at a time.
//!
//! Blocks must come from one process only. `key_filter` names it; a process that finds another name there stops its sweep, and takes
//! over later, with the blocks that are stored then.

use super::entry::entry;
use super::key_filter::{LARGEST, Layer, Probe, blocks_of, keys_max};
use super::keys::NO_KEY;
use super::schema::{
    event_keys, key_filter, key_filter_blocks, key_filter_layers, key_filter_ledgers, random,
};
use crate::append::{KeyHash, LedgerId};
use crate::error::{Result, StoreError};
use diesel::connection::DefaultLoadingMode;
use diesel::prelude::*;
use diesel::sqlite::SqliteConnection;
use std::collections::{HashMap, HashSet};
use std::mem;

/// The key of the only row of `key_filter`.
const ONLY_ROW: i64 = 1;

/// New keys for which a sweep writes one block. A sweep of a large layer takes half a million keys, and a crash leaves at most
/// the keys of two sweeps to be read again.
const KEYS_PER_WRITTEN_BLOCK: usize = 64;
/// Steps of a sweep with one commit, at most: half a megabyte.
const STEPS_PER_COMMIT_MAX: usize = 128;
/// Ledgers whose coverage is written instead of a block.
const LEDGERS_PER_STEP: usize = 16;

/// The filter of the writing session. It is read when it is first needed.
#[derive(Debug)]
pub(crate) struct SeenKeys {
    /// In a box, because sessions of both databases take the room of the larger one.
    filter: Option<Box<Filter>>,
    /// Layers from this number on leave the memory when they are full and stored.
    dropped_from: i64,
    /// What the transaction in progress has changed.
    pending: Pending,
}

#[derive(Debug, Default)]
struct Pending {
    /// Whether it has made this process the owner of the stored blocks.
    is_claim: bool,
    /// Steps of the sweep.
    steps: usize,
}

#[derive(Debug)]
struct Filter {
    /// Ascending numbers. Those that only the database has are missing.
    layers: Vec<Layer>,
    /// Layers that only the database has.
    stored: Vec<i64>,
    /// By ledger: the keys of the events before this `seq` are in the filter.
    seq_ends: HashMap<LedgerId, i64>,
    /// The ledgers that have changed since the last sweep began.
    changed: HashSet<LedgerId>,
    /// The number under which this process owns the stored blocks. `None` after another process has taken over.
    owner: Option<i64>,
    /// Keys that were inserted and not accounted for by steps of a sweep.
    credit: usize,
    sweep: Option<Sweep>,
}

/// A sweep in progress.
#[derive(Debug)]
struct Sweep {
    /// The layers to write, each with its keys at the beginning.
    layers: Vec<(i64, usize)>,
    /// The coverage at the beginning.
    seq_ends: Vec<(LedgerId, i64)>,
    /// Committed steps.
    steps: usize,
}

impl Default for SeenKeys {
    fn default() -> Self {
        Self {
            filter: None,
            dropped_from: LARGEST,
            pending: Pending::default(),
        }
    }
}

impl SeenKeys {
    /// Whether a ledger of this size may have an event with the key. Within a transaction that writes.
    pub(crate) fn may_hold(
        &mut self,
        connection: &mut SqliteConnection,
        ledger_id: LedgerId,
        size: i64,
        hash: &KeyHash,
    ) -> Result<bool> {
        let filter = match &mut self.filter {
            Some(filter) => filter,
            none => {
                self.pending.is_claim = true;
                none.insert(Box::new(Filter::load(connection, self.dropped_from)?))
            }
        };
        filter.catch_up(connection, ledger_id, size)?;
        filter.may_hold(connection, Probe::of(ledger_id, hash))
    }

    /// Writes what is due of the stored copy, within the transaction of a commit.
    pub(crate) fn store(&mut self, connection: &mut SqliteConnection) -> Result<()> {
        if let Some(filter) = &mut self.filter {
            self.pending.steps = filter.sweep(connection)?;
        }
        Ok(())
    }

    /// Forgets what the last transaction has changed, unless it was [`Self::committed`].
    pub(crate) fn rolled_back(&mut self) {
        if mem::take(&mut self.pending).is_claim {
            self.filter = None;
        }
    }

    /// Adds the keys of committed rows.
    pub(crate) fn committed(&mut self, rows: impl Iterator<Item = (LedgerId, i64, Option<KeyHash>)>) {
        let pending = mem::take(&mut self.pending);
        let Some(filter) = &mut self.filter else { return };
        filter.swept(pending.steps, self.dropped_from);
        for (ledger_id, seq, key) in rows {
            let end = filter.seq_ends.get_mut(&ledger_id);
            if let Some(end) = end.filter(|end| **end == seq) {
                *end = seq + 1;
                if let Some(key) = key {
                    filter.insert(Probe::of(ledger_id, &key));
                }
                filter.changed.insert(ledger_id);
            }
        }
        if filter.owner.is_none() && filter.is_due_to_take_over() {
            self.filter = None;
        }
    }
}

impl Filter {
    /// Reads the stored filter, and makes this process the owner of its blocks.
    fn load(connection: &mut SqliteConnection, dropped_from: i64) -> Result<Self> {
        let owner = diesel::replace_into(key_filter::table)
            .values((key_filter::id.eq(ONLY_ROW), key_filter::owner.eq(random())))
            .returning(key_filter::owner)
            .get_result(connection)?;
        let numbers: Vec<(i64, i64)> = key_filter_layers::table
            .order(key_filter_layers::layer)
            .load(connection)?;
        let newest = numbers.last().map(|(number, _)| *number);
        let (mut layers, mut stored) = (Vec::new(), Vec::new());
        for (number, keys) in numbers {
            if number < dropped_from || Some(number) == newest {
                layers.push(read_layer(connection, number, keys)?);
            } else {
                stored.push(number);
            }
        }
        let seq_ends = key_filter_ledgers::table.load_iter::<(i64, i64), DefaultLoadingMode>(connection)?;
        let seq_ends = seq_ends.map(|row| row.map(|(ledger_id, seq_end)| (LedgerId(ledger_id), seq_end)));
        Ok(Self {
            layers,
            stored,
            seq_ends: seq_ends.collect::<Result<_, _>>()?,
            changed: HashSet::new(),
            owner: Some(owner),
            credit: 0,
            sweep: None,
        })
    }

    /// Adds the stored keys of a ledger that are not in the filter: those after the last sweep, and those that another
    /// process has stored.
    fn catch_up(&mut self, connection: &mut SqliteConnection, ledger_id: LedgerId, size: i64) -> Result<()> {
        let end = self.seq_ends.entry(ledger_id).or_default();
        let start = mem::replace(end, size);
        if start == size {
            return Ok(());
        }
        self.changed.insert(ledger_id);
        let added = self.add_stored(
            connection,
            entry(ledger_id, start),
            entry(ledger_id, size),
            ledger_id,
        );
        if added.is_err() {
            self.seq_ends.insert(ledger_id, start);
        }
        added
    }

    fn add_stored(
        &mut self,
        connection: &mut SqliteConnection,
        start: i64,
        end: i64,
        ledger_id: LedgerId,
    ) -> Result<()> {
        let commits = event_keys::table
            .filter(event_keys::first_entry.ge(start))
            .filter(event_keys::first_entry.lt(end))
            .select(event_keys::hashes)
            .load_iter::<Vec<u8>, DefaultLoadingMode>(connection)?;
        for hashes in commits {
            let hashes = hashes?;
            let (hashes, []) = hashes.as_chunks() else {
                return Err(StoreError::Damaged {
                    what: "list of idempotency hashes",
                });
            };
            for hash in hashes.iter().filter(|hash| **hash != NO_KEY) {
                self.insert(Probe::of(ledger_id, hash));
            }
        }
        Ok(())
    }

    fn insert(&mut self, probe: Probe) {
        if self.layers.last().is_none_or(Layer::is_full) {
            let last = self.layers.last().map(|layer| layer.number);
            self.layers.push(Layer::new(last.map_or(0, |last| last + 1)));
        }
        if let Some(newest) = self.layers.last_mut() {
            newest.insert(probe);
        }
        self.credit += 1;
    }

    fn may_hold(&self, connection: &mut SqliteConnection, probe: Probe) -> Result<bool> {
        if self.layers.iter().rev().any(|layer| layer.may_hold(probe)) {
            return Ok(true);
        }
        for layer in self.stored.iter().rev() {
            let block = key_filter_blocks::table
                .find(block_id(*layer, probe.block_in(blocks_of(*layer))))
                .select(key_filter_blocks::bits)
                .get_result::<Vec<u8>>(connection)
                .optional()?;
            if probe.may_be_in(block.as_deref()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes the steps of a sweep that are due, and begins one if none is in progress. Returns their number.
    fn sweep(&mut self, connection: &mut SqliteConnection) -> Result<usize> {
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
        // The layers before the newest are full and stored, except one that was filled during the last sweep.
        let changed = mem::take(&mut self.changed).into_iter();
        let seq_ends = changed.filter_map(|ledger_id| Some((ledger_id, *self.seq_ends.get(&ledger_id)?)));
        Sweep {
            layers: self
                .layers
                .iter()
                .filter(|layer| !layer.is_stored)
                .map(|layer| (layer.number, layer.keys))
                .collect(),
            seq_ends: seq_ends.collect(),
            steps: 0,
        }
    }

    /// Writes a block, a layer, or the coverage of some ledgers.
    fn take_step(&self, sweep: &Sweep, step: usize, connection: &mut SqliteConnection) -> Result<()> {
        let mut step = step;
        for (number, _) in &sweep.layers {
            let blocks = blocks_of(*number);
            if step < blocks {
                return self.write_block(*number, step, connection);
            }
            step -= blocks;
        }
        if let Some((number, keys)) = sweep.layers.get(step) {
            diesel::replace_into(key_filter_layers::table)
                .values((
                    key_filter_layers::layer.eq(number),
                    key_filter_layers::keys.eq(*keys as i64),
                ))
                .execute(connection)?;
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
    fn swept(&mut self, steps: usize, dropped_from: i64) {
        let Some(sweep) = &mut self.sweep else { return };
        sweep.steps += steps;
        self.credit = self.credit.saturating_sub(steps * KEYS_PER_WRITTEN_BLOCK);
        if sweep.steps < sweep.steps_max() {
            return;
        }
        for (number, keys) in &sweep.layers {
            if *keys >= keys_max(*number)
                && let Some(layer) = self.layers.iter_mut().find(|layer| layer.number == *number)
            {
                layer.is_stored = true;
            }
        }
        self.sweep = None;
        let newest = self.layers.last().map(|layer| layer.number);
        let is_dropped =
            |layer: &Layer| layer.is_stored && layer.number >= dropped_from && Some(layer.number) != newest;
        self.stored.extend(
            self.layers
                .iter()
                .filter(|layer| is_dropped(layer))
                .map(|layer| layer.number),
        );
        self.layers.retain(|layer| !is_dropped(layer));
    }

    /// Whether as many keys were inserted since another process took over as a sweep takes.
    fn is_due_to_take_over(&self) -> bool {
        let blocks = self.layers.iter().map(|layer| blocks_of(layer.number)).max();
        self.credit >= blocks.unwrap_or(0) * KEYS_PER_WRITTEN_BLOCK
    }
}

impl Sweep {
    fn steps_max(&self) -> usize {
        let blocks: usize = self.layers.iter().map(|(number, _)| blocks_of(*number)).sum();
        blocks + self.layers.len() + self.seq_ends.len().div_ceil(LEDGERS_PER_STEP)
    }
}

/// The key of a block: layer << 32 | block.
const fn block_id(layer: i64, block: usize) -> i64 {
    (layer << 32) + block as i64
}

/// Reads a stored layer. A block that is missing or damaged may have any key.
fn read_layer(connection: &mut SqliteConnection, number: i64, keys: i64) -> Result<Layer> {
    let mut layer = Layer::new(number);
    layer.keys = usize::try_from(keys).unwrap_or(usize::MAX);
    let stored = key_filter_blocks::table
        .filter(key_filter_blocks::id.ge(block_id(number, 0)))
        .filter(key_filter_blocks::id.lt(block_id(number + 1, 0)))
        .order(key_filter_blocks::id)
        .load_iter::<(i64, Vec<u8>), DefaultLoadingMode>(connection)?;
    let mut next = 0;
    for row in stored {
        let (id, bits) = row?;
        let block = usize::try_from(id - block_id(number, 0)).unwrap_or(usize::MAX);
        (next..block.min(blocks_of(number))).for_each(|missing| layer.set_block(missing, None));
        layer.set_block(block, Some(&bits));
        next = block.saturating_add(1);
    }
    (next..blocks_of(number)).for_each(|missing| layer.set_block(missing, None));
    layer.is_stored = layer.is_full();
    Ok(layer)
}

#[cfg(test)]
mod tests;
