//! The stored logs of tenants and the map of a ledger: see `audit_ledger::TenantMapKey`.
//!
//! All of it is derived from the events, and from the records of removed ones. It is written after a checkpoint that covers the
//! events, under no lock: a change is stored only if the state that it continues is still the stored one. The code of the state, with
//! the key of the heads, shows that the service wrote it, and the root in the state authenticates tiles and logs.

use crate::access::{Reader, Writer};
use crate::database::{insert_or_ignore, on_either};
use crate::error::Result;
use crate::ids::LedgerId;
use crate::ledgers::heads_of;
use crate::schema::{tenant_logs, tenant_map_tiles, tenant_maps, tenant_tiles};
use audit_domain::write_with_length;
use audit_ledger::{BUCKET_DEPTH, Frontier, Hash, HeadKey, MAP_DEPTH, MapTile, MapTileId, TenantLabel, Tile};
use diesel::prelude::*;
use std::ops::Range;
use subtle::ConstantTimeEq;

/// The context of the codes of states.
const CODE_CONTEXT: &str = "audit tenant map 1";
/// The maximum number of rows of one statement.
const STATEMENT_ROWS_MAX: usize = 500;

/// The stored state of a map. Its columns may have been changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTenantMap {
    ledger_id: LedgerId,
    size: i64,
    frontier: Vec<u8>,
    root: Vec<u8>,
    code: Vec<u8>,
}

/// The state of a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantMapState {
    /// The right edge of the log's tree, as far as the map has its events.
    pub log: Frontier,
    /// The root of the map.
    pub root: Hash,
}

/// The stored log of a tenant. Its columns may have been changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTenantLog {
    /// The first bits of the position.
    pub bucket: i64,
    /// The position in the map.
    pub slot: i64,
    label: Vec<u8>,
    /// The tenant; empty where all its events are removed.
    pub tenant_id: String,
    pub(crate) frontier: Vec<u8>,
    recent: Vec<u8>,
    recent_seq: i64,
}

/// The log of a tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantLog {
    /// The position in the map.
    pub slot: u64,
    /// The blinded name of the tenant. Its first bits are the position.
    pub label: TenantLabel,
    /// The tenant; empty where all its events are removed.
    pub tenant_id: String,
    /// The right edge of the tree.
    pub tree: Frontier,
    /// The leaves behind the last full tile.
    pub recent: Vec<Hash>,
    /// The position in the ledger of the first of them.
    pub recent_seq: u64,
}

/// A full tile of the tree of a tenant.
#[derive(Clone, Debug)]
pub struct NewTenantTile {
    /// The position of the tenant.
    pub slot: u64,
    /// The tile.
    pub tile: Tile,
    /// The position in the ledger of its first leaf, at level 0.
    pub first_seq: u64,
}

/// A stored tile of the tree of a tenant: index, position in the ledger of its first leaf, and hashes.
pub type StoredTenantTile = (u64, i64, Vec<u8>);

/// A change of a map.
#[derive(Clone, Debug)]
pub struct TenantMapChange {
    /// The ledger.
    pub ledger_id: LedgerId,
    /// The state that it continues.
    pub before: Option<StoredTenantMap>,
    /// The state afterwards.
    pub state: TenantMapState,
    /// The logs that have grown.
    pub logs: Vec<TenantLog>,
    /// The tiles that they have filled.
    pub tiles: Vec<NewTenantTile>,
    /// The tiles of the map that have changed.
    pub map_tiles: Vec<(MapTileId, MapTile)>,
}

fn read_hashes(bytes: &[u8]) -> Option<Vec<Hash>> {
    let (hashes, rest) = bytes.as_chunks::<{ Hash::BYTES }>();
    rest.is_empty()
        .then(|| hashes.iter().map(|bytes| Hash::from_bytes(*bytes)).collect())
}

fn write_hashes(hashes: &[Hash]) -> Vec<u8> {
    hashes.iter().flat_map(|hash| *hash.as_bytes()).collect()
}

const fn bucket_of(slot: u64) -> i64 {
    (slot >> (MAP_DEPTH - BUCKET_DEPTH)).cast_signed()
}

