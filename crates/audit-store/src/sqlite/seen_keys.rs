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
//! The filter has the keys of the months of the idempotency window. A key of a new month begins a new layer, and the layers of
//! the months before the window are dropped. `Filter::first_month` is the first month whose keys the filter has; a look-up that
//! begins before that, because a clock went back, finds any key possible. Without a window there is one month for all keys.
//!
//! Blocks must come from one process only. `key_filter` names it; a process that finds another name there stops its sweep, and takes
//! over later, with the blocks that are stored then.

mod sweep;

use super::entry::{entry, ledger_and_seq};
use super::key_filter::{LARGEST, Layer, Probe, blocks_of};
use super::rows::NO_KEY;
use super::schema::{
    event_keys, key_filter, key_filter_blocks, key_filter_layers, key_filter_ledgers, random,
};
use crate::append::idempotency::KeyHash;
use crate::error::{Result, StoreError};
use crate::ids::LedgerId;
use crate::ledgers::head::Head;
use audit_domain::{IdempotencyWindow, Month};
use diesel::connection::DefaultLoadingMode;
use diesel::prelude::*;
use diesel::sqlite::SqliteConnection;
use std::collections::{HashMap, HashSet};
use std::mem;
use sweep::{KEYS_PER_WRITTEN_BLOCK, Sweep};

/// The key of the only row of `key_filter`.
const ONLY_ROW: i64 = 1;

/// The filter of the writing session. It is read when it is first needed.
#[derive(Debug)]
pub(crate) struct SeenKeys {
    /// In a box, because sessions of both databases take the room of the larger one.
    filter: Option<Box<Filter>>,
    window: IdempotencyWindow,
    /// Layers from this size on leave the memory when they are full and stored.
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
    /// Whether it has removed all of the dropped layers.
    is_removed: bool,
}

#[derive(Debug)]
struct Filter {
    /// Ascending numbers. Those that only the database has are missing.
    layers: Vec<Layer>,
    /// Layers that only the database has.
    stored: Vec<StoredLayer>,
    window: IdempotencyWindow,
    /// The filter has the keys of this month and of later ones.
    first_month: Month,
    /// Whether the database may have layers of months before [`Self::first_month`].
    has_dropped: bool,
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

/// A layer that only the database has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StoredLayer {
    number: i64,
    size: i64,
    month: Month,
}

impl SeenKeys {
    pub(crate) fn new(window: IdempotencyWindow) -> Self {
        Self {
            filter: None,
            window,
            dropped_from: LARGEST,
            pending: Pending::default(),
        }
    }

    /// Whether a ledger with this head may have an event with the key that was stored in `first_month` or later. Within a
    /// transaction that writes.
    pub(crate) fn may_hold(
        &mut self,
        connection: &mut SqliteConnection,
        ledger_id: LedgerId,
        head: &Head,
        first_month: Month,
        hash: &KeyHash,
    ) -> Result<bool> {
        let filter = match &mut self.filter {
            Some(filter) => filter,
            none => {
                self.pending.is_claim = true;
                none.insert(Box::new(Filter::load(
                    connection,
                    self.window,
                    self.dropped_from,
                )?))
            }
        };
        filter.catch_up(connection, ledger_id, head)?;
        if first_month < filter.first_month {
            return Ok(true);
        }
        filter.may_hold(connection, Probe::of(ledger_id, hash))
    }

