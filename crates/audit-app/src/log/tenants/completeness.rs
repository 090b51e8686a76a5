//! What removals have taken of the log of a tenant, so that a reader can verify that it has all the rest: an unsigned statement of the
//! server. Which leaves of the log have no event any more is computed from the events that are there.

use super::{CurrentMap, MapFailure};
use crate::error::AppError;
use crate::service::AuditLog;
use audit_domain::{Envelope, EventFilter, EventId, EventOrder, Facet, PageLimit, Timestamp, limits};
use audit_ledger::{ConsistencyProof, Frontier, Hash, Subtree, TenantProof, TileId};
use audit_store::{EventQuery, LedgerId, RemovalState, StoreError, TenantLog};
use std::collections::HashSet;
use std::ops::Range;

/// The maximum number of removed leaves between those of events that are there.
const REMOVED_LEAVES_MAX: usize = 10_000;
/// The maximum number of events that are read to find out which ones are there. They take the turn of a request.
const PRESENT_EVENTS_MAX: usize = 20_000;
/// How far `occurred_at` may be behind the time at which the log got the event, in seconds, where the clocks of nodes differ.
const AHEAD_SECONDS_MAX: i64 = 2 * limits::FUTURE_SECONDS_MAX;

type Result<T, E = MapFailure> = std::result::Result<T, E>;

/// The proof of how many events a tenant has, with what was removed of them.
#[derive(Clone, Debug)]
pub struct TenantCompleteness {
    /// The proof.
    pub proof: TenantProof,
    /// What was removed; `None` where nothing was.
    pub removed: Option<RemovedOfTenant>,
}

/// What removals have taken of the log of a tenant.
#[derive(Clone, Debug)]
pub struct RemovedOfTenant {
    /// The number of removed events.
    pub events: u64,
    /// The latest time before which a removal has taken events.
    pub before: Timestamp,
    /// The index of the first event of the tenant that is there: all before it were removed.
    pub prefix: u64,
    /// The hashes of the complete subtrees over the leaves before it, largest first (RFC 6962).
    pub frontier: Vec<Hash>,
    /// The index and hash of each removed leaf behind it.
    pub leaves: Vec<(u64, Hash)>,
}

/// An event of the tenant that is there.
struct PresentEvent {
    logged_at: Timestamp,
    id: EventId,
    leaf: Hash,
}

/// The leaves of the log of a tenant in the tiles that removals have reached.
struct Reached {
    leaves: u64,
    /// The position in the ledger at which the next tile begins; `None` without one.
    end_seq: Option<u64>,
}

impl AuditLog {
    /// What removals have taken of the log of a tenant.
    pub(super) fn removed_of_tenant(
        &self,
        map: &CurrentMap<'_>,
        log: &TenantLog,
        tenant_id: &str,
        before: Timestamp,
    ) -> Result<Option<RemovedOfTenant>> {
        let reached = self.reached_leaves(map, log)?;
        if reached.leaves == 0 {
            return Ok(None);
        }
        let present = self.present_events(map.log.ledger_id, tenant_id, reached.end_seq)?;
        let prefix = self.first_present(map, log, &present)?;
        let prefix = prefix.unwrap_or(reached.leaves).min(reached.leaves);
        let present: HashSet<Hash> = present.iter().map(|event| event.leaf).collect();
        let leaves = self.removed_leaves(map, log, prefix..reached.leaves, &present)?;
        let events = prefix + leaves.len() as u64;
        if events == 0 {
            return Ok(None);
        }
        Ok(Some(RemovedOfTenant {
            events,
            before,
            prefix,
            frontier: self.frontier_of(map, log, prefix)?,
            leaves,
        }))
    }

    /// The leaves that removals may have taken. A tile is counted whole.
    fn reached_leaves(&self, map: &CurrentMap<'_>, log: &TenantLog) -> Result<Reached> {
        let rows = self.store.query(|reader| reader.removals(map.log.ledger_id))?;
        let begun = rows.iter().filter(|row| {
            use RemovalState::{Cleaning, Done, Removing};
            matches!(row.state, Removing | Cleaning | Done)
        });
        let end = begun.map(|row| row.seqs.end).max().unwrap_or(0);
        let width = u64::from(TileId::WIDTH_MAX);
        if !log.recent.is_empty() && log.recent_seq < end {
            return Ok(Reached {
                leaves: log.tree.size(),
                end_seq: None,
            });
        }
        let full = self.full_tiles_before(map, log, end)?;
        let end_seq = match full == log.tree.size() / width {
            false => Some(self.full_tile_start(map, log, full)?),
            true => (!log.recent.is_empty()).then_some(log.recent_seq),
        };
        Ok(Reached {
            leaves: full * width,
            end_seq,
        })
    }