impl StoredTenantMap {
    fn new(ledger_id: LedgerId, state: &TenantMapState, key: &HeadKey) -> Self {
        let mut row = Self {
            ledger_id,
            size: state.log.size().cast_signed(),
            frontier: state.log.encode(),
            root: state.root.as_bytes().to_vec(),
            code: Vec::new(),
        };
        row.code = row.code_with(key).to_vec();
        row
    }

    fn code_with(&self, key: &HeadKey) -> [u8; HeadKey::CODE_BYTES] {
        let mut record = Vec::with_capacity(64 + self.frontier.len());
        record.extend_from_slice(&self.ledger_id.0.to_be_bytes());
        record.extend_from_slice(&self.size.to_be_bytes());
        write_with_length(&self.root, |part| record.extend_from_slice(part));
        record.extend_from_slice(&self.frontier);
        key.code_of_record(CODE_CONTEXT, &record)
    }

    /// Whether the service wrote it, with this key.
    pub fn is_sealed(&self, key: &HeadKey) -> bool {
        self.code_with(key).as_slice().ct_eq(&self.code).into()
    }

    /// The state, unless it has no form that the service writes.
    pub fn state(&self) -> Option<TenantMapState> {
        let log = Frontier::decode(&self.frontier).ok()?;
        let root = Hash::from_bytes(self.root.as_slice().try_into().ok()?);
        (log.size() == self.size.cast_unsigned()).then_some(TenantMapState { log, root })
    }

    /// The number of events of the log in the map, as the row says.
    pub const fn size(&self) -> i64 {
        self.size
    }
}

impl StoredTenantLog {
    /// The log, unless it has no form that the service writes.
    pub fn read(&self) -> Option<TenantLog> {
        let slot = self.slot.cast_unsigned();
        let label = TenantLabel::from_bytes(self.label.as_slice().try_into().ok()?);
        let tree = Frontier::decode(&self.frontier).ok()?;
        let recent = read_hashes(&self.recent)?;
        let is_own = label.slot() == slot
            && self.bucket == bucket_of(slot)
            && tree.size() % 256 == recent.len() as u64;
        is_own.then(|| TenantLog {
            slot,
            label,
            tenant_id: self.tenant_id.clone(),
            tree,
            recent,
            recent_seq: self.recent_seq.cast_unsigned(),
        })
    }
}

type LogRow = (i64, i64, Vec<u8>, String, Vec<u8>, Vec<u8>, i64);
const LOG_COLUMNS: (
    tenant_logs::bucket,
    tenant_logs::slot,
    tenant_logs::label,
    tenant_logs::tenant_id,
    tenant_logs::frontier,
    tenant_logs::recent,
    tenant_logs::recent_seq,
) = (
    tenant_logs::bucket,
    tenant_logs::slot,
    tenant_logs::label,
    tenant_logs::tenant_id,
    tenant_logs::frontier,
    tenant_logs::recent,
    tenant_logs::recent_seq,
);

