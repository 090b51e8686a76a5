//! Bringing a map up to date.

use super::batch::{Batch, TenantEvents};
use super::behind::MapBehind;
use super::progress::MapTurn;
use super::{CurrentMap, MapFailure, MappedLog};
use crate::error::{AppError, Result};
use crate::service::AuditLog;
use audit_ledger::{
    Frontier, Growth, GrowthError, Hash, MapPart, MapTile, MapTileId, TenantLabel, Tile, TileId, TreeHead,
};
use audit_store::{
    LedgerId, NewTenantTile, RecentEvent, StoreError, StoredTenantMap, TenantLog, TenantMapChange,
    TenantMapState,
};
use std::collections::{HashMap, VecDeque};
use tokio::sync::watch;

/// The most events by which a request itself brings a map up to date. The background adds more.
const REQUEST_EVENTS_MAX: u64 = 1_000;
/// The most changes of a map for an anchor.
pub(super) const ANCHOR_STEPS_MAX: u32 = 20;

/// Who brings a map up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grower {
    /// A request, in its turn: by a few events, and without waiting for another thread.
    Request,
    /// A thread of the service, by at most so many changes.
    Service(u32),
}

/// The events of the log lead to another root.
#[derive(Debug, thiserror::Error)]
#[error("the first {size} events are not those that were signed")]
struct AlteredEvents {
    size: u64,
}

/// Notifies the waiting requests when it is dropped, also after an error.
struct EndsGrowth<'a>(&'a MapTurn);

impl Drop for EndsGrowth<'_> {
    fn drop(&mut self) {
        self.0.ended.send_modify(|ended| *ended += 1);
    }
}

impl AuditLog {
    /// Takes a step of the maps that lack many events: one map of each organization. Returns whether more is to be done. Call it
    /// again at once then, and otherwise after a moment.
    ///
    /// # Errors
    /// When the database fails. The remaining maps are brought up to date when they are needed.
    pub fn update_tenant_maps(&self) -> Result<bool> {
        let (round, mut is_more) = self.tenant_maps.take_round();
        for ledger_id in round {
            let name = self.store.read(|reader| reader.ledger_name(ledger_id))?;
            let log = self.mapped_log_of(ledger_id, name, None)?;
            match self.with_tenant_map(&log, 0, Grower::Service(1), |_| Ok(())) {
                Ok(()) | Err(AppError::Unavailable(_) | AppError::LogInconsistent(_)) => {}
                Err(AppError::MapBehind(_)) => is_more = true,
                Err(error) => return Err(error),
            }
        }
        Ok(is_more)
    }

    /// Brings the map up to the checkpoint with this head. `seen` is the stored state that the result is from.
    pub(super) fn grow_map(
        &self,
        log: &MappedLog,
        head: &TreeHead,
        grower: Grower,
        seen: &mut Option<StoredTenantMap>,
    ) -> Result<TenantMapState, MapFailure> {
        let turn = self.tenant_maps.turn_of(log.ledger_id, log.organization_id);
        // Before the state is read: a change that another thread completes after that wakes the request.
        let ended = turn.ended.subscribe();
        let mut state = self.read_state(log, seen)?;
        if state.log.size() < head.size {
            state = self.grow_behind(log, head, grower, (&turn, ended), (state, seen))?;
        }
        if state.log.size() > head.size {
            return Err(MapFailure::Ahead(state.log.size()));
        }
        if state.log.head() != *head {
            let altered = AlteredEvents { size: head.size };
            return Err(AppError::inconsistent(altered).into());
        }
        Ok(state)
    }

    /// [`Self::grow_map`] of a map that lacks events.
    fn grow_behind(
        &self,
        log: &MappedLog,
        head: &TreeHead,
        grower: Grower,
        (turn, ended): (&MapTurn, watch::Receiver<u64>),
        (state, seen): (TenantMapState, &mut Option<StoredTenantMap>),
    ) -> Result<TenantMapState, MapFailure> {
        let behind = |state: &TenantMapState| {
            let events = head.size.saturating_sub(state.log.size());
            let ended = ended.clone();
            MapFailure::App(AppError::MapBehind(MapBehind::new(events, ended)))
        };
        let (lock, steps_max) = match grower {
            Grower::Service(steps_max) => (Some(turn.lock.lock()), steps_max),
            Grower::Request if head.size - state.log.size() > REQUEST_EVENTS_MAX => {
                self.tenant_maps.enqueue(log.ledger_id);
                (None, 0)
            }
            Grower::Request => (turn.lock.try_lock(), 1),
        };
        let Some(lock) = lock else {
            return Err(behind(&state));
        };
        let _ends = EndsGrowth(turn);
        // Dropped before the notification: the requests that it wakes try the lock.
        let _lock = lock;
        // Another thread may have done it.
        let mut state = self.read_state(log, seen)?;
        let mut recent = self.verified_recent(log.ledger_id, &state.log, head);
        for _ in 0..steps_max {
            if state.log.size() >= head.size {
                break;
            }
            state = self.take_step(log, head, state, seen, &mut recent)?;
        }
        let size = state.log.size();
        let is_complete = size >= head.size;
        self.tenant_maps.note_grown(log.ledger_id, size, is_complete);
        self.store.keep_recent_events(log.ledger_id);
        match is_complete {
            true => Ok(state),
            false => Err(behind(&state)),
        }
    }