    /// The events of a tenant that are there, among them all that are before this position of the ledger.
    fn present_events(
        &self,
        ledger_id: LedgerId,
        tenant_id: &str,
        end_seq: Option<u64>,
    ) -> Result<Vec<PresentEvent>> {
        let mut query = EventQuery {
            ledger_id,
            filter: EventFilter::of(Facet::TenantId, tenant_id),
            tier: None,
            order: EventOrder::Ascending,
            after: None,
            limit: PageLimit::for_export(PageLimit::EXPORT_EVENTS_MAX),
        };
        if let Some(seq) = end_seq {
            let end = self
                .store
                .query(|reader| reader.logged_events(ledger_id, seq, 1))?;
            let logged_at = end.first().map(|end| logged_at(&end.event.canonical));
            query.filter.end = logged_at
                .transpose()?
                .map(|time| time.plus_seconds(AHEAD_SECONDS_MAX));
        }
        let mut present = Vec::new();
        loop {
            let page = self.store.query(|reader| reader.events(&query))?;
            for event in &page.events {
                present.push(PresentEvent {
                    logged_at: logged_at(&event.canonical)?,
                    id: event.id,
                    leaf: Hash::of_event(&event.content_hash),
                });
            }
            if present.len() > PRESENT_EVENTS_MAX {
                return Err(AppError::TooManyRemoved.into());
            }
            query.after = page.next;
            if query.after.is_none() {
                return Ok(present);
            }
        }
    }

    /// The index of the first of these events in the log of the tenant; `None` without one that the map has.
    fn first_present(
        &self,
        map: &CurrentMap<'_>,
        log: &TenantLog,
        present: &[PresentEvent],
    ) -> Result<Option<u64>> {
        let Some(first_at) = present.iter().map(|event| event.logged_at).min() else {
            return Ok(None);
        };
        // Times never decrease along the log. The ids of claimed events are older than the claim.
        let mut first: Option<(u64, Hash)> = None;
        for event in present.iter().filter(|event| event.logged_at == first_at) {
            let logged = self
                .store
                .query(|reader| reader.event(map.log.ledger_id, event.id))?;
            // It was removed since it was read: the same request succeeds later.
            let seq = logged.ok_or(StoreError::Stale)?.seq;
            if first.is_none_or(|(first, _)| seq < first) {
                first = Some((seq, event.leaf));
            }
        }
        let Some((seq, leaf)) = first.filter(|(seq, _)| *seq < map.state.log.size()) else {
            return Ok(None);
        };
        let tile = self.tile_of_event(map, log, seq)?;
        let offset = tile.hashes().iter().position(|hash| *hash == leaf);
        let offset = offset.ok_or_else(|| MapFailure::forged("a tile of a tenant lacks an event"))?;
        Ok(Some(
            tile.id().index() * u64::from(TileId::WIDTH_MAX) + offset as u64,
        ))
    }

    /// Those of the leaves with these indexes that are of no present event.
    fn removed_leaves(
        &self,
        map: &CurrentMap<'_>,
        log: &TenantLog,
        indexes: Range<u64>,
        present: &HashSet<Hash>,
    ) -> Result<Vec<(u64, Hash)>> {
        let width = u64::from(TileId::WIDTH_MAX);
        let mut removed = Vec::new();
        for tile in indexes.start / width..indexes.end.div_ceil(width) {
            let hashes = match tile < log.tree.size() / width {
                true => self.full_tile_of(map, log, 0, tile)?.hashes().to_vec(),
                false => log.recent.clone(),
            };
            let leaves = (tile * width..).zip(hashes);
            removed.extend(leaves.filter(|(index, leaf)| indexes.contains(index) && !present.contains(leaf)));
            if removed.len() > REMOVED_LEAVES_MAX {
                return Err(AppError::TooManyRemoved.into());
            }
        }
        Ok(removed)
    }

    /// The hashes of the subtrees over the first leaves, verified against the whole tree.
    fn frontier_of(&self, map: &CurrentMap<'_>, log: &TenantLog, leaves: u64) -> Result<Vec<Hash>> {
        let size = log.tree.size();
        let mut subtrees = ConsistencyProof::subtrees(leaves, size).map_err(AppError::internal)?;
        subtrees.extend(Subtree::of_tree(leaves));
        let tiles = self.tiles_with(map, log, subtrees)?;
        let tree = Frontier::read(leaves, |subtree| tiles.hash(subtree)).map_err(MapFailure::forged)?;
        let proof = ConsistencyProof::prove(leaves, size, |subtree| tiles.hash(subtree));
        let verified = tree
            .head()
            .check_successor(&log.tree.head(), &proof.map_err(MapFailure::forged)?);
        verified.map_err(MapFailure::forged)?;
        Ok(tree.edge().map(|(_, hash)| hash).collect())
    }
}

/// When the log got an event with this text.
fn logged_at(canonical: &str) -> Result<Timestamp> {
    let envelope = Envelope::read(canonical);
    let damaged = |_| AppError::inconsistent(StoreError::Damaged { what: "event" });
    Ok(envelope.map_err(damaged)?.logged_at)
}