fn read_log((bucket, slot, label, tenant_id, frontier, recent, recent_seq): LogRow) -> StoredTenantLog {
    StoredTenantLog {
        bucket,
        slot,
        label,
        tenant_id,
        frontier,
        recent,
        recent_seq,
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be queried"
)]
impl Reader<'_> {
    /// The stored state of a ledger's map.
    pub fn tenant_map(&mut self, ledger_id: LedgerId) -> Result<Option<StoredTenantMap>> {
        type Row = (i64, Vec<u8>, Vec<u8>, Vec<u8>);
        let row: Option<Row> = tenant_maps::table
            .find(ledger_id.0)
            .select((
                tenant_maps::size,
                tenant_maps::frontier,
                tenant_maps::root,
                tenant_maps::code,
            ))
            .get_result(self.session())
            .optional()?;
        Ok(row.map(|(size, frontier, root, code)| StoredTenantMap {
            ledger_id,
            size,
            frontier,
            root,
            code,
        }))
    }

    /// Whether the service wrote the state, with the key of this store.
    pub fn is_own_tenant_map(&mut self, map: &StoredTenantMap) -> Result<bool> {
        Ok(map.is_sealed(heads_of(self.session())?.key()))
    }

    /// The logs in these buckets of a ledger's map.
    pub fn tenant_logs(
        &mut self,
        ledger_id: LedgerId,
        buckets: impl IntoIterator<Item = u64>,
    ) -> Result<Vec<StoredTenantLog>> {
        let buckets: Vec<i64> = buckets.into_iter().map(u64::cast_signed).collect();
        let mut logs = Vec::new();
        for buckets in buckets.chunks(STATEMENT_ROWS_MAX) {
            let query = tenant_logs::table
                .filter(tenant_logs::ledger_id.eq(ledger_id.0))
                .filter(tenant_logs::bucket.eq_any(buckets.to_vec()))
                .select(LOG_COLUMNS);
            let rows: Vec<LogRow> = on_either!(self.session(), session => query.load(session))?;
            logs.extend(rows.into_iter().map(read_log));
        }
        Ok(logs)
    }

    /// The logs of a ledger behind the bucket and slot of `after`, in order, `limit` at most.
    pub fn tenant_logs_after(
        &mut self,
        ledger_id: LedgerId,
        after: Option<(i64, i64)>,
        limit: i64,
    ) -> Result<Vec<StoredTenantLog>> {
        let mut query = tenant_logs::table
            .filter(tenant_logs::ledger_id.eq(ledger_id.0))
            .order((tenant_logs::bucket, tenant_logs::slot))
            .limit(limit)
            .select(LOG_COLUMNS)
            .into_boxed();
        if let Some((bucket, slot)) = after {
            let in_bucket = tenant_logs::bucket.eq(bucket).and(tenant_logs::slot.gt(slot));
            query = query.filter(tenant_logs::bucket.gt(bucket).or(in_bucket));
        }
        let rows: Vec<LogRow> = query.load(self.session())?;
        Ok(rows.into_iter().map(read_log).collect())
    }

    /// Tiles of a ledger's map, as far as they exist, encoded.
    pub fn tenant_map_tiles(
        &mut self,
        ledger_id: LedgerId,
        ids: impl IntoIterator<Item = MapTileId>,
    ) -> Result<Vec<(MapTileId, Vec<u8>)>> {
        let ids: Vec<MapTileId> = ids.into_iter().collect();
        let mut tiles = Vec::new();
        for ids in ids.chunk_by(|one, other| one.depth == other.depth) {
            for ids in ids.chunks(STATEMENT_ROWS_MAX) {
                let prefixes: Vec<i64> = ids.iter().map(|id| id.prefix.cast_signed()).collect();
                let depth = ids[0].depth;
                let query = tenant_map_tiles::table
                    .filter(tenant_map_tiles::ledger_id.eq(ledger_id.0))
                    .filter(tenant_map_tiles::depth.eq(i64::from(depth)))
                    .filter(tenant_map_tiles::prefix.eq_any(prefixes))
                    .select((tenant_map_tiles::prefix, tenant_map_tiles::children));
                let rows: Vec<(i64, Vec<u8>)> = on_either!(self.session(), session => query.load(session))?;
                let tile = |(prefix, children): (i64, Vec<u8>)| {
                    let prefix = prefix.cast_unsigned();
                    (MapTileId { depth, prefix }, children)
                };
                tiles.extend(rows.into_iter().map(tile));
            }
        }
        Ok(tiles)
    }

    /// All stored tiles of a ledger's map: depth, prefix and encoding. At most nine megabytes.
    pub fn all_tenant_map_tiles(&mut self, ledger_id: LedgerId) -> Result<Vec<(i64, i64, Vec<u8>)>> {
        let query = tenant_map_tiles::table
            .filter(tenant_map_tiles::ledger_id.eq(ledger_id.0))
            .order((tenant_map_tiles::depth, tenant_map_tiles::prefix))
            .select((
                tenant_map_tiles::depth,
                tenant_map_tiles::prefix,
                tenant_map_tiles::children,
            ));
        Ok(query.load(self.session())?)
    }

    /// The full tiles of a tenant's tree with these indexes, in their order, as far as they exist.
    pub fn tenant_tiles(
        &mut self,
        ledger_id: LedgerId,
        slot: u64,
        level: u8,
        indexes: Range<u64>,
    ) -> Result<Vec<StoredTenantTile>> {
        let rows: Vec<(i64, i64, Vec<u8>)> = tenant_tiles::table
            .filter(tenant_tiles::ledger_id.eq(ledger_id.0))
            .filter(tenant_tiles::slot.eq(slot.cast_signed()))
            .filter(tenant_tiles::level.eq(i64::from(level)))
            .filter(tenant_tiles::tile_index.ge(indexes.start.cast_signed()))
            .filter(tenant_tiles::tile_index.lt(indexes.end.cast_signed()))
            .order(tenant_tiles::tile_index)
            .select((
                tenant_tiles::tile_index,
                tenant_tiles::first_seq,
                tenant_tiles::hashes,
            ))
            .load(self.session())?;
        let tile =
            |(index, first_seq, hashes): (i64, i64, Vec<u8>)| (index.cast_unsigned(), first_seq, hashes);
        Ok(rows.into_iter().map(tile).collect())
    }

    /// The number of stored tiles of the tenants of a ledger.
    pub fn tenant_tiles_count(&mut self, ledger_id: LedgerId) -> Result<i64> {
        Ok(tenant_tiles::table
            .filter(tenant_tiles::ledger_id.eq(ledger_id.0))
            .count()
            .get_result(self.session())?)
    }

    /// The position in the ledger of the first leaf of a tile of level 0.
    pub fn tenant_tile_start(&mut self, ledger_id: LedgerId, slot: u64, index: u64) -> Result<Option<u64>> {
        let start: Option<i64> = tenant_tiles::table
            .find((ledger_id.0, slot.cast_signed(), 0_i64, index.cast_signed()))
            .select(tenant_tiles::first_seq)
            .get_result(self.session())
            .optional()?;
        Ok(start.map(i64::cast_unsigned))
    }
}