    fn read_state(
        &self,
        log: &MappedLog,
        seen: &mut Option<StoredTenantMap>,
    ) -> Result<TenantMapState, MapFailure> {
        let (stored, is_own) = self.store.query(|reader| {
            let stored = reader.tenant_map(log.ledger_id)?;
            let is_own = match &stored {
                Some(stored) => reader.is_own_tenant_map(stored)?,
                None => true,
            };
            Ok::<_, AppError>((stored, is_own))
        })?;
        let state = match &stored {
            None => Some(TenantMapState {
                log: Frontier::new(),
                root: MapPart::empty_root(&log.key),
            }),
            Some(stored) => stored.state().filter(|_| is_own),
        };
        *seen = stored;
        state.ok_or_else(|| MapFailure::forged("its state has another code"))
    }

    /// Adds the next events to the map. Where another process has done so, reads its state.
    fn take_step(
        &self,
        log: &MappedLog,
        head: &TreeHead,
        state: TenantMapState,
        seen: &mut Option<StoredTenantMap>,
        recent: &mut VecDeque<RecentEvent>,
    ) -> Result<TenantMapState, MapFailure> {
        let batch = self.next_events(log, state.log.clone(), head.size, recent)?;
        let mut change = self.change_of(&CurrentMap { log, state }, batch)?;
        change.before.clone_from(seen);
        let after = change.state.clone();
        let stored = self
            .store
            .write(move |writer| writer.change_tenant_map(&change).map_err(AppError::from))?;
        match stored {
            Some(stored) => {
                *seen = Some(stored);
                Ok(after)
            }
            None => self.read_state(log, seen),
        }
    }

    fn change_of(&self, map: &CurrentMap<'_>, batch: Batch) -> Result<TenantMapChange, MapFailure> {
        let key = &map.log.key;
        let slots = batch.tenants.keys().map(TenantLabel::slot);
        let (mut part, mut known) = self.verified_part(map, slots.collect())?;
        let (mut logs, mut tiles, mut leaves) = (Vec::new(), Vec::new(), Vec::new());
        for (label, TenantEvents { tenant_id, events }) in batch.tenants {
            let mut before = known.remove(&label.slot()).unwrap_or_else(|| TenantLog {
                slot: label.slot(),
                label,
                tenant_id: String::new(),
                tree: Frontier::new(),
                recent: Vec::new(),
                recent_seq: 0,
            });
            if before.label != label {
                // 64 bits of two SHA-256 are equal.
                let what = "map of tenants: two of them have one position";
                return Err(StoreError::Damaged { what }.into());
            }
            if before.tenant_id.is_empty() {
                // It is new, or its events before these were all removed, and its name with them.
                before.tenant_id = tenant_id;
            }
            let (after, filled) = self.grow_log(map.log.ledger_id, &before, &events)?;
            leaves.push((label.slot(), label.leaf(&after.tree.head())));
            logs.push(after);
            tiles.extend(filled);
        }
        let (root, map_tiles) = part.update(key, leaves);
        Ok(TenantMapChange {
            ledger_id: map.log.ledger_id,
            before: None,
            state: TenantMapState { log: batch.log, root },
            logs,
            tiles,
            map_tiles,
        })
    }

