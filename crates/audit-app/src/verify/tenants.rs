//! Verifies the logs of tenants and the map of a ledger: all of it is computed again from the events.

use super::finding::{Finding, Problem};
use super::maps::TenantWalk;
use super::walk::Walk;
use crate::error::Result;
use audit_ledger::{
    Frontier, Hash, HeadKey, MapPart, RemovalRecord, TenantLabel, TenantMapKey, Tile, TileId,
};
use audit_store::{StoredTenantLog, TenantLog, TenantMapState};
use std::collections::BTreeSet;

/// The number of logs of one read.
const PAGE_LOGS: i64 = 500;
/// The number of tiles of one read.
const PAGE_TILES: u64 = 256;
const WIDTH: usize = TileId::WIDTH_MAX as usize;

/// What authenticates a map.
#[derive(Clone, Copy)]
pub(super) struct TenantKeys<'a> {
    pub(super) of_heads: Option<&'a HeadKey>,
    pub(super) of_map: Option<&'a TenantMapKey>,
}

impl Walk<'_, '_> {
    /// Compares the stored map with the one over the events. What was found counts only if the map has not grown meanwhile: its
    /// rows are read one statement after the other.
    pub(super) fn check_tenants(&mut self, walked: &TenantWalk, keys: TenantKeys<'_>) -> Result<()> {
        let before = self.findings.clone();
        self.compare_tenants(walked, keys)?;
        if self.reader.tenant_map(self.ledger_id)?.as_ref() != Some(&walked.stored) {
            log::warn!("the map of tenants has grown meanwhile, so it is not verified");
            self.findings = before;
        }
        Ok(())
    }

    fn compare_tenants(&mut self, walked: &TenantWalk, keys: TenantKeys<'_>) -> Result<()> {
        let stored = &walked.stored;
        let is_forged = keys.of_heads.is_some_and(|key| !stored.is_sealed(key));
        let state = stored.state().filter(|_| !is_forged);
        let (Some(state), Some(key)) = (state, keys.of_map) else {
            self.findings.add(Finding::log(Problem::ForgedTenantMap));
            return Ok(());
        };
        if !walked.is_complete {
            // Events are missing, which was found already.
            return Ok(());
        }
        self.check_map(walked, &state, key)?;
        self.check_logs(walked, key)
    }

    fn check_map(&mut self, walked: &TenantWalk, state: &TenantMapState, key: &TenantMapKey) -> Result<()> {
        let (root, mut expected) = MapPart::default().update(key, walked.logs.leaves());
        if walked.tree != state.log || root != state.root {
            self.findings.add(Finding::log(Problem::TenantMap("the root")));
        }
        expected.sort_by_key(|(id, _)| *id);
        let expected = expected.into_iter().map(|(id, tile)| {
            let (depth, prefix) = (i64::from(id.depth), id.prefix.cast_signed());
            (depth, prefix, tile.encode())
        });
        let stored = self.reader.all_tenant_map_tiles(self.ledger_id)?;
        if !expected.eq(stored) {
            self.findings.add(Finding::log(Problem::TenantMap("a tile")));
        }
        Ok(())
    }

    fn check_logs(&mut self, walked: &TenantWalk, key: &TenantMapKey) -> Result<()> {
        let (mut after, mut count, mut tiles) = (None, 0, 0);
        let without_events = walked.logs.iter().filter(|(_, tenant_id, _)| tenant_id.is_none());
        let without_events: BTreeSet<TenantLabel> = without_events.map(|(label, ..)| *label).collect();
        loop {
            let page = self.reader.tenant_logs_after(self.ledger_id, after, PAGE_LOGS)?;
            for stored in &page {
                count += 1;
                let log = stored.read().filter(|log| match log.tenant_id.as_str() {
                    // The name goes with the last event.
                    "" => without_events.contains(&log.label),
                    tenant_id => key.label(tenant_id) == log.label,
                });
                let is_own = match &log {
                    Some(log) => self.is_log_of_events(walked, log, &mut tiles)?,
                    None => false,
                };
                if !is_own {
                    self.findings
                        .add(Finding::log(Problem::TenantLog(name_of(stored))));
                }
            }
            match page.last() {
                Some(last) => after = Some((last.bucket, last.slot)),
                None => break,
            }
        }
        if count != walked.logs.len() {
            self.findings
                .add(Finding::log(Problem::TenantMap("the number of tenants")));
        }
        if self.reader.tenant_tiles_count(self.ledger_id)? != tiles {
            let what = "the number of tiles of tenants";
            self.findings.add(Finding::log(Problem::TenantMap(what)));
        }
        Ok(())
    }

