//! Proofs from a map that is up to date.

use super::completeness::TenantCompleteness;
use super::growth::full_tile;
use super::{CurrentMap, MapFailure};
use crate::error::AppError;
use crate::service::AuditLog;
use audit_domain::Timestamp;
use audit_ledger::{Hash, InclusionProof, Subtree, TenantProof, Tile, TileId, TileSet, TlogProof};
use audit_store::{LoggedEvent, StoreError, TenantLog};

type Result<T, E = MapFailure> = std::result::Result<T, E>;

impl AuditLog {
    /// The proof of a tenant's log, signed at this time. `removed_before` is the time before which removals have taken events.
    pub(super) fn prove_tenant(
        &self,
        map: &CurrentMap<'_>,
        tenant_id: &str,
        now: Timestamp,
        removed_before: Option<Timestamp>,
    ) -> Result<TenantCompleteness> {
        let label = map.log.key.label(tenant_id);
        let (part, mut logs) = self.verified_part(map, vec![label.slot()])?;
        let mut removed = None;
        let log = match logs.remove(&label.slot()) {
            Some(log) => {
                if let Some(before) = removed_before {
                    removed = self.removed_of_tenant(map, &log, tenant_id, before)?;
                }
                let note = self.sign_log_of_tenant(map.log, tenant_id, log.tree.head())?;
                Some((note, part.path(&map.log.key, label.slot())))
            }
            None => None,
        };
        let empty = log.is_none().then(|| label.to_string());
        let proof = TenantProof {
            tenant_id: tenant_id.to_owned(),
            salt: map.log.key.salt(tenant_id),
            log,
            map: self.sign_map(map, now, empty)?,
        };
        Ok(TenantCompleteness { proof, removed })
    }

    /// The proof that an event is in the log of its tenant, without extra data.
    pub(super) fn prove_event_of_tenant(
        &self,
        map: &CurrentMap<'_>,
        logged: &LoggedEvent,
        tenant_id: &str,
    ) -> Result<TlogProof> {
        let slot = map.log.key.label(tenant_id).slot();
        let (_, mut logs) = self.verified_part(map, vec![slot])?;
        let log = logs.remove(&slot).ok_or_else(|| altered(logged))?;
        let leaf = Hash::of_event(&logged.event.content_hash);
        let tile = self.tile_of_event(map, &log, logged.seq)?;
        let found = tile.hashes().iter().position(|hash| *hash == leaf);
        let offset = found.unwrap_or(0);
        let Some(proved) = tile.hashes().get(offset) else {
            return Err(altered(logged));
        };
        let index = tile.id().index() * u64::from(TileId::WIDTH_MAX) + offset as u64;
        let inclusion = self.prove_in_log(map, &log, index)?;
        // The path has all other hashes of the tile in it, so the tile is the one that was written.
        inclusion
            .verify(index, proved, &log.tree.head())
            .map_err(MapFailure::forged)?;
        if found.is_none() {
            return Err(altered(logged));
        }
        Ok(TlogProof {
            extra: None,
            index,
            inclusion,
            checkpoint: self.sign_log_of_tenant(map.log, tenant_id, log.tree.head())?,
        })
    }

    /// The tile of level 0 that has the event at this position of the ledger.
    pub(super) fn tile_of_event(&self, map: &CurrentMap<'_>, log: &TenantLog, seq: u64) -> Result<Tile> {
        let full = log.tree.size() / u64::from(TileId::WIDTH_MAX);
        if full == 0 || (!log.recent.is_empty() && seq >= log.recent_seq) {
            let id = TileId::partial_of(log.tree.size()).find(|id| id.level() == 0);
            let id = id.ok_or_else(|| MapFailure::forged("a log of a tenant without events"))?;
            return Tile::new(id, log.recent.clone()).map_err(MapFailure::forged);
        }
        let begun = self.full_tiles_before(map, log, seq + 1)?;
        self.full_tile_of(map, log, 0, begun.saturating_sub(1))
    }

    /// The number of full tiles of level 0 whose first event is before this position of the ledger.
    pub(super) fn full_tiles_before(&self, map: &CurrentMap<'_>, log: &TenantLog, seq: u64) -> Result<u64> {
        let (mut first, mut end) = (0, log.tree.size() / u64::from(TileId::WIDTH_MAX));
        while first < end {
            let middle = first + (end - first) / 2;
            match self.full_tile_start(map, log, middle)? < seq {
                true => first = middle + 1,
                false => end = middle,
            }
        }
        Ok(first)
    }

    /// The position in the ledger of the first event of a full tile of level 0.
    pub(super) fn full_tile_start(&self, map: &CurrentMap<'_>, log: &TenantLog, index: u64) -> Result<u64> {
        let ledger_id = map.log.ledger_id;
        let start = self
            .store
            .query(|reader| reader.tenant_tile_start(ledger_id, log.slot, index))?;
        start.ok_or_else(|| MapFailure::forged("a tile of a tenant is missing"))
    }

    pub(super) fn full_tile_of(
        &self,
        map: &CurrentMap<'_>,
        log: &TenantLog,
        level: u8,
        index: u64,
    ) -> Result<Tile> {
        let stored = self
            .store
            .query(|reader| reader.tenant_tiles(map.log.ledger_id, log.slot, level, index..index + 1))?;
        let (_, _, hashes) = stored
            .into_iter()
            .next()
            .ok_or_else(|| MapFailure::forged("a tile of a tenant is missing"))?;
        full_tile(level, index, &hashes)
    }

    fn prove_in_log(&self, map: &CurrentMap<'_>, log: &TenantLog, index: u64) -> Result<InclusionProof> {
        let size = log.tree.size();
        let subtrees = InclusionProof::subtrees(index, size).map_err(AppError::internal)?;
        let tiles = self.tiles_with(map, log, subtrees)?;
        InclusionProof::prove(index, size, |subtree| tiles.hash(subtree)).map_err(MapFailure::forged)
    }

    /// The tiles of the tree of a tenant that have these hashes.
    pub(super) fn tiles_with(
        &self,
        map: &CurrentMap<'_>,
        log: &TenantLog,
        subtrees: Vec<Subtree>,
    ) -> Result<TileSet> {
        let (mut tiles, size) = (TileSet::default(), log.tree.size());
        for id in TileSet::needed(subtrees, size).map_err(AppError::internal)? {
            tiles.insert(match id.is_full() {
                true => self.full_tile_of(map, log, id.level(), id.index())?,
                false => self.tenant_partial_tile(map.log.ledger_id, log, id)?,
            });
        }
        Ok(tiles)
    }
}

/// The event is not one of those that the log of the tenant was built from.
fn altered(logged: &LoggedEvent) -> MapFailure {
    let id = logged.event.id;
    log::error!("the event {id} is not as it was appended; `audit-server log verify` has details");
    AppError::inconsistent(StoreError::Damaged { what: "event" }).into()
}