#[expect(
    clippy::missing_errors_doc,
    reason = "all fail only when the database cannot be written"
)]
impl Writer<'_> {
    /// Stores a change of a map, if the state that it continues is still the stored one. Returns the stored state, or none.
    pub fn change_tenant_map(&mut self, change: &TenantMapChange) -> Result<Option<StoredTenantMap>> {
        let ledger_id = change.ledger_id.0;
        let heads = heads_of(self.session())?;
        let after = StoredTenantMap::new(change.ledger_id, &change.state, heads.key());
        let columns = (
            tenant_maps::size.eq(after.size),
            tenant_maps::frontier.eq(&after.frontier),
            tenant_maps::root.eq(&after.root),
            tenant_maps::code.eq(&after.code),
        );
        let rows = match &change.before {
            Some(before) => {
                let row = tenant_maps::table
                    .filter(tenant_maps::ledger_id.eq(ledger_id))
                    .filter(tenant_maps::code.eq(&before.code));
                on_either!(self.session(), session => diesel::update(row).set(columns).execute(session))?
            }
            None => insert_or_ignore!(
                self.session(),
                tenant_maps::table,
                (tenant_maps::ledger_id.eq(ledger_id), columns)
            )?,
        };
        if rows == 0 {
            return Ok(None);
        }
        self.replace_logs(ledger_id, &change.logs)?;
        self.replace_tiles(ledger_id, &change.tiles)?;
        self.replace_map_tiles(ledger_id, &change.map_tiles)?;
        Ok(Some(after))
    }

    fn replace_logs(&mut self, ledger_id: i64, logs: &[TenantLog]) -> Result<()> {
        for logs in logs.chunks(STATEMENT_ROWS_MAX) {
            let buckets: Vec<i64> = logs.iter().map(|log| bucket_of(log.slot)).collect();
            let slots: Vec<i64> = logs.iter().map(|log| log.slot.cast_signed()).collect();
            let old = tenant_logs::table
                .filter(tenant_logs::ledger_id.eq(ledger_id))
                .filter(tenant_logs::bucket.eq_any(buckets))
                .filter(tenant_logs::slot.eq_any(slots));
            let row = |log: &TenantLog| {
                (
                    tenant_logs::ledger_id.eq(ledger_id),
                    tenant_logs::bucket.eq(bucket_of(log.slot)),
                    tenant_logs::slot.eq(log.slot.cast_signed()),
                    tenant_logs::label.eq(log.label.as_bytes().to_vec()),
                    tenant_logs::tenant_id.eq(log.tenant_id.clone()),
                    tenant_logs::frontier.eq(log.tree.encode()),
                    tenant_logs::recent.eq(write_hashes(&log.recent)),
                    tenant_logs::recent_seq.eq(log.recent_seq.cast_signed()),
                )
            };
            let rows: Vec<_> = logs.iter().map(row).collect();
            on_either!(self.session(), session => {
                diesel::delete(old).execute(&mut session.connection)?;
                diesel::insert_into(tenant_logs::table).values(rows).execute(&mut session.connection)?;
            });
        }
        Ok(())
    }

    fn replace_tiles(&mut self, ledger_id: i64, tiles: &[NewTenantTile]) -> Result<()> {
        for NewTenantTile {
            slot,
            tile,
            first_seq,
        } in tiles
        {
            let slot = slot.cast_signed();
            let (level, index) = (i64::from(tile.id().level()), tile.id().index().cast_signed());
            let old = tenant_tiles::table.find((ledger_id, slot, level, index));
            on_either!(self.session(), session => diesel::delete(old).execute(session))?;
            diesel::insert_into(tenant_tiles::table)
                .values((
                    tenant_tiles::ledger_id.eq(ledger_id),
                    tenant_tiles::slot.eq(slot),
                    tenant_tiles::level.eq(level),
                    tenant_tiles::tile_index.eq(index),
                    tenant_tiles::first_seq.eq(first_seq.cast_signed()),
                    tenant_tiles::hashes.eq(tile.encode()),
                ))
                .execute(self.session())?;
        }
        Ok(())
    }

    fn replace_map_tiles(&mut self, ledger_id: i64, tiles: &[(MapTileId, MapTile)]) -> Result<()> {
        for tiles in tiles.chunk_by(|(one, _), (other, _)| one.depth == other.depth) {
            for tiles in tiles.chunks(STATEMENT_ROWS_MAX) {
                let depth = i64::from(tiles[0].0.depth);
                let prefixes: Vec<i64> = tiles.iter().map(|(id, _)| id.prefix.cast_signed()).collect();
                let old = tenant_map_tiles::table
                    .filter(tenant_map_tiles::ledger_id.eq(ledger_id))
                    .filter(tenant_map_tiles::depth.eq(depth))
                    .filter(tenant_map_tiles::prefix.eq_any(prefixes));
                let row = |(id, tile): &(MapTileId, MapTile)| {
                    (
                        tenant_map_tiles::ledger_id.eq(ledger_id),
                        tenant_map_tiles::depth.eq(depth),
                        tenant_map_tiles::prefix.eq(id.prefix.cast_signed()),
                        tenant_map_tiles::children.eq(tile.encode()),
                    )
                };
                let rows: Vec<_> = tiles.iter().map(row).collect();
                on_either!(self.session(), session => {
                    diesel::delete(old).execute(&mut session.connection)?;
                    diesel::insert_into(tenant_map_tiles::table).values(rows).execute(&mut session.connection)?;
                });
            }
        }
        Ok(())
    }

    /// Deletes the map and the logs of a ledger's tenants. They are computed again from the events when they are needed.
    pub fn delete_tenant_map(&mut self, ledger_id: LedgerId) -> Result<()> {
        let id = ledger_id.0;
        diesel::delete(tenant_maps::table.filter(tenant_maps::ledger_id.eq(id))).execute(self.session())?;
        diesel::delete(tenant_logs::table.filter(tenant_logs::ledger_id.eq(id))).execute(self.session())?;
        diesel::delete(tenant_tiles::table.filter(tenant_tiles::ledger_id.eq(id))).execute(self.session())?;
        diesel::delete(tenant_map_tiles::table.filter(tenant_map_tiles::ledger_id.eq(id)))
            .execute(self.session())?;
        Ok(())
    }
}
