//! What a walk over the events computes of the maps of tenants: of the stored one, and of those in anchors.

use audit_ledger::{Frontier, Hash, TenantLabel, TenantLogs, TenantMapKey, TenantMapReplay};
use audit_store::StoredTenantMap;
use std::collections::{BTreeMap, HashMap};

/// An event of a tenant: the label, the id unless the event was removed, and the leaf.
pub(super) type TenantEvent<'a> = (TenantLabel, Option<&'a str>, Hash);

/// The labels of the tenants of a log, each computed once.
pub(super) struct Labels {
    key: TenantMapKey,
    known: HashMap<String, TenantLabel>,
}

impl Labels {
    pub(super) fn new(key: TenantMapKey) -> Self {
        Self {
            key,
            known: HashMap::new(),
        }
    }

    /// The label of a tenant.
    pub(super) fn of(&mut self, tenant_id: &str) -> TenantLabel {
        if let Some(label) = self.known.get(tenant_id) {
            return *label;
        }
        let label = self.key.label(tenant_id);
        self.known.insert(tenant_id.to_owned(), label);
        label
    }
}

/// The logs of tenants over the events that the stored map has.
pub(super) struct TenantWalk {
    pub(super) stored: StoredTenantMap,
    size: u64,
    pub(super) logs: TenantLogs,
    /// The tree over the log at that size.
    pub(super) tree: Frontier,
    pub(super) is_complete: bool,
}

impl TenantWalk {
    pub(super) fn new(stored: StoredTenantMap) -> Self {
        Self {
            size: stored.size().max(0).cast_unsigned(),
            stored,
            logs: TenantLogs::default(),
            tree: Frontier::new(),
            is_complete: true,
        }
    }

    /// Adds the event at this position; none where it is missing or cannot be read.
    pub(super) fn append(&mut self, seq: u64, event: Option<TenantEvent<'_>>) {
        match event {
            _ if seq >= self.size => {}
            Some((label, tenant_id, leaf)) if self.is_complete => {
                self.logs.append(label, tenant_id, leaf);
                self.tree.append(leaf);
            }
            _ => self.is_complete = false,
        }
    }
}

/// The maps of tenants at the sizes that anchors have, computed from the events.
pub(super) struct MapWalk {
    replay: TenantMapReplay,
    size: u64,
    /// The root at each of the sizes, as far as no event before it is missing.
    roots: BTreeMap<u64, Option<Hash>>,
    is_complete: bool,
}

impl MapWalk {
    /// `sizes` are those that anchors have; `None` where they have no map.
    pub(super) fn new(sizes: impl Iterator<Item = u64>, key: &TenantMapKey) -> Option<Self> {
        let roots: BTreeMap<_, _> = sizes.map(|size| (size, None)).collect();
        (!roots.is_empty()).then(|| Self {
            replay: TenantMapReplay::new(key.clone()),
            size: 0,
            roots,
            is_complete: true,
        })
    }

    /// Adds the next event; none where it is missing or cannot be read.
    pub(super) fn append(&mut self, event: Option<TenantEvent<'_>>) {
        let Some((label, tenant_id, leaf)) = event.filter(|_| self.is_complete) else {
            self.is_complete = false;
            return;
        };
        self.replay.append(label, tenant_id, leaf);
        self.size += 1;
        if let Some(root) = self.roots.get_mut(&self.size) {
            *root = Some(self.replay.root());
        }
    }

    /// The root at one of the sizes, if it could be computed.
    pub(super) fn root_at(&self, size: u64) -> Option<Hash> {
        self.roots.get(&size).copied().flatten()
    }
}
