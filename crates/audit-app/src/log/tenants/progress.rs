//! What this process knows of the maps of tenants, and which of them wait to be brought up to date.

use super::notes::SignedNotes;
use audit_domain::OrganizationId;
use audit_store::LedgerId;
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, OnceLock};
use tokio::sync::watch;

/// The maximum number of events of one change of a map, and the number of new events at which it is brought up to date without
/// being asked for. A tenant costs the same for one new event as for many, so fewer changes are cheaper.
pub(in crate::log) const STEP_EVENTS_MAX: u64 = 10_000;

/// What this process knows of the maps.
#[derive(Debug, Default)]
pub(crate) struct TenantMaps {
    pub(in crate::log) secret: OnceLock<[u8; 32]>,
    pub(in crate::log) notes: SignedNotes,
    progress: Mutex<Progress>,
}

#[derive(Debug, Default)]
struct Progress {
    maps: HashMap<LedgerId, KnownMap>,
    /// The maps that the background brings up to date, in the order of their turns.
    waiting: VecDeque<LedgerId>,
}

/// A map that was asked for.
#[derive(Debug, Default)]
struct KnownMap {
    /// The size of the log when this process brought the map up to date.
    size: Option<u64>,
    /// Whose log it is, if a request has said so.
    organization_id: Option<OrganizationId>,
    is_waiting: bool,
    turn: Arc<MapTurn>,
}

/// One thread at a time brings a map up to date.
#[derive(Debug, Default)]
pub(in crate::log) struct MapTurn {
    pub(in crate::log) lock: Mutex<()>,
    /// How often that ended.
    pub(in crate::log) ended: watch::Sender<u64>,
}

impl TenantMaps {
    /// Notes that a log of this size is signed. A map that nobody has asked for costs nothing.
    pub(crate) fn note_signed(&self, ledger_id: LedgerId, size: u64) {
        let mut progress = self.progress.lock();
        let mapped = progress.maps.get(&ledger_id).and_then(|map| map.size);
        if mapped.is_some_and(|mapped| size.saturating_sub(mapped) >= STEP_EVENTS_MAX) {
            progress.enqueue(ledger_id);
        }
    }

    /// The turn of the map of a log, which is that of this organization, if a request has said so.
    pub(in crate::log) fn turn_of(
        &self,
        ledger_id: LedgerId,
        organization_id: Option<OrganizationId>,
    ) -> Arc<MapTurn> {
        let mut progress = self.progress.lock();
        let map = progress.maps.entry(ledger_id).or_default();
        map.organization_id = organization_id.or(map.organization_id);
        Arc::clone(&map.turn)
    }

    /// Schedules an update of the map in the background.
    pub(in crate::log) fn enqueue(&self, ledger_id: LedgerId) {
        self.progress.lock().enqueue(ledger_id);
    }

    /// Notes that the map has this many events, and whether more wait.
    pub(in crate::log) fn note_grown(&self, ledger_id: LedgerId, size: u64, is_complete: bool) {
        let mut progress = self.progress.lock();
        progress.maps.entry(ledger_id).or_default().size = Some(size);
        if !is_complete {
            progress.enqueue(ledger_id);
        }
    }

    /// Takes a map of each organization from those that wait, and returns whether others wait.
    pub(in crate::log) fn take_round(&self) -> (Vec<LedgerId>, bool) {
        let progress = &mut *self.progress.lock();
        let (mut round, mut served) = (Vec::new(), HashSet::new());
        progress.waiting.retain(|ledger_id| {
            let Some(map) = progress.maps.get_mut(ledger_id) else {
                return false;
            };
            let is_served = map.organization_id.is_some_and(|id| !served.insert(id));
            if !is_served {
                map.is_waiting = false;
                round.push(*ledger_id);
            }
            is_served
        });
        (round, !progress.waiting.is_empty())
    }
}

impl Progress {
    fn enqueue(&mut self, ledger_id: LedgerId) {
        let map = self.maps.entry(ledger_id).or_default();
        if !std::mem::replace(&mut map.is_waiting, true) {
            self.waiting.push_back(ledger_id);
        }
    }
}