    /// Writes what is due of the stored copy, within the transaction of a commit.
    pub(crate) fn store(&mut self, connection: &mut SqliteConnection) -> Result<()> {
        if let Some(filter) = &mut self.filter {
            self.pending.steps = filter.sweep(connection)?;
            self.pending.is_removed = filter.remove_dropped(connection)?;
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
    pub(crate) fn committed(&mut self, rows: impl Iterator<Item = (LedgerId, i64, Month, Option<KeyHash>)>) {
        let pending = mem::take(&mut self.pending);
        let Some(filter) = &mut self.filter else { return };
        filter.swept(pending.steps, self.dropped_from);
        if pending.is_removed {
            filter.has_dropped = false;
        }
        for (ledger_id, seq, month, key) in rows {
            filter.add_row(ledger_id, seq, month, key);
        }
        if filter.owner.is_none() && filter.is_due_to_take_over() {
            self.filter = None;
        }
    }
}

impl Filter {
    /// Reads the stored filter, and makes this process the owner of its blocks. A filter of another window is emptied: it may lack
    /// keys, or have too many.
    fn load(connection: &mut SqliteConnection, window: IdempotencyWindow, dropped_from: i64) -> Result<Self> {
        let last: Option<(i32, i32)> = key_filter::table
            .select((key_filter::window_months, key_filter::first_month))
            .get_result(connection)
            .optional()?;
        let months = i32::from(window.months());
        let first_month = match last.filter(|(of, _)| *of == months) {
            Some((_, first_month)) => Month::from_number(first_month),
            None => {
                diesel::delete(key_filter_ledgers::table).execute(connection)?;
                diesel::delete(key_filter_layers::table).execute(connection)?;
                diesel::delete(key_filter_blocks::table).execute(connection)?;
                Month::MIN
            }
        };
        let owner = diesel::replace_into(key_filter::table)
            .values((
                key_filter::id.eq(ONLY_ROW),
                key_filter::owner.eq(random()),
                key_filter::window_months.eq(months),
                key_filter::first_month.eq(first_month.number()),
            ))
            .returning(key_filter::owner)
            .get_result(connection)?;
        let rows: Vec<(i64, i64, i32, i64)> = key_filter_layers::table
            .order(key_filter_layers::layer)
            .load(connection)?;
        let newest = rows.last().map(|(number, ..)| *number);
        let (mut layers, mut stored) = (Vec::new(), Vec::new());
        for (number, size, month, keys) in rows {
            let month = Month::from_number(month);
            if size < dropped_from || Some(number) == newest {
                let mut layer = Layer::new(number, size, month);
                read_layer(connection, &mut layer, keys)?;
                // A layer that has a successor in the database was written as a whole before it.
                layer.is_stored = layer.is_full() || Some(number) != newest;
                layers.push(layer);
            } else {
                stored.push(StoredLayer { number, size, month });
            }
        }
        let seq_ends = key_filter_ledgers::table.load_iter::<(i64, i64), DefaultLoadingMode>(connection)?;
        let seq_ends = seq_ends.map(|row| row.map(|(ledger_id, seq_end)| (LedgerId(ledger_id), seq_end)));
        Ok(Self {
            layers,
            stored,
            window,
            first_month,
            // A process that ended may have left blocks.
            has_dropped: true,
            seq_ends: seq_ends.collect::<Result<_, _>>()?,
            changed: HashSet::new(),
            owner: Some(owner),
            credit: 0,
            sweep: None,
        })
    }

    /// Adds the stored keys of a ledger that are not in the filter: those after the last sweep, and those that another
    /// process has stored.
    fn catch_up(
        &mut self,
        connection: &mut SqliteConnection,
        ledger_id: LedgerId,
        head: &Head,
    ) -> Result<()> {
        let end = self.seq_ends.entry(ledger_id).or_default();
        let start = mem::replace(end, head.size);
        if start == head.size {
            return Ok(());
        }
        self.changed.insert(ledger_id);
        let added = self.add_stored(connection, ledger_id, head, start);
        if added.is_err() {
            self.seq_ends.insert(ledger_id, start);
        }
        added
    }

    fn add_stored(
        &mut self,
        connection: &mut SqliteConnection,
        ledger_id: LedgerId,
        head: &Head,
        start: i64,
    ) -> Result<()> {
        // Keys of earlier months are looked up without the filter.
        let first_month = self.first_month.max(
            head.month()
                .map_or(Month::MIN, |month| self.window.first_month(month)),
        );
        let start = start.max(head.first_seq_since(first_month).unwrap_or(head.size));
        let commits = event_keys::table
            .filter(event_keys::first_entry.ge(entry(ledger_id, start)))
            .filter(event_keys::first_entry.lt(entry(ledger_id, head.size)))
            .load_iter::<(i64, Vec<u8>), DefaultLoadingMode>(connection)?;
        for commit in commits {
            let (first_entry, hashes) = commit?;
            let month = head.month_of(ledger_and_seq(first_entry).1);
            let (hashes, []) = hashes.as_chunks() else {
                return Err(StoreError::Damaged {
                    what: "list of idempotency hashes",
                });
            };
            for hash in hashes.iter().filter(|hash| **hash != NO_KEY) {
                self.insert(Probe::of(ledger_id, hash), month);
            }
        }
        Ok(())
    }

    /// Adds the key of a committed event, if the filter has those of all events before it.
    fn add_row(&mut self, ledger_id: LedgerId, seq: i64, month: Month, key: Option<KeyHash>) {
        let end = self.seq_ends.get_mut(&ledger_id);
        if let Some(end) = end.filter(|end| **end == seq) {
            *end = seq + 1;
            if let Some(key) = key {
                self.insert(Probe::of(ledger_id, &key), month);
            }
            self.changed.insert(ledger_id);
        }
    }

    /// Adds a key to the newest layer. A later month than that of the layer begins another one, and ends the window of an earlier
    /// month.
    fn insert(&mut self, probe: Probe, month: Month) {
        let month = match self.window {
            IdempotencyWindow::UNBOUNDED => Month::MIN,
            _ => month,
        };
        let next = match self.layers.last() {
            None => Some((0, 0, month)),
            Some(last) if month > last.month => Some((last.number + 1, 0, month)),
            Some(last) if last.is_full() => Some((last.number + 1, (last.size + 1).min(LARGEST), last.month)),
            Some(_) => None,
        };
        if let Some((number, size, month)) = next {
            self.layers.push(Layer::new(number, size, month));
            self.drop_before(self.window.first_month(month));
        }
        if let Some(newest) = self.layers.last_mut() {
            newest.insert(probe);
        }
        self.credit += 1;
    }

    /// Drops the layers that have no keys of `first_month` or later.
    fn drop_before(&mut self, first_month: Month) {
        if first_month <= self.first_month {
            return;
        }
        self.first_month = first_month;
        self.has_dropped = true;
        self.layers.retain(|layer| layer.month >= first_month);
        self.stored.retain(|layer| layer.month >= first_month);
    }

    fn may_hold(&self, connection: &mut SqliteConnection, probe: Probe) -> Result<bool> {
        if self.layers.iter().rev().any(|layer| layer.may_hold(probe)) {
            return Ok(true);
        }
        for layer in self.stored.iter().rev() {
            let block = key_filter_blocks::table
                .find(block_id(layer.number, probe.block_in(blocks_of(layer.size))))
                .select(key_filter_blocks::bits)
                .get_result::<Vec<u8>>(connection)
                .optional()?;
            if probe.may_be_in(block.as_deref()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether as many keys were inserted since another process took over as a sweep takes.
    fn is_due_to_take_over(&self) -> bool {
        let blocks = self.layers.iter().map(|layer| blocks_of(layer.size)).max();
        self.credit >= blocks.unwrap_or(0) * KEYS_PER_WRITTEN_BLOCK
    }
}

/// The key of a block: layer << 32 | block.
const fn block_id(layer: i64, block: usize) -> i64 {
    (layer << 32) + block as i64
}

/// Reads the blocks of a stored layer. A block that is missing or damaged may have any key.
fn read_layer(connection: &mut SqliteConnection, layer: &mut Layer, keys: i64) -> Result<()> {
    let (number, blocks) = (layer.number, blocks_of(layer.size));
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
        (next..block.min(blocks)).for_each(|missing| layer.set_block(missing, None));
        layer.set_block(block, Some(&bits));
        next = block.saturating_add(1);
    }
    (next..blocks).for_each(|missing| layer.set_block(missing, None));
    Ok(())
}

#[cfg(test)]
mod tests;