    /// The stored tiles and logs above and beside these slots, verified against the root of the map.
    pub(super) fn verified_part(
        &self,
        map: &CurrentMap<'_>,
        slots: Vec<u64>,
    ) -> Result<(MapPart, HashMap<u64, TenantLog>), MapFailure> {
        let key = &map.log.key;
        let ids = MapTileId::above(slots.iter().copied());
        let buckets = MapPart::buckets_of(slots.iter().copied());
        let (stored_tiles, stored_logs) = self.store.query(|reader| {
            let logs = reader.tenant_logs(map.log.ledger_id, buckets.iter().copied())?;
            let tiles = reader.tenant_map_tiles(map.log.ledger_id, ids.iter().copied())?;
            Ok::<_, AppError>((tiles, logs))
        })?;
        let mut tiles = Vec::with_capacity(stored_tiles.len());
        for (id, bytes) in stored_tiles {
            tiles.push((id, MapTile::decode(&bytes).map_err(MapFailure::forged)?));
        }
        let mut part = MapPart::new(tiles);
        let mut logs = HashMap::with_capacity(stored_logs.len());
        for stored in stored_logs {
            let is_own = |log: &TenantLog| {
                let is_named = log.tenant_id.is_empty() || key.label(&log.tenant_id) == log.label;
                is_named && log.label.slot() == log.slot
            };
            let log = stored.read().filter(is_own);
            let log = log.ok_or_else(|| MapFailure::forged("the log of a tenant cannot be read"))?;
            part.insert(log.slot, log.label.leaf(&log.tree.head()));
            logs.insert(log.slot, log);
        }
        part.verify(key, &map.state.root, slots)
            .map_err(MapFailure::forged)?;
        Ok((part, logs))
    }

    /// Appends events to the log of a tenant. Returns the log and the tiles that it has filled.
    fn grow_log(
        &self,
        ledger_id: LedgerId,
        before: &TenantLog,
        events: &[(u64, Hash)],
    ) -> Result<(TenantLog, Vec<NewTenantTile>), MapFailure> {
        let width = u64::from(TileId::WIDTH_MAX);
        let mut growth = Growth::new(before.tree.clone());
        growth.extend(&events.iter().map(|(_, leaf)| *leaf).collect::<Vec<_>>());
        let finished = growth.finish(|id| self.tenant_partial_tile(ledger_id, before, id));
        let (tree, tiles) = finished.map_err(|error| match error {
            GrowthError::Read { source, .. } => source,
            error => MapFailure::forged(error),
        })?;
        let size = before.tree.size();
        let first_seq = |tile: &Tile| match tile.id().index() * width {
            _ if tile.id().level() > 0 => 0,
            start if start < size => before.recent_seq,
            start => events[(start - size) as usize].0,
        };
        let slot = before.slot;
        let filled = tiles.into_iter().map(|tile| NewTenantTile {
            slot,
            first_seq: first_seq(&tile),
            tile,
        });
        let filled = filled.collect();
        let kept = (tree.size() % width) as usize;
        let leaves = before.recent.iter().chain(events.iter().map(|(_, leaf)| leaf));
        let recent: Vec<Hash> = leaves
            .skip(before.recent.len() + events.len() - kept)
            .copied()
            .collect();
        let recent_seq = match events.len().checked_sub(kept) {
            _ if kept == 0 => 0,
            Some(first) => events[first].0,
            None => before.recent_seq,
        };
        let after = TenantLog {
            slot,
            label: before.label,
            tenant_id: before.tenant_id.clone(),
            tree,
            recent,
            recent_seq,
        };
        Ok((after, filled))
    }

    /// A partial tile of a tenant's tree: of its leaves behind the last full tile, or of the roots of full tiles.
    pub(super) fn tenant_partial_tile(
        &self,
        ledger_id: LedgerId,
        log: &TenantLog,
        id: TileId,
    ) -> Result<Tile, MapFailure> {
        let Some(below) = id.level().checked_sub(1) else {
            return Tile::new(id, log.recent.clone()).map_err(MapFailure::forged);
        };
        let first = id.index() * u64::from(TileId::WIDTH_MAX);
        let indexes = first..first + u64::from(id.width());
        let stored = self
            .store
            .query(|reader| reader.tenant_tiles(ledger_id, log.slot, below, indexes.clone()))?;
        let mut roots = Vec::with_capacity(stored.len());
        for (index, _, hashes) in stored {
            let tile = full_tile(below, index, &hashes)?;
            roots.extend(tile.root());
        }
        Tile::new(id, roots).map_err(MapFailure::forged)
    }
}

/// A stored full tile.
pub(super) fn full_tile(level: u8, index: u64, hashes: &[u8]) -> Result<Tile, MapFailure> {
    let id = TileId::new(level, index, TileId::WIDTH_MAX);
    id.and_then(|id| Tile::decode(id, hashes))
        .map_err(MapFailure::forged)
}