    /// Whether a stored log is that of the tenant's events. Adds the number of its tiles to `tiles`.
    fn is_log_of_events(&mut self, walked: &TenantWalk, log: &TenantLog, tiles: &mut i64) -> Result<bool> {
        let Some(own) = walked.logs.get(&log.label) else {
            return Ok(false);
        };
        let mut roots = own.size() / WIDTH as u64;
        while roots > 0 {
            *tiles += roots.cast_signed();
            roots /= WIDTH as u64;
        }
        let is_own = log.tree == *own && log.slot == log.label.slot();
        Ok(is_own && self.has_leaves_of(own, log)? && self.has_tiles_of(own, log)?)
    }

    /// Whether the leaves behind the last full tile are those of the tree.
    fn has_leaves_of(&mut self, own: &Frontier, log: &TenantLog) -> Result<bool> {
        let full = own.size() - log.recent.len() as u64;
        let upper: Vec<Hash> = own.edge().map(|(_, hash)| hash).collect();
        let mut upper = upper.into_iter();
        let tree = Frontier::read(full, |_| upper.next().ok_or(()));
        let Ok(mut tree) = tree else { return Ok(false) };
        for leaf in &log.recent {
            tree.append(*leaf);
        }
        let begins_there = match log.recent.first() {
            Some(first) => self.is_leaf_at(log.recent_seq, first)?,
            None => true,
        };
        Ok(tree == *own && begins_there)
    }

    /// Whether the full tiles of all levels are those of the tree.
    fn has_tiles_of(&mut self, own: &Frontier, log: &TenantLog) -> Result<bool> {
        let full = own.size() / WIDTH as u64;
        let mut tree = Frontier::new();
        let mut roots = Vec::new();
        for start in (0..full).step_by(PAGE_TILES as usize) {
            let indexes = start..full.min(start + PAGE_TILES);
            let stored = self.reader.tenant_tiles(self.ledger_id, log.slot, 0, indexes)?;
            for (index, first_seq, hashes) in stored {
                let tile = tile(0, index, &hashes);
                let Some((root, first)) = tile.and_then(|tile| Some((tile.root()?, *tile.hashes().first()?)))
                else {
                    return Ok(false);
                };
                if index != tree.size() || !self.is_leaf_at(first_seq.cast_unsigned(), &first)? {
                    return Ok(false);
                }
                tree.append(root);
                roots.push(root);
            }
        }
        let upper = own.edge().filter(|(subtree, _)| subtree.level() >= 8);
        let is_own = tree.size() == full && tree.edge().map(|(_, hash)| hash).eq(upper.map(|(_, hash)| hash));
        Ok(is_own && self.has_upper_tiles(log, roots)?)
    }

    /// Whether the tiles above level 0 have the roots of those below them.
    fn has_upper_tiles(&mut self, log: &TenantLog, mut below: Vec<Hash>) -> Result<bool> {
        for level in 1..=TileId::LEVEL_MAX {
            let mut roots = Vec::new();
            for (index, hashes) in (0..).zip(below.chunks_exact(WIDTH)) {
                let stored = self
                    .reader
                    .tenant_tiles(self.ledger_id, log.slot, level, index..index + 1)?;
                let stored = stored.first().and_then(|(_, _, bytes)| tile(level, index, bytes));
                match stored.filter(|tile| tile.hashes() == hashes) {
                    Some(tile) => roots.extend(tile.root()),
                    None => return Ok(false),
                }
            }
            below = roots;
        }
        Ok(true)
    }

    fn is_leaf_at(&mut self, seq: u64, leaf: &Hash) -> Result<bool> {
        let rows = self.reader.stored_rows(self.ledger_id, seq, 1)?;
        let row = rows.first().filter(|row| row.seq == seq.cast_signed());
        let own = match row {
            Some(row) => row
                .computed_hash(self.log.as_ref())
                .map(|hash| Hash::of_event(&hash)),
            None => {
                let removed = self
                    .reader
                    .removed_rows(self.ledger_id, seq..seq.saturating_add(1))?;
                removed.first().map(RemovalRecord::leaf)
            }
        };
        Ok(own.as_ref() == Some(leaf))
    }
}

/// The tenant of a stored log; its position in the map where the name is removed.
fn name_of(stored: &StoredTenantLog) -> String {
    match stored.tenant_id.is_empty() {
        true => format!("in slot {}", stored.slot),
        false => stored.tenant_id.clone(),
    }
}

fn tile(level: u8, index: u64, bytes: &[u8]) -> Option<Tile> {
    let id = TileId::new(level, index, TileId::WIDTH_MAX);
    id.and_then(|id| Tile::decode(id, bytes)).ok()
}
